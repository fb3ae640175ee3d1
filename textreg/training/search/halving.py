"""Many documents: settings are ranked on a part of those to fit, and the best measured on all.

Which settings are good shows on a few thousand documents, but not which one is best: strengths that
fit a part do not fit all of the documents, not even in units of their scale. So the best few of the
part are fitted to all of them, and then those whose penalties are weaker by a step, until none of
these is better. That is successive halving (Jamieson & Talwalkar 2016) in two steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from textreg.measure.metrics import SMALLER
from textreg.training.search.context import SearchContext
from textreg.training.search.documents import FeatureValues
from textreg.training.search.narrowing import Lattice, Plan, narrowed
from textreg.training.search.selection import MeasuredSetting
from textreg.training.search.splits import Split

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from textreg.tasks import Target

ENTRIES = 1_500_000
"""Entries of the matrix, or occurrences of features, that a part has at least."""

DOCUMENTS = 4_000
"""Documents that a part has at least."""

OF_LABEL = 20
"""Documents of every label that a part has at least, if there are as many."""

SHARE = 0.5
"""The largest part of the documents that is worth its time."""

KEPT = 2
"""How many of the settings that were ranked on the part are fitted to all documents."""

Place = tuple[FeatureValues, int]
"""A setting by its values of the space and its place in the grid there, which all parts share."""


def on_part(context: SearchContext) -> SearchContext | None:
    """The same search with a part of the fitted documents; None where that is not worth it.

    Only losses rank settings on a part as on the whole. By counts, such as F1, on goemotions the
    best two of a part were the best of no more than that: micro-F1 55.5 in place of 58.1.
    """
    splits = context.documents.splits
    if not context.rules_out or not splits or context.metric not in SMALLER:
        return None
    rows = context.prepared(context.first).data.rows
    fewest = min(len(split.train) for split in splits)
    share = max(DOCUMENTS / fewest, ENTRIES * rows.shape[0] / (max(rows.size, 1) * fewest))
    if share > SHARE:
        return None
    target, seed = context.documents.target, context.settings.seed
    return context.with_splits(
        [
            Split(drawn(target, split.train, int(share * len(split.train)), seed), split.held)
            for split in splits
        ]
    )


def drawn(target: Target, rows: NDArray[np.intp], number: int, seed: int) -> NDArray[np.intp]:
    """Some of these documents, ascending: drawn by chance, with a few of every label."""
    order = np.random.default_rng(seed).permutation(rows)
    chosen = np.zeros(len(order), dtype=bool)
    chosen[:number] = True
    has, labels = target.task.memberships(target.y[order])
    for label in range(len(labels)):
        of_label = has[:, label] if has.ndim == 2 else has == label
        chosen[np.flatnonzero(of_label)[:OF_LABEL]] = True
    return np.sort(order[chosen])


class Ranking:
    """The settings of a search on a part, from the best on, by their places.

    Parameters
    ----------
    part : SearchContext
    measured : sequence of MeasuredSetting
        What it measured.
    planned : int
        How many settings it had, those included that a few labels had ruled out.

    Attributes
    ----------
    documents : int
        How many were fitted.
    places : list of tuple
    ruled_out : int
        How many of them were not fitted to all documents.
    """

    def __init__(
        self, part: SearchContext, measured: Sequence[MeasuredSetting], planned: int
    ) -> None:
        self._left_out = planned - len(measured)
        self.documents = len(part.documents.splits[0].train)
        best = part.promising(measured, len(measured))
        values = [part.values_of(setting) for setting in best]
        grids = {some: part.grid(some) for some in dict.fromkeys(values)}
        self._sizes = {some: len(grid) for some, grid in grids.items()}
        self.places: list[Place] = [
            (some, grids[some].index(setting.regularizer))
            for some, setting in zip(values, best, strict=True)
        ]
        self.ruled_out = 0

    def confirmed(self, context: SearchContext) -> Plan:
        """The best of them with all documents; then weaker neighbors, until none is better.

        All settings, where the regularizer has another grid for more documents.
        """
        lattices = {some: Lattice(context.grid(some)) for some in self._sizes}
        if any(len(lattices[some].grid) != size for some, size in self._sizes.items()):
            yield from narrowed(context)
            return
        measured: list[MeasuredSetting] = []
        done: set[Place] = set()
        wanted = self.places[:KEPT]
        while wanted:
            for some in dict.fromkeys(values for values, _ in wanted):
                own = [place for values, place in wanted if values == some]
                measured += yield lattices[some].batch(some, own, 0)
            done |= set(wanted)
            self.ruled_out = self._left_out + len(set(self.places) - done)
            best = context.promising(measured, 1)[0]
            values = context.values_of(best)
            weaker = lattices[values].neighbors(best.regularizer, steps=(1,))
            wanted = [(values, place) for place in weaker if (values, place) not in done]
