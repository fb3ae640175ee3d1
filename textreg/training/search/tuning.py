"""How hyperparameters are chosen, in one record: the settings of a search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, nan
from typing import Any

from textreg.errors import UsageError
from textreg.jobs import check_backend
from textreg.params import param
from textreg.training.search.choice import SelectionRule

UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


def in_units(value: float | str, units: Mapping[str, float]) -> float:
    """A number such as ``90`` or ``"1.5m"``, times its unit; NaN if it is none."""
    number, unit = str(value).strip().lower(), ""
    while number and number[-1].isalpha():
        number, unit = number[:-1], number[-1] + unit
    try:
        return float(number) * units[unit]
    except (ValueError, KeyError):
        return nan


def parse_seconds(budget: float | str) -> float:
    """A time such as ``90``, ``"90s"``, ``"1.5m"`` or ``"2h"`` in seconds; UsageError otherwise."""
    seconds = in_units(budget, UNITS)
    if not 0 < seconds < inf:
        raise UsageError(
            f"the budget must be a time above 0, such as 90s, 5m or 2h, not '{budget}'."
        )
    return seconds


class Tuning(SelectionRule):
    """How hyperparameters are searched, and which setting is chosen.

    "grid" measures all settings. "narrow" measures settings that lie far apart first, then those
    next to the best. ``search_space`` maps names of parameters, as their options are called, to the
    values to try: ``{"weighting": ["log", "tfidf"], "reg_l1": [0.1, 1]}``.
    """

    search: str = param(
        default="narrow",
        choices=("narrow", "grid"),
        help="search strategy: a coarse grid refined around the best settings (narrow), or all "
        "settings (grid)",
    )
    search_space: Mapping[str, Sequence[Any]] | None = param(
        default=None,
        convert=lambda space: space or None,
        metavar="PARAMETER=VALUES",
        repeated=True,
        help="values to try of any parameter of the parts or features, such as weighting=log,tfidf",
    )
    budget: float | str | None = param(
        default=None,
        convert=parse_seconds,
        metavar="TIME",
        help="time limit for a training, the final fit included, such as 90s, 5m or 2h; the best "
        "model so far is kept",
    )
    backend: str = param(
        default="threads",
        choices=("threads", "dask"),
        help="where fits and blocks are: in threads, or on the workers of a Dask cluster",
    )
    address: str | None = param(
        default=None, metavar="URL", help="Dask scheduler, such as tcp://10.0.0.5:8786"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_backend(self.backend, self.address)

    @property
    def rule(self) -> SelectionRule:
        """How the setting is chosen."""
        names = SelectionRule.declared()
        return SelectionRule(**{name: getattr(self, name) for name in names})

    @property
    def seconds(self) -> float | None:
        """The budget in seconds."""
        return None if self.budget is None else parse_seconds(self.budget)
