"""The search for hyperparameters: which settings are measured, on what, and which one is chosen.

**A narrow grid.** A few settings that lie far apart come first, then those next to the best, until
all of them were measured. Settings of thirteen corpora, three parts each, were chosen in this way
and by measuring everything, and judged on documents that the search had not seen: of 22 settings
8.2 were measured, accuracy 88.05 in place of 88.12, calibrated log-loss .268 in place of .267; of
48 settings 12.4, accuracy 87.6 in place of 87.7.

**On a part first.** Where documents or labels are many, settings are measured on some of them, and
the best few on all: successive halving (Jamieson & Talwalkar 2016). Which settings are good shows
on a few thousand documents, but not which one is best: strengths that fit a part do not fit all of
the documents, not even in units of their scale. So settings whose penalties are weaker by a step
follow, until none is better. A few labels are measured on their own documents, as if there were no
other labels; their documents are all there, so what suits them suits the others.
"""

from __future__ import annotations

import itertools
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from textreg.errors import UsageError
from textreg.kinds import Regularizer
from textreg.measure.metrics import SMALLER
from textreg.plugins import calls
from textreg.records.store import release_memory
from textreg.tasks.base import Held
from textreg.tasks.classification import Multiclass
from textreg.terminal import logger
from textreg.training import prepare, space, trials
from textreg.training.running import Run, Work
from textreg.training.splits import Split
from textreg.training.trials import MeasuredSetting, Results

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from textreg.records import Int64s
    from textreg.tasks import Target

LOG = logger("training")

# The most settings of a space that is always measured as a whole: a coarse grid and the steps from
# there would be as many.
WHOLE = 12

# Of so many values of a hyperparameter the middle one is measured at first; of more the first of
# every three, and the last: no value is then farther than one step from a measured one.
STRIDE = 3

# How many of the settings that were ranked on fewer documents are measured on more: the first
# alone was not always the best of them.
KEPT = 2

# How many of those that were ranked by a few labels are measured by twice as many; half of them by
# four times as many, and so on. With 2 of 150 labels, 5 documents each, the best one was lost.
KEPT_BY_LABELS = 4

# Documents that a part has at least: with half as many the ranking is noise.
DOCUMENTS = 4_000

# Entries of the matrix that a part has at least: fewer are fitted in no time.
ENTRIES = 1_500_000

# Documents of every label that a part has at least, if there are as many.
OF_LABEL = 20

# The largest part of the documents that is worth its time.
SHARE = 0.5

# The fewest labels of a part; or half of all labels, if these are LEAST_LABELS.
LABELS, LEAST_LABELS = 12, 10

# Documents, held out, that the labels of a part have together at least.
HELD_OUT = 200

# How much longer the final fit may take, for its tolerance, than the slowest of a search.
TIGHTER = 3.0

# Settings of features, groups and graph whose documents stay in memory, 2 or more.
MAX_CACHED = 4

# A value for each searched dimension but the hyperparameters of the regularizer.
FeatureValues = tuple[Any, ...]

# Gives a solution to start from for each weight vector, once the features are there.
InitialWeights = Callable[[prepare.Prepared], Sequence[trials.Start]]

# A setting by its values of the space and its place in the grid there, which all parts share.
Place = tuple[FeatureValues, int]


