"""Documents: texts in memory, in columns or in a file, tokenized, or made of fields.

Columns of data frames and tables, of whatever package they are, as lists of Python's values.

They are known by what they offer, so that none of these packages is needed: pandas, polars,
pyarrow, NumPy, the datasets of Hugging Face.
"""

from __future__ import annotations

import math
import os
import re
from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, field
from operator import index as whole_number
from typing import Any, NoReturn, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from textreg._core.arrays import Int64s
from textreg.errors import DataError, RecordError, UsageError, did_you_mean, first_few
from textreg.files import DISK_FULL, needed, private
from textreg.terminal import single_line

# About how many bytes are written or read at a time.
PIECE = 1 << 20

# So many bytes between two texts wanted are read with them, rather than passed over.
GAP = 1 << 14

# Places in the file of so many texts are looked up at a time.
BLOCK = 1 << 13


class TextsElsewhere(Sequence[str], ABC):
    """Texts that are not in memory.

    Attributes
    ----------
    workers : Workers or None
        Who keeps them, if not this process; such texts have :meth:`blocks`.
    """

    workers: Any = None

    def blocks(self) -> Iterator[tuple[int, int, Sequence[Any]]]:
        """The first document of every block, the one after its last, handles of lists of texts."""
        raise NotImplementedError

    @abstractmethod
    def select(self, rows: NDArray[np.intp] | Sequence[int]) -> TextsElsewhere:
        """Some of them, by their indices in the order wanted."""

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...

    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return list(self.select(np.arange(len(self))[index]))
        return next(iter(self.select([whole_number(index)])))


