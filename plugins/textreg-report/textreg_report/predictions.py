"""Predictions for labeled documents, scores with intervals, and fits without a part of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textreg.errors import DataError, first_few
from textreg.kinds import Regularizer
from textreg.measure import evaluation, metrics
from textreg.model.model import Model
from textreg.plugins import registry
from textreg.records import Bools, Corpus, Floats, Int64s, MultiSolution
from textreg.records.text import find_names
from textreg.structure.shuffling import shadow_of
from textreg.tasks import Multilabel, Task
from textreg.tasks.base import Held
from textreg.terminal import counted
from textreg.training.fit import fit_rows
from textreg.training.prepare import SEARCH_TOL, Prepared, prepare, read_training
from textreg.training.running import ALONE, Run, Work
from textreg.training.search import choose
from textreg.training.settings import TrainingSettings
from textreg.training.splits import splits_of
from textreg.training.trials import Fold, Start, search
from textreg_report.page import Estimate, Section, Versus, mean_of
from textreg_report.significance import Answers, Interval, SetAnswers, bootstrap, sign_test

Targets = Int64s | Floats | Bools

# Labels listed one by one; of more, those with the most documents.
LABELS = 30

# Labels of a confusion matrix.
MATRIX = 20

# Pairs of confused labels that are listed.
PAIRS = 10

# Bootstrap samples of an interval.
RESAMPLES = 1000

# The mean F1 has a bootstrap interval up to this number of labels; more would take minutes.
RESAMPLED = 100


@dataclass(frozen=True, eq=False)
class Predictions:
    """Labeled documents and the scores that models gave them.

    scores: as of ``Model.decision_function``. models: those that gave the scores; model_of: (n,)
    index of the model of each document. how: which documents these are, in words.
    """

    corpus: Corpus
    scores: Floats
    models: Sequence[Model]
    model_of: Int64s
    how: str

    @property
    def model(self) -> Model:
        """One of the models; labels, loss, calibration and thresholds are the same for all."""
        return self.models[0]

    @cached_property
    def y_true(self) -> Targets:
        """(n,) targets of the documents; DataError if the model has the label of none."""
        return self.model.task.targets(self.corpus)

    @cached_property
    def y_pred(self) -> Targets:
        """(n,) predicted targets."""
        return self.model.decide(self.scores)

    @cached_property
    def judged(self) -> tuple[Targets, Targets]:
        """Both, with labels that a model of several does not know, and misses, as further ones."""
        labels, task = self.corpus.labels or (), self.model.task
        if not task.multilabel or task.rare_label is not None:
            return self.y_true, self.y_pred
        unknown = sorted({*self.corpus.label_names()} - {*task.labels})
        more = evaluation.indicators(labels, unknown)[:, :-1]
        given = np.hstack([self.y_pred, np.zeros_like(more)]).astype(bool)
        return np.hstack([self.y_true, more]).astype(bool), given

    @cached_property
    def certainty(self) -> Floats:
        """(n,) distance of each score from another prediction; in a regression, minus the error.

        Thresholds are subtracted first.
        """
        return self.model.task.certainty(self.scores, self.y_true, self.model.thresholds)

    @cached_property
    def proba(self) -> Floats | None:
        """(n, labels) probabilities, if the model has them."""
        return self.model.probabilities(self.scores) if self.model.has_probabilities else None


def scores_of(predictions: Predictions) -> Section:
    """How good the predictions are.

    Returns
    -------
    Section
        how: which documents, in words. documents: their number. figures: the most important scores;
        result: all of them. labels: scores of the labels with the most documents; left_out more are
        not listed. matrix: confusion matrix, true labels in rows, of ``matrix_labels``; None where
        documents may have several labels, and in a regression. confused: the most frequent errors;
        of several labels, one that is missed and one too many. reliability: predicted
        probabilities and observed shares. thresholds: what each rule for them would give.
    """
    model, task = predictions.model, predictions.model.task
    result = task.evaluate(
        predictions.corpus, predictions.scores, model.thresholds, model.calibration
    )
    known = {"how": predictions.how, "documents": len(predictions.y_true), "result": result}
    of_labels: dict[str, Any] = {"labels": [], "left_out": 0, "confused": [], "thresholds": []}
    none = {"matrix": None, "reliability": None}
    scores = Section(**known, figures=_figures(result, predictions), **of_labels, **none)
    if isinstance(result, evaluation.RegressionEvaluation):
        return scores
    names = [score.label for score in result.classes]
    order = np.argsort([-score.support for score in result.classes], kind="stable")
    shown = np.sort(order[:LABELS]).tolist()
    y_true = predictions.y_true.astype(bool if task.multilabel else np.int64)
    table = task.threshold_table(predictions.scores, y_true, model.thresholds)
    scores.left_out = len(names) - len(shown)
    scores.reliability = task.reliability(predictions.scores, y_true, model.calibration)
    scores.thresholds = [
        (names[code], table[names[code]]) for code in shown if names[code] in table
    ]
    if isinstance(result, evaluation.MultilabelEvaluation):
        y_pred = predictions.y_pred.astype(bool)
        # One label missed and another one given in its place: (missed' added) counts such pairs.
        missed, added = (it.astype(np.float64) for it in (y_true & ~y_pred, y_pred & ~y_true))
        scores.confused = _confused((missed.T @ added).astype(np.int64), model.labels)
        ends: list[Any] = [(it.precision_interval, it.recall_interval) for it in result.classes]
    else:
        matrix, most = result.confusion, np.sort(order[:MATRIX])
        scores.matrix = matrix[np.ix_(most, most)]
        scores.matrix_labels = [names[code] for code in most.tolist()]
        scores.confused = _confused(matrix, names)
        counts = np.stack([np.diag(matrix), matrix.sum(axis=0), matrix.sum(axis=1)], axis=1)
        ends = [[metrics.wilson(hits, n) if n else () for n in of] for hits, *of in counts.tolist()]
    for code in shown:
        score, (precision, recall) = result.classes[code], ends[code]
        scores.labels.append(
            Section(
                label=score.label,
                precision=Estimate("precision", score.precision, *precision),
                recall=Estimate("recall", score.recall, *recall),
                f1=score.f1,
                support=score.support,
            )
        )
    return scores


def _figures(result: Any, predictions: Predictions) -> list[Estimate]:
    """The most important scores, the first one above all."""
    if isinstance(result, evaluation.RegressionEvaluation):
        y_true, y_pred = predictions.y_true.astype(float), predictions.y_pred.astype(float)
        errors = y_true - y_pred
        return [
            Estimate("R²", result.r2, *resampled(partial(_r2, y_true, y_pred), len(errors))),
            mean_of("mean squared error", errors**2, least=0.0),
            mean_of("mean absolute error", np.abs(errors), least=0.0),
        ]
    if isinstance(result, evaluation.MultilabelEvaluation):
        figures = [
            Estimate("micro-F1", result.micro_f1, *result.micro_f1_interval),
            Estimate("macro-F1", result.macro_f1, *result.macro_f1_interval),
            Estimate("subset accuracy", result.subset_accuracy, *result.subset_accuracy_interval),
        ]
        return [*figures, *(Estimate("log-loss", it) for it in [result.log_loss] if it is not None)]
    codes = predictions.y_true.astype(np.int64)
    figures = [Estimate("accuracy", result.accuracy, *result.accuracy_interval)]
    macro: Sequence[float] = ()
    if len(result.classes) <= RESAMPLED:
        # The difference from predictions that are always wrong is the score itself.
        never = np.full(len(codes), len(result.classes))
        answers = Answers(codes, predictions.y_pred.astype(np.int64), never)
        macro = bootstrap([answers], resamples=RESAMPLES)[1]
        if macro[0] == macro[1]:  # all are right or all wrong, so resamples do not vary
            macro = result.accuracy_interval
    figures.append(Estimate("macro-F1", result.macro_f1, *macro))
    if predictions.proba is not None and result.log_loss is not None:
        known = np.flatnonzero(predictions.model.task.known(codes))
        probability = predictions.proba[known, codes[known]]
        losses = -np.log(np.maximum(probability, evaluation.LEAST))
        figures.append(mean_of("log-loss", losses, least=0.0))
    return figures


def beside(name: str, task: Task, y_true: Targets, first: Targets, second: Targets) -> Versus:
    """How the first answers compare with the second to the same documents.

    The metric is the accuracy, of several labels micro-F1, of numbers R²; the difference has a
    bootstrap interval. p is that of the exact McNemar test, of several labels on documents with a
    higher F1; numbers have none.
    """
    if not task.discrete:
        y, one, two = (it.astype(np.float64) for it in (y_true, first, second))
        own, other = _r2(y, one), _r2(y, two)
        ends = resampled(lambda rows: _r2(y, one, rows) - _r2(y, two, rows), len(y))
        return Versus(name, "R²", other, Estimate("difference", own - other, *ends))
    answers: Answers | SetAnswers
    if task.multilabel:
        answers = SetAnswers(*(it.astype(bool) for it in (y_true, first, second)))
        own, other = (evaluation.f1_scores(answers.y_true, it)[0] for it in answers[1:])
    else:
        answers = Answers(*(it.astype(np.int64) for it in (y_true, first, second)))
        own, other = (float(np.mean(it == answers.y_true)) for it in answers[1:])
    ends = bootstrap([answers], resamples=RESAMPLES)[2 if task.multilabel else 0]
    return Versus(
        name=name,
        metric="micro-F1" if task.multilabel else "accuracy",
        other=other,
        difference=Estimate("difference", own - other, *ends),
        won=answers.won,
        lost=answers.lost,
        p=sign_test(answers.won, answers.lost),
    )


def side_by_side(first: Predictions, second: Predictions) -> Sequence[Any]:
    """Targets of the same documents, and the answers of two models, in the same numbers."""
    task, labels, both = first.model.task, first.corpus.labels or (), (first, second)
    if not task.discrete:
        return first.y_true, first.y_pred, second.y_pred
    rows = [labels, *(answers_in_full(it.model.task, it.corpus, it.y_pred) for it in both)]
    if task.multilabel:
        names = sorted({label for answers in rows for answer in answers for label in answer})
        return [evaluation.indicators(answers, names)[:, :-1] for answers in rows]
    codes = np.unique(np.array(rows, dtype=str), return_inverse=True)[1]
    return list(np.reshape(codes, (3, -1)))


def answers_in_full(task: Task, corpus: Corpus, y_pred: Targets) -> list[Any]:
    """Answers to labeled documents, in the documents' own labels.

    A label may stand for others, as that of rare labels does: where a document has some of these,
    it is them.
    """
    truths, given = corpus.labels or (), task.answers(y_pred)
    if isinstance(task, Multilabel):
        rare, known = task.rare_label, {*task.labels}
        return [
            {*labels} - ({rare} - {*truth}) | {*truth} - known
            if rare in labels and not known.issuperset(truth)
            else labels
            for labels, truth in zip(given, truths, strict=True)
        ]
    return list(np.where(task.right(task.targets(corpus), y_pred), truths, given))


def _r2(y_true: Floats, y_pred: Floats, rows: Int64s | slice = slice(None)) -> float:
    return metrics.measure_numbers(y_pred[rows], y_true[rows])["r2"]


def resampled(statistic: Callable[[Int64s], float], n: int) -> Interval:
    """95 % percentile bootstrap interval of a statistic of n documents, called with their rows."""
    random = np.random.default_rng(0)
    # The seed is fixed: the same report has the same intervals.
    samples = [statistic(random.integers(0, n, n)) for _ in range(RESAMPLES)]
    return Interval(*np.quantile(samples, (0.025, 0.975)).tolist())


def _confused(matrix: Int64s, names: Sequence[str]) -> list[Section]:
    """The pairs of labels that are confused most often."""
    # Errors are what is off the diagonal.
    wrong = matrix.copy()
    np.fill_diagonal(wrong, 0)
    order = np.argsort(-wrong, axis=None, kind="stable")[:PAIRS]
    pairs = [divmod(int(place), len(names)) for place in order]
    return [
        Section(y_true=names[t], predicted=names[p], documents=int(wrong[t, p]))
        for t, p in pairs
        if wrong[t, p]
    ]


def answers_of(task: Task, y_true: Targets, *scores: Floats) -> list[Targets]:
    """Predictions by the highest of scores (n, k); of several labels by those of the other half."""
    if not task.discrete:
        return [table[:, 0] for table in scores]
    if isinstance(task, Multilabel):
        return [task.decide_by_halves(Held(table, y_true)) for table in scores]
    return [task.decide(table) for table in scores]


def predict_on(model: Model, corpus: Corpus) -> Predictions:
    """The model's own predictions; DataError if no document has a label that it has."""
    model_of = np.zeros(len(corpus), dtype=np.int64)
    names = first_few([os.path.basename(source) for source in corpus.sources], 3)
    how = f"the {counted(len(corpus), 'document')} of {names or 'a corpus of their own'}"
    scores = model.decision_function(corpus.texts)
    predictions = Predictions(corpus, scores, [model], model_of, how)
    _ = predictions.y_true  # check labels now, before minutes of fits
    return predictions


