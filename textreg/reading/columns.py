"""Which columns are what, and what their cells mean."""

from __future__ import annotations

import json
import math
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timezone
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from textreg import errors
from textreg.reading.source import UnusableRow
from textreg.records.documents import (
    DECIMALS,
    MISSING,
    Field,
    FieldedText,
    NotAValueError,
    decimal_of,
    decimals_of,
    is_missing,
    number_in,
    value_of,
)
from textreg.records.text import as_json, spans_of

if TYPE_CHECKING:
    from textreg.records import Floats

T = TypeVar("T")

_DATE = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?)(?:[.,](\d+))?)?\s*(Z|[+-]\d\d:?\d\d)?"
)


def moment(value: Any) -> tuple[float, bool]:
    """A time as a number, and whether it was a date, as seconds since 1970.

    Dates are ``2024-03-01``, optionally with ``T14:30``, seconds and an offset, which is UTC by
    default. Raises ValueError for anything else.
    """
    if hasattr(value, "isoformat"):  # datetime.date and its children
        value = value.isoformat()
    if isinstance(value, (bool, np.bool_)):
        raise ValueError("true or false is no time")
    if isinstance(value, (str, np.datetime64)):
        text = str(value).strip()
        if match := _DATE.fullmatch(text):
            return _seconds(*match.groups()), True
        value = text
    number = float(value)
    if not math.isfinite(number):
        raise ValueError("not finite")
    return number, False


def moments(values: Sequence[Any], where: Callable[[int], str]) -> Floats:
    """All times as numbers (n,).

    ``where`` returns the place of a document, for messages. Raises DataError for a value that is
    not a time, and for dates mixed with numbers.
    """
    numbers = np.empty(len(values))
    dated = None
    for row, value in enumerate(values):
        try:
            numbers[row], date = moment(value)
        except (TypeError, ValueError, OverflowError):
            raise errors.DataError(f"{where(row)}: {not_a_time(value)}") from None
        if dated is None:
            dated = date
        elif dated != date:
            kinds = ("a date", "a number") if date else ("a number", "a date")
            raise errors.DataError(
                f"{where(row)}: the time {value} is {kinds[0]}, but that of {where(0)} is "
                f"{kinds[1]}. Use either dates or numbers for all."
            )
    return numbers


def not_a_time(value: Any) -> str:
    """What is wrong with a value that is not a time."""
    if is_missing(value) or value == "":
        return "the time is missing. Every document needs one."
    return f"the time {value!r:.40} is neither a number nor an ISO date such as 2024-03-01T14:30."


def _seconds(day: str, clock: str | None, fraction: str | None, offset: str | None) -> float:
    """Seconds since 1970 of the parts of a date."""
    text = f"{day}T{clock or '00:00'}"
    if offset and offset != "Z":
        text += f"{offset[:3]}:{offset[-2:]}"
    when = datetime.fromisoformat(text)
    if when.tzinfo is None:
        when = when.replace(tzinfo=timezone.utc)
    return when.timestamp() + float(f"0.{fraction or 0}")


