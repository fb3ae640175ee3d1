"""Regularizers measured on more and more documents."""

from __future__ import annotations

import itertools
import math
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from textreg.errors import DataError, UsageError, first_few, named_errors
from textreg.features.vectorize import Features, MatrixRows
from textreg.files import csv_lines
from textreg.kinds import GraphBuilder
from textreg.model.model import Model
from textreg.params import Parametrized, param
from textreg.plugins import calls
from textreg.records import Corpus, Floats, Graph, Groups, Int64s
from textreg.records.arrays import Cache, as_array
from textreg.tasks import read_target
from textreg.terminal import Displayed
from textreg.training.prepare import for_documents, make_features
from textreg.training.running import Progress
from textreg.training.settings import TrainingSettings
from textreg.training.train import train_corpus
from textreg_report.benchmark import (
    Benchmark,
    Candidate,
    Checked,
    baseline_of,
    checked_benchmarks,
    measure,
    ready_candidates,
)
from textreg_report.charts import Picture, Series, draw_lines
from textreg_report.comparison import Measurement, markdown

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from textreg.training.keywords import SettingsKeywords


@dataclass(frozen=True, eq=False)
class Pool:
    """Documents to draw from, and the features of samples.

    sizes: of the samples. orders: of the documents for every draw, which samples are the first of.
    known: whether features and graphs are made once, of all documents; made: features, by what
    they depend on, else those of one sample.
    """

    benchmark: Checked
    unlabeled: Corpus | None
    sizes: tuple[int, ...]
    orders: list[Int64s]
    known: bool
    made: dict[Any, Features] = field(default_factory=dict)

    def training(
        self, settings: TrainingSettings, rows: Int64s
    ) -> tuple[Corpus, TrainingSettings, Features]:
        """What to train on and how, for some rows of the pool."""
        assert self.benchmark.train is not None
        corpus, sample = self.benchmark.train, self.benchmark.train.select(rows)
        more = [] if self.unlabeled is None else list(self.unlabeled.texts)
        settings = for_documents(settings, corpus)  # not each sample with features of other kinds
        graph = settings.reg.needs == "graph" and not self.known
        if graph and more:  # before features are made: they are of these texts, too
            settings = settings.replace(unlabeled=Corpus(texts=more))
        key = settings.vectorizer, settings.tokenizer, settings.fields, graph
        if key not in self.made:
            every = Corpus(texts=[*corpus.texts, *more]) if self.known else sample
            features = make_features(every, settings)
            self.made[key] = with_graphs(features) if self.known else features
        made = self.made[key]
        if self.known:
            of_rows = MatrixRows(made.X[rows])
            return sample, settings, replace(made, rows=of_rows, tokens=made.tokens.select(rows))
        return sample, settings, made

    def measure(self, settings: TrainingSettings, name: str, draw: int, size: int) -> Measurement:
        """Train the candidate ``name`` on a sample, and measure it on the test documents."""
        start = time.perf_counter()
        sample, settings, features = self.training(settings, self.orders[draw][:size])
        model = train_corpus(sample, settings, None, features, partial=False)
        seconds = time.perf_counter() - start
        return replace(measure(name, self.benchmark, model, seconds), size=size, draw=draw)


def with_graphs(features: Features) -> Features:
    """The features with graphs of their documents, each made once."""
    graphs = Cache()

    def graph_of(builder: GraphBuilder, groups: Groups | None) -> Graph:
        if groups is not None:  # these are of the documents that are fitted
            return calls.build_graph(builder, features.tokens, groups)
        return graphs.get(builder, lambda: calls.build_graph(builder, features.tokens))

    return replace(features, graphs=graph_of)


class Draws(Parametrized):
    """What a learning curve draws, how, and what it shows."""

    name = "learn-curve"
    by: str = param(
        default="documents",
        choices=("documents", "labels"),
        help="with labels, the training documents that are not drawn are used without their labels",
    )
    draw: str = param(
        default="stratified",
        choices=("stratified", "equal", "random"),
        help="draw labels in proportion, as many documents of each label, or at random",
    )
    draws: int = param(default=5, min=1, help="how often to draw documents")
    measure: str = param(
        default="accuracy", choices=("accuracy", "macro-f1", "log-loss"), help="what to show"
    )


