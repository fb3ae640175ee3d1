"""How good a model is, what it confuses, where it is unsure and what would help, in sentences."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from textreg.checking.check import check_corpus
from textreg.checking.documents import KINDS, CheckResult, CheckSettings
from textreg.explain import gives_offsets
from textreg.measure.decisions import RiskCurve, Selective, halves
from textreg.measure.evaluation import Evaluation
from textreg.measure.metrics import (
    ALPHA,
    Answers,
    bootstrap,
    holm,
    measure_labels,
    p_text,
    sign_test,
    wilson,
)
from textreg.records import Bools, Corpus, Floats, Int64s
from textreg.records.documents import FieldedText, check_texts
from textreg.tasks import Classification, Multilabel, Task
from textreg_report.page import (
    Estimate,
    Section,
    Suggestion,
    Versus,
    documents,
    fixed,
    listed,
    number,
    often,
    points,
    quoted,
    share,
    share_of,
)
from textreg_report.predictions import (
    RESAMPLED,
    RESAMPLES,
    Predictions,
    Refits,
    Targets,
    beside,
    mean_interval,
    versus_constant,
)

# An accuracy with a wider interval than this says little.
WIDE = 0.2

# From so many labels on, the mean F1 of the labels is told beside the accuracy.
MANY_LABELS = 3


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


# Fewer documents are too few to choose thresholds or a calibration on one half of them.
ENOUGH_TO_HALVE = 100


def suggestions_of(
    predictions: Predictions, refits: Refits | None, baseline: Section | None, suspected: int
) -> list[Suggestion]:
    """What may help, where a figure speaks for it.

    Parameters
    ----------
    predictions : Predictions
        The answers of the model.
    refits : Refits or None
        Further fits, of the training documents.
    baseline : Section or None
        The comparison with the elastic net.
    suspected : int
        Training documents whose labels are probably wrong.

    Returns
    -------
    list of Suggestion
    """
    n = len(predictions.y_true)
    found = [*other_thresholds(predictions), *calibrated(predictions), *fuller_fields(predictions)]
    if refits is not None:
        found += more_documents(refits, n)
        if suspected:
            total = len(refits.corpus)
            found.append(
                Suggestion(
                    "Read the training documents whose labels may be wrong.",
                    f"Fits that have not seen them contradict the labels of "
                    f"{documents(suspected)}, {share(suspected / total, 1)} of all; they are "
                    "listed below.",
                )
            )
    if baseline is not None:
        found += simpler(baseline, n)
    return found


def other_thresholds(predictions: Predictions) -> Iterator[Suggestion]:
    """Thresholds chosen on one half of the documents, measured on the other.

    Of several labels those of all labels are chosen together, so the comparison is one.
    """
    model, task = predictions.model, predictions.model.task
    n = len(predictions.y_true)
    if n < ENOUGH_TO_HALVE or len(task.labels) > RESAMPLED:
        return
    if task.multilabel or not isinstance(task, Classification):  # several have theirs together
        return
    y_true, before = (it.astype(np.int64) for it in (predictions.y_true, predictions.y_pred))
    chosen = task.labels[1:] if len(task.labels) == 2 else task.labels
    kept = {label: it for label, it in model.thresholds.items() if label == task.unknown}
    after = before.copy()
    # Chosen on one half and measured on the other, in turn: no document judges its own threshold.
    for choosing, rows in halves(n):
        found = task.choose_thresholds(
            dict.fromkeys(chosen, "f1"), predictions.scores[choosing], predictions.y_true[choosing]
        )
        thresholds = {**{label: it.value for label, it in found.items()}, **kept}
        after[rows] = task.decide(predictions.scores[rows], thresholds)
    answers = Answers(y_true, after, before)
    interval = bootstrap([answers], resamples=RESAMPLES)[1]
    if interval.low <= 0:
        return
    new, old = (measure_labels(y_true, it, len(task.labels)) for it in (after, before))
    gain = Estimate("gain", new["macro-f1"] - old["macro-f1"], *interval)
    option = f"--threshold '{chosen[0]}=f1'" if len(chosen) == 1 else "--threshold LABEL=f1"
    yield Suggestion(
        f"Set the threshold of {'a label' if len(chosen) == 1 else 'each label'} ({option}).",
        "Thresholds that one half of these documents chooses raise the macro-F1 of the other by "
        f"{number(gain)}; its accuracy is then {share(new['accuracy'], 1)} in place of "
        f"{share(old['accuracy'], 1)}.",
        float(answers.won - answers.lost),
    )


def calibrated(predictions: Predictions) -> Iterator[Suggestion]:
    """A temperature chosen on one half of the documents, measured on the other."""
    model, task = predictions.model, predictions.model.task
    if task.multilabel or not (task.discrete and model.has_probabilities):
        return
    known = np.flatnonzero(task.known(predictions.y_true))
    if len(known) < ENOUGH_TO_HALVE:
        return
    scores, y = predictions.scores[known], predictions.y_true[known]
    own = y.astype(np.int64)
    now = task.log_probabilities(scores, model.calibration)[np.arange(len(y)), own]
    then = np.empty(len(y))
    # As above: the gain in log-likelihood is of documents that the temperature has not seen.
    for choosing, rows in halves(len(y)):
        calibration = task.calibrate("temperature", scores[choosing], y[choosing])
        then[rows] = task.log_probabilities(scores[rows], calibration)[
            np.arange(len(rows)), own[rows]
        ]
    gain = Estimate("gain", float((then - now).mean()), *mean_interval(then - now))
    if gain.low is not None and gain.low > 0:
        yield Suggestion(
            "Calibrate its probabilities (--calibrate temperature).",
            f"A temperature that one half of these documents chooses lowers the log-loss of the "
            f"other by {number(gain)}, from {fixed(-float(now.mean()))}. Answers stay the same.",
        )


def simpler(baseline: Section, n: int) -> Iterator[Suggestion]:
    """The elastic net, where it is measurably better."""
    versus = baseline.versus
    if versus.p is None or versus.verdict != "worse":
        return
    value, low, high = (it and -it for it in versus.difference[1:])
    gain = Estimate("gain", value or 0.0, high, low)
    yield Suggestion(
        "Use the elastic net (--reg elastic).",
        f"On the same documents its {versus.metric} is higher by {points(gain)}, "
        f"p = {p_text(versus.p)}.",
        n * (versus.lost - versus.won) / baseline.documents,
    )


def fuller_fields(predictions: Predictions) -> Iterator[Suggestion]:
    """Columns that are empty where the model errs measurably more often."""
    task, texts = predictions.model.task, predictions.corpus.texts
    if not task.discrete or not isinstance(texts[0], FieldedText):
        return
    wrong = ~task.right(predictions.y_true, predictions.y_pred)
    empty = {name: np.zeros(len(wrong), dtype=bool) for name in texts[0].spans}
    for row, text in enumerate(texts):
        assert isinstance(text, FieldedText)
        for name, (start, end) in text.spans.items():
            empty[name][row] = text[start:end].strip() in {"", "missing"}
    yield from emptier(empty, wrong)


def emptier(empty: Mapping[str, Bools], wrong: Bools) -> Iterator[Suggestion]:
    """The columns whose documents without a value are wrong measurably more often than all.

    empty: by column, (n,) which documents have none. wrong: (n,).
    """
    overall = float(wrong.mean())
    names = list(empty)
    counts = [(int(wrong[rows].sum()), int(rows.sum())) for rows in empty.values()]
    for at in often(counts, overall):
        errors, total = counts[at]
        yield Suggestion(
            f"Fill the column {quoted(names[at])}.",
            f"Where it is empty, {share_of(errors, total)} are wrong, and {share(overall)} of all.",
            errors - overall * total,
        )


# Documents up to which near copies are looked for, which takes a second for 3,000 reviews.
NEAR = 10_000
LISTED = 3


def corpus_advice(task: Task, measured: Corpus | None, train: Corpus | None) -> list[Suggestion]:
    """What to mend in the documents of a report, as far as :func:`check` finds it.

    Parameters
    ----------
    task : Task
        The task of the model.
    measured : Corpus or None
        The documents that the model is measured on; None where those are the training documents.
    train : Corpus or None
        The training documents.

    Returns
    -------
    list of Suggestion
        Those without which the figures of the report are wrong say so with ``first``.
    """
    corpus = measured if train is None else train
    if corpus is None or corpus.tokenized:
        return []
    against = None if train is None else measured
    names = {"duplicates", "overlap"}
    if task.discrete:
        names |= {"conflicting-labels", "giveaway-columns"}
    if len(corpus) + (0 if against is None else len(against)) <= NEAR:
        names |= {"near-duplicates", "near-overlap"}
    settings = CheckSettings(task=task.name, skip=frozenset(KINDS) - names)
    result = check_corpus(corpus, against, settings, columns=_columns(corpus))
    return list(_advice(result, "measured" if train is None else "training", measured is None))


def _advice(result: CheckResult, which: str, out_of_fold: bool) -> Iterator[Suggestion]:
    """A suggestion for each finding. which: documents it is about."""
    for finding in result.findings:
        counted = f"{documents(finding.count)} ({share(finding.share, 1)})"
        where = [os.path.basename(one.where) for one in finding.examples[:LISTED] if one.where]
        places = f", such as {listed(where)}" if where else ""
        nearly = "nearly " if finding.name.startswith("near-") else ""
        if finding.name.endswith("overlap"):
            yield Suggestion(
                "Measure on documents that are not in the training corpus.",
                f"Of the measured documents {counted} have {nearly}the text of a training "
                f"document{places}. The model has seen their labels, so the figures of this page "
                "are too good.",
                first=True,
            )
        elif finding.name == "giveaway-columns":
            names = listed([quoted(name) for name, _, _ in finding.details["columns"]])
            yield Suggestion(
                f"Train without the column {names}.",
                "It tells the label. If it is not known before the label is, the model fails on "
                "new documents, and the figures of this page are too good.",
                first=True,
            )
        elif finding.name == "conflicting-labels":
            yield Suggestion(
                "Decide on one label for equal texts.",
                f"Of the {which} documents {counted} have the text of another one and a different "
                f"label{places}.",
            )
        elif finding.name.endswith("duplicates"):
            parts = (
                " The fits that predict them may have seen the copies, so the figures of this "
                "page are too good."
            )
            yield Suggestion(
                f"Keep one of the documents that are {nearly}the same.",
                f"Of the {which} documents {counted} are {nearly}the same as another one"
                f"{places}.{parts if out_of_fold else ''}",
                first=out_of_fold,
            )


def _columns(corpus: Corpus) -> dict[str, list[str]]:
    """The fields of the documents, by name; none where a document is one text."""
    columns: dict[str, list[str]] = {}
    for text in corpus.texts:
        if isinstance(text, FieldedText):
            for name, (start, end) in text.spans.items():
                columns.setdefault(name, []).append(text[start:end])
    return columns


# Labels that the suggestion names.
LABELS_GAINING = 3


def more_documents(refits: Refits, n: int) -> Iterator[Suggestion]:
    """Whether twice as many training documents were measurably better than half of them.

    n: the documents measured, by which suggestions are ranked.
    """
    task, y = refits.data.task, refits.y_true
    if not task.discrete:
        return
    scores = refits.own.scores, refits.halved.scores
    answers: list[Targets]
    if isinstance(task, Multilabel):
        answers = [task.decide_by_halves(it, y) for it in scores]
        of_labels = [y[:, c].astype(bool) for c in range(len(task.labels))]
        right = [list(it.T.astype(bool)) for it in answers]
    else:
        answers = [task.decide(it) for it in scores]
        of_labels = [y == c for c in range(len(task.labels))]
        right = [[np.asarray(it == y)] * len(task.labels) for it in answers]
    _, versus = beside("half of them", task, y, *answers)
    gains = {
        label: (int((own & first & ~second).sum()), int((own & ~first & second).sum()))
        for label, own, first, second in zip(task.labels, of_labels, *right, strict=True)
    }
    yield from learning_still(gains, versus, n / len(y))


def learning_still(
    gains: Mapping[str, tuple[int, int]], versus: Versus, scale: float
) -> Iterator[Suggestion]:
    """The suggestion, where the gain of the second half is measurable.

    gains: documents of every label that only the whole, or only the half, has right. versus: the
    whole beside the half. scale: measured documents per training document.
    """
    won, lost, p = versus.won, versus.lost, versus.p
    if won is None or lost is None or p is None or versus.verdict != "better":
        return
    adjusted = holm([sign_test(*gain) for gain in gains.values()])
    more = {label: first - second for label, (first, second) in gains.items()}
    measured = zip(gains, adjusted, strict=True)
    clear = [label for label, value in measured if value <= ALPHA and more[label] > 0]
    clear.sort(key=lambda label: (-more[label], label))
    told = [f"{quoted(label)} (+{more[label]:,})" for label in clear[:LABELS_GAINING]]
    of = "of all labels"
    if 0 < len(clear) < len(gains):
        of = f"above all of {listed([quoted(label) for label in clear[:LABELS_GAINING]])}"
    most = f", most for {listed(told)}" if told else ", for no label measurably more than others"
    yield Suggestion(
        f"Add training documents, {of}.",
        f"Fitted to all of them rather than half, the {versus.metric} is higher by "
        f"{points(versus.difference)}, p = {p_text(p)}{most}: so more should help, if less.",
        scale * (won - lost),
    )
