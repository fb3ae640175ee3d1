"""What would help a model most: suggestions, each with what was measured for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from textreg.measure.joint_thresholds import halves
from textreg.measure.metrics import measure_labels
from textreg.measure.significance import (
    ALPHA,
    Answers,
    bootstrap,
    holm,
    p_text,
    share_test,
)
from textreg.plotting.number_format import fixed
from textreg.records.fields import FieldedText
from textreg.report.estimates import Estimate
from textreg.report.learning import more_documents
from textreg.report.predictions import RESAMPLED, RESAMPLES, Predictions, mean_interval
from textreg.report.verdict_records import Suggestion
from textreg.report.wording import (
    documents,
    number,
    points,
    quoted,
    share,
    share_of,
)
from textreg.tasks import Classification

if TYPE_CHECKING:
    from textreg.records import Bools
    from textreg.report.records import Baseline
    from textreg.report.refits import Refits

FEW = 100
"""Fewer documents are too few to choose thresholds or a calibration on one half of them."""


def suggestions_of(
    predictions: Predictions, refits: Refits | None, baseline: Baseline | None, suspected: int
) -> list[Suggestion]:
    """What may help, where a figure speaks for it.

    Parameters
    ----------
    predictions : Predictions
        The answers of the model.
    refits : Refits or None
        Further fits, of the training documents.
    baseline : Baseline or None
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


def simpler(baseline: Baseline, n: int) -> Iterator[Suggestion]:
    """The elastic net, where it is measurably better."""
    won, lost, p = baseline.won, baseline.lost, baseline.p
    if won is None or lost is None or p is None or p > ALPHA or won >= lost:
        return
    value, low, high = (it and -it for it in baseline.difference[1:])
    gain = Estimate("gain", value or 0.0, high, low)
    yield Suggestion(
        "Use the elastic net (--reg elastic).",
        f"On the same documents its {baseline.metric} is higher by {points(gain)}, "
        f"p = {p_text(p)}.",
        n * (lost - won) / baseline.documents,
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
    counts: list[tuple[int, int]] = [
        (int(wrong[rows].sum()), int(rows.sum())) for rows in empty.values()
    ]
    p = holm([share_test(errors, total, overall) for errors, total in counts])
    for name, (errors, total), value in zip(empty, counts, p, strict=True):
        if value <= ALPHA and errors > overall * total:
            yield Suggestion(
                f"Fill the column {quoted(name)}.",
                f"Where it is empty, {share_of(errors, total)} are wrong, and {share(overall)} of "
                "all.",
                errors - overall * total,
            )