_Job = tuple[Regularizer, Fold, Sequence[Start | None] | None, Run]

# Parts of the corpus that are left out in turn; fewer parts above MANY documents.
PARTS, FEWER_PARTS, MANY = 5, 3, 10_000

BASELINE = "elastic"
# Labels that an error message lists.
LABELS_LISTED = 5


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """A regularizer fitted without each part.

    part: the regularizer with its hyperparameters. fits: their solutions. scores: (rows, k) of
    every document of ``Refits.rows``, by the fit that has not seen it.
    """

    part: Regularizer
    fits: tuple[MultiSolution, ...]
    scores: Floats

    @property
    def sizes(self) -> list[int]:
        """Number of features of every fit."""
        return [int(np.count_nonzero(fit.w.any(axis=0))) for fit in self.fits]


@dataclass(frozen=True, eq=False)
class Refits:
    """Fits without each part of the training corpus.

    corpus: all documents of the training. columns: index of each feature of the model among those
    of ``data``, -1 if it is not there. rows: documents that some fit has not seen, ascending: all,
    or with times all but the earliest. fit_of: (rows,) index of that fit. own: of the model's
    regularizer with its hyperparameters. baseline: of ``elastic`` with hyperparameters of its own;
    None if the model is an elastic net. shadow: of the model's regularizer on shuffled groups or
    links; None without any. halved: of the model's regularizer, each fit with half of its
    documents.
    """

    corpus: Corpus
    data: Prepared
    columns: Int64s
    rows: Int64s
    fit_of: Int64s
    own: OutOfFold
    baseline: OutOfFold | None
    shadow: OutOfFold | None
    halved: OutOfFold

    @cached_property
    def selected(self) -> Bools:
        """Which features of ``data`` the model has."""
        selected = np.zeros(len(self.data.encoder.names), dtype=bool)
        selected[self.columns[self.columns >= 0]] = True
        return selected

    @property
    def X(self) -> Any:
        """(rows, the model's features) of these documents; empty where a feature is not there."""
        from scipy.sparse import csr_array

        X, present = self.data.rows.matrix(self.rows), np.flatnonzero(self.columns >= 0)
        choice = (np.ones(len(present)), (self.columns[present], present))
        return X @ csr_array(choice, shape=(X.shape[1], len(self.columns)))

    @property
    def y_true(self) -> Targets:
        """Targets of the documents of ``rows``."""
        return self.data.y[self.rows]