class SearchContext:
    """The dimensions of a search, and how its settings are measured and compared.

    Attributes
    ----------
    space : list of Dimension
        Searched parameters of the features, groups and graph.
    hyperparameters : list of Dimension
        Searched parameters of the regularizer, by given values.
    initial : callable, optional
        Gives weights to start the final fit from, where the search has none.
    labels : list of int, optional
        The weight vectors that settings are measured by; None for all.
    measured : list of MeasuredSetting
        Those that were measured, in turn.
    asked : set of Place
        What was to be measured; some may be missing where a run was stopped.
    expected : int
        How many settings are expected to follow.
    """

    def __init__(
        self, documents: prepare.SplitDocuments, initial: InitialWeights | None = None
    ) -> None:
        self.documents, self.settings, self.initial = documents, documents.settings, initial
        dimensions = self.settings.dimensions()
        self.space = [dimension for dimension in dimensions if dimension.part != "reg"]
        self.hyperparameters = [dimension for dimension in dimensions if dimension.part == "reg"]
        self.labels: list[int] | None = None
        self.measured: list[MeasuredSetting] = []
        self.asked: set[Place] = set()
        self.expected = 0
        self._fits_before: int | None = None
        self._prepared: OrderedDict[FeatureValues, prepare.Prepared] = OrderedDict()
        self._grids: dict[FeatureValues, list[Regularizer]] = {}
        self._trials: dict[tuple[FeatureValues, Regularizer], Results] = {}
        self._nearest: dict[FeatureValues, MeasuredSetting] = {}

    @property
    def metric(self) -> str:
        """What settings are compared by: the metric that was asked for, else that of the task."""
        return self.settings.metric or self.documents.target.task.default_metric

    def of_labels(self, labels: Sequence[int]) -> SearchContext:
        """The same search of a few labels, whose fits are there for a search of all of them."""
        part = SearchContext(self.documents)
        part.labels = list(labels)
        part._prepared, part._grids, part._trials = self._prepared, self._grids, self._trials
        return part

    def with_splits(self, splits: Sequence[Split]) -> SearchContext:
        """The same search with other splits of the same documents, whose features are shared."""
        part = SearchContext(replace(self.documents, splits=splits))
        part.labels = self.labels
        return part

    @property
    def first(self) -> FeatureValues:
        """The values that are tried first."""
        return tuple(dimension.values[0] for dimension in self.space)

    def prepared(self, values: FeatureValues) -> prepare.Prepared:
        """Documents under these values of :attr:`space`; those used last stay, and the best."""
        if values not in self._prepared:
            searched = space.changed(self.settings.parts(), self.space, values)
            settings = self.settings.replace(tuning=space.BEST, **searched)
            data = self.documents.prepare(settings)
            self._prepared[values] = replace(data, splits=self.documents.splits)
        self._prepared.move_to_end(values)
        if len(self._prepared) > MAX_CACHED:
            best = [self.values_of(it) for it in self.promising(self.measured, 1)[:1]]
            del self._prepared[next(it for it in self._prepared if it not in (values, *best))]
        return self._prepared[values]

    def prepared_for(self, setting: MeasuredSetting | None) -> prepare.Prepared:
        """Documents as a setting has them; without one, as the settings are."""
        return self.prepared(self.first if setting is None else self.values_of(setting))

    def held(self, setting: MeasuredSetting | None) -> Held | None:
        """Everything held out, by the fits of the search; None if they are not there."""
        if setting is None:
            return None
        values = self.values_of(setting)
        folds, tried = self.prepared(values).folds, self._trials.get((values, setting.regularizer))
        if tried is None:
            return None
        tables = [
            np.column_stack([trial.scores for row in fold.rows for trial in tried[at, row]])
            for at, fold in enumerate(folds)
        ]
        return trials.held_of(folds, tables)

    def drop_folds(self) -> None:
        """Drop the matrices and fits of all folds from memory, but not the features."""
        for table in (self._prepared, self._trials, self._nearest):
            table.clear()

    def release(self) -> None:
        """Drop all documents from memory."""
        self.drop_folds()
        self.documents.features.clear()

    def grid(self, values: FeatureValues) -> list[Regularizer]:
        """The regularizer's own grid there, times the given values of its hyperparameters.

        Those of its rivals follow.
        """
        if values not in self._grids:
            first = self.prepared(values).folds[0].hardest()
            given, grid = {"reg": self.settings.reg}, list[Regularizer]()
            for chosen in space.combinations(self.hyperparameters):
                changed = given | space.changed(given, self.hyperparameters, chosen)
                grid += calls.candidates(changed["reg"], first)
            if self.hyperparameters:
                families = [[grid[place] for place in it] for it in trials.families(grid)]
                grid = [it for family in families for it in _in_order(family)]
            for rival in self.settings.rivals():
                grid += calls.candidates(rival, first)
            self._grids[values] = list(dict.fromkeys(grid))
        return self._grids[values]

    def lattices(self, values: FeatureValues) -> list[Lattice]:
        """The grid there as lattices: one for the settings of each class of regularizers."""
        grid = self.grid(values)
        return [Lattice([grid[place] for place in it], it) for it in trials.families(grid)]

    def neighbors(self, steps: Sequence[int]) -> dict[FeatureValues, set[int]]:
        """Places next to the best settings that were not asked for: see Lattice.neighbors."""
        places: dict[FeatureValues, set[int]] = {}
        for setting in self.promising(self.measured, 1):
            values = self.values_of(setting)
            for lattice in self.lattices(values):
                if setting.regularizer in lattice.grid:
                    for place in lattice.neighbors(setting.regularizer, steps):
                        if (values, place) not in self.asked:
                            places.setdefault(values, set()).add(place)
        return places

    def ask(
        self, values: FeatureValues, places: Iterable[int], run: Run, expected: int = 0
    ) -> bool:
        """Measure the settings at some places of a grid; whether the search goes on.

        expected: how many more settings are expected to follow.
        """
        grid, places = self.grid(values), list(places)
        self.asked |= {(values, place) for place in places}
        self.expected = expected
        run.reserve = _final_fit_seconds(self, values, run.work)
        folds, total = self.prepared(values).folds, len(self.asked) + expected
        if self._fits_before is None:
            self._fits_before = run.total
        rows = len(folds[0].rows if self.labels is None else self.labels)
        run.total = self._fits_before + total * rows * len(folds)
        for setting in self._measure(values, [grid[place] for place in places], run):
            self.measured.append(setting)
            LOG.info(
                "setting %d of %d: %s%s: %s %.4g, %.0f features",
                *(len(self.measured), total, setting.regularizer),
                "".join(f", {key} {value}" for key, value in setting.changes.items()),
                *(self.metric, setting.metrics[self.metric], setting.nonzero),
            )
        return not run.stopped

    def _measure(
        self, values: FeatureValues, grid: Sequence[Regularizer], run: Run
    ) -> list[MeasuredSetting]:
        """The settings of a grid that were measured before the run was stopped.

        Each starts from the best so far under these values, if there is one.
        """
        folds, nearest = self.prepared(values).folds, self._nearest.get(values)
        near = None if nearest is None else self._trials[values, nearest.regularizer]
        results = [self._trials.setdefault((values, setting), {}) for setting in grid]
        rows = folds[0].rows if self.labels is None else self.labels
        # Labels of a stage before are fitted already.
        missing = [row for row in rows if any((0, row) not in tried for tried in results)]
        trials.add_trials(grid, missing, folds, run, results, near)
        changes = dict(zip([dimension.key for dimension in self.space], values, strict=True))
        compete = len(trials.families(self.grid(values))) > 1
        measured = [
            trials.measured_setting(
                *(setting, folds, tried),
                labels=self.labels,
                changes=changes | ({"reg": setting.label()} if compete else {}),
                metric=self.metric,
                error=self.settings.tuning.select == "1se",
            )
            for setting, tried in zip(grid, results, strict=True)
            if all((at, row) in tried for at in range(len(folds)) for row in rows)
        ]
        candidates = measured if nearest is None else [nearest, *measured]
        if candidates:
            self._nearest[values] = self.promising(candidates, 1)[0]
            if self.labels is None:  # nobody goes on from the others
                every = [it for it in self.measured if self.values_of(it) == values] + measured
                going = {self._nearest[values].regularizer}
                if self.settings.tuning.best_alone:
                    going.add(self.best(every).regularizer)
                for setting in {it.regularizer for it in every} - going:
                    self._trials.pop((values, setting), None)
        return measured

    def best(self, measured: Sequence[MeasuredSetting]) -> MeasuredSetting:
        """The setting that the rule of the search chooses."""
        families = list(dict.fromkeys(map(type, next(iter(self._grids.values())))))
        return measured[choose(measured, self.metric, self.settings.tuning, families)]

    def promising(self, measured: Sequence[MeasuredSetting], number: int) -> list[MeasuredSetting]:
        """The best settings so far: see :func:`promising`."""
        ranked = promising(measured, self.metric, self.settings.tuning, number)
        return [measured[at] for at in ranked]

    def values_of(self, setting: MeasuredSetting) -> FeatureValues:
        """The values of :attr:`space` that a setting has."""
        return tuple(setting.changes[dimension.key] for dimension in self.space)

    def ranked_places(self) -> list[Place]:
        """The settings that were measured, from the best on, by their places."""
        best = self.promising(self.measured, len(self.measured))
        places = []
        for setting in best:
            values = self.values_of(setting)
            places.append((values, self.grid(values).index(setting.regularizer)))
        return places