class StoredTexts(TextsElsewhere):
    """Texts in a file, as a sequence; in memory are eight bytes for each.

    It is written once, by :meth:`extend`, and then read: one by one, or in the order of the file,
    a piece at a time. Threads may read together. The file stays when it is closed.

    Parameters
    ----------
    path : str or path
        The file to be made, which nobody else may change: the texts in UTF-8 one after the other.

    Raises
    ------
    UsageError
        If there is such a file already, or it cannot be made.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, StoredTexts(f"{folder}/texts") as texts:
    ...     texts.extend(["It broke.", "It works.", "It does."])
    ...     texts[1], texts[:2], list(texts.select([2, 0]))
    ('It works.', ['It broke.', 'It works.'], ['It does.', 'It broke.'])
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = path = os.fspath(path)
        self._ptr = array("q", [0])  # text i is [ptr[i]:ptr[i + 1]] in the file
        self._rows: Int64s | None = None  # all
        try:
            # For nobody else to read, as texts may be private.
            self._writer = open(path, "xb", buffering=0, opener=private)  # noqa: SIM115 - close()
        except OSError as error:
            raise UsageError(
                f"{path}: this file for texts cannot be made: {error.strerror}. Name a folder "
                "where it can, with TMPDIR (scratch=...)."
            ) from error
        try:
            self._reader = open(path, "rb", buffering=0)  # noqa: SIM115 - close()
        except OSError as error:
            self._writer.close()
            raise self._unreadable(error) from error

    def extend(self, texts: Iterable[str]) -> None:
        """Write further texts at the end.

        Parameters
        ----------
        texts : iterable of str
            Of any characters, also surrogates without their partner.

        Raises
        ------
        UsageError
            If there is no room on the disk, or these are some texts of another.
        """
        if self._rows is not None:
            raise UsageError("these are some of the texts in a file: extend those they are of.")
        pieces, size = list[bytes](), 0
        for text in texts:
            pieces.append(text.encode("utf-8", "surrogatepass"))
            size += len(pieces[-1])
            if size >= PIECE:
                self._append(pieces)
                pieces, size = [], 0
        if pieces:
            self._append(pieces)

    def select(self, rows: NDArray[np.intp] | Sequence[int]) -> StoredTexts:
        """Some of the texts, in the same file.

        Parameters
        ----------
        rows : array-like of int
            Their indices, in the order wanted.

        Returns
        -------
        StoredTexts
        """
        chosen = np.asarray(rows)
        if chosen.ndim != 1 or (chosen.dtype.kind not in "iu" and len(chosen)):
            raise RecordError(f"rows must be a list of indices, not {rows!r:.60}.")
        selected = object.__new__(StoredTexts)
        vars(selected).update(vars(self), _rows=self._numbers(chosen.astype(np.int64)))
        return selected

    def close(self) -> None:
        """Close the file, also for what was selected; its texts can no longer be read."""
        self._reader.close()
        try:
            self._writer.close()
        except OSError as error:  # of a file in a network, only now
            raise self._unwritten(error, 0) from error

    def __enter__(self) -> StoredTexts:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __len__(self) -> int:
        return len(self._ptr) - 1 if self._rows is None else len(self._rows)

    def __iter__(self) -> Iterator[str]:
        size = len(self)
        for at in range(0, size, BLOCK):
            block = np.arange(at, min(at + BLOCK, size))
            yield from self._texts(block if self._rows is None else self._rows[block])

    def __repr__(self) -> str:
        return f"<StoredTexts: {len(self):,} texts in {self.path}>"

    def __reduce__(self) -> NoReturn:
        raise UsageError(
            f"the texts in {self.path} cannot be copied or sent to other processes: read them into "
            "memory first, with list(texts)."
        )

    def _numbers(self, rows: Int64s) -> Int64s:
        """The numbers in the file of rows (k,), which count from the end if negative."""
        size = len(self)
        if len(rows) and not (-size <= rows.min() and rows.max() < size):
            raise IndexError(f"there are {size:,} texts, and no text {rows.min()} or {rows.max()}")
        rows = np.where(rows < 0, rows + size, rows)
        return rows if self._rows is None else self._rows[rows]

    @property
    def _size(self) -> int:
        """Bytes written."""
        return self._ptr[-1]

    def _append(self, pieces: list[bytes]) -> None:
        """Write the next texts: all of them, or none."""
        rest = memoryview(b"".join(pieces))
        try:
            while rest:
                rest = rest[self._writer.write(rest) :]
        except ValueError:
            raise self._closed() from None
        except OSError as error:
            os.ftruncate(self._writer.fileno(), self._size)
            self._writer.seek(self._size)
            raise self._unwritten(error, sum(map(len, pieces))) from error
        ends = self._size + np.cumsum(np.fromiter(map(len, pieces), np.int64, len(pieces)))
        self._ptr.frombytes(ends.tobytes())

    def _texts(self, rows: Int64s) -> Iterator[str]:
        """The texts of these numbers (k,), with one reading for those that are close together."""
        ptr = np.frombuffer(self._ptr, np.int64)
        starts, ends = ptr[rows].tolist(), ptr[rows + 1].tolist()
        del ptr  # while it is there, the array cannot grow
        for first, last in _pieces(starts, ends):
            base = starts[first]
            data = self._bytes(base, ends[last - 1])
            for start, end in zip(starts[first:last], ends[first:last], strict=True):
                yield self._decoded(data[start - base : end - base])

    def _bytes(self, start: int, end: int) -> bytes:
        """What is in the file from ``start`` to ``end``; DataError if others changed its size."""
        try:
            descriptor = self._reader.fileno()
            size = os.fstat(descriptor).st_size
            data = os.pread(descriptor, end - start, start)
        except ValueError:
            raise self._closed() from None
        except OSError as error:
            raise self._unreadable(error) from error
        if size != self._size or len(data) != end - start:
            raise self._changed(f"it has {size:,} bytes, and {self._size:,} were written")
        return data

    def _decoded(self, data: bytes) -> str:
        try:
            return data.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            raise self._changed("its bytes are others than were written") from None

    def _changed(self, how: str) -> DataError:
        return DataError(
            f"{self.path}: this file of texts was changed while it was in use: {how}. Start again, "
            "and let no other program write to it."
        )

    def _unwritten(self, error: OSError, size: int) -> UsageError:
        advice = "Check the folder"
        if error.errno in DISK_FULL:
            advice = "Free some space there"
        more = f", and {size:,} more were to be" if size else ""
        return UsageError(
            f"{self.path}: texts cannot be written to this file: {error.strerror}. "
            f"{self._size:,} bytes of texts are in it{more}. {advice}, or name another folder with "
            "TMPDIR (scratch=...)."
        )

    def _unreadable(self, error: OSError) -> DataError:
        return DataError(
            f"{self.path}: this file of texts cannot be read: {error.strerror}. Start again, or "
            "name another folder with TMPDIR (scratch=...)."
        )

    def _closed(self) -> UsageError:
        return UsageError(f"{self.path}: this file of texts is closed: use it before that.")


def _pieces(starts: list[int], ends: list[int]) -> Iterator[tuple[int, int]]:
    """Texts to be read at once: the first of them, and the one after the last.

    Each begins after the one before it, and not far behind; they have a piece in all, or are one.
    """
    first, n = 0, len(starts)
    while first < n:
        most = starts[first] + PIECE
        last = first + 1
        while last < n and ends[last] <= most and 0 <= starts[last] - ends[last - 1] <= GAP:
            last += 1
        yield first, last
        first = last


# The methods of pyarrow, of pandas and polars, and of NumPy and others.
_TO_LIST = ("to_pylist", "to_list", "tolist")


def as_column(values: Any, name: str) -> Any:
    """The values of a column as a list.

    Parameters
    ----------
    values : list, tuple, column or one-dimensional array; or a table or array of one column
        One that can be iterated over only is read to its end. Texts in a file are returned as
        they are.
    name : str
        What they are, for messages.

    Raises
    ------
    UsageError
        If it is a table of several columns, a mapping, a single text, a set, which has no order,
        or nothing that can be iterated over.
    """
    if isinstance(values, (list, tuple, TextsElsewhere)):
        return values
    if isinstance(values, (str, bytes)):
        raise UsageError(f"expected a list of {name}, got a single text: put it in a list.")
    names = column_names(values)
    shape: tuple[int, ...] = getattr(values, "shape", ())
    if isinstance(values, Mapping) or (isinstance(shape, tuple) and len(shape) > 1):
        if len(shape) != 2 or shape[1] != 1:
            raise _several(name, names, shape)
        column = values.reshape(-1) if names is None else values[names[0]]
        return as_column(column, name)
    for method in _TO_LIST:
        if callable(convert := getattr(values, method, None)):
            listed = convert()
            return listed if isinstance(listed, list) else [listed]
    if isinstance(values, Iterable) and not isinstance(values, (set, frozenset)):
        return list(values)
    if hasattr(values, "__arrow_c_stream__"):
        return _from_stream(values, name)
    if hasattr(values, "__array__"):
        return as_column(np.asarray(values), name)
    raise UsageError(f"expected a list of {name}, got {values!r:.40}: give one for each text.")


def column_names(table: Any) -> list[Any] | None:
    """The names of the columns of a table; None if it is none."""
    if isinstance(table, Mapping):
        return list(table)
    names = getattr(table, "column_names", None)  # pyarrow's columns are no names
    if names is None:
        names = getattr(table, "columns", None)
    return None if names is None or callable(names) else list(names)


def is_missing(value: Any) -> bool:
    """Whether a value stands for none: None, NaN, or what pandas has for these."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and value != value


