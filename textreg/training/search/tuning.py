"""How prices are chosen, in one record: the settings of a search."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, nan
from typing import Any

from textreg.errors import UsageError, did_you_mean
from textreg.training.search.choice import Rule

SEARCH = ("narrow", "grid", "tpe")
BACKENDS = ("threads", "dask")


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """How a search goes and who wins it.

    search: "grid" measures all settings; "narrow" of more than a few at first some that lie wide
    apart, then those beside the best; "tpe" draws ``trials`` of them (40), each going by what those
    before have come to, with Optuna. search_space: further parameters to search, by the names of
    their options, with the values to try: ``{"weighting": ["log", "tfidf"], "reg_l1": [0.1, 1]}``.
    select, within, max_nonzero: see :class:`textreg.training.search.choice.Rule`. budget: how
    long a training may take, the final fit included: seconds, or "90s", "5m", "2h". resume: a file
    that keeps what is measured; where it exists, the search goes on from there. backend: "threads"
    of this machine, or "dask", the workers of the scheduler at ``address``.
    """

    select: str = "best"
    within: float | None = None
    max_nonzero: int | None = None
    search: str = "narrow"
    trials: int | None = None
    search_space: Mapping[str, Sequence[Any]] | None = None
    budget: float | str | None = None
    resume: str | os.PathLike[str] | None = None
    backend: str = "threads"
    address: str | None = None

    def __post_init__(self) -> None:
        if self.search not in SEARCH:
            raise UsageError(
                f"search must be one of {', '.join(SEARCH)}, not '{self.search}'."
                f"{did_you_mean(self.search, SEARCH)}"
            )
        if self.backend not in BACKENDS:
            raise UsageError(
                f"backend must be one of {', '.join(BACKENDS)}, not '{self.backend}'."
                f"{did_you_mean(self.backend, BACKENDS)}"
            )
        if self.backend == "dask" and self.address is None:
            raise UsageError(
                "backend 'dask' needs the address of a scheduler, such as tcp://10.0.0.5:8786 "
                "(--address)."
            )
        if self.backend != "dask" and self.address is not None:
            raise UsageError(
                "an address is for the backend 'dask': name that too (--backend dask), or leave "
                "the address out."
            )
        if self.trials is not None and self.search != "tpe":
            raise UsageError(
                f"trials is for search 'tpe', and has no part in '{self.search}': leave one of "
                "them out."
            )
        if self.trials is not None and self.trials < 1:
            raise UsageError(f"trials must be 1 or more, not {self.trials}.")
        _ = self.rule, self.seconds  # what contradicts or cannot be is refused here

    @property
    def rule(self) -> Rule:
        """How the winner is chosen."""
        return Rule(self.select, self.within, self.max_nonzero)

    @property
    def plain(self) -> bool:
        """Whether nothing is asked for that takes a search."""
        return self.rule.plain and self.resume is None and self.address is None

    @property
    def seconds(self) -> float | None:
        """The budget in seconds."""
        return None if self.budget is None else parse_seconds(self.budget)


UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


def parse_seconds(budget: float | str) -> float:
    """A time such as ``90``, ``"90s"``, ``"1.5m"`` or ``"2h"``; UsageError for another."""
    number, unit = str(budget).strip().lower(), ""
    while number and number[-1].isalpha():
        number, unit = number[:-1], number[-1] + unit
    try:
        found = float(number) * UNITS[unit]
    except (ValueError, KeyError):
        found = nan
    if not 0 < found < inf:
        raise UsageError(
            f"the budget must be a time above 0, such as 90s, 5m or 2h, not '{budget}'."
        )
    return found
