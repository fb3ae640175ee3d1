"""Documents as they were read, and as a tokenizer cut them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textreg._core.arrays import Floats, Int32s, Int64s
from textreg.errors import DataError, RecordError, first_few
from textreg.records.ragged import offsets, take_rows


@dataclass(frozen=True)
class Corpus:
    """Documents as they were read.

    texts: the documents. labels: one a document, or None. weights: one a document, or None.
    group_of: the group of every document, such as its author, for splits that keep groups whole;
    time_of: when it was written, a number or an ISO date, for splits in order of time; or None.
    sources: names of the files; source_of: int32, the file of every document; line_of: int64, its
    line there (1-based), 0 where the file is the document. skipped: rows left out on request.
    columns: what was read from where, for people.
    """

    texts: Sequence[str]
    labels: Sequence[str] | None = None
    weights: Floats | None = None
    group_of: Sequence[str] | None = None
    time_of: Sequence[Any] | None = None
    sources: Sequence[str] = ()
    source_of: Int32s | None = None
    line_of: Int64s | None = None
    skipped: int = 0
    columns: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("labels", "weights", "group_of", "time_of", "source_of", "line_of"):
            value = getattr(self, name)
            if value is not None and len(value) != len(self.texts):
                raise DataError(
                    f"{len(self.texts):,} texts but {len(value):,} {name}: give one for each text."
                )

    def __len__(self) -> int:
        return len(self.texts)

    def __repr__(self) -> str:
        names = [] if self.labels is None else sorted(set(self.labels))
        shown = first_few([repr(name) for name in names], 4)
        return f"<Corpus: {len(self):,} documents; labels {shown or 'none'}>"

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
            group_of=None if self.group_of is None else [self.group_of[row] for row in rows],
            time_of=None if self.time_of is None else [self.time_of[row] for row in rows],
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
        offsets("sentence_ptr", self.sentence_ptr, len(self.ids))
        offsets("document_ptr", self.document_ptr, len(self.sentence_ptr) - 1)
        if self.paragraph_ptr is not None:
            offsets("paragraph_ptr", self.paragraph_ptr, len(self.sentence_ptr) - 1)
            if np.setdiff1d(self.document_ptr, self.paragraph_ptr).size:
                raise RecordError(
                    "a paragraph must end where its document ends: see paragraph_ptr."
                )
            if not (np.diff(self.paragraph_ptr) > 0).all():
                raise RecordError("every paragraph must have a sentence: see paragraph_ptr.")
        if len(self.ids):
            low, high = int(self.ids.min()), int(self.ids.max())
            if low < 0 or high >= len(self.vocabulary):
                raise RecordError(
                    f"token ids run from {low} to {high}, but the vocabulary has "
                    f"{len(self.vocabulary)} entries (0 to {len(self.vocabulary) - 1})."
                )

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
        """Offsets of the documents in ``ids``."""
        return self.sentence_ptr[self.document_ptr]

    def select(self, documents: NDArray[np.intp]) -> Tokens:
        """The given documents, in that order, over the same vocabulary."""
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
        return Tokens(
            ids=ids,
            sentence_ptr=sentence_ptr,
            document_ptr=document_ptr,
            vocabulary=self.vocabulary,
            spans=spans,
            sentence_spans=None if self.sentence_spans is None else self.sentence_spans[rows],
            paragraph_ptr=paragraph_ptr,
        )