def first_missing(values: Sequence[Any]) -> int | None:
    """The index of the first missing value; None if there is none."""
    return next((row for row, value in enumerate(values) if is_missing(value)), None)


def label_name(label: Any) -> Any:
    """The name of a class: of a text, truth value or whole number; lists as such."""
    if isinstance(label, np.ndarray):  # a list, in a column of pandas
        return label.tolist()
    named = isinstance(label, (str, bool, int, np.bool_, np.integer))
    return str(label) if named else label


def _from_stream(values: Any, name: str) -> Any:
    """What only the Arrow protocol gives, by pyarrow."""
    pyarrow = needed("pyarrow", f"{name}: reading a {type(values).__name__}", "arrow")
    try:
        return as_column(pyarrow.table(values), name)
    except (TypeError, ValueError):
        return as_column(pyarrow.chunked_array(values), name)


def _several(name: str, names: list[Any] | None, shape: tuple[int, ...]) -> UsageError:
    """The error for what has not one column."""
    if names is None:
        what, hint = f"of the shape {shape}", "such as array[:, 0]"
    else:
        what = f"a table with the columns {first_few(list(map(str, names)), 8)}"
        hint = "such as frame['text']; fields=[...] takes documents of several"
    return UsageError(f"{name} must be one column, not {what}: choose one, {hint}.")


# A text; or its tokens; or its sentences, each its tokens.
Document: TypeAlias = str | Iterable[str] | Iterable[Iterable[str]]

