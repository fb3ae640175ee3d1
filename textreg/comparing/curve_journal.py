"""A file of the trainings of a learning curve, from which it can be resumed."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, fields
from importlib import metadata
from typing import Any

from textreg.comparing.learning_curve import CurveCell
from textreg.errors import DataError
from textreg.training.recipe import OF_ONE_RUN
from textreg.training.search.journal import Journal
from textreg.training.settings import TrainingSettings

_PLACE = ("benchmark", "candidate", "size", "draw")
_MEASURED = tuple(one.name for one in fields(CurveCell) if one.name not in _PLACE)


class CurveJournal:
    """Trainings in a file, to which new ones are appended as each ends.

    Sizes, draws and candidates may be added: trainings that the file holds are not repeated.

    Parameters
    ----------
    path : path-like
        The file; made if it does not exist.
    about : mapping
        How documents are drawn, JSON-able. A file that is about anything else is refused.

    Raises
    ------
    UsageError, DataError
        As for :class:`textreg.training.search.journal.Journal`.
    """

    def __init__(self, path: str | os.PathLike[str], about: Mapping[str, Any]) -> None:
        self._journal = Journal(
            path, {"learn-curve": 1, "textreg": metadata.version("textreg"), **about}
        )

    def get(self, key: str, place: tuple[str, str, int, int]) -> CurveCell | None:
        """A training, which may have had another name; None where it is not there."""
        entry = self._journal.entry(key)
        if entry is None:
            return None
        try:
            values: dict[str, Any] = {name: entry[name] for name in _MEASURED}
        except KeyError as error:
            raise DataError(
                f"{self._journal.path} is damaged: an entry has no {error}. Delete the file to "
                "start again."
            ) from None
        benchmark, candidate, size, draw = place
        return CurveCell(benchmark, candidate, size, draw, **values)

    def put(self, key: str, cell: CurveCell) -> None:
        """Keep a training."""
        content = asdict(cell)
        self._journal.put_entry(key, {name: content[name] for name in _MEASURED})


def cell_key(settings: TrainingSettings, documents: str, size: int, draw: int) -> str:
    """A digest of all that a training depends on, but for how documents are drawn.

    documents: a digest of them.
    """
    plugins = [
        {key: part[key] for key in ("distribution", "version", "sha256") if key in part}
        for part in settings.plugins()
    ]
    left = {*OF_ONE_RUN, "scratch", "tuning"}
    about = {
        name: repr(getattr(settings, name)) for name in settings.declared() if name not in left
    }
    tuning = {
        name: repr(value)
        for name, value in settings.tuning.changed().items()
        if name not in OF_ONE_RUN
    }
    what = json.dumps([documents, size, draw, plugins, about, tuning], sort_keys=True)
    return hashlib.sha256(what.encode()).hexdigest()
