"""What a parameter may have for a default or to search over, besides plain values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np


class _Auto:
    """The type of ``AUTO``, the value of a parameter that is to be chosen from the data."""

    _instance: ClassVar[_Auto | None] = None

    def __new__(cls) -> _Auto:
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance

    def __repr__(self) -> str:
        return "AUTO"

    def __reduce__(self) -> tuple[type[_Auto], tuple[()]]:
        return (_Auto, ())


AUTO: Any = _Auto()


@dataclass(frozen=True)
class LogGrid:
    """Candidate penalty strengths on a logarithmic grid, relative to the data.

    The ends are fractions of a scale: the smallest strength at which all weights are zero (see
    ``Regularizer.scale``). So one grid suits corpora of any size.

    Parameters
    ----------
    low, high : float
        The ends of the grid, as fractions of the scale.
    points : int, default 5
        Number of candidates between the ends, these included.
    zero : bool, default False
        Whether 0, no penalty, follows as a further candidate.

    Examples
    --------
    >>> LogGrid(0.01, 1.0, points=3).values(scale=0.5)
    [0.5, 0.05, 0.005]
    >>> LogGrid(0.01, 1.0, points=3, zero=True).values(scale=0.5)
    [0.5, 0.05, 0.005, 0.0]
    """

    low: float
    high: float
    points: int = 5
    zero: bool = False

    def __post_init__(self) -> None:
        if not 0.0 < self.low <= self.high < math.inf:
            raise ValueError(
                f"{self}: the ends must be numbers with 0 < low <= high; they are fractions of the "
                "scale."
            )
        if self.points != int(self.points) or self.points < 1:
            raise ValueError(f"{self}: points must be a whole number, 1 or more.")

    def values(self, scale: float) -> list[float]:
        """The candidates for data of this ``scale``, from the strongest to the weakest penalty.

        Parameters
        ----------
        scale : float
            The strength that the grid has multiples of, as
            :meth:`~textreg.kinds.Regularizer.scale` gives it.

        Returns
        -------
        list of float
        """
        grid = scale * np.geomspace(self.high, self.low, self.points)
        # Four digits, so that typing in a reported value repeats exactly what was tried.
        return [*(float(f"{value:.4g}") for value in grid), *([0.0] if self.zero else [])]


@dataclass(frozen=True)
class Choices:
    """Candidate values that do not depend on the data.

    Parameters
    ----------
    candidates : sequence
    """

    candidates: Sequence[Any]

    def __post_init__(self) -> None:
        if isinstance(self.candidates, str):
            raise ValueError(f"{self}: candidates are a list of values, not a text.")
        object.__setattr__(self, "candidates", tuple(self.candidates))
        if not self.candidates or len({*map(repr, self.candidates)}) < len(self.candidates):
            raise ValueError(f"{self}: candidates must be values that differ, at least one.")

    def values(self, scale: float) -> list[Any]:
        """The candidates; ``scale`` is ignored.

        Parameters
        ----------
        scale : float
            Is ignored.

        Returns
        -------
        list
        """
        return list(self.candidates)
