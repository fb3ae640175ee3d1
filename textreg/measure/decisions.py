"""What turns scores into decisions: thresholds, the unknown label, and calibrated probabilities.

A threshold changes predictions, but neither weights nor probabilities. A calibration changes scores
before they become probabilities; it changes neither weights nor predictions.

**Thresholds of several labels.** A threshold that maximizes the F1 of its label alone overfits
labels of few documents: it may call hundreds of documents positive for the sake of one (yang2001,
section 4.2; fan2007). So the labels share an objective, micro-F1 + 2 macro-F1, which is raised
label by label, the most frequent first (lin2023, section 4.3, has the same with equal parts and in
one pass). Labels are smoothed and the thresholds averaged over subsamples; docs/multilabel.md shows
what each of these is worth.

**The unknown label.** A text whose confidence is below a threshold gets no label of the model
(Chow 1970). The coverage is the share of texts that are answered, the risk the share of errors
among those (El-Yaniv & Wiener 2010). Texts that belong to none of the labels are errors where they
are answered.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from textreg.errors import DataError, UsageError, did_you_mean
from textreg.measure.metrics import wilson
from textreg.records import Bools, Floats, Int64s
from textreg.records.arrays import pieces

Transform: TypeAlias = Callable[[Floats], Floats]


def parse_rule(text: str) -> tuple[str, tuple[float, ...]]:
    """The rule for a decision threshold that a text names, and its numbers.

    ``f1`` maximizes the F1 of the label. ``precision:P`` maximizes its recall at a precision of at
    least P. ``costs:FP:FN`` minimizes the cost, FP for a false positive and FN for a false
    negative. Raises UsageError for any other text.
    """
    name, values = _name_and_numbers(text)
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
    return name, values


def _name_and_numbers(text: str) -> tuple[str, tuple[float, ...]]:
    """What stands before and between the colons of a rule; NaN for what is no number."""
    name, *numbers = text.split(":")
    try:
        return name, tuple(float(number) for number in numbers)
    except ValueError:
        return name, (math.nan,)


class Threshold(NamedTuple):
    """A threshold, and the precision and recall of its label on the documents that chose it."""

    value: float
    precision: float
    recall: float


def choose_threshold(rule: str, curve: ThresholdCurve, label: str) -> Threshold:
    """The threshold of a label by a rule; DataError if none has the precision that it asks for."""
    _, values = parsed = parse_rule(rule)
    value = curve.best(parsed)
    if value is None:
        raise DataError(
            f"no threshold gives '{label}' a precision of {values[0]:g} on the "
            f"{curve.table[0, 0]:,.0f} documents held out; the highest is "
            f"{curve.precision.max():.3f}. Ask for less, or hold out more documents (--holdout, "
            "--cv)."
        )
    return curve.at(value)


def _between(low: Floats, high: Floats) -> Floats:
    """What lies between numbers, from the lower one on and below the higher one."""
    middle = low + (high - low) / 2
    # The middle of neighboring floats may round up to the higher one.
    return np.where(middle < high, middle, low)


class ThresholdCurve(NamedTuple):
    """All thresholds of a label that differ in their predictions.

    A document is predicted to have the label if its margin is above the threshold. The margin is
    the score of the label, less the highest score of the others if there are several.

    Attributes
    ----------
    thresholds : ndarray
        One between any two margins that differ, and one beyond each end; ascending.
    margins : ndarray
        The margins that differ, ascending.
    table : ndarray of shape (2, thresholds)
        Documents that each threshold predicts to have the label, and how many of them have it;
        where documents have weights, the sums of these.
    """

    thresholds: Floats
    margins: Floats
    table: Floats

    @classmethod
    def of(cls, margins: Floats, has_label: Bools, counts: Floats) -> ThresholdCurve:
        """From the margins of documents, whether each has the label, how much it counts: (n,)."""
        order = np.argsort(-margins)
        ranked, counts = margins[order], counts[order]
        ends = np.flatnonzero(np.append(ranked[:-1] > ranked[1:], True)) + 1
        low = ranked[ends - 1][::-1]
        thresholds = np.concatenate([low[:1] - 1, _between(low[:-1], low[1:]), low[-1:] + 1])
        sums = np.zeros((2, len(order) + 1))
        np.cumsum(counts, out=sums[0, 1:])
        np.cumsum(counts * has_label[order], out=sums[1, 1:])
        return cls(thresholds, low, sums[:, np.append(0, ends)[::-1]])

    @property
    def positives(self) -> float:
        """The number of documents that have the label."""
        return float(self.table[1, 0])

    def counts(self, thresholds: Floats) -> Floats:
        """The table of any thresholds."""
        return np.asarray(self.table[:, np.searchsorted(self.margins, thresholds, side="right")])

    @property
    def precision(self) -> Floats:
        """Of every threshold; 0 if no document is predicted to have the label."""
        predicted, hits = self.table
        return np.asarray(hits / np.where(predicted > 0.0, predicted, 1.0))

    def best(self, rule: tuple[str, tuple[float, ...]]) -> float | None:
        """The best threshold by a rule, of equal ones the nearest to 0.

        None if no threshold has the precision that the rule asks for.
        """
        predicted, hits = self.table
        name, values = rule
        if name == "f1":
            score = f1_of(hits, predicted, self.positives)
        elif name == "costs":
            false_positives, false_negatives = predicted - hits, self.positives - hits
            score = -(values[0] * false_positives + values[1] * false_negatives)
        else:
            # At a given precision, more hits are a higher recall.
            score = np.where(self.precision >= values[0], hits, -1)
            if score.max() <= 0:
                return None
        best = self.thresholds[score == score.max()]
        return float(best[np.argmin(np.abs(best))])

    def at(self, value: float) -> Threshold:
        """A threshold with its precision and recall."""
        predicted, hits = self.counts(np.array(value)).tolist()
        return Threshold(value, hits / (predicted or 1.0), hits / (self.positives or 1.0))


def f1_of(hits: Floats, predicted: Floats, positives: float) -> Floats:
    """The F1 of a label that so many documents have; 0 of none, as a hit takes one."""
    return np.asarray(2 * hits / np.maximum(predicted + positives, np.finfo(float).tiny))


#: Weight of the macro-F1 in the objective, beside 1 for the micro-F1.
MACRO = 2.0

#: Documents added to the denominator of a label's F1, so that one hit alone is no success.
SMOOTHING = 4.0

#: Most passes over the labels.
PASSES = 3

#: Most thresholds that are tried for all labels together.
TRIED = 1000

#: Subsamples whose thresholds are averaged, and their share of the documents.
SUBSAMPLES, SHARE = 10, 2 / 3


def joint_thresholds(scores: Floats, has_label: Bools, counts: Floats) -> Floats:
    """The threshold of every label: it is predicted where its score is above.

    Parameters
    ----------
    scores : ndarray of shape (n, k)
        Scores of one or more documents that no fit has seen.
    has_label : ndarray of bool, shape (n, k)
        Which labels the documents have.
    counts : ndarray of shape (n,)
        How much each document counts, 1 on the mean.

    Returns
    -------
    ndarray of shape (k,)
        A label that no document of a subsample has takes the threshold there that is the best for
        all labels together.
    """
    random = np.random.default_rng(0)
    n = len(scores)
    size = max(1, round(SHARE * n))
    samples = (random.permutation(n)[:size] for _ in range(SUBSAMPLES))
    by_sample = [thresholds_of(scores[rows], has_label[rows], counts[rows]) for rows in samples]
    return np.asarray(np.mean(by_sample, axis=0))


def thresholds_of(scores: Floats, has_label: Bools, counts: Floats) -> Floats:
    """The same from all of the documents at once, without subsamples."""
    labels = zip(scores.T, has_label.T, strict=True)
    curves = [ThresholdCurve.of(*label, counts) for label in labels]
    frequency = np.array([curve.positives for curve in curves])
    thresholds = np.zeros(len(frequency))
    if not frequency.all():
        thresholds[:] = common_threshold(scores[has_label], curves)
    order = [k for k in np.argsort(-frequency, kind="stable").tolist() if frequency[k]]
    for k, value in _ascend({k: curves[k] for k in order}).items():
        thresholds[k] = value
    return thresholds


def common_threshold(positive: Floats, curves: Sequence[ThresholdCurve]) -> float:
    """The one threshold for all labels that maximizes the micro-F1; 0 if no document has any.

    It lies below the score of a label that a document has; of many, :data:`TRIED` are tried.

    positive: the scores of the labels that documents have. curves: of all labels.
    """
    if not len(positive):
        return 0.0
    positive = np.sort(positive)
    least = np.unique(np.linspace(0, len(positive) - 1, min(len(positive), TRIED)).astype(int))
    # Each document is predicted to have a label that scores the threshold, or more.
    tried = np.nextafter(positive[least], -np.inf)
    predicted, hits = sum((it.counts(tried) for it in curves), np.zeros((2, len(tried))))
    return float(tried[np.argmax(f1_of(hits, predicted, sum(it.positives for it in curves)))])


def _ascend(labels: dict[int, ThresholdCurve]) -> dict[int, float]:
    """Thresholds by coordinate ascent; at first of the labels so far, then of all of them."""
    # From the highest on, which is the highest score: a threshold beyond would say too much.
    thresholds = {k: np.minimum(it.thresholds, it.margins[-1])[::-1] for k, it in labels.items()}
    # What each counts, 2 hits / counted being the F1 of the label, and its hits.
    tables = {k: it.table[:, ::-1] + np.array([[it.positives], [0.0]]) for k, it in labels.items()}
    chosen: dict[int, int] = {}
    others = np.zeros(2)
    for _ in range(PASSES):
        before = dict(chosen)
        for k, table in tables.items():
            if k in chosen:
                others -= table[:, chosen[k]]
            counted, hits = table
            macro = 2 * hits / (counted + SMOOTHING) / len({*chosen, k})
            micro = 2 * (hits + others[1]) / (counted + others[0])
            chosen[k] = int(np.argmax(micro + MACRO * macro))
            others += table[:, chosen[k]]
        if chosen == before:
            break
    return {k: float(thresholds[k][cut]) for k, cut in chosen.items()}


def halves(n: int) -> Sequence[tuple[Int64s, Int64s]]:
    """Rows to choose thresholds on and rows to measure on, both ways; for one document itself."""
    rows = np.random.default_rng(0).permutation(n)
    first, second = np.sort(rows[: n // 2]), np.sort(rows[n // 2 :])
    return [(first, second), (second, first)] if n > 1 else [(rows, rows)]


#: Shares of answered texts in a table of coverage against risk.
COVERAGES = (1.0, 0.99, 0.98, 0.95, 0.9, 0.8, 0.7, 0.5)

#: The most points of a curve that are listed.
POINTS = 100

#: The rules unless one is given, without and with held-out texts that belong to no label.
WITHOUT_EXAMPLES, WITH_EXAMPLES = "coverage:0.95", "accuracy"


def parse_unknown_rule(text: str) -> tuple[str, float | None]:
    """The rule for the threshold below which a text is not answered, and its number.

    ``coverage:C`` answers a share of at least C of the texts that belong to a label, and of those
    thresholds the highest. ``risk:R`` answers as many texts as the share of errors among them, at
    most R, allows. ``accuracy`` and ``f1`` maximize the accuracy over all texts, and the F1 of the
    unknown label. Raises UsageError for any other text.
    """
    name, values = _name_and_numbers(text)
    right = {
        "coverage": len(values) == 1 and 0 < values[0] <= 1,
        "risk": len(values) == 1 and 0 <= values[0] < 1,
        "accuracy": not values,
        "f1": not values,
    }
    if not right.get(name, False):
        raise UsageError(
            "the rule of the unknown label is coverage:C with C above 0 and at most 1, such as "
            "coverage:0.95, risk:R with R from 0 to 1, such as risk:0.05, accuracy or f1, not "
            f"'{text}'.{did_you_mean(name, right)}"
        )
    return name, next(iter(values), None)


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


def plain(value: Any) -> Any:
    """Values for JSON: named tuples as dicts; other tuples, and arrays, as lists."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if hasattr(value, "_asdict"):
        return {name: plain(it) for name, it in value._asdict().items()}
    return [plain(it) for it in value] if isinstance(value, tuple) else value


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
        return {name: plain(value) for name, value in self._asdict().items()}


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
    def of(cls, confidence: Floats, inside: Bools, right: Bools, weights: Floats) -> RiskCurve:
        """From texts in any order."""
        order = np.argsort(-confidence, kind="stable")
        return cls(confidence[order], inside[order], right[order], weights[order])

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

    def best(self, rule: tuple[str, float | None]) -> int | None:
        """The place in :attr:`ends` that a rule chooses; None if none fulfills it.

        Of equal ones that which answers most.
        """
        answered, outside = self.sums(self.inside), self.sums(~self.inside)
        name, value = rule
        if value is not None and name == "coverage":
            return int(np.argmax(answered >= value * answered[-1] - 1e-9))
        if value is not None:
            allowed = np.flatnonzero((self.sums() > 0) & (self.risk <= value))
            return int(allowed[-1]) if len(allowed) else None
        rejected = outside[-1] - outside
        if name == "accuracy":
            score = self.sums(self.right) + rejected
        else:
            score = 2 * rejected / (rejected + answered[-1] - answered + outside[-1])
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
        points = np.unique(np.linspace(1, len(coverage) - 1, POINTS).round().astype(int))
        inside = int(np.count_nonzero(self.inside))
        return Selective(
            label=label,
            documents=inside,
            unknown=len(self.inside) - inside,
            now=self.line(now),
            lines=tuple(self.line(threshold) for threshold in thresholds),
            aurc=self.aurc(),
            curve=tuple(zip(coverage[points].tolist(), self.risk[points].tolist(), strict=True)),
        )


