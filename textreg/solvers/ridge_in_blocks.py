"""Ridge over a matrix in blocks of rows, by Newton steps and by dual ascent.

A preconditioner made of a few documents, drawn by chance.

The Hessian of a ridge over text is near its diagonal, but for the features that occur in many
documents: their columns overlap. How, a few percent of the documents tell well enough. With these
S, each as often as it is likely to be drawn less, and the most frequent features F alone

    M = [ X_SF' D_S X_SF + E    0    ]        with the diagonal of the Hessian
        [         0           D_rest ]

(docs/maths.md, R4) conjugate gradients need a third of the products with the Hessian that they need
with its diagonal. The cost is a system over S and F, solved in memory by conjugate gradients.

Dual coordinate ascent for a ridge over documents that lie in blocks (yu2010).

    min  sum_i c_i l(y_i, x_i w + b) + q/2 ||w||^2,    w = X'alpha / q

A sweep over all documents (see :mod:`.dual_ascent`) reads each block once, and moves the weights as
it goes. With the logistic loss the first sweeps come as near to the optimum as several Newton steps
of many passes each; then these are quicker. With a hinge, sweeps go on as long as the gap falls.

Newton's method for a ridge over documents that lie in blocks, of few passes.

Some sweeps of dual coordinate ascent tell where to begin. The steps are
those of :mod:`.ridge`, and differ in what is read. One pass at the scores at hand tells the
gradient and the diagonal of the Hessian, and takes the documents of the preconditioner. A product
with the Hessian is another one. Scores follow from the products, but for those of the last point.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from textreg._core.curvature import curvature_diagonal, curvature_product, row_scores, row_sums
from textreg._core.dual import dual_sweep
from textreg.penalties import Separable
from textreg.records import Floats, Int32s, Problem, Solution, Step
from textreg.records.arrays import take_lines
from textreg.records.design import BlockDesign, CompressedArrays, RowBlock, joined_rows, renumbered
from textreg.solvers.certificate import balance, dual_value, relative_gap, ridge_bound
from textreg.solvers.dual_ascent import HINGES, ascends, in_range, shuffled, slope_of
from textreg.solvers.linear_algebra import Advance, Direction, conjugate_gradients
from textreg.solvers.state import (
    IDLE,
    NOISE,
    Engine,
    Parabola,
    checks_overflow,
    finish,
    go_along,
    slope_of_intercept,
    smooth_step,
)

# Most iterations of conjugate gradients in a step.
ROUNDS = 100

# Share of all curvature that documents hold which are left out of the model, times that share of
# the gradient which the step may leave.
NEGLIGIBLE = 3e-3

# Largest and smallest share of the gradient that a step may leave.
ROUGH, FINE = 0.3, 0.01

# Relative gap above which documents are taken to be on their way to the other side.
FAR = 0.1


class Accuracy(NamedTuple):
    """When a step is accurate enough.

    share: of the gradient of the objective, how much it may leave. gap: the tolerated gap,
    absolute; the step need not be more accurate than that.
    """

    share: float
    gap: float


def advance(engine: Engine, q: Floats, slope: tuple[Floats, float], change: Direction) -> Advance:
    """Go along a change while it helps.

    q: curvature of the penalty. slope: of the objective, in the weights (p,) and the intercept.
    """
    weighted = q * engine.w
    value, linear = 0.5 * float(weighted @ engine.w), float(weighted @ change.w)
    np.multiply(q, change.w, out=weighted)
    penalty = Parabola(value, linear, 0.5 * float(weighted @ change.w))
    del weighted
    return go_along(engine, change, float(slope[0] @ change.w) + slope[1] * change.b, penalty)


def share_for(gap: float) -> float:
    """The share of the gradient that a step may leave."""
    return min(ROUGH, max(FINE, 0.5 * math.sqrt(min(gap, 1.0))))


def solution_of(
    problem: Problem,
    engine: Engine,
    slope: Floats,
    squares: Floats,
    history: Sequence[Step],
    stopped: bool,
) -> Solution:
    """What a ridge has come to.

    slope: of the objective, (p,). squares: the sum of the squared values of every column.
    """
    norm = math.sqrt(float(squares.sum()) / len(engine.z))  # see scales.document_norm
    end = history[-1]
    solution = Solution(
        w=engine.w,
        b=engine.b,
        objective=end.objective,
        gap=end.gap,
        residual=max(float(np.abs(slope).max(initial=0.0)), norm * slope_of_intercept(engine)),
        iterations=end.iteration,
        converged=end.gap <= problem.tol,
        history=tuple(history),
    )
    return finish(problem, solution, "Newton steps", stopped=stopped)


def use_crossing_curvature(engine: Engine) -> None:
    """For documents on the wrong side, the curvature on their way to the other one (R3).

    At a score z it is (s(|z|) - 1/2) / |z| for the logistic function s, at most 1/4.
    """
    wrong = engine.y * engine.z < 0.0
    engine.h[wrong] = engine.loss.curvature_above(engine.z[wrong], engine.y[wrong], engine.c[wrong])


# What the intercept adds to the diagonal of X X' / q, as a share of its mean.
LAG = 0.2


class Patience:
    """Tells when sweeps no longer bring the gap of a hinge down: it falls, but not at every look.

    They end where none of LOOKS in a row has found it below FALL times the least before.
    """

    LOOKS, FALL = 12, 0.8

    def __init__(self) -> None:
        self.least, self._looks = np.inf, 0

    def ends(self, gap: float) -> bool:
        """Whether to look no further. gap: what has been found now."""
        self._looks = 0 if gap <= self.FALL * self.least else self._looks + 1
        self.least = min(self.least, gap)
        return self._looks >= self.LOOKS


# Most rounds of conjugate gradients for M^-1, and how exactly they solve its system.
SAMPLE_ROUNDS, SAMPLE_ACCURACY = 40, 0.1


class Sample(NamedTuple):
    """What M needs of the Hessian.

    Attributes
    ----------
    features : int32 ndarray, shape (m,)
        The most frequent ones, F.
    rows : CompressedArrays
        Documents, with the places of their features in F.
    h : ndarray
        Their curvature, over the chance of each to be drawn.
    """

    features: Int32s
    rows: CompressedArrays
    h: Floats


def draw(sizes: Floats, count: float, seed: int) -> tuple[Int32s, Floats]:
    """About ``count`` documents, ascending, and the chance of each to be drawn.

    sizes: (n,) to which chances are in proportion, but none above 1. Where there are no more
    documents than that, all with a size are drawn.
    """
    total = float(sizes.sum())
    share = count / total if total > 0.0 and count < len(sizes) else np.inf
    chances = np.zeros(len(sizes))
    some = sizes > 0.0
    chances[some] = np.minimum(sizes[some] * share, 1.0)
    drawn = np.random.default_rng(seed).random(len(sizes)) < chances
    return np.flatnonzero(drawn).astype(np.int32), chances[drawn]


class SampledRows:
    """M^-1 for weights and intercept.

    Parameters
    ----------
    diagonal : ndarray, shape (p,)
        That of the Hessian of the loss.
    diagonal_b : float
        Its entry for the intercept; 0 where there is none.
    q : ndarray, shape (p,)
        Curvature of the penalty, above 0.
    sample : Sample
        Of the Hessian of the loss.
    """

    def __init__(self, diagonal: Floats, diagonal_b: float, q: Floats, sample: Sample) -> None:
        features, (indptr, indices, data), h = sample
        self._features, self._h = features, h
        self._diagonal, self._diagonal_b = q + diagonal, diagonal_b
        self._every = np.arange(len(h), dtype=np.int32)
        own, whole = np.zeros(len(features)), diagonal[features]
        curvature_diagonal(indptr, indices, data, self._every, h, own)
        # Columns that were drawn too often are made shorter, so that the diagonal is right.
        factor = np.sqrt(np.divide(whole, own, out=np.ones_like(own), where=own > whole))
        self._rows = indptr, indices, data * factor[indices]
        self._rest = q[features] + np.maximum(whole - factor**2 * own, 0.0)
        self._rest_b = max(diagonal_b - float(h.sum()), 0.0)

    def times(self, w: Floats, b: float) -> tuple[Floats, float]:
        """M^-1 (w, b), about."""
        scaled = w / self._diagonal
        none = Direction(np.zeros(len(self._features)), 0.0, np.zeros(len(self._h)))
        found = conjugate_gradients(
            self, (w[self._features], b), none, rounds=SAMPLE_ROUNDS, accuracy=SAMPLE_ACCURACY
        )
        scaled[self._features] = found.w
        return scaled, found.b

    def product(self, w: Floats, b: float) -> tuple[Floats, float, Floats]:
        """The part of M over F and the intercept, times (w, b); and the scores."""
        out, scores = self._rest * w, np.empty(len(self._h))
        total = curvature_product(*self._rows, self._every, self._h, w, b, scores, out)
        return out, total + self._rest_b * b if self._diagonal_b else 0.0, scores

    def precondition(self, w: Floats, b: float) -> tuple[Floats, float]:
        """Times the inverse of its diagonal."""
        scaled_b = b / self._diagonal_b if self._diagonal_b else 0.0
        return w / self._diagonal[self._features], scaled_b


# The most features in the preconditioner.
FREQUENT = 200_000

# Documents in the preconditioner: as a share, at least, and at most by their values.
SHARE, LEAST, MOST = 0.1, 1_000, 4_000_000


class Reading(NamedTuple):
    """What one pass tells of the documents at their scores.

    Attributes
    ----------
    documents, flat : int32 ndarray
        The documents that products are made of, and those with next to no curvature.
    gradient : ndarray, shape (p,)
        X'r.
    diagonal, flat_diagonal : ndarray, shape (p,)
        sum_i h_i x_ij^2 over all documents, and over the flat ones.
    sums : ndarray, shape (p,)
        sum_i h_i x_ij over the others.
    sample : Sample
        What the preconditioner needs of these.
    """

    documents: Int32s
    flat: Int32s
    gradient: Floats
    diagonal: Floats
    flat_diagonal: Floats
    sums: Floats
    sample: Sample


class BlockRows:
    """A matrix in blocks, as Newton's method reads it.

    Sums over documents are those of the sums of every block, in order.

    Parameters
    ----------
    design : BlockDesign
        The matrix.
    norms : ndarray, shape (n,)
        The sum of the squared values of every row.

    Attributes
    ----------
    norms : ndarray, shape (n,)
        As given.
    every : int32 ndarray, shape (n,)
        All rows.
    """

    def __init__(self, design: BlockDesign, norms: Floats) -> None:
        n, self._size = design.shape
        self._design, self.norms = design, norms
        self.every = np.arange(n, dtype=np.int32)
        sizes, most = design.blocks.sizes, min(FREQUENT, self._size)
        top = np.argpartition(-sizes, most - 1)[:most] if most else np.zeros(0)
        self._frequent = np.sort(top).astype(np.int32)
        values = int(sizes[self._frequent].sum(dtype=np.int64))
        self._count = min(max(SHARE * n, LEAST), MOST / max(values, 1) * n)
        self._readings = 0

    def each(self) -> Iterator[_Part]:
        """All blocks, one after the other, for :meth:`ask`; which is a pass."""
        self._design.count_pass()
        for number, (start, end) in enumerate(pairwise(self._design.blocks.starts.tolist())):
            yield _Part(number, slice(start, end), slice(start, end))

    def features(self, part: _Part) -> Int32s:
        """The features of a block."""
        return self._design.blocks.features(part.number)

    def ask(self, part: _Part, operation: Callable[..., Any], *arguments: Any) -> Any:
        """What is computed of one block."""
        given = ([one] for one in arguments)
        return next(self._design.blocks.map(operation, *given, numbers=[part.number]))

    def _map(
        self, rows: Int32s, operation: Callable[..., Any], *arguments: Callable[[_Part], Any]
    ) -> Iterator[tuple[_Part, Any]]:
        """What is computed of the blocks that hold some of these rows, ascending, in order.

        ``arguments`` make those of the operation, beside the rows, of what is asked of a block.
        """
        starts = self._design.blocks.starts
        ends = np.searchsorted(rows, starts)
        self._design.count_pass(len(rows) / max(len(self.every), 1))
        numbers = np.flatnonzero(np.diff(ends)).tolist()
        parts = [
            _Part(
                number,
                slice(int(ends[number]), int(ends[number + 1])),
                slice(int(starts[number]), int(starts[number + 1])),
            )
            for number in numbers
        ]
        local = (rows[part.some] - np.int32(part.here.start) for part in parts)
        given = (map(make, parts) for make in arguments)
        results = self._design.blocks.map(operation, local, *given, numbers=numbers)
        return zip(parts, results, strict=True)

    def _add(self, part: _Part, sums: Floats, out: Floats) -> None:
        """Add what a block has for each of its features."""
        out[self._design.blocks.features(part.number)] += sums

    def _weights(self, w: Floats) -> Callable[[_Part], Floats]:
        """The weights of the features of a block."""
        return lambda part: w[self._design.blocks.features(part.number)]

    def read(self, engine: Engine, negligible: float) -> Reading:
        """What a pass tells at the derivatives r and h of an engine.

        negligible: the share of all curvature that flat documents may hold.
        """
        documents, flat = significant(engine.h, engine.c, negligible)
        flat_h = np.zeros(len(engine.h))
        flat_h[flat] = engine.h[flat]
        steep = engine.h - flat_h
        drawn, chances = draw(steep * self.norms, self._count, self._readings)
        self._readings += 1
        place = np.full(self._size, -1, dtype=np.int32)
        place[self._frequent] = np.arange(len(self._frequent), dtype=np.int32)
        sums = [np.zeros(self._size) for _ in range(4)]
        rows: list[CompressedArrays] = []

        def sampled(part: _Part) -> Int32s:
            first, last = np.searchsorted(drawn, [part.here.start, part.here.stop]).tolist()
            local: Int32s = drawn[first:last] - np.int32(part.here.start)
            return local

        def frequent(part: _Part) -> Int32s:
            """The place of every feature of the block among the frequent ones, or -1."""
            return place[self._design.blocks.features(part.number)]

        def derivatives(part: _Part) -> tuple[Floats, Floats, Floats]:
            return engine.r[part.here], engine.h[part.here], flat_h[part.here]

        given = derivatives, sampled, frequent
        for part, (own_rows, *own) in self._map(self.every, block_reading, *given):
            rows.append(own_rows)
            for some, out in zip(own, sums, strict=True):
                self._add(part, some, out)
        sample = Sample(self._frequent, joined_rows(rows), steep[drawn] / chances)
        gradient, diagonal, flat_diagonal, weighted = sums
        return Reading(documents, flat, gradient, diagonal, flat_diagonal, weighted, sample)

    def product(
        self, rows: Int32s, h: Floats, w: Floats, b: float, scores: Floats, out: Floats
    ) -> float:
        """scores_i = x_i . w + b for the documents i of ``rows``; out += sum_i h_i scores_i x_i.

        h, scores: (n,). w, out: (p,). Returns the sum without x_i.
        """
        total = 0.0
        results = self._map(
            rows, rows_curvature_product, lambda part: h[part.here], self._weights(w), lambda _: b
        )
        for part, (sums, own, some) in results:
            total += own
            scores[rows[part.some]] = some
            self._add(part, sums, out)
        return total

    def scores(self, rows: Int32s, w: Floats, b: float, out: Floats) -> None:
        """out_i = x_i . w + b for the documents i of ``rows``. w: (p,), out: (n,)."""
        for part, some in self._map(rows, rows_scores, self._weights(w), lambda _: b):
            out[rows[part.some]] = some


def significant(h: Floats, c: Floats, share: float) -> tuple[Int32s, Int32s]:
    """The documents, but for the flattest, which hold at most a ``share`` of the sum of h.

    h, c: (n,), second derivatives and weights of the documents; a weight of 2 is the same as a
    document twice. Returns these documents and the others.
    """
    flatness = np.divide(h, c, out=np.zeros_like(h), where=c > 0.0)
    order = np.argsort(flatness)
    total = np.cumsum(h[order])
    first = int(np.searchsorted(total, share * total[-1], "right")) if len(h) else 0
    least = flatness[order[first]] if first < len(h) else np.inf
    large = flatness >= least
    return np.flatnonzero(large).astype(np.int32), np.flatnonzero(~large).astype(np.int32)


class _Part(NamedTuple):
    """What is asked of a block.

    number: which one it is. some: its rows among those that are asked for. here: all its rows.
    """

    number: int
    some: slice
    here: slice


def rows_curvature_product(
    block: RowBlock, rows: Int32s, h: Floats, w: Floats, b: float
) -> tuple[Floats, float, Floats]:
    """X'(h (X w + b)) over some rows of a block, the sum of h (X w + b), and X w + b."""
    sums, scores = np.zeros(len(w)), np.empty(block.end - block.start)
    total = curvature_product(*block.rows, rows, h, w, b, scores, sums)
    return sums, total, scores[rows]


