"""A corpus, its tokens and their names, and the rows of its files that were skipped."""

from __future__ import annotations

import json
from abc import abstractmethod
from array import array
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from textreg._core.arrays import Floats, Int32s, Int64s
from textreg.errors import DataError, RecordError, UsageError, first_few, named_errors, shortened
from textreg.records.arrays import as_array, check_weights, offsets, offsets_of, take_rows
from textreg.records.documents import (
    Documents,
    FieldedText,
    TextsElsewhere,
    as_column,
    check_documents,
    first_missing,
    is_missing,
    is_tokenized,
    label_name,
    tokenized,
)
from textreg.terminal import counted

# Places of rows that a message names for every reason.
PLACES = 4
# The problem of so many rows is kept with its details.
DETAILED = 1000


class SkippedRow(NamedTuple):
    """A row that could not be read.

    Attributes
    ----------
    source : str
        Name of its file.
    line : int
        The line where it begins, from 1; 0 for a file of its own.
    reason : str
        What is wrong, without details: rows with the same fault have the same reason.
    problem : str
        The same with its details, as a sentence.
    position : int
        The number of documents that were read before it.
    """

    source: str
    line: int
    reason: str
    problem: str
    position: int

    @property
    def where(self) -> str:
        """``file:line``."""
        return f"{self.source}:{self.line}" if self.line else self.source


class SkippedReason(NamedTuple):
    """How often a reason occurs, and where.

    Parameters
    ----------
    reason : str
        Why the rows could not be read.
    rows : int
        How many there are.
    places : str
        The first of them, such as ``a.csv:3-7, 12``.
    """

    reason: str
    rows: int
    places: str


class SkippedRows:
    """Rows that could not be read, in the order of the files; iterating gives ``SkippedRow``.

    A row takes 24 bytes, so that millions of them do no harm.

    Parameters
    ----------
    rows : iterable of SkippedRow, optional
        The first of them.
    """

    def __init__(self, rows: Iterable[SkippedRow] = ()) -> None:
        # The numbers of names and of reasons, and these of every row.
        self._sources: dict[str, int] = {}
        self._reasons: dict[str, int] = {}
        self._source_of, self._reason_of = array("i"), array("i")
        self._line_of, self._position_of = array("q"), array("q")
        self._problems: list[str] = []  # of the first rows; others have their reason there
        for row in rows:
            self.add(row)

    def add(self, row: SkippedRow) -> None:
        """Add the next row.

        Parameters
        ----------
        row : SkippedRow
            After all those that were added.
        """
        self._source_of.append(self._sources.setdefault(row.source, len(self._sources)))
        self._reason_of.append(self._reasons.setdefault(row.reason, len(self._reasons)))
        self._line_of.append(row.line)
        self._position_of.append(row.position)
        if len(self._problems) < DETAILED:
            self._problems.append(row.problem)

    @property
    def reasons(self) -> tuple[str, ...]:
        """The reasons, in the order in which they came."""
        return tuple(self._reasons)

    @property
    def position_of(self) -> Int64s:
        """``SkippedRow.position`` of every row."""
        return np.array(self._position_of, dtype=np.int64)

    def __len__(self) -> int:
        return len(self._line_of)

    def __iter__(self) -> Iterator[SkippedRow]:
        sources, reasons = list(self._sources), self.reasons
        for row, line in enumerate(self._line_of):
            reason = reasons[self._reason_of[row]]
            problem = self._problems[row] if row < len(self._problems) else f"{reason}."
            source = sources[self._source_of[row]]
            yield SkippedRow(source, line, reason, problem, self._position_of[row])

    def __repr__(self) -> str:
        return f"<SkippedRows: {self.told() or 'none'}>"

    def by_reason(self) -> list[SkippedReason]:
        """The reasons, the most frequent one first."""
        counts, reasons = np.bincount(self._reason_of, minlength=len(self._reasons)), self.reasons
        order = np.argsort(-counts, kind="stable")
        return [
            SkippedReason(reasons[which], int(counts[which]), self._places(int(which)))
            for which in order
        ]

    def told(self) -> str:
        """The reasons and places on one line; empty if there is no row."""
        return "; ".join(f"{one.rows:,} {one.reason} ({one.places})" for one in self.by_reason())

    def _places(self, reason: int) -> str:
        """``a.csv:3-7, 12, b.csv:1, ...``: the first rows of a reason."""
        rows = np.flatnonzero(np.array(self._reason_of) == reason)
        sources, lines = np.array(self._source_of)[rows], np.array(self._line_of)[rows]
        names = list(self._sources)
        # a range begins where the file changes, or where a line is not the one after the last
        begins = np.flatnonzero(
            np.r_[True, (np.diff(sources) != 0) | (np.diff(lines) != 1) | (lines[1:] == 0)]
        )
        shown: list[str] = []
        named = -1
        for at, end in zip(begins[:PLACES], [*begins[1:], len(rows)], strict=False):
            first, last = int(lines[at]), int(lines[end - 1])
            text = f"{first}" if first == last else f"{first}-{last}"
            if sources[at] != named:
                named = int(sources[at])
                text = f"{names[named]}:{text}" if first else names[named]
            shown.append(text)
        return ", ".join([*shown, *(["..."] if len(begins) > PLACES else [])])


