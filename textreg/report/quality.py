"""How good a model is, in sentences: beside the simplest answer, and beside other models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from textreg.measure.multilabel import f1_scores
from textreg.measure.significance import Answers, SetAnswers, bootstrap, p_text, sign_test
from textreg.plotting.number_format import short
from textreg.report.estimates import Estimate
from textreg.report.predictions import RESAMPLES, Predictions, mean_interval
from textreg.report.verdict_records import Versus
from textreg.report.wording import documents, number, points, quoted, share

if TYPE_CHECKING:
    from textreg.report.records import Scores

WIDE = 0.2
"""An accuracy with a wider interval than this says little."""

MANY_LABELS = 3
"""From so many labels on, the mean F1 of the labels is told beside the accuracy."""


def versus_constant(predictions: Predictions, trained: Mapping[str, float]) -> Versus | None:
    """The model beside one that always gives the most frequent label, or the mean number.

    Parameters
    ----------
    predictions : Predictions
        The answers of the model.
    trained : mapping of str to float
        Training documents of every label, or the ``mean`` of the numbers; if it is empty, it is
        taken of the documents of ``predictions``.

    Returns
    -------
    Versus or None
        None where all documents have one label, which the comparison would know beforehand.
    """
    task = predictions.model.task
    if not task.discrete:
        return _versus_mean(predictions, trained.get("mean"))
    if task.multilabel:
        y, y_pred = (it.astype(bool) for it in (predictions.y_true, predictions.y_pred))
        counts = y.sum(axis=0)
    else:
        codes, answered = (it.astype(np.int64) for it in (predictions.y_true, predictions.y_pred))
        counts = np.bincount(codes, minlength=len(task.labels))
        if len(np.unique(codes)) < 2:
            return None
    if trained:
        counts = np.array([trained.get(label, 0) for label in task.labels])
    most = int(np.argmax(counts[: len(task.labels)]))
    name = f"always answering {quoted(task.labels[most])}"
    if task.multilabel:
        constant = np.zeros_like(y)
        constant[:, most] = True
        sets = SetAnswers(y, y_pred, constant)
        own, other = (f1_scores(y, each)[0] for each in (y_pred, constant))
        interval = bootstrap([sets], resamples=RESAMPLES)[2]
        return _versus(name, "micro-F1", own, other, interval, sets)
    answers = Answers(codes, answered, np.full(len(codes), most))
    own, other = (float(np.mean(each == codes)) for each in (answers.first, answers.second))
    interval = bootstrap([answers], resamples=RESAMPLES)[0]
    return _versus(name, "accuracy", own, other, interval, answers)


def _versus_mean(predictions: Predictions, mean: float | None) -> Versus:
    """The squared errors of the mean, less those of the model."""
    y_true, y_pred = (it.astype(np.float64) for it in (predictions.y_true, predictions.y_pred))
    constant = float(y_true.mean()) if mean is None else mean
    own, other = (y_true - y_pred) ** 2, (y_true - constant) ** 2
    gain = Estimate("difference", float((other - own).mean()), *mean_interval(other - own))
    name = f"always answering the mean, {short(constant)}"
    return Versus(name, "squared error", float(other.mean()), gain)


def _versus(  # what it collects
    name: str,
    metric: str,
    own: float,
    other: float,
    interval: tuple[float, float],
    answers: Answers | SetAnswers,
) -> Versus:
    won, lost = answers.won, answers.lost
    difference = Estimate("difference", own - other, *interval)
    return Versus(name, metric, other, difference, won, lost, sign_test(won, lost))


def quality(
    scores: Scores, constant: Versus | None, against: Sequence[Versus] = ()
) -> tuple[str, ...]:
    """How good a model is.

    Parameters
    ----------
    scores : Scores
        As of the report.
    constant : Versus or None
        As :func:`versus_constant` gives it.
    against : sequence of Versus
        Comparisons with other models.

    Returns
    -------
    tuple of str
        Sentences, the most important first.
    """
    return (*_alone(scores), *_beside_constant(scores, constant), *map(_beside, against))


def tone(constant: Versus | None) -> str:
    """As :attr:`textreg.report.verdict_records.Verdict.tone`."""
    return "unclear" if constant is None else constant.verdict


def _alone(scores: Scores) -> Iterator[str]:
    by_name = {figure.name: figure for figure in scores.figures}
    main = scores.figures[0]
    low, high = (0.0 if end is None else end for end in (main.low, main.high))
    if main.name == "R²":
        yield (
            f"Its numbers are off by {number(by_name['mean absolute error'])} on average, over "
            f"{documents(scores.documents)}."
        )
        return
    ends = f"95\N{NO-BREAK SPACE}% interval {share(low, 1)} to {share(high, 1)}"
    if main.name == "accuracy":
        yield f"Right on {share(main.value, 1)} of {documents(scores.documents)} ({ends})."
        if len(scores.labels) >= MANY_LABELS:
            yield f"With every label counted alike, its F1 is {number(by_name['macro-F1'])}."
    else:
        exact = by_name["subset accuracy"].value
        yield (
            f"Its labels and the true ones agree by {share(main.value, 1)} (micro-F1; {ends}), "
            f"over {documents(scores.documents)}; {share(exact)} of these got exactly their labels."
        )
        yield f"With every label counted alike, its F1 is {number(by_name['macro-F1'])}."
    if high - low > WIDE:
        yield (
            f"{documents(scores.documents).capitalize()} are too few for more than a first "
            "impression: measure it on others as well."
        )


def _beside_constant(scores: Scores, constant: Versus | None) -> Iterator[str]:
    main = scores.figures[0]
    if constant is None:
        yield (
            "All of these documents have the same label, so they say nothing about how well labels "
            "are told apart: measure it on documents of all labels."
        )
        return
    if main.name == "R²":
        yield _of_regression(main, constant)
        return
    known = f"{constant.name}, which reaches {share(constant.other, 1)}"
    figures = points(constant.difference)
    if constant.verdict == "better":
        yield f"That is better than {known} ({figures})."
    elif constant.verdict == "worse":
        yield f"That is worse than {known} ({figures}): do not use it."
    else:
        yield (
            f"That is not measurably better than {known} ({figures}): nothing shows yet that the "
            "model is of use."
        )


def _of_regression(r2: Estimate, constant: Versus) -> str:
    if constant.verdict == "worse":
        return f"That is worse than {constant.name} (R² {number(r2)}): do not use it."
    if constant.verdict == "level":
        return (
            f"That is not measurably better than {constant.name} (R² {number(r2)}): nothing shows "
            "yet that the model is of use."
        )
    less = share(constant.difference.value / constant.other)
    return (
        f"That is better than {constant.name}: its squared errors are {less} smaller "
        f"(R² {number(r2)})."
    )


def _beside(other: Versus) -> str:
    """The model and another one."""
    figures = points(other.difference)
    if other.metric == "squared error":
        figures = f"the other one's is higher by {number(other.difference)}"
    if other.won is not None and other.lost is not None and other.p is not None:
        adjusted = "adjusted p" if other.comparisons > 1 else "p"
        figures += (
            f"; right on {documents(other.won)} that the other one gets wrong, wrong on "
            f"{other.lost:,} that it gets right, {adjusted} = {p_text(other.p)}"
        )
    if other.won == other.lost == 0:
        return f"It is right on the same documents as {other.name}."
    told = {
        "better": f"Better than {other.name}",
        "worse": f"Worse than {other.name}",
        "level": f"No measurable difference from {other.name}",
    }[other.verdict]
    rest = ": keep the other one" if other.verdict == "worse" else ""
    return f"{told} in {other.metric} ({figures}){rest}."
