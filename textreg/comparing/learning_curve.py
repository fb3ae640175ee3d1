"""The result of a learning curve: metrics over the number of documents, as tables and pictures."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from textreg.comparing.markdown import markdown
from textreg.errors import UsageError

if TYPE_CHECKING:
    import os

    from textreg.records import Floats

MEASURES = {"accuracy": "accuracy", "macro-f1": "macro_f1", "log-loss": "log_loss"}
"""What curves may show, and the attribute of a cell with it."""


@dataclass(frozen=True)
class CurveCell:
    """One training of one candidate.

    Attributes
    ----------
    benchmark, candidate : str
        Their names.
    size : int
        Number of documents that were drawn.
    draw : int
        Which draw of documents, from 0 on.
    accuracy, macro_f1 : float
        On the test documents.
    log_loss : float or None
        The same; None for models without probabilities.
    features : int
        Number of features with a weight.
    seconds : float
        Wall time of the training.
    params : mapping
        Parameters of the regularizer, as chosen.
    """

    benchmark: str
    candidate: str
    size: int
    draw: int
    accuracy: float
    macro_f1: float
    log_loss: float | None
    features: int
    seconds: float
    params: Mapping[str, Any]


class CurvePoint(NamedTuple):
    """A mean over the draws, and its 95 % interval; that is None of a single draw."""

    mean: float
    interval: tuple[float, float] | None


@dataclass(frozen=True, eq=False)
class LearningCurve:
    """Several candidates, trained on more and more documents.

    Attributes
    ----------
    benchmarks, candidates : tuple of str
        Names, in the order they were given.
    sizes : dict of str to tuple of int
        Numbers of documents, ascending, by benchmark.
    draws : int
        How often documents were drawn.
    by : str
        ``documents`` or ``labels``: see :func:`textreg.learn_curve`.
    draw : str
        How documents were drawn: ``stratified``, ``equal`` or ``random``.
    baseline : str
        The candidate that the others are compared with.
    measure : str
        What tables and pictures show: ``accuracy``, ``macro-f1`` or ``log-loss``.
    seed : int
        Seed of the draws and splits.
    cells : tuple of CurveCell
        All trainings.

    Examples
    --------
    >>> import textreg
    >>> texts, labels = ["good film", "bad film"] * 30, ["pos", "neg"] * 30
    >>> films = textreg.Benchmark("films", train=(texts, labels))
    >>> curve = textreg.learn_curve(["ridge"], films, sizes=[8, 16], draws=2)
    >>> curve.sizes["films"], len(curve.cells)
    ((8, 16), 4)
    """

    benchmarks: tuple[str, ...]
    candidates: tuple[str, ...]
    sizes: Mapping[str, tuple[int, ...]]
    draws: int
    by: str
    draw: str
    baseline: str
    measure: str
    seed: int
    cells: tuple[CurveCell, ...]

    def values(self, benchmark: str, candidate: str, size: int) -> Floats:
        """What was measured in every draw.

        Parameters
        ----------
        benchmark, candidate : str
            Their names.
        size : int
            The number of training documents.

        Returns
        -------
        ndarray of shape (draws,)

        Raises
        ------
        KeyError
            If there is none of these names.
        UsageError
            If no draw has the measure, as a model without probabilities has no log-loss.
        """
        key = benchmark, candidate, size
        found = [cell for cell in self.cells if (cell.benchmark, cell.candidate, cell.size) == key]
        if not found:
            raise KeyError(key)
        values = [getattr(cell, MEASURES[self.measure]) for cell in found]
        if None in values:
            raise UsageError(
                f"{candidate} gives no probabilities, so it has no log-loss: show another measure, "
                "or leave that candidate out."
            )
        return np.array(values, dtype=np.float64)

    def point(self, benchmark: str, candidate: str, size: int) -> CurvePoint:
        """The mean over the draws, with a t interval where there are several.

        Parameters
        ----------
        benchmark, candidate, size
            As for :meth:`values`.

        Returns
        -------
        CurvePoint
        """
        return _point(self.values(benchmark, candidate, size), 0.0, self._most)

    def difference(self, benchmark: str, candidate: str, size: int) -> CurvePoint:
        """The mean difference from the baseline, paired by draws, with a t interval.

        Parameters
        ----------
        benchmark, candidate, size
            As for :meth:`values`.

        Returns
        -------
        CurvePoint
        """
        own, other = (self.values(benchmark, it, size) for it in (candidate, self.baseline))
        return _point(own - other, -self._most, self._most)

    @property
    def _most(self) -> float:
        """The largest value of the measure."""
        return math.inf if self.measure == "log-loss" else 1.0

    @property
    def documents(self) -> str:
        """What sizes are numbers of."""
        return "labeled documents" if self.by == "labels" else "training documents"

    def tables(self) -> list[tuple[str, list[list[str]]]]:
        """Titles and cells of the tables: what was measured, then differences, by benchmark."""
        tables = []
        points = self.measure != "log-loss"
        others = [name for name in self.candidates if name != self.baseline]
        for benchmark in self.benchmarks:
            sizes = self.sizes[benchmark]
            head = [self.documents, *(f"{size:,}" for size in sizes)]
            rows = [
                [name, *(_text(self.point(benchmark, name, size)) for size in sizes)]
                for name in self.candidates
            ]
            tables.append((f"{benchmark}: {self.measure}", [head, *rows]))
            if others:
                scale, digits = (100.0, 1) if points else (1.0, 3)
                rows = [
                    [
                        name,
                        *(
                            _text(self.difference(benchmark, name, size), scale, digits, sign="+")
                            for size in sizes
                        ),
                    ]
                    for name in others
                ]
                what = "points over" if points else "difference from"
                tables.append((f"{benchmark}: {what} {self.baseline}", [head, *rows]))
        return tables

    def notes(self) -> list[str]:
        """What the intervals are, in words."""
        if self.draws == 1:
            return ["one draw: no interval. More draws (--draws) show how much the draw matters"]
        return [
            f"mean of {self.draws} {self.draw} draws, with 95 % t intervals over the draws; all "
            "are measured on the same test documents, whose variance they do not cover"
        ]

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values that JSON can hold."""
        return {
            "benchmarks": list(self.benchmarks),
            "candidates": list(self.candidates),
            "sizes": {name: list(sizes) for name, sizes in self.sizes.items()},
            "draws": self.draws,
            "by": self.by,
            "draw": self.draw,
            "baseline": self.baseline,
            "measure": self.measure,
            "seed": self.seed,
            "points": [
                {
                    "benchmark": benchmark,
                    "candidate": name,
                    "size": size,
                    **self.point(benchmark, name, size)._asdict(),
                    "difference": self.difference(benchmark, name, size)._asdict()
                    if name != self.baseline
                    else None,
                }
                for benchmark, name, size in self._keys()
            ],
            "cells": [{**asdict(cell), "params": dict(cell.params)} for cell in self.cells],
        }

    def to_csv(self) -> str:
        """A row for each benchmark, candidate and size."""
        file = io.StringIO()
        writer = csv.writer(file, lineterminator="\n")
        ends = ("mean", "low", "high", "difference", "difference_low", "difference_high")
        writer.writerow(["benchmark", "candidate", "size", "draws", "measure", *ends])
        for benchmark, name, size in self._keys():
            row = [benchmark, name, size, self.draws, self.measure]
            row += _flat(self.point(benchmark, name, size))
            other = name != self.baseline
            row += _flat(self.difference(benchmark, name, size)) if other else [None] * 3
            writer.writerow(row)
        return file.getvalue()

    def to_markdown(self) -> str:
        """The tables, and what the intervals are."""
        return markdown(self.tables(), self.notes())

    def plot(self, path: str | os.PathLike[str]) -> None:
        """Draw a panel for each benchmark: a line for each candidate, with its intervals.

        Parameters
        ----------
        path : str or path-like
            File to write, ``.svg`` or ``.png``.

        Raises
        ------
        UsageError
            If the picture cannot be written.
        """
        from textreg.plotting.curve_charts import Curve, curve_panels

        panels = {}
        for benchmark in self.benchmarks:
            sizes = self.sizes[benchmark]
            panels[benchmark] = [
                Curve(name, sizes, *zip(*points, strict=True))
                for name in self.candidates
                for points in [[self.point(benchmark, name, size) for size in sizes]]
            ]
        curve_panels(panels, path, x_title=self.documents, y_title=self.measure)

    def _keys(self) -> list[tuple[str, str, int]]:
        return [
            (benchmark, name, size)
            for benchmark in self.benchmarks
            for name in self.candidates
            for size in self.sizes[benchmark]
        ]


def _point(values: Floats, least: float, most: float) -> CurvePoint:
    """least, most: between which a mean lies in any case."""
    mean, n = float(values.mean()), len(values)
    if n < 2:
        return CurvePoint(mean, None)
    from scipy.special import stdtrit

    half = float(stdtrit(n - 1, 0.975) * values.std(ddof=1) / np.sqrt(n))
    return CurvePoint(mean, (max(mean - half, least), min(mean + half, most)))


def _text(point: CurvePoint, scale: float = 1.0, digits: int = 3, *, sign: str = "") -> str:
    mean = f"{scale * point.mean:{sign}.{digits}f}"
    if point.interval is None:
        return mean
    low, high = (f"{scale * end:.{digits}f}" for end in point.interval)
    return f"{mean} ({low} to {high})"


def _flat(point: CurvePoint) -> Sequence[float | None]:
    return [point.mean, *((None, None) if point.interval is None else point.interval)]
