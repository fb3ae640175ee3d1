"""Answering only texts that a model is sure of: coverage against risk, and the threshold.

A text whose confidence is below a threshold gets no label of the model (Chow 1970). The coverage
is the share of texts that are answered, the risk the share of errors among those (El-Yaniv & Wiener
2010). Texts that belong to none of the labels are errors where they are answered.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from textreg.errors import DataError, UsageError, did_you_mean

if TYPE_CHECKING:
    from textreg.records import Bools, Floats

COVERAGES = (1.0, 0.99, 0.98, 0.95, 0.9, 0.8, 0.7, 0.5)
"""Shares of answered texts in a table of coverage against risk."""

POINTS = 100
"""The most points of a curve that are listed."""

WITHOUT_EXAMPLES, WITH_EXAMPLES = "coverage:0.95", "accuracy"
"""The rules unless one is given, without and with held-out texts that belong to no label."""


class UnknownRule(NamedTuple):
    """How to choose the threshold below which a text is not answered: see :func:`parse_rule`."""

    name: str
    value: float | None


def parse_unknown_rule(text: str) -> UnknownRule:
    """The rule that a text names.

    ``coverage:C`` answers a share of at least C of the texts that belong to a label, and of those
    thresholds the highest. ``risk:R`` answers as many texts as the share of errors among them, at
    most R, allows. ``accuracy`` and ``f1`` maximize the accuracy over all texts, and the F1 of the
    unknown label. Raises UsageError for any other text.
    """
    name, colon, number = text.partition(":")
    try:
        value = float(number) if colon else None
    except ValueError:
        value = math.nan
    right = {
        "coverage": value is not None and 0 < value <= 1,
        "risk": value is not None and 0 <= value < 1,
        "accuracy": value is None,
        "f1": value is None,
    }
    if not right.get(name, False):
        raise UsageError(
            "the rule of the unknown label is coverage:C with C above 0 and at most 1, such as "
            "coverage:0.95, risk:R with R from 0 to 1, such as risk:0.05, accuracy or f1, not "
            f"'{text}'.{did_you_mean(name, right)}"
        )
    return UnknownRule(name, value)


class Unknown(NamedTuple):
    """A threshold of the confidence, and what it does to the texts that it was chosen on.

    Attributes
    ----------
    rule : str
        The rule that chose it.
    value : float
        Texts with a confidence below it are not answered.
    documents : int
        Texts that belong to no label.
    coverage : float
        The share of the others that are answered.
    risk : float
        The share of errors among all that are answered.
    recall : float or None
        The share of those that belong to no label, and are not answered; None if there are none.
    """

    rule: str
    value: float
    documents: int
    coverage: float
    risk: float
    recall: float | None


class CoverageLine(NamedTuple):
    """A threshold of the confidence, and the answers that it gives.

    Attributes
    ----------
    coverage : float
        The share of texts that are answered.
    threshold : float
        The lowest confidence of these.
    risk : float
        The share of errors among them.
    accuracy_inside : float or None
        The share of texts that belong to a label and are answered rightly; None if there are none.
    recall : float or None
        The share of texts that belong to no label and are not answered; None if there are none.
    """

    coverage: float
    threshold: float
    risk: float
    accuracy_inside: float | None
    recall: float | None


class Selective(NamedTuple):
    """Coverage against risk on labeled texts.

    Attributes
    ----------
    label : str
        The unknown label.
    documents, unknown : int
        Texts that belong to a label, and those that belong to none.
    now : CoverageLine
        What the threshold in use gives.
    lines : tuple of CoverageLine
        What others would give.
    aurc : float
        The area under the curve of risk over coverage: the mean risk over all thresholds.
    curve : tuple of (coverage, risk)
        Some points of that curve, with increasing coverage.
    """

    label: str
    documents: int
    unknown: int
    now: CoverageLine
    lines: tuple[CoverageLine, ...]
    aurc: float
    curve: tuple[tuple[float, float], ...]

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values, ready for JSON."""
        return {
            **self._asdict(),
            "now": self.now._asdict(),
            "lines": [line._asdict() for line in self.lines],
        }


