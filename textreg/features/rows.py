"""The rows of documents, made as matrices of those that are asked for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from textreg._core import text_counts
from textreg._core.ragged import scatter_rows
from textreg.features.encoder import Encoder, side_by_side
from textreg.records import Design, Floats, Int32s, Int64s, Tokens
from textreg.records.arrays import pieces, take_rows
from textreg.text import CsrArrays

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array


BLOCK = 1 << 22
"""Occurrences whose counts are rows at a time, on their way into columns."""


class DocumentRows(ABC):
    """Documents by features: matrices of some documents, or of all.

    Attributes
    ----------
    shape : tuple of int
        Number of documents and of features.
    size : int
        Number of entries, or of the occurrences that are counted there.
    """

    shape: tuple[int, int]
    size: int

    @abstractmethod
    def matrix(self, documents: NDArray[np.intp] | None = None) -> csr_array:
        """The rows of some documents, in the order of their indices, or of all."""

    @abstractmethod
    def design(self, documents: NDArray[np.intp] | None = None) -> Design:
        """The same for solvers."""


class MatrixRows(DocumentRows):
    """Those of a matrix.

    Parameters
    ----------
    X : csr_array
    """

    def __init__(self, X: csr_array) -> None:
        self._X = X
        self.shape, self.size = X.shape, X.nnz

    def matrix(self, documents: NDArray[np.intp] | None = None) -> csr_array:
        """Rows of the matrix; all are the matrix itself."""
        return self._X if documents is None else self._X[documents]

    def design(self, documents: NDArray[np.intp] | None = None) -> Design:
        """The same for solvers."""
        return self._whole if documents is None else Design(self._X[documents])

    @cached_property
    def _whole(self) -> Design:
        return Design(self._X)


class PartCounts(NamedTuple):
    """The features of one tokenizer in the training documents.

    Attributes
    ----------
    tokens : Tokens
        Every occurrence of a feature.
    encoder : Encoder
        Weighs them.
    norms : ndarray, shape (documents,), optional
        The length of every row, if the weighting needs it and it is not that of the features.
    """

    tokens: Tokens
    encoder: Encoder
    norms: Floats | None

    def rows(self, documents: NDArray[np.intp] | None) -> CsrArrays:
        """The weighted rows of some documents, or of all."""
        ptr, ids, norms = self._occurrences(documents)
        rows = CsrArrays(*text_counts.count(ids, ptr, len(self.tokens.vocabulary)))
        if norms is None and self.encoder.weighting.norm == "ngrams":
            norms = text_counts.row_norms(rows.data, rows.indptr)
        self.encoder.weighting.weigh(rows, self.encoder.idf, norms)
        return rows

    def frequencies(self, documents: NDArray[np.intp] | None) -> Int64s:
        """The number of these documents with each feature: the entries of its column."""
        frequencies = np.zeros(len(self.tokens.vocabulary), dtype=np.int64)
        for _, some in self._blocks(documents):
            ptr, ids, _ = self._occurrences(some)
            frequencies += text_counts.document_frequencies(ids, ptr, len(frequencies))
        return frequencies

    def fill(
        self, documents: NDArray[np.intp] | None, place: Int64s, indices: Int32s, data: Floats
    ) -> None:
        """Write the columns of the features, each from its ``place`` on, which is moved."""
        for first, some in self._blocks(documents):
            scatter_rows(*self.rows(some), first, place, indices, data)

    def _occurrences(
        self, documents: NDArray[np.intp] | None
    ) -> tuple[Int64s, Int32s, Floats | None]:
        """The features in some documents, or in all, with offsets and the lengths of rows."""
        ptr, ids, norms = self.tokens.token_document_ptr, self.tokens.ids, self.norms
        if documents is None:
            return ptr, ids, norms
        return *take_rows(ptr, ids, documents), None if norms is None else norms[documents]

    def _blocks(self, documents: NDArray[np.intp] | None) -> Iterator[tuple[int, NDArray[np.intp]]]:
        """Some documents, or all, a few at a time; with each few the place of the first."""
        sizes = np.diff(self.tokens.token_document_ptr)
        every = np.arange(len(sizes)) if documents is None else documents
        for piece in pieces(sizes[every], BLOCK):
            yield piece.start, every[piece]


class CountedRows(DocumentRows):
    """Rows that are counted and weighed anew whenever they are asked for.

    Occurrences take a third of the memory of the matrix, and builders of groups need them anyway.

    Parameters
    ----------
    parts : sequence of PartCounts
        One for each tokenizer, whose columns follow each other.
    """

    def __init__(self, parts: Sequence[PartCounts]) -> None:
        self._parts = parts
        self._starts = np.cumsum([0, *(len(part.tokens.vocabulary) for part in parts)])
        self.shape = parts[0].tokens.n_documents, int(self._starts[-1])
        self.size = sum(len(part.tokens.ids) for part in parts)

    def matrix(self, documents: NDArray[np.intp] | None = None) -> csr_array:
        """The rows of some documents, in the order of their indices, or of all."""
        rows = [part.rows(documents) for part in self._parts]
        return side_by_side(rows, self._starts).matrix(self.shape[1])

    def design(self, documents: NDArray[np.intp] | None = None) -> Design:
        """The same for solvers, by columns from the beginning."""
        n = self.shape[0] if documents is None else len(documents)
        indptr = np.zeros(self.shape[1] + 1, dtype=np.int64)
        np.cumsum(
            np.concatenate([part.frequencies(documents) for part in self._parts]), out=indptr[1:]
        )
        indices, data = np.empty(indptr[-1], dtype=np.int32), np.empty(indptr[-1])
        place = indptr[:-1].copy()
        for part, (start, end) in zip(self._parts, pairwise(self._starts.tolist()), strict=True):
            part.fill(documents, place[start:end], indices, data)
        return Design.of_columns(n, indptr, indices, data)