def choose_unknown(rule: str | None, curve: RiskCurve, label: str) -> Unknown:
    """The threshold of the confidence by a rule, or by the usual one without any.

    Raises DataError if there is no such threshold, or no text that the rule needs.
    """
    outside = int(np.count_nonzero(~curve.inside & (curve.weights > 0)))
    rule = rule or (WITH_EXAMPLES if outside else WITHOUT_EXAMPLES)
    _, share = parsed = parse_unknown_rule(rule)
    if share is None and not outside:
        raise DataError(
            f"the rule '{rule}' needs documents with the label '{label}', and there are none: add "
            f"some to the training documents or to --dev, or take {WITHOUT_EXAMPLES}."
        )
    place = curve.best(parsed)
    if place is None:
        lowest = float(curve.risk[1:].min())
        raise DataError(
            f"no threshold gives a risk of {share:g} on the {len(curve.inside):,} documents "
            f"held out; the lowest is {lowest:.3f}. Allow more (--unknown LABEL:risk:R), or "
            "hold out more documents (--holdout, --cv)."
        )
    value = curve.threshold(place)
    line = curve.line(value)
    inside = curve.sums(curve.inside)
    return Unknown(rule, value, outside, float(inside[place] / inside[-1]), line.risk, line.recall)


#: Ways to calibrate: one number for all scores, or a monotone curve for each weight vector.
METHODS = ("temperature", "isotonic")