class RiskCurve(NamedTuple):
    """Texts in the order of their confidence, the most confident first.

    Attributes
    ----------
    confidence : ndarray of shape (n,)
        How sure the model is of each.
    inside : ndarray of bool, shape (n,)
        Which belong to a label of the model.
    right : ndarray of bool, shape (n,)
        Whose best label is the true one.
    weights : ndarray of shape (n,)
        How much each counts.
    """

    confidence: Floats
    inside: Bools
    right: Bools
    weights: Floats

    @classmethod
    def of(
        cls, confidence: Floats, inside: Bools, right: Bools, weights: Floats | None = None
    ) -> RiskCurve:
        """From texts in any order; without weights all count the same."""
        counts = np.ones(len(confidence)) if weights is None else weights
        order = np.argsort(-confidence, kind="stable")
        return cls(confidence[order], inside[order], right[order], counts[order])

    @property
    def ends(self) -> Floats:
        """Numbers of texts that thresholds can answer: none, and up to the last of equal ones."""
        steps = np.flatnonzero(np.diff(self.confidence)) + 1
        return np.concatenate([[0], steps, [len(self.confidence)]]).astype(np.int64)

    def sums(self, of: Bools | None = None) -> Floats:
        """The weight of the texts that are answered, for each of :attr:`ends`; ``of`` some."""
        chosen = self.weights if of is None else self.weights * of
        return np.asarray(np.concatenate([[0.0], np.cumsum(chosen)])[self.ends])

    @property
    def risk(self) -> Floats:
        """The share of errors for each of :attr:`ends`; 0 if no text is answered."""
        answered = self.sums()
        wrong = answered - self.sums(self.right)
        return np.divide(wrong, answered, out=np.zeros(len(answered)), where=answered > 0)

    @property
    def coverage(self) -> Floats:
        """The share of texts that are answered for each of :attr:`ends`."""
        sums = self.sums()
        return np.asarray(sums / sums[-1])

    def aurc(self) -> float:
        """The mean risk over the texts, each as if all at least as confident were answered."""
        shares = np.diff(self.coverage)
        return float(shares @ self.risk[1:])

    def best(self, rule: UnknownRule) -> int | None:
        """The place in :attr:`ends` that a rule chooses; None if none fulfills it.

        Of equal ones that which answers most.
        """
        answered, outside = self.sums(self.inside), self.sums(~self.inside)
        if rule.value is not None and rule.name == "coverage":
            return int(np.argmax(answered >= rule.value * answered[-1] - 1e-9))
        if rule.value is not None:
            some = np.flatnonzero((self.sums() > 0) & (self.risk <= rule.value))
            return int(some[-1]) if len(some) else None
        left = outside[-1] - outside
        if rule.name == "accuracy":
            score = self.sums(self.right) + left
        else:
            score = 2 * left / (left + answered[-1] - answered + outside[-1])
        return int(np.flatnonzero(score >= score.max() - 1e-9)[-1])

    def threshold(self, place: int) -> float:
        """A threshold between the confidences around one of :attr:`ends`."""
        ranked, end = self.confidence, int(self.ends[place])
        if end == 0:
            return float(ranked[0]) + 1.0
        if end == len(ranked):
            return float(ranked[-1]) - 1.0
        middle = ranked[end] + (ranked[end - 1] - ranked[end]) / 2
        # The middle of neighboring floats may be the lower one, which would be answered as well.
        return float(middle if middle > ranked[end] else ranked[end - 1])

    def line(self, threshold: float) -> CoverageLine:
        """What a threshold gives."""
        answered = self.confidence >= threshold
        whole, weight = self._weight(answered | True), self._weight(answered)
        inside, none = self._weight(self.inside), self._weight(~self.inside)
        right = self._weight(answered & self.right)
        return CoverageLine(
            coverage=weight / whole,
            threshold=threshold,
            risk=1 - right / weight if weight else 0.0,
            accuracy_inside=right / inside if inside else None,
            recall=self._weight(~(answered | self.inside)) / none if none else None,
        )

    def _weight(self, of: Bools) -> float:
        return float(self.weights[of].sum())

    def table(self, label: str, now: float) -> Selective:
        """The threshold in use, and what others would give."""
        coverage = self.coverage
        places = [int(np.argmax(coverage >= share - 1e-9)) for share in COVERAGES]
        thresholds = dict.fromkeys(float(self.confidence[self.ends[at] - 1]) for at in places)
        inside = int(np.count_nonzero(self.inside))
        return Selective(
            label=label,
            documents=inside,
            unknown=len(self.inside) - inside,
            now=self.line(now),
            lines=tuple(self.line(threshold) for threshold in thresholds),
            aurc=self.aurc(),
            curve=self._points(),
        )

    def _points(self) -> tuple[tuple[float, float], ...]:
        coverage, risk = self.coverage, self.risk
        places = np.unique(np.linspace(1, len(coverage) - 1, POINTS).round().astype(int))
        return tuple(zip(coverage[places].tolist(), risk[places].tolist(), strict=True))


def choose_unknown(rule: str | None, curve: RiskCurve, label: str) -> Unknown:
    """The threshold of the confidence by a rule, or by the usual one without any.

    Raises DataError if there is no such threshold, or no text that the rule needs.
    """
    outside = int(np.count_nonzero(~curve.inside & (curve.weights > 0)))
    rule = rule or (WITH_EXAMPLES if outside else WITHOUT_EXAMPLES)
    parsed = parse_unknown_rule(rule)
    if parsed.value is None and not outside:
        raise DataError(
            f"the rule '{rule}' needs documents with the label '{label}', and there are none: add "
            f"some to the training documents or to --dev, or take {WITHOUT_EXAMPLES}."
        )
    place = curve.best(parsed)
    if place is None:
        lowest = float(curve.risk[1:].min())
        raise DataError(
            f"no threshold gives a risk of {parsed.value:g} on the {len(curve.inside):,} documents "
            f"held out; the lowest is {lowest:.3f}. Allow more (--unknown LABEL:risk:R), or "
            "hold out more documents (--holdout, --cv)."
        )
    value = curve.threshold(place)
    line = curve.line(value)
    inside = curve.sums(curve.inside)
    return Unknown(rule, value, outside, float(inside[place] / inside[-1]), line.risk, line.recall)
