"""What would help, each suggestion with what was measured for it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

import numpy as np

from textreg.checking.check import check_corpus
from textreg.checking.documents import KINDS, CheckResult, CheckSettings
from textreg.measure.decisions import halves
from textreg.measure.metrics import (
    ALPHA,
    Answers,
    bootstrap,
    holm,
    measure_labels,
    p_text,
    sign_test,
)
from textreg.records import Bools, Corpus
from textreg.records.documents import FieldedText
from textreg.tasks import Classification, Multilabel, Task
from textreg_report.page import Estimate, Section, Suggestion, Versus
from textreg_report.predictions import (
    RESAMPLED,
    RESAMPLES,
    Predictions,
    Refits,
    Targets,
    beside,
    mean_interval,
)
from textreg_report.wording import (
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

# Fewer documents are too few to choose thresholds or a calibration on one half of them.
FEW = 100


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
    if n < FEW or len(task.labels) > RESAMPLED:
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
    if len(known) < FEW:
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