#: The highest temperature, and the inverse of the lowest; calibrate stays within 1100.
HOTTEST = 1e6

Curve = tuple[tuple[float, ...], tuple[float, ...]]


@dataclass(frozen=True)
class Calibration:
    """How scores change before they become probabilities.

    Attributes
    ----------
    method : str
        One of :data:`METHODS`.
    temperature : float, default 1.0
        What "temperature" divides all scores by (Guo et al. 2017, section 4.2).
    curves : tuple of (x, y)
        For "isotonic", for each weight vector increasing log-odds x and the probabilities y there,
        linear in between and constant beyond (Zadrozny & Elkan 2002, section 3).

    Raises
    ------
    UsageError
        If these do not fit together.
    """

    method: str
    temperature: float = 1.0
    curves: tuple[Curve, ...] = ()

    def __post_init__(self) -> None:
        check_method(self.method)
        if not 1 / HOTTEST <= self.temperature <= HOTTEST:
            raise UsageError(
                f"the temperature must be from {1 / HOTTEST:g} to {HOTTEST:g}, not "
                f"{self.temperature:g}."
            )
        if bool(self.curves) != (self.method == "isotonic"):
            raise UsageError("there are curves if the calibration is isotonic, and only then.")
        for curve in self.curves:
            x, y = np.array(curve[0]), np.array(curve[1])
            within = len(x) == len(y) > 0 and (np.abs(x) < 1e100).all()  # a step cannot overflow
            if not (within and (np.diff(x) > 0).all()):
                raise UsageError(
                    "the curve of a calibration needs increasing scores, with a probability each."
                )
            if not ((y > 0) & (y < 1)).all() or (np.diff(y) < 0).any():
                raise UsageError(
                    "the probabilities of a calibration must increase, and lie between 0 and 1."
                )

    def apply(self, scores: Floats, log_odds: Transform, scores_of: Transform) -> Floats:
        """Calibrated scores (n, k).

        log_odds: gives the log-odds (n, k) that scores stand for, by which the curves are read.
        scores_of: gives scores (n, k) that stand for probabilities.
        """
        if not self.curves:
            return np.asarray(scores / self.temperature)
        x = log_odds(scores)
        rows = [np.interp(x[:, row], *curve) for row, curve in enumerate(self.curves)]
        return scores_of(np.column_stack(rows))


