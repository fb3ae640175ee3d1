"""How good a model is, what it confuses and where it is unsure, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from textreg.explain import explain, gives_offsets
from textreg.measure.decisions import RiskCurve, Selective
from textreg.measure.evaluation import Evaluation
from textreg.measure.metrics import p_text, wilson
from textreg.records import Bools, Floats, Int64s
from textreg.records.documents import check_texts
from textreg_report.documents import place_of, telling_words
from textreg_report.page import Section, Suggestion, Versus
from textreg_report.predictions import Predictions, beside, squared_errors
from textreg_report.wording import (
    clip,
    documents,
    fixed,
    listed,
    number,
    often,
    points,
    quoted,
    share,
    share_of,
    short,
)

# An accuracy with a wider interval than this says little.
WIDE = 0.2

# From so many labels on, the mean F1 of the labels is told beside the accuracy.
MANY_LABELS = 3


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
        mean = trained.get("mean", float(predictions.y_true.mean()))
        name = f"always answering the mean, {short(mean)}"
        return squared_errors(name, predictions, mean)
    kind = bool if task.multilabel else np.int64
    y, y_pred = (it.astype(kind) for it in (predictions.y_true, predictions.y_pred))
    if task.multilabel:
        counts = y.sum(axis=0)
    else:
        counts = np.bincount(y, minlength=len(task.labels))
        if len(np.unique(y)) < 2:
            return None
    if trained:
        counts = np.array([trained.get(label, 0) for label in task.labels])
    most = int(np.argmax(counts[: len(task.labels)]))
    name = f"always answering {quoted(task.labels[most])}"
    if task.multilabel:
        constant = np.zeros_like(y)
        constant[:, most] = True
    else:
        constant = np.full(len(y), most)
    return beside(name, task, y, y_pred, constant)[1]


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
    return (*_alone(scores), *_beside_constant(scores, constant), *map(_beside_other, against))


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
    known = f"{constant.name}, which reaches {share(constant.other, 1)}"
    figures = points(constant.difference)
    if main.name == "R²":
        known, figures = constant.name, f"R² {number(main)}"
        if constant.verdict == "better":
            less = share(constant.difference.value / constant.other)
            known += f": its squared errors are {less} smaller"
    if constant.verdict == "better":
        yield f"That is better than {known} ({figures})."
    elif constant.verdict == "worse":
        yield f"That is worse than {known} ({figures}): do not use it."
    else:
        yield (
            f"That is not measurably better than {known} ({figures}): nothing shows yet that the "
            "model is of use."
        )


def _beside_other(other: Versus) -> str:
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


# Pairs of labels that the verdict names, and documents of each.
CONFUSED, EXAMPLES = 3, 3

# Words of an example that spoke for the wrong answer.
WORDS = 4

# Characters of an example.
PREVIEW = 160

# Labels found least of that a sentence names.
WEAK = 3


def errors_in_words(scores: Section) -> str:
    """Which labels it finds measurably fewer documents of than of all; empty in a regression."""
    classes = [one for one in getattr(scores.result, "classes", ()) if one.support]
    if len(classes) < 2:
        return ""
    missed = [(one.support - round(one.recall * one.support), one.support) for one in classes]
    overall = sum(count for count, _ in missed) / sum(support for _, support in missed)
    weak = sorted(often(missed, overall), key=lambda at: (-missed[at][0], classes[at].label))
    if not weak:
        return "It misses no label measurably more often than the others."
    told = []
    for at in weak[:WEAK]:
        count, support = missed[at]
        told.append(f"{quoted(classes[at].label)}, found {share_of(support - count, support)}")
    more = len(weak) - len(told)
    rest = f"; and {more:,} more labels" if more > 0 else ""
    return f"Labels that it misses most: {'; '.join(told)}{rest}."


def confusions_of(
    predictions: Predictions, scores: Section, sure: Floats
) -> tuple[tuple[Section, ...], tuple[int, ...]]:
    """The labels that are confused most often, and the rows of all their examples.

    sure: (n,) as of ``textreg_report.documents.certainty``; examples are the most certain
    errors.
    """
    support = {one.label: one.support for one in getattr(scores.result, "classes", ())}
    answerable = list(support)
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
    # The surest errors tell most of what the model has learned wrongly.
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
        where=place_of(corpus, row),
        preview=clip(" ".join(text[: 2 * PREVIEW].split()), PREVIEW),
        words=words,
    )


# Share of the documents that are called the least sure.
LEAST_SURE = 0.2

# Fewer documents do not show where a model is unsure.
FEW = 50

# Parts of the documents by their lengths, or by predicted numbers.
PARTS = 3


def unsure(
    predictions: Predictions, sure: Floats, unknown: int, selective: Selective | None
) -> tuple[str, ...]:
    """Where the answers of a model are unsure.

    Parameters
    ----------
    predictions : Predictions
        Its answers.
    sure : ndarray of shape (n,)
        As of ``textreg_report.documents.certainty``.
    unknown : int
        Documents without a feature of the model.
    selective : Selective or None
        Coverage against risk, of models that do not answer every text.

    Returns
    -------
    tuple of str
        Sentences.
    """
    task = predictions.model.task
    told = list(_not_answered(selective))
    if unknown:
        told.append(
            f"{documents(unknown).capitalize()} {'has' if unknown == 1 else 'have'} no word that "
            "the model knows: it answers by the intercept alone."
        )
    if len(sure) < FEW:
        return (*told, f"{documents(len(sure)).capitalize()} are too few to tell more.")
    if not task.discrete:
        return tuple(told)
    right = task.right(predictions.y_true, predictions.y_pred)
    told += least_sure(sure, right)
    if not task.multilabel:
        names = [*task.labels, *filter(None, [task.unknown])]
        told += of_labels(sure, predictions.y_pred.astype(np.int64), names)
        told += _of_probabilities(predictions, right)
    if gives_offsets(predictions.model):  # so that documents are texts
        lengths = np.array([len(text) for text in check_texts(predictions.corpus.texts)])
        told += of_lengths(lengths, right)
    return tuple(told)


def _not_answered(selective: Selective | None) -> Iterator[str]:
    """Of a model with an unknown label."""
    if selective is None:
        return
    now = selective.now
    yield (
        f"It answers {share(now.coverage)} of the documents, and calls the others "
        f"{quoted(selective.label)}; {share(now.risk, 1)} of its answers are wrong."
    )
    if now.recall is not None:
        held = round(now.recall * selective.unknown)
        yield (
            f"Of the documents that belong to no label it holds back "
            f"{share_of(held, selective.unknown)}."
        )


def least_places(sure: Floats) -> Bools:
    """(n,) which documents are the least sure, :data:`LEAST_SURE` of them; equal ones together."""
    curve = RiskCurve.of(sure, np.ones(len(sure), dtype=bool), np.ones(len(sure), dtype=bool))
    # The first point that answers 80 % of the documents; rounding must not skip it.
    place = int(np.argmax(curve.coverage >= 1 - LEAST_SURE - 1e-9))
    return np.asarray(sure < curve.threshold(place))


def least_sure(sure: Floats, right: Bools) -> Iterator[str]:
    """How many answers are right where the model is the least sure, and elsewhere."""
    least = least_places(sure)
    count, others = int(np.count_nonzero(least)), int(np.count_nonzero(~least))
    if not count or not others:
        yield "It is equally unsure of too many documents to tell which ones it gets wrong."
        return
    of_least, of_others = int(right[least].sum()), int(right[~least].sum())
    figures = (
        f"{share_of(of_least, count)} right there, and {share_of(of_others, others)} elsewhere"
    )
    # Two 95 % intervals apart: a stricter test than one of the difference, so few false claims.
    if wilson(of_least, count)[1] < wilson(of_others, others)[0]:
        wrong = int(np.count_nonzero(~right))
        there = count - of_least
        knows = "knows when it is unsure" if 2 * there >= wrong else "errs more where it is unsure"
        yield (
            f"It {knows}: {share(there / wrong)} of its errors are among the "
            f"{share(count / len(sure))} of the documents that it is least sure of ({figures})."
        )
    else:
        yield (
            "How sure it is does not measurably tell right answers from wrong ones: among the "
            f"{share(count / len(sure))} that it is least sure of, {figures}."
        )


def of_labels(sure: Floats, y_pred: Int64s, names: Sequence[str]) -> Iterator[str]:
    """The answers that are measurably often among the least sure."""
    least = least_places(sure)
    totals = np.bincount(y_pred, minlength=len(names)).tolist()
    counts = np.bincount(y_pred[least], minlength=len(names)).tolist()
    codes = often(list(zip(counts, totals, strict=True)), float(least.mean()))
    codes.sort(key=lambda code: (-counts[code], code))
    told = [f"{quoted(names[code])} ({counts[code]:,} of {totals[code]:,})" for code in codes[:3]]
    if told:
        yield f"It is most often unsure where it answers {listed(told)}."


def _of_probabilities(predictions: Predictions, right: Bools) -> Iterator[str]:
    proba = predictions.proba
    if proba is None:
        return
    answered = np.flatnonzero(predictions.y_pred < proba.shape[1])
    if len(answered) < FEW:
        return
    own = proba[answered, predictions.y_pred.astype(np.int64)[answered]]
    yield of_probabilities(own, right[answered])


def of_probabilities(own: Floats, right: Bools) -> str:
    """Whether probabilities of answers agree, on average, with the share of right ones."""
    mean, observed = float(own.mean()), int(right.sum())
    low, high = wilson(observed, len(right))
    figures = (
        f"{share(mean, 1)} on average, where {share(observed / len(right), 1)} are right "
        f"({fixed(100 * low, 1)} to {fixed(100 * high, 1)})"
    )
    # Calibrated on average if the mean probability is in the interval of the share observed.
    if mean > high:
        return f"Its probabilities are too high: {figures}."
    if mean < low:
        return f"Its probabilities are too low: {figures}."
    return f"Its probabilities are neither measurably too high nor too low: {figures}."


def of_lengths(lengths: Int64s, right: Bools) -> Iterator[str]:
    """Whether short or long texts are wrong measurably more often than all."""
    low, high = np.quantile(lengths, [1 / PARTS, 1 - 1 / PARTS]).astype(int).tolist()
    parts = {
        f"short texts, of up to {low:,} characters": lengths <= low,
        f"long texts, of {high:,} characters or more": lengths >= high,
    }
    overall = float(np.mean(~right))
    counts = [(int((~right)[part].sum()), int(part.sum())) for part in parts.values()]
    names = list(parts)
    for at in often(counts, overall):
        yield (
            f"It errs more often on {names[at]}: on {share_of(*counts[at])}, and on "
            f"{share(overall)} of all."
        )


NOT_CONVERGED = (
    "Its fit stopped before the optimum: the figures below may change with more iterations or a "
    "stronger penalty."
)


def verdict_of(  # noqa: PLR0913  # what it is made from
    predictions: Predictions,
    scores: Section,
    sure: Floats,
    unknown: int,
    confusions: Sequence[Section] = (),
    against: Sequence[Versus] = (),
    suggestions: Sequence[Suggestion] = (),
    evidence: Section | None = None,
) -> Section:
    """What to know of a model, in plain words.

    Parameters
    ----------
    predictions : Predictions
        Its answers.
    scores : Section
        How good they are.
    sure : ndarray of shape (n,)
        As of ``textreg_report.documents.certainty``.
    unknown : int
        Documents without a feature of the model.
    confusions : sequence of Section
        The labels that are confused most often.
    against : sequence of Versus
        Comparisons with other models.
    suggestions : sequence of Suggestion
        What would help.
    evidence : Section or None
        How well its evidence agrees with the passages that people marked.

    Returns
    -------
    Section
        tone: ``better``, ``worse`` or ``level`` beside the simplest answer, or ``unclear``.
        Sentences on its quality, its errors, and where it is unsure; confusions; suggestions, the
        largest gain first.
    """
    model, result = predictions.model, scores.result
    # Training documents of every label, or the mean number, from the model file.
    constant = versus_constant(predictions, {} if model.summary is None else model.summary.labels)
    told = quality(scores, constant, against)
    if evidence is not None:
        told = (*told, evidence_in_words(evidence))
    if model.summary is not None and not model.summary.converged:
        told = (*told, NOT_CONVERGED)
    selective = result.selective if isinstance(result, Evaluation) else None
    return Section(
        tone="unclear" if constant is None else constant.verdict,
        quality=told,
        errors=errors_in_words(scores),
        confusions=tuple(confusions),
        unsure=unsure(predictions, sure, unknown, selective),
        suggestions=tuple(sorted(suggestions, key=lambda one: (not one.first, -one.gain))),
    )


def evidence_in_words(evidence: Section) -> str:
    """Whether the sentence with the most evidence is a marked one more often than by chance."""
    top = evidence.means["top_1"]
    chance = share(evidence.marked_sentences)
    figures = (
        f"{share(top.value)} of {documents(evidence.documents)} ({share(top.low)} to "
        f"{share(top.high)})"
    )
    if top.low > evidence.marked_sentences:
        return (
            f"Its reasons agree with those of people: its strongest sentence is one that they "
            f"marked in {figures}, where chance would give {chance}."
        )
    if top.high < evidence.marked_sentences:
        return (
            f"Its reasons are not those of people: its strongest sentence is one that they marked "
            f"in {figures}, less often than chance would give, {chance}."
        )
    return (
        f"Its reasons do not measurably agree with those of people: its strongest sentence is one "
        f"that they marked in {figures}, and chance would give {chance}."
    )
