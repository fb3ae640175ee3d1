"""What is known of features beforehand: groups of them, and links between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from textreg._core.arrays import Floats, Int32s, Int64s
from textreg.errors import RecordError
from textreg.records.cache import Cache
from textreg.records.matrix import checked_csr
from textreg.records.ragged import (
    distinct_rows,
    offsets,
    row_of,
    sums,
    take_rows,
)

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True)
class Groups:
    """Overlapping sets of features, each with a price.

    indptr: int64, indices: int32, group g is ``indices[indptr[g]:indptr[g + 1]]``, sorted and
    distinct. weights: float64, the relative price of each group (the regularizer multiplies it by
    its own). names: one a group, or None. n_features: columns of X.
    """

    indptr: Int64s
    indices: Int32s
    weights: Floats
    n_features: int
    names: Sequence[str] | None = None

    def __post_init__(self) -> None:
        offsets("groups.indptr", self.indptr, len(self.indices))
        if len(self.weights) != len(self):
            raise RecordError(
                f"{len(self)} groups but {len(self.weights)} weights: give one a group."
            )
        if self.names is not None and len(self.names) != len(self):
            raise RecordError(f"{len(self)} groups but {len(self.names)} names: give one a group.")
        bad = np.flatnonzero(~(np.isfinite(self.weights) & (self.weights >= 0)))
        if len(bad):
            raise RecordError(
                f"{self.name(bad[0])} has the weight {self.weights[bad[0]]}: "
                f"weights are finite, 0 or more."
            )
        if len(self.indices):
            wrong = (self.indices < 0) | (self.indices >= self.n_features)
            if wrong.any():
                entry = int(np.argmax(wrong))
                raise RecordError(
                    f"{self.name(self._group_of(entry))} holds feature {self.indices[entry]}, but "
                    f"features run from 0 to {self.n_features - 1}."
                )
            rises = np.ones(len(self.indices), dtype=bool)
            rises[1:] = self.indices[1:] > self.indices[:-1]
            starts = self.indptr[:-1]
            rises[starts[starts < len(self.indices)]] = True
            if not rises.all():
                entry = int(np.argmin(rises))
                raise RecordError(
                    f"{self.name(self._group_of(entry))} must list its features sorted and once "
                    f"each; feature {self.indices[entry]} comes after {self.indices[entry - 1]}."
                )

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __repr__(self) -> str:
        size = f"{len(self.indices):,} entries"
        return f"<Groups: {len(self):,} over {self.n_features:,} features, {size}>"

    def _group_of(self, entry: int) -> int:
        return int(np.searchsorted(self.indptr, entry, side="right")) - 1

    def name(self, group: int) -> str:
        """What to call a group in an error, by its index where it has no name."""
        return f"group {group}" if self.names is None else f"group '{self.names[group]}'"

    def label(self, group: int) -> str:
        """What to call a group where it is shown: its name, or ``group 3`` of the third."""
        return f"group {group + 1}" if self.names is None else self.names[group]

    def members(self, group: int) -> Int32s:
        """The features of a group, sorted."""
        return self.indices[self.indptr[group] : self.indptr[group + 1]]

    @cached_property
    def merged(self) -> MergedGroups:
        """The same penalty with fewer groups: see :class:`MergedGroups`."""
        sizes = np.diff(self.indptr)
        origin = np.full(len(self), -1, dtype=np.int64)
        single = np.flatnonzero(sizes == 1)
        feature = self.indices[self.indptr[single]].astype(np.int64)
        origin[single] = -2 - feature
        l1 = sums(feature, self.weights[single], self.n_features)

        several = np.flatnonzero(sizes > 1)
        first, same_as = distinct_rows(self.indptr, self.indices, several)
        origin[several] = same_as
        weights = sums(same_as, self.weights[several], len(first))
        indptr, indices = take_rows(self.indptr, self.indices, several[first])
        return MergedGroups(
            groups=Groups(indptr, indices, weights, self.n_features), l1=l1, origin=origin
        )


@dataclass(frozen=True)
class MergedGroups:
    """Groups after the two exact simplifications.

    Identical groups become one with the sum of their weights; a group of one feature becomes an l1
    price on it. groups: what remains, sizes 2 and up. l1: float64, one a feature, the weights of
    its groups of one. origin: int64, one an original group: its index in ``groups``, -1 if it was
    empty, or -2 - j if it was the single feature j.
    """

    groups: Groups
    l1: Floats
    origin: Int64s


@dataclass(frozen=True, eq=False)
class Graph:
    """Weighted links between features (Sandler et al. 2008).

    similar: CSR (p + classes, p + classes), the weight, 0 or more, of the link from row to column,
    section 2. dissimilar: the same between features that should have opposite weights, section 3.2,
    or None. classes: number of virtual features after the p real ones, section 3.1. A link from a
    feature to itself says nothing and is refused.
    """

    similar: csr_array
    dissimilar: csr_array | None = None
    classes: int = 0
    cache: Cache = field(default_factory=Cache, init=False, repr=False)

    def __post_init__(self) -> None:
        similar = checked_csr("similar", self.similar)
        rows, columns = similar.shape
        if rows != columns:
            raise RecordError(f"a feature graph is square, not {rows} x {columns}.")
        if not 0 <= self.classes <= rows:
            raise RecordError(f"{self.classes} of {rows} features cannot be virtual.")
        for name in ("similar", "dissimilar"):
            if getattr(self, name) is None:
                continue
            links = checked_csr(name, getattr(self, name))
            if links.shape != (rows, rows):
                raise RecordError(
                    f"{name} is {links.shape[0]} x {links.shape[1]}, not {rows} x {rows}."
                )
            if not links.data.all():
                links = links.copy()
                links.eliminate_zeros()
            source = row_of(links.indptr)
            bad = ~(np.isfinite(links.data) & (links.data >= 0)) | (source == links.indices)
            if bad.any():
                at = int(np.argmax(bad))
                raise RecordError(
                    f"{name}: the link from feature {source[at]} to {links.indices[at]} has the "
                    f"weight {links.data[at]}; links join two features, with finite weights of 0 "
                    f"or more."
                )
            object.__setattr__(self, name, links)

    @property
    def n_features(self) -> int:
        """Number of real features, the columns of X."""
        return int(self.similar.shape[0]) - self.classes

    @property
    def n_links(self) -> int:
        """Number of directed links of both sorts."""
        return int(self.similar.nnz) + (0 if self.dissimilar is None else int(self.dissimilar.nnz))

    def __repr__(self) -> str:
        virtual = f", {self.classes} classes" if self.classes else ""
        return f"<Graph: {self.n_links:,} links of {self.n_features:,} features{virtual}>"
