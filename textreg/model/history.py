"""How a model was trained, as its file has it: nothing that predictions need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textreg.model.regularization_path import PathHeader
from textreg.model.summary import TrainingSummary

if TYPE_CHECKING:
    from textreg.model.model import Model


@dataclass(frozen=True)
class History:
    """The members of the JSON header about the training: see :mod:`textreg.model.storage`."""

    summary: TrainingSummary | None
    path: PathHeader | None

    @classmethod
    def of(cls, model: Model) -> History:
        """That of a model."""
        return cls(model.summary, None if model.path is None else model.path.header)
