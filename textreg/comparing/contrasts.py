"""How a candidate compares with the baseline: differences, tests and the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from textreg.measure.significance import ALPHA, Interval, holm


class Contrast(NamedTuple):
    """A candidate compared with the baseline; differences are candidate minus baseline.

    Attributes
    ----------
    candidate, baseline : str
        Their names.
    benchmark : str or None
        Name of the benchmark; None for the mean over all, each with the same weight.
    accuracy, macro_f1 : float
        Differences.
    accuracy_interval, macro_f1_interval : Interval
        Their 95 % bootstrap intervals.
    won, lost : int
        Number of documents that only the candidate, or only the baseline, labels right; where they
        may have several labels, whose labels have a higher F1.
    p : float
        Two-sided p-value of the exact McNemar test. Over all benchmarks the documents are pooled,
        which is the micro sign test of Yang & Liu (1999).
    p_adjusted : float
        The same, adjusted for all comparisons that are made at once, by the method of Holm (1979).
    comparisons : int
        Number of these comparisons: for one benchmark, those of all candidates with the baseline
        on all benchmarks; over all benchmarks, those of all candidates.
    benchmarks_won, benchmarks_lost : int
        Number of benchmarks on which the candidate has the higher, or the lower, accuracy, or
        micro-F1 if there is; 0 for a single benchmark.
    benchmarks_p : float
        Two-sided p-value of the sign test over benchmarks; 1 for a single benchmark.
    benchmarks_p_adjusted : float
        The same, adjusted for the comparisons of all candidates.
    micro_f1 : float or None
        Difference where documents may have several labels.
    micro_f1_interval : Interval or None
        Its 95 % bootstrap interval.
    """

    candidate: str
    baseline: str
    benchmark: str | None
    accuracy: float
    accuracy_interval: Interval
    macro_f1: float
    macro_f1_interval: Interval
    won: int
    lost: int
    p: float
    p_adjusted: float
    comparisons: int = 1
    benchmarks_won: int = 0
    benchmarks_lost: int = 0
    benchmarks_p: float = 1.0
    benchmarks_p_adjusted: float = 1.0
    micro_f1: float | None = None
    micro_f1_interval: Interval | None = None

    @property
    def headline(self) -> tuple[float, Interval]:
        """As of :class:`Measurement`."""
        return headline(
            self.accuracy, self.accuracy_interval, self.micro_f1, self.micro_f1_interval
        )

    @property
    def verdict(self) -> str:
        """``better``, ``worse`` or ``level``: by the adjusted p-value and nothing else."""
        if self.p_adjusted > ALPHA:
            return "level"
        return "better" if self.won > self.lost else "worse"


def headline(
    accuracy: float,
    accuracy_interval: Interval,
    micro_f1: float | None,
    micro_f1_interval: Interval | None,
) -> tuple[float, Interval]:
    """Micro-F1 and its interval if there is one, else those of the accuracy."""
    if micro_f1 is None or micro_f1_interval is None:
        return accuracy, accuracy_interval
    return micro_f1, micro_f1_interval


def adjusted(contrasts: Sequence[Contrast]) -> tuple[Contrast, ...]:
    """The contrasts with p-values adjusted for several comparisons.

    Those on single benchmarks are one family of tests, and those over all benchmarks another.
    """
    result = list(contrasts)
    for overall in (False, True):
        family = [row for row, one in enumerate(result) if (one.benchmark is None) == overall]
        p = holm([result[row].p for row in family])
        benchmarks_p = holm([result[row].benchmarks_p for row in family])
        for row, of_documents, of_benchmarks in zip(family, p, benchmarks_p, strict=True):
            result[row] = result[row]._replace(
                p_adjusted=of_documents,
                comparisons=len(family),
                benchmarks_p_adjusted=of_benchmarks,
            )
    return tuple(result)