# Half of a surrogate pair is not UTF-8, but a tokenizer may make one from a broken text.
_SURROGATES = "surrogatepass"

# Names that become strings together.
_RUN = 10_000


class LazyNames(Sequence[str]):
    """A sequence of names that makes each on demand; write :meth:`name` and ``__len__``."""

    @abstractmethod
    def name(self, at: int) -> str:
        """Name number ``at``, from 0."""

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self.name(at) for at in range(*index.indices(len(self)))]
        return self.name(range(len(self))[index])


class Names(LazyNames):
    """Names as one array of bytes, which become strings only when they are asked for.

    A million names of two words are 15 MB so, and 80 MB as strings. It is equal to any sequence of
    the same names, and a slice of it is a list.

    Parameters
    ----------
    letters : ndarray of uint8
        The names in UTF-8, one after the other.
    ptr : ndarray of int64, shape (names + 1,)
        Name i is ``letters[ptr[i]:ptr[i + 1]]``.

    Examples
    --------
    >>> names = Names.of(["good", "very good"])
    >>> names[1], len(names.letters), names
    ('very good', 13, ['good', 'very good'])
    """

    def __init__(self, letters: NDArray[np.uint8], ptr: Int64s) -> None:
        self.letters = letters
        self.ptr = ptr

    @classmethod
    def of(cls, names: Iterable[str]) -> Names:
        """The same names; ``names`` itself if it is one of these."""
        if isinstance(names, cls):
            return names
        coded = [name.encode("utf-8", _SURROGATES) for name in names]
        ptr = offsets_of(np.fromiter(map(len, coded), np.int64, len(coded)))
        return cls(np.frombuffer(b"".join(coded), dtype=np.uint8), ptr)

    def take(self, numbers: NDArray[np.integer]) -> Names:
        """Some of them, in the order of ``numbers``."""
        ptr, letters = take_rows(self.ptr, self.letters, numbers)
        return Names(letters, ptr)

    def cut(self, start: int, end: int) -> Names:
        """Those from ``start`` to ``end``, without a copy of their letters."""
        ptr = self.ptr[start : end + 1]
        return Names(self.letters[ptr[0] : ptr[-1]], ptr - ptr[0])

    def __len__(self) -> int:
        return len(self.ptr) - 1

    def name(self, at: int) -> str:
        """Name number ``at``, from 0."""
        return self._decoded(self.letters[self.ptr[at] : self.ptr[at + 1]].tobytes())

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self), _RUN):
            part = self.cut(start, min(start + _RUN, len(self)))
            letters = part.letters.tobytes()
            yield from (self._decoded(letters[at:end]) for at, end in pairwise(part.ptr.tolist()))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Names):
            pairs = (self.ptr, other.ptr), (self.letters, other.letters)
            return all(np.array_equal(mine, others) for mine, others in pairs)
        if not isinstance(other, Sequence) or isinstance(other, str):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]  # as of a list

    def __repr__(self) -> str:
        return repr(list(self))

    @staticmethod
    def _decoded(name: bytes) -> str:
        return name.decode("utf-8", _SURROGATES)


