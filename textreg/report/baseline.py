"""The model's regularizer beside the baseline, on the same documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from textreg.measure.metrics import measure_numbers
from textreg.measure.significance import Answers, bootstrap, sign_test
from textreg.report.facts import prices
from textreg.report.measured import RESAMPLES, resampled
from textreg.report.records import Baseline, Figure
from textreg.report.study import Study

if TYPE_CHECKING:
    from textreg.model.model import Model
    from textreg.records import Floats, Int64s


def baseline_of(model: Model, study: Study) -> Baseline | None:
    """The paired difference over all documents, each answered by fits that have not seen it.

    Answers are those of the highest score, without thresholds. None where the model is a baseline.
    """
    if study.baseline is None:
        return None
    own, other, y_true = study.own, study.baseline, study.y_true
    scores = own.scores, other.scores
    sizes = float(np.mean(own.sizes)), float(np.mean(other.sizes))
    told = ", ".join(f"{name} {value}" for name, value in prices(other.part.params()))
    task = model.task
    if not task.discrete:
        found = _numbers(np.asarray(y_true, dtype=np.float64), own.scores[:, 0], other.scores[:, 0])
        return Baseline("R²", len(y_true), told, *found, *sizes)
    answers = Answers(*(y.astype(np.int64) for y in (y_true, *map(task.decide, scores))))
    first, second = (float(np.mean(one == answers.y_true)) for one in answers[1:])
    interval, _ = bootstrap([answers], resamples=RESAMPLES)
    gain = Figure("difference", first - second, *interval)
    won, lost = answers.won, answers.lost
    return Baseline(
        "accuracy", len(y_true), told, first, second, gain, *sizes, won, lost, sign_test(won, lost)
    )


def _numbers(y_true: Floats, own: Floats, other: Floats) -> tuple[float, float, Figure]:
    """R² of both and the difference, with a percentile bootstrap interval over documents."""
    first, second = (measure_numbers(scores, y_true)["r2"] for scores in (own, other))

    def gain(rows: Int64s) -> float:
        one, two = (measure_numbers(scores[rows], y_true[rows])["r2"] for scores in (own, other))
        return one - two

    interval = resampled(gain, len(y_true))
    return first, second, Figure("difference", first - second, *interval)