def _in_order(grid: Sequence[Regularizer]) -> list[Regularizer]:
    """As a grid should be for warm starts: the parameter declared last changes fastest."""
    columns: Mapping[str, list[Any]] = {
        key: list(dict.fromkeys(regularizer.params()[key] for regularizer in grid))
        for key in grid[0].params()
    }
    return sorted(
        dict.fromkeys(grid),
        key=lambda setting: [columns[key].index(value) for key, value in setting.params().items()],
    )


def choose(
    points: Sequence[MeasuredSetting],
    metric: str,
    rule: space.Tuning = space.BEST,
    families: Sequence[type[Regularizer]] = (),
) -> int:
    """Index of the chosen setting; among equals the smallest model, then the first.

    families: classes of regularizers, the simplest first. The best setting of a class replaces that
    of the classes before it where the mean of its losses is lower by more than the standard error
    of the paired differences; else it was no more than lucky. "1se" needs
    ``MeasuredSetting.error``. Raises UsageError if no setting is small enough.
    """
    # smaller is better, whatever the metric
    cost = costs(points, metric)
    sizes = [point.nonzero for point in points]
    small = _small_enough(points, rule)
    if not small:
        raise UsageError(
            f"no setting has at most {rule.max_nonzero:,} features: the smallest of {len(points)} "
            f"has {min(sizes):,.0f}. Allow more (--max-nonzero), or search higher penalty "
            "strengths."
        )
    ranked = sorted(small, key=lambda at: (cost[at], sizes[at], at))
    best = ranked[0]
    if rule.select == "best":
        # Of every class the best; nothing else where it is not said which of them is simpler.
        classes = [type(points[at].regularizer) for at in ranked]
        first, *later = [ranked[classes.index(it)] for it in families if it in classes] or [best]
        for at in later:
            if _is_better(points[at], points[first], metric):
                first = at
        return first
    if rule.select == "1se":
        tolerance = points[best].error or 0.0  # SearchContext.measure asks for it
    else:
        tolerance = space.WITHIN if rule.within is None else rule.within
        # A squared error has the unit of the labels, squared: a fraction of the best has none.
        tolerance *= abs(cost[best]) if metric == "mse" else 1.0
    # Sums of rounded costs: a difference of exactly the tolerance must count as near.
    near = [index for index in small if cost[index] <= cost[best] + tolerance + 1e-12]
    return min(near, key=lambda index: (sizes[index], cost[index], index))