def as_json(value: Any) -> str:
    """``value`` as JSON, shortened."""
    return shortened(json.dumps(value, default=str))


def plain(value: Any, depth: int = 2) -> Any:
    """A value, or lists of such down to a depth, without the types of NumPy."""
    if hasattr(value, "tolist"):
        return value.tolist()
    listed = depth > 0 and isinstance(value, (list, tuple))
    return [plain(each, depth - 1) for each in value] if listed else value


def spans_of(marks: Any, text: str, place: str = "") -> list[tuple[int, int]]:
    """Where the marked passages of a text begin and end.

    marks: pairs of offsets, or the passages themselves; one may stand without a list, and nothing
    is none. place: where they stand, for messages. DataError if they are not in the text.
    """
    marks = plain(marks)
    if is_missing(marks) or marks in ("", [""]):
        return []
    spans = []
    for passage in marks if isinstance(marks, list) else [marks]:
        if isinstance(passage, str):
            start = text.find(passage)
            span, wrong = (start, start + len(passage)), "is not in its text, letter by letter"
        else:
            pair = isinstance(passage, list) and list(map(type, passage)) == [int, int]
            span = (passage[0], passage[1]) if pair else (0, 0)
            wrong = f"is no passage of its {len(text):,} characters"
        if not 0 <= span[0] < span[1] <= len(text):
            raise DataError(
                f"{as_json(passage)}{place} {wrong}: give passages as they stand there, or pairs "
                "of offsets such as [[0, 12], [40, 55]], the first character of each and the one "
                "after its last."
            )
        spans.append(span)
    return spans


#: What a list of labels may be.
LISTS = (list, tuple, set, frozenset)


def named_labels(
    labels: Sequence[Any], where: Callable[[int], str], *, lists: bool = False
) -> list[Any]:
    """Labels as names, or as lists of names; DataError if one is missing, or can be none.

    where: names a document by its index. lists: whether they must be lists, as where any is one.
    """
    if (row := first_missing(labels)) is not None:
        raise DataError(
            f"{where(row)}: the label is missing ({labels[row]!r}). Give it one, or leave the "
            "document out."
        )
    named = list(map(label_name, labels))
    for row, label in enumerate(named):
        if not isinstance(label, (Hashable, *LISTS)):
            raise DataError(
                f"{where(row)}: the label is {label!r:.60}, which cannot be one: give a text, a "
                "number or a list of texts."
            )
    lists = lists or any(isinstance(it, LISTS) for it in named)
    return _label_lists(named, where) if lists else named


def _label_lists(labels: Sequence[Any], where: Callable[[int], str]) -> list[tuple[str, ...]]:
    """Lists of labels as tuples, each label once; DataError for anything else."""
    lists, interned = list[tuple[str, ...]](), dict[tuple[str, ...], tuple[str, ...]]()
    for at, label in enumerate(labels):
        if not isinstance(label, LISTS):
            raise DataError(
                f"{where(at)}: the label is {label!r:.60}, and other documents have a list of "
                f"labels: write a list here too, such as [{label!r:.60}]."
            )
        names = list(map(label_name, label))
        if wrong := [name for name in names if not (isinstance(name, str) and name)]:
            raise DataError(
                f"{where(at)}: the list of labels holds {wrong[0]!r:.60}, and labels are texts: "
                "correct it."
            )
        ordered = sorted(names) if isinstance(label, (set, frozenset)) else names
        distinct = tuple(dict.fromkeys(ordered))
        lists.append(interned.setdefault(distinct, distinct))  # many documents may share one
    return lists


