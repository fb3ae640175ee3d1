"""Documents of several fields: what each field is, and a document as the text of all of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from textreg.errors import DataError, UsageError, did_you_mean
from textreg.records.columns import as_column, column_names, is_missing

KINDS = ("text", "number", "category")
"""What a field can hold."""

MISSING = "missing"
"""What stands for a number or a category that a document does not have."""


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
    items = given.items() if isinstance(given, Mapping) else ((one, "text") for one in given)
    fields = [_field(name, what) for name, what in items]
    names = [one.name for one in fields]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(f"two fields are called '{twice}': name each column once.")
    if not any(one.kind == "text" for one in fields):
        raise UsageError("none of the fields is a text: name a column of texts too.")
    order = ("text", "category", "number")
    return tuple(sorted(fields, key=lambda one: order.index(one.kind)))


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
        return cls._made("\n".join(lines), spans)

    @classmethod
    def _made(cls, text: str, spans: Mapping[str, tuple[int, int]]) -> FieldedText:
        made = cls(text)
        made.spans = spans
        return made

    def field(self, name: str) -> str:
        """The value of a field."""
        start, end = self.spans[name]
        return self[start:end]

    def __reduce__(self) -> Any:
        return self._made, (str(self), dict(self.spans))


class NotAValueError(ValueError):
    """Something cannot be the value of a field; its text says what is wanted."""


def value_of(one: Field, given: Any) -> str:
    """The value of a field as text; NotAValueError if it is no such value.

    A text that is missing is empty.
    """
    absent = is_missing(given)
    if one.kind == "text":
        if absent:
            return ""
        if not isinstance(given, str):
            raise NotAValueError("not a text")
        return str(given)
    if absent or (isinstance(given, str) and not given.strip()):
        return MISSING
    if one.kind == "number":
        return repr(_number(given))
    if hasattr(given, "item") and not isinstance(given, str):
        given = given.item()
    if isinstance(given, bool):
        return str(given).lower()
    if not isinstance(given, (str, int, float)):
        raise NotAValueError("neither a text nor a number, as categories are")
    return " ".join(str(given).split())


def _number(given: Any) -> float:
    try:
        number = float(given)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise NotAValueError("not a number")
    return number + 0.0  # one zero


def fielded(
    documents: Any, fields: Sequence[Field], where: str = "document {}"
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

    Raises
    ------
    DataError
        If a field is not there, or its value is not one of its kind.
    """
    names = ", ".join(one.name for one in fields)
    if column_names(documents) is not None:
        documents = _rows(documents, fields)
    if isinstance(documents, (str, bytes)) or not isinstance(documents, Iterable):
        raise UsageError(f"expected a table with the fields {names}, not {documents!r:.40}.")
    texts = []
    for number, document in enumerate(documents, 1):
        if isinstance(document, FieldedText):
            if missing := [one.name for one in fields if one.name not in document.spans]:
                raise DataError(f"{where.format(number)} has no field '{missing[0]}'.")
            texts.append(document)
            continue
        if not isinstance(document, Mapping):
            raise DataError(
                f"{where.format(number)} is {document!r:.40}, where its fields are expected: give "
                f"a dict for each document, or a data frame, with {names}."
            )
        values = {}
        for one in fields:
            if one.name not in document:
                hint = did_you_mean(one.name, [str(key) for key in document])
                raise DataError(f"{where.format(number)} has no field '{one.name}'.{hint}")
            try:
                values[one.name] = value_of(one, document[one.name])
            except NotAValueError as error:
                raise DataError(
                    f"{where.format(number)}: '{one.name}' is {document[one.name]!r:.40}, {error}."
                ) from None
        texts.append(FieldedText.of(values))
    return texts


def _rows(table: Any, fields: Sequence[Field]) -> Iterable[Mapping[str, Any]]:
    """The rows of a table of columns."""
    names = [str(name) for name in column_names(table) or ()]
    columns = []
    for one in fields:
        if one.name not in names:
            hint = did_you_mean(one.name, names)
            raise DataError(f"there is no column '{one.name}'.{hint} There are: {', '.join(names)}")
        columns.append(list(as_column(table[one.name], one.name)))
    if len({len(column) for column in columns}) > 1:
        raise DataError(
            "the columns of the fields differ in length: give a value for each document."
        )
    keys = [one.name for one in fields]
    return [dict(zip(keys, row, strict=True)) for row in zip(*columns, strict=True)]