def _is_better(rival: MeasuredSetting, simpler: MeasuredSetting, metric: str) -> bool:
    """Whether its losses are lower by more than the standard error of their paired differences.

    Of equal ones whether the model is smaller.
    """
    lower, higher = costs([rival, simpler], metric)
    if lower == higher:
        return rival.nonzero < simpler.nonzero
    if rival.losses is None or simpler.losses is None:
        return lower < higher
    gains = simpler.losses - rival.losses
    return bool(gains.mean() > gains.std() / np.sqrt(len(gains)))


def promising(
    points: Sequence[MeasuredSetting], metric: str, rule: space.Tuning, number: int
) -> list[int]:
    """Indices of the points to refine the grid around.

    These are the ``number`` best points that are small enough, or the smallest if none is; before
    them the point that the rule would choose, if it is not among them.
    """
    cost, sizes = costs(points, metric), [point.nonzero for point in points]
    small = _small_enough(points, rule)
    if not small:
        order = sorted(range(len(points)), key=lambda index: (sizes[index], cost[index], index))
        return order[:number]
    best = sorted(small, key=lambda index: (cost[index], sizes[index], index))[:number]
    chosen = choose(points, metric, rule)
    return best if chosen in best else [chosen, *best]


def costs(points: Sequence[MeasuredSetting], metric: str) -> list[float]:
    """The metric of every point, with the sign that makes smaller values better."""
    sign = 1.0 if metric in SMALLER else -1.0
    # Twelve digits: equal counts of correct predictions must compare equal.
    return [round(sign * point.metrics[metric], 12) for point in points]