def rows_scores(block: RowBlock, rows: Int32s, w: Floats, b: float) -> Floats:
    """X w + b of some rows of a block."""
    scores = np.empty(block.end - block.start)
    row_scores(*block.rows, rows, w, b, scores)
    return scores[rows]


def block_reading(
    block: RowBlock,
    rows: Int32s,
    derivatives: tuple[Floats, Floats, Floats],
    sampled: Int32s,
    place: Int32s,
) -> tuple[CompressedArrays, Floats, Floats, Floats, Floats]:
    """What a pass tells of a block, of which all ``rows`` are read; see :class:`Reading`.

    derivatives: r and h of its documents, and h where it is next to nothing, else 0. sampled:
    documents of the preconditioner. place: of every feature of the block there, or -1. Returns
    their rows, the gradient, both diagonals, and the sums.
    """
    r, h, flat_h = map(np.ascontiguousarray, derivatives)
    gradient, diagonal, flat_diagonal, sums = (np.zeros(len(block.features)) for _ in range(4))
    row_sums(*block.rows, rows, r, gradient)
    curvature_diagonal(*block.rows, rows, h, diagonal)
    curvature_diagonal(*block.rows, rows[flat_h > 0.0], flat_h, flat_diagonal)
    row_sums(*block.rows, rows, h - flat_h, sums)
    taken = CompressedArrays(*take_lines(*block.rows, sampled))
    return renumbered(taken, place), gradient, diagonal, flat_diagonal, sums


