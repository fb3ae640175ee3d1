"""Which columns of a table hold text, label and so on, and what a record's fields make of it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from textreg.errors import DataError, TextregError, UsageError, did_you_mean
from textreg.reading.lines import UnusableRow
from textreg.reading.times import moment, not_a_time

# In order of preference: of a title and a body, the body is the text.
KNOWN = {
    "text": (
        *("text", "review", "reviewtext", "body", "content", "sentence", "message", "document"),
        *("comment", "tweet", "post", "utterance", "question", "article", "abstract"),
        "description",
    ),
    "label": (
        *("label", "class", "category", "sentiment", "target", "y", "polarity", "topic", "tag"),
        "intent",
    ),
    "weight": (),  # never guessed: a column of that name may be about parcels
    "group": (),
    "time": (),
}


class Row(NamedTuple):
    """One document; ``label`` is None where it has none, ``line`` is where it begins, from 1."""

    text: str
    label: str | None
    weight: float
    line: int
    group: str = ""
    time: Any = None


class Columns:
    """Which columns hold text, label and so on: as wanted, or guessed from well-known names.

    found: name by role, once :meth:`find` has chosen. guessed: the roles that nobody had named.
    """

    def __init__(
        self,
        text: str | None = None,
        label: str | None = None,
        weight: str | None = None,
        group: str | None = None,
        time: str | None = None,
        *,
        labeled: bool = True,
    ) -> None:
        self.wanted = {
            "text": text,
            "label": label,
            "weight": weight,
            "group": group,
            "time": time,
        }
        self.labeled = labeled
        self.found: dict[str, str] = {}
        self.guessed: list[str] = []

    @property
    def numbered(self) -> bool:
        """Whether columns were named by numbers, as for a table without a header."""
        return all(name is None or name.isdecimal() for name in self.wanted.values()) and any(
            self.wanted.values()
        )

    def fit(self, names: Sequence[str]) -> bool:
        """Whether ``names`` has everything that is wanted or needed, and so may be a header."""
        return all(self._choose(role, names) for role in KNOWN if self._needs(role))

    def find(self, names: Sequence[str], where: str) -> None:
        """Choose among ``names``.

        UsageError if a wanted one is not there, DataError if a needed one cannot be guessed.
        """
        found: dict[str, str] = {}
        for role in KNOWN:
            name = self._choose(role, names)
            if name is None:
                if self._needs(role):
                    raise self._missing(role, names, where)
                continue
            if names.count(name) > 1:
                raise DataError(f"{where}: two columns are called '{name}'. Rename one of them.")
            for other, taken in found.items():
                if taken == name:
                    raise UsageError(
                        f"{where}: column '{name}' cannot be both the {other} and the {role}. "
                        f"Say which is which with --{other}-col and --{role}-col."
                    )
            found[role] = name
        self.found = found
        self.guessed = [role for role in found if self.wanted[role] is None]

    def described(self) -> dict[str, str]:
        """The name of every column found, with a remark where it was guessed."""
        return {
            role: f"{name} (guessed)" if role in self.guessed else name
            for role, name in self.found.items()
        }

    def refuse(self, name: str, what: str) -> None:
        """Raise UsageError if a column is wanted of the file ``name``, which has none."""
        for role, wanted in self.wanted.items():
            if wanted is not None:
                raise UsageError(f"{name}: {what} has no columns; leave out --{role}-col {wanted}.")

    def row(self, line: int, get: Callable[[str], Any]) -> Row:
        """The document of the record at ``line``, whose fields ``get`` gives by column name.

        Labels may be any text, number, true or false, and become texts. A field that cannot be used
        raises UnusableRow; unlabeled data may lack labels here and there.
        """
        found = self.found
        text = get(found["text"])
        if not isinstance(text, str):
            raise _not_text(found["text"], text)
        label: str | None = None
        if "label" in found:
            try:
                label = _label(found["label"], get(found["label"]))
            except UnusableRow:
                if self.labeled:
                    raise
        weight = _weight(found["weight"], get(found["weight"])) if "weight" in found else 1.0
        group = _group(found["group"], get(found["group"])) if "group" in found else ""
        time = _time(get(found["time"])) if "time" in found else None
        return Row(text, label, weight, line, group, time)

    def _needs(self, role: str) -> bool:
        return role == "text" or (role == "label" and self.labeled) or self.wanted[role] is not None

    def _choose(self, role: str, names: Sequence[str]) -> str | None:
        wanted = self.wanted[role]
        if wanted is None:
            plain = {_plain(name): name for name in reversed(names)}
            return next((plain[name] for name in KNOWN[role] if name in plain), None)
        if wanted in names:
            return wanted
        alike = [name for name in names if name.strip().lower() == wanted.strip().lower()]
        return alike[0] if len(alike) == 1 else None

    def _missing(self, role: str, names: Sequence[str], where: str) -> TextregError:
        listed = ", ".join(name if len(name) <= 40 else f"{name[:37]}..." for name in names[:20])
        wanted = self.wanted[role]
        if wanted is not None:
            hint = did_you_mean(wanted, names)
            return UsageError(f"{where}: no column '{wanted}'.{hint} There are: {listed}.")
        return DataError(
            f"{where}: no column is called as a {role} usually is ({', '.join(KNOWN[role][:4])} "
            f"...). There are: {listed}. Say which one it is with --{role}-col."
        )


def _plain(name: str) -> str:
    """``Review Text``, ``review_text`` and ``reviewText`` are one name."""
    return re.sub(r"[\W_]+", "", name).lower()


def _label(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)) and math.isfinite(value):
        return str(value)
    if not isinstance(value, str):
        raise _not_text(name, value)
    label = value.strip()
    if not label:
        raise UnusableRow("label is empty.")
    return label


def _weight(name: str, value: Any) -> float:
    try:
        weight = float(value)
    except (TypeError, ValueError, OverflowError):
        weight = math.nan
    if isinstance(value, bool) or not (0 <= weight < math.inf):
        raise UnusableRow(f"weight {_shown(value)} in '{name}' is not a number of 0 or more.")
    return weight


def _group(name: str, value: Any) -> str:
    try:
        return _label(name, value)
    except UnusableRow:
        raise UnusableRow(f"group {_shown(value)} in '{name}' is not a text or a number.") from None


def _time(value: Any) -> Any:
    try:
        moment(value)
    except (TypeError, ValueError, OverflowError):
        raise UnusableRow(not_a_time(value)) from None
    return value


def _not_text(name: str, value: Any) -> UnusableRow:
    if value is None:
        return UnusableRow(f"'{name}' is missing.")
    return UnusableRow(f"'{name}' is {_shown(value)}, not a text.")


def _shown(value: Any) -> str:
    """``value`` as it would stand in a file, shortened."""
    shown = json.dumps(value)
    return shown if len(shown) <= 40 else f"{shown[:37]}..."