def _small_enough(points: Sequence[MeasuredSetting], rule: space.Tuning) -> list[int]:
    """Indices of the points that the rule's ``max_nonzero`` allows."""
    most = inf if rule.max_nonzero is None else rule.max_nonzero
    return [index for index, point in enumerate(points) if point.nonzero <= most]


def narrowed(context: SearchContext, run: Run) -> None:
    """All settings of the space; with search "narrow" a large one only around its best settings.

    Where regularizers compete, each follows when the best setting of those before it is found.
    """
    combined, turn, turns = list(space.combinations(context.space)), 0, 1
    while turn < turns:
        for number, values in enumerate(combined, start=1):
            lattices = context.lattices(values)
            turns = max(turns, len(lattices))
            for lattice in lattices[turn : turn + 1]:
                few = turns == 1 and len(combined) * len(lattice.grid) <= WHOLE
                whole = few or context.settings.tuning.search == "grid"
                places = lattice.places if whole else lattice.coarse()
                if not context.ask(values, places, run, (len(combined) - number) * len(places)):
                    return
        while neighbors := context.neighbors((-1, 1)):
            for values, around in neighbors.items():
                if not context.ask(values, sorted(around), run):
                    return
        turn += 1


class Lattice:
    """Settings of one class by their coordinates: for each parameter the number of its value.

    grid: the settings. places: of each in the grid of the search, by which all methods name it;
    this is that grid by default.
    Only values that are numbers have neighbors. If one run of the regularizer passes through all
    values of the parameter that changes fastest, these share their coordinates.
    """

    def __init__(self, grid: Sequence[Regularizer], places: Sequence[int] | None = None) -> None:
        self.grid = list(grid)
        self.places = list(range(len(grid)) if places is None else places)
        columns = list(zip(*(part.params().values() for part in grid), strict=True))
        # A parameter with one value has no neighbors.
        varying = [column for column in columns if len(set(column)) > 1]
        if type(grid[0]).path is not Regularizer.path:
            varying = varying[:-1]
        values = [list(dict.fromkeys(column)) for column in varying]
        self._ordered = [all(type(it) in (int, float) for it in column) for column in values]
        self._sizes = [len(column) for column in values]
        self._coordinates = [
            tuple(of.index(value) for of, value in zip(values, row, strict=True))
            for row in zip(*varying, strict=True)
        ] or [()] * len(self.grid)
        self._places: dict[tuple[int, ...], list[int]] = {}
        for place, where in zip(self.places, self._coordinates, strict=True):
            self._places.setdefault(where, []).append(place)

    def coarse(self) -> list[int]:
        """A few values of every hyperparameter, as of :data:`STRIDE`; all of an irregular grid.

        Of two values the second, the weaker penalty, whose fits are quicker.
        """
        if len(self._places) < prod(self._sizes):
            return self.places
        few: list[Iterable[int]] = []
        for size, ordered in zip(self._sizes, self._ordered, strict=True):
            some = [size // 2] if size <= STRIDE else sorted({*range(0, size, STRIDE), size - 1})
            few.append(some if ordered else range(size))
        return sorted(place for where in itertools.product(*few) for place in self._places[where])

    def neighbors(self, regularizer: Regularizer, steps: Sequence[int] = (-1, 1)) -> list[int]:
        """The places of those that differ by one step of one hyperparameter.

        A step of 1 is to the next value in the order of the grid: of a penalty, to a weaker one.
        """
        where = self._coordinates[self.grid.index(regularizer)]
        places: list[int] = []
        for at, ordered in enumerate(self._ordered):
            for coordinate in [where[at] + step for step in steps] if ordered else ():
                places += self._places.get((*where[:at], coordinate, *where[at + 1 :]), [])
        return places


def stages_of(context: SearchContext, *, by_documents: bool = True) -> list[SearchContext]:
    """The same search on parts, each with more documents or labels; the last is of all of them.

    by_documents: whether some may be of fewer documents.
    """
    stages, tuning = [context], context.settings.tuning
    # Nothing is ruled out where all settings are to be measured, where the rule of the choice asks
    # for more than the best, and where time may be up before any is measured on everything.
    rules_out = tuning.search == "narrow" and tuning.best_alone and tuning.budget is None
    if not (rules_out and context.documents.splits):
        return stages
    data = context.prepared(context.first)
    if (labels := few_labels(data, context.documents.splits)) is not None:
        stages = [*map(context.of_labels, label_stages(data, labels)), context]
    # Only losses rank settings on a part as on the whole. By counts, such as F1, on goemotions the
    # best two of a part were the best of no more than that: micro-F1 55.5 in place of 58.1.
    by_documents = by_documents and context.metric in SMALLER
    if by_documents and (splits := fewer_documents(context, data)) is not None:
        stages.insert(0, stages[0].with_splits(splits))
    return stages


def fewer_documents(context: SearchContext, data: prepare.Prepared) -> list[Split] | None:
    """The splits with a part of the documents to fit; None where that is not worth it."""
    splits, rows = context.documents.splits, data.rows
    fewest = min(len(split.train) for split in splits)
    # As many as either bound asks for.
    share = max(DOCUMENTS / fewest, ENTRIES * rows.shape[0] / (max(rows.size, 1) * fewest))
    if share > SHARE:
        return None
    target, seed = context.documents.target, context.settings.seed
    parts = [
        Split(drawn(target, split.train, int(share * len(split.train)), seed), split.held)
        for split in splits
    ]
    # Where labels are many, a few documents of each may be all there are.
    fewer = all(len(part.train) < len(it.train) for part, it in zip(parts, splits, strict=True))
    return parts if fewer else None


def drawn(target: Target, rows: NDArray[np.intp], number: int, seed: int) -> NDArray[np.intp]:
    """Some of these documents, ascending: drawn by chance, with a few of every label."""
    # The first of a random order, and the first few of every label.
    order = np.random.default_rng(seed).permutation(rows)
    chosen = np.zeros(len(order), dtype=bool)
    chosen[:number] = True
    has, labels = target.task.memberships(target.y[order])
    for label in range(len(labels)):
        of_label = has[:, label] if has.ndim == 2 else has == label
        chosen[np.flatnonzero(of_label)[:OF_LABEL]] = True
    return np.sort(order[chosen])


def few_labels(data: prepare.Prepared, splits: Sequence[Split]) -> Int64s | None:
    """The weight vectors of some labels, ascending, from the most frequent to the rarest.

    They are at least :data:`LABELS`, or half of all labels, with :data:`HELD_OUT` documents held
    out. None where these are more than half, or labels are fewer than twice :data:`LEAST_LABELS`,
    or are fitted together.
    """
    task, k = data.task, data.task.n_rows
    if task.joint or not isinstance(task, Multiclass):
        return None
    held = np.sum([[*task.describe(data.y[split.held]).values()] for split in splits], axis=0)
    counts = np.array([*task.describe(data.y[splits[0].train]).values()])
    # Evenly from the most frequent label to the rarest: strengths suit rare labels less.
    order, half = np.argsort(-counts, kind="stable"), k // 2
    for number in range(min(LABELS, half), half + 1) if half >= LEAST_LABELS else ():
        rows: Int64s = np.sort(order[np.linspace(0, k - 1, number).round().astype(np.int64)])
        if held[rows].sum() >= HELD_OUT:
            return rows
    return None


def label_stages(data: prepare.Prepared, few: Int64s) -> list[list[int]]:
    """A few labels, then twice as many, as long as more than one setting is left for them."""
    stages, remaining = [few], np.setdiff1d(np.arange(data.task.n_rows), few)
    while len(remaining) > len(few) and KEPT_BY_LABELS >> len(stages):
        # Spread over the others, so that no choice is made.
        more = remaining[np.linspace(0, len(remaining) - 1, len(few)).round().astype(np.int64)]
        few, remaining = np.union1d(few, more), np.setdiff1d(remaining, more)
        stages.append(few)
    return [rows.tolist() for rows in stages]


def confirmed(context: SearchContext, places: Sequence[Place], run: Run, *, weaker: bool) -> None:
    """Measure settings of a part; then, if ``weaker``, weaker neighbors until none is better.

    By labels alone each setting starts from the best before it.
    """
    while places:
        for values in dict.fromkeys(values for values, _ in places):
            under = [place for features, place in places if features == values]
            for batch in [under] if weaker else [[place] for place in under]:
                if not context.ask(values, batch, run):
                    return
        near = context.neighbors((1,)) if weaker else {}
        places = [(values, place) for values, indices in near.items() for place in sorted(indices)]


@dataclass(frozen=True, eq=False)
class SearchResult:
    """What a search measured.

    measured: the settings. best: the chosen one, None if nothing was searched. planned: number of
    settings that were to be measured. stopped: "interrupted" or "budget" if some were left out.
    ruled_out: how many of them were not measured on everything, because a few labels, ``labels`` of
    them, or fits to some of the documents, ``documents`` of them, had ruled them out; 0 where all
    had been there.
    """

    measured: list[MeasuredSetting]
    best: MeasuredSetting | None
    planned: int
    stopped: str | None = None
    ruled_out: int = 0
    labels: int = 0
    documents: int = 0


def run_search(stages: Sequence[SearchContext], work: Work) -> SearchResult:
    """Search the whole space, but leave time for the final fit.

    stages: as of :func:`stages_of`. Nothing is searched if there is no split. Raises
    KeyboardInterrupt if nothing was measured before the first Ctrl-C, and UsageError if nothing was
    before time was up.
    """
    context = stages[-1]
    if not context.documents.splits:
        return SearchResult([], None, planned=0)
    run = work.run("search", 0)
    sizes = [len(stage.documents.splits[0].train) for stage in stages]
    ruled_out = label_steps = 0
    with run.listening():
        narrowed(stages[0], run)
        for number, (stage, following) in enumerate(itertools.pairwise(stages)):
            if run.stopped:
                break
            more_documents = sizes[number + 1] > sizes[number]
            places = stage.ranked_places()
            # Its matrices are no longer needed, and those to come are larger.
            if more_documents:
                stage.drop_folds()
                release_memory()
            same = all(
                len(stage.grid(values)) == len(following.grid(values)) for values, _ in places
            )
            if not same:  # another grid for more documents has no places in common
                narrowed(following, run)
                continue
            n_confirmed = KEPT
            if not more_documents:
                n_confirmed, label_steps = max(KEPT_BY_LABELS >> label_steps, 1), label_steps + 1
            confirmed(following, places[:n_confirmed], run, weaker=more_documents)
            ruled_out += len(set(places) - following.asked)
    interrupted, measured = run.interrupted, context.measured
    if not measured and interrupted:
        raise KeyboardInterrupt
    if not measured:
        seconds = context.settings.tuning.seconds or 0.0
        raise UsageError(
            f"after {seconds + time.monotonic() - work.deadline:.1f} s no setting was measured yet "
            f"that could be fitted within the budget of {seconds:g} s: allow more time "
            "(--budget), give the hyperparameters, or train on fewer documents or features."
        )
    asked = len(context.asked) + context.expected
    stopped = "interrupted" if interrupted else "budget"
    return SearchResult(
        measured,
        context.best(measured),
        planned=ruled_out + asked,
        stopped=stopped if len(measured) < asked else None,
        ruled_out=ruled_out,
        labels=len(stages[0].labels or ()) if ruled_out else 0,
        documents=sizes[0] if ruled_out and sizes[0] < sizes[-1] else 0,
    )


def _final_fit_seconds(
    context: SearchContext, values: FeatureValues, work: Work
) -> Callable[[float], float]:
    """An estimate of how long the final fit takes, from the seconds of the slowest fit so far."""
    prepared, settings = context.prepared(values), context.settings
    fewest = min(len(split.train) for split in context.documents.splits)
    growth = prepared.rows.shape[0] / fewest if settings.refit else 1.0
    # The final fit: all weight vectors once, on all documents, to a tighter tolerance.
    rounds = TIGHTER * growth * work.rounds(len(prepared.folds[0].rows))
    if context.documents.target.task.learns_from_held_out(settings):
        splits = prepare.left_out_splits(prepared, context.documents)
        if len(splits) != len(prepared.splits) or context.documents.outside is not None:
            rounds += len(splits) * work.rounds(len(prepared.folds[0].rows))
    fixed = growth * prepared.timed_folds[1]  # without the documents, which may go before
    return lambda slowest: fixed + rounds * slowest
