"""Documents: as read, and as tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textreg._core.arrays import Floats, Int32s, Int64s
from textreg.errors import DataError, RecordError, first_few
from textreg.records.columns import as_column, first_missing, label_name
from textreg.records.convert import as_array, check_weights
from textreg.records.documents import Documents, is_tokenized, tokenized
from textreg.records.ragged import offsets, take_rows
from textreg.records.skipped import SkippedRows
from textreg.records.stored_texts import TextsElsewhere

_LISTS = (list, tuple, set, frozenset)
"""What a list of labels may be."""

_CORPUS_ARRAYS = {"sample_weight": np.float64, "source_of": np.int32, "line_of": np.int64}


@dataclass(frozen=True)
class Corpus:
    """Documents as they were read, by ``read_corpus`` or from lists.

    Parameters
    ----------
    texts : sequence of str, length n
        One for each document. Or lists of tokens, or lists of sentences, which are lists of tokens:
        these are kept as the latter.
    labels : sequence of str, or of lists of str, length n, optional
        Names of classes, or numbers as they were written; 0, 1, True and False are kept as names.
        Where a document may have several labels, or none, a list, tuple or set for each; kept as
        tuples without repetitions.
    sample_weight : array-like, shape (n,), optional
        Weights of the documents in the loss, 0 or more. Kept as float64.
    group_of : sequence of str, length n, optional
        The group of every document, such as its author, for splits that keep groups whole.
    time_of : sequence, length n, optional
        When every document was written, a number or an ISO date, for splits in order of time.
    sources : sequence of str, default ()
        Names of the files.
    source_of : ndarray of int32, shape (n,), optional
        The index in ``sources`` of every document.
    line_of : ndarray of int64, shape (n,), optional
        The line where every document begins, from 1; 0 for a file of its own.
    skipped : SkippedRows, optional
        The rows of the files that could not be read and were left out.
    columns : dict of str to str
        The format and the columns that were read, for people.
    column_names : dict of str to str
        The name of the column of the texts, of the labels and so on, by what it holds, where all
        files have the same.

    Raises
    ------
    DataError
        If the lengths differ, some documents have a list of labels and others one label, a weight
        is no such number or too large to be summed, or some of the documents are tokens and others
        are not.

    Examples
    --------
    >>> Corpus(["It broke.", "It works."], labels=["neg", "pos"])
    <Corpus: 2 documents; labels 'neg', 'pos'>
    """

    texts: Documents
    labels: Sequence[Any] | None = None
    sample_weight: Floats | None = None
    group_of: Sequence[str] | None = None
    time_of: Sequence[Any] | None = None
    sources: Sequence[str] = ()
    source_of: Int32s | None = None
    line_of: Int64s | None = None
    skipped: SkippedRows = field(default_factory=SkippedRows)
    columns: dict[str, str] = field(default_factory=dict)
    column_names: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._take_columns()
        if is_tokenized(self.texts):
            object.__setattr__(self, "texts", tokenized(self.texts))
        for name, kind in _CORPUS_ARRAYS.items():
            if (given := getattr(self, name)) is not None:
                object.__setattr__(self, name, as_array(name, given, kind))
        for name in ("labels", "sample_weight", "group_of", "time_of", "source_of", "line_of"):
            value = getattr(self, name)
            if value is not None and len(value) != len(self.texts):
                raise DataError(
                    f"{len(self.texts):,} texts but {len(value):,} {name}: give one for each text."
                )
        if self.labels is not None and not all(type(it) is str for it in self.labels):
            object.__setattr__(self, "labels", self._named(self.labels))
        if self.source_of is not None and len(self.texts):
            low, high = int(self.source_of.min()), int(self.source_of.max())
            if low < 0 or high >= len(self.sources):
                raise RecordError(
                    f"source_of runs from {low} to {high}, but there are {len(self.sources)} "
                    "sources: give the index in them."
                )
        if self.sample_weight is not None:
            wrong = ~(np.isfinite(self.sample_weight) & (self.sample_weight >= 0.0))
            if wrong.any():
                at = int(np.argmax(wrong))
                raise DataError(
                    f"{self.where(at)}: the weight is {self.sample_weight[at]}; weights are finite "
                    "numbers, 0 or more. Correct it, or leave the document out."
                )
            check_weights("sample_weight", self.sample_weight)

    def _take_columns(self) -> None:
        """Columns of data frames as lists."""
        for name in ("texts", "labels", "group_of", "time_of"):
            object.__setattr__(self, name, as_column(getattr(self, name), name))
        if isinstance(self.texts, str) or not hasattr(self.texts, "__len__"):
            raise DataError("texts must be a list of texts, not one text: put it in a list.")

    def _named(self, labels: Sequence[Any]) -> list[Any]:
        """Labels as names, or as lists of names; DataError if one is missing."""
        if (row := first_missing(labels)) is not None:
            raise DataError(
                f"{self.where(row)}: the label is missing ({labels[row]!r}). Give it one, or leave "
                "the document out."
            )
        named = list(map(label_name, labels))
        return self._label_lists(named) if any(isinstance(it, _LISTS) for it in named) else named

    def _label_lists(self, labels: Sequence[Any]) -> list[tuple[str, ...]]:
        """Lists of labels as tuples, each label once; DataError for anything else."""
        lists = []
        for at, given in enumerate(labels):
            if _is_made(given):
                lists.append(given)  # not a copy: many documents may share it
                continue
            if not isinstance(given, _LISTS):
                raise DataError(
                    f"{self.where(at)}: the label is {given!r:.60}, and other documents have a "
                    f"list of labels: write a list here too, such as [{given!r:.60}]."
                )
            names = list(map(label_name, given))
            wrong = [one for one in names if not (isinstance(one, str) and one)]
            if wrong:
                raise DataError(
                    f"{self.where(at)}: the list of labels holds {wrong[0]!r:.60}, and labels are "
                    "texts: correct it."
                )
            ordered = sorted(names) if isinstance(given, (set, frozenset)) else names
            lists.append(tuple(dict.fromkeys(ordered)))
        return lists

    @property
    def multilabel(self) -> bool:
        """Whether every document has a list of labels."""
        return self.labels is not None and len(self) > 0 and isinstance(self.labels[0], tuple)

    def label_names(self) -> list[str]:
        """All labels that some document has, in sorted order."""
        if not self.multilabel:
            return sorted(set(self.labels or ()))
        return sorted({label for labels in self.labels or () for label in labels})

    def __len__(self) -> int:
        return len(self.texts)

    def __repr__(self) -> str:
        names = self.label_names()
        shown = first_few([repr(name) for name in names], 4)
        return f"<Corpus: {len(self):,} documents; labels {shown or 'none'}>"

    @property
    def tokenized(self) -> bool:
        """Whether the documents are lists of tokens, and no texts."""
        return is_tokenized(self.texts)

    def where(self, document: int) -> str:
        """Where a document stands, for messages.

        Parameters
        ----------
        document : int
            Its index, from 0.

        Returns
        -------
        str
            ``file:line``, or ``document 3`` for the third one if it is not from a file.
        """
        if self.source_of is None:
            return f"document {document + 1}"
        source = self.sources[int(self.source_of[document])]
        line = 0 if self.line_of is None else int(self.line_of[document])
        return f"{source}:{line}" if line else source

    def select(self, rows: NDArray[np.intp]) -> Corpus:
        """The corpus of some documents.

        Parameters
        ----------
        rows : ndarray of int
            Their indices, in the order wanted.

        Returns
        -------
        Corpus
        """
        texts = self.texts
        return replace(
            self,
            texts=texts.select(rows)
            if isinstance(texts, TextsElsewhere)
            else [texts[row] for row in rows],
            labels=None if self.labels is None else [self.labels[row] for row in rows],
            sample_weight=None if self.sample_weight is None else self.sample_weight[rows],
            group_of=None if self.group_of is None else [self.group_of[row] for row in rows],
            time_of=None if self.time_of is None else [self.time_of[row] for row in rows],
            source_of=None if self.source_of is None else self.source_of[rows],
            line_of=None if self.line_of is None else self.line_of[rows],
            skipped=SkippedRows(),
        )


def _is_made(labels: Any) -> bool:
    """Whether the labels of a document are as a corpus keeps them: a tuple of distinct names."""
    return (
        type(labels) is tuple
        and all(type(name) is str and name for name in labels)
        and len(set(labels)) == len(labels)
    )


@dataclass(frozen=True)
class Tokens:
    """Every occurrence of a feature in reading order, cut into sentences and documents.

    A tokenizer makes them of texts, by ``encode``. Builders get those of the features: there the
    vocabulary is sorted, an n-gram is the words of one sentence with spaces between them, and its
    occurrence follows that of the word it begins with. They get no spans.

    Parameters
    ----------
    ids : array-like of whole numbers, shape (occurrences,)
        The feature of every occurrence: an index into ``vocabulary``. Kept as int32, as the spans
        are; offsets are kept as int64.
    sentence_ptr : array-like of whole numbers, shape (sentences + 1,)
        Sentence s is ``ids[sentence_ptr[s]:sentence_ptr[s + 1]]``.
    document_ptr : array-like of whole numbers, shape (documents + 1,)
        Document d has the sentences ``document_ptr[d]`` to ``document_ptr[d + 1]``.
    vocabulary : sequence of str
        The names of all features, each once. There may be some that occur nowhere.
    spans : array-like of whole numbers, shape (occurrences, 2), optional
        Start and end of every occurrence in its document's text, in characters: the occurrence is
        ``text[start:end]``.
    sentence_spans : array-like of whole numbers, shape (sentences, 2), optional
        Start and end of every sentence in its document's text, in the same way.
    paragraph_ptr : array-like of whole numbers, shape (paragraphs + 1,), optional
        Paragraph g has the sentences ``paragraph_ptr[g]`` to ``paragraph_ptr[g + 1]``, at least
        one, all of one document. None if the tokenizer does not find paragraphs.
    fields : sequence of str, default ()
        The names of the fields, where documents have several.
    field_of : array-like of whole numbers, shape (columns,), optional
        Where documents have several fields: the index in ``fields`` of every column of the matrix.
        The first columns are the vocabulary; the others are of further tokenizers, categories and
        numbers. Kept as int32.

    Raises
    ------
    RecordError
        If a field is no array of such numbers, the offsets do not cut the arrays, or an id is out
        of range.

    Examples
    --------
    >>> import textreg
    >>> tokens = textreg.tokenizer("words").encode(["A red box. It broke."])
    >>> tokens.vocabulary
    ['a', 'box', 'broke', 'it', 'red']
    >>> tokens.ids, tokens.sentence_ptr
    (array([0, 4, 1, 3, 2], dtype=int32), array([0, 3, 5]))
    """

    ids: Int32s
    sentence_ptr: Int64s
    document_ptr: Int64s
    vocabulary: Sequence[str]
    spans: Int32s | None = None
    sentence_spans: Int32s | None = None
    paragraph_ptr: Int64s | None = None
    fields: Sequence[str] = ()
    field_of: Int32s | None = None

    def __post_init__(self) -> None:
        if isinstance(self.vocabulary, str) or not hasattr(self.vocabulary, "__len__"):
            raise RecordError("vocabulary must be a list of the names of all features.")
        for name in ("ids", "sentence_ptr", "document_ptr", "paragraph_ptr"):
            if name != "paragraph_ptr" or self.paragraph_ptr is not None:
                kind = np.int32 if name == "ids" else np.int64
                object.__setattr__(self, name, as_array(name, getattr(self, name), kind))
        for name, size in (
            ("spans", len(self.ids)),
            ("sentence_spans", len(self.sentence_ptr) - 1),
        ):
            if (given := getattr(self, name)) is not None:
                object.__setattr__(self, name, as_array(name, given, np.int32, (size, 2)))
        self._check_fields()
        offsets("sentence_ptr", self.sentence_ptr, len(self.ids))
        offsets("document_ptr", self.document_ptr, len(self.sentence_ptr) - 1)
        if self.paragraph_ptr is not None:
            offsets("paragraph_ptr", self.paragraph_ptr, len(self.sentence_ptr) - 1)
            ends = np.searchsorted(self.paragraph_ptr, self.document_ptr)
            if (self.paragraph_ptr[ends] != self.document_ptr).any():
                raise RecordError("paragraph_ptr: a paragraph must end where its document ends.")
            if not (np.diff(self.paragraph_ptr) > 0).all():
                raise RecordError("paragraph_ptr: every paragraph must have a sentence.")
        if len(self.ids):
            low, high = int(self.ids.min()), int(self.ids.max())
            if low < 0 or high >= len(self.vocabulary):
                raise RecordError(
                    f"token ids run from {low} to {high}, but the vocabulary has "
                    f"{len(self.vocabulary)} entries (0 to {len(self.vocabulary) - 1})."
                )

    def _check_fields(self) -> None:
        if self.field_of is None:
            return
        object.__setattr__(self, "field_of", as_array("field_of", self.field_of, np.int32))
        if len(self.field_of) < len(self.vocabulary):
            raise RecordError(
                f"field_of has {len(self.field_of):,} columns, fewer than the "
                f"{len(self.vocabulary):,} of the vocabulary."
            )
        low, high = int(self.field_of.min(initial=0)), int(self.field_of.max(initial=-1))
        if low < 0 or high >= len(self.fields):
            raise RecordError(
                f"field_of runs from {low} to {high}, but there are {len(self.fields)} fields."
            )

    @property
    def n_columns(self) -> int:
        """Number of columns of the matrix that the vocabulary begins; its own without fields."""
        return len(self.vocabulary) if self.field_of is None else len(self.field_of)

    def __repr__(self) -> str:
        return (
            f"<Tokens: {len(self.ids):,} in {self.n_sentences:,} sentences of "
            f"{self.n_documents:,} documents, {len(self.vocabulary):,} features>"
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
        """Document d is ``ids[token_document_ptr[d]:token_document_ptr[d + 1]]``; int64."""
        return self.sentence_ptr[self.document_ptr]

    def select(self, documents: NDArray[np.intp]) -> Tokens:
        """The tokens of some documents, over the same vocabulary.

        Parameters
        ----------
        documents : ndarray of int
            Their indices, in the order wanted.

        Returns
        -------
        Tokens
        """
        sentences = np.arange(self.n_sentences, dtype=np.int64)
        document_ptr, rows = take_rows(self.document_ptr, sentences, documents)
        sentence_ptr, ids = take_rows(self.sentence_ptr, self.ids, rows)
        spans = None
        if self.spans is not None:
            occurrences = np.arange(len(self.ids), dtype=np.int64)
            spans = self.spans[take_rows(self.sentence_ptr, occurrences, rows)[1]]
        paragraph_ptr = None
        if self.paragraph_ptr is not None:
            ends = np.searchsorted(self.paragraph_ptr, self.document_ptr)
            _, sizes = take_rows(ends, np.diff(self.paragraph_ptr), documents)
            paragraph_ptr = np.concatenate([[0], np.cumsum(sizes)])
        return replace(
            self,
            ids=ids,
            sentence_ptr=sentence_ptr,
            document_ptr=document_ptr,
            spans=spans,
            sentence_spans=None if self.sentence_spans is None else self.sentence_spans[rows],
            paragraph_ptr=paragraph_ptr,
        )