# How many there are for the logistic loss, and with a hinge between two looks at the gap.
SWEEPS, BETWEEN = 2, 5


def ascend(engine: Engine, rows: BlockRows, q: float, problem: Problem) -> float:
    """Move an engine without weights, its intercept at its optimum, to where sweeps lead.

    q: curvature of the penalty. problem: says how small a gap is enough, and how many looks at it
    there may be; each is a step for its caller, who may stop there. Returns a lower bound on the
    objective, -inf if none is known.
    """
    best, least, bound = (engine.w, engine.b), engine.value, -np.inf
    sweeps, patience, looks = _Sweeps(engine, rows, q), Patience(), 0
    hinge = isinstance(engine.loss, HINGES)
    while True:
        sweeps.make(BETWEEN if hinge else SWEEPS)
        engine.restart(sweeps.w.copy(), sweeps.b)
        objective = engine.value + 0.5 * q * float(engine.w @ engine.w)
        if objective <= least:
            best, least = (engine.w, engine.b), objective
        if not hinge:
            break
        alpha = sweeps.alpha.copy()
        balance(engine, alpha)
        products = engine.design.transposed_product(alpha)
        bound = max(bound, dual_value(engine, alpha) - 0.5 / q * float(products @ products))
        looks, gap = looks + 1, relative_gap(least, bound)
        stopped = problem.callback and problem.callback(Step(looks, least, gap))
        if stopped or gap <= problem.tol or patience.ends(gap) or looks >= problem.max_iter:
            break
    if engine.w is not best[0]:
        engine.restart(*best)
    return bound