# Texts; or lists of tokens; or lists of sentences, which are lists of tokens.
Documents: TypeAlias = Sequence[str] | Sequence[Sequence[str]] | Sequence[Sequence[Sequence[str]]]

# The tokens of every sentence of every document.
TokenLists: TypeAlias = list[list[list[str]]]

WANTED = "a list of tokens, or a list of sentences that are lists of tokens"


class NotTokensError(ValueError):
    """Something is neither tokens nor sentences of tokens; its text says what it is."""


def cut(found: Any) -> list[list[Any]]:
    """The sentences of tokens in what stands for one document.

    Parameters
    ----------
    found : iterable
        Of tokens, or of sentences that are iterables of tokens. A token is a str, or an object
        whose attribute ``text`` is one. An object with ``sents``, as spaCy has, gives those where
        it knows them.

    Returns
    -------
    list of list
        The tokens, as they are, of every sentence. Tokens of white space alone are left out, and so
        are sentences without tokens.

    Raises
    ------
    NotTokensError
        For anything else: tokens beside sentences, numbers, or a set, which has no order.
    """
    if not _is_listed(found):
        raise NotTokensError(_described(found))
    knows = getattr(found, "has_annotation", None)  # of spaCy; without sentences, sents raises
    sents = getattr(found, "sents", None) if knows is None or knows("SENT_START") else None
    items = list(found if sents is None else sents)
    nested = [not _is_token(item) for item in items]
    if any(nested) and not all(nested):
        odd = items[nested.index(True)]
        what = "a list" if _is_listed(odd) else _described(odd)
        raise NotTokensError(f"a list of tokens with {what} among them")
    sentences = items if any(nested) else [items]
    return [tokens for sentence in sentences if (tokens := _tokens(sentence))]


def names_of(sentences: Iterable[Iterable[Any]]) -> list[list[str]]:
    """The names of the tokens that :func:`cut` gives."""
    return [[_name(token) for token in sentence] for sentence in sentences]


def is_tokenized(documents: Iterable[Any]) -> bool:
    """Whether the first of some documents is no text but tokens, or sentences of them."""
    first = next(iter(documents), "") if hasattr(documents, "__len__") else ""
    return _is_listed(first)


def tokenized(
    documents: Iterable[Any], where: Callable[[int], str] = lambda row: f"document {row + 1}"
) -> TokenLists:
    """Documents that are tokens, in one form.

    Parameters
    ----------
    documents : iterable
        Each as for :func:`cut`.
    where : callable, optional
        Names a document by its index, for messages.

    Returns
    -------
    list of list of list of str
        The tokens of every sentence of every document.

    Raises
    ------
    DataError
        If a document is a text, or no tokens at all.
    """
    lists = []
    for row, document in enumerate(documents):
        try:
            lists.append(names_of(cut(document)))
        except NotTokensError as error:
            raise DataError(
                f"{where(row)} is {error}, where tokens are expected: each document must be "
                f"{WANTED}, in training and prediction alike."
            ) from None
    return lists


def check_documents(documents: Documents | Iterable[str]) -> Documents:
    """Check that documents are texts, as :func:`check_texts` does, or bring tokens in one form.

    Parameters
    ----------
    documents : iterable
        Of str; or of tokens or sentences of tokens, as for :func:`tokenized`. Also a column of any
        data frame, or a data frame of one.

    Returns
    -------
    sequence of str, or list of list of list of str
        The texts, or the tokens of every sentence of every document.

    Raises
    ------
    UsageError
        If it is a single text.
    DataError
        If an item is neither, or of another form than the first.
    """
    documents = as_column(documents, "texts")
    return tokenized(documents) if is_tokenized(documents) else check_texts(documents)


