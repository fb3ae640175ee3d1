"""What an entry of the catalogue is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Bug:
    """A plugin with one plausible mistake in it.

    name: of the mistake, one in its kind. part: what the checks of the kind are called with.
    missed: why no check can know, empty if one finds it.
    """

    name: str
    part: Any
    missed: str = ""

    def __post_init__(self) -> None:
        cls = self.part if isinstance(self.part, type) else type(self.part)
        if not cls.__dict__.get("__doc__"):  # to have none is another mistake
            cls.__doc__ = next(base.__doc__ for base in cls.__mro__ if base.__dict__.get("__doc__"))

    def __str__(self) -> str:
        return self.name
