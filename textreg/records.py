"""The records that cross the borders between modules: frozen, and checked once when made.

Ragged data has one layout everywhere: a flat array and the offsets into it, so item ``i`` is
``flat[ptr[i]:ptr[i + 1]]``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from textreg.errors import DataError, UsageError

if TYPE_CHECKING:
    from scipy.sparse import csc_array, csr_array

Floats = NDArray[np.float64]
Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]


def _offsets(name: str, ptr: Int64s, total: int) -> None:
    """Check that ``ptr`` cuts a flat array of ``total`` entries into consecutive pieces."""
    if ptr.ndim != 1 or len(ptr) == 0 or ptr[0] != 0 or ptr[-1] != total:
        raise DataError(f"{name} must run from 0 to {total}, the number of entries it cuts.")
    if np.any(ptr[1:] < ptr[:-1]):
        raise DataError(
            f"{name} must never decrease; entry {int(np.argmax(np.diff(ptr) < 0))} does."
        )


@dataclass(frozen=True)
class Corpus:
    """Documents as they were read.

    texts: the documents. labels: one a document, or None. weights: one a document, or None.
    sources: names of the files; source_of: int32, the file of every document; line_of: int64, its
    line there (1-based), 0 where the file is the document. skipped: rows left out on request.
    columns: what was read from where, for people.
    """

    texts: Sequence[str]
    labels: Sequence[str] | None = None
    weights: Floats | None = None
    sources: Sequence[str] = ()
    source_of: Int32s | None = None
    line_of: Int64s | None = None
    skipped: int = 0
    columns: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("labels", "weights", "source_of", "line_of"):
            value = getattr(self, name)
            if value is not None and len(value) != len(self.texts):
                raise DataError(
                    f"{len(self.texts):,} texts but {len(value):,} {name}: give one for each text."
                )

    def __len__(self) -> int:
        return len(self.texts)

    def where(self, document: int) -> str:
        """``file:line`` of a document, for messages."""
        if self.source_of is None:
            return f"document {document + 1}"
        source = self.sources[int(self.source_of[document])]
        line = 0 if self.line_of is None else int(self.line_of[document])
        return f"{source}:{line}" if line else source

    def select(self, rows: NDArray[np.intp]) -> Corpus:
        """The documents ``rows``, in that order."""
        return Corpus(
            texts=[self.texts[row] for row in rows],
            labels=None if self.labels is None else [self.labels[row] for row in rows],
            weights=None if self.weights is None else self.weights[rows],
            sources=self.sources,
            source_of=None if self.source_of is None else self.source_of[rows],
            line_of=None if self.line_of is None else self.line_of[rows],
            columns=self.columns,
        )


@dataclass(frozen=True)
class Tokens:
    """Every occurrence of a feature in reading order, cut into sentences and documents.

    ids: int32, one an occurrence, index into vocabulary. sentence_ptr: int64, sentence s is
    ``ids[sentence_ptr[s]:sentence_ptr[s + 1]]``. document_ptr: int64, document d is the sentences
    ``document_ptr[d]`` to ``document_ptr[d + 1]``. spans: int32 (occurrences, 2), start and end of
    every occurrence in its document's text, in characters, where somebody asked for them.
    sentence_spans: int32 (sentences, 2), likewise. paragraph_ptr: int64, paragraph g is the
    sentences ``paragraph_ptr[g]`` to ``paragraph_ptr[g + 1]``, at least one and all of one
    document; None where the tokenizer does not tell.
    """

    ids: Int32s
    sentence_ptr: Int64s
    document_ptr: Int64s
    vocabulary: Sequence[str]
    spans: Int32s | None = None
    sentence_spans: Int32s | None = None
    paragraph_ptr: Int64s | None = None

    def __post_init__(self) -> None:
        _offsets("sentence_ptr", self.sentence_ptr, len(self.ids))
        _offsets("document_ptr", self.document_ptr, len(self.sentence_ptr) - 1)
        if self.paragraph_ptr is not None:
            _offsets("paragraph_ptr", self.paragraph_ptr, len(self.sentence_ptr) - 1)
            if np.setdiff1d(self.document_ptr, self.paragraph_ptr).size:
                raise DataError("a paragraph must end where its document ends: see paragraph_ptr.")
            if not (np.diff(self.paragraph_ptr) > 0).all():
                raise DataError("every paragraph must have a sentence: see paragraph_ptr.")
        if len(self.ids):
            low, high = int(self.ids.min()), int(self.ids.max())
            if low < 0 or high >= len(self.vocabulary):
                raise DataError(
                    f"token ids run from {low} to {high}, but the vocabulary has "
                    f"{len(self.vocabulary)} entries (0 to {len(self.vocabulary) - 1})."
                )

    @property
    def n_documents(self) -> int:
        """Number of documents."""
        return len(self.document_ptr) - 1

    @property
    def n_sentences(self) -> int:
        """Number of sentences in all documents."""
        return len(self.sentence_ptr) - 1

    @cached_property
    def token_document_ptr(self) -> Int64s:
        """Offsets of the documents in ``ids``."""
        return self.sentence_ptr[self.document_ptr]

    def select(self, documents: NDArray[np.intp]) -> Tokens:
        """The given documents, in that order, over the same vocabulary."""
        sentences = np.arange(self.n_sentences, dtype=np.int64)
        document_ptr, rows = _take_rows(self.document_ptr, sentences, documents)
        sentence_ptr, ids = _take_rows(self.sentence_ptr, self.ids, rows)
        spans = None
        if self.spans is not None:
            occurrences = np.arange(len(self.ids), dtype=np.int64)
            spans = self.spans[_take_rows(self.sentence_ptr, occurrences, rows)[1]]
        paragraph_ptr = None
        if self.paragraph_ptr is not None:
            ends = np.searchsorted(self.paragraph_ptr, self.document_ptr)
            _, sizes = _take_rows(ends, np.diff(self.paragraph_ptr), documents)
            paragraph_ptr = np.concatenate([[0], np.cumsum(sizes)])
        return Tokens(
            ids=ids,
            sentence_ptr=sentence_ptr,
            document_ptr=document_ptr,
            vocabulary=self.vocabulary,
            spans=spans,
            sentence_spans=None if self.sentence_spans is None else self.sentence_spans[rows],
            paragraph_ptr=paragraph_ptr,
        )


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
        _offsets("groups.indptr", self.indptr, len(self.indices))
        if len(self.weights) != len(self):
            raise DataError(
                f"{len(self)} groups but {len(self.weights)} weights: give one a group."
            )
        if self.names is not None and len(self.names) != len(self):
            raise DataError(f"{len(self)} groups but {len(self.names)} names: give one a group.")
        bad = np.flatnonzero(~(np.isfinite(self.weights) & (self.weights >= 0)))
        if len(bad):
            raise DataError(
                f"{self.name(bad[0])} has the weight {self.weights[bad[0]]}: "
                f"weights are finite, 0 or more."
            )
        if len(self.indices):
            wrong = (self.indices < 0) | (self.indices >= self.n_features)
            if wrong.any():
                entry = int(np.argmax(wrong))
                raise DataError(
                    f"{self.name(self._group_of(entry))} holds feature {self.indices[entry]}, but "
                    f"features run from 0 to {self.n_features - 1}."
                )
            rises = np.ones(len(self.indices), dtype=bool)
            rises[1:] = self.indices[1:] > self.indices[:-1]
            starts = self.indptr[:-1]
            rises[starts[starts < len(self.indices)]] = True
            if not rises.all():
                entry = int(np.argmin(rises))
                raise DataError(
                    f"{self.name(self._group_of(entry))} must list its features sorted and once "
                    f"each; feature {self.indices[entry]} comes after {self.indices[entry - 1]}."
                )

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def _group_of(self, entry: int) -> int:
        return int(np.searchsorted(self.indptr, entry, side="right")) - 1

    def name(self, group: int) -> str:
        """What to call a group in a message."""
        return f"group {group}" if self.names is None else f"group '{self.names[group]}'"

    @cached_property
    def merged(self) -> MergedGroups:
        """The same penalty with fewer groups: see :class:`MergedGroups`."""
        sizes = np.diff(self.indptr)
        origin = np.full(len(self), -1, dtype=np.int64)
        single = np.flatnonzero(sizes == 1)
        feature = self.indices[self.indptr[single]].astype(np.int64)
        origin[single] = -2 - feature
        l1 = _sums(feature, self.weights[single], self.n_features)

        several = np.flatnonzero(sizes > 1)
        first, same_as = _distinct_rows(self.indptr, self.indices, several)
        origin[several] = same_as
        weights = _sums(same_as, self.weights[several], len(first))
        indptr, indices = _take_rows(self.indptr, self.indices, several[first])
        return MergedGroups(
            groups=Groups(indptr, indices, weights, self.n_features), l1=l1, origin=origin
        )


def _sums(bins: NDArray[Any], values: Floats, size: int) -> Floats:
    """The sum of ``values`` in each of ``size`` bins; bincount gives integers where it has none."""
    return np.bincount(bins, weights=values, minlength=size).astype(np.float64)


def _take_rows(ptr: Int64s, flat: NDArray[Any], rows: NDArray[Any]) -> tuple[Int64s, NDArray[Any]]:
    """The ragged rows ``rows``, as a new pair of offsets and flat array."""
    sizes = np.diff(ptr)[rows]
    new = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum(sizes, out=new[1:])
    return new, flat[np.arange(new[-1]) + np.repeat(ptr[rows] - new[:-1], sizes)]


def _distinct_rows(
    ptr: Int64s, flat: Int32s, rows: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Which of the non-empty ragged ``rows`` differ.

    Returns ``first``, positions in ``rows`` of the first of every distinct row in order of
    appearance, and ``same_as``, for every one of ``rows`` its position in ``first``.
    """
    if len(rows) == 0:
        return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
    ptr, flat = _take_rows(ptr, flat, rows)
    sizes = np.diff(ptr)
    # A random 64-bit number for every feature: sums agree for equal rows, and hardly for others.
    numbers = np.random.default_rng(0).integers(2**64, size=int(flat.max()) + 1, dtype=np.uint64)
    keys = np.add.reduceat(numbers[flat], ptr[:-1]) + sizes.astype(np.uint64)
    _, first, same_as = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), dtype=np.intp)
    rank[order] = np.arange(len(order))
    first, same_as = first[order], rank[same_as]
    # Never trust a hash: compare every row with the one it is to be merged into.
    twin = first[same_as]
    twin_flat = flat[
        np.minimum(np.arange(len(flat)) + np.repeat(ptr[twin] - ptr[:-1], sizes), len(flat) - 1)
    ]
    if (sizes[twin] != sizes).any() or (twin_flat != flat).any():
        seen: dict[bytes, int] = {}
        first_list: list[int] = []
        same_list: list[int] = []
        for row in range(len(rows)):
            key = flat[ptr[row] : ptr[row + 1]].tobytes()
            if key not in seen:
                seen[key] = len(first_list)
                first_list.append(row)
            same_list.append(seen[key])
        return np.array(first_list, dtype=np.intp), np.array(same_list, dtype=np.intp)
    return first, same_as


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

    def __post_init__(self) -> None:
        from scipy.sparse import csr_array

        rows, columns = self.similar.shape
        if rows != columns:
            raise DataError(f"a feature graph is square, not {rows} x {columns}.")
        if not 0 <= self.classes <= rows:
            raise DataError(f"{self.classes} of {rows} features cannot be virtual.")
        for name in ("similar", "dissimilar"):
            links = getattr(self, name)
            if links is None:
                continue
            links = csr_array(links, dtype=np.float64)
            if links.shape != (rows, rows):
                raise DataError(
                    f"{name} is {links.shape[0]} x {links.shape[1]}, not {rows} x {rows}."
                )
            if not links.has_canonical_format or not links.data.all():
                links = links.copy()
                links.sum_duplicates()
                links.eliminate_zeros()
            source = np.repeat(np.arange(rows), np.diff(links.indptr))
            bad = ~(np.isfinite(links.data) & (links.data >= 0)) | (source == links.indices)
            if bad.any():
                at = int(np.argmax(bad))
                raise DataError(
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


class Step(NamedTuple):
    """What a solver reports to ``Problem.callback`` and keeps as ``Solution.history``."""

    iteration: int
    objective: float
    gap: float


@dataclass(frozen=True, eq=False)
class Problem:
    """Everything a regularizer needs to find weights.

    X: (n, p) sparse or dense, documents by features; kept as CSR float64. y: (n,) of -1 and +1, or
    of any numbers where the loss is "squared".
    weights: (n,) importance of every document, default 1. groups, graph: structure of the features.
    tol: relative duality gap at which to stop. start: (w, b) to begin from.
    validation: (X, y) held out, for procedures that stop by it. callback: called with a Step; when
    it returns True the solver stops and gives the best it has.
    """

    X: csr_array
    y: Floats
    weights: Floats = None  # type: ignore[assignment]  # ones, once it is made
    loss: str = "logistic"
    groups: Groups | None = None
    graph: Graph | None = None
    fit_intercept: bool = True
    tol: float = 1e-4
    max_iter: int = 1000
    threads: int = 1
    start: tuple[Floats, float] | None = None
    validation: tuple[Any, Floats] | None = None
    callback: Callable[[Step], bool | None] | None = None

    def __post_init__(self) -> None:
        from scipy.sparse import csr_array

        X = csr_array(self.X, dtype=np.float64)
        if not X.has_canonical_format:
            X = X.copy()  # summing duplicates in place would change the caller's matrix
            X.sum_duplicates()
        n, p = X.shape
        if not np.isfinite(X.data).all():
            row = int(np.searchsorted(X.indptr, np.argmin(np.isfinite(X.data)), side="right")) - 1
            raise DataError(f"X has a value that is not finite in row {row}.")
        y = np.ascontiguousarray(self.y, dtype=np.float64)
        if y.shape != (n,):
            raise DataError(f"X has {n} rows but y has the shape {y.shape}.")
        if self.loss == "squared":
            if not np.isfinite(y).all():
                raise DataError("y must hold finite numbers only.")
        elif not np.isin(y, (-1.0, 1.0)).all():
            raise DataError("y must hold -1 and +1 only.")
        c = np.ones(n) if self.weights is None else np.array(self.weights, dtype=np.float64)
        if c.shape != (n,) or not np.isfinite(c).all() or (c < 0).any():
            raise DataError(f"weights must be {n} finite numbers, 0 or more.")
        if not self.tol > 0:
            raise UsageError(f"tol must be above 0, not {self.tol}.")
        if self.max_iter < 1:
            raise UsageError(f"max_iter must be at least 1, not {self.max_iter}.")
        if self.groups is not None and self.groups.n_features != p:
            raise DataError(
                f"X has {p} features, but the groups are over {self.groups.n_features}."
            )
        if self.graph is not None and self.graph.n_features != p:
            raise DataError(f"X has {p} features, but the graph is over {self.graph.n_features}.")
        for name, value in (("X", X), ("y", y), ("weights", c)):
            object.__setattr__(self, name, value)
        self._check_start()

    def _check_start(self) -> None:
        if self.start is not None and np.shape(self.start[0]) != self.X.shape[1:]:
            raise DataError(
                f"start has {np.shape(self.start[0])} weights, X has {self.X.shape[1]} features."
            )

    @cached_property
    def X_csc(self) -> csc_array:
        """The column-wise twin of X, made once and shared by :meth:`replace`."""
        return self.X.tocsc()

    def replace(self, **changes: Any) -> Problem:
        """A copy with some fields changed; what was derived from X is kept when X is."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        other = object.__new__(Problem)
        for name, value in {**values, **changes}.items():
            object.__setattr__(other, name, value)
        if changes.keys() & {"X", "y", "weights", "groups", "graph", "tol", "max_iter"}:
            other.__post_init__()
        elif "start" in changes:
            other._check_start()
        if "X" not in changes and "X_csc" in self.__dict__:
            other.__dict__["X_csc"] = self.__dict__["X_csc"]
        return other


@dataclass(frozen=True, eq=False)
class Solution:
    """What a solver found.

    w: (p,) weights. b: intercept. objective: loss plus penalty there. gap: how far, at most, the
    objective lies above its minimum, relative to the objective (a proof, from the dual); NaN for
    procedures that have none. residual: largest violation of the optimality conditions. history: a
    Step for every check. group_norms: (groups,) norm of the solver's copy of every *original*
    group; exactly 0 where it was left out. info: further figures by name.
    """

    w: Floats
    b: float
    objective: float
    gap: float = float("nan")
    residual: float = float("nan")
    iterations: int = 0
    converged: bool = False
    history: tuple[Step, ...] = ()
    group_norms: Floats | None = None
    info: dict[str, Any] = field(default_factory=dict)

    @property
    def nonzero(self) -> int:
        """Number of features with a weight."""
        return int(np.count_nonzero(self.w))
