"""How good the answers are, and which labels are confused, in sentences."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from textreg.explain import explain, gives_offsets
from textreg.measure.multilabel import f1_scores
from textreg.measure.significance import (
    ALPHA,
    Answers,
    SetAnswers,
    bootstrap,
    holm,
    p_text,
    share_test,
    sign_test,
)
from textreg.records.documents import check_texts
from textreg_report.documents import telling_words
from textreg_report.predictions import RESAMPLES, Predictions, mean_interval
from textreg_report.records import Estimate, Section, Versus
from textreg_report.wording import clip, documents, number, points, quoted, share, share_of, short

if TYPE_CHECKING:
    from textreg.records import Floats, Int64s
    from textreg_report.predictions import Predictions

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
    scores: Section, constant: Versus | None, against: Sequence[Versus] = ()
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
    """As :attr:`textreg_report.records.Verdict.tone`."""
    return "unclear" if constant is None else constant.verdict


def _alone(scores: Section) -> Iterator[str]:
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


def _beside_constant(scores: Section, constant: Versus | None) -> Iterator[str]:
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


CONFUSED, EXAMPLES = 3, 3
"""Pairs of labels that the verdict names, and documents of each."""

WORDS = 4
"""Words of an example that spoke for the wrong answer."""

PREVIEW = 160
"""Characters of an example."""

WEAK = 3
"""Labels found least of that a sentence names."""


class LabelCount(NamedTuple):
    """A label, its documents, and how many of them the model finds."""

    label: str
    found: int
    support: int


def counts_of(scores: Section) -> list[LabelCount]:
    """The documents of every label of the result; empty in a regression."""
    return [
        LabelCount(one.label, round(one.recall * one.support), one.support)
        for one in getattr(scores.result, "classes", ())
    ]


def weak_labels(counts: Sequence[LabelCount]) -> list[LabelCount]:
    """Labels of which a model finds measurably fewer documents than of all together.

    By exact binomial tests, adjusted for all labels (Holm 1979); those with the most documents that
    are not found first.
    """
    some = [one for one in counts if one.support]
    total = sum(one.support for one in some)
    if len(some) < 2 or not total:
        return []
    overall = sum(one.found for one in some) / total
    p = holm([share_test(one.found, one.support, overall) for one in some])
    weak = [
        one
        for one, value in zip(some, p, strict=True)
        if value <= ALPHA and one.found / one.support < overall
    ]
    return sorted(weak, key=lambda one: (one.found - one.support, one.label))


def errors_in_words(scores: Section) -> str:
    """Which labels it finds least of; empty in a regression."""
    counts = counts_of(scores)
    if sum(1 for one in counts if one.support) < 2:
        return ""
    weak = weak_labels(counts)
    if not weak:
        return "It misses no label measurably more often than the others."
    told = [f"{quoted(it.label)}, found {share_of(it.found, it.support)}" for it in weak[:WEAK]]
    more = len(weak) - len(told)
    rest = f"; and {more:,} more labels" if more > 0 else ""
    return f"Labels that it misses most: {'; '.join(told)}{rest}."


def confusions_of(
    predictions: Predictions, scores: Section, sure: Floats
) -> tuple[tuple[Section, ...], tuple[int, ...]]:
    """The labels that are confused most often, and the rows of all their examples.

    sure: (n,) as of :func:`textreg_report.documents.certainty`; examples are the most certain
    errors.
    """
    support = {one.label: one.support for one in counts_of(scores)}
    answerable = [one.label for one in getattr(scores.result, "classes", ())]
    explained = gives_offsets(predictions.model)
    found, rows = [], []
    for pair in scores.confused[:CONFUSED]:
        codes = answerable.index(pair.y_true), answerable.index(pair.predicted)
        own = _examples(predictions, *codes, sure) if explained else []
        examples = tuple(_example(predictions, row, pair.predicted) for row in own)
        found.append(
            Section(
                y_true=pair.y_true,
                predicted=pair.predicted,
                documents=pair.documents,
                support=support[pair.y_true],
                examples=examples,
            )
        )
        rows += own
    return tuple(found), tuple(dict.fromkeys(rows))


def _examples(predictions: Predictions, y_true: int, predicted: int, sure: Floats) -> list[int]:
    """The most certain errors of a pair of labels, of different texts."""
    if predictions.model.task.multilabel:
        truly, given = predictions.y_true.astype(bool), predictions.y_pred.astype(bool)
        if max(y_true, predicted) >= truly.shape[1]:
            return []  # a label that the model does not know
        wrong = truly[:, y_true] & ~given[:, y_true] & given[:, predicted] & ~truly[:, predicted]
    else:
        codes: Int64s = predictions.y_true.astype(np.int64)
        wrong = (codes == y_true) & (predictions.y_pred == predicted)
    order = np.argsort(-sure, kind="stable")
    ranked = order[wrong[order]].tolist()
    texts = check_texts([predictions.corpus.texts[row] for row in ranked])
    return list(dict(zip(reversed(texts), reversed(ranked), strict=True)).values())[::-1][:EXAMPLES]


def _example(predictions: Predictions, row: int, predicted: str) -> Section:
    """A wrong answer with the words that spoke for it."""
    corpus = predictions.corpus
    (text,) = check_texts([corpus.texts[row]])
    words: tuple[tuple[str, float], ...] = ()
    model = predictions.models[predictions.model_of[row]]
    if predicted in model.task.sides:
        (explanation,) = explain(model, [corpus.texts[row]], of=predicted)
        words = telling_words(explanation, WORDS)
    return Section(
        number=row + 1,
        where=os.path.basename(corpus.where(row)) if corpus.source_of is not None else "",
        preview=clip(" ".join(text[: 2 * PREVIEW].split()), PREVIEW),
        words=words,
    )