class _Sweeps:
    """The dual variables ``alpha`` (n,), from zero on, and the weights and intercept ``w``, ``b``.

    The intercept is that of the engine at first.
    """

    def __init__(self, engine: Engine, rows: BlockRows, q: float) -> None:
        self._rows, self._q, self._slope = rows, q, slope_of(engine.loss)
        self._cy, self._number = engine.c * engine.y, 0
        self.alpha, self.w, self.b = np.zeros(len(engine.z)), np.zeros(len(engine.w)), engine.b
        mean = float(rows.norms.sum()) / max(len(rows.norms), 1)
        self._lag = LAG * mean / q if engine.fit_intercept else 0.0

    def make(self, count: int) -> None:
        """So many more. After each the point that the intercept is held near moves to it."""
        rows, alpha, w, b = self._rows, self.alpha, self.w, self.b
        for number in range(self._number, self._number + count):
            for part in rows.each():
                features, here = rows.features(part), part.here
                known = rows.norms[here], self._cy[here], (number, part.number)
                point = alpha[here], w[features], b
                alpha[here], w[features], b = rows.ask(
                    part, swept_block, known, point, self._q, self._lag, self._slope
                )
            b += self._lag * float(alpha.sum())
        self._number, self.b = self._number + count, b


def swept_block(
    block: RowBlock,
    known: tuple[Floats, Floats, tuple[int, int]],
    point: tuple[Floats, Floats, float],
    q: float,
    lag: float,
    slope: tuple[float, float],
) -> tuple[Floats, Floats, float]:
    """The dual variables, the weights and the intercept after a sweep over a block.

    known: of its documents the norms, and their weights times their targets; and a seed. point: the
    dual variables of its documents, the weights of its features, and the intercept. slope: as of
    :func:`.dual_ascent.slope_of`.
    """
    (indptr, indices, data), (norms, cy, seed) = block.rows, known
    alpha, w, b = (np.array(part)[..., None] for part in point)
    values, targets = data.astype(np.float32), np.array(cy)[:, None]
    order = shuffled(seed, len(norms))
    moved, least = np.zeros(alpha.shape), np.full(1, -1.0)
    dual_sweep(
        indptr, indices, values, order, norms, targets, q, lag, alpha, w, b, moved, least, *slope
    )
    return alpha[:, 0], w[:, 0], float(b[0])


