"""How a model was trained, as typed records that a model file keeps as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from textreg.errors import RecordError
from textreg.model import json_records
from textreg.model.fit_summary import (
    BlocksSummary,
    GraphSummary,
    GroupsSummary,
    GroupStep,
    PathSummary,
    PruneSummary,
    RegularizerSummary,
    SupportSummary,
    UnsmoothedSummary,
)
from textreg.model.origin_summary import PartOrigin, RareSummary, SourceSummary, UpdateSummary
from textreg.model.search_summary import (
    ChoiceSummary,
    DevMetrics,
    SearchPoint,
    SplitSummary,
    ThresholdSummary,
    TipSummary,
    UnknownSummary,
)
from textreg.plugins import registry


@dataclass(frozen=True)
class TrainingSummary:
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
    tip : TipSummary or None
        A simpler regularizer, where the search has seen that it does as well.
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
    tip: TipSummary | None = None
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

    def spelled(self, kind: str, name: str) -> str:
        """The name by which the registry finds a part of the training, and no namesake of it.

        Raises PluginError if it is from a file, and none of that content was named. Runs nothing.
        """
        origins = {part.name: part for part in self.plugins if part.kind == kind}
        return ",".join(
            registry.spelled(origins[one]) if one in origins else one for one in name.split(",")
        )

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