def check_method(method: str) -> None:
    """UsageError unless there is a calibration of this name."""
    if method not in METHODS:
        raise UsageError(
            f"calibrate must be one of {', '.join(METHODS)}, not '{method}'."
            f"{did_you_mean(method, METHODS)}"
        )


def calibrate(
    method: str,
    log_odds: Floats,
    came_true: Bools,
    counts: Floats,
    log_loss: Callable[[float], float],
) -> Calibration:
    """Learn from documents that the model has not seen.

    The temperature minimizes the log-loss, with one document more of any label alike. Isotonic
    probabilities stay between 1 / (n + 2) and (n + 1) / (n + 2). For n documents cannot show that
    something never happens (Laplace's rule of succession).

    Parameters
    ----------
    method : str
        One of :data:`METHODS`.
    log_odds : ndarray of shape (n, k)
        What the scores of the documents stand for.
    came_true : ndarray of bool, shape (k, n)
        Whether each document is what the score of a row speaks for.
    counts : ndarray of shape (n,)
        How much each document counts, 1 on the mean.
    log_loss : callable
        The log-loss of the documents at a temperature.
    """
    check_method(method)
    if method == "temperature":
        return Calibration(method, temperature(log_loss))
    from sklearn.isotonic import IsotonicRegression

    # The bounds are those of Laplace's rule of succession.
    least = 1 / (len(log_odds) + 2)
    curves = []
    for x, y in zip(log_odds.T, came_true, strict=True):
        fitted = IsotonicRegression(y_min=least, y_max=1 - least).fit(x, y, counts)
        curves.append((tuple(fitted.X_thresholds_.tolist()), tuple(fitted.y_thresholds_.tolist())))
    return Calibration(method, curves=tuple(curves))