# What a step is expected to leave of the gap.
FALL = 0.1

# Share of the tolerated gap that a step need not go below: larger here, as passes are dear.
CLOSE = 0.7


@checks_overflow
def ridge_in_blocks(problem: Problem, l2: float, squares: Floats, norms: Floats) -> Solution:
    """Minimize loss + l2 ||w||^2, for l2 above 0.

    Parameters
    ----------
    problem : Problem
        What to fit; its matrix is a :class:`BlockDesign`. ``tol`` is the relative duality gap to
        stop at, ``max_iter`` the most steps.
    l2 : float
        The strength.
    squares, norms : ndarray, shape (p,) and (n,)
        The sum of the squared values of every column, and of every row.

    Returns
    -------
    Solution

    References
    ----------
    yu2010, for the beginning.
    """
    penalty = Separable.constant(problem.design.shape[1], l2=l2)
    engine = Engine(problem, penalty.value)
    assert isinstance(problem.design, BlockDesign)
    rows, bound = BlockRows(problem.design, norms), -np.inf
    if problem.start is None:
        engine.restart(engine.w, problem.intercept_at_zero())
        if ascends(problem.loss) and in_range(problem, norms, 2.0 * l2):
            bound = ascend(engine, rows, 2.0 * l2, problem)
    history: list[Step] = []
    gap, iteration, idle = np.inf, 0, 0
    while True:
        engine.optimize_intercept()
        expected = FALL * gap
        if expected > FAR:
            use_crossing_curvature(engine)
        reading = rows.read(engine, NEGLIGIBLE * share_for(expected))
        # This holds for any dual variables, and so for those of scores that are rounded.
        bound = max(bound, ridge_bound(engine, penalty.q, reading.gradient))
        objective = engine.value + penalty.value(engine.w)
        gap = relative_gap(objective, bound)
        last = gap <= problem.tol or iteration >= problem.max_iter or idle > IDLE
        if last:
            engine.restart(engine.w, engine.b)
            objective = engine.value + penalty.value(engine.w)
            gap = relative_gap(objective, bound)
        history.append(Step(iteration, objective, gap))
        stopped = bool(problem.callback and problem.callback(history[-1]))
        if last or stopped:
            break
        iteration += 1
        enough = Accuracy(share_for(gap), problem.tol * objective)
        fall = _ridge_step(engine, rows, penalty.q, reading, enough)
        idle = idle + 1 if fall <= NOISE * objective else 0
    slope = reading.gradient + penalty.q * engine.w
    return solution_of(problem, engine, slope, squares, history, stopped)


