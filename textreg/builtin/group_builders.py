"""The group builders of textreg: segments of documents, columns, and groups in a file."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from textreg.errors import DataError, DataWarning, UsageError, first_few
from textreg.hookspecs import hookimpl
from textreg.kinds import GroupBuilder
from textreg.params import param
from textreg.records import Groups, Int32s, Int64s, Tokens
from textreg.records.arrays import offsets_of
from textreg.structure import grouping


class Sentences(grouping.SegmentBuilder):
    """One group for every training sentence, of its distinct features.

    These are the groups of yogatama2014, section 3. The tokenizer finds where sentences end;
    n-grams do not cross sentences.
    """

    name = "sentences"
    segment = "sentence"

    def segments(self, tokens: Tokens) -> tuple[Int32s, Int64s, Int64s]:
        """The sentences of ``tokens``."""
        return tokens.ids, tokens.sentence_ptr, tokens.document_ptr


# Maximum number of unknown words that a warning lists.
SHOWN = 5


class Paragraphs(grouping.SegmentBuilder):
    """One group for every paragraph: the sentences between lines without a word.

    A sentence that crosses such a line, as with ``--tokenizer-sentences none``, is in one
    paragraph. The tokenizer must find paragraphs, as ``words`` does.
    """

    name = "paragraphs"
    segment = "paragraph"

    def segments(self, tokens: Tokens) -> tuple[Int32s, Int64s, Int64s]:
        """The paragraphs; UsageError if ``tokens`` has none."""
        if tokens.paragraph_ptr is None:
            raise UsageError(
                "paragraphs: the tokenizer does not find paragraphs. Use the tokenizer "
                "'words', or groups of sentences or windows."
            )
        document_ptr = np.searchsorted(tokens.paragraph_ptr, tokens.document_ptr)
        return tokens.ids, tokens.sentence_ptr[tokens.paragraph_ptr], document_ptr


class Documents(grouping.SegmentBuilder):
    """One group for every training document."""

    name = "documents"

    def segments(self, tokens: Tokens) -> tuple[Int32s, Int64s, Int64s]:
        """The documents of ``tokens``."""
        document_ptr = np.arange(tokens.n_documents + 1)
        return tokens.ids, tokens.token_document_ptr, document_ptr


class Fields(grouping.WeightedBuilder):
    """One group for every field of the documents, with all its features: words and what further
    tokenizers find, the values of a category, a number."""

    name = "fields"

    def build(self, tokens: Tokens) -> Groups:
        """The fields; UsageError if the documents have none."""
        if tokens.field_of is None:
            raise UsageError(
                "fields: the documents have no fields. Train on several columns (--text-col, "
                "--number-col, --category-col; in Python fields=...), or use other groups."
            )
        sizes = np.bincount(tokens.field_of, minlength=len(tokens.fields))
        indptr = offsets_of(sizes)
        indices = np.argsort(tokens.field_of, kind="stable").astype(np.int32)
        return self.weighted(indptr, indices, tokens.n_columns, list(tokens.fields))


class Windows(grouping.SegmentBuilder):
    """One group for every window of words that slides over a document.

    Windows ignore sentences. Their size counts single words; an n-gram is in every window with its
    first word. The last window of a document ends with it and may be shorter.
    """

    name = "windows"
    segment = "window"
    size: int = param(default=20, min=1, help="words in a window")
    stride: int | None = param(
        default=None,
        min=1,
        help="words from the start of one window to the next; the size by default",
    )

    def __init__(self, /, **values: Any) -> None:
        super().__init__(**values)
        if self.stride is not None and self.stride > self.size:
            raise UsageError(
                f"windows: stride must be at most size, {self.size}, not {self.stride}: words "
                "between two windows would be in no group."
            )

    def segments(self, tokens: Tokens) -> tuple[Int32s, Int64s, Int64s]:
        """The windows of every document in turn; they overlap if stride < size."""
        stride = self.size if self.stride is None else self.stride
        ptr = tokens.token_document_ptr
        is_word = np.array([" " not in name for name in tokens.vocabulary], dtype=bool)
        words = np.flatnonzero(is_word[tokens.ids])  # n-grams follow their first word
        word_ptr = np.searchsorted(words, ptr)
        lengths = np.diff(word_ptr)
        counts = np.where(lengths > 0, 1 + -(-np.maximum(lengths - self.size, 0) // stride), 0)
        document_ptr = offsets_of(counts)

        document = np.repeat(np.arange(tokens.n_documents), counts)
        nth = np.arange(document_ptr[-1]) - document_ptr[document]
        first = word_ptr[document] + stride * nth
        after = np.minimum(first + self.size, word_ptr[document + 1])
        # The first word of an n-gram may have been pruned: the first and last window of a document
        # reach its ends, so that no n-gram is lost.
        begin = np.where(nth == 0, ptr[document], words[first])
        last = after == word_ptr[document + 1]
        end = np.where(last, ptr[document + 1], words[np.where(last, first, after)])
        window_ptr = offsets_of(end - begin)
        shift = np.repeat(begin - window_ptr[:-1], end - begin)
        return tokens.ids[np.arange(window_ptr[-1]) + shift], window_ptr, document_ptr


class File(grouping.WeightedBuilder):
    """Groups from a file, one on each line; see :func:`textreg.structure.grouping.read_groups`.

    A group has the features that its line names, n-grams included ("very good"). With ``ngrams``
    it also has the n-grams of its words. Names that are not features are ignored, with a warning.
    """

    name = "file"
    path: str | None = param(default=None, help="file of groups, one on each line")
    ngrams: str = param(
        default="none",
        choices=grouping.NGRAMS,
        help="n-grams to add: those with all their words in the group, those with any, or none",
    )

    def build(self, tokens: Tokens) -> Groups:
        """The groups of the file; DataError if none of their words is a feature."""
        if self.path is None:
            raise UsageError("file: name the file of groups with --groups-path FILE.")
        lines = grouping.read_groups(self.path)
        names = [line.features for line in lines]
        indptr, indices = grouping.features_of(names, tokens.vocabulary, self.ngrams)
        self._report([(line.number, name) for line in lines for name in line.features], tokens)
        groups = self.weighted(
            indptr, indices, len(tokens.vocabulary), [line.name for line in lines]
        )
        weights = np.array([line.weight for line in lines])
        return Groups(indptr, indices, groups.weights * weights, groups.n_features, groups.names)

    def _report(self, listed: list[tuple[int, str]], tokens: Tokens) -> None:
        """Warn of words that are not features; DataError if no word is one."""
        known = set(tokens.vocabulary)
        if self.ngrams != "none":  # a word may be part of n-grams only
            known.update(word for name in tokens.vocabulary for word in name.split(" "))
        unknown = [(number, name) for number, name in listed if name not in known]
        if not unknown:
            return
        if len(unknown) == len(listed):
            words = tokens.vocabulary
            example = f", such as '{words[len(words) // 2]}'" if len(words) else ""
            raise DataError(
                f"{self.path}:{unknown[0][0]}: '{unknown[0][1]}' is not a feature of the training "
                "texts, and neither is any other word of the file. Write words as the tokenizer "
                f"does{example}."
            )
        shown = [f"'{name}' (line {number})" for number, name in unknown]
        warnings.warn(
            f"{self.path}: {len(unknown):,} of {len(listed):,} words are not features of the "
            f"training texts and are ignored: {first_few(shown, SHOWN)}",
            DataWarning,
            stacklevel=2,
        )


@hookimpl
def textreg_group_builders() -> list[type[GroupBuilder]]:
    return [Sentences, Paragraphs, Documents, Windows, Fields, File]