def as_label(name: str, value: Any) -> str:
    """One label: a text that is not empty, a number, true or false."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)) and math.isfinite(value):
        return str(value)
    if not isinstance(value, str):
        raise not_text(name, value)
    label = value.strip()
    if not label:
        raise UnusableRow(f"label is empty, in column '{name}'.")
    return label


def as_labels(name: str, values: list[Any]) -> tuple[str, ...]:
    """The labels in a list, each once."""
    labels = [value.strip() if isinstance(value, str) else "" for value in values]
    if not all(labels):
        wrong = values[labels.index("")]
        raise UnusableRow(
            f"the list of labels in '{name}' holds {as_json(wrong)}, and labels there are texts "
            'such as "good".',
            reason=f"'{name}' holds something that is no label",
        )
    return tuple(dict.fromkeys(labels))


def check_decimals(marks: Mapping[str, str]) -> None:
    """Raise UsageError unless these are decimal marks by the names of columns."""
    if wrong := next((mark for mark in marks.values() if mark not in DECIMALS), None):
        raise errors.UsageError(f"decimal: '{wrong}' is neither comma nor point.")


def _otherwise(name: str, value: Any, decimal: str) -> str:
    """Which option reads a number that has the other decimal mark; empty for anything else."""
    for mark in (decimal, *DECIMALS):
        with suppress(TypeError, ValueError):
            number_in(value, mark)
            return "" if mark == decimal else f"; --decimal {name}={mark} reads it"
    return ""


def as_weight(name: str, value: Any, decimal: str = "point") -> float:
    """A weight: a number of 0 or more."""
    try:
        weight = number_in(value, decimal) if isinstance(value, str) else float(value)
    except (TypeError, ValueError, OverflowError):
        weight = math.nan
    if isinstance(value, bool) or not (0 <= weight < math.inf):
        raise UnusableRow(
            f"weight {as_json(value)} in '{name}' is not a number of 0 or more"
            f"{_otherwise(name, value, decimal)}.",
            reason=f"'{name}' is not a weight",
        )
    return weight


def as_group(name: str, value: Any) -> str:
    """The name of a group: a text or a number."""
    try:
        return as_label(name, value)
    except UnusableRow:
        raise UnusableRow(
            f"group {as_json(value)} in '{name}' is not a text or a number.",
            reason=f"'{name}' is not a text or a number",
        ) from None


def as_time(value: Any) -> Any:
    """A number or a date, as it is."""
    try:
        moment(value)
    except (TypeError, ValueError, OverflowError):
        raise UnusableRow(not_a_time(value), reason="the time is missing or not one") from None
    return value


def not_text(name: str, value: Any) -> UnusableRow:
    """What is wrong with a cell that should be a text."""
    if value is None:
        return UnusableRow(f"'{name}' is missing.")
    return UnusableRow(
        f"'{name}' is {as_json(value)}, not a text.", reason=f"'{name}' is not a text"
    )


def as_evidence(name: str, value: Any, text: str) -> list[tuple[int, int]]:
    """The marked passages of a text, which may be a list in JSON."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        with suppress(ValueError, RecursionError):
            value = json.loads(value)
    try:
        return spans_of(value, text, f" in '{name}'")
    except errors.DataError as error:
        reason = f"'{name}' has no passages of the text"
        raise UnusableRow(str(error), reason=reason) from None


# In order of preference: of a title and a body, the body is the text.
USUAL_NAMES = {
    "text": (
        *("text", "review", "reviewtext", "body", "content", "sentence", "message", "document"),
        *("comment", "commenttext", "tweet", "post", "utterance", "question", "article"),
        *("abstract", "description", "texte", "texto", "testo", "nachricht", "beschreibung"),
    ),
    "label": (
        *("label", "class", "category", "sentiment", "target", "y", "polarity", "topic", "tag"),
        *("intent", "labels", "classes", "categories", "topics", "tags", "intents"),
        *("kategorie", "klasse", "catégorie", "categoría", "categoria", "étiquette", "etiqueta"),
    ),
    "weight": (),  # never guessed: a column of that name may be about parcels
    "group": (),
    "time": (),
    "evidence": (),
}


# The rows in which a header is looked for, below a title.
MOST_TITLES = 10


class Likely(str):
    """The name of a column that is taken if there is one; if there is none, it is guessed.

    Such is the column of another file, of which these documents are to be a continuation.
    """


class ColumnNames(NamedTuple):
    """The names of columns that were asked for, or are likely; None for one that was not."""

    text: str | None = None
    label: str | None = None
    weight: str | None = None
    group: str | None = None
    time: str | None = None
    evidence: str | None = None