def _ridge_step(
    engine: Engine, rows: BlockRows, q: Floats, reading: Reading, accuracy: Accuracy
) -> float:
    """One Newton step from where the ``reading`` was made; as :func:`.ridge.ridge_step`."""
    z, h = engine.z, engine.h

    def step() -> Advance:
        here = reading
        if engine.z is not z or engine.h is not h:
            here = rows.read(engine, NEGLIGIBLE * accuracy.share)
        return _step(engine, rows, q, here, accuracy)

    return smooth_step(engine, step)


def _step(
    engine: Engine, rows: BlockRows, q: Floats, reading: Reading, accuracy: Accuracy
) -> Advance:
    """The step for the second derivatives of a reading."""
    slope = reading.gradient + q * engine.w
    slope_b = float(engine.r.sum()) if engine.fit_intercept else 0.0
    model = _Model(engine, rows, q, reading)

    def gap(rest: Floats) -> float:
        """That of a fit whose objective has this gradient."""
        return 0.5 * float((rest / q) @ rest)

    # A gap that is small from the start is due to the intercept: then move at all.
    tolerated = min(CLOSE * accuracy.gap, 0.5 * gap(slope))

    def enough(rest: Floats, rest_b: float) -> bool:
        return gap(rest) <= tolerated and gap(model.without_intercept(rest, rest_b)) <= tolerated

    change, change_b, move = conjugate_gradients(
        model,
        (-slope, -slope_b),
        Direction(np.zeros(len(q)), 0.0, np.zeros(len(engine.z))),
        rounds=ROUNDS,
        accuracy=accuracy.share,
        enough=enough,
    )
    rows.scores(reading.flat, change, change_b, move)
    return advance(engine, q, (slope, slope_b), Direction(change, change_b, move))