_CORPUS_ARRAYS = {"sample_weight": np.float64, "source_of": np.int32, "line_of": np.int64}
_COLUMNS = ("labels", "group_of", "time_of", "evidence_of", *_CORPUS_ARRAYS)


def find_names(names: Sequence[Any], others: Sequence[Any]) -> Int64s:
    """The index of each name among others, which may be many more, or -1; each is there once."""
    wanted = {name: at for at, name in enumerate(names)}
    indices = np.full(len(names), -1, dtype=np.int64)
    for index, other in enumerate(others):
        if other in wanted:
            indices[wanted[other]] = index
    return indices


@dataclass(frozen=True, eq=False)
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
    evidence_of : sequence of lists, length n, optional
        The passages that people marked in every document: where they begin and end, as pairs of
        offsets of characters, or the passages themselves; kept as the former.
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
    decimals : dict of str to str
        The decimal marks of columns of numbers, "comma" or "point", where they are not plain.
    column_names : dict of str to str
        The name of the column of the texts, of the labels and so on, by what it holds, where all
        files have the same.

    Raises
    ------
    DataError
        If the lengths differ, some documents have a list of labels and others one label, a weight
        is no such number or too large to be summed, a passage is not in its text, or some of the
        documents are tokens and others are not.

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
    evidence_of: Sequence[Any] | None = None
    sources: Sequence[str] = ()
    source_of: Int32s | None = None
    line_of: Int64s | None = None
    skipped: SkippedRows = field(default_factory=SkippedRows)
    columns: dict[str, str] = field(default_factory=dict)
    column_names: dict[str, str] = field(default_factory=dict)
    decimals: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._take_columns()
        if is_tokenized(self.texts):
            object.__setattr__(self, "texts", tokenized(self.texts))
        for name, kind in _CORPUS_ARRAYS.items():
            if (array := getattr(self, name)) is not None:
                object.__setattr__(self, name, as_array(name, array, kind))
        for name in _COLUMNS:
            value = getattr(self, name)
            if value is not None and len(value) != len(self.texts):
                raise DataError(
                    f"{len(self.texts):,} texts but {len(value):,} {name}: give one for each text."
                )
        if self.labels is not None and not all(type(it) is str for it in self.labels):
            object.__setattr__(self, "labels", named_labels(self.labels, self.where))
        if self.evidence_of is not None:
            spans = list(map(self._spans, range(len(self.texts)), self.evidence_of))
            object.__setattr__(self, "evidence_of", spans)
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
        for name in ("texts", "labels", "group_of", "time_of", "evidence_of"):
            if (column := getattr(self, name)) is not None or name == "texts":
                object.__setattr__(self, name, as_column(column, name))

    def _spans(self, row: int, marks: Any) -> Any:
        """The marked passages of a document as pairs; DataError if they are not in it."""
        text = self.texts[row]
        if not isinstance(text, str) or isinstance(text, FieldedText):
            return marks  # tokens and fields have no passages, as is said later
        with named_errors(self.where(row)):
            return spans_of(marks, text)

    @property
    def multilabel(self) -> bool:
        """Whether every document has a list of labels."""
        return self.labels is not None and len(self) > 0 and isinstance(self.labels[0], tuple)

    def label_names(self) -> list[str]:
        """All labels that some document has, in sorted order."""
        if not self.multilabel:
            return sorted(set(self.labels or ()), key=str)  # numbers may be among them
        return sorted({label for labels in self.labels or () for label in labels})

    def __len__(self) -> int:
        return len(self.texts)

    def __repr__(self) -> str:
        shown = first_few([repr(name) for name in self.label_names()], 4)
        return f"<Corpus: {counted(len(self), 'document')}; labels {shown or 'none'}>"

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
        columns = {name: _some(getattr(self, name), rows) for name in ("texts", *_COLUMNS)}
        return replace(self, **columns, skipped=SkippedRows())


