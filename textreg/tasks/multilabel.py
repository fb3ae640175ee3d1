"""Several labels for each document: any number of them, or none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from textreg.errors import DataError, UsageError, did_you_mean
from textreg.kinds import Loss
from textreg.losses import find_loss
from textreg.measure import decisions, evaluation
from textreg.measure.decisions import Calibration, Reliability, Threshold
from textreg.measure.evaluation import MultilabelEvaluation, f1_scores
from textreg.measure.intercept import log_sigmoid
from textreg.measure.metrics import mean
from textreg.records import Bools, Corpus, Floats, Int64s
from textreg.records.text import with_labels
from textreg.tasks import base
from textreg.tasks.base import ByLabel, ClassWeight, Held, Metrics, Options, Targets, Task
from textreg.tasks.classification import Classification, Multiclass


@dataclass(frozen=True)
class Multilabel(Multiclass):
    """Any number of labels for each document, each fitted against the documents without it.

    ``y`` is an indicator matrix (n, k): whether each document has each of :attr:`labels`. A label
    is predicted where its score is above its threshold.

    Attributes
    ----------
    at_least_one : bool, default False
        Whether every document is predicted to have a label, if need be the one whose score is the
        nearest to its threshold, or most above it.
    """

    at_least_one: bool = False

    name = "multilabel"
    kind = "multilabel"
    metrics: ClassVar[tuple[str, ...]] = ("micro-macro-f1", "micro-f1", "macro-f1", "log-loss")
    multilabel = True
    threshold_rule = "joint-f1"
    rejects = False

    def __post_init__(self) -> None:
        if not self.labels or len(set(self.labels)) != len(self.labels):
            raise UsageError(f"a model needs one or more distinct labels, not {list(self.labels)}.")
        base.check_rare_label(self.rare_label, self.labels)

    @classmethod
    def check_options(cls, options: Options) -> None:
        if options.multiclass == "softmax":
            raise UsageError(
                "softmax gives a document one label: leave out multiclass for several labels."
            )
        super().check_options(options)

    @classmethod
    def kinds(cls) -> dict[str, type[Task]]:
        return {cls.kind: cls}

    @classmethod
    def usable(
        cls, corpus: Corpus, least: int, rare_label: str | None
    ) -> tuple[Corpus, dict[str, int]]:
        if not corpus.multilabel or corpus.labels is None:
            return corpus, {}
        counts = base.documents_of_labels(corpus)
        rare = base.labels_below(counts, least, rare_label)
        if not rare:
            return corpus, {}
        if rare_label is not None:
            return with_labels(corpus, dict.fromkeys(rare, rare_label)), rare
        base.warn_of_left_out(rare, least, f"of {len(counts):,}; their documents keep their others")
        kept = [tuple(label for label in labels if label not in rare) for labels in corpus.labels]
        return replace(corpus, labels=kept), rare

    @classmethod
    def of(cls, corpus: Corpus, loss: Loss, multiclass: str) -> Task:
        if not len(corpus):
            raise DataError("There are no documents to train on: give a file with labeled texts.")
        _check_lists(corpus)
        names = corpus.label_names()
        if not names:
            raise DataError(
                f"None of the {len(corpus):,} documents has a label: there is nothing to learn. "
                "Check the choice of the label column (--label-col), or ask for fewer documents of "
                "each (--min-label)."
            )
        return cls(tuple(names), loss.name, find_loss(loss).log_odds)

    @classmethod
    def from_header(cls, header: Mapping[str, Any]) -> Task:
        task = super().from_header(header)
        assert isinstance(task, Multilabel)
        return replace(task, at_least_one=header.get("at_least_one", False))

    def with_options(self, options: Options) -> Task:
        return replace(self, at_least_one=options.at_least_one)

    # -- targets --------------------------------------------------------------------------------

    def targets(self, corpus: Corpus) -> Bools:
        """(n, k); labels that the model does not know are left out."""
        _check_lists(corpus)
        return self.known_targets(corpus)

    known = Task.known  # all labels of ``y`` are those of the model

    def known_targets(self, corpus: Corpus) -> Bools:
        lists = corpus.labels if corpus.multilabel else [()] * len(corpus)
        # Labels that are not known count as the rare one, if there is one.
        return evaluation.indicators(lists or (), self.labels, self.rare_label)[:, :-1]

    def part(self, rows: Int64s, y: Targets) -> tuple[Multilabel, Bools, Targets]:
        labels = tuple(self.labels[row] for row in rows.tolist())
        task = replace(self, labels=labels, rare_label=None)
        return task, np.ones(len(y), dtype=bool), y[:, rows]

    def row(self, y: Targets, number: int) -> Floats:
        return np.where(y[:, number], 1.0, -1.0)

    def strata(self, y: Targets) -> tuple[Int64s, Sequence[str]]:
        """The label of each document that the fewest have; the last stratum has none."""
        k = len(self.labels)
        order = np.argsort(y.sum(axis=0), kind="stable")
        rarest = order[y[:, order].argmax(axis=1)]
        return np.where(y.any(axis=1), rarest, k).astype(np.int64), (*self.labels, "no label")

    def memberships(self, y: Targets) -> tuple[Int64s | Bools, Sequence[str]]:
        return y.astype(bool, copy=False), self.labels

    def factors(self, y: Targets, sample_weight: Floats, class_weight: ClassWeight) -> Floats:
        return np.ones(len(self.labels) + 1)

    def row_factors(
        self, y: Targets, sample_weight: Floats, class_weight: ClassWeight
    ) -> Floats | None:
        """LABEL=FACTOR is for the documents with the label, in the fit of that label."""
        if class_weight is None:
            return None
        if not isinstance(class_weight, str):
            base.check_class_weight(class_weight, self.labels)
            factors = [float(class_weight.get(label, 1.0)) for label in self.labels]
            return np.column_stack([np.ones(len(factors)), factors])
        positive = sample_weight @ y
        total = np.column_stack([sample_weight.sum() - positive, positive])
        half = total.sum(axis=1, keepdims=True) / 2
        return np.asarray(np.divide(half, total, out=np.ones_like(total), where=total > 0))

    def describe(self, y: Targets) -> dict[str, float]:
        return dict(zip(self.labels, y.sum(axis=0).tolist(), strict=True))

    def _warn_of_unknown(self, corpus: Corpus) -> list[str]:
        """Labels of a corpus that the model does not know, with a DataWarning that names them."""
        unknown = sorted(set(corpus.label_names()) - set(self.labels))
        if unknown:
            known = {*self.labels}
            rows = [at for at, names in enumerate(corpus.labels or ()) if not known >= set(names)]
            listed, counts = [f"'{label}'" for label in unknown], (len(rows), len(corpus))
            hint = did_you_mean(unknown[0], self.labels)
            evaluation.tell_unknown(corpus.where(rows[0]), counts, listed, hint, self.rare_label)
        return [] if self.rare_label is not None else unknown

    # -- scores ---------------------------------------------------------------------------------

    def decide(self, scores: Floats, thresholds: ByLabel | None = None) -> Bools:
        """The labels whose scores are above their thresholds, which are 0 if not given."""
        margins = self.as_table(scores) - self._offsets(thresholds or {})
        y = margins > 0.0
        if self.at_least_one:
            none = np.flatnonzero(~y.any(axis=1))
            y[none, margins[none].argmax(axis=1)] = True
        return np.asarray(y)

    def answers(self, y: Targets) -> list[Any]:
        return [[self.labels[code] for code in np.flatnonzero(row)] for row in y]

    def text(self, answer: Any) -> str:
        return ", ".join(answer) or "no label"

    def right(self, y_true: Targets, y_pred: Targets) -> Bools:
        return np.asarray((y_true == y_pred).all(axis=1))

    def certainty(self, scores: Floats, y_true: Targets, thresholds: ByLabel) -> Floats:
        margins = self.as_table(scores) - self._offsets(thresholds)
        return np.asarray(np.abs(margins).min(axis=1))

    def measure(self, scores: Floats, y: Targets, weights: Floats | None = None) -> Metrics:
        """F1 with thresholds chosen on the other half of the documents, and the log-loss."""
        table, decided = self.as_table(scores), self.decide_by_halves(Held(scores, y, weights))
        micro, macro = f1_scores(y.astype(bool), decided, weights)
        values = {"micro-macro-f1": (micro + macro) / 2, "micro-f1": micro, "macro-f1": macro}
        if self.probabilistic:
            values["log-loss"] = mean(self._log_losses(table, y), weights)
        return values

    def losses(self, metric: str, scores: Floats, y: Targets) -> Floats | None:
        return self._log_losses(self.as_table(scores), y) if metric == "log-loss" else None

    def decide_by_halves(self, held: Held) -> Bools:
        """The labels of documents by thresholds that the other half of them chooses."""
        table, true, counts = self.as_table(held.scores), held.y.astype(bool), held.counts
        decided = np.zeros(true.shape, dtype=bool)
        for choosing, rows in decisions.halves(len(true)):
            values = decisions.thresholds_of(table[choosing], true[choosing], counts[choosing])
            thresholds = dict(zip(self.labels, values.tolist(), strict=True))
            decided[rows] = self.decide(table[rows], thresholds)
        return decided

    def evaluate(
        self, corpus: Corpus, scores: Floats, thresholds: ByLabel, calibration: Calibration | None
    ) -> MultilabelEvaluation:
        """A label that the model does not know counts as one that is never predicted.

        Warns with a DataWarning if there are such labels.
        """
        y, table = self.targets(corpus), self.as_table(scores)
        unknown = self._warn_of_unknown(corpus)
        log_loss = None
        if self.probabilistic and len(y):
            log_loss = mean(self._log_losses(self._calibrated(table, calibration), y))
        decided = self.decide(table, thresholds)
        if unknown:
            more = evaluation.indicators(corpus.labels or (), unknown)[:, :-1]
            lowest = np.full(more.shape, table.min(initial=0.0) - 1.0)
            y, table = np.hstack([y, more]), np.hstack([table, lowest])
            decided = np.hstack([decided, np.zeros_like(more)])
        measured = evaluation.evaluate_sets(y, decided, (*self.labels, *unknown), table, log_loss)
        return replace(measured, unknown=tuple(unknown))

    # -- probabilities --------------------------------------------------------------------------

    # Of each label by itself, so that they need not sum to one.
    probabilities = Classification.probabilities
    log_probabilities = Classification.log_probabilities

    def _log_losses(self, table: Floats, codes: Targets) -> Floats:
        """(n,) minus the log-probability of what is true of each label, mean over the labels."""
        return np.asarray(-log_sigmoid(np.where(codes, table, -table)).mean(axis=1))

    def calibrate(self, method: str, held: Held) -> Calibration:
        table, true, counts = self.as_table(held.scores), held.y.astype(bool), held.counts
        weights = np.broadcast_to(counts[:, None], table.shape)
        log_loss = decisions.row_loss(table, true, weights)
        return decisions.calibrate(method, table, true.T, counts, log_loss)

    def reliability(
        self, scores: Floats, y: Targets, calibration: Calibration | None = None
    ) -> Reliability | None:
        """Of the probabilities of all labels of all documents."""
        if not self.probabilistic:
            return None
        proba = self.probabilities(scores, calibration)
        return decisions.reliability(proba.ravel(), y.astype(bool).ravel(), "each label")

    # -- thresholds -----------------------------------------------------------------------------

    def choose_thresholds(self, rules: Mapping[str, str], held: Held) -> dict[str, Threshold]:
        """Of labels without a rule those of all labels together: see :mod:`joint_thresholds`.

        Raises DataError if no threshold gives the precision that was asked for.
        """
        scores, true = self.as_table(held.scores), held.y.astype(bool)
        values = decisions.joint_thresholds(scores, true, held.counts).tolist()
        chosen, curves = {}, self._curves(held, {})
        for c, (label, value) in enumerate(zip(self.labels, values, strict=True)):
            curve, rule = curves(c), rules.get(label)
            chosen[label] = (
                curve.at(value) if rule is None else decisions.choose_threshold(rule, curve, label)
            )
        return chosen

    def _margins(self, table: Floats, thresholds: ByLabel) -> Floats:
        return table

    # -- sides ----------------------------------------------------------------------------------

    def explained_of(self, scores: Floats, thresholds: ByLabel) -> tuple[Int64s, Int64s]:
        """Every predicted label, the one most above its threshold first; else the least below."""
        margins = self.as_table(scores) - self._offsets(thresholds)
        best = np.argsort(-margins, axis=1, kind="stable")
        wanted = np.take_along_axis(np.asarray(self.decide(scores, thresholds)), best, axis=1)
        wanted[:, 0] = True
        rows, places = np.nonzero(wanted)
        return rows, best[rows, places]

    def documents_of(self, y: Targets, side: int) -> Bools:
        return y[:, side].astype(bool)


def _check_lists(corpus: Corpus) -> None:
    """DataError unless every document has a list of labels."""
    if corpus.labels is None:
        raise DataError(
            "The documents have no labels: say which column holds them (--label-col), or give a "
            "list of labels for each text."
        )
    if len(corpus) and not corpus.multilabel:
        raise DataError(
            f"{corpus.where(0)}: the label is {corpus.labels[0]!r:.60}, and documents with several "
            "labels have lists: name what separates labels (--label-sep ';'), write lists, or "
            "leave out --task multilabel."
        )