def check_texts(texts: Documents | Iterable[str]) -> Sequence[str]:
    """Check that ``texts`` is a sequence of str.

    Parameters
    ----------
    texts : iterable of str
        Also a column of any data frame, or a data frame of one.

    Returns
    -------
    sequence of str
        ``texts`` itself if it is a list or tuple, or texts in a file, else a list of its items.

    Raises
    ------
    UsageError
        If it is a single text.
    DataError
        If an item is not a str.
    """
    if isinstance(texts, TextsElsewhere):
        return texts
    checked: Sequence[Any] = as_column(texts, "texts")
    for number, text in enumerate(checked, 1):
        if not isinstance(text, str):
            hint = "Leave such documents out, or replace them by an empty text."
            if is_missing(text):
                raise DataError(f"document {number} is missing ({text!r}). {hint}")
            if isinstance(text, (list, tuple)):
                hint = "Lists of tokens are for models that are trained on such lists alone."
            raise DataError(
                f"document {number} is not a text but {text!r:.40} ({type(text).__name__}). {hint}"
            )
    return checked


def _is_listed(value: Any) -> bool:
    """Whether something can be iterated over, in an order of its own, and is no text."""
    if isinstance(value, (str, bytes, Mapping, AbstractSet)) or getattr(value, "ndim", 1) == 0:
        return False
    return isinstance(value, Iterable)


def _is_token(item: Any) -> bool:
    if isinstance(item, str):
        return True
    # A sentence of spaCy has a text, too.
    return isinstance(getattr(item, "text", None), str) and not isinstance(item, Iterable)


def _name(token: Any) -> str:
    return str(token if isinstance(token, str) else token.text)


def _tokens(sentence: Any) -> list[Any]:
    """The tokens of a sentence that are not only white space."""
    if not _is_listed(sentence):
        raise NotTokensError(f"a list with {_described(sentence)} in it")
    tokens = list(sentence)
    for token in tokens:
        if not _is_token(token):
            what = "a list" if _is_listed(token) else _described(token)
            raise NotTokensError(f"a list of sentences with {what} in place of a token")
    return [token for token in tokens if _name(token).strip()]


def _described(value: Any) -> str:
    """What came instead of tokens, for a message."""
    if value is None:
        return "None"
    if isinstance(value, str):
        return f"the text {single_line(repr(value)):.40}"
    if isinstance(value, (Mapping, AbstractSet)):
        return f"a {type(value).__name__} (without an order of tokens)"
    return f"{single_line(repr(value)):.40} ({type(value).__name__})"


# What a field can hold.
KINDS = ("text", "number", "category")

# What stands for a number or a category that a document does not have.
MISSING = "missing"


@dataclass(frozen=True)
class Field:
    """One field of the documents: a column of a table.

    Parameters
    ----------
    name : str
        The name of its column.
    kind : {"text", "number", "category"}, default "text"
        A text becomes the features of its tokenizer; a number is one feature, standardized; a
        category has a feature for each of its values.
    options : dict of str to Any
        Settings of a text's features, where they differ from those of the training: ``tokenizer``,
        its parameters (``tokenizer_min_n``), ``ngrams``, ``min_df``, ``weighting`` and so on.

    Raises
    ------
    UsageError
        If the name is empty, there is no such kind, or a number or category has options.
    """

    name: str
    kind: str = "text"
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise UsageError(f"the name of a field must be a text, not {self.name!r:.40}.")
        if self.kind not in KINDS:
            raise UsageError(
                f"field '{self.name}' must be a text, a number or a category, not '{self.kind}'."
                f"{did_you_mean(str(self.kind), KINDS)}"
            )
        if self.kind != "text" and self.options:
            raise UsageError(
                f"field '{self.name}' is a {self.kind} and has no option "
                f"'{next(iter(self.options))}': only texts have settings of their own."
            )


def as_fields(given: Any) -> tuple[Field, ...]:
    """Fields in the order of the columns: texts, categories, numbers.

    Parameters
    ----------
    given : sequence of str or Field, or mapping
        Names of texts; or for every name its kind, or a mapping of a text's own settings, which
        may hold the ``kind`` as well.

    Raises
    ------
    UsageError
        If there is no field, none is a text, or two have one name.
    """
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise UsageError(
            "fields must be a list of the names of text columns, or what each column is, such as "
            f"{{'subject': 'text', 'price': 'number'}}, not {given!r:.60}."
        )
    items = given.items() if isinstance(given, Mapping) else ((name, "text") for name in given)
    fields = [_field(name, what) for name, what in items]
    names = [field.name for field in fields]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(f"two fields are called '{twice}': name each column once.")
    if not any(field.kind == "text" for field in fields):
        raise UsageError("none of the fields is a text: name a column of texts too.")
    order = ("text", "category", "number")
    return tuple(sorted(fields, key=lambda field: order.index(field.kind)))


