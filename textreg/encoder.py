"""The half of the features that prediction needs: new texts to rows, by known names."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from textreg._core import text_counts
from textreg.errors import UsageError
from textreg.kinds import Tokenizer
from textreg.ngrams import NGrams, weave
from textreg.records import Tokens
from textreg.text import check_texts

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from textreg.records import Floats, Int32s
    from textreg.vectorize import Vectorizer


class Encoder:
    """Texts to the rows that a model was trained on; the part of the features that a model keeps.

    tokenizer, vectorizer: as in training. vocabulary: names of all features it must know. idf:
    float64, one a name, with weighting ``tfidf`` only. stop_words: words that n-grams pass over.
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

        Words that training did not know count for nothing. A row depends on its own text alone.
        """
        X = self.weigh(count(self._encode(texts)))
        return X if self.columns is None else X[:, self.columns]

    def tokens(self, texts: Sequence[str], *, spans: bool = False) -> Tokens:
        """Every occurrence of a column's feature in ``texts``, where ``spans`` asks with offsets.

        Sentences without one are kept. UsageError if spans are asked of a tokenizer without them.
        """
        tokens = self._encode(texts, spans=spans)
        if self.columns is None:
            return tokens
        new = np.full(len(self.vocabulary), -1, dtype=np.int32)
        new[self.columns] = np.arange(len(self.columns), dtype=np.int32)
        return weave(tokens, [tokens.ids], [new], self.names)

    def restrict(self, columns: NDArray[np.int64]) -> Encoder:
        """The same for some columns only, given by number in rising order.

        What the others need is forgotten, except that with ``tfidf`` all of them count for the
        length of a row.
        """
        columns = np.asarray(columns, dtype=np.int64)
        if self.idf is None:
            names = [self.names[column] for column in columns.tolist()]
            return Encoder(self.tokenizer, self.vectorizer, names, stop_words=self.stop_words)
        return Encoder(
            self.tokenizer,
            self.vectorizer,
            self.vocabulary,
            self.idf,
            stop_words=self.stop_words,
            columns=columns if self.columns is None else self.columns[columns],
        )

    def weigh(self, X: csr_array) -> csr_array:
        """Turn counts over the vocabulary into weights, in place."""
        weighting = self.vectorizer.weighting
        if weighting == "binary":
            X.data.fill(1.0)
        elif weighting == "log":
            X.data += 1
            np.log(X.data, out=X.data)
        elif self.idf is not None:  # tfidf
            np.log(X.data, out=X.data)
            X.data += 1
            X.data *= self.idf[X.indices]
            text_counts.normalize_rows(X.data, X.indptr.astype(np.int64))
        return X

    @cached_property
    def tree(self) -> tuple[NGrams, list[Int32s]]:
        """The n-grams that the vocabulary consists of, and the place in it of each, or -1."""
        return NGrams.of_names(self.vocabulary, self.vectorizer.ngrams)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        """The number of every known word; -1 for those that n-grams pass over."""
        if self.vectorizer.ngrams == 1:
            return {name: number for number, name in enumerate(self.vocabulary)}
        words = self.tree[0].words
        known = {word: number for number, word in enumerate(words)}
        return known | dict.fromkeys(self.stop_words, -1)

    def _encode(self, texts: Sequence[str], *, spans: bool = False) -> Tokens:
        """Every occurrence of a feature of the vocabulary."""
        tokens = self.tokenizer.encode(check_texts(texts), spans=spans)
        single = self.vectorizer.ngrams == 1
        # An unknown word between two others must not make them neighbors: it keeps a number.
        unknown = -1 if single else len(self.tree[0].words)
        number = self._numbers
        new = np.array([number.get(word, unknown) for word in tokens.vocabulary], dtype=np.int32)
        if single:
            return renumber(tokens, new, self.vocabulary)
        tree, numbers = self.tree
        tokens = renumber(tokens, new, [*tree.words, ""])
        ids = np.where(tokens.ids == unknown, np.int32(-1), tokens.ids)
        return weave(tokens, tree.find(ids, tokens.sentence_ptr), numbers, self.vocabulary)


def renumber(tokens: Tokens, new: Int32s, vocabulary: Sequence[str]) -> Tokens:
    """Replace every id by ``new[id]``, an index into ``vocabulary``; drop it if that is below 0."""
    ids, sentence_ptr = text_counts.renumber(tokens.ids, tokens.sentence_ptr, new)
    return Tokens(
        ids=ids,
        sentence_ptr=sentence_ptr,
        document_ptr=tokens.document_ptr,
        vocabulary=vocabulary,
        spans=None if tokens.spans is None else tokens.spans[new[tokens.ids] >= 0],
        sentence_spans=tokens.sentence_spans,
    )


def count(tokens: Tokens) -> csr_array:
    """How often every feature occurs in every document: float64 (documents, features)."""
    from scipy.sparse import csr_array

    p = len(tokens.vocabulary)
    indptr, indices, data = text_counts.count(tokens.ids, tokens.token_document_ptr, p)
    index = np.int32 if len(indices) < 2**31 else np.int64  # both index arrays must have one type
    X = csr_array(
        (data, indices.astype(index, copy=False), indptr.astype(index)),
        shape=(tokens.n_documents, p),
    )
    X.has_canonical_format = True  # as the kernel makes it; saves looking again
    return X
