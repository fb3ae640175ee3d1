"""From texts to features: pruning, weighting, and the rows of documents as matrices."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast

import numpy as np

from textreg._core import text_counts
from textreg.errors import DataError, UsageError
from textreg.features.encoder import WEIGHTINGS, AnyEncoder, Encoder, JoinedEncoder, side_by_side
from textreg.files import refuse_special
from textreg.kinds import GraphBuilder, Tokenizer
from textreg.params import Parametrized, param
from textreg.records import Bools, Design, Documents, Floats, Graph, Groups, Int32s, Int64s, Tokens
from textreg.records.arrays import offsets_of, pieces, scatter, take_rows
from textreg.records.documents import check_documents, is_tokenized
from textreg.records.text import Names
from textreg.text import CsrArrays, document_frequencies

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from textreg.features.ngrams import Counted, NGramCounts

    Graphs: TypeAlias = Callable[[GraphBuilder, Groups | None], Graph]


#: Occurrences whose counts are rows at a time, on their way into columns.
BLOCK = 1 << 22


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
    X : csr_array or Design
    """

    def __init__(self, X: csr_array | Design) -> None:
        self._whole = X if isinstance(X, Design) else Design(X)
        self.shape, self.size = self._whole.shape, self._whole.values

    def matrix(self, documents: NDArray[np.intp] | None = None) -> csr_array:
        """Rows of the matrix; all are the matrix itself."""
        return self._whole.X if documents is None else self._whole.take_rows(documents).X

    def design(self, documents: NDArray[np.intp] | None = None) -> Design:
        """The same for solvers."""
        return self._whole if documents is None else self._whole.take_rows(documents)


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
        ptr, ids, norms = self.tokens.token_document_ptr, self.tokens.ids, self.norms
        if documents is not None:
            ptr, ids = take_rows(ptr, ids, documents)
            norms = None if norms is None else norms[documents]
        rows = CsrArrays(*text_counts.count(ids, ptr, len(self.tokens.vocabulary)))
        if norms is None and self.encoder.weighting.norm == "ngrams":
            norms = text_counts.row_norms(rows.data, rows.indptr)
        self.encoder.weighting.weigh(rows, self.encoder.idf, norms)
        return rows

    def frequencies(self, documents: NDArray[np.intp] | None) -> Int64s:
        """The number of these documents with each feature: the entries of its column."""
        rows = None if documents is None else np.arange(self.tokens.n_documents)[documents]
        return document_frequencies(self.tokens, rows)

    def fill(
        self, documents: NDArray[np.intp] | None, place: Int64s, indices: Int32s, data: Floats
    ) -> None:
        """Write the columns of the features, each from its ``place`` on, which is moved."""
        sizes = np.diff(self.tokens.token_document_ptr)
        every = np.arange(len(sizes)) if documents is None else documents
        for piece in pieces(sizes[every], BLOCK):
            scatter(self.rows(every[piece]), piece.start, place, (indices, data))


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
        frequencies = [part.frequencies(documents) for part in self._parts]
        indptr = offsets_of(np.concatenate(frequencies))
        indices, data = np.empty(indptr[-1], dtype=np.int32), np.empty(indptr[-1])
        place = indptr[:-1].copy()
        for part, (start, end) in zip(self._parts, pairwise(self._starts.tolist()), strict=True):
            part.fill(documents, place[start:end], indices, data)
        return Design.of_columns(n, indptr, indices, data)


# The weighting that depends on the documents, and how many are few: in all, or for each of many
# labels. With more both are about as accurate, and with tfidf a model has to hold all features
# (docs/features.md).
AUTO, FEW, FEW_EACH, MANY_LABELS = "auto", 500, 200, 12