# Documents that a sample must have of every label.
LEAST = 2

# Sizes that are taken where none are given.
STEPS = 5


def draw_order(codes: Int64s, draw: str, seed: Sequence[int]) -> Int64s:
    """An order of the documents, of which the first n are the sample of n documents.

    So a smaller sample is part of every larger one. The numbers of documents of a label in a
    stratified sample are less than one from its share; in an equal one they differ by at most one,
    as long as there are documents of all labels.

    Parameters
    ----------
    codes : ndarray of int64, shape (n,)
        The label of each document.
    draw : {"stratified", "equal", "random"}
    seed : sequence of int
    """
    rng = np.random.default_rng(list(seed))
    order: Int64s = rng.permutation(len(codes))
    if draw == "random":
        return order
    counts = np.bincount(codes)
    grouped = order[np.argsort(codes[order], kind="stable")]
    first = np.concatenate([[0], np.cumsum(counts)[:-1]])
    rank = np.arange(len(codes)) - first[codes[grouped]]
    # The k-th document of a label stands at (k + u) / n_label, so each prefix has its share.
    if draw == "stratified":
        place = (rank + rng.random(len(counts))[codes[grouped]]) / counts[codes[grouped]]
    else:
        place = rank + rng.random(len(codes))
    return np.asarray(grouped[np.argsort(place, kind="stable")])


