"""Encoders: texts to rows of features, by one tokenizer or by several side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

import numpy as np

from textreg._core import text_counts
from textreg.errors import DataError, UsageError
from textreg.features.ngrams import GramNames, NGrams, insert_ngrams, take
from textreg.kinds import Tokenizer
from textreg.plugins.registry import ours
from textreg.records import Documents, Floats, Int32s, Int64s, Tokens
from textreg.records.arrays import row_of
from textreg.records.documents import Field, FieldedText, as_column, check_texts, fielded
from textreg.records.text import Names
from textreg.structure.joining import joined
from textreg.text import CsrArrays, Finding, Known, Wanted, count_rows, renumber

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from textreg.features.vectorize import Vectorizer


class Weighting(NamedTuple):
    """A term weighting: the values of a row, and the length that they are divided by.

    Attributes
    ----------
    term : {"count", "binary", "log", "sublinear"}
        The value of a count c above zero: c, 1, ln(1 + c), or 1 + ln c.
    idf : bool, default False
        Whether values are multiplied by the inverse document frequency of the feature.
    norm : {"", "features", "ngrams"}, default ""
        The length that a row is divided by: none; its own over all features of training, known to
        the model or not; or that of 1 + ln c over all n-grams of the document, features or not.
    """

    term: Literal["count", "binary", "log", "sublinear"]
    idf: bool = False
    norm: Literal["", "features", "ngrams"] = ""

    def values(self, counts: Floats) -> Floats:
        """The values of counts, of which some may be zero, without idf and norm."""
        if self.term == "count":
            return counts
        if self.term == "binary":
            return (counts > 0).astype(np.float64)
        if self.term == "log":
            return np.asarray(np.log(counts + 1))
        values: Floats = np.log(np.maximum(counts, 1))
        values += counts > 0
        return values

    def table(self, most: int) -> Floats:
        """The values of all counts up to ``most``, at least."""
        return _table(self, max(64, 1 << most.bit_length()))

    def weigh(self, rows: CsrArrays, idf: Floats | None, norms: Floats | None) -> None:
        """Weigh counts in place.

        Parameters
        ----------
        rows : CsrArrays
            Counts above zero.
        idf : ndarray of float64, optional
            One for each feature; for a weighting with ``idf``.
        norms : ndarray of float64, optional
            The length of every row by ``norm="ngrams"``; for a weighting with that.
        """
        if self.term != "count" or idf is not None or norms is not None:
            table = self.table(int(rows.data.max(initial=0.0)))
            factors = (np.empty(0) if it is None else it for it in (idf, norms))
            text_counts.weigh_rows(rows.data, rows.indices, rows.indptr, table, *factors)
        if self.norm == "features":
            text_counts.normalize_rows(rows.data, rows.indptr)


@lru_cache(maxsize=64)  # of six weightings, each with a few sizes
def _table(weighting: Weighting, size: int) -> Floats:
    """The values of all counts below a size."""
    return weighting.values(np.arange(float(size)))


#: The term weightings by name, as users give them.
WEIGHTINGS = {
    "count": Weighting("count"),
    "binary": Weighting("binary"),
    "log": Weighting("log"),
    "unit": Weighting("sublinear", norm="ngrams"),
    "unit-idf": Weighting("sublinear", idf=True, norm="ngrams"),
    "tfidf": Weighting("sublinear", idf=True, norm="features"),
}


class Encoder:
    """Turns texts into rows with the features of a model, by one tokenizer.

    Everything in it is plain data, so that a model file can hold it.

    Parameters
    ----------
    tokenizer : Tokenizer
    vectorizer : Vectorizer
        As in training.
    vocabulary : sequence of str
        Names of all features that the weighting needs.
    idf : ndarray of float64, shape (vocabulary,), optional
        Inverse document frequencies; with the weightings ``tfidf`` and ``unit-idf`` only.
    stop_words : sequence of str, default ()
        Words that are dropped first.
    columns : ndarray of int64, shape (columns,), optional
        Which features are columns of the result, ascending; all by default.
    field : Field, optional
        The field of the documents that is read, where they have several.

    Raises
    ------
    UsageError
        If ``idf`` does not fit the weighting or the vocabulary.
    """

    def __init__(  # noqa: PLR0913  # what a model holds of a part
        self,
        tokenizer: Tokenizer,
        vectorizer: Vectorizer,
        vocabulary: Sequence[str],
        idf: Floats | None = None,
        *,
        stop_words: Sequence[str] = (),
        columns: NDArray[np.int64] | None = None,
        field: Field | None = None,
    ) -> None:
        self.weighting = WEIGHTINGS[vectorizer.weighting]
        if (idf is not None) != self.weighting.idf:
            raise UsageError(
                "an encoder needs idf values for the weightings tfidf and unit-idf, and for no "
                "others."
            )
        if idf is not None and len(idf) != len(vocabulary):
            raise UsageError(f"{len(vocabulary)} features but {len(idf)} idf values.")
        self.tokenizer = tokenizer
        self.field = field
        self.label = tokenizer.name or tokenizer.label()
        self.vectorizer = vectorizer
        self.ngrams = vectorizer.ngrams_of(tokenizer)
        self.vocabulary = vocabulary
        self.idf = idf
        self.stop_words = tuple(stop_words)
        self.columns = columns

    # Of the documents: none, as each is one text.
    fields: tuple[Field, ...] = ()

    def documents(self, given: Documents) -> Documents:
        """What was given as documents, as :meth:`transform` takes it."""
        return cast("Documents", as_column(given, "texts"))

    @property
    def parts(self) -> tuple[Encoder, ...]:
        """This one alone, as those of a :class:`~textreg.features.encoder.JoinedEncoder`."""
        return (self,)

    @property
    def n_columns(self) -> int:
        """Number of columns, for which no name need be spelled."""
        return len(self.vocabulary) if self.columns is None else len(self.columns)

    @cached_property
    def names(self) -> Sequence[str]:
        """Names of the columns."""
        if self.columns is None:
            return self.vocabulary
        return Names.of(self.vocabulary).take(self.columns)

    def transform(self, texts: Documents) -> csr_array:
        """The rows of texts.

        Unknown words are ignored, except that with the weightings ``unit`` and ``unit-idf`` they
        reduce the other values. A row depends on its own text only.

        Parameters
        ----------
        texts : sequence of str

        Returns
        -------
        csr_array of float64, shape (documents, columns)
            With sorted indices.
        """
        return self.rows(texts).matrix(self.n_columns)

    def rows(self, texts: Documents) -> CsrArrays:
        """The arrays of :meth:`transform`, without an import of SciPy."""
        if self.known is None:
            tokens = self.words(texts)
            rows = count_rows(self.features(tokens))
            self.weigh(rows, tokens)
        else:
            rows = CsrArrays(*self.known.rows(self._texts(texts)))
        if self.columns is None:
            return rows
        column = self.column_of[rows.indices]
        (selected,) = (column >= 0).nonzero()
        return CsrArrays(selected.searchsorted(rows.indptr), column[selected], rows.data[selected])

    @cached_property
    def known(self) -> Known | None:
        """What finds the features of the vocabulary in texts; None if nothing can.

        Only textreg's own tokenizers ``words`` and ``chars`` have it, and no class derived from
        them, which may split texts in another way. All others give names.
        """
        if not (ours(self.tokenizer) and isinstance(self.tokenizer, Finding)):
            return None
        if self.stop_words and not self.tokenizer.forms_ngrams:
            return None
        weighting, (tree, numbers) = self.weighting, self.tree
        wanted = Wanted(
            len(self.vocabulary),
            None if weighting.term == "count" else weighting.table,
            self.idf,
            self.ngrams if weighting.norm == "ngrams" else 0,
            weighting.norm == "features",
            numbers,
            list(zip(tree.child_ptr, tree.last, strict=True)),
        )
        words = tree.words
        if self.stop_words:
            dropped = set(self.stop_words)
            words = list(dict.fromkeys([*words, *self.stop_words]))
            wanted = wanted._replace(dropped=np.array([word in dropped for word in words]))
        return self.tokenizer.known(words, wanted)

    def _texts(self, documents: Documents) -> Sequence[str]:
        """The texts that are split: of the field, and without HTML, as the settings are."""
        texts = documents if self.field is None else field_texts(documents, self.field.name)
        if not self.vectorizer.strip_html:
            return check_texts(texts)
        from textreg.features.markup import stripped_texts

        return stripped_texts(texts)

    def restrict(self, columns: NDArray[np.int64]) -> Encoder:
        """The encoder of some columns only.

        What only the other columns need is dropped. With ``tfidf`` nothing is, because all features
        count for the length of a row.

        Parameters
        ----------
        columns : ndarray of int64
            Numbers of columns, ascending.

        Returns
        -------
        Encoder
        """
        columns = np.asarray(columns, dtype=np.int64)
        if self.weighting.norm != "features":
            idf = None if self.idf is None else self.idf[columns]
            return self.with_names(self._some_names(columns), idf)
        columns = columns if self.columns is None else self.columns[columns]
        return self.with_names(self.vocabulary, self.idf, columns)

    def with_names(
        self, names: Sequence[str], idf: Floats | None, columns: NDArray[np.int64] | None = None
    ) -> Encoder:
        """One with the settings of this encoder, and with another vocabulary."""
        how: dict[str, Any] = {"stop_words": self.stop_words, "field": self.field}
        return Encoder(self.tokenizer, self.vectorizer, names, idf, columns=columns, **how)

    def _some_names(self, columns: NDArray[np.int64]) -> Names:
        """The names of some of the vocabulary."""
        if self.ngrams == 1 or not isinstance(self.vocabulary, GramNames):
            return Names.of(self.vocabulary).take(columns)
        tree, numbers = self.tree
        place = np.full(len(self.vocabulary), -1, dtype=np.int32)
        place[columns] = np.arange(len(columns), dtype=np.int32)
        return GramNames(*tree.prune([take(place, level) for level in numbers]))

    def __getstate__(self) -> dict[str, Any]:
        """Without what finds the words, which is quickly made and as large as all names."""
        return {name: value for name, value in self.__dict__.items() if name != "known"}

    def weigh(self, rows: CsrArrays, words: Tokens) -> None:
        """Apply the weighting to counts over the vocabulary, in place.

        ``words`` are all words of the same documents except stop words, known or not.
        """
        self.weighting.weigh(rows, self.idf, self.norms(words))

    def norms(self, words: Tokens) -> Floats | None:
        """The length of every row, where that is not one of features alone."""
        if self.weighting.norm != "ngrams":
            return None
        return text_counts.gram_norms(
            words.ids, words.sentence_ptr, words.document_ptr, self.ngrams
        )

    @cached_property
    def column_of(self) -> Int32s:
        """The column of every feature of the vocabulary; -1 for one that is not a column."""
        new = np.full(len(self.vocabulary), -1, dtype=np.int32)
        new[self.columns] = np.arange(self.n_columns, dtype=np.int32)
        return new

    @cached_property
    def tree(self) -> tuple[NGrams, list[Int32s]]:
        """The n-grams of the vocabulary, and the index of each in it, or -1."""
        if self.ngrams == 1:
            return NGrams(self.vocabulary), [np.arange(len(self.vocabulary), dtype=np.int32)]
        if isinstance(self.vocabulary, GramNames):
            return self.vocabulary.tree, self.vocabulary.numbers
        return NGrams.of_names(self.vocabulary, self.ngrams)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        """The number of every known word."""
        return {word: number for number, word in enumerate(self.tree[0].words)}

    def words(self, texts: Documents, *, spans: bool = False) -> Tokens:
        """All words of ``texts`` except stop words, known or not."""
        from textreg.features.markup import encode  # new texts often need known words alone

        of_field = texts if self.field is None else field_texts(texts, self.field.name)
        tokens = encode(self.tokenizer, of_field, strip=self.vectorizer.strip_html, spans=spans)
        if self.field is not None and spans:
            tokens = _moved(tokens, texts, self.field.name)
        if not self.stop_words:
            return tokens
        dropped = set(self.stop_words)
        new = np.array(
            [-1 if word in dropped else id for id, word in enumerate(tokens.vocabulary)],
            dtype=np.int32,
        )
        return renumber(tokens, new, tokens.vocabulary)

    def features(self, words: Tokens) -> Tokens:
        """Every occurrence of a feature of the vocabulary in the result of :meth:`words`."""
        single = self.ngrams == 1
        # An unknown word keeps a number, so that the words around it do not become neighbors.
        unknown = -1 if single else len(self.tree[0].words)
        number = self._numbers
        new = np.array([number.get(word, unknown) for word in words.vocabulary], dtype=np.int32)
        if single:
            return renumber(words, new, self.vocabulary)
        tree, numbers = self.tree
        tokens = renumber(words, new, [*tree.words, ""])
        ids = np.where(tokens.ids == unknown, np.int32(-1), tokens.ids)
        return insert_ngrams(tokens, tree.find(ids, tokens.sentence_ptr), numbers, self.vocabulary)

    def located(self, texts: Documents) -> Tokens:
        """Every occurrence of a feature in texts, with its span."""
        return self.features(self.words(texts, spans=True))


def field_texts(texts: Documents, field: str) -> list[str]:
    """One field of documents; DataError for one that has no such field."""
    values = []
    for number, text in enumerate(texts, 1):
        if not isinstance(text, FieldedText) or field not in text.spans:
            raise DataError(
                f"document {number} is {str(text)!r:.40}, which has no field '{field}': give a "
                "dict of its fields, or a data frame."
            )
        values.append(text.field(field))
    return values


def _moved(tokens: Tokens, texts: Sequence[Any], field: str) -> Tokens:
    """Tokens of a field with offsets in the whole documents."""
    starts = np.array([text.spans[field][0] for text in texts], dtype=np.int32)
    assert tokens.spans is not None
    assert tokens.sentence_spans is not None
    return replace(
        tokens,
        spans=tokens.spans + starts[row_of(tokens.token_document_ptr)][:, None],
        sentence_spans=tokens.sentence_spans + starts[row_of(tokens.document_ptr)][:, None],
    )


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
