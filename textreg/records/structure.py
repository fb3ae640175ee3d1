"""Prior knowledge about features: groups of them, and links between them."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from textreg._core.arrays import Floats, Int32s, Int64s
from textreg._core.groups import group_spread
from textreg._core.ragged import copy_rows
from textreg.errors import RecordError
from textreg.records import arrays

if TYPE_CHECKING:
    from scipy.sparse import csr_array


# Smallest weight of a link, as smaller ones have no reciprocal.
LEAST = 1e-300


@dataclass(frozen=True, eq=False)
class Groups:
    """Sets of features, which may overlap, each with a weight in the penalty.

    A group builder makes them; a regularizer finds them in ``Problem.groups``. A feature may be in
    no group, and a group may be empty.

    Parameters
    ----------
    indptr : array-like of whole numbers, shape (groups + 1,)
        Kept as int64, and the others below as int32 and float64.
    indices : array-like of whole numbers
        Group g has the features ``indices[indptr[g]:indptr[g + 1]]``, sorted and distinct. Both are
        kept read-only: a copy of what may be written to.
    weights : array-like, shape (groups,)
        The weight of every group, 0 or more; the regularizer multiplies its group penalty
        strength by it.
    n_features : int
        Number of features, the columns of X.
    names : sequence of str, length groups, optional
        What the groups are called in output.

    Raises
    ------
    RecordError
        If a field is no array of such numbers, the offsets do not cut the indices, a feature is out
        of range, or a weight is negative, not finite, or too large to be summed.

    Examples
    --------
    >>> import numpy as np
    >>> groups = Groups([0, 2, 4], [0, 1, 1, 2], np.ones(2), n_features=3)
    >>> groups, groups.members(1)
    (<Groups: 2 over 3 features, 4 entries>, array([1, 2], dtype=int32))
    """

    indptr: Int64s
    indices: Int32s
    weights: Floats
    n_features: int
    names: Sequence[str] | None = None

    def __post_init__(self) -> None:
        vars(self).update(
            indptr=arrays.frozen(arrays.as_array("groups.indptr", self.indptr, np.int64)),
            indices=arrays.frozen(arrays.as_array("groups.indices", self.indices, np.int32)),
            weights=arrays.as_array("groups.weights", self.weights, np.float64),
            n_features=arrays.as_whole("groups.n_features", self.n_features),
        )
        arrays.offsets("groups.indptr", self.indptr, len(self.indices))
        names = () if self.names is None else self.names
        if isinstance(names, str) or not hasattr(names, "__len__"):
            raise RecordError("groups.names must be a list with one name for each group, or None.")
        for name, values in (("weights", self.weights), ("names", self.names)):
            if values is not None and len(values) != len(self):
                raise RecordError(
                    f"{len(self)} groups but {len(values)} {name}: give one for each group."
                )
        bad = np.flatnonzero(~(np.isfinite(self.weights) & (self.weights >= 0)))
        if len(bad):
            raise RecordError(
                f"{self.name(bad[0])} has the weight {self.weights[bad[0]]}: "
                f"weights are finite, 0 or more."
            )
        arrays.check_weights("groups.weights", self.weights)
        wrong = (self.indices < 0) | (self.indices >= self.n_features)
        if wrong.any():
            entry = int(np.argmax(wrong))
            raise RecordError(
                f"{self.name(self._group_of(entry))} holds feature {self.indices[entry]}, but "
                f"features run from 0 to {self.n_features - 1}."
            )
        rises = np.append(True, self.indices[1:] > self.indices[:-1])
        starts = self.indptr[:-1]
        rises[starts[starts < len(self.indices)]] = True
        if not rises.all():
            entry = int(np.argmin(rises))
            raise RecordError(
                f"{self.name(self._group_of(entry))} must list its features sorted and once each; "
                f"feature {self.indices[entry]} comes after {self.indices[entry - 1]}."
            )

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __repr__(self) -> str:
        size = f"{self.indptr[-1]:,} entries"
        return f"<Groups: {len(self):,} over {self.n_features:,} features, {size}>"

    def _group_of(self, entry: int) -> int:
        return int(np.searchsorted(self.indptr, entry, side="right")) - 1

    def name(self, group: int) -> str:
        """The name of a group in an error message, with its index if it has no name.

        Parameters
        ----------
        group : int
            Its index, from 0.

        Returns
        -------
        str
        """
        return f"group {group}" if self.names is None else f"group '{self.names[group]}'"

    def label(self, group: int) -> str:
        """The name of a group in output; ``group 3`` for the third if it has no name.

        Parameters
        ----------
        group : int
            Its index, from 0.

        Returns
        -------
        str
        """
        return f"group {group + 1}" if self.names is None else self.names[group]

    def members(self, group: int) -> Int32s:
        """The features of a group, sorted.

        Parameters
        ----------
        group : int
            Its index, from 0.

        Returns
        -------
        ndarray of int32
            Indices of features.
        """
        return self.indices[self.indptr[group] : self.indptr[group + 1]]

    def widened(self, n_features: int) -> Groups:
        """The same groups over more features, those added being in none.

        Parameters
        ----------
        n_features : int
            The new number of features, as many as now or more.

        Returns
        -------
        Groups
        """
        return self if n_features == self.n_features else replace(self, n_features=n_features)

    @cached_property
    def merged(self) -> MergedGroups:
        """Groups with the same penalty, without duplicates: see :class:`MergedGroups`."""
        distinct, single = self.distinct.groups, np.flatnonzero(np.diff(self.indptr) == 1)
        origin, feature = self.distinct.origin.copy(), self.indices[self.indptr[single]]
        origin[single] = -2 - feature.astype(np.int64)
        several = int(np.count_nonzero(np.diff(distinct.indptr) > 1))  # which come first
        groups = Groups(
            distinct.indptr[: several + 1],
            distinct.indices[: distinct.indptr[several]],
            distinct.weights[:several],
            self.n_features,
        )
        return MergedGroups(groups, origin, Singles(feature, self.weights[single]))

    def compact(self) -> Groups:
        """The same groups, whose features are stored once, in ``merged``.

        Returns
        -------
        Groups
            Its ``indices`` are made of ``merged`` when somebody asks.
        """
        _ = self.merged  # a view of ``distinct``: the copy has both
        other = copy(self)
        del vars(other)["indices"]
        return other

    def __getattr__(self, name: str) -> Any:
        if name != "indices" or "merged" not in vars(self):
            raise AttributeError(f"Groups have no attribute '{name}'.")
        merged = self.merged
        indices = np.empty(int(self.indptr[-1]), dtype=np.int32)
        if len(merged.groups):
            stored = merged.groups.indptr, merged.groups.indices
            copy_rows(*stored, np.maximum(merged.origin, 0), self.indptr, indices)
        single = np.flatnonzero(merged.origin <= -2)
        indices[self.indptr[single]] = -2 - merged.origin[single]
        indices.flags.writeable = False  # itself, as frozen copies a view of what can be written to
        vars(self)[name] = indices
        return indices

    @cached_property
    def distinct(self) -> MergedGroups:
        """The same, but groups of one feature remain groups, and are the last ones."""
        sizes = np.diff(self.indptr)
        filled = np.concatenate([np.flatnonzero(sizes > 1), np.flatnonzero(sizes == 1)])
        origin = np.full(len(self), -1, dtype=np.int64)
        first, same_as = arrays.distinct_rows(self.indptr, self.indices, filled)
        origin[filled] = same_as
        weights = arrays.sums(same_as, self.weights[filled], len(first))
        indptr, indices = arrays.take_rows(self.indptr, self.indices, filled[first])
        return MergedGroups(Groups(indptr, indices, weights, self.n_features), origin)

    @cached_property
    def separate(self) -> MergedGroups:
        """All groups but empty ones as they are, for solvers where a copy is a copy."""
        filled = np.diff(self.indptr) > 0
        origin = np.where(filled, np.cumsum(filled) - 1, -1)
        indptr = np.append(0, self.indptr[1:][filled])
        groups = Groups(indptr, self.indices, self.weights[filled], self.n_features)
        return MergedGroups(groups, origin)


class Singles(NamedTuple):
    """The groups that consist of one feature only: that feature, and their weights."""

    features: Int32s = np.empty(0, dtype=np.int32)
    weights: Floats = np.empty(0)


def holders_of(groups: Groups) -> tuple[Int64s, Int32s]:
    """Offsets and, feature by feature, the index of the groups that hold it, ascending."""
    from scipy.sparse import csr_array

    marks, ptr = np.ones(len(groups.indices), dtype=np.int8), groups.indptr
    if len(marks) <= np.iinfo(np.int32).max:  # offsets of 64 bits would widen all indices
        ptr = ptr.astype(np.int32)
    by_groups = csr_array((marks, groups.indices, ptr), shape=(len(groups), groups.n_features))
    by_features = by_groups.tocsc()
    return by_features.indptr.astype(np.int64), by_features.indices.astype(np.int32, copy=False)


@dataclass(frozen=True, eq=False)
class MergedGroups:
    """Groups after two simplifications that leave the penalty as it is.

    Identical groups are merged into one, with the sum of their weights. A group of one feature
    becomes an l1 penalty on it.

    Attributes
    ----------
    groups : Groups
        The distinct groups of two features or more.
    origin : ndarray of int64, shape (original groups,)
        The index in ``groups`` of every original group; -1 if it was empty, -2 - j if it consisted
        of feature j only.
    singles : Singles
        The groups that became an l1 penalty.
    l1 : ndarray of float64, shape (features,)
        The sum of the weights of the groups that consist of this feature only.
    """

    groups: Groups
    origin: Int64s
    singles: Singles = field(default_factory=Singles)

    @property
    def l1(self) -> Floats:
        """Made anew: it is as long as there are features, and a penalty needs it but once."""
        features, weights = self.singles
        return arrays.sums(features, weights, self.groups.n_features)

    @cached_property
    def holders(self) -> tuple[Int64s, Int32s]:
        """Offsets and, feature by feature, the index in ``groups`` of those that hold it."""
        return holders_of(self.groups)

    @cached_property
    def reach(self) -> Floats:
        """(features,) The sum of the weights of the groups that hold a feature."""
        return self._sums(self.groups.weights)

    @property
    def least_reach(self) -> Floats:
        """The same of weights divided by the root of the size of their group; made anew."""
        return self._sums(self.groups.weights / np.sqrt(np.diff(self.groups.indptr)))

    def _sums(self, values: Floats) -> Floats:
        """For every feature the sum of the values of its groups."""
        groups = self.groups
        out = np.zeros(groups.n_features)
        group_spread(groups.indptr, groups.indices, values, out)
        return out


@dataclass(frozen=True, eq=False)
class Graph:
    """Weighted links between features (sandler2008).

    A graph builder makes it; a regularizer finds it in ``Problem.graph``. Links have a direction:
    one that goes both ways stands in the matrix twice.

    Parameters
    ----------
    similar : sparse or dense matrix, shape (p + classes, p + classes)
        The weight, 0 or more, of the link from row to column, between features that should have
        similar weights (section 2). Links from a feature to itself are not allowed.
    dissimilar : csr_array of the same shape, optional
        Links between features that should have opposite weights (section 3.2).
    classes : int, default 0
        Number of virtual features after the p real ones (section 3.1).

    Attributes
    ----------
    cache : Cache
        What solvers derive, by key.

    Raises
    ------
    RecordError
        If a shape or a weight is wrong, weights are too large to be summed, or a feature is linked
        to itself.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> links = csr_array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    >>> Graph(links).similar.nnz
    2
    """

    similar: csr_array
    dissimilar: csr_array | None = None
    classes: int = 0
    cache: arrays.Cache = field(default_factory=arrays.Cache, init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "classes", arrays.as_whole("classes", self.classes))
        rows, columns = arrays.checked_csr("similar", self.similar).shape
        if rows != columns:
            raise RecordError(f"a feature graph is square, not {rows} x {columns}.")
        if not 0 <= self.classes <= rows:
            raise RecordError(f"{self.classes} of {rows} features cannot be virtual.")
        for name in ("similar", "dissimilar"):
            if getattr(self, name) is None:
                continue
            links = arrays.checked_csr(name, getattr(self, name))
            if links.shape != (rows, rows):
                raise RecordError(
                    f"{name} is {links.shape[0]} x {links.shape[1]}, not {rows} x {rows}."
                )
            if not links.data.all():
                links = links.copy()
                links.eliminate_zeros()
            source = arrays.row_of(links.indptr)
            bad = ~(np.isfinite(links.data) & (links.data >= LEAST)) | (source == links.indices)
            if bad.any():
                at = int(np.argmax(bad))
                raise RecordError(
                    f"{name}: the link from feature {source[at]} to {links.indices[at]} has the "
                    f"weight {links.data[at]}; links join two features, with finite weights of 0, "
                    f"or {LEAST:g} or more."
                )
            arrays.check_squares(name, links)
            object.__setattr__(self, name, links)

    @property
    def n_features(self) -> int:
        """Number of real features, the columns of X."""
        return int(self.similar.shape[0]) - self.classes

    @property
    def n_links(self) -> int:
        """Number of directed links, similar and dissimilar."""
        return int(self.similar.nnz) + (0 if self.dissimilar is None else int(self.dissimilar.nnz))

    def widened(self, n_features: int) -> Graph:
        """The same links of more features, those added having none.

        Parameters
        ----------
        n_features : int
            The new number of features, as many as now or more.

        Returns
        -------
        Graph
        """
        if n_features == self.n_features:
            return self
        return Graph(
            self._widened(self.similar, n_features),
            None if self.dissimilar is None else self._widened(self.dissimilar, n_features),
            self.classes,
        )

    def _widened(self, links: csr_array, n_features: int) -> csr_array:
        """Links with new features between the real and the virtual ones."""
        from scipy.sparse import csr_array

        real, more = self.n_features, n_features - self.n_features
        indptr = np.insert(links.indptr, real, np.full(more, links.indptr[real]))
        indices = np.where(links.indices < real, links.indices, links.indices + more)
        size = n_features + self.classes
        return csr_array((links.data, indices, indptr), shape=(size, size))

    def __repr__(self) -> str:
        virtual = f", {self.classes} classes" if self.classes else ""
        return f"<Graph: {self.n_links:,} links of {self.n_features:,} features{virtual}>"