class Row(NamedTuple):
    """One document of a file.

    Attributes
    ----------
    text : str
        Its text, unchanged.
    label : str, tuple of str, or None
        All labels where a document may have several; None for a document without a label.
    weight : float
        Its weight, 0 or more.
    line : int
        The number of the line or record where it begins, from 1; 0 for a file of its own.
    group : str
        Its group; empty where no column of groups was asked for.
    time : object
        Its time: a number or a date; None where no column of times was asked for.
    evidence : list of pairs
        Where its marked passages begin and end; empty where there are none.
    record : mapping
        All its fields by the names of their columns, where the table keeps them.
    """

    text: str
    label: str | tuple[str, ...] | None
    weight: float
    line: int
    group: str = ""
    time: Any = None
    evidence: Sequence[tuple[int, int]] = ()
    record: Mapping[str, Any] = {}


class NoColumnsError(errors.UsageError):
    """A column was asked for of a file that has none."""


class TableColumns:
    """Which columns of a table hold the text, the label and so on.

    Columns that were not asked for by name are chosen by well-known names.

    Parameters
    ----------
    wanted : ColumnNames, optional
        The names asked for.
    labeled : bool, default True
        Whether every document needs a label.
    label_sep : str, optional
        What separates the labels of a document in a text; then it may have any number of them.
    multilabel : bool, default False
        Whether every document has a list of labels.
    keep : bool, default False
        Whether rows keep all their fields.
    fields : sequence of Field, default ()
        The columns that a document consists of, where these are several, in place of one text.
    decimal : str or mapping of str to str, optional
        The decimal mark of numbers, "comma" or "point", or those of columns; that of the empty name
        is of all others. By default those of the fields are recognized by :meth:`settled`.
    sheet : str, optional
        The sheet of a workbook; the first by default.

    Attributes
    ----------
    names : list of str
        All columns, once :meth:`find` has chosen. Of several of one name, the others have numbers:
        ``score``, ``score.1``.
    types : dict of str to object
        The types of columns, where all values have one: ``str``, or a type of Arrow.
    chosen : dict of str to str
        Name by role, once :meth:`find` has chosen.
    guessed : list of str
        The roles whose columns were chosen by a well-known name.
    others : list of str
        Further columns with well-known names of a label.
    header : int
        The row of the header, from 1, where titles stand above it; else 0.
    """

    def __init__(  # noqa: PLR0913  # its options are those of a reader
        self,
        wanted: ColumnNames | None = None,
        *,
        labeled: bool = True,
        label_sep: str | None = None,
        multilabel: bool = False,
        keep: bool = False,
        fields: Sequence[Field] = (),
        decimal: str | Mapping[str, str] | None = None,
        sheet: str | None = None,
    ) -> None:
        self.keeps = keep
        self.sheet = sheet
        self.decimals = {"": decimal} if isinstance(decimal, str) else dict(decimal or {})
        check_decimals(self.decimals)
        unmarked = {it.name for it in fields if it.kind == "number"} - self.decimals.keys()
        self._settles = "" not in self.decimals and bool(unmarked)
        self.names: list[str] = []
        self.types: dict[str, Any] = {}
        names: dict[str, str | None] = (wanted or ColumnNames())._asdict()
        self._likely = {role: name for role, name in names.items() if isinstance(name, Likely)}
        self.wanted = {**names, **dict.fromkeys(self._likely)}
        self.fields = fields
        self._columns: list[tuple[Field, str]] = []  # of the fields
        self._absent = dict.fromkeys((field.name for field in fields), 0)
        self.labeled = labeled
        self.label_sep = label_sep
        self.multilabel = multilabel or label_sep is not None
        self.chosen: dict[str, str] = {}
        self.guessed: list[str] = []
        self.others: list[str] = []
        self.header = 0

    @property
    def numbered(self) -> bool:
        """Whether columns were named by numbers, as for a table without a header."""
        names = [name for name in self.wanted.values() if name is not None]
        names += [field.name for field in self.fields]
        return bool(names) and all(name.isdecimal() for name in names)

    def titles(self, rows: Iterable[T], cells: Callable[[T, T], Sequence[str]]) -> int:
        """The number of rows above the header: such as have one cell at most, a title or a mark.

        ``cells(row, header)`` are those of a row, separated as those of the header are. Without a
        header that fits it is taken to be the first row of several cells.
        """
        above, several = list[T](), list[int]()
        for row in () if self.numbered else islice(rows, MOST_TITLES):  # rows may be long in coming
            names = cells(row, row)
            titled = all(sum(map(bool, cells(it, row))) < 2 for it in above)
            if titled and self.fit(names):
                return len(above)
            if sum(map(bool, names)) > 1:
                several.append(len(above))
            above.append(row)
        return several[0] if several else 0

    def fit(self, names: Sequence[str]) -> bool:
        """Whether ``names`` may be a header: it has all columns that are needed or asked for."""
        roles = all(self._choose(role, names) for role in USUAL_NAMES if self._needs(role))
        return roles and all(_named(field.name, names) for field in self.fields)

    def find(self, names: Sequence[str], where: str) -> None:
        """Choose the columns among ``names``.

        Raises UsageError if a name asked for is missing, and DataError if the text or a needed
        label cannot be guessed.
        """
        self._columns = [(field, _column(field, names, where)) for field in self.fields]
        taken_by = {name: f"field '{field.name}'" for field, name in self._columns}
        chosen: dict[str, str] = {}
        for role in USUAL_NAMES:
            name = self._choose(role, names)
            if name is None:
                if self._needs(role):
                    raise self._missing(role, names, where)
                continue
            _refuse_repeated(name, names, where)
            if name in taken_by:
                raise errors.UsageError(
                    f"{where}: column '{name}' cannot be both the {role} and a {taken_by[name]} of "
                    f"the documents. Name another with --{role}-col."
                )
            for other, taken in chosen.items():
                if taken == name:
                    raise errors.UsageError(
                        f"{where}: column '{name}' cannot be both the {other} and the {role}. "
                        f"Say which is which with --{other}-col and --{role}-col."
                    )
            chosen[role] = name
        self.chosen = chosen
        self.names = distinct(names)
        if self.keeps and (repeated := [name for name in self.names if name not in names]):
            warnings.warn(
                f"{where}: several columns have the same name; the further ones are called "
                f"{errors.first_few(repeated, 5)}.",
                errors.DataWarning,
                stacklevel=2,
            )
        known = {role: _named(name, names) for role, name in self._likely.items()}
        self.guessed = [
            role for role in chosen if self.wanted[role] is None and chosen[role] != known.get(role)
        ]
        usual = self._usual("label", names)
        self.others = [name for name in usual if name not in chosen.values()]

    @property
    def used(self) -> list[str]:
        """The names of the columns that rows are made of; of all, where rows keep all fields."""
        if self.keeps:
            return self.names
        return list(dict.fromkeys([*self.chosen.values(), *(name for _, name in self._columns)]))

    def described(self) -> dict[str, str]:
        """The name of every column chosen, with ``(guessed)`` after one that was guessed."""
        described = dict(self.chosen)
        for role in self.guessed:
            more = f", as there is no '{self._likely[role]}'" if role in self._likely else ""
            if role == "label" and self.others:
                more += f"; --label-col takes another, such as {self.others[0]}"
            described[role] += f" (guessed{more})"
        titles = []
        for field, name in self._columns:
            missing = self._absent[field.name]
            kind = field.kind
            if kind == "number" and (mark := self.decimals.get(name, self.decimals.get(""))):
                kind += f", decimal {mark}"
            kind += f", {missing:,} missing" if missing else ""
            titles.append(name if field.kind == "text" else f"{name} ({kind})")
        return described | ({"fields": " + ".join(titles)} if titles else {})

    def refuse(self, name: str, format: str) -> None:
        """Raise NoColumnsError if a column was asked for; the file ``name`` has none."""
        for role, wanted in self.wanted.items():
            if wanted is not None:
                raise NoColumnsError(
                    f"{name}: {format} has no columns; leave out --{role}-col {wanted}."
                )
        if self.fields:
            raise errors.UsageError(
                f"{name}: {format} has no columns, and the documents have the fields "
                f"{', '.join(field.name for field in self.fields)}: give a table."
            )

    def row(self, line: int, record: Mapping[str, Any]) -> Row | UnusableRow:
        """The document of a record, or what is wrong with it.

        Parameters
        ----------
        line : int
            The line or record where it begins, from 1.
        record : mapping
            Its fields by the names of their columns.

        Returns
        -------
        Row or UnusableRow
            Labels may be any text, number, true or false, and are converted to texts. Those of a
            list are texts, and one that stands there twice counts once. Unlabeled data may lack
            labels; other fields that cannot be used make the row unusable.
        """
        try:
            return self._row(line, record)
        except UnusableRow as problem:
            return problem.at(line, record)

    def _row(self, line: int, record: Mapping[str, Any]) -> Row:
        chosen, get = self.chosen, record.get
        text = self._text(record)
        label: str | tuple[str, ...] | None = None
        if "label" in chosen:
            try:
                label = self._labels(chosen["label"], get(chosen["label"]))
            except UnusableRow:
                if self.labeled:
                    raise
        weight = 1.0
        if "weight" in chosen:
            name = chosen["weight"]
            weight = as_weight(name, get(name), decimal_of(name, self.decimals))
        group = as_group(chosen["group"], get(chosen["group"])) if "group" in chosen else ""
        time = as_time(get(chosen["time"])) if "time" in chosen else None
        evidence: Sequence[tuple[int, int]] = ()
        if "evidence" in chosen:
            evidence = as_evidence(chosen["evidence"], get(chosen["evidence"]), text)
        fields = record if self.keeps or self._settles else {}
        return Row(text, label, weight, line, group, time, evidence, fields)

    def settled(self, rows: Iterable[Row | UnusableRow]) -> Iterator[Row | UnusableRow]:
        """Rows with their numbers, where the decimal marks of the columns are to be recognized.

        These are told by all rows together, which are then in memory.
        """
        if not self._settles:
            yield from rows
            return
        all_rows = list(rows)
        numbers = [(field, name) for field, name in self._columns if field.kind == "number"]
        columns = {name: [row.record.get(name) for row in all_rows] for _, name in numbers}
        self.decimals = decimals_of(columns) | self.decimals
        for row in all_rows:
            settled = row
            if isinstance(row, Row):
                assert isinstance(row.text, FieldedText)
                values = {name: row.text.field(name) for name in row.text.spans}
                record = row.record if self.keeps else {}
                try:
                    values |= {it.name: self._value(it, name, row.record) for it, name in numbers}
                    settled = row._replace(text=FieldedText.of(values), record=record)
                except UnusableRow as problem:
                    settled = problem.at(row.line, row.record)
            yield settled

    def _text(self, record: Mapping[str, Any]) -> str:
        """The text of a record, or the values of its fields."""
        if not self.fields:
            text = record.get(self.chosen["text"])
            if not isinstance(text, str):
                raise not_text(self.chosen["text"], text)
            return text
        values = {}
        for field, name in self._columns:
            later = self._settles and field.kind == "number"
            values[field.name] = MISSING if later else self._value(field, name, record)
        return FieldedText.of(values)

    def _value(self, field: Field, name: str, record: Mapping[str, Any]) -> str:
        """The value of a field in a record, by the name of its column."""
        try:
            value = value_of(field, record.get(name), mark := decimal_of(name, self.decimals))
        except NotAValueError as error:
            more = _otherwise(name, record.get(name), mark) if field.kind == "number" else ""
            raise UnusableRow(
                f"'{name}' is {as_json(record.get(name))}, {error}{more}.",
                reason=f"'{name}' is {error}",
            ) from None
        if field.kind != "text" and value == MISSING:
            self._absent[field.name] += 1
        return value

    def _labels(self, name: str, value: Any) -> str | tuple[str, ...]:
        """The label of a document, or its labels where it may have several."""
        if isinstance(value, list):
            return as_labels(name, value)
        if self.label_sep is not None and isinstance(value, str):
            parts = (part.strip() for part in value.split(self.label_sep))
            return tuple(dict.fromkeys(filter(None, parts)))
        if self.multilabel and value is not None:
            raise UnusableRow(
                f"label {as_json(value)} in '{name}' is one label, not a list of labels.",
                "Name what separates the labels with --label-sep, such as --label-sep ';', or "
                "write a list",
                f"'{name}' is not a list of labels",
            )
        if isinstance(value, str) and name in self.decimals:
            with suppress(ValueError):  # the regression tells which labels are no numbers
                value = number_in(value, self.decimals[name])
        return as_label(name, value)

    def _needs(self, role: str) -> bool:
        if role == "text":
            return not self.fields
        return (role == "label" and self.labeled) or self.wanted[role] is not None

    def _choose(self, role: str, names: Sequence[str]) -> str | None:
        wanted = self.wanted[role]
        if wanted is not None:
            return _named(wanted, names)
        if role == "text" and self.fields:
            return None
        likely = _named(self._likely[role], names) if role in self._likely else None
        fields = {None, *(_named(field.name, names) for field in self.fields)}
        return next((it for it in (likely, *self._usual(role, names)) if it not in fields), None)

    @staticmethod
    def _usual(role: str, names: Sequence[str]) -> list[str]:
        """The names that are usual ones of a role, the best first."""
        # Names that are too long to be usual are spared: a file may have millions of columns.
        plain = {_plain(name): name for name in reversed(names) if 0 < len(name) < 100}
        return [plain[name] for name in USUAL_NAMES[role] if name in plain]

    def _missing(self, role: str, names: Sequence[str], where: str) -> errors.TextregError:
        if (wanted := self.wanted[role]) is not None:
            return _no_column(wanted, names, where, role)
        usual = ", ".join(USUAL_NAMES[role][:4])
        return errors.DataError(
            f"{where}: no column has a usual name of a {role} ({usual} ...). There are: "
            f"{_listed(names)}. Say which one it is with --{role}-col."
        )


