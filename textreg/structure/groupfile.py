"""The file of groups: what ``textreg groups`` writes and ``--groups file`` reads."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from textreg.errors import DataError
from textreg.files import numbered_lines
from textreg.records import Groups


class GroupLine(NamedTuple):
    """One group of a file: its line number, name, price, and the names of its features."""

    number: int
    name: str
    price: float
    features: tuple[str, ...]


def read_groups(path: str) -> list[GroupLine]:
    """The groups of a UTF-8 file (``.gz`` too), one a line, in either of two forms.

    ``good great excellent``: words, with white space between them; the price is 1.
    ``praise<TAB>0.5<TAB>good<TAB>very good``: name, price (1 if empty), features, with tabs between
    them, so that n-grams may be among them. Empty lines and lines that begin with ``#`` say
    nothing. Raises UsageError for a file that cannot be opened and DataError, with file and line,
    for a price that is none, and for a file without groups.
    """
    groups = []
    for number, line in numbered_lines(path):
        if not line.strip() or line.startswith("#"):
            continue
        if "\t" not in line:
            groups.append(GroupLine(number, f"line {number}", 1.0, tuple(line.split())))
            continue
        name, price, *features = (field.strip() for field in line.split("\t"))
        groups.append(
            GroupLine(
                number=number,
                name=name or f"line {number}",
                price=_price(price, f"{path}:{number}"),
                features=tuple(feature for feature in features if feature),
            )
        )
    if not groups:
        raise DataError(f"{path}: there is no group in it. Write one a line: good great excellent")
    return groups


def _price(text: str, where: str) -> float:
    try:
        price = float(text or 1)
    except ValueError:
        price = math.nan
    if not (math.isfinite(price) and price >= 0):
        raise DataError(
            f"{where}: the price '{text}' is no number from 0 up. A line with tabs has a name, a "
            "price (or nothing), and features; without tabs it has words only."
        )
    return price


def group_lines(groups: Groups, vocabulary: Sequence[str]) -> Iterator[str]:
    """Lines of a file that :func:`read_groups` reads back to the same groups.

    Raises DataError for a name that would be cut there, with a tab or a line end in it.
    """
    yield "# name\tprice\tfeatures\n"
    for g in range(len(groups)):
        name, members = groups.label(g), groups.members(g)
        fields = [name, f"{groups.weights[g]:.17g}", *(vocabulary[j] for j in members)]
        for field in fields:
            if field != field.strip() or "\t" in field or "\n" in field or "\r" in field:
                raise DataError(
                    f"{groups.name(g)}: {field!r} cannot be written into a file of groups, for "
                    "tabs and line ends have a meaning there."
                )
        if name.startswith("#"):
            raise DataError(f"{groups.name(g)}: a name must not begin with '#' to be written.")
        yield "\t".join(fields) + "\n"
