"""Which columns of a table hold the text, the label and so on; from its records to documents."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from textreg.errors import DataError, TextregError, UsageError, did_you_mean, shortened
from textreg.reading.faults import UnusableRow
from textreg.reading.times import moment, not_a_time

# In order of preference: of a title and a body, the body is the text.
USUAL_NAMES = {
    "text": (
        *("text", "review", "reviewtext", "body", "content", "sentence", "message", "document"),
        *("comment", "tweet", "post", "utterance", "question", "article", "abstract"),
        "description",
    ),
    "label": (
        *("label", "class", "category", "sentiment", "target", "y", "polarity", "topic", "tag"),
        *("intent", "labels", "classes", "categories", "topics", "tags", "intents"),
    ),
    "weight": (),  # never guessed: a column of that name may be about parcels
    "group": (),
    "time": (),
}


class ColumnNames(NamedTuple):
    """The names of columns that were asked for; None for one that was not."""

    text: str | None = None
    label: str | None = None
    weight: str | None = None
    group: str | None = None
    time: str | None = None


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
    """

    text: str
    label: str | tuple[str, ...] | None
    weight: float
    line: int
    group: str = ""
    time: Any = None


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

    Attributes
    ----------
    chosen : dict of str to str
        Name by role, once :meth:`find` has chosen.
    guessed : list of str
        The roles whose columns were chosen by a well-known name.
    others : list of str
        Further columns with well-known names of a label.
    """

    def __init__(
        self,
        wanted: ColumnNames | None = None,
        *,
        labeled: bool = True,
        label_sep: str | None = None,
        multilabel: bool = False,
    ) -> None:
        self.wanted: dict[str, str | None] = (wanted or ColumnNames())._asdict()
        self.labeled = labeled
        self.label_sep = label_sep
        self.multilabel = multilabel or label_sep is not None
        self.chosen: dict[str, str] = {}
        self.guessed: list[str] = []
        self.others: list[str] = []

    @property
    def numbered(self) -> bool:
        """Whether columns were named by numbers, as for a table without a header."""
        names = [name for name in self.wanted.values() if name is not None]
        return bool(names) and all(name.isdecimal() for name in names)

    def fit(self, names: Sequence[str]) -> bool:
        """Whether ``names`` may be a header: it has all columns that are needed or asked for."""
        return all(self._choose(role, names) for role in USUAL_NAMES if self._needs(role))

    def find(self, names: Sequence[str], where: str) -> None:
        """Choose the columns among ``names``.

        Raises UsageError if a name asked for is missing, and DataError if the text or a needed
        label cannot be guessed.
        """
        chosen: dict[str, str] = {}
        for role in USUAL_NAMES:
            name = self._choose(role, names)
            if name is None:
                if self._needs(role):
                    raise self._missing(role, names, where)
                continue
            if names.count(name) > 1:
                raise DataError(f"{where}: two columns are called '{name}'. Rename one of them.")
            for other, taken in chosen.items():
                if taken == name:
                    raise UsageError(
                        f"{where}: column '{name}' cannot be both the {other} and the {role}. "
                        f"Say which is which with --{other}-col and --{role}-col."
                    )
            chosen[role] = name
        self.chosen = chosen
        self.guessed = [role for role in chosen if self.wanted[role] is None]
        usual = self._usual("label", names)
        self.others = [name for name in usual if name not in chosen.values()]

    def described(self) -> dict[str, str]:
        """The name of every column chosen, with ``(guessed)`` after one that was guessed."""
        return {
            role: f"{name} ({self._guess(role)})" if role in self.guessed else name
            for role, name in self.chosen.items()
        }

    def _guess(self, role: str) -> str:
        """``guessed``, and which columns may hold labels as well."""
        if role != "label" or not self.others:
            return "guessed"
        return f"guessed; --label-col takes another, such as {self.others[0]}"

    def refuse(self, name: str, format: str) -> None:
        """Raise UsageError if a column was asked for; the file ``name`` has none."""
        for role, wanted in self.wanted.items():
            if wanted is not None:
                raise UsageError(
                    f"{name}: {format} has no columns; leave out --{role}-col {wanted}."
                )

    def row(self, line: int, get: Callable[[str], Any]) -> Row:
        """The document of a record.

        Parameters
        ----------
        line : int
            The line or record where it begins, from 1.
        get : callable
            Returns a field by the name of its column, None if it is missing.

        Returns
        -------
        Row
            Labels may be any text, number, true or false, and are converted to texts. Those of a
            list are texts, and one that stands there twice counts once.

        Raises
        ------
        UnusableRow
            If a field cannot be used; unlabeled data may lack labels.
        """
        chosen = self.chosen
        text = get(chosen["text"])
        if not isinstance(text, str):
            raise _not_text(chosen["text"], text)
        label: str | tuple[str, ...] | None = None
        if "label" in chosen:
            try:
                label = self._labels(chosen["label"], get(chosen["label"]))
            except UnusableRow:
                if self.labeled:
                    raise
        weight = _weight(chosen["weight"], get(chosen["weight"])) if "weight" in chosen else 1.0
        group = _group(chosen["group"], get(chosen["group"])) if "group" in chosen else ""
        time = _time(get(chosen["time"])) if "time" in chosen else None
        return Row(text, label, weight, line, group, time)

    def _labels(self, name: str, value: Any) -> str | tuple[str, ...]:
        """The label of a document, or its labels where it may have several."""
        if isinstance(value, list):
            return _listed(name, value)
        if self.label_sep is not None and isinstance(value, str):
            parts = (part.strip() for part in value.split(self.label_sep))
            return tuple(dict.fromkeys(filter(None, parts)))
        if self.multilabel and value is not None:
            raise UnusableRow(
                f"label {_shown(value)} in '{name}' is one label, not a list of labels.",
                "Name what separates the labels with --label-sep, such as --label-sep ';', or "
                "write a list",
                f"'{name}' is not a list of labels",
            )
        return _label(name, value)

    def _needs(self, role: str) -> bool:
        return role == "text" or (role == "label" and self.labeled) or self.wanted[role] is not None

    def _choose(self, role: str, names: Sequence[str]) -> str | None:
        wanted = self.wanted[role]
        if wanted is None:
            if not USUAL_NAMES[role]:
                return None
            return next(iter(self._usual(role, names)), None)
        if wanted in names:
            return wanted
        alike = [name for name in names if name.strip().lower() == wanted.strip().lower()]
        return alike[0] if len(alike) == 1 else None

    @staticmethod
    def _usual(role: str, names: Sequence[str]) -> list[str]:
        """The names that are usual ones of a role, the best first."""
        # Names that are too long to be usual are spared: a file may have millions of columns.
        plain = {_plain(name): name for name in reversed(names) if 0 < len(name) < 100}
        return [plain[name] for name in USUAL_NAMES[role] if name in plain]

    def _missing(self, role: str, names: Sequence[str], where: str) -> TextregError:
        listed = ", ".join(map(shortened, names[:20]))
        wanted = self.wanted[role]
        if wanted is not None:
            hint = did_you_mean(wanted, names)
            return UsageError(f"{where}: no column '{wanted}'.{hint} There are: {listed}.")
        usual = ", ".join(USUAL_NAMES[role][:4])
        return DataError(
            f"{where}: no column has a usual name of a {role} ({usual} ...). There are: {listed}. "
            f"Say which one it is with --{role}-col."
        )


def _plain(name: str) -> str:
    """``Review Text``, ``review_text`` and ``reviewText`` are one name."""
    return (name if name.isalnum() else re.sub(r"[\W_]+", "", name)).lower()


def _label(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)) and math.isfinite(value):
        return str(value)
    if not isinstance(value, str):
        raise _not_text(name, value)
    label = value.strip()
    if not label:
        raise UnusableRow(f"label is empty, in column '{name}'.")
    return label


def _listed(name: str, values: list[Any]) -> tuple[str, ...]:
    """The labels in a list, each once."""
    labels = [value.strip() if isinstance(value, str) else "" for value in values]
    if not all(labels):
        wrong = values[labels.index("")]
        raise UnusableRow(
            f"the list of labels in '{name}' holds {_shown(wrong)}, and labels there are texts "
            'such as "good".',
            reason=f"'{name}' holds something that is no label",
        )
    return tuple(dict.fromkeys(labels))


def _weight(name: str, value: Any) -> float:
    try:
        weight = float(value)
    except (TypeError, ValueError, OverflowError):
        weight = math.nan
    if isinstance(value, bool) or not (0 <= weight < math.inf):
        raise UnusableRow(
            f"weight {_shown(value)} in '{name}' is not a number of 0 or more.",
            reason=f"'{name}' is not a weight",
        )
    return weight


def _group(name: str, value: Any) -> str:
    try:
        return _label(name, value)
    except UnusableRow:
        raise UnusableRow(
            f"group {_shown(value)} in '{name}' is not a text or a number.",
            reason=f"'{name}' is not a text or a number",
        ) from None


def _time(value: Any) -> Any:
    try:
        moment(value)
    except (TypeError, ValueError, OverflowError):
        raise UnusableRow(not_a_time(value), reason="the time is missing or not one") from None
    return value


def _not_text(name: str, value: Any) -> UnusableRow:
    if value is None:
        return UnusableRow(f"'{name}' is missing.")
    return UnusableRow(
        f"'{name}' is {_shown(value)}, not a text.", reason=f"'{name}' is not a text"
    )


def _shown(value: Any) -> str:
    """``value`` as JSON, shortened."""
    return shortened(json.dumps(value))