def refit(model: Model, corpus: Corpus, settings: TrainingSettings, work: Work = ALONE) -> Refits:
    """Fit the regularizer of ``model`` and the baseline without each part of its training corpus.

    settings: those of the training, with the choices of its search: see
    :func:`textreg.training.recipe.settings_of`. The parts are those of the cross-validation, or
    PARTS of similar size. Groups of documents stay whole; with times, every fit has seen only
    earlier documents. Features come from the whole corpus, as in training. The hyperparameters of
    the baseline are searched for on the first part, or on all parts after a cross-validation.

    Raises DataError if the labels are not those of the model, and KeyboardInterrupt on Ctrl-C.
    """
    posed = read_training(corpus, settings)
    corpus, target = posed.corpus, posed.target
    if differ := sorted({*target.task.labels} ^ {*model.labels}):
        raise DataError(
            f"only one of the training corpus and the model has {first_few(differ, LABELS_LISTED)} "
            "among its labels: give the whole corpus that the model was trained on (--train)."
        )
    # Nothing is learned from documents that are left out, but how good the fits are.
    without = dict.fromkeys(("unknown", "unknown_rule", "vectors", "evidence_words"))
    plain = settings.replace(**without, cv=settings.cv or _parts(corpus))
    splits = splits_of(corpus, target, plain)
    data = prepare(corpus, target, plain)
    compared, kind, k = settings.reg.name != BASELINE, settings.reg.needs, len(splits)
    run = work.run("report", k * (2 + compared + bool(kind)))
    folds: list[Fold] = run.map(data.fold, [(split,) for split in splits])
    shadows: list[Fold] = []
    if kind:
        shuffled = plain.replace(**{kind: shadow_of(getattr(plain, kind))})
        shadows = run.map(replace(data, settings=shuffled).fold, [(split,) for split in splits])
    if run.stopped:
        raise KeyboardInterrupt
    strata = target.task.strata(target.y)[0]
    halves = []  # folds with half of their documents to fit to, measured on the same ones
    for fold, split in zip(folds, splits, strict=True):
        part = data.problems(half_of(split.train, strata), max(settings.tol, SEARCH_TOL))
        halves.append(replace(fold, problem=part.problem, y=part.y))
    jobs: list[_Job] = [(settings.reg, fold, None, run) for fold in (*folds, *halves, *shadows)]
    if compared:  # the baseline, with the hyperparameters that a search finds best
        bare = [replace(it, problem=it.problem.replace(groups=None, graph=None)) for it in folds]
        reg = registry.create("regularizer", f"textreg:{BASELINE}")
        points = search(reg, bare if settings.cv else bare[:1], work)
        best = points[choose(points, settings.metric or target.task.default_metric)]
        starts = [best.starts, *[None] * (k - 1)]  # those of the first split
        jobs += [(best.regularizer, *pair, run) for pair in zip(bare, starts, strict=True)]
    done = run.map(_fit_without, jobs)
    if run.stopped:
        raise KeyboardInterrupt

    held = np.concatenate([split.held for split in splits])
    # Documents come split by split: bring them into the order of the corpus.
    order = np.argsort(held)

    def collected(at: int) -> OutOfFold:
        """The fits of all parts from a job on."""
        fits, scores = zip(*done[at : at + k], strict=True)
        return OutOfFold(jobs[at][0], fits, np.vstack(scores)[order])

    return Refits(
        corpus=corpus,
        data=data,
        columns=find_names(model.encoder.names, data.encoder.names),
        rows=held[order],
        fit_of=np.repeat(np.arange(k), [len(split.held) for split in splits])[order],
        own=collected(0),
        baseline=collected(len(jobs) - k) if compared else None,
        shadow=collected(2 * k) if shadows else None,
        halved=collected(k),
    )