def _field(name: Any, what: Any) -> Field:
    if isinstance(name, Field):
        return name
    if isinstance(what, Field):
        return what
    if isinstance(what, Mapping):
        options = dict(what)
        return Field(name, options.pop("kind", "text"), options)
    return Field(name, what)


class FieldedText(str):
    """A document of several fields, as one text with a line ``name: value`` for each.

    A number or category that is not there is the text ``missing``.

    Attributes
    ----------
    spans : dict of str to tuple of int
        Where the value of each field begins and ends in the text.
    """

    spans: Mapping[str, tuple[int, int]]

    @classmethod
    def of(cls, values: Mapping[str, str]) -> FieldedText:
        """The document of these values."""
        at, lines, spans = 0, [], {}
        for name, value in values.items():
            at += len(name) + 2
            spans[name] = (at, at + len(value))
            at += len(value) + 1
            lines.append(f"{name}: {value}")
        text = cls("\n".join(lines))
        text.spans = spans
        return text

    def field(self, name: str) -> str:
        """The value of a field."""
        start, end = self.spans[name]
        return self[start:end]

    def __reduce__(self) -> Any:
        return FieldedText.of, ({name: self.field(name) for name in self.spans},)


class NotAValueError(ValueError):
    """Something cannot be the value of a field; its text says what is wanted."""


# Patterns of other spellings of a category, and what it is called: pandas has 5.0 for 5 beside a
# missing one, and tables have capitals where JSON has true and false.
SPELLINGS = {r"^(-?[0-9]+)\.0+$": r"\1", "^(True|TRUE)$": "true", "^(False|FALSE)$": "false"}


def value_of(field: Field, given: Any, decimal: str = "point") -> str:
    """The value of a field as text; NotAValueError if it is no such value.

    A text that is missing is empty; the category 5.0 is 5, and True is true. decimal: the mark of
    numbers that are written as texts.
    """
    absent = is_missing(given)
    if field.kind == "text":
        if absent:
            return ""
        if not isinstance(given, str):
            raise NotAValueError("not a text")
        return str(given)
    if absent or (isinstance(given, str) and not given.strip()):
        return MISSING
    if field.kind == "number":
        return repr(_number(given, decimal))
    if hasattr(given, "item") and not isinstance(given, str):
        given = given.item()
    if not isinstance(given, (str, int, float)):
        raise NotAValueError("neither a text nor a number, as categories are")
    text = " ".join(str(given).split())
    for spelling, name in SPELLINGS.items():
        text = re.sub(spelling, name, text)
    return text


def _number(given: Any, decimal: str) -> float:
    try:
        number = number_in(given, decimal) if isinstance(given, str) else float(given)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        how = " with a decimal comma" if decimal == "comma" else ""
        raise NotAValueError(f"not a number{how}")
    return number + 0.0  # one zero


# The marks of decimals, and what may stand between thousands where a number has them.
DECIMALS = {"point": (r"\.", r"[,'’\s]"), "comma": (",", r"[.'’\s]")}
_UNIT = "[€$£¥]|EUR|USD|GBP|CHF"


def number_in(text: str, decimal: str) -> float:
    """A number as people write it: ``1.234,50``, ``12 %`` (a share, 0.12) or ``€ 5``.

    decimal: a mark of ``DECIMALS``. Raises ValueError for anything else.
    """
    if decimal == "point":
        with suppress(ValueError):
            return float(text)
    mark, between = DECIMALS[decimal]
    grouped = rf"[1-9]\d{{0,2}}(?P<between>{between})\d{{3}}(?:(?P=between)\d{{3}})*"
    match = re.fullmatch(
        rf"\s*(?P<sign>[-+−])?\s*(?:{_UNIT})?\s*(?P<minus>(?(sign)|-?))(?P<whole>{grouped}|\d*)"
        rf"(?:{mark}(?P<part>\d+))?\s*(?P<unit>%|{_UNIT})?\s*",
        text,
    )
    if match is None or not (match["whole"] or match["part"]):
        raise ValueError(text)
    number = float(f"{re.sub(between, '', match['whole'])}.{match['part'] or 0}")
    number /= 100 if match["unit"] == "%" else 1
    return -number if match["sign"] in ("-", "−") or match["minus"] else number


