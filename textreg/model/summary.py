"""How a model was trained, as typed records that a model file keeps as JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from textreg.errors import RecordError, first_few
from textreg.model import json_records
from textreg.model.json_records import INLINE
from textreg.plugins import registry
from textreg.terminal import MOST_ROWS, Displayed, Table, cell, counted, measures


@dataclass(frozen=True, kw_only=True)
class PartOrigin(registry.Origin):
    """Where a part of the training came from.

    Attributes
    ----------
    kind : str
        What it is, such as "regularizer".
    name, distribution, version, api, file, sha256
        See :class:`textreg.plugins.registry.Origin`.
    """

    kind: str


class SourceSummary(NamedTuple):
    """The files of a training, and how they were read.

    Attributes
    ----------
    files, dev, unlabeled : tuple of str
        Paths as they were given, relative to the folder where the command ran.
    reading : dict of str to Any
        Options for reading them, by their names, such as "label_col". Columns that were guessed
        are among them.
    """

    files: tuple[str, ...]
    dev: tuple[str, ...]
    unlabeled: tuple[str, ...]
    reading: dict[str, Any]


class UpdateSummary(NamedTuple):
    """Documents that were added to a model after its training.

    Attributes
    ----------
    date : str
        The day, as an ISO date.
    documents : int
        Number of documents that were added.
    old : int or None
        Number of documents that were read again; None where the fit is approximate, as none was.
    labels : tuple of str
        Labels that the model did not have.
    features : int
        Features that the training had before.
    added : int
        Features that it did not have before. Where no document was read again, those of the new
        documents that had no weight.
    files : tuple of str
        Paths of the files that were added, as they were given; none in Python.
    """

    date: str
    documents: int
    old: int | None
    labels: tuple[str, ...]
    features: int
    added: int
    files: tuple[str, ...] = ()


class SplitSummary(NamedTuple):
    """Which documents were held out to measure the settings of a search.

    Attributes
    ----------
    kind : str
        "dev" (a corpus of its own), "holdout" or "cv".
    parts : int
        Number of splits.
    seed : int
        Seed of the random numbers.
    by : str or None
        "group" or "time" where documents were split by these, else None.
    """

    kind: str
    parts: int
    seed: int
    by: str | None


class ChoiceSummary(NamedTuple):
    """By which rule the search chose a setting.

    Attributes
    ----------
    rule : str
        "best", "1se" or "sparsest".
    within : float or None
        How much worse than the best a setting may be, with "sparsest".
    max_nonzero : int or None
        The most features a model may have.
    error : float or None
        Standard error of the metric at the chosen setting, where it was needed.
    """

    rule: str
    within: float | None
    max_nonzero: int | None
    error: float | None


@dataclass(frozen=True)
class DevMetrics:
    """Metrics of the chosen setting on the documents held out.

    Attributes
    ----------
    documents : int
        Number of documents held out.
    metrics : dict of str to float
        Values by the name of the metric, such as "accuracy" or "log-loss".
    accuracy_interval : tuple of two floats, or None
        95 % Wilson interval of the accuracy, of as many documents of equal weight as say as much;
        None for a regression.
    """

    documents: int
    metrics: dict[str, float] = field(metadata=INLINE)
    accuracy_interval: tuple[float, float] | None = None


@dataclass(frozen=True)
class SearchPoint:
    """One setting of a search, and its metrics on the documents held out.

    Attributes
    ----------
    params : dict of str to Any
        Hyperparameters of the regularizer.
    settings : dict of str to Any
        What else was searched, by the names of the options.
    nonzero : float
        Number of features with a weight, mean over the splits.
    error : float or None
        Standard error of the metric, where it was needed.
    metrics : dict of str to float
        Values by the name of the metric.
    """

    params: dict[str, Any]
    settings: dict[str, Any]
    nonzero: float
    error: float | None
    metrics: dict[str, float] = field(metadata=INLINE)


class ThresholdSummary(NamedTuple):
    """The decision threshold of a label.

    Attributes
    ----------
    rule : str
        The rule it was chosen by, such as "f1".
    value : float
        The threshold.
    precision, recall : float or None
        Those of the label on the documents held out, with this threshold; None after an update
        without the old documents, which keeps it.
    """

    rule: str
    value: float
    precision: float | None
    recall: float | None


class UnknownSummary(NamedTuple):
    """The threshold below which a text gets the unknown label.

    Attributes
    ----------
    rule : str
        The rule it was chosen by, such as "coverage:0.95".
    value : float
        The threshold of the highest score.
    documents : int
        Documents held out that belong to none of the labels.
    coverage : float or None
        Share of the other documents held out that are answered; None after an update without the
        old documents, which keeps the threshold and forgets what was measured.
    risk : float or None
        Share of errors among all documents held out that are answered.
    recall : float or None
        Share of the documents that belong to none of the labels and get the unknown label.
    """

    rule: str
    value: float
    documents: int
    coverage: float | None
    risk: float | None
    recall: float | None


class RegularizerSummary(NamedTuple):
    """The regularizer of the final fit.

    Attributes
    ----------
    name : str
        Its name, as for ``--reg``.
    params : dict of str to Any
        Its parameters, with the values that were fitted.
    searched : tuple of str
        The parameters whose values were chosen by the search.
    """

    name: str
    params: dict[str, Any]
    searched: tuple[str, ...]


class UnsmoothedSummary(NamedTuple):
    """The final fit under the loss that a smoothed one stands for.

    Attributes
    ----------
    objective : float
        Objective with that loss, a sum over the weight vectors of the fit.
    gap : float or None
        Bound on how far, relatively, that lies above its minimum; None without a bound.
    """

    objective: float
    gap: float | None


class SupportCounts(NamedTuple):
    """How many features, or groups, are proven to be out of the optimum or in it.

    Attributes
    ----------
    zero, nonzero, undecided : int
        Number of those that surely have no weight there, surely have one, and the others.
    """

    zero: int
    nonzero: int
    undecided: int

    @classmethod
    def total(cls, counts: Sequence[SupportCounts]) -> SupportCounts:
        """Of all weight vectors together."""
        return cls(*map(sum, zip(*counts, strict=True)))


class SupportSummary(NamedTuple):
    """What the final fit proves of its optimum, whatever solver came how near.

    Attributes
    ----------
    features : tuple of SupportCounts
        One for each weight vector.
    groups : tuple of SupportCounts
        The same of groups; empty where the regularizer has none.
    """

    features: tuple[SupportCounts, ...]
    groups: tuple[SupportCounts, ...]


class PruneSummary(NamedTuple):
    """The smallest weights, left out after the final fit.

    Attributes
    ----------
    share : float
        The most of the variance of the scores that they may hold.
    before, after : int
        Number of weights before and after.
    gap : float or None
        Bound on how far, relatively, the objective lies above its minimum without them; None
        without a bound.
    """

    share: float
    before: int
    after: int
    gap: float | None


class GroupsSummary(NamedTuple):
    """The groups of features that a regularizer used.

    Attributes
    ----------
    name : str
        Name of the group builder.
    params : dict of str to Any
        Parameters of the group builder.
    before : int
        Number of groups.
    after : int or None
        Number of those that differ in their features; None where documents lay in blocks.
    selected : int or None
        Number of those that are not zero, as the solver's copies of their weights tell
        (Yogatama & Smith 2014, section 4); None where the group penalty was 0, or in blocks.
    """

    name: str
    params: dict[str, Any]
    before: int
    after: int | None
    selected: int | None


class GraphSummary(NamedTuple):
    """The graph of features that a regularizer used.

    Attributes
    ----------
    name : str
        Name of the graph builder.
    params : dict of str to Any
        Parameters of the graph builder.
    links : int
        Number of links.
    classes : int
        Number of virtual features.
    """

    name: str
    params: dict[str, Any]
    links: int
    classes: int


class VectorsSummary(NamedTuple):
    """Word vectors, by which similar words have similar weights.

    Attributes
    ----------
    name : str
        The file, or the name of the table.
    scale : float
        How much: the s of docs/few-labels.md; 0 where the model is better without them.
    known : float
        Share of the words of the training texts that have a vector.
    inferred : int
        Number of words of the model that no training text holds.
    documents : int
        Number of documents that the idf of the features is of.
    """

    name: str
    scale: float
    known: float
    inferred: int
    documents: int

    @property
    def unseen_idf(self) -> float:
        """The idf of inferred words, by which these are told from others."""
        return 1.0 + math.log(1.0 + self.documents)


class MarksSummary(NamedTuple):
    """Marked passages that the penalties of features follow.

    Attributes
    ----------
    documents : int
        Number of documents with a marked passage.
    strength : float
        How much: the t of docs/few-labels.md; 0 where the model is better without them.
    """

    documents: int
    strength: float


class ShiftSummary(NamedTuple):
    """What was added to the intercepts of a fit, so that they are right for new texts.

    Attributes
    ----------
    kind : str
        See :class:`textreg.measure.intercept.Shift`.
    values : tuple of float
        For every weight vector.
    """

    kind: str
    values: tuple[float, ...]


class PathSummary(NamedTuple):
    """The regularization path that the model keeps.

    Attributes
    ----------
    parameter : str
        The parameter that changes along the path.
    points : int
        Number of models on it.
    """

    parameter: str
    points: int


class BlocksSummary(NamedTuple):
    """How documents were read that lay in blocks.

    Attributes
    ----------
    blocks : int
        Number of blocks.
    passes : int
        How often the final fits read all of them, together.
    searched : int or None
        Documents that the search saw; None where nothing was searched.
    """

    blocks: int
    passes: int
    searched: int | None


class GroupStep(NamedTuple):
    """One step of a pursuit of groups.

    Attributes
    ----------
    group : int or None
        Index of the group; None where a single feature was selected.
    name : str or None
        Name of the group, if it has one.
    features : tuple of str
        The features that were selected in this step.
    """

    group: int | None
    name: str | None
    features: tuple[str, ...]


class RareSummary(NamedTuple):
    """The labels of few training documents.

    Attributes
    ----------
    least : int
        The number of documents that a label needed.
    label : str or None
        The label that the others were joined into; None where they were left out.
    labels : dict of str to int
        Those of fewer documents, and these numbers.
    """

    least: int
    label: str | None
    labels: dict[str, int]


@dataclass(frozen=True, repr=False)
class TrainingSummary(Displayed):
    """How a model was trained.

    The times that it took are not part of it, so that the same training gives the same summary: see
    :attr:`textreg.model.model.Model.seconds`.

    Attributes
    ----------
    task : str
        "classification" or "regression".
    loss : str
        Name of the loss.
    loss_params : dict of str to Any
        Parameters of the loss.
    multiclass : str or None
        "ovr" or "softmax" with three labels or more, else None.
    labels : dict of str to float
        Number of documents of each label; of a regression "mean" and "standard_deviation" of the
        targets.
    reg : RegularizerSummary
        The regularizer.
    documents, features : int
        Shape of the matrix of the final fit.
    nonzero : int
        Number of features with a weight.
    groups : GroupsSummary or None
        The groups, for regularizers with groups.
    graph : GraphSummary or None
        The graph, for regularizers with a graph.
    objective : float
        Objective of the final fit, a sum over its weight vectors.
    gap : float or None
        Relative duality gap of the final fit, before weights were pruned; None for procedures
        without a bound.
    converged : bool
        Whether the final fit reached its tolerance.
    iterations : int
        Iterations of the final fit.
    tol : float
        Tolerance of the final fit.
    class_weight : str, dict of str to float, or None
        "balanced", or weights by label.
    unknown : UnknownSummary or None
        The threshold of the unknown label, where there is one.
    rare : RareSummary or None
        Labels that were left out or joined.
    interrupted : str or None
        "search" or "fit" where a time limit or Ctrl-C stopped it, else None.
    split : SplitSummary or None
        The documents held out; None where nothing was measured.
    metric : str or None
        The metric that settings were compared by; None where nothing was measured.
    select : ChoiceSummary or None
        The rule that chose a setting; None where nothing was measured.
    budget : float or None
        Time limit of the training, in seconds.
    planned : int
        Number of settings that the search was to measure.
    ruled_out, ruled_out_by, ruled_out_on : int, default 0
        How many of them were fitted only for a few of many labels, or to some of many documents,
        which had ruled them out; how many labels and documents these were, 0 where all were there.
    chosen : dict of str to Any
        What was chosen besides hyperparameters of the regularizer, by the names of the options.
    dev : DevMetrics or None
        Metrics of the chosen setting; None where nothing was measured, and after an update without
        the old documents.
    search : tuple of SearchPoint
        All settings that were measured; none after such an update.
    refit : bool
        Whether the model was fitted on all documents after the search.
    shift : ShiftSummary or None
        What was added to the intercepts of the fit; None where its own were kept.
    vectors : VectorsSummary or None
        The word vectors that weights of words lean on; None without any.
    marks : MarksSummary or None
        The marked passages that penalties follow; None without any.
    calibration : str or None
        Method of the calibration.
    thresholds : dict of str to ThresholdSummary
        Decision thresholds by label.
    plugins : tuple of PartOrigin
        Origin of the tokenizer, the regularizer, the loss, and the builders of groups and graphs.
    options : dict of str to Any
        The settings that were given, as keywords of :func:`textreg.train`, where they differ from
        the defaults: with them the training, its search included, can be repeated.
    source : SourceSummary or None
        The files of a training by ``textreg train``; None for one in Python.
    path : PathSummary or None
        The regularization path, where the model keeps one.
    pruned : PruneSummary or None
        The weights that were left out after the final fit; None where all are kept.
    unsmoothed : UnsmoothedSummary or None
        Objective and gap with the loss that a smoothed one, such as the hinge, stands for.
    blocks : BlocksSummary or None
        The blocks that the documents lay in; None where they were in memory.
    order : tuple of tuple of str
        Of a pursuit, the first features in order of entry, for every weight vector.
    order_groups : tuple of tuple of GroupStep
        Of a pursuit of groups, the steps that selected these features.
    support : SupportSummary or None
        What is proven of the optimum; None where nothing is.
    parts : tuple of tuple of int
        Of weights that are sums of parts within groups, the indices of the groups that have one,
        for every weight vector.
    updates : tuple of UpdateSummary
        What was added to the model after its first training, in order.

    Raises
    ------
    RecordError
        If the settings of a search lack the metric, or the orders do not belong together.
    """

    task: str
    loss: str
    loss_params: dict[str, Any]
    multiclass: str | None
    labels: dict[str, int | float]
    reg: RegularizerSummary
    documents: int
    features: int
    nonzero: int
    groups: GroupsSummary | None
    graph: GraphSummary | None
    objective: float
    gap: float | None
    converged: bool
    iterations: int
    tol: float
    class_weight: str | dict[str, float] | None
    unknown: UnknownSummary | None
    rare: RareSummary | None
    interrupted: str | None
    split: SplitSummary | None
    metric: str | None
    select: ChoiceSummary | None
    budget: float | None
    planned: int
    chosen: dict[str, Any]
    dev: DevMetrics | None
    search: tuple[SearchPoint, ...]
    refit: bool
    calibration: str | None
    thresholds: dict[str, ThresholdSummary]
    plugins: tuple[PartOrigin, ...]
    options: dict[str, Any]
    source: SourceSummary | None = None
    path: PathSummary | None = None
    pruned: PruneSummary | None = None
    unsmoothed: UnsmoothedSummary | None = None
    blocks: BlocksSummary | None = None
    order: tuple[tuple[str, ...], ...] = ()
    order_groups: tuple[tuple[GroupStep, ...], ...] = ()
    ruled_out: int = 0
    ruled_out_by: int = 0
    ruled_out_on: int = 0
    support: SupportSummary | None = None
    parts: tuple[tuple[int, ...], ...] = ()
    updates: tuple[UpdateSummary, ...] = ()
    shift: ShiftSummary | None = None
    vectors: VectorsSummary | None = None
    marks: MarksSummary | None = None

    def __post_init__(self) -> None:
        searched = (self.split, self.metric, self.select)
        measured = bool(self.search) or self.dev is not None
        if any(part is None for part in searched) and (measured or any(searched)):
            raise RecordError("a search has a split, a metric, a rule, and metrics of the choice.")
        if self.search and self.dev is None:
            raise RecordError("a search has metrics of the choice.")
        of_points = [point.metrics for point in self.search]
        if self.dev is not None and self.metric is not None:
            for metrics in (self.dev.metrics, *of_points):
                if self.metric not in metrics:
                    raise RecordError(f"a setting of the search has no {self.metric}.")
        if self.order_groups and len(self.order_groups) != len(self.order):
            raise RecordError("order and order_groups have not as many weight vectors.")

    def headline(self) -> str:
        """The regularizer, and how much it was given and selected."""
        params = self.reg.params.items()
        values = [f"{name} {value:.4g}" for name, value in params if isinstance(value, float)]
        return (
            f"{self.task} by {' '.join([self.reg.name, *values])}, {self.loss} loss; "
            f"{self.nonzero:,} of {self.features:,} features, {counted(self.documents, 'document')}"
        )

    def tables(self) -> list[Table]:
        """What is known of the choice and of the fit."""
        labels = [f"{name} {cell(count)}" for name, count in self.labels.items()]
        rows = [("documents", first_few(labels, MOST_ROWS))]
        if self.dev is not None and self.split is not None:
            rows += [
                ("search", f"{len(self.search)} settings, {self.split.kind}, by {self.metric}"),
                (f"{self.dev.documents:,} held out", measures(json_records.to_json(self.dev))),
            ]
        if self.selected is not None:
            rows.append(("selected", self.selected))
        bound = "no bound on the gap" if self.gap is None else f"gap {self.gap:.1e}"
        rows.append(("fit", f"{bound}, {'converged' if self.converged else 'NOT converged'}"))
        return [("", [("training", ""), *rows])]

    def spelled(self, kind: str, name: str) -> str:
        """The name by which the registry finds a part of the training, and no namesake of it.

        Raises PluginError if it is from a file, and none of that content was named. Runs nothing.
        """
        origins = {part.name: part for part in self.plugins if part.kind == kind}
        return ",".join(
            registry.spelled(origins[item]) if item in origins else item for item in name.split(",")
        )

    @property
    def selected(self) -> str | None:
        """How many groups are selected, and what is proven of them, in words; None if none are."""
        groups, proven = self.groups, () if self.support is None else self.support.groups
        if groups is None or groups.selected is None:
            return None
        text = f"{groups.selected:,} of {groups.before:,} {groups.name}"
        if proven:
            of_all = SupportCounts.total(proven)
            of = f", of {len(proven)} labels together" if len(proven) > 1 else ""
            text += (
                f"; proven at the optimum: {of_all.nonzero:,} selected, {of_all.zero:,} not, "
                f"{of_all.undecided:,} undecided{of}"
            )
        return text

    def to_json(self) -> dict[str, Any]:
        """The same as JSON values: see :meth:`from_json`."""
        plain: dict[str, Any] = json_records.to_json(self)
        return plain

    @classmethod
    def from_json(cls, plain: Any) -> TrainingSummary:
        """The summary that :meth:`to_json` wrote.

        Parameters
        ----------
        plain : dict
            Values as JSON has them. Members of other names are ignored.

        Raises
        ------
        ModelError
            If a member is missing or has another type; the message names it.
        """
        return json_records.from_json(cls, plain, "summary")
