"""How prices are chosen, in one record: the settings of a search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from textreg.choice import Rule


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """How a search goes and who wins it.

    select, within, max_nonzero: see :class:`textreg.choice.Rule`. search_space: further parameters
    to search, by the names of their options, with the values to try: ``{"weighting": ["log",
    "tfidf"], "reg_l1": [0.1, 1.0]}``.
    """

    select: str = "best"
    within: float | None = None
    max_nonzero: int | None = None
    search_space: Mapping[str, Sequence[Any]] | None = None

    def __post_init__(self) -> None:
        _ = self.rule  # what contradicts is refused here

    @property
    def rule(self) -> Rule:
        """How the winner is chosen."""
        return Rule(self.select, self.within, self.max_nonzero)
