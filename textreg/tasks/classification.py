"""Classification: each document has one of two or more labels."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from textreg.errors import DataError, UsageError, alternatives, did_you_mean
from textreg.kinds import Loss
from textreg.losses import find_loss
from textreg.measure import decisions, evaluation, intercept
from textreg.measure.decisions import Calibration, Reliability, Threshold, ThresholdCurve
from textreg.measure.evaluation import Evaluation, MultilabelEvaluation
from textreg.measure.metrics import LOG_LOSSES, mean, measure_labels
from textreg.records import Bools, Corpus, Floats, Int64s
from textreg.records.text import with_labels
from textreg.tasks import base
from textreg.tasks.base import ByLabel, ClassWeight, Held, Metrics, Options, Targets, Task


@dataclass(frozen=True)
class Classification(Task):
    """One of several labels for each document; ``y`` holds indices into :attr:`labels`.

    Labels that the model does not know have the indices after those, in sorted order.
    A score above 0 speaks for a label. Probabilities are those of the logistic model.
    """

    loss: str = "logistic"
    probabilistic: bool = True

    name = "classification"
    metrics: ClassVar[tuple[str, ...]] = ("calibrated-log-loss", "accuracy", "macro-f1", "log-loss")
    default_loss = "logistic"
    rejects = True

    def __post_init__(self) -> None:
        if len(self.labels) < 2 or len(set(self.labels)) != len(self.labels):
            raise UsageError(f"a model needs two or more distinct labels, not {list(self.labels)}.")
        base.check_rare_label(self.rare_label, self.labels)
        if self.unknown in self.labels:
            raise UsageError(
                f"the unknown label '{self.unknown}' is a label of the model as well: give it "
                "another name."
            )

    @classmethod
    def check_options(cls, options: Options) -> None:
        super().check_options(options)
        if options.metric in LOG_LOSSES and not options.loss.log_odds:
            raise UsageError(
                f"the loss '{options.loss.label()}' gives no probabilities, so there is no "
                "log-loss to choose by: take another metric, or the logistic loss."
            )

    @classmethod
    def kinds(cls) -> dict[str, type[Task]]:
        return {task.kind: task for task in (Binary, OneVsRest, Softmax)}

    @classmethod
    def usable(
        cls, corpus: Corpus, least: int, rare_label: str | None
    ) -> tuple[Corpus, dict[str, int]]:
        if corpus.labels is None:
            return corpus, {}
        counts = base.documents_of_labels(corpus)
        if all(isinstance(label, str) for label in counts):
            column = corpus.columns.get("label", "").partition(" (guessed")[0]
            base.warn_of_column(corpus.labels, counts, column)
        rare = base.rare_labels(counts, least, rare_label)
        if not rare:
            return corpus, {}
        if rare_label is not None:
            return with_labels(corpus, dict.fromkeys(rare, rare_label)), rare
        rows = np.array([row for row, label in enumerate(corpus.labels) if label not in rare])
        base.warn_of_left_out(
            rare, least, f"{len(corpus) - len(rows):,} of {len(corpus):,} documents"
        )
        return replace(corpus.select(rows), skipped=corpus.skipped), rare

    @classmethod
    def of(cls, corpus: Corpus, loss: Loss, multiclass: str) -> Task:
        return classification(base.labels_of(corpus), loss, multiclass)

    # -- targets --------------------------------------------------------------------------------

    def targets(self, corpus: Corpus) -> Targets:
        return evaluation.coded(self._counted(corpus), self.answerable, corpus.where)[0]

    def dev_targets(self, dev: Corpus) -> Targets:
        if not len(dev) or dev.labels is None:
            raise DataError(
                "There are no labeled documents in dev: give some to choose the hyperparameters by "
                "(--dev)."
            )
        y = self.targets(dev)
        self._warn_of_unknown(dev)
        return y

    def _warn_of_unknown(self, corpus: Corpus) -> list[str]:
        """DataWarning that names labels of a corpus that are not known.

        Returns those that are columns of their own in an evaluation.
        """
        count_as = self.rare_label or self.unknown
        evaluation.warn_of_unknown(corpus.labels or (), self.answerable, corpus.where, count_as)
        return []

    def _counted(self, corpus: Corpus) -> Sequence[str | None]:
        """The labels of documents as they count: those not known as the rare or unknown one."""
        labels: Sequence[str | None] = corpus.labels or [None] * len(corpus)
        count_as, known = self.rare_label or self.unknown, {*self.answerable, "", None}
        if count_as is None:
            return labels
        return [label if label in known else count_as for label in labels]

    @property
    def answerable(self) -> tuple[str, ...]:
        """The labels, and the unknown one if there is one."""
        return self.labels if self.unknown is None else (*self.labels, self.unknown)

    def known(self, y: Targets) -> Bools:
        return np.asarray(y < len(self.labels))

    def outside(self, y: Targets) -> Bools:
        none = len(self.labels) if self.unknown is not None else -1
        return np.asarray(y == none)

    def known_targets(self, corpus: Corpus) -> Targets:
        code_of = {label: code for code, label in enumerate(self.labels)}
        codes = [-1 if label is None else code_of.get(label, -1) for label in self._counted(corpus)]
        return np.array(codes, dtype=np.int64)

    def strata(self, y: Targets) -> tuple[Int64s, Sequence[str]]:
        return y.astype(np.int64), self.labels

    def factors(self, y: Targets, sample_weight: Floats, class_weight: ClassWeight) -> Floats:
        labels = self.labels
        total = np.bincount(y.astype(np.int64), weights=sample_weight, minlength=len(labels))
        if not total.all():
            label = labels[int(np.argmin(total))]
            raise DataError(
                f"All documents with the label '{label}' have the weight 0: give some of them "
                "more, or leave that label out."
            )
        if class_weight is None:
            return np.ones(len(labels))
        if isinstance(class_weight, str):
            return np.asarray(total.sum() / (len(labels) * total))
        base.check_class_weight(class_weight, labels)
        return np.array([float(class_weight.get(label, 1.0)) for label in labels])

    def describe(self, y: Targets) -> dict[str, float]:
        counts = np.bincount(y.astype(np.int64), minlength=len(self.labels))
        return dict(zip(self.labels, counts[: len(self.labels)].tolist(), strict=True))

    def label_lines(self, described: Mapping[str, float]) -> tuple[str, list[str]]:
        listed = [
            f"{label} {described[label]:,}" if label in described else label
            for label in self.labels
        ]
        return "labels", listed

    # -- scores ---------------------------------------------------------------------------------

    def answers(self, y: Targets) -> list[Any]:
        return [self.answerable[code] for code in y.tolist()]

    def text(self, answer: Any) -> str:
        return str(answer)

    def measure(self, scores: Floats, y: Targets, weights: Floats | None = None) -> Metrics:
        table, codes = self.as_table(scores), y.astype(np.int64)
        decided = np.asarray(self.decide(table), np.int64)
        values = measure_labels(codes, decided, len(self.labels), weights)
        if self.probabilistic:
            held = self._only_known(Held(table, codes, weights))
            # It may be that no document counts.
            counts = len(held.y) > 0 and (held.weights is None or bool(held.weights.any()))
            for metric in LOG_LOSSES:
                losses = self._measured_losses(metric, held) if counts else None
                values[metric] = 0.0 if losses is None else mean(losses, held.weights)
        return values

    def losses(self, metric: str, scores: Floats, y: Targets) -> Floats | None:
        if metric not in LOG_LOSSES:
            return None
        return self._measured_losses(metric, self._only_known(Held(scores, y)))

    def _measured_losses(self, metric: str, held: Held) -> Floats:
        """(n,) losses of documents with known labels, of which one at least counts."""
        table, codes = self.as_table(held.scores), held.y.astype(np.int64)
        if metric == "calibrated-log-loss" and len(codes):
            table = table / decisions.temperature(
                lambda it: mean(self._log_losses(table / it, codes), held.weights)
            )
        return self._log_losses(table, codes)

    def evaluate(
        self, corpus: Corpus, scores: Floats, thresholds: ByLabel, calibration: Calibration | None
    ) -> Evaluation | MultilabelEvaluation:
        names = self.answerable
        if corpus.labels is not None and (self.rare_label or self.unknown) is not None:
            self._warn_of_unknown(corpus)
        result = evaluation.evaluate(
            self._counted(corpus),
            [names[code] for code in self.decide(scores, thresholds).tolist()],
            names,
            self.probabilities(scores, calibration) if self.probabilistic else None,
            where=corpus.where,
        )
        if self.unknown not in thresholds:
            return result
        assert isinstance(result, Evaluation)  # every document has one label
        curve = self.risk_curve(Held(scores, self.targets(corpus)), thresholds)
        label = str(self.unknown)
        return replace(result, selective=curve.table(label, thresholds[label]))

    # -- probabilities --------------------------------------------------------------------------

    def calibrate(self, method: str, held: Held) -> Calibration:
        """Learn a calibration; see :func:`textreg.measure.decisions.calibrate`."""
        held = self._only_known(held)
        table, codes, counts = self.as_table(held.scores), held.y.astype(np.int64), held.counts
        return decisions.calibrate(
            method,
            self._log_odds(table),
            self.rows(codes) > 0,
            counts,
            lambda it: (
                mean(self._log_losses(table / it, codes), counts)
                # Laplace's rule: one document more, of any label alike
                - float((counts[:, None] * self.log_probabilities(table / it)).mean()) / len(table)
            ),
        )

    def shift(self, scores: Floats, y: Targets, weights: Floats) -> intercept.Shift | None:
        if not self.probabilistic:
            return None
        counts = self.known(y) & (weights > 0.0).any(axis=1)
        table, codes = self.as_table(scores)[counts], y[counts].astype(int)
        weights = weights[counts]
        # A document that several fits weigh by other factors counts by their mean.
        of_documents = Held(table, codes, weights.mean(axis=1)).counts
        return intercept.choose_shift(
            lambda rows: self._shifts(table[rows], codes[rows], weights[rows]),
            lambda at, rows: self._log_losses(at, codes[rows]),
            table,
            of_documents,
        )

    def _shifts(self, table: Floats, codes: Int64s, weights: Floats) -> dict[str, Floats]:
        """The shifts to choose among, by kind, the expected one first."""
        return intercept.shifts_of_rows(table, self.rows(codes).T > 0, weights)

    def reliability(
        self, scores: Floats, y: Targets, calibration: Calibration | None = None
    ) -> Reliability | None:
        held = self._only_known(Held(scores, y))
        if not self.probabilistic or not len(held.y):
            return None
        return self._reliability(self.probabilities(held.scores, calibration), held.y)

    @abstractmethod
    def _reliability(self, proba: Floats, y: Targets) -> Reliability:
        """Probabilities (n, labels) of documents whose labels the model has."""

    def _only_known(self, held: Held) -> Held:
        """The documents whose labels the model has."""
        known = self.known(held.y)
        return held if known.all() else held.of(known)

    def probabilities(self, scores: Floats, calibration: Calibration | None = None) -> Floats:
        return intercept.sigmoid(self.label_scores(self._calibrated(scores, calibration)))

    def log_probabilities(self, scores: Floats, calibration: Calibration | None = None) -> Floats:
        return intercept.log_sigmoid(self.label_scores(self._calibrated(scores, calibration)))

    @abstractmethod
    def _log_losses(self, table: Floats, codes: Int64s) -> Floats:
        """(n,) minus the log-probability of each document's label, not calibrated."""

    def _calibrated(self, scores: Floats, calibration: Calibration | None) -> Floats:
        """Calibrated scores, in the same shape; UsageError if there are no probabilities."""
        self.require_probabilities()
        if calibration is None:
            return scores
        return self.as_scores(calibration.apply(self.as_table(scores), self._log_odds, self._logit))

    def _log_odds(self, table: Floats) -> Floats:
        """(n, k) the log-odds that each score stands for."""
        return table

    def _logit(self, probabilities: Floats) -> Floats:
        """(n, k) scores that stand for these probabilities."""
        return np.asarray(np.log(probabilities) - np.log1p(-probabilities))

    # -- thresholds -----------------------------------------------------------------------------

    def decide(self, scores: Floats, thresholds: ByLabel | None = None) -> Targets:
        """The best label; the unknown one if the confidence is below its threshold."""
        thresholds = thresholds or {}
        best = self._best(scores, thresholds)
        if self.unknown not in thresholds:
            return best
        answered = self.confidence(scores, thresholds) >= thresholds[str(self.unknown)]
        return np.where(answered, best, len(self.labels))

    def label_scores(self, scores: Floats) -> Floats:
        return self.as_table(scores)

    @abstractmethod
    def _best(self, scores: Floats, thresholds: ByLabel) -> Int64s:
        """(n,) the label that scores speak for most, given the thresholds of labels."""

    @abstractmethod
    def confidence(self, scores: Floats, thresholds: ByLabel) -> Floats:
        """(n,) the highest score, less its label's threshold: low where every label says no."""

    def risk_curve(self, held: Held, thresholds: ByLabel) -> decisions.RiskCurve:
        """Coverage and risk of every threshold that the unknown label could have."""
        scores, y = self.as_table(held.scores), held.y
        return decisions.RiskCurve.of(
            self.confidence(scores, thresholds),
            ~self.outside(y),
            self._best(scores, thresholds) == y,
            held.counts,
        )

    def choose_unknown(
        self, rule: str | None, held: Held, aside: Held, thresholds: ByLabel
    ) -> decisions.Unknown:
        pair = (held, aside)
        weights = [np.ones(len(part.y)) if part.weights is None else part.weights for part in pair]
        pool = Held(
            np.vstack([self.as_table(part.scores) for part in pair]),
            np.concatenate([part.y for part in pair]),
            np.concatenate(weights),
        )
        return decisions.choose_unknown(rule, self.risk_curve(pool, thresholds), str(self.unknown))

    def check_thresholds(self, thresholds: Mapping[str, object]) -> None:
        for label in thresholds:
            if label not in self.answerable:
                raise UsageError(
                    f"threshold names the label '{label}', which is not there."
                    f"{alternatives(label, self.labels)}"
                )

    def choose_thresholds(self, rules: Mapping[str, str], held: Held) -> dict[str, Threshold]:
        """Each threshold is chosen given those before it.

        Raises DataError if no threshold gives the precision that was asked for.
        """
        chosen: dict[str, Threshold] = {}
        for label, rule in rules.items():
            so_far = {name: threshold.value for name, threshold in chosen.items()}
            curve = self._curves(held, so_far)(self.labels.index(label))
            chosen[label] = decisions.choose_threshold(rule, curve, label)
        return chosen

    def threshold_table(
        self, scores: Floats, y: Targets, thresholds: ByLabel
    ) -> dict[str, tuple[decisions.ThresholdLine, ...]]:
        """See :func:`textreg.measure.decisions.threshold_lines`; others keep theirs."""
        if not self.known(y).any():
            return {}
        curve = self._curves(Held(scores, y), thresholds)
        return {
            label: decisions.threshold_lines(curve(c), self._in_use(label, thresholds))
            for c, label in enumerate(self.labels)
        }

    def _curves(self, held: Held, thresholds: ByLabel) -> Callable[[int], ThresholdCurve]:
        """Gives every threshold that a label ``c`` could have, the others having theirs."""
        held = self._only_known(held)
        margins, counts = self._margins(self.as_table(held.scores), thresholds), held.counts
        return lambda c: ThresholdCurve.of(margins[:, c], self.documents_of(held.y, c), counts)

    @abstractmethod
    def _margins(self, table: Floats, thresholds: ByLabel) -> Floats:
        """(n, labels) by how much each score speaks for a label, before its own threshold."""

    def _in_use(self, label: str, thresholds: ByLabel) -> float:
        """The threshold that a label has in effect."""
        return thresholds.get(label, 0.0)

    # -- sides ----------------------------------------------------------------------------------

    @property
    def sides(self) -> tuple[str, ...]:
        return self.labels

    def side(self, label: str) -> int:
        if (label := str(label)) not in self.labels:
            raise UsageError(
                f"the model has no label '{label}'.{did_you_mean(label, self.labels)} Its labels "
                f"are: {', '.join(self.labels)}."
            )
        return self.labels.index(label)

    def explained(self, y_pred: Targets) -> Int64s:
        return y_pred.astype(np.int64)

    def side_name(self, side: int) -> str:
        return self.labels[side]

    def documents_of(self, y: Targets, side: int) -> Bools:
        return np.asarray(y == side)