# Accuracy of a minimum, and the share of an interval that golden sections cut off.
EXACT, GOLDEN = 1e-5, (3.0 - math.sqrt(5.0)) / 2.0


def row_loss(scores: Floats, positive: Bools, weights: Floats) -> Callable[[float], float]:
    """The mean log-loss of every row by itself, with one document more (Laplace's rule).

    At any temperature: log(1 + exp(-f)) = max(0, -f) + log(1 + exp(-|f|)), of which only the
    logarithm is not proportional to f. scores, positive, weights: (n, k), of n documents and k
    rows. The document more has each label or not alike.
    """
    sizes, total = np.abs(scores), float(weights.sum())
    least = float((weights * np.where(positive == (scores > 0.0), 0.0, sizes)).sum())
    of_either = float((weights * sizes).sum())  # of the labels that are true and are not
    one_more, blocks = scores.shape[1] / (2.0 * total), row_blocks(scores)

    def at(temperature: float) -> float:
        rest = 0.0
        for rows in blocks:
            logarithms = np.log1p(np.exp(sizes[rows] / -temperature))
            rest += float((weights[rows] * logarithms).sum())
        known, more = least / temperature + rest, of_either / temperature + 2.0 * rest
        return float((known + one_more * more) / total)

    return at


# Numbers of which several arrays stay in the nearest cache.
CACHED = 1 << 13