class Vectorizer(Parametrized):
    """Turns documents into rows of features. Parameters with names of scikit-learn's mean the same.

    For a feature that occurs c times in a document, the term weighting ``count`` is c, ``binary``
    is 1 and ``log`` is ln(1 + c). ``unit`` is 1 + ln c, divided by the length of the row of all
    n-grams of the document, features or not, so that a model needs to know only its own features.
    ``unit-idf`` is the same, times the idf 1 + ln((1 + n) / (1 + d)) of a feature in d of n
    training documents. ``tfidf`` is (1 + ln c)·idf, and rows of features are scaled to length 1, so
    that a model needs to know all features. ``auto`` is tfidf for up to 500 documents, or up to 200
    for each of at least 12 labels, and unit-idf for more or beside word vectors.
    """

    name = "features"
    ngrams: int = param(default=2, min=1, max=100, help="maximum number of words in an n-gram")
    min_df: float = param(
        default=1, min=0, help="minimum number of documents with a feature; below 1, a fraction"
    )
    max_df: float = param(
        default=1.0, min=0, help="maximum number of documents with a feature; up to 1, a fraction"
    )
    max_features: int | None = param(
        default=None, min=1, help="use only the most frequent features, this many"
    )
    stop_words: str | None = param(
        default=None, help="file of words to drop before n-grams are formed"
    )
    weighting: str = param(
        default=AUTO,
        choices=(AUTO, *WEIGHTINGS),
        help="term weighting; auto is tfidf for few documents, in all or for each of many labels",
    )
    strip_html: bool = param(default=False, help="remove HTML from the texts first")

    def fit(self, tokenizer: Tokenizer, texts: Documents) -> Features:
        """The features of training texts, in order of name (code points, word by word).

        Those of joined tokenizers are one after the other, in their order. The pruning is of all
        together, stop words are dropped by those that give words (``forms_ngrams``), and every
        tokenizer has weights and row lengths of its own.

        Parameters
        ----------
        tokenizer : Tokenizer
            One, or several joined.
        texts : sequence of str
            Or of lists of tokens, if the tokenizer takes these.

        Returns
        -------
        Features

        Raises
        ------
        DataError
            If there are no texts or words, or if pruning leaves no feature.
        UsageError
            If the file of stop words cannot be read or there are no words to drop, min_df or max_df
            is not a number of documents, or strip_html is asked for without texts.
        """
        from textreg.features.markup import stripped_texts  # a model has the parameters alone

        raw_documents = texts = check_documents(texts)
        n = len(texts)
        if self.weighting == AUTO:
            return self.decided(n).fit(tokenizer, raw_documents)
        if self.strip_html:
            texts = stripped_texts(texts)
        least, _ = self.limits(n)
        counted = [self._count(part, texts, least) for part in self.parts(tokenizer)]
        keep = self.keep(counted, n)
        encoded = [self._encode(counts, mask) for counts, mask in zip(counted, keep, strict=True)]
        encoder = joined_encoder([part.encoder for part in encoded])
        tokens = encoded[0].tokens
        if not is_tokenized(raw_documents):
            located = encoded[0].encoder.located
            tokens = replace(tokens, texts=cast("Sequence[str]", raw_documents), locate=located)
        return Features(rows=CountedRows(encoded), tokens=tokens, encoder=encoder)

    def decided(self, n: int, labels: int = 1, *, vectors: bool = False) -> Vectorizer:
        """With the weighting for n documents of so many labels, where it is "auto".

        vectors: whether word vectors are beside it.
        """
        if self.weighting != AUTO:
            return self
        few = n <= (FEW if labels < MANY_LABELS else FEW_EACH * labels)
        return self.replace(weighting="tfidf" if few and not vectors else "unit-idf")

    def parts(self, tokenizer: Tokenizer) -> list[Tokenizer]:
        """The single tokenizers; UsageError if there are stop words and none gives words."""
        from textreg.structure.joining import parts_of

        parts: list[Tokenizer] = parts_of(tokenizer)
        if self.stop_words is not None and not any(part.forms_ngrams for part in parts):
            raise UsageError(
                f"features: stop words are dropped from words, and tokenizer '{tokenizer.name}' "
                "gives none: leave out stop_words."
            )
        return parts

    def limits(self, n: int) -> tuple[float, float]:
        """The fewest and the most of n documents that a feature may be in; UsageError if wrong."""
        least = _documents("min_df", self.min_df, n, fraction=self.min_df < 1)
        return least, _documents("max_df", self.max_df, n, fraction=self.max_df <= 1)

    def ngrams_of(self, tokenizer: Tokenizer) -> int:
        """The largest number of tokens of a tokenizer in an n-gram."""
        return self.ngrams if tokenizer.forms_ngrams else 1

    def _count(self, tokenizer: Tokenizer, texts: Documents, least: float) -> Counted:
        """The n-grams of one tokenizer; DataError if there is none."""
        from textreg.features.ngrams import Counted

        stop_words = self.stop_words_of(tokenizer)
        counted = Counted.of(tokenizer, texts, self.ngrams_of(tokenizer), least, stop_words)
        self.check_words(counted, len(texts), len(counted.words.ids))
        return counted

    def check_words(self, counted: NGramCounts, n: int, words: int) -> None:
        """DataError if there are no words in n documents, or if their names do not fit n-grams."""
        tokenizer = counted.tokenizer
        if not words:
            raise DataError(
                _no_words(n, tokenizer, self.stop_words if counted.stop_words else None)
            )
        if self.ngrams_of(tokenizer) > 1:
            _refuse_spaces(tokenizer, counted.tree.words)

    def _encode(self, counted: Counted, keep: Bools) -> PartCounts:
        """The n-grams to keep as features: all occurrences, and how they are weighed."""

        tokens = counted.tokens(keep)
        # Not where nobody asks for them: it takes a tenth of the time of a fit.
        frequencies = document_frequencies(tokens) if WEIGHTINGS[self.weighting].idf else None
        encoder = self.encoder(counted, tokens.vocabulary, tokens.n_documents, frequencies)
        # Where all n-grams are features, their counts give the norms.
        return PartCounts(tokens, encoder, None if keep.all() else encoder.norms(counted.words))

    def encoder(
        self, counted: NGramCounts, names: Sequence[str], n: int, frequencies: Int64s | None
    ) -> Encoder:
        """The encoder of the features that were kept.

        Parameters
        ----------
        counted : NGramCounts
        names : sequence of str
            Of the features.
        n : int
            Number of documents.
        frequencies : ndarray of int64, shape (features,), optional
            Number of documents with each feature; for a weighting with idf.

        Returns
        -------
        Encoder
        """
        idf = None
        if WEIGHTINGS[self.weighting].idf:
            assert frequencies is not None
            idf = np.log((1 + n) / (frequencies + 1.0)) + 1.0
        return Encoder(counted.tokenizer, self, names, idf, stop_words=counted.stop_words)

    def stop_words_of(self, tokenizer: Tokenizer) -> tuple[str, ...]:
        """The words of the file as the tokenizer splits them: "don't" may be two.

        None for a tokenizer whose tokens are no words. UsageError if the file cannot be read.
        """
        if self.stop_words is None or not tokenizer.forms_ngrams:
            return ()
        refuse_special(self.stop_words)
        try:
            text = Path(self.stop_words).read_text(encoding="utf-8-sig")
        except (OSError, ValueError) as error:  # no UTF-8, or no name that a file can have
            cause = getattr(error, "strerror", None) or error
            raise UsageError(
                f"stop words cannot be read from {self.stop_words}: {cause}. Give a UTF-8 file "
                "with one word on each line."
            ) from None
        from textreg.plugins import calls

        words = calls.encode_lines(tokenizer, text.splitlines())
        return tuple(sorted(words.vocabulary[id] for id in np.unique(words.ids)))

    def keep(self, counted: Sequence[NGramCounts], n: int) -> Sequence[Bools]:
        """Which n-grams of n documents become features; DataError if none does.

        The rules are scikit-learn's, for all parts together.
        """
        least, most = self.limits(n)
        keep = [np.ones(counts.size, dtype=bool) for counts in counted]
        if least > 1 or most < n:
            frequencies = [counts.frequencies() for counts in counted]
            keep = [(part >= least) & (part <= most) for part in frequencies]
            if not any(part.any() for part in keep):
                raise DataError(self._nothing_left(np.concatenate(frequencies), n, least, most))
        if self.max_features is None:
            return keep
        from textreg.features.ngrams import most_frequent

        return most_frequent(counted, keep, self.max_features)

    def _nothing_left(self, every: Int64s, n: int, least: float, most: float) -> str:
        if every.max() < least:
            return (
                f"no feature is left: the most frequent of {len(every):,} is in {every.max():,} of "
                f"{n:,} documents, and min_df={self.min_df:g} asks for {least:g}. Lower min_df."
            )
        if every.min() > most:
            return (
                f"no feature is left: the rarest of {len(every):,} is in {every.min():,} of {n:,} "
                f"documents, and max_df={self.max_df:g} allows {most:g}. Raise max_df."
            )
        return (
            f"no feature is left: none of {len(every):,} is in {least:g} to {most:g} of {n:,} "
            f"documents, as min_df={self.min_df:g} and max_df={self.max_df:g} ask. Lower min_df or "
            "raise max_df."
        )