@dataclass(frozen=True)
class Binary(Classification):
    """Two labels and one weight vector: a score above 0 speaks for the second label."""

    kind = "binary"

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.labels) != 2:
            raise UsageError(f"a binary model has two labels, not {list(self.labels)}.")

    def row(self, y: Targets, number: int) -> Floats:
        return np.where(y == 1, 1.0, -1.0)

    def _best(self, scores: Floats, thresholds: ByLabel) -> Int64s:
        """The second label above its threshold, or up to minus that of the first."""
        table = self.as_table(scores)[:, 0]
        first, second = self.labels
        if first in thresholds:
            return np.asarray(-table <= thresholds[first], dtype=np.int64)
        return np.asarray(table > thresholds.get(second, 0.0), dtype=np.int64)

    def label_scores(self, scores: Floats) -> Floats:
        score = self.as_table(scores)[:, 0]
        return np.column_stack([-score, score])

    def ranking(self, scores: Floats, thresholds: ByLabel | None = None) -> Int64s:
        best = self._best(scores, thresholds or {})
        return np.column_stack([best, 1 - best])

    def certainty(self, scores: Floats, y_true: Targets, thresholds: ByLabel) -> Floats:
        first, second = self._offsets(thresholds)
        return np.asarray(np.abs(self.as_table(scores)[:, 0] - second + first))

    def confidence(self, scores: Floats, thresholds: ByLabel) -> Floats:
        return self.certainty(scores, np.zeros(0), thresholds)

    def _reliability(self, proba: Floats, y: Targets) -> Reliability:
        """Of the probability of the second label."""
        return decisions.reliability(proba[:, 1], y == 1, self.labels[1])

    def _log_losses(self, table: Floats, codes: Int64s) -> Floats:
        # of the true class
        margins = np.where(codes == 1, table[:, 0], -table[:, 0])
        return -intercept.log_sigmoid(margins)

    def check_thresholds(self, thresholds: Mapping[str, object]) -> None:
        super().check_thresholds(thresholds)
        if len(thresholds.keys() - {self.unknown}) > 1:
            raise UsageError(
                "of two labels only one can have a threshold, which decides for both: leave one "
                "out."
            )

    def _margins(self, table: Floats, thresholds: ByLabel) -> Floats:
        return self.label_scores(table)

    def _in_use(self, label: str, thresholds: ByLabel) -> float:
        # One threshold decides for both labels.
        other = self.labels[1 - self.labels.index(label)]
        return thresholds.get(label, 0.0 - thresholds.get(other, 0.0))


