"""Where a label wins over the others: lines between scores, drawn by documents held out.

A threshold moves the line at which a label wins. It changes no weight.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from textreg.errors import DataError, UsageError

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    from textreg.records import Floats, Int64s

    Bools: TypeAlias = NDArray[np.bool_]


class Rule(NamedTuple):
    """How to choose a threshold: see :func:`parse_rule`."""

    name: str
    values: tuple[float, ...]


def parse_rule(text: str) -> Rule:
    """The rule that a text names.

    ``f1``: the best F1 of the label. ``precision:P``: the most documents found with a precision of
    at least P. ``costs:FP:FN``: the least cost, FP for every document wrongly given the label and
    FN for every one that is missed. Raises UsageError for any other.
    """
    name, *numbers = text.split(":")
    try:
        values = tuple(float(number) for number in numbers)
    except ValueError:
        values = (math.nan,)
    right = {
        "f1": not values,
        "precision": len(values) == 1 and 0 < values[0] <= 1,
        "costs": len(values) == 2 and all(0 < value < math.inf for value in values),
    }
    if not right.get(name, False):
        raise UsageError(
            "the rule of a threshold is f1, precision:P with P above 0 and at most 1, such as "
            f"precision:0.9, or costs:FP:FN with costs above 0, such as costs:1:5, not '{text}'."
        )
    return Rule(name, values)


class Threshold(NamedTuple):
    """A threshold, and how its label fared with it on the documents it was chosen by."""

    value: float
    precision: float
    recall: float


def choose_threshold(rule: str, lines: Lines, label: str) -> Threshold:
    """The threshold of a label by a rule; DataError if none gives the precision asked for."""
    parsed = parse_rule(rule)
    value = lines.best(parsed)
    if value is None:
        raise DataError(
            f"no threshold gives '{label}' a precision of {parsed.values[0]:g} on the "
            f"{len(lines.margins):,} documents held out; the highest is "
            f"{lines.precision.max():.3f}. Ask for less, or hold out more documents (--holdout, "
            "--cv)."
        )
    return lines.at(value)


class Lines(NamedTuple):
    """Every line that could be drawn for a label: between two margins, or beyond them all.

    value: the lines, rising. margins: of all documents, rising; true: of those that truly have the
    label. A margin is the score of the label, less the highest of the others where there are
    several; documents with a margin above the line get the label.
    """

    value: Floats
    margins: Floats
    true: Floats

    @classmethod
    def of(cls, margins: Floats, true: Bools) -> Lines:
        """From (n,) margins of documents, and whether each truly has the label."""
        low = np.unique(margins)
        between = low[:-1] + (low[1:] - low[:-1]) / 2
        between = np.where(between < low[1:], between, low[:-1])
        value = np.concatenate([[low[0] - 1], between, [low[-1] + 1]])
        return cls(value, np.sort(margins), np.sort(margins[true]))

    def counts(self, value: Floats) -> tuple[Int64s, Int64s]:
        """How many documents would get the label, and how many of them rightly, for each value."""
        given = len(self.margins) - np.searchsorted(self.margins, value, side="right")
        right = len(self.true) - np.searchsorted(self.true, value, side="right")
        return given, right

    @property
    def precision(self) -> Floats:
        """Of every line; 0 where no document gets the label."""
        given, right = self.counts(self.value)
        return np.divide(right, given, out=np.zeros(len(given)), where=given > 0)

    def best(self, rule: Rule) -> float | None:
        """The best line by a rule, of equal ones that nearest to 0; None where none gives the
        precision that is asked for.
        """
        given, right = self.counts(self.value)
        if rule.name == "f1":
            worth = 2 * right / np.maximum(given + len(self.true), 1)
        elif rule.name == "costs":
            wrong, missed = given - right, len(self.true) - right
            worth = -(rule.values[0] * wrong + rule.values[1] * missed)
        else:
            worth = np.where(self.precision >= rule.values[0], right, -1)
            if worth.max() <= 0:
                return None
        best = self.value[worth == worth.max()]
        return float(best[np.argmin(np.abs(best))])

    def at(self, value: float) -> Threshold:
        """A line as a record."""
        given, right = (int(count) for count in self.counts(np.array(value)))
        precision = right / given if given else 0.0
        return Threshold(value, precision, right / len(self.true) if len(self.true) else 0.0)