@dataclass(frozen=True, eq=False)
class Features:
    """The features of training texts, from :meth:`Vectorizer.fit`.

    Attributes
    ----------
    rows : DocumentRows
        Of the documents, by features.
    tokens : Tokens
        Every occurrence of a feature of the first tokenizer, n-grams included; ids are columns of
        X, whose first ones are these features. Sentences without features are included.
    encoder : Encoder or JoinedEncoder
        Makes rows with these features of new texts.
    graphs : callable, optional
        Gives the graph of a builder, and of groups if it takes some, where it does not depend on
        which of the documents are fitted.
    """

    rows: DocumentRows
    tokens: Tokens
    encoder: AnyEncoder
    graphs: Graphs | None = None

    @cached_property
    def X(self) -> csr_array:
        """The weighted matrix, (documents, features), with sorted indices."""
        return self.rows.matrix()


def _documents(name: str, value: float, n: int, *, fraction: bool) -> float:
    """Convert min_df or max_df to a number of documents."""
    if fraction:
        return value * n
    if value != int(value):
        raise UsageError(
            f"features: {name} must be a fraction of the documents or a whole number of them, not "
            f"{value:g}."
        )
    return value


def joined_encoder(encoders: Sequence[Encoder]) -> AnyEncoder:
    """The encoders as one; DataError if two features have one name."""
    if len(encoders) == 1:
        return encoders[0]
    for enc in encoders[1:]:
        prefix = f"{enc.label}: "
        clashes = set(_beginning(encoders[0].vocabulary, prefix))
        for name in enc.vocabulary if clashes else ():
            if f"{enc.label}: {name}" in clashes:
                raise DataError(
                    f"'{enc.label}: {name}' is a feature of tokenizer '{encoders[0].label}', and "
                    f"what '{name}' of '{enc.label}' is called: name '{enc.label}' first."
                )
    return JoinedEncoder(encoders)


