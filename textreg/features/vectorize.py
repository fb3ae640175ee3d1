"""Training texts to features: n-grams, pruning, weighting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from textreg._core import text_counts
from textreg.errors import DataError, UsageError
from textreg.features.encoder import Encoder
from textreg.features.ngrams import NGrams, insert_ngrams
from textreg.features.weighting import WEIGHTINGS
from textreg.files import refuse_special
from textreg.kinds import Tokenizer
from textreg.params import Parametrized, param
from textreg.plugins import calls
from textreg.records import Tokens
from textreg.text import check_texts, count_rows, renumber

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from textreg.records import Bools, Int32s, Int64s


class Vectorizer(Parametrized):
    """Turns documents into rows of features. Parameters with names of scikit-learn's mean the same.

    For a feature that occurs c times in a document, the term weighting ``count`` is c, ``binary``
    is 1 and ``log`` is ln(1 + c). ``unit`` is 1 + ln c, divided by the length of the row of all
    n-grams of the document, features or not, so that a model needs to know only its own features.
    ``unit-idf`` is the same, times the idf 1 + ln((1 + n) / (1 + d)) of a feature in d of n
    training documents. ``tfidf`` is (1 + ln c)·idf, and rows of features are scaled to length 1, so
    that a model needs to know all features.
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
        default="tfidf",
        choices=tuple(WEIGHTINGS),
        help="term weighting",
    )

    def fit(self, tokenizer: Tokenizer, texts: Sequence[str]) -> Features:
        """The features of training texts, in order of name (code points, word by word).

        Parameters
        ----------
        tokenizer : Tokenizer
        texts : sequence of str

        Returns
        -------
        Features

        Raises
        ------
        DataError
            If there are no texts or words, or if pruning leaves no feature.
        UsageError
            If the file of stop words cannot be read, or min_df or max_df is not a number of
            documents.
        """
        texts = check_texts(texts)
        n = len(texts)
        least = _documents("min_df", self.min_df, n, fraction=self.min_df < 1)
        most = _documents("max_df", self.max_df, n, fraction=self.max_df <= 1)
        stop_words = self._read_stop_words(tokenizer)
        tokens = words = _by_name(calls.encode(tokenizer, texts), stop_words)
        if not len(words.ids):
            raise DataError(_no_words(n, tokenizer, self.stop_words))
        if self.ngrams > 1:
            _refuse_spaces(tokenizer, tokens.vocabulary)

        tree, streams = NGrams.collect(tokens, self.ngrams, least)
        keep = self._keep(tree, streams, tokens.token_document_ptr, n, least, most)
        numbers = tree.number(keep)
        if self.ngrams > 1:
            tokens = insert_ngrams(tokens, streams, numbers, tree.names(numbers))
        elif not keep[0].all():
            tokens = renumber(tokens, numbers[0], tree.names(numbers))
        rows = count_rows(tokens)
        idf = None
        if WEIGHTINGS[self.weighting].idf:
            frequencies = np.bincount(rows.indices, minlength=len(tokens.vocabulary))
            idf = np.log((1 + n) / (1 + frequencies)) + 1
        encoder = Encoder(tokenizer, self, tokens.vocabulary, idf, stop_words=stop_words)
        if self.ngrams > 1 and all(level.all() for level in keep):
            encoder.tree = tree, numbers  # the same as from the names, which is slower
        encoder.weigh(rows, words)
        X = rows.matrix(len(tokens.vocabulary))
        return Features(X=X, tokens=tokens, encoder=encoder)

    def _read_stop_words(self, tokenizer: Tokenizer) -> tuple[str, ...]:
        """The words of the file as the tokenizer splits them: "don't" may be two."""
        if self.stop_words is None:
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
        words = calls.encode(tokenizer, text.splitlines())
        return tuple(sorted(words.vocabulary[id] for id in np.unique(words.ids)))

    def _keep(
        self,
        tree: NGrams,
        streams: Sequence[Int32s],
        document_ptr: Int64s,
        n: int,
        least: float,
        most: float,
    ) -> list[Bools]:
        """Which n-grams of every level become features; the rules are scikit-learn's."""
        keep = [np.ones(size, dtype=bool) for size in tree.sizes]
        if least > 1 or most < n:
            frequencies = [
                text_counts.document_frequencies(stream, document_ptr, size)
                for stream, size in zip(streams, tree.sizes, strict=True)
            ]
            keep = [(level >= least) & (level <= most) for level in frequencies]
            if not any(level.any() for level in keep):
                raise DataError(self._nothing_left(frequencies, n, least, most))
        if self.max_features is not None and sum(map(np.sum, keep)) > self.max_features:
            numbers = np.concatenate(tree.number(keep))
            totals = np.concatenate(
                [
                    np.bincount(stream[stream >= 0], minlength=size)
                    for stream, size in zip(streams, tree.sizes, strict=True)
                ]
            )
            left = np.flatnonzero(numbers >= 0)
            # Ties are broken by name.
            chosen = left[np.lexsort((numbers[left], -totals[left]))[: self.max_features]]
            mask = np.zeros(len(numbers), dtype=bool)
            mask[chosen] = True
            keep = np.split(mask, np.cumsum(tree.sizes)[:-1])
        return keep

    def _nothing_left(
        self, frequencies: Sequence[Int64s], n: int, least: float, most: float
    ) -> str:
        every = np.concatenate(frequencies)
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
    X : csr_array of float64, shape (documents, features)
        Weighted, with sorted indices.
    tokens : Tokens
        Every occurrence of a feature, n-grams included; ids are columns of X. Sentences without
        features are included.
    encoder : Encoder
        Makes rows with these features of new texts.
    """

    X: csr_array
    tokens: Tokens
    encoder: Encoder


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


def _by_name(tokens: Tokens, stop_words: Sequence[str]) -> Tokens:
    """The tokens without stop words, numbered in order of name."""
    names = sorted(tokens.vocabulary)
    if not stop_words and names == tokens.vocabulary:
        return tokens
    dropped = set(stop_words)
    names = [name for name in names if name not in dropped]
    number = {name: place for place, name in enumerate(names)}
    new = np.array([number.get(name, -1) for name in tokens.vocabulary], dtype=np.int32)
    return renumber(tokens, new, names)


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
    for name in vocabulary:
        if " " in name:
            raise DataError(
                f"tokenizer '{tokenizer.name}' returns '{name}' as one token, but spaces separate "
                "the words of an n-gram: use ngrams=1, or a tokenizer that joins words with "
                "another character."
            )