class _Model:
    """The Hessian of loss and ridge at the scores of a reading, and its preconditioner.

    Of documents that hold next to no curvature it has the diagonal alone.
    """

    def __init__(self, engine: Engine, rows: BlockRows, q: Floats, reading: Reading) -> None:
        self._rows, self._h, self._reading = rows, engine.h, reading
        self._fit_intercept, self._h_sum = engine.fit_intercept, float(engine.h.sum())
        self._flat_b, self._q = float(engine.h[reading.flat].sum()), q + reading.flat_diagonal
        self._inverse = SampledRows(
            reading.diagonal, self._h_sum if engine.fit_intercept else 0.0, q, reading.sample
        )

    def product(self, w: Floats, b: float) -> tuple[Floats, float, Floats]:
        """The Hessian times (w, b), and the scores, 0 where documents are flat."""
        out, scores = self._q * w, np.zeros(len(self._h))
        total = self._rows.product(self._reading.documents, self._h, w, b, scores, out)
        return out, total + self._flat_b * b if self._fit_intercept else 0.0, scores

    def without_intercept(self, rest: Floats, rest_b: float) -> Floats:
        """What a residual of the weights becomes when the intercept takes its own to zero."""
        return rest - (rest_b / self._h_sum) * self._reading.sums if rest_b else rest

    def precondition(self, w: Floats, b: float) -> tuple[Floats, float]:
        """Times the inverse of the preconditioner."""
        return self._inverse.times(w, b)