def decimal_of(name: str, marks: Mapping[str, str]) -> str:
    """The decimal mark of a column: its own, or that of the empty name."""
    return marks.get(name, marks.get("", "point"))


def decimals_of(columns: Mapping[str, Sequence[Any]]) -> dict[str, str]:
    """The decimal marks of columns of numbers that hold more than plain ones, by their names.

    A column is judged as a whole: by the texts that are numbers with one of the two marks alone. A
    column without any has the mark of the others: of ``1,234`` alone nobody can tell.
    """
    votes: dict[str, int] = {}
    for name, values in columns.items():
        texts = {value for value in values if isinstance(value, str) and value.strip()}
        fits = [{text for text in texts if _is_number(text, mark)} for mark in ("comma", "point")]
        if any(not _is_number(text, None) for text in fits[0] | fits[1]):
            votes[name] = len(fits[0] - fits[1]) - len(fits[1] - fits[0])
    together = sum(votes.values())
    return {name: "comma" if (vote or together) > 0 else "point" for name, vote in votes.items()}


def _is_number(text: str, decimal: str | None) -> bool:
    """Whether a text is a number with this mark; without one, whether it is a plain one."""
    try:
        float(text) if decimal is None else number_in(text, decimal)
    except ValueError:
        return False
    return True


def fielded(
    documents: Any,
    fields: Sequence[Field],
    where: str = "document {}",
    decimals: Mapping[str, str] | None = None,
) -> list[FieldedText]:
    """Documents of several fields as texts.

    Parameters
    ----------
    documents : iterable of mappings, or mapping of columns
        A mapping of field names to values for each document; or a table of columns, as a data frame
        or a dict of lists. Further keys and columns are ignored. Such texts already are kept.
    fields : sequence of Field
        What is read of them.
    where : str
        Names a document by its number, from 1, for messages.
    decimals : mapping of str to str, optional
        The decimal marks of numbers that are written as texts, by the names of their fields; that
        of the empty name is of all others.

    Raises
    ------
    DataError
        If a field is not there, or its value is not one of its kind.
    """
    names = ", ".join(col.name for col in fields)
    if column_names(documents) is not None:
        documents = _rows(documents, fields)
    if isinstance(documents, (str, bytes)) or not isinstance(documents, Iterable):
        raise UsageError(f"expected a table with the fields {names}, not {documents!r:.40}.")
    texts = []
    for number, document in enumerate(documents, 1):
        if isinstance(document, FieldedText):
            if missing := [col.name for col in fields if col.name not in document.spans]:
                raise DataError(f"{where.format(number)} has no field '{missing[0]}'.")
            texts.append(document)
            continue
        if not isinstance(document, Mapping):
            raise DataError(
                f"{where.format(number)} is {document!r:.40}, where its fields are expected: give "
                f"a dict for each document, or a data frame, with {names}."
            )
        values = {}
        for col in fields:
            if col.name not in document:
                hint = did_you_mean(col.name, [str(key) for key in document])
                raise DataError(f"{where.format(number)} has no field '{col.name}'.{hint}")
            try:
                mark = decimal_of(col.name, decimals or {})
                values[col.name] = value_of(col, document[col.name], mark)
            except NotAValueError as error:
                raise DataError(
                    f"{where.format(number)}: '{col.name}' is {document[col.name]!r:.40}, {error}."
                ) from None
        texts.append(FieldedText.of(values))
    return texts


def _rows(table: Any, fields: Sequence[Field]) -> Iterable[Mapping[str, Any]]:
    """The rows of a table of columns."""
    names = [str(name) for name in column_names(table) or ()]
    columns = []
    for col in fields:
        if col.name not in names:
            hint = did_you_mean(col.name, names)
            raise DataError(f"there is no column '{col.name}'.{hint} There are: {', '.join(names)}")
        columns.append(list(as_column(table[col.name], col.name)))
    if len({len(column) for column in columns}) > 1:
        raise DataError(
            "the columns of the fields differ in length: give a value for each document."
        )
    keys = [col.name for col in fields]
    return [dict(zip(keys, row, strict=True)) for row in zip(*columns, strict=True)]