def distinct(names: Sequence[str]) -> list[str]:
    """Names of columns, with ``.1``, ``.2`` and so on after those that were there before."""
    taken, seen = set(names), set[str]()
    unique_names = []
    for name in names:
        unique, number = name, 0
        while unique in seen or (number and unique in taken):
            number += 1
            unique = f"{name}.{number}"
        seen.add(unique)
        unique_names.append(unique)
    return unique_names


def _named(wanted: str, names: Sequence[str]) -> str | None:
    """The column of a name, whose letters may be of another case."""
    if wanted in names:
        return wanted
    alike = [name for name in names if name.strip().lower() == wanted.strip().lower()]
    return alike[0] if len(alike) == 1 else None


def _column(field: Field, names: Sequence[str], where: str) -> str:
    """The column of a field; UsageError if there is none, DataError if there are two."""
    name = _named(field.name, names)
    if name is None:
        raise _no_column(field.name, names, where, "text")
    _refuse_repeated(name, names, where)
    return name


def _refuse_repeated(name: str, names: Sequence[str], where: str) -> None:
    if names.count(name) > 1:
        raise errors.DataError(f"{where}: two columns are called '{name}'. Rename one of them.")


def _no_column(wanted: str, names: Sequence[str], where: str, role: str) -> errors.UsageError:
    """The error for a column that was asked for and is not there."""
    hint = errors.did_you_mean(wanted, names)
    if "," in wanted and all(_named(part, names) for part in wanted.split(",")):
        hint = " To take several columns, repeat the option, once for each."
        if role != "text":  # and only texts and labels may be several
            hint = " A label is in one column: see docs/multilabel.md." if role == "label" else ""
    return errors.UsageError(f"{where}: no column '{wanted}'.{hint} There are: {_listed(names)}.")


def _listed(names: Sequence[str]) -> str:
    """The first names of columns, for a message."""
    return ", ".join(map(errors.shortened, names[:20]))


def _plain(name: str) -> str:
    """``Review Text``, ``review_text`` and ``reviewText`` are one name."""
    return (name if name.isalnum() else re.sub(r"[\W_]+", "", name)).lower()