@dataclass(frozen=True)
class Multiclass(Classification):
    """One weight vector for each label; the highest score wins."""

    def row(self, y: Targets, number: int) -> Floats:
        return np.where(y == number, 1.0, -1.0)

    @property
    def n_rows(self) -> int:
        return len(self.labels)

    def part(self, rows: Int64s, y: Targets) -> tuple[Multiclass, Bools, Targets]:
        """The task of some weight vectors alone, ascending: with the documents that count for it,
        which are those of its labels, and their targets.
        """
        count = np.isin(y, rows)
        labels = tuple(self.labels[row] for row in rows.tolist())
        task = replace(self, labels=labels, rare_label=None, unknown=None)
        return task, count, np.searchsorted(rows, y[count])

    def as_scores(self, table: Floats) -> Floats:
        return np.ascontiguousarray(table)

    def _best(self, scores: Floats, thresholds: ByLabel) -> Int64s:
        """The label of the highest score less its threshold, the first one of equal ones."""
        return np.asarray((scores - self._offsets(thresholds)).argmax(axis=1))

    def confidence(self, scores: Floats, thresholds: ByLabel) -> Floats:
        return np.asarray((scores - self._offsets(thresholds)).max(axis=1))

    def certainty(self, scores: Floats, y_true: Targets, thresholds: ByLabel) -> Floats:
        ranked = np.sort(scores - self._offsets(thresholds), axis=1)
        return np.asarray(ranked[:, -1] - ranked[:, -2])

    def _joint_shift(self, table: Floats, codes: Int64s, weights: Floats) -> Floats:
        """The shifts of all labels together."""
        counts = Held(table, codes, weights[:, 0]).counts

        def loss_and_gradient(rows: slice, at: Floats) -> tuple[float, Floats]:
            # -log p_y of the softmax p of logits g(f): its gradient is (p - t) g'(f)
            true_labels = np.arange(len(at)), codes[rows]
            ratios, total, m = self._sums(at)
            gradient = ratios / total[:, None]
            gradient[true_labels] -= 1.0
            gradient *= self._logit_slopes(ratios, m) * counts[rows, None]
            return float(counts[rows] @ self._losses(at[true_labels], total, m)), gradient

        of_labels = self.rows(codes) > 0
        return intercept.joint(loss_and_gradient, table, of_labels @ counts)

    def probabilities(self, scores: Floats, calibration: Calibration | None = None) -> Floats:
        ratios, total, _ = self._sums(self._calibrated(scores, calibration))
        ratios /= total[:, None]
        return ratios

    # One-vs-rest probabilities, normalized to a sum of one, are the softmax of their logarithms
    # g(f) = log sigmoid(f). All of them may be too small for a float: with m = min(0, max_l f_l),
    # sigmoid(f) = exp(m) / (exp(m) + exp(m - f)), and the factor exp(m) cancels out.

    def _sums(self, table: Floats) -> tuple[Floats, Floats, Floats]:
        """(n, k) exp(g(f) - m), (n,) the sums of these, and m (n,)."""
        m = np.minimum(table.max(axis=1), 0.0)
        with np.errstate(over="ignore"):
            ratios = np.exp(m[:, None] - table)
        ratios += np.exp(m)[:, None]
        np.reciprocal(ratios, out=ratios)
        return ratios, ratios.sum(axis=1), m

    def _logits(self, scores: Floats) -> Floats:
        """g(f)"""
        return intercept.log_sigmoid(scores)

    def _logit_slopes(self, ratios: Floats, m: Floats) -> Floats:
        """(n, k) g'(f) = 1 - sigmoid(f)."""
        return np.asarray(1.0 - ratios * np.exp(m)[:, None])

    def log_probabilities(self, scores: Floats, calibration: Calibration | None = None) -> Floats:
        table = self._calibrated(scores, calibration)
        _, total, m = self._sums(table)
        # A sum may be rounded to less than its largest term.
        return np.minimum(self._logits(table) - (np.log(total) + m)[:, None], 0.0)

    def _log_losses(self, table: Floats, codes: Int64s) -> Floats:
        _, total, m = self._sums(table)
        return self._losses(table[np.arange(len(codes)), codes], total, m)

    def _losses(self, true_scores: Floats, total: Floats, m: Floats) -> Floats:
        """(n,) The log-losses, where the true labels have the scores ``true_scores`` (n,)."""
        return np.maximum(np.log(total) + m - self._logits(true_scores), 0.0)

    def _reliability(self, proba: Floats, y: Targets) -> Reliability:
        """Of the probability of each document's most probable label."""
        best = proba.argmax(axis=1)
        return decisions.reliability(proba[np.arange(len(proba)), best], best == y)

    def _margins(self, table: Floats, thresholds: ByLabel) -> Floats:
        offset = table - self._offsets(thresholds)
        second, best = np.partition(offset, -2, axis=1)[:, -2:].T.copy()[:, :, None]
        of_others = np.where(offset < best, best, second)
        return np.asarray(np.subtract(table, of_others, out=of_others))

    def side_rows(self, rows: Floats) -> Floats:
        return rows

    def row_of(self, sides: Int64s) -> tuple[Int64s, Floats]:
        return sides, np.ones(len(sides))

    def side_of(self, row: int, weight: float) -> int:
        return row