def row_blocks(table: Floats) -> list[slice]:
    """Some rows (n, k) at a time."""
    return list(pieces(np.full(*table.shape), CACHED))


def temperature(log_loss: Callable[[float], float], accuracy: float = EXACT) -> float:
    """The temperature, from 1/1100 to 1100, at which a log-loss is smallest.

    accuracy: of its logarithm.
    """
    # Over its logarithm: halving and doubling are as far, and it stays above 0.
    return math.exp(lowest(lambda x: log_loss(math.exp(x)), -7.0, 7.0, accuracy))


def lowest(
    curve: Callable[[float], float], low: float, high: float, accuracy: float = EXACT
) -> float:
    """Where a curve has a minimum between two points (Brent 1973, chapter 5)."""
    best = second = third = low + GOLDEN * (high - low)
    value = of_second = of_third = curve(best)
    step = before = 0.0
    while True:
        middle, least = 0.5 * (low + high), 1e-8 * abs(best) + accuracy / 3.0
        if abs(best - middle) <= 2.0 * least - 0.5 * (high - low):
            return best
        # The lowest point of the parabola through the last three, if it is near and inside.
        r, q = (best - second) * (value - of_third), (best - third) * (value - of_second)
        p, q = (best - third) * q - (best - second) * r, 2.0 * (q - r)
        p, q = (-p, q) if q > 0.0 else (p, -q)
        inside = q * (low - best) < p < q * (high - best)
        if abs(before) > least and abs(p) < abs(0.5 * q * before) and inside:
            before, step = step, p / q
            if min(best + step - low, high - best - step) < 2.0 * least:
                step = math.copysign(least, middle - best)
        else:
            before = (high if best < middle else low) - best
            step = GOLDEN * before
        at = best + (step if abs(step) >= least else math.copysign(least, step))
        new_value = curve(at)
        if new_value <= value:
            low, high = (low, best) if at < best else (best, high)
            third, of_third, second, of_second = second, of_second, best, value
            best, value = at, new_value
        else:
            low, high = (at, high) if at < best else (low, at)
            if new_value <= of_second or second == best:
                third, of_third, second, of_second = second, of_second, at, new_value
            elif new_value <= of_third or third in (best, second):
                third, of_third = at, new_value


def log_odds(scores: Floats) -> Floats:
    """(n, k) log-odds of each label's probability under softmax, from its scores (n, k)."""
    # f_c - log sum_(l != c) exp(f_l), of the labels before c and those after it
    none = np.full((len(scores), 1), -np.inf)
    before = np.hstack([none, np.logaddexp.accumulate(scores, axis=1)[:, :-1]])
    after = np.hstack([np.logaddexp.accumulate(scores[:, ::-1], axis=1)[:, -2::-1], none])
    return np.asarray(scores - np.logaddexp(before, after))