def check_sizes(
    sizes: Sequence[int] | None, codes: Int64s, k: int, orders: Sequence[Int64s], draw: str
) -> tuple[int, ...]:
    """The sizes in ascending order; without any, the whole corpus, half of it, and so on.

    In place of the whole corpus it is as many documents of each of the k labels as the rarest has,
    if they are drawn so. A size of which a draw has too few documents of a label is left out.

    UsageError for sizes that are no numbers of documents, DataError for one beyond the corpus.
    """
    n = len(codes)
    if sizes is None:
        most = k * int(np.bincount(codes, minlength=k).min()) if draw == "equal" else n
        halves = [most // 2**step for step in reversed(range(STEPS))]
        fewest = [min(_counts(order, size, codes, k).min() for order in orders) for size in halves]
        usable = zip(halves, fewest, strict=True)
        return tuple(s for s, few in usable if s >= 2 * LEAST * k and few >= LEAST) or (most,)
    sizes = as_array("sizes", sizes, np.int64).tolist()
    if not sizes or min(sizes) < 1 or len(set(sizes)) < len(sizes):
        raise UsageError(
            "sizes must be different numbers of documents, 1 or more, such as 100,200,400."
        )
    if max(sizes) > n:
        raise DataError(
            f"a sample of {max(sizes):,} was asked for, and there are {n:,} training documents: "
            "name smaller sizes (--sizes), or give more documents."
        )
    return tuple(sorted(sizes))


def _counts(order: Int64s, size: int, codes: Int64s, k: int) -> Int64s:
    return np.bincount(codes[order[:size]], minlength=k)


def check_samples(
    order: Int64s, sizes: Sequence[int], codes: Int64s, labels: Sequence[str], draw: str
) -> None:
    """DataError where a sample has too few documents of a label, which the message names."""
    counts = np.bincount(codes, minlength=len(labels))
    if draw == "equal":
        each = math.ceil(max(sizes) / len(labels))
        rarest = int(np.argmin(counts))
        if counts[rarest] < each:
            raise DataError(
                f"the label '{labels[rarest]}' has {counts[rarest]:,} training documents, and "
                f"{max(sizes):,} documents, as many of each label, need {each:,} of it: name "
                f"sizes up to {int(counts[rarest]) * len(labels):,}, or draw them in their shares "
                "(--draw stratified)."
            )
    frequencies = _counts(order, min(sizes), codes, len(labels))
    few = [labels[code] for code in np.flatnonzero(frequencies < LEAST).tolist()]
    if few:
        least = int(np.argmin(frequencies))
        remedy = "name larger sizes, draw as many of each label (--draw equal),"
        if counts.min() < LEAST:  # no sample has enough of it
            least, remedy = int(np.argmin(counts)), "add documents with it,"
        raise DataError(
            f"a sample of {min(sizes):,} documents has {frequencies[least]} with the label "
            f"'{labels[least]}', and {LEAST} are needed of each ({first_few(few, 3)}): {remedy} or "
            "leave rare labels out (--min-label)."
        )


class CurvePoint(NamedTuple):
    """A mean over the draws, and its 95 % interval; that is None of a single draw."""

    mean: float
    interval: tuple[float, float] | None


@dataclass(frozen=True, eq=False, repr=False)
class LearningCurve(Displayed):
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
        ``documents`` or ``labels``: see :func:`textreg_report.learn_curve`.
    draw : str
        How documents were drawn: ``stratified``, ``equal`` or ``random``.
    baseline : str
        The candidate that the others are compared with.
    measure : str
        What tables and pictures show: ``accuracy``, ``macro-f1`` or ``log-loss``.
    seed : int
        Seed of the draws and splits.
    cells : tuple of Measurement
        All trainings.

    Examples
    --------
    >>> import textreg
    >>> texts, labels = ["good film", "bad film"] * 30, ["pos", "neg"] * 30
    >>> films = textreg_report.Benchmark("films", train=(texts, labels))
    >>> curve = textreg_report.learn_curve(["ridge"], films, sizes=[8, 16], draws=2)
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
    cells: tuple[Measurement, ...]

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
        values = [
            getattr(cell, self.measure.replace("-", "_"))
            for cell in self.cells
            if (cell.benchmark, cell.candidate, cell.size) == key
        ]
        if not values:
            raise KeyError(key)
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

    def headline(self) -> str:
        """What was compared."""
        return f"{self.measure} of {', '.join(self.candidates)}; {'; '.join(self.notes())}"

    def tables(self) -> list[tuple[str, list[list[str]]]]:
        """Titles and cells of the tables: what was measured, then differences, by benchmark."""
        points = self.measure != "log-loss"
        scale, digits = (100.0, 1) if points else (1.0, 3)
        over = "points over" if points else "difference from"
        tables = []
        for benchmark in self.benchmarks:
            sizes = self.sizes[benchmark]
            head = [self.documents, *(f"{size:,}" for size in sizes)]
            means, gains = [head], [head]
            for name in self.candidates:
                means.append([name, *(_text(self.point(benchmark, name, it)) for it in sizes)])
                if name != self.baseline:
                    apart = (self.difference(benchmark, name, size) for size in sizes)
                    gains.append([name, *(_text(it, scale, digits, sign="+") for it in apart)])
            tables.append((f"{benchmark}: {self.measure}", means))
            if len(gains) > 1:
                tables.append((f"{benchmark}: {over} {self.baseline}", gains))
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
        points = []
        for key, mean, gain in self._points():
            of = dict(zip(("benchmark", "candidate", "size"), key, strict=True))
            points.append({**of, **mean._asdict(), "difference": gain and gain._asdict()})
        cells = [cell.to_dict() for cell in self.cells]
        return {**vars(self), "sizes": dict(self.sizes), "points": points, "cells": cells}

    def to_csv(self) -> str:
        """A row for each benchmark, candidate and size."""
        ends = ("mean", "low", "high", "difference", "difference_low", "difference_high")
        rows: list[list[Any]] = [["benchmark", "candidate", "size", "draws", "measure", *ends]]
        for key, *points in self._points():
            row = [*key, self.draws, self.measure]
            for point in points:
                mean, interval = point or (None, None)
                row += [mean, *(interval or [None] * 2)]
            rows.append(row)
        return "".join(csv_lines(rows))

    def to_markdown(self) -> str:
        """The tables, and what the intervals are."""
        return markdown(self.tables(), self.notes())

    def plot(self, path: str | os.PathLike[str] | None = None) -> Picture:
        """Draw a panel for each benchmark: a line for each candidate, with its intervals.

        Parameters
        ----------
        path : str or path-like, optional
            File to write, ``.svg`` or ``.png``.

        Returns
        -------
        Picture
            It shows itself in a notebook.

        Raises
        ------
        UsageError
            If the picture cannot be written.
        """
        panels: dict[str, list[Series]] = {name: [] for name in self.benchmarks}
        for benchmark, name in itertools.product(self.benchmarks, self.candidates):
            sizes = self.sizes[benchmark]
            means, intervals = zip(*(self.point(benchmark, name, it) for it in sizes), strict=True)
            panels[benchmark].append(Series(name, sizes, means, None, intervals))
        return draw_lines(panels, path, (self.documents, self.measure))

    def _points(self) -> Iterator[tuple[tuple[str, str, int], CurvePoint, CurvePoint | None]]:
        """Benchmark, candidate and size; the mean; the difference of others than the baseline."""
        for benchmark, name in itertools.product(self.benchmarks, self.candidates):
            for size in self.sizes[benchmark]:
                key = benchmark, name, size
                gain = None if name == self.baseline else self.difference(*key)
                yield key, self.point(*key), gain


def _point(values: Floats, least: float, most: float) -> CurvePoint:
    """least, most: between which a mean lies in any case."""
    mean, n = float(values.mean()), len(values)
    if n < 2:
        return CurvePoint(mean, None)
    from scipy.special import stdtrit

    # t(n - 1, 0.975) s / √n
    half = float(stdtrit(n - 1, 0.975) * values.std(ddof=1) / np.sqrt(n))
    return CurvePoint(mean, (max(mean - half, least), min(mean + half, most)))


def _text(point: CurvePoint, scale: float = 1.0, digits: int = 3, *, sign: str = "") -> str:
    mean = f"{scale * point.mean:{sign}.{digits}f}"
    if point.interval is None:
        return mean
    low, high = (f"{scale * end:.{digits}f}" for end in point.interval)
    return f"{mean} ({low} to {high})"


def learn_curve(  # noqa: PLR0913  # its options are its interface
    candidates: Sequence[Candidate] | Mapping[str, Candidate],
    benchmarks: Benchmark | Iterable[Benchmark],
    *,
    sizes: Sequence[int] | None = None,
    by: str = "documents",
    draw: str = "stratified",
    draws: int = 5,
    measure: str = "accuracy",
    unlabeled: Mapping[str, Corpus] | None = None,
    baseline: str | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    **settings: Unpack[SettingsKeywords],
) -> LearningCurve:
    """Train candidates on samples of several sizes, and measure all on the same test documents.

    Samples are nested: of one draw, a smaller one is part of every larger one. All candidates have
    the same samples, and choose their hyperparameters on their sample alone.

    Parameters
    ----------
    candidates : sequence or mapping
        Regularizers with their options, as for :func:`textreg_report.compare`; no models.
    benchmarks : Benchmark or iterable of Benchmark
        Corpora with documents to draw from; without ``dev``.
    sizes : sequence of int, optional
        Numbers of documents. By default all documents, half of them, and so on, five in all.
    by : {"documents", "labels"}, default "documents"
        What is drawn. With "labels" all training documents are known and their labels are drawn:
        features come from all, and regularizers with a graph build it from all, as is done with
        unlabeled documents. With "documents" the others are unknown.
    draw : {"stratified", "equal", "random"}, default "stratified"
        Labels in their shares of the corpus, as many of each, or as they come.
    draws : int, default 5
        How often documents are drawn.
    measure : {"accuracy", "macro-f1", "log-loss"}, default "accuracy"
        What tables and pictures show; the result has all three.
    unlabeled : mapping of str to Corpus, optional
        By benchmark, further documents that regularizers with a graph learn from.
    baseline : str, optional
        The candidate that the others are compared with. Default: ``ridge`` if it is one of them,
        else the first.
    seed : int, default 0
        Seed of the draws, the splits and the test documents.
    progress : callable, optional
        Called with the stage ("cells"), the number of trainings done, and the total.
    **settings
        Options of all candidates, as for :func:`textreg.train`.

    Returns
    -------
    LearningCurve

    Raises
    ------
    UsageError, DataError
        If a candidate or a benchmark cannot be used, a size is beyond the data, or a sample has too
        few documents of a label; all before anything is trained.

    Examples
    --------
    >>> texts, labels = ["good film", "bad film"] * 30, ["pos", "neg"] * 30
    >>> films = Benchmark("films", train=(texts, labels))
    >>> curve = learn_curve(["lasso", "ridge"], films, sizes=[8, 16], draws=2)
    >>> curve.point("films", "ridge", 16).mean
    1.0
    """
    drawing = Draws(by=by, draw=draw, draws=draws, measure=measure)
    ready = _ready(candidates, {"seed": seed, **settings})
    baseline = baseline_of(ready, baseline, usual="ridge")
    rare = next(iter(ready.values())).rare
    ready = {name: one.replace(min_label=None, rare_label=None) for name, one in ready.items()}
    checked = checked_benchmarks(benchmarks, "a learning curve", ready.values(), seed, rare)
    known = [benchmark.name for benchmark in checked]
    unlabeled = unlabeled or {}
    if unknown := set(unlabeled) - set(known):
        raise UsageError(
            f"there is no benchmark '{min(unknown)}' for unlabeled documents. There are: "
            f"{', '.join(known)}."
        )
    pools = []
    for benchmark in checked:
        with named_errors(benchmark.name):
            if benchmark.dev is not None:
                raise UsageError(
                    "a learning curve takes no dev documents, which a small sample would not have: "
                    "hyperparameters are chosen on each sample. Leave them out."
                )
            corpus = benchmark.train
            assert corpus is not None
            if corpus.multilabel:
                raise DataError(
                    "its documents have several labels each, and samples are drawn by one label: "
                    "give documents of one label."
                )
            target = read_target(corpus)[1]
            codes, labels = target.task.strata(target.y)
            orders = [draw_order(codes, draw, (seed, number)) for number in range(draws)]
            chosen = check_sizes(sizes, codes, len(labels), orders, draw)
            for order in orders:
                check_samples(order, chosen, codes, labels, draw)
        more = unlabeled.get(benchmark.name)
        pools.append(Pool(benchmark, more, chosen, orders, by == "labels"))
    total = sum(len(pool.sizes) for pool in pools) * draws * len(ready)
    cells: list[Measurement] = []
    for pool in pools:
        for number, size in itertools.product(range(draws), pool.sizes):
            if not pool.known:
                pool.made.clear()
            for name, candidate in ready.items():
                with named_errors(f"{pool.benchmark.name}, {name}, {size:,} documents"):
                    cells.append(pool.measure(candidate, name, number, size))
                if progress is not None:
                    progress("cells", len(cells), total)
    return LearningCurve(
        **drawing.params(),
        benchmarks=tuple(known),
        candidates=tuple(ready),
        sizes={pool.benchmark.name: pool.sizes for pool in pools},
        baseline=baseline,
        seed=seed,
        cells=tuple(cells),
    )


def _ready(
    candidates: Sequence[Candidate] | Mapping[str, Candidate], shared: Mapping[str, Any]
) -> dict[str, TrainingSettings]:
    """All candidates by name; UsageError for what cannot be trained on samples."""
    ready: dict[str, TrainingSettings] = {}
    for name, candidate in ready_candidates(candidates, shared).items():
        with named_errors(name):
            if isinstance(candidate, Model):
                raise UsageError(
                    "a model is trained already: name regularizers, or measure models with "
                    "textreg compare."
                )
            for setting in ("dev", "unlabeled", "unknown", "memory"):
                if getattr(candidate, setting) is not None:
                    raise UsageError(f"a learning curve takes no {setting}: leave it out.")
            ready[name] = candidate
    if not ready:
        raise UsageError("a learning curve needs a candidate: name one, such as --reg ridge.")
    if len({candidate.rare for candidate in ready.values()}) > 1:
        raise UsageError("min_label and rare_label must be the same for all candidates.")
    return ready