def _beginning(names: Sequence[str], prefix: str) -> list[str]:
    """The names that begin with a prefix."""
    packed, wanted = Names.of(names), prefix.encode()
    matches = np.flatnonzero(np.diff(packed.ptr) >= len(wanted))
    for place, byte in enumerate(wanted):
        matches = matches[packed.letters[packed.ptr[matches] + place] == byte]
    return list(packed.take(matches))


def _no_words(n: int, tokenizer: Tokenizer, stop_words: str | None) -> str:
    if n == 0:
        return "there are no documents to take features from. Give some texts."
    if stop_words is None:
        return (
            f"none of {n:,} documents has a word: all are empty, or tokenizer '{tokenizer.name}' "
            "finds no words in them. Check which column is the text, and the tokenizer's options."
        )
    return (
        f"none of {n:,} documents has a word that is not in {stop_words}. Check which column is "
        "the text, or use a shorter list of stop words."
    )


def _refuse_spaces(tokenizer: Tokenizer, vocabulary: Sequence[str]) -> None:
    if isinstance(vocabulary, Names) and ord(" ") not in vocabulary.letters:
        return  # none need be spelled
    for name in vocabulary:
        if " " in name:
            raise DataError(
                f"tokenizer '{tokenizer.name}' returns '{name}' as one token, but spaces separate "
                "the words of an n-gram: use ngrams=1, or a tokenizer that joins words with "
                "another character."
            )