#: Bins of equal width from 0 to 1.
BINS = 10

#: The rules of a table of thresholds, as `--threshold` takes them.
RULES = ("f1", "precision:0.8", "precision:0.9", "precision:0.95", "precision:0.99")


class Bin(NamedTuple):
    """Documents with a predicted probability above ``low`` and up to ``high``.

    Attributes
    ----------
    low, high : float
        The first bin contains 0 as well.
    documents : int
        Number of documents in the bin.
    probability : float
        Their mean predicted probability.
    share : float
        Fraction of them for which the prediction is true.
    low_share, high_share : float
        The 95 % interval of that fraction (Wilson 1927).
    """

    low: float
    high: float
    documents: int
    probability: float
    share: float
    low_share: float
    high_share: float


class Reliability(NamedTuple):
    """A reliability diagram: predicted probabilities and observed frequencies.

    Attributes
    ----------
    of : str
        The label whose probability it is, the second of two; empty for the probability of each
        document's predicted label.
    bins : tuple of Bin
        The bins that have documents.
    error : float
        The expected calibration error: the mean over documents of \\|probability - share\\| of
        their bins (Guo et al. 2017, equation 3).
    """

    of: str
    bins: tuple[Bin, ...]
    error: float

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values, ready for JSON."""
        return {"of": self.of, "error": self.error, "bins": [one._asdict() for one in self.bins]}


def reliability(probability: Floats, came_true: Bools, of: str = "") -> Reliability:
    """Sort documents into bins by their probability, and count the outcomes.

    Parameters
    ----------
    probability : ndarray of shape (n,)
        Predicted probabilities of one or more documents.
    came_true : ndarray of bool, shape (n,)
        Whether each prediction is true.
    of : str, default ""
        See :class:`Reliability`.
    """
    edges = np.arange(1, BINS) / BINS
    place = np.searchsorted(edges, probability, side="left")
    bins = []
    for b in np.unique(place).tolist():
        in_bin = place == b
        count, right = int(in_bin.sum()), int(came_true[in_bin].sum())
        mean = float(probability[in_bin].mean())
        interval = wilson(right, count)
        bins.append(Bin(b / BINS, (b + 1) / BINS, count, mean, right / count, *interval))
    off = sum(one.documents * abs(one.probability - one.share) for one in bins)
    return Reliability(of, tuple(bins), off / len(probability))


class ThresholdLine(NamedTuple):
    """A decision threshold of a label, and its predictions.

    Attributes
    ----------
    rule : str
        The rule that chooses it, as ``--threshold`` takes it; "now" for the one in use.
    threshold : float or None
        See ``Model.thresholds``. None if no threshold fulfills the rule; the rest is then 0.
    documents : int
        Documents that are predicted to have the label.
    precision, recall, f1 : float
        Of the label.
    """

    rule: str
    threshold: float | None
    documents: int
    precision: float
    recall: float
    f1: float


def threshold_lines(curve: ThresholdCurve, now: float) -> tuple[ThresholdLine, ...]:
    """The threshold in use, ``now``, and those that the RULES choose on the same documents.

    The latter are measured on the documents that they were chosen on, which is a little optimistic.
    """
    chosen = [_line(rule, curve.best(parse_rule(rule)), curve) for rule in RULES]
    return _line("now", now, curve), *chosen


def _line(rule: str, value: float | None, curve: ThresholdCurve) -> ThresholdLine:
    if value is None:
        return ThresholdLine(rule, None, 0, 0.0, 0.0, 0.0)
    predicted, hits = curve.counts(np.array(value))
    _, precision, recall = curve.at(value)
    f1 = float(f1_of(hits, predicted, curve.positives))
    return ThresholdLine(rule, value, int(predicted), precision, recall, f1)
