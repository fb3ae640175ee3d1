"""Files of groups: ``textreg groups`` writes them and ``--groups file`` reads them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from textreg.errors import DataError
from textreg.files import numbered_lines
from textreg.records import Groups


class GroupLine(NamedTuple):
    """One group of a file.

    Attributes
    ----------
    number : int
        Its line number, from 1.
    name : str
        Its name.
    weight : float
        Its weight in the penalty, 0 or more.
    features : tuple of str
        The names of its features.
    """

    number: int
    name: str
    weight: float
    features: tuple[str, ...]


def read_groups(path: str) -> list[GroupLine]:
    """The groups of a file, one on each line.

    A line has one of two forms:

    - ``good great excellent``: words with white space between them. The weight is 1.
    - ``praise<TAB>0.5<TAB>good<TAB>very good``: name, weight (1 if empty) and features with tabs
      between them, so that n-grams can be listed.

    Empty lines and lines that begin with ``#`` are ignored.

    Parameters
    ----------
    path : str
        A UTF-8 file, compressed with gzip if its name ends in ``.gz``.

    Returns
    -------
    list of GroupLine

    Raises
    ------
    UsageError
        If the file cannot be opened.
    DataError
        If a weight is not a number of 0 or more, or the file has no groups; the message names
        file and line.
    """
    groups = []
    for number, line in numbered_lines(path):
        if not line.strip() or line.startswith("#"):
            continue
        if "\t" not in line:
            groups.append(GroupLine(number, f"line {number}", 1.0, tuple(line.split())))
            continue
        name, weight, *features = (field.strip() for field in line.split("\t"))
        groups.append(
            GroupLine(
                number=number,
                name=name or f"line {number}",
                weight=_weight(weight, f"{path}:{number}"),
                features=tuple(feature for feature in features if feature),
            )
        )
    if not groups:
        raise DataError(f"{path}: no groups in it. Write one on each line: good great excellent")
    return groups


def _weight(text: str, where: str) -> float:
    try:
        weight = float(text or 1)
    except ValueError:
        weight = math.nan
    if not (math.isfinite(weight) and weight >= 0):
        raise DataError(
            f"{where}: the weight '{text}' is not a number of 0 or more. A line with tabs has a "
            "name, a weight (or nothing), and features; one without tabs has words only."
        )
    return weight


def group_lines(groups: Groups, vocabulary: Sequence[str]) -> Iterator[str]:
    """Lines of a file from which :func:`read_groups` reads the same groups.

    Parameters
    ----------
    groups : Groups
    vocabulary : sequence of str
        The names of all features.

    Yields
    ------
    str
        A line with its line end.

    Raises
    ------
    DataError
        If a name contains a tab or a line end.
    """
    yield "# name\tweight\tfeatures\n"
    for g in range(len(groups)):
        name, members = groups.label(g), groups.members(g)
        fields = [name, f"{groups.weights[g]:.17g}", *(vocabulary[j] for j in members)]
        for field in fields:
            if field != field.strip() or "\t" in field or "\n" in field or "\r" in field:
                raise DataError(
                    f"{groups.name(g)}: {field!r} cannot be written to a file of groups, where "
                    "tabs and line ends separate fields."
                )
        if name.startswith("#"):
            raise DataError(f"{groups.name(g)}: a name that is written must not begin with '#'.")
        yield "\t".join(fields) + "\n"