def half_of(rows: NDArray[np.intp], strata: Int64s) -> NDArray[np.intp]:
    """Half of some documents, ascending: of every stratum half, rounded up.

    strata: (n,) the stratum of every document.
    """
    drawn = np.random.default_rng(0).permutation(rows)
    ordered = drawn[np.argsort(strata[drawn], kind="stable")]
    _, first, counts = np.unique(strata[ordered], return_index=True, return_counts=True)
    # Rank within the stratum; the first ⌈n/2⌉ of each are drawn.
    place = np.arange(len(ordered)) - np.repeat(first, counts)
    return np.sort(ordered[place < np.repeat(-(-counts // 2), counts)])


def _parts(corpus: Corpus) -> int:
    """Number of parts to leave out in turn."""
    units = len(corpus)
    if corpus.group_of is not None:
        units = len(set(corpus.group_of))
    elif corpus.time_of is not None:
        units = len(set(corpus.time_of)) - 1  # the earliest documents are never held out
    return max(2, min(FEWER_PARTS if len(corpus) > MANY else PARTS, units))


def _fit_without(
    part: Regularizer, fold: Fold, starts: Sequence[Start | None] | None, run: Run
) -> tuple[MultiSolution, Floats] | None:
    """A fit and its scores (held out, k) of the part that it has not seen; None if stopped."""
    if run.stopped:
        return None
    fitted, _ = fit_rows(part, fold, starts)
    run.advance()
    return fitted, fold.X_new() @ fitted.w.T + fitted.b
