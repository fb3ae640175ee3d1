"""The final fit of the chosen setting, pruned; and the regularization path that it lies on."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from textreg import errors, kinds, terminal
from textreg.blocks.scratch import sparse_zeros
from textreg.measure import decisions, intercept
from textreg.measure.metrics import SMALLER
from textreg.model.model import table_bytes
from textreg.model.regularization_path import PathPoint, SolutionPath
from textreg.model.summary import MarksSummary, PruneSummary, VectorsSummary
from textreg.params import AUTO, Choices, LogGrid
from textreg.plugins import calls
from textreg.records import Floats, Int32s, MultiSolution, Problem, Solution, Step, Unsmoothed
from textreg.records.arrays import dense_rows, used_columns
from textreg.records.store import check_room, release_memory
from textreg.solvers.certificate import relative_gap
from textreg.tasks.base import Held
from textreg.training import trials
from textreg.training.prepare import SEARCH_TOL, Prepared, left_out_splits
from textreg.training.priors import Marks
from textreg.training.running import ALONE, Work
from textreg.training.search import SearchContext, SearchResult
from textreg.training.settings import TrainingSettings
from textreg.training.splits import FEW, Split

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array


class FromHeld(NamedTuple):
    """What is learned from held-out documents; nothing unless it was asked for."""

    shift: intercept.Shift | None = None
    calibration: decisions.Calibration | None = None
    thresholds: Mapping[str, decisions.Threshold] = MappingProxyType({})
    unknown: decisions.Unknown | None = None


class FinalFit(NamedTuple):
    """The final fit, and what was learned from held-out documents.

    best: the setting, None if nothing was searched. folds: its splits, empty unless they are still
    needed. rows: the documents that were fitted, in ``problems``. pruned: what was left out after
    the fit. stopped: why the fit ended before its tolerance, if it did. prior: what weights lean
    on.
    """

    best: trials.MeasuredSetting | None
    regularizer: kinds.Regularizer
    data: Prepared
    folds: Sequence[trials.Fold]
    rows: NDArray[np.intp]
    problems: trials.Problems
    fitted: MultiSolution
    pruned: PruneSummary | None
    stopped: str | None
    learned: FromHeld
    prior: VectorsSummary | MarksSummary | None = None

    @property
    def cuts(self) -> dict[str, float]:
        """The thresholds by label, that of the unknown one included."""
        cuts = {label: chosen.value for label, chosen in self.learned.thresholds.items()}
        if self.learned.unknown is not None:
            cuts[str(self.data.task.unknown)] = self.learned.unknown.value
        return cuts

    @property
    def intercepts(self) -> Floats:
        """(k,) those of the fit, shifted for new texts."""
        shift = self.learned.shift
        return self.fitted.b if shift is None else self.fitted.b + shift.values

    @property
    def nonzero(self) -> int:
        """Number of features with a weight."""
        return len(used_columns(self.fitted.w))


class Learned(NamedTuple):
    """What was learned.

    result: what the search measured. path: None unless it was asked for. seconds: how long each
    stage took, by its name.
    """

    context: SearchContext
    result: SearchResult
    fit: FinalFit
    path: SolutionPath | None
    seconds: dict[str, float]


def fit_best(context: SearchContext, result: SearchResult, work: Work) -> FinalFit:
    """Fit the best setting; if that has more features than allowed, the next best.

    A model may grow when it is fitted on all documents, so that it was small enough in the search
    does not suffice. Raises UsageError if none is small enough.
    """
    most = context.settings.tuning.max_nonzero
    measured, best = list(result.measured), result.best
    while True:
        fit = _fit_one(context, best, work)
        if best is None or most is None or fit.nonzero <= most:
            return fit
        measured.remove(best)
        if not any(setting.nonzero <= most for setting in measured):
            raise errors.UsageError(
                f"no setting has at most {most:,} features: fitted on all documents, the last one "
                f"has {fit.nonzero:,}. Allow more (--max-nonzero), or name larger penalty "
                "strengths to search."
            )
        best = context.best(measured)


def _fit_one(context: SearchContext, best: trials.MeasuredSetting | None, work: Work) -> FinalFit:
    """Fit one setting on all documents; without ``refit`` on those it was searched on."""
    settings = context.settings
    data = context.prepared_for(best)
    folds = data.folds
    regularizer = best.regularizer if best else settings.reg
    starts: Sequence[trials.Start | None] | None = best.starts if best else None
    task, rows = data.task, np.flatnonzero(data.task.known(data.y))
    learns, plain = task.learns_from_held_out(settings), data
    splits = left_out_splits(data, context.documents) if learns else []
    if data.prior is not None:
        data, regularizer, best = with_prior(context, data, best, work)
    from_held = None
    of_search = 0 < len(splits) == len(data.splits) and not data.strength
    # The fits of the search know nothing of a prior.
    held = context.held(best) if splits and not data.strength else None
    if of_search:
        # Thresholds and calibration first: they need the folds, which then may go.
        from_held = learn_from_held(context, data, regularizer, work, folds, data.splits, held=held)
    if folds and not settings.refit:
        rows = context.documents.splits[0].train
        first: trials.Problems = data.problems(rows, settings.tol) if data.strength else folds[0]
        problems = replace(first, problem=first.problem.replace(tol=settings.tol))
    else:
        known = data.whole if data.shares_matrix else None
        if settings.tuning.max_nonzero is None and not settings.path:
            # Nothing needs the folds any more, whose matrices are as large as those to come.
            context.release()
            plain, data, folds = replace(plain), replace(data), []
            release_memory()
        problems = known or data.problems(rows, settings.tol)
    if context.initial is not None and not any(starts or ()):
        starts = context.initial(data)
    large = table_bytes((task.n_rows, data.rows.shape[1])) > LARGE and not task.joint
    keep = PrunedRows(regularizer, problems, settings.prune) if large else None
    fitted, stopped = fit_rows(regularizer, problems, starts, work, keep=keep, prove=not large)
    release_memory()
    stopped = None if fitted.converged else stopped
    if splits and not of_search and not stopped:
        without = [data.without(problems, rows, split) for split in splits]
        from_held = learn_from_held(context, data, regularizer, work, without, splits, near=fitted)
        del without
    if from_held is None and held is not None:
        from_held = learn_from_held(context, data, regularizer, work, [], data.splits, held=held)
    learned = from_held or FromHeld()
    if keep is None:
        fitted, pruned = prune(fitted, regularizer, problems, settings.prune)
    else:
        pruned = keep.summary(fitted)
    regularizer = best.regularizer if best else settings.reg
    plain, fitted, prior = _folded_in(plain, data, fitted)
    return FinalFit(
        best, regularizer, plain, folds, rows, problems, fitted, pruned, stopped, learned, prior
    )


def _folded_in(
    plain: Prepared, data: Prepared, fitted: MultiSolution
) -> tuple[Prepared, MultiSolution, VectorsSummary | MarksSummary | None]:
    """A fit of ``data`` as one of the documents as they are in ``plain``, or with more words."""
    prior, strength, inferred = data.prior, data.strength, 0
    if prior is None:
        return plain, fitted, None
    if strength:
        encoder, w, inferred = prior.fold_in(plain.encoder, fitted.w, strength)
        plain, fitted = replace(plain, encoder=encoder), replace(fitted, w=w)
    if isinstance(prior, Marks):
        return plain, fitted, MarksSummary(prior.documents, strength)
    name, of_idf = data.settings.vectors or "unlabeled", data.tokens.n_documents
    return plain, fitted, VectorsSummary(name, strength, prior.known, inferred, of_idf)


def with_prior(
    context: SearchContext, data: Prepared, best: trials.MeasuredSetting | None, work: Work
) -> tuple[Prepared, kinds.Regularizer, trials.MeasuredSetting | None]:
    """The documents with a prior of the best strength, the regularizer for them, and the setting.

    The strength is the most probable one: n times the mean loss of the n documents held out, and
    minus the logarithm of its own prior, is smallest. The setting is measured with it.
    """
    assert data.prior is not None
    regularizer = best.regularizer if best else data.settings.reg
    task, splits = data.task, data.splits or left_out_splits(data, context.documents)
    rows = np.flatnonzero(task.known(data.y)) if data.settings.refit else splits[0].train
    metric = context.metric
    if task.probabilistic and "calibrated-log-loss" in task.metrics:
        metric = "calibrated-log-loss"
    elif not task.discrete:
        metric = "mse"
    chosen, least = (data, regularizer, best), math.inf
    plain = data.problems(rows, max(data.settings.tol, SEARCH_TOL))
    for strength, prior in zip(data.prior.strengths, data.prior.costs, strict=True):
        leaning, problems, fitted = data.with_prior(strength), plain, regularizer
        if strength:
            problems = leaning.problems(rows, max(data.settings.tol, SEARCH_TOL))
            fitted = data.prior.regularizer(regularizer, plain, problems)
        folds = [leaning.without(problems, rows, split) for split in splits]
        none = leaning.rows.matrix(np.arange(0))
        held, _, stopped = held_out(fitted, folds, work, none, None)
        if stopped:
            break
        measured = task.measure(*_shifted(data, held, splits)[0])
        LOG.info("strength %g of the prior: %s %.4g", strength, metric, measured[metric])
        cost = measured[metric] if metric in SMALLER else -measured[metric]
        if metric == "mse":  # minus the log-likelihood of normal errors, up to a constant
            cost = math.log(max(cost, 1e-300)) / 2
        if (cost := len(held.y) * cost + prior) < least:
            chosen, least = (leaning, fitted, best and replace(best, metrics=measured)), cost
    return chosen


def _shifted(
    data: Prepared, held: Held, splits: Sequence[Split]
) -> tuple[Held, intercept.Shift | None]:
    """Scores that splits hold out, shifted for new texts; as they are for fitted intercepts."""
    if data.settings.intercept == "fitted" or not data.fit_intercept:
        return held, None
    weights = data.row_weights(np.concatenate([split.held for split in splits]))
    shift = data.task.shift(held.scores, held.y, weights)
    if shift is None:
        return held, None
    return held._replace(scores=held.scores + shift.values), shift


def learn_from_held(  # noqa: PLR0913  # the fits, and what is known of them
    context: SearchContext,
    data: Prepared,
    regularizer: kinds.Regularizer,
    work: Work,
    folds: Sequence[trials.Fold],
    splits: Sequence[Split],
    *,
    near: MultiSolution | None = None,
    held: Held | None = None,
) -> FromHeld | None:
    """What is learned from held-out documents: shift, calibration, thresholds, in this order.

    regularizer: that of the final fit. folds, splits: fits of ``data``, and what each leaves out.
    near: a solution for all to start from. held: their scores, where they are known. None where
    Ctrl-C or the budget ends fits that are then too near to that solution, or of other splits than
    those of the search, whose scores may be known.
    """
    task, settings, outside = data.task, context.settings, context.documents.outside
    X = data.rows.matrix(np.arange(0)) if outside is None else data.transform(outside.texts)
    if held is not None and outside is None:
        outside_scores, stopped = held.scores[:0], None
    else:
        starts = None
        if near is not None and isinstance(near.w, np.ndarray):
            starts = list(zip(near.w, near.b.tolist(), strict=True))
        held, outside_scores, stopped = held_out(regularizer, folds, work, X, starts)
    if stopped and (near is not None or len(splits) != len(data.splits)):
        return None
    held, shift = _shifted(data, held, splits)
    if shift is not None:
        outside_scores = outside_scores + shift.values
    if held.weights is not None and held.weights.any():  # without a weight none counts, as in fits
        held = held.of(held.weights > 0.0)
    calibration = None
    if task.probabilistic and settings.calibrate != "none":
        calibration = task.calibrate(settings.calibrate or "temperature", held)
    thresholds = task.choose_thresholds(settings.threshold or {}, held)
    unknown = None
    if settings.unknown is not None:
        n, k = len(outside_scores), len(splits)
        # Each fold scores all of them: a k-th of their weight for every fold.
        weights = np.zeros(0)
        if outside is not None and outside.sample_weight is not None:
            weights = np.tile(outside.sample_weight, k) / k
        held_outside = Held(outside_scores, np.full(n, len(task.labels)), weights)
        cuts = {label: threshold.value for label, threshold in thresholds.items()}
        unknown = task.choose_unknown(settings.unknown_rule, held, held_outside, cuts)
        unknown = unknown._replace(documents=X.shape[0])
    return FromHeld(shift, calibration, thresholds, unknown)


def fit_rows(
    regularizer: kinds.Regularizer,
    problems: trials.Problems,
    starts: Sequence[AnyStart] | None,
    work: Work = ALONE,
    *,
    keep: Table | None = None,
    prove: bool = False,
) -> tuple[MultiSolution, str | None]:
    """All weight vectors; and why they were stopped, if so: see :attr:`Run.stopped`.

    starts: a solution for each weight vector to start from, or None for some or all. keep: what is
    kept of the weights, all by default. prove: whether to find what is proven of their supports.
    """
    run = work.run("fit", len(problems.rows))
    rows, (n, p), goal = problems.rows, problems.problem.design.shape, problems.problem.tol
    starts = starts or [None] * max(problems.task.n_rows, len(rows))

    def dense(start: AnyStart) -> tuple[Floats, float] | None:
        return start.dense(p) if isinstance(start, trials.Start) else start

    if problems.task.joint:
        problem, codes = problems.of(None), problems.y.astype(np.int64)
        together = trials.together(list(map(dense, starts)))
        problem = problem.replace(callback=run.callback)
        (solved,) = run.map(calls.solve_softmax, [(regularizer, problem, codes, together)])
        run.advance()
        if keep is not None:
            for row, w in enumerate(solved.w):
                keep.take(row, w)
        return solved, run.stopped
    weights = Table(len(rows), p) if keep is None else keep
    cut, posed = trials.cut_rows(rows, [regularizer], problems, work.threads), problems
    proves = prove and type(regularizer).support is not kinds.Regularizer.support
    if tighter := proves and regularizer.needs == "groups" and n <= FEW:
        posed = replace(problems, problem=problems.problem.replace(tol=goal * TIGHTER))
        cut = [[row] for row in rows]  # each ends by itself

    def fit_piece(piece: Sequence[int | None]) -> list[Solution]:
        callback = tightening(goal, run.callback) if tighter else run.callback
        from_ = [dense(starts[row or 0]) for row in piece]
        solutions = trials.solve_rows(regularizer, posed, piece, from_, callback)
        fitted = []
        for row, solution in zip(piece, solutions, strict=True):
            support = None
            if prove:
                problem = posed.of(row).replace(callback=run.callback)
                support = calls.answer(regularizer, "support", problem, solution)
            weights.take(row or 0, solution.w)
            solution = replace(
                solution,
                w=np.empty(0),  # with many labels there is no room for two
                alpha=None,
                support=support,
                converged=solution.converged or solution.gap <= goal,
            )
            fitted.append(solution)
            run.advance()
        return fitted

    pieces = run.map(fit_piece, [(piece,) for piece in cut])
    return join(list(itertools.chain.from_iterable(pieces)), weights.table()), run.stopped


class Table:
    """What is kept of the weights of every label, as they are fitted: by default all of them."""

    def __init__(self, k: int, p: int) -> None:
        self._weights = sparse_zeros(k, p)

    def take(self, row: int, w: Floats) -> None:
        """Keep the weights (p,) of a label; threads call this at once.

        Those that are zero are not written: pages that stay untouched take no memory.
        """
        used = np.flatnonzero(w)
        self._weights[row, used] = w[used]

    def table(self) -> Any:
        """What was kept as weights (k, p), dense or sparse."""
        return self._weights


class Scores(Table):
    """Not the weights, but what they give for some documents.

    Attributes
    ----------
    scores : list of ndarray
        Without intercepts, (n, k) for each of the matrices.
    """

    def __init__(self, matrices: Sequence[csr_array], k: int) -> None:
        super().__init__(k, 0)
        self._matrices = matrices
        self.scores = [np.empty((X.shape[0], k)) for X in matrices]

    def take(self, row: int, w: Floats) -> None:
        """Keep X w. One label at a time: for all of them SciPy copies the weights."""
        for X, table in zip(self._matrices, self.scores, strict=True):
            table[:, row] = X @ w


# Bytes of a table of weights from which on they are pruned label by label, and kept sparse: a
# threshold for all labels together keeps fewer, but needs the whole table.
LARGE = 1 << 31


class PrunedRows(Table):
    """Those weights of every label that are left of it by :func:`leave_out`, sparse.

    Parameters
    ----------
    regularizer, problems
        What is fitted.
    share : float
        As of :func:`prune`, but of the variance of each label by itself.
    """

    def __init__(
        self, regularizer: kinds.Regularizer, problems: trials.Problems, share: float
    ) -> None:
        design = problems.problem.design
        ones = np.ones(design.shape[0])
        self._squares = (design.curvature(ones) / len(ones)).astype(np.float32)
        self._regularizer, self._problems, self._share = regularizer, problems, share
        self._rows: dict[int, tuple[Floats, Int32s, int]] = {}
        self._bytes = 0

    def take(self, row: int, w: Floats) -> None:
        """Keep some of them; UsageError where it can be told that all will not fit in memory."""
        before = int(np.count_nonzero(w))
        if self._share and before > 1:
            w = w.copy()
            leave_out(w[None], self._squares, self._share, 1)
        used = np.flatnonzero(w).astype(np.int32)
        self._rows[row] = w[used], used, before
        self._bytes += 12 * len(used)
        k = self._problems.task.n_rows
        check_room(
            self._bytes * k // len(self._rows),
            f"the weights of {k:,} labels",
            "take fewer features (--max-features, --min-df), a regularizer that selects some "
            "(--reg lasso), or join rare labels (--min-label 5:other)",
        )

    def table(self) -> csr_array:
        """The weights (k, p)."""
        from scipy.sparse import csr_array

        values, columns, _ = zip(*(self._rows[row] for row in sorted(self._rows)), strict=True)
        ptr = np.cumsum([0, *map(len, values)])
        shape = len(values), len(self._squares)
        return csr_array((np.concatenate(values), np.concatenate(columns), ptr), shape=shape)

    def summary(self, fitted: MultiSolution) -> PruneSummary | None:
        """What was left out; None if nothing was to be."""
        before = sum(before for _, _, before in self._rows.values())
        if not self._share or before <= LEAST:
            return None
        gap = _gap(fitted, self._regularizer, self._problems)
        return PruneSummary(self._share, before, self._bytes // 12, gap)


# A solution to start from: weights and intercept, or reduced to what is needed.
AnyStart: TypeAlias = "trials.Start | tuple[Floats, float] | None"


@dataclass(frozen=True, eq=False)
class SideBySide(trials.Problems):
    """The fits of one weight vector on several folds of the same documents."""

    folds: Sequence[trials.Fold] = ()

    @property
    def rows(self) -> list[int | None]:
        """The numbers of the folds."""
        return list(range(len(self.folds)))

    def of(self, row: int | None) -> Problem:
        """The problem of a fold."""
        return self.folds[row or 0].of(0)

    def constant(self, row: int | None) -> Solution | None:
        """The fit of a fold where one label is left."""
        return self.folds[row or 0].constant(0)


def held_out(
    regularizer: kinds.Regularizer,
    folds: Sequence[trials.Fold],
    work: Work,
    outside: csr_array,
    starts: Sequence[AnyStart] | None,
) -> tuple[Held, Floats, str | None]:
    """Scores of everything held out, and of documents ``outside``, by fits that have not seen them.

    All as a model meets new documents: see :meth:`Fold.X_new`. Of those outside there are
    (folds * documents, k), by the fit of every fold. starts: for all folds. Last why the fits were
    stopped, if so.
    """
    quiet = replace(work, progress=None)
    first, scores, outside_scores = folds[0], list[Floats](), list[Floats]()
    stopped = None
    # One weight vector on folds of one matrix: they share their passes, as those of labels do.
    if together := first.within is not None and first.rows == [0]:
        beside = SideBySide(first.problem, first.task, first.y, folds=folds)
        near = None if starts is None else [*starts] * len(folds)
        fitted, stopped = fit_rows(regularizer, beside, near, quiet)
    for at, fold in enumerate(folds):
        tables = Scores([fold.X_new(), fold.X_new(outside)], first.task.n_rows)
        if together:
            tables.take(0, fitted.w[at])
            intercepts = fitted.b[at : at + 1]
        else:
            fit, ended = fit_rows(regularizer, fold, starts, quiet, keep=tables)
            intercepts, stopped = fit.b, stopped or ended
        for table, by_fold in zip(tables.scores, (scores, outside_scores), strict=True):
            table += intercepts
            by_fold.append(table)
    return trials.held_of(folds, scores), np.vstack(outside_scores), stopped


def tightening(goal: float, callback: Callable[[Step], bool]) -> Callable[[Step], bool]:
    """A callback that ends a fit of one weight vector at three times the iterations of its goal.

    goal: the relative gap at which it could have ended. callback: that of the problem.
    """
    last = math.inf

    def stop(step: Step) -> bool:
        nonlocal last
        if step.gap <= goal:
            last = min(last, 3 * step.iteration)
        return callback(step) or step.iteration >= last

    return stop


# How much closer a fit comes to the optimum whose groups are to be proven selected or not. At a gap
# of 1e-4 that is known of few: on `computer` of 1,154 of 20,926 sentences, at 1e-6 of 9,486.
TIGHTER = 0.01


def join(solutions: Sequence[Solution], weights: Floats) -> MultiSolution:
    """Separate fits as one: sums of objectives and iterations, the widest gap.

    weights: (rows, p) theirs.
    """
    norms = [solution.group_norms for solution in solutions if solution.group_norms is not None]
    known = [solution.unsmoothed for solution in solutions if solution.unsmoothed is not None]
    unsmoothed = None
    if len(known) == len(solutions):
        # NaN in one of them is NaN in all.
        widest = float(np.max([fit.gap for fit in known]))
        unsmoothed = Unsmoothed(float(sum(fit.objective for fit in known)), widest)
    return MultiSolution(
        w=weights,
        b=np.array([solution.b for solution in solutions]),
        objective=float(sum(solution.objective for solution in solutions)),
        gap=float(np.max([solution.gap for solution in solutions])),
        iterations=sum(solution.iterations for solution in solutions),
        converged=all(solution.converged for solution in solutions),
        reports=tuple(solution.report for solution in solutions),
        supports=tuple(solution.support for solution in solutions),
        group_norms=np.max(norms, axis=0) if len(norms) == len(solutions) else None,
        unsmoothed=unsmoothed,
    )


# Weights that a model keeps in any case; one with no more of them is not pruned.
LEAST = 20_000

# Bits of a float32 that do not tell bins of variances from each other, and the number of bins.
SHIFT, BINS = 16, 1 << 15

# Significant bits of the weights of a pruned model: 3 bytes each instead of 8.
BITS = 12


def prune(
    fitted: MultiSolution, regularizer: kinds.Regularizer, problems: trials.Problems, share: float
) -> tuple[MultiSolution, PruneSummary | None]:
    """Leave out the smallest weights, and shorten the others.

    A weight w_j adds a variance of about w_j^2 mean_i(x_ij^2) to the scores. Those that add least
    are left out, as many as together add no more than a share of the sum over all weights; of equal
    ones none or all.

    Parameters
    ----------
    fitted : MultiSolution
        The fit; its objective and gap stay what they were. Weights of separate fits are changed in
        place.
    regularizer : Regularizer
        What was fitted.
    problems : Problems
        The documents that were fitted.
    share : float
        Share of the sum that may be left out; 0 changes nothing.

    Returns
    -------
    tuple of MultiSolution and PruneSummary
        None instead of the latter if nothing was changed.
    """
    before = int(np.count_nonzero(fitted.w))
    if share == 0.0 or before <= LEAST:
        return fitted, None
    design = problems.problem.design
    squares = np.zeros(design.shape[1], dtype=np.float32)
    chosen = np.flatnonzero(fitted.w.any(axis=0)).astype(np.int32)
    # mean_i(x_ij^2) of the features that have a weight
    squares[chosen] = design.curvature(np.ones(design.shape[0]), chosen) / design.shape[0]
    # Weights of separate fits are nobody else's, and where labels are many the largest table.
    w = fitted.w.copy() if problems.task.joint else fitted.w
    leave_out(w, squares, share)
    pruned = replace(fitted, w=w)
    gap = _gap(pruned, regularizer, problems)
    return pruned, PruneSummary(share, before, int(np.count_nonzero(w)), gap)


def leave_out(
    w: Floats, squares: NDArray[np.float32], share: float, fewest: int | None = None
) -> None:
    """Leave out the smallest weights of a table (k, p), in place, and shorten the others.

    squares: (p,) the mean square of each feature. share: that of the variance that may be left out.
    fewest: how many stay in any case, by default :data:`LEAST`.
    """

    def variances() -> Iterator[tuple[NDArray[np.float32], NDArray[np.uint32]]]:
        for weights in w:
            variance = _variance(weights, squares)[weights != 0.0]
            yield variance, variance.view(np.uint32) >> SHIFT  # ascends with the variance

    # Those of a bin differ by less than 1/128: what the bins before hold may all go.
    sums, counts = np.zeros(BINS), np.zeros(BINS, dtype=np.int64)
    for variance, bins in variances():
        sums += np.bincount(bins, variance, BINS)
        counts += np.bincount(bins, minlength=BINS)
    limit, most = share * sums.sum(), int(counts.sum()) - (LEAST if fewest is None else fewest)
    over = (np.cumsum(sums) > limit) | (np.cumsum(counts) > most)
    last = int(np.argmax(over))
    inside = np.sort(np.concatenate([variance[bins == last] for variance, bins in variances()]))
    out = np.cumsum(np.append(sums[:last].sum(), inside))[1:] <= limit
    # Equal ones all stay or all go, so that the order of features decides nothing.
    least = inside[min(int(out.sum()), most - int(counts[:last].sum()), len(inside) - 1)]
    for weights in w:
        there = weights != 0.0  # what is zero is not written: it takes no memory
        stays = (_variance(weights, squares) >= least) & there
        weights[there & ~stays] = 0.0
        # w = f 2^e with 1/2 <= |f| < 1; f keeps BITS bits
        fractions, exponents = np.frexp(weights[stays])
        weights[stays] = np.ldexp(np.round(np.ldexp(fractions, BITS)), exponents - BITS)


def _variance(weights: Floats, squares: NDArray[np.float32]) -> NDArray[np.float32]:
    """(p,) What the weights of a label add to its scores, in single precision: it ranks them."""
    with np.errstate(over="ignore", invalid="ignore"):
        variance: NDArray[np.float32] = np.square(weights, dtype=np.float32, casting="same_kind")
        variance *= squares
    variance[squares == 0.0] = 0.0  # also where the square of the weight has overflowed
    return variance


def _gap(
    pruned: MultiSolution, regularizer: kinds.Regularizer, problems: trials.Problems
) -> float | None:
    """The gap at the weights that are left, by the bound of the fit; None without a bound.

    So too where the regularizer does not allow such weights.
    """
    if np.isnan(pruned.gap) or problems.task.joint:
        return None
    # bound = P (1 - gap) is below the minimum still; the gap of the pruned weights is from there.
    objective = sum(
        calls.objective(regularizer, problems.of(row), w, float(b))
        for row, w, b in zip(problems.rows, dense_rows(pruned.w), pruned.b, strict=True)
    )
    if np.isinf(objective):
        return None
    gap = relative_gap(objective, pruned.objective * (1.0 - pruned.gap))
    return None if np.isnan(gap) else gap


LOG = terminal.logger("training")

# Labels that are named.
_LABELS = 8


def log_begun(context: SearchContext, count: int) -> None:
    """What is learned from so many documents."""
    documents, settings = context.documents, context.settings
    task = documents.target.task
    LOG.info(
        "%s of %d documents%s; %s, loss %s, tokenizer %s",
        task.name,
        count,
        f", labels {errors.first_few(task.labels, _LABELS)}" if task.labels else "",
        settings.reg,
        settings.loss.label(),
        settings.any_tokenizer.label(),
    )
    for label, count in documents.rare.items():
        LOG.info("label %r has %d documents only: left out, or joined with others", label, count)
    if documents.splits:
        held = sum(len(split.held) for split in documents.splits)
        LOG.info("%d documents held out, in %d parts", held, len(documents.splits))


def report_search(context: SearchContext, result: SearchResult, seconds: float) -> None:
    """Log how a search ended, what it chose and why; warn where settings were left unmeasured."""
    best, tuning, metric = result.best, context.settings.tuning, context.metric
    if result.stopped is not None:
        warnings.warn(
            f"{_why(result.stopped, tuning.seconds)}: the best of {len(result.measured)} of "
            f"{result.planned} settings was chosen, and fitted.",
            errors.ConvergenceWarning,
            stacklevel=4,
        )
    if best is None:
        LOG.info("nothing to search: all hyperparameters are given")
        return
    why = f"select {tuning.select} by {metric}"
    if tuning.max_nonzero is not None:
        why += f", of those with at most {tuning.max_nonzero} features"
    stopped = f", stopped: {result.stopped}" if result.stopped else ""
    LOG.info(
        "search: %d of %d settings in %.2f s%s",
        *(len(result.measured), result.planned, seconds, stopped),
    )
    changes = "".join(f", {key} {value}" for key, value in best.changes.items())
    LOG.info("chosen: %s%s: %s (%.4g)", best.regularizer, changes, why, best.metrics[metric])


def report_fit(fit: FinalFit, settings: TrainingSettings, seconds: float) -> None:
    """Log how the final fit ended, and what was learned from held-out documents.

    Warns where it misses its tolerance, or was stopped.
    """
    fitted = fit.fitted
    LOG.info(
        "fit: %d documents, %d of %d features, %d iterations, gap %.1e, %s, %.2f s",
        *(fit.problems.problem.design.shape[0], fit.nonzero, fit.problems.problem.design.shape[1]),
        *(fitted.iterations, fitted.gap),
        *("converged" if fitted.converged else "not converged", seconds),
    )
    if fit.pruned is not None:
        LOG.info("pruned: %d of %d weights kept", fit.pruned.after, fit.pruned.before)
    for label, cut in fit.cuts.items():
        LOG.info("threshold of %r: %.4f, chosen on held-out documents", label, cut)
    if fitted.converged:
        return
    reached = "no bound" if np.isnan(fitted.gap) else f"a relative gap of {fitted.gap:.1e}"
    message = (
        f"{fit.regularizer.label()} stopped before its tolerance: {reached}, where "
        f"{settings.tol:g} was asked for (--tol), after {fitted.iterations:,} iterations. Larger "
        "penalty strengths, or a larger tolerance, make it easier."
    )
    if fit.stopped is not None:
        why = _why(fit.stopped, settings.tuning.seconds)
        message = f"{why}: the model is the best so far, and not the optimum."
    warnings.warn(message, errors.ConvergenceWarning, stacklevel=4)


def _why(stopped: str, budget: float | None) -> str:
    """Why something was stopped, in words."""
    return f"the budget of {budget:g} s is used up" if stopped == "budget" else "interrupted"


# Points of a path, beside the chosen one.
POINTS = 20


def path_parameter(regularizer: kinds.Regularizer | type[kinds.Regularizer]) -> str:
    """The parameter that changes along the path: ``l1``, or the last that is searched.

    That is a penalty strength with a grid of several values, or a whole number. UsageError if there
    is none.
    """
    every = regularizer.declared()
    last_first = list(every)[::-1]
    for name in sorted(last_first, key=lambda name: name != "l1"):
        declared, grid = every[name], every[name].search
        strength = isinstance(grid, LogGrid) and len(grid.fractions) > 1 and declared.type is float
        if strength or (isinstance(grid, Choices) and declared.type is int):
            return name
    raise errors.UsageError(
        f"{regularizer.label()} has no path: none of its parameters makes the model larger step by "
        "step. Leave out path, or take a regularizer such as elastic."
    )


def path_settings(regularizer: kinds.Regularizer, problem: Problem) -> list[kinds.Regularizer]:
    """Versions of a regularizer along its path, the emptiest model first, itself among them.

    Penalty strengths fall from the smallest that empties the model of ``problem`` to the least that
    a search tries, evenly in logarithm (Friedman, Hastie and Tibshirani 2010, section 2.5); whole
    numbers rise from 1 to the greatest.
    """
    name = path_parameter(regularizer)
    declared, chosen = regularizer.declared()[name], getattr(regularizer, name)
    candidates = calls.candidates(regularizer.replace(**{name: AUTO}), problem)
    tried = [getattr(candidate, name) for candidate in candidates]
    if declared.type is int:
        # Whole numbers, close at first: one feature more matters most where there are few.
        grid = np.unique(np.geomspace(1, max(tried), POINTS).round()).astype(int).tolist()
        values = sorted({*grid, chosen})
    else:
        above = [value for value in tried if value > 0.0]  # a path to zero has no end
        highest = max(calls.scale(regularizer, problem, name), *tried)
        # highest * t^k, from the emptiest model to the weakest strength of the search
        strengths = LogGrid(min(above) / highest, 1.0, POINTS).values(highest) if above else []
        values = sorted({*strengths, chosen}, reverse=True)
    return [regularizer.replace(**{name: value}) for value in values]


# One point of a path: its weight vectors (k, p) and intercepts (k,), the gap, and their scores of
# held-out documents (n, k).
_PathFit: TypeAlias = "tuple[csr_array, Floats, float, Floats]"


def fit_path(fit: FinalFit, *, metric: str, work: Work = ALONE) -> SolutionPath | None:
    """The path that a final fit lies on; None, and a warning, if Ctrl-C ended it.

    It is measured on the splits of the fit, which keeps its place in the path.
    """
    from scipy.sparse import csr_array, vstack

    problems, folds = fit.problems, fit.folds
    settings = path_settings(fit.regularizer, problems.hardest())
    run = work.run("path", len(settings) * problems.task.n_rows * (1 + len(folds)))

    def fit_along(
        problems: trials.Problems, row: int | None, X: csr_array | None
    ) -> list[_PathFit]:
        """All points for one of their rows; fewer if the run was stopped."""
        fits: list[_PathFit] = []
        for w, b, gap in trials.solve_chain(settings, problems, row, [None], run):
            if run.stopped:
                break
            scores = np.empty((0, len(b))) if X is None else X @ w.T + b
            fits.append((csr_array(w.astype(np.float32)), b, gap, scores))
            run.advance(len(w))
        return fits

    pieces: list[tuple[Any, ...]] = [(problems, row, None) for row in problems.rows]
    pieces += [(fold, row, fold.X_measured) for fold in folds for row in fold.rows]
    results = run.map(fit_along, pieces)
    if run.stopped:
        warnings.warn(
            "interrupted: the model is complete, but its path is left out.",
            errors.ConvergenceWarning,
            stacklevel=3,
        )
        return None
    # First the points on the documents of the fit, then the same on those of every split.
    width = len(problems.rows)
    whole, *held_out = (results[at : at + width] for at in range(0, len(results), width))
    fitted, names = fit.fitted, fit.data.encoder.names
    task, chosen = problems.task, settings.index(fit.regularizer)
    y_true, counts = np.concatenate([fold.y_held for fold in folds]), trials.held_weights(folds)
    X, fitted_counts = fit.data.rows.matrix(fit.rows), fit.data.counts(fit.rows)
    weights, intercepts, points = [], [], []
    for at, regularizer in enumerate(settings):
        w_of, b_of, gaps, _ = zip(*(row[at] for row in whole), strict=True)
        w, b = vstack(w_of, format="csr"), np.concatenate(b_of)
        gap = float(np.max(gaps))  # NaN, no bound, is the widest
        if at == chosen:
            # The chosen point is the model itself, not a fit that comes near it.
            w, b, gap = csr_array(fitted.w.astype(np.float32)), fitted.b, fitted.gap
        scores = np.vstack([np.hstack([row[at][3] for row in fold]) for fold in held_out])
        of_training = (X @ w.T).toarray() + b
        point = PathPoint(
            params=regularizer.params(),
            nonzero=len(np.unique(w.indices)),
            metrics=task.measure(scores, y_true, counts),
            training_metrics=task.measure(of_training, problems.y, fitted_counts),
            gap=None if np.isnan(gap) else float(gap),
        )
        points.append(point)
        weights.append(w)
        intercepts.append(b)
    stacked = vstack(weights, format="csc")
    used = np.flatnonzero(np.diff(stacked.indptr))
    return SolutionPath(
        parameter=path_parameter(fit.regularizer),
        points=tuple(points),
        chosen=chosen,
        metric=metric,
        names=[names[j] for j in used.tolist()],
        weights=csr_array(stacked[:, used]),
        intercepts=np.array(intercepts),
    )
