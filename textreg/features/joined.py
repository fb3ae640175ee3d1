"""The features of several tokenizers side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from textreg._core import text_counts
from textreg.features.encoder import Encoder
from textreg.records.columns import as_column
from textreg.records.fields import fielded
from textreg.structure.joining import joined
from textreg.text import CsrArrays

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from textreg.features.vectorize import Vectorizer
    from textreg.kinds import Tokenizer
    from textreg.records import Documents, Int32s, Int64s


class JoinedEncoder:
    """Turns texts into rows with the features of a model, a block of columns for each tokenizer.

    The columns are those of the parts side by side, weighted and scaled each for itself, as of a
    FeatureUnion of vectorizers in scikit-learn. Names of the first part are as they are; all others
    follow the name of their tokenizer: ``chars: th``. Where documents have several fields, all
    names follow that of their field: ``subject:refund``, ``subject:chars: re``.

    Parameters
    ----------
    parts : sequence of Encoder
        Two or more with the same settings of the vectorizer; or one or more for each field, those
        of the first tokenizers of texts first.

    Attributes
    ----------
    fields : tuple of Field
        The fields of the documents, in order; none where each is one text.
    """

    def __init__(self, parts: Sequence[Encoder]) -> None:
        self.parts = tuple(parts)
        named = {part.field.name: part.field for part in parts if part.field is not None}
        self.fields = tuple(named.values())

    def documents(self, given: Any) -> Documents:
        """What was given as documents, as :meth:`transform` takes it.

        Of several fields: a dict for each document, or a data frame; DataError for anything else.
        """
        return fielded(given, self.fields) if self.fields else as_column(given, "texts")

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizers of all parts, joined."""
        tokenizer: Tokenizer = joined("tokenizer", [part.tokenizer for part in self.parts])
        return tokenizer

    @property
    def vectorizer(self) -> Vectorizer:
        """That of all parts."""
        return self.parts[0].vectorizer

    @cached_property
    def starts(self) -> Int64s:
        """The first column of every part, and the number of columns: (parts + 1,)."""
        return np.cumsum([0, *(part.n_columns for part in self.parts)])

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.starts[-1])

    @cached_property
    def names(self) -> Sequence[str]:
        """Names of the columns."""
        names: list[str] = []
        for part, prefix in zip(self.parts, prefixes(self.parts), strict=True):
            if not prefix:
                names += part.names
                continue
            # A number itself has no name but that of its field.
            names += [prefix + name if name else prefix.removesuffix(":") for name in part.names]
        return names

    @property
    def field_of(self) -> Int32s:
        """The index in ``fields`` of every column, int32 of shape (columns,)."""
        number = {field.name: at for at, field in enumerate(self.fields)}
        fields = [number[part.field.name] for part in self.parts if part.field is not None]
        return np.repeat(np.array(fields, dtype=np.int32), np.diff(self.starts))

    def transform(self, texts: Documents) -> csr_array:
        """The rows of texts: see :meth:`Encoder.transform`."""
        return self.rows(texts).matrix(self.n_columns)

    def rows(self, texts: Documents) -> CsrArrays:
        """The arrays of :meth:`transform`, without an import of SciPy."""
        return side_by_side([part.rows(texts) for part in self.parts], self.starts)

    def restrict(self, columns: NDArray[np.int64]) -> JoinedEncoder:
        """The encoder of some columns only; all parts stay: see :meth:`Encoder.restrict`."""
        return JoinedEncoder(
            [part.restrict(own) for part, own in zip(self.parts, self.split(columns), strict=True)]
        )

    def split(self, columns: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
        """Ascending numbers of columns as numbers of columns of every part."""
        columns = np.asarray(columns, dtype=np.int64)
        ends = np.searchsorted(columns, self.starts)
        for start, (first, end) in zip(self.starts, pairwise(ends), strict=False):
            yield columns[first:end] - start


AnyEncoder = Encoder | JoinedEncoder


def prefixes(parts: Sequence[Encoder]) -> Iterator[str]:
    """What names of the features of every part begin with: its field, and its tokenizer.

    The first tokenizer of a field, or of all where there are none, is left out.
    """
    seen: set[str] = set()
    for part in parts:
        field = "" if part.field is None else part.field.name
        tokenizer = f"{part.label}: " if field in seen else ""
        seen.add(field)
        yield (f"{prefix_of(field)}:" if field else "") + tokenizer


def prefix_of(field: str) -> str:
    """What names of the features of a field begin with: its name, without blanks.

    A blank in the name of a feature stands between the words of an n-gram.
    """
    return "_".join(field.split())


def side_by_side(blocks: Sequence[CsrArrays], starts: Int64s) -> CsrArrays:
    """Matrices of the same rows as one; block b begins with the column ``starts[b]``."""
    if len(blocks) == 1:
        return blocks[0]
    if len(blocks[0].indptr) == 2:  # one text, which somebody may wait for
        columns = [
            block.indices + np.int32(start)
            for block, start in zip(blocks, starts.tolist(), strict=False)
        ]
        data = np.concatenate([block.data for block in blocks])
        return CsrArrays(np.array([0, len(data)]), np.concatenate(columns), data)
    indptr = np.sum([block.indptr for block in blocks], axis=0)
    indices = np.empty(indptr[-1], dtype=np.int32)
    data = np.empty(indptr[-1])
    place = indptr[:-1].copy()  # where the next entry of every row goes
    for block, start in zip(blocks, starts.tolist(), strict=False):
        text_counts.place_rows(*block, start, place, indices, data)
    return CsrArrays(indptr, indices, data)
