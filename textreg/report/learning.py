"""Whether more training documents would help, from fits to half of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from textreg.measure.multilabel import f1_scores
from textreg.measure.significance import (
    ALPHA,
    Answers,
    SetAnswers,
    bootstrap,
    holm,
    p_text,
    sign_test,
)
from textreg.report.estimates import Estimate
from textreg.report.predictions import RESAMPLES
from textreg.report.verdict_records import Suggestion
from textreg.report.wording import listed, points, quoted
from textreg.tasks import Multilabel

if TYPE_CHECKING:
    from textreg.records import Bools
    from textreg.report.refits import Refits

NAMED = 3
"""Labels that the suggestion names."""


class Gain(NamedTuple):
    """Documents of a label that only the first, or only the second, of two fits has right."""

    label: str
    won: int
    lost: int


def more_documents(refits: Refits, n: int) -> Iterator[Suggestion]:
    """Whether twice as many training documents were measurably better than half of them.

    n: the documents measured, by which suggestions are ranked.
    """
    task, y = refits.data.task, refits.y_true
    whole, half = refits.own.scores, refits.halved.scores
    if isinstance(task, Multilabel):
        truly = y.astype(bool)
        sets = SetAnswers(truly, *(task.decide_by_halves(it, y) for it in (whole, half)))
        difference = Estimate("gain", *_micro(sets))
        gains = [
            Gain(
                label,
                int(np.count_nonzero(truly[:, c] & sets.first[:, c] & ~sets.second[:, c])),
                int(np.count_nonzero(truly[:, c] & ~sets.first[:, c] & sets.second[:, c])),
            )
            for c, label in enumerate(task.labels)
        ]
        won, lost, metric = sets.won, sets.lost, "the micro-F1"
    elif task.discrete:
        codes = y.astype(np.int64)
        one = Answers(codes, *(task.decide(it).astype(np.int64) for it in (whole, half)))
        first, second = (np.asarray(it == codes) for it in (one.first, one.second))
        interval = bootstrap([one], resamples=RESAMPLES)[0]
        difference = Estimate("gain", float(first.mean() - second.mean()), *interval)
        gains = [_gain(label, codes == c, first, second) for c, label in enumerate(task.labels)]
        won, lost, metric = one.won, one.lost, "the accuracy"
    else:
        return
    yield from learning_still(gains, difference, (won, lost), metric, n / len(y))


def learning_still(
    gains: Sequence[Gain],
    difference: Estimate,
    won_lost: tuple[int, int],
    metric: str,
    scale: float,
) -> Iterator[Suggestion]:
    """The suggestion, where the gain of the second half is measurable.

    gains: those of every label. difference: of the metric. won_lost: documents that only the whole,
    or only the half, has right. scale: measured documents per training document.
    """
    won, lost = won_lost
    p = sign_test(won, lost)
    if p > ALPHA or won <= lost:
        return
    adjusted = holm([sign_test(one.won, one.lost) for one in gains])
    clear = [
        one
        for one, value in zip(gains, adjusted, strict=True)
        if value <= ALPHA and one.won > one.lost
    ]
    clear.sort(key=lambda one: (one.lost - one.won, one.label))
    told = [f"{quoted(it.label)} (+{it.won - it.lost:,})" for it in clear[:NAMED]]
    of = "of all labels"
    if 0 < len(clear) < len(gains):
        of = f"above all of {listed([quoted(it.label) for it in clear[:NAMED]])}"
    what = f"Add training documents, {of}."
    most = f", most for {listed(told)}" if told else ", for no label measurably more than others"
    yield Suggestion(
        what,
        f"Fitted to all of them rather than half, {metric} is higher by {points(difference)}, p = "
        f"{p_text(p)}{most}: so more should help, if less.",
        scale * (won - lost),
    )


def _gain(label: str, own: Bools, first: Bools, second: Bools) -> Gain:
    won, lost = own & first & ~second, own & ~first & second
    return Gain(label, int(won.sum()), int(lost.sum()))


def _micro(sets: SetAnswers) -> tuple[float, float, float]:
    """The difference in micro-F1, with its interval."""
    low, high = bootstrap([sets], resamples=RESAMPLES)[2]
    first, second = (f1_scores(sets.y_true, it)[0] for it in (sets.first, sets.second))
    return first - second, low, high