def _some(values: Any, rows: NDArray[np.intp]) -> Any:
    """Some of the values of a column, if there is one."""
    if values is None:
        return None
    if isinstance(values, TextsElsewhere):
        return values.select(rows)
    return values[rows] if isinstance(values, np.ndarray) else [values[at] for at in rows]


def renamed(label: Any, names: Mapping[str, str]) -> Any:
    """A label, or the labels of a document, with other names for some."""
    if isinstance(label, tuple):
        return tuple(dict.fromkeys(names.get(it, it) for it in label))
    return names.get(label, label)


def with_labels(corpus: Corpus, names: Mapping[str, str]) -> Corpus:
    """A corpus with other names for some of its labels."""
    if not names or corpus.labels is None:
        return corpus
    return replace(corpus, labels=[renamed(label, names) for label in corpus.labels])


def as_corpus(
    given: Any, name: str, documents: Callable[[Any], Documents] = check_documents
) -> Corpus | None:
    """A pair of texts and their labels as a corpus; a corpus, or None, as it is.

    name: of the argument. documents: what makes documents of the texts. UsageError for others.
    """
    if given is None or isinstance(given, Corpus):
        return given
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        raise UsageError(
            f"{name} must be a Corpus, or the pair (texts, labels), where labels may be None if "
            f"none are needed, not {type(given).__name__}."
        )
    return Corpus(texts=documents(given[0]), labels=given[1])


@dataclass(frozen=True, eq=False)
class Tokens:
    """Every occurrence of a feature in reading order, cut into sentences and documents.

    A tokenizer makes them of texts, by ``encode``. Builders get those of the features: there the
    vocabulary is sorted, an n-gram is the words of one sentence with spaces between them, and its
    occurrence follows that of the word it begins with. Builders with ``wants_texts`` get the texts
    and all spans, others none of them.

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
    texts : sequence of str, length n, optional
        The documents themselves, which the spans are offsets in.
    locate : callable, optional
        Gives the same tokens of such texts with spans. For textreg itself.

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
    texts: Sequence[str] | None = None
    locate: Callable[[Sequence[str]], Tokens] | None = None

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
            if (array := getattr(self, name)) is not None:
                object.__setattr__(self, name, as_array(name, array, np.int32, (size, 2)))
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
            f"{counted(self.n_documents, 'document')}, {counted(len(self.vocabulary), 'feature')}>"
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
            paragraph_ptr = offsets_of(sizes)
        return replace(
            self,
            ids=ids,
            sentence_ptr=sentence_ptr,
            document_ptr=document_ptr,
            spans=spans,
            sentence_spans=None if self.sentence_spans is None else self.sentence_spans[rows],
            paragraph_ptr=paragraph_ptr,
            texts=_some(self.texts, documents),
        )

    def without_texts(self) -> Tokens:
        """The same for who is not to see the texts, nor places in them."""
        return replace(self, texts=None, locate=None, spans=None, sentence_spans=None)


T = TypeVar("T")


def tokens_of(
    documents: Iterable[T], sentences_of: Callable[[T], Iterable[Iterable[str]]]
) -> Tokens:
    """Names of tokens as numbers, in order of their first occurrence.

    sentences_of: gives the sentences of tokens of a document.
    """
    vocabulary: dict[str, int] = {}
    ids: list[int] = []
    sentence_ptr, document_ptr = [0], [0]
    for document in documents:
        for sentence in sentences_of(document):
            ids.extend(vocabulary.setdefault(token, len(vocabulary)) for token in sentence)
            sentence_ptr.append(len(ids))
        document_ptr.append(len(sentence_ptr) - 1)
    return Tokens(
        ids=np.array(ids, dtype=np.int32),
        sentence_ptr=np.array(sentence_ptr, dtype=np.int64),
        document_ptr=np.array(document_ptr, dtype=np.int64),
        vocabulary=list(vocabulary),
    )
