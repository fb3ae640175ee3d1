"""Group builders as strangers write them, and their mistakes."""

from __future__ import annotations

import numpy as np

from textreg.errors import DataError
from textreg.kinds import GroupBuilder
from textreg.params import param
from textreg.records import Groups, Tokens
from textreg.testing import check_group_builder as check

from .bug import Bug

__all__ = ["BUGS", "ORIGINALS", "check"]


class Suffixes(GroupBuilder):
    """Words with the same last letters."""

    name = "suffixes"
    letters: int = param(default=3, min=1, max=20, help="letters that are the same")

    def build(self, tokens: Tokens) -> Groups:
        """A group for every suffix of two words."""
        return self.record(self.sets(tokens), tokens)

    def sets(self, tokens: Tokens) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for feature, name in enumerate(tokens.vocabulary):
            word = name.split(" ")[-1]
            if len(word) > self.letters:
                found.setdefault(word[-self.letters :], []).append(feature)
        return {suffix: some for suffix, some in found.items() if len(some) > 1}

    def record(self, sets: dict[str, list[int]], tokens: Tokens) -> Groups:
        if not sets:
            raise DataError(f"suffixes: no two words have the same {self.letters} last letters.")
        return Groups(
            indptr=np.cumsum([0, *map(len, sets.values())]),
            indices=np.array([one for some in sets.values() for one in some], dtype=np.int32),
            weights=np.sqrt([len(some) for some in sets.values()]),
            n_features=len(tokens.vocabulary),
            names=[f"-{suffix}" for suffix in sets],
        )


class NanWeights(Suffixes):
    def record(self, sets: dict[str, list[int]], tokens: Tokens) -> Groups:
        groups = super().record(sets, tokens)
        return Groups(groups.indptr, groups.indices, groups.weights * np.nan, groups.n_features)


ORIGINALS = (Suffixes,)
BUGS = (Bug("weights that are NaN", NanWeights),)