@dataclass(frozen=True)
class OneVsRest(Multiclass):
    """Three labels or more, and one weight vector for each against all other labels."""

    kind = "one-vs-rest"
    multiclass = "ovr"

    def _shifts(self, table: Floats, codes: Int64s, weights: Floats) -> dict[str, Floats]:
        # Half of the shift, or none, chosen by the same rule lost .3 points on 8 corpora.
        balance = super()._shifts(table, codes, weights)["balanced"]
        return {"balanced": balance, "joint": self._joint_shift(table, codes, weights)}


@dataclass(frozen=True)
class Softmax(Multiclass):
    """Three labels or more, fitted together by the softmax loss (multinomial regression)."""

    loss: str = "softmax"

    kind = "softmax"
    multiclass = "softmax"
    joint = True

    def _shifts(self, table: Floats, codes: Int64s, weights: Floats) -> dict[str, Floats]:
        return {"joint": self._joint_shift(table, codes, weights), "none": np.zeros(table.shape[1])}

    def _sums(self, table: Floats) -> tuple[Floats, Floats, Floats]:
        m = table.max(axis=1)
        ratios = np.exp(table - m[:, None])
        return ratios, ratios.sum(axis=1), m

    def _logits(self, scores: Floats) -> Floats:
        return scores

    def _logit_slopes(self, ratios: Floats, m: Floats) -> Floats:
        return np.ones_like(ratios)

    def _log_odds(self, table: Floats) -> Floats:
        return decisions.log_odds(table)

    def _logit(self, probabilities: Floats) -> Floats:
        return np.log(probabilities)


def classification(
    labels: Sequence[str], loss: str | Loss = "logistic", multiclass: str = "ovr"
) -> Classification:
    """The classification of documents by these labels; UsageError for fewer than two.

    With two labels ``multiclass`` makes no difference.
    """
    if len(labels) > 2 and multiclass == "softmax":
        return Softmax(tuple(labels))
    fitted = find_loss(loss)
    kind = Binary if len(labels) == 2 else OneVsRest
    return kind(tuple(labels), fitted.name, fitted.log_odds)
