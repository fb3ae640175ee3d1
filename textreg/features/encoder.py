"""The half of the features that prediction needs: new texts to rows, by known names."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from textreg._core import text_counts, text_grams
from textreg.errors import UsageError
from textreg.features.ngrams import NGrams, insert_ngrams
from textreg.kinds import Tokenizer
from textreg.plugins import calls
from textreg.records import Tokens
from textreg.text import CsrArrays, count_rows, renumber

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from textreg.features.vectorize import Vectorizer
    from textreg.records import Floats, Int32s


class Encoder:
    """Texts to the rows that a model was trained on; the part of the features that a model keeps.

    tokenizer, vectorizer: as in training. vocabulary: names of all features it must know. idf:
    float64, one a name, with weighting ``tfidf`` only. stop_words: words that are left out first.
    columns: which of ``vocabulary`` are columns of the result, rising; default all. Everything is
    plain data, so a model file can hold it.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        vectorizer: Vectorizer,
        vocabulary: Sequence[str],
        idf: Floats | None = None,
        *,
        stop_words: Sequence[str] = (),
        columns: NDArray[np.int64] | None = None,
    ) -> None:
        if (idf is not None) != (vectorizer.weighting == "tfidf"):
            raise UsageError("an encoder has idf values if the weighting is tfidf, and only then.")
        if idf is not None and len(idf) != len(vocabulary):
            raise UsageError(f"{len(vocabulary)} features but {len(idf)} idf values.")
        self.tokenizer = tokenizer
        self.vectorizer = vectorizer
        self.vocabulary = vocabulary
        self.idf = idf
        self.stop_words = tuple(stop_words)
        self.columns = columns

    @cached_property
    def names(self) -> Sequence[str]:
        """Names of the columns."""
        if self.columns is None:
            return self.vocabulary
        return [self.vocabulary[column] for column in self.columns.tolist()]

    def transform(self, texts: Sequence[str]) -> csr_array:
        """The rows of ``texts``: float64 (documents, names), columns sorted within rows.

        Words that training did not know count for nothing, except that with ``unit`` they make the
        others lighter. A row depends on its own text alone.
        """
        return self.rows(texts).matrix(len(self.names))

    def rows(self, texts: Sequence[str]) -> CsrArrays:
        """The arrays of :meth:`transform`."""
        words = self.words(texts)
        rows = count_rows(self.features(words))
        self.weigh(rows, words)
        if self.columns is None:
            return rows
        column = self.column_of[rows.indices]
        kept = column >= 0
        indptr = np.concatenate([[0], np.cumsum(kept, dtype=np.int64)])[rows.indptr]
        return CsrArrays(indptr, column[kept], rows.data[kept])

    def tokens(self, texts: Sequence[str], *, spans: bool = False) -> Tokens:
        """Every occurrence of a column's feature in ``texts``, where ``spans`` asks with offsets.

        Sentences without one are kept. UsageError if spans are asked of a tokenizer without them.
        """
        tokens = self.features(self.words(texts, spans=spans))
        if self.columns is None:
            return tokens
        return insert_ngrams(tokens, [tokens.ids], [self.column_of], self.names)

    def restrict(self, columns: NDArray[np.int64]) -> Encoder:
        """The same for some columns only, given by number in rising order.

        What the others need is forgotten, except that with ``tfidf`` all of them count for the
        length of a row.
        """
        columns = np.asarray(columns, dtype=np.int64)
        if self.idf is None:
            names = [self.names[column] for column in columns.tolist()]
            return Encoder(self.tokenizer, self.vectorizer, names, stop_words=self.stop_words)
        fewer = Encoder(
            self.tokenizer,
            self.vectorizer,
            self.vocabulary,
            self.idf,
            stop_words=self.stop_words,
            columns=columns if self.columns is None else self.columns[columns],
        )
        if "tree" in self.__dict__:  # of the same vocabulary, and dear to make
            fewer.__dict__["tree"] = self.tree
        return fewer

    def weigh(self, rows: CsrArrays, words: Tokens) -> None:
        """Turn counts over the vocabulary into weights, in place.

        words: all words of the same documents but stop words, known or not.
        """
        weighting, data = self.vectorizer.weighting, rows.data
        if weighting == "binary":
            data.fill(1.0)
        elif weighting == "log":
            data += 1
            np.log(data, out=data)
        elif weighting in ("tfidf", "unit"):
            np.log(data, out=data)
            data += 1
        if self.idf is not None:  # tfidf
            data *= self.idf[rows.indices]
            text_counts.normalize_rows(data, rows.indptr)
        elif weighting == "unit":
            norms = text_grams.gram_norms(
                words.ids, words.sentence_ptr, words.document_ptr, self.vectorizer.ngrams
            )
            data /= np.repeat(norms, np.diff(rows.indptr))

    @cached_property
    def column_of(self) -> Int32s:
        """The column of every feature of the vocabulary, -1 for those that are none."""
        new = np.full(len(self.vocabulary), -1, dtype=np.int32)
        new[self.columns] = np.arange(len(self.names), dtype=np.int32)
        return new

    @cached_property
    def tree(self) -> tuple[NGrams, list[Int32s]]:
        """The n-grams that the vocabulary consists of, and the place in it of each, or -1."""
        return NGrams.of_names(self.vocabulary, self.vectorizer.ngrams)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        """The number of every known word."""
        words = self.vocabulary if self.vectorizer.ngrams == 1 else self.tree[0].words
        return {word: number for number, word in enumerate(words)}

    def words(self, texts: Sequence[str], *, spans: bool = False) -> Tokens:
        """All words of ``texts`` but stop words, known or not."""
        tokens = calls.encode(self.tokenizer, texts, spans=spans)
        if not self.stop_words:
            return tokens
        left_out = set(self.stop_words)
        new = np.array(
            [-1 if word in left_out else id for id, word in enumerate(tokens.vocabulary)],
            dtype=np.int32,
        )
        return renumber(tokens, new, tokens.vocabulary)

    def features(self, words: Tokens) -> Tokens:
        """Every occurrence of a feature of the vocabulary in ``words``, those of :meth:`words`."""
        single = self.vectorizer.ngrams == 1
        # An unknown word between two others must not make them neighbors: it keeps a number.
        unknown = -1 if single else len(self.tree[0].words)
        number = self._numbers
        new = np.array([number.get(word, unknown) for word in words.vocabulary], dtype=np.int32)
        if single:
            return renumber(words, new, self.vocabulary)
        tree, numbers = self.tree
        tokens = renumber(words, new, [*tree.words, ""])
        ids = np.where(tokens.ids == unknown, np.int32(-1), tokens.ids)
        return insert_ngrams(tokens, tree.find(ids, tokens.sentence_ptr), numbers, self.vocabulary)
