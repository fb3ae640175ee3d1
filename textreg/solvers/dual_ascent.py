"""Dual coordinate ascent: ridges of the logistic loss or a hinge, for k labels at once.

    min  sum_i c_i l(y_i (x_i w + b)) + q/2 ||w||^2,    w = X'alpha / q

Every label has a column: of targets and dual variables (n, k), of weights (p, k). A sweep moves
the dual variable of every document in turn to its optimum (hsieh2008 for hinges, yu2011 for the
logistic loss; docs/maths.md, R1), and a row of X that is read for one label is there for sixteen.
After the first sweeps few documents still move: those near the border between the labels. Sweeps
over them alone cost next to nothing, and come as near to the optimum as sweeps over all.

In the dual an intercept is the constraint sum_i alpha_i = 0, which single moves cannot keep. So b
is held near where it was, by the penalty (b - b')^2 / (2 lag), and b' moves to b after every sweep:
the method of multipliers (rockafellar1976).

Between some sweeps each column is certified: its objective at w and the best intercept, and the
dual value at alpha, scaled so that it sums to zero. One within its tolerance leaves the block. What
a label gets has the same bits alone and in any company. All begin at alpha = 0, wherever a problem
says to start: the first sweeps come farther than a look at a start. Where sweeps are slow, as where
documents contradict each other and the ridge is next to nothing, Newton's method goes on.

Documents in blocks, which are never in memory together, are swept one block after the other
(yu2010), those that still move again before the next block is read. In this order sweeps come near
the optimum, but not to it as fast as in memory: for the logistic loss Newton's method goes on.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from textreg._core import threads
from textreg._core.dual import column_conjugates, column_losses, dual_sweep
from textreg.losses import Logistic, Loss, SmoothedHinge, SquaredHinge
from textreg.penalties import Links, Quadratic, Separable
from textreg.records import Design, Floats, Int32s, Int64s, Problem, Solution, Step
from textreg.records.design import Block, BlockDesign
from textreg.solvers.certificate import relative_gap
from textreg.solvers.newton import newtons, quadratic
from textreg.solvers.reduce import compact_rows, is_small, over_merged_columns
from textreg.solvers.state import INTERCEPT_STEPS, checks_overflow, document_norm, finish, told_by

if TYPE_CHECKING:
    from numpy.typing import NDArray

# The losses that sweeps are for; a subclass may differ.
SWEPT = Logistic, SmoothedHinge, SquaredHinge

# Columns that a kernel takes in one go.
WIDTH = 16

# Sweeps before the first certificate, and between two of them.
FIRST_CERTIFICATE, NEXT_CERTIFICATE = 6, 3

# After a sweep over all documents, but for the first SETTLED, as many follow as there were over
# those that it moved by more than MOVING times the mean.
SETTLED, MOVING = 3, 5.0

# Most of these within a block: further ones moved nothing, and each draws an order.
WITHIN = 10

# What the intercept adds to the diagonal of X X' / q, as a share of its mean.
LAG = 0.05

# The share of the memory for blocks that arrays of several labels may fill, by documents and by
# features: so many numbers for each.
ROOM, ARRAYS, WEIGHTS = 0.5, 7, 5

# Sweeps before the rate of the last four certificates counts, and most that may be left at it; else
# Newton's method takes over, which takes as long as 80 to 250 sweeps. In blocks it needs fewer
# passes, and begins after the first certificate; but it needs far more for a hinge.
FIRST_RATE, MOST_LEFT = 22, 120.0

# Largest gap at which others go on from where sweeps have led, and not where the problem says.
HANDOVER = 0.1

# Tolerance below which weights are float64, as sums of float32 are not exact enough.
SINGLE = 1e-6

# Largest square of a row, weight in the ridge's curvature, and such curvature, for float32.
RANGE = 1e20

# The longest first step on the intercepts, and how far from the optimum, in shares of the
# objective, they may end.
INTERCEPT_LENGTH, INTERCEPT_EXACT = 4.0, 1e-18


def suits(problem: Problem, q: float) -> bool:
    """Whether the matrix is sparse and not small, and numbers have the range of float32."""
    design = problem.design
    if type(problem.loss) not in SWEPT:
        return False
    if design.blocks:
        return in_range(problem, design.row_norms(), q)
    return not (is_small(problem) or design.full) and single(problem, q)


def single(problem: Problem, q: float) -> bool:
    """Whether rows, and weights under a ridge of curvature q, have the range of float32."""
    rows = compact_rows(problem.design)
    return rows.arrays[2].dtype == np.float32 and in_range(problem, rows.norms, q)


def in_range(problem: Problem, norms: Floats, q: float) -> bool:
    """Whether squares of rows, weights of documents and their shares have the range of float32."""
    shares = float(problem.sample_weight.max(initial=0.0)) / q
    return max(float(norms.max(initial=0.0)), shares, q) <= RANGE


@checks_overflow
def ridges(problems: Sequence[Problem], l2: float) -> list[Solution]:
    """Minimize loss + l2 ||w||^2, for l2 above 0, for problems that share their matrix.

    Parameters
    ----------
    problems : sequence of Problem
        What to fit, all with the same loss and options; ``tol`` is the relative duality gap to stop
        at, ``max_iter`` the most sweeps.
    l2 : float
        The strength.

    Returns
    -------
    list of Solution
        One for each, the same with the others and without.

    References
    ----------
    hsieh2008 and yu2011, for the sweeps.
    """
    if not problems:
        return []
    design = problems[0].design
    if not design.blocks:
        # Sweeps read compact rows, and the matrix itself for a few certificates alone.
        copied = type(problems[0].loss) not in SWEPT or is_small(problems[0])
        return over_merged_columns(problems, lambda reduced: _solve(reduced, l2), copied=copied)
    most = labels_at_a_time(design)
    parts = [problems[at : at + most] for at in range(0, len(problems), most)]
    return [solution for part in parts for solution in _solve(part, l2)]


def labels_at_a_time(design: Design) -> int:
    """How many labels have room for their arrays of documents and features beside a block."""
    n, p = design.shape
    return int(np.clip(ROOM * design.memory / (8.0 * (ARRAYS * n + WEIGHTS * p)), 1, WIDTH))


def _solve(problems: Sequence[Problem], l2: float) -> list[Solution]:
    """Sweeps by those whom they suit, and Newton's method for all others."""
    fits = {k: RidgeFit(problem) for k, problem in enumerate(problems) if suits(problem, 2.0 * l2)}
    if fits:
        _ascend(list(fits.values()), 2.0 * l2)
    remaining = [at for at in range(len(problems)) if at not in fits or fits[at].slow]
    left = [fits[at].rest() if at in fits else problems[at] for at in remaining]
    solved = dict(zip(remaining, _by_newton(left, l2) if left else [], strict=True))
    return [
        fits[at].solution(solved.get(at)) if at in fits else solved[at]
        for at in range(len(problems))
    ]


def _by_newton(problems: Sequence[Problem], l2: float) -> list[Solution]:
    """By coordinate descent in memory; by products in blocks, or where one step is enough."""
    p = problems[0].design.shape[1]
    if not problems[0].design.blocks and problems[0].loss.third_derivative_bound > 0.0:
        return newtons(problems, Separable.constant(p, l2=l2))
    from scipy.sparse import csr_array

    penalty = Quadratic(Links(csr_array((0, p))), 0.0, l2)
    return [quadratic(problem, penalty) for problem in problems]


class RidgeFit:
    """How far the fit of one label has come.

    w, b, objective: (p,) and numbers, of the best certificate. residual: the largest derivative of
    the objective at the last one. slow: whether Newton's method had better go on.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem, self.history = problem, list[Step]()
        self.bound, self.slow, self._stopped = -np.inf, False, False
        self.w, self.b, self.objective, self.residual = np.empty(0), 0.0, np.inf, np.nan

    def take(self, certificate: Certificate, at: int, ascent: Ascent) -> bool:
        """Take what was certified of column ``at``; whether the fit has ended."""
        problem, sweeps, objective = self.problem, ascent.sweeps, float(certificate.objective[at])
        self.bound = max(self.bound, float(certificate.bound[at]))
        if objective <= self.objective:
            self.objective, self.w, self.b = objective, certificate.w[at], float(certificate.b[at])
        gap = relative_gap(self.objective, self.bound)
        self.history.append(Step(sweeps, self.objective, gap))
        self._stopped = problem.stops(self.history[-1])
        ended = self._stopped or gap <= problem.tol or sweeps >= problem.max_iter
        before = self.history[-5:][0]
        left = sweeps_left(gap, before.gap, sweeps - before.iteration, problem.tol)
        self.slow = not ended and sweeps > ascent.first_rate and left > ascent.most_left
        return ended or self.slow

    def rest(self) -> Problem:
        """What is left for Newton's method where sweeps were slow."""
        end = self.history[-1]
        start = (self.w, self.b) if end.gap <= HANDOVER else self.problem.start
        return self.problem.replace(start=start, max_iter=self.problem.max_iter - end.iteration)

    def solution(self, continued: Solution | None) -> Solution:
        """What it has come to. continued: what Newton's method has, where it went on."""
        problem, end = self.problem, self.history[-1]
        if continued is not None:
            return replace(continued, iterations=end.iteration + continued.iterations)
        fields = told_by(self.history, converged=end.gap <= problem.tol)
        solution = Solution(w=self.w, b=self.b, residual=self.residual, **fields)
        return finish(problem, solution, "sweeps", stopped=self._stopped)


class Certificate(NamedTuple):
    """What is known of k columns after some sweeps.

    w: (k, p) weights. b: (k,) intercepts. objective, bound: (k,). scores: (n, k), without b.
    """

    w: Floats
    b: Floats
    objective: Floats
    bound: Floats
    scores: Floats


def sweeps_left(distance: float, farther: float, sweeps: int, goal: float) -> float:
    """How many sweeps are left to a distance of ``goal``, where the last ones came from farther."""
    if not 0.0 < distance < farther:
        return math.inf
    return sweeps * math.log(distance / goal) / math.log(farther / distance)


def _ascend(fits: Sequence[RidgeFit], q: float) -> None:
    """Sweep until every fit has ended."""
    problems, left = [fit.problem for fit in fits], list(fits)
    ascent = (BlockAscent if problems[0].design.blocks else Ascent)(problems, q)
    most = min(fit.problem.max_iter for fit in fits)
    while left:
        ascent.sweep(
            min(NEXT_CERTIFICATE if ascent.sweeps else FIRST_CERTIFICATE, most - ascent.sweeps)
        )
        certificate = ascent.certify()
        ended = [fit.take(certificate, at, ascent) for at, fit in enumerate(left)]
        if any(ended):
            over = np.flatnonzero(ended)
            residuals = ascent.residuals(certificate, over)
            for at, residual in zip(over.tolist(), residuals, strict=True):
                left[at].residual = residual
            left = [fit for fit, end in zip(left, ended, strict=True) if not end]
            ascent.keep(np.flatnonzero(~np.array(ended)))


class Ascent:
    """The dual variables of k labels, and the weights that belong to them.

    Columns are filled up to a number that kernels take in one go, by copies of the last.

    Parameters
    ----------
    problems : sequence of Problem
        Those of the labels, with the same matrix, loss and options.
    q : float
        Curvature of the penalty.

    Attributes
    ----------
    cy, alpha : ndarray, shape (n, columns)
        The weights of the documents times their targets, and the dual variables.
    W : ndarray, shape (features, columns)
        X'alpha / q, in the order of :class:`.CompactRows`; float32 if tolerances allow it.
    b : ndarray, shape (columns,)
        The intercepts.
    q, lag : float
        Curvature of the penalty, and what the intercept adds to the diagonal, 0 without one.
    slope : tuple of float
        See :func:`slope_of`.
    sweeps : int
        How many there have been over all documents.
    first_rate, most_left : float
        Sweeps before the rate counts, and most that may be left at it.
    """

    first_rate, most_left = FIRST_RATE, MOST_LEFT

    def __init__(self, problems: Sequence[Problem], q: float) -> None:
        first = problems[0]
        self._design, self._problems = first.design, list(problems)
        norms = self._norms = self._squared_norms()
        self.q, self.slope, self.sweeps = q, slope_of(first.loss), 0
        self._intercept = first.fit_intercept
        self.lag = LAG * float(norms.mean()) / q if first.fit_intercept else 0.0
        tight = min(problem.tol for problem in problems) < SINGLE
        kind = np.float64 if tight else np.float32
        self.cy = np.stack([problem.sample_weight * problem.y for problem in problems], axis=1)
        self.alpha = np.zeros(self.cy.shape)
        self.W: NDArray[Any] = np.zeros((first.design.shape[1], len(problems)), dtype=kind)
        self.b = np.array([problem.intercept_at_zero() for problem in problems])
        if not self.lag:  # documents without a value do not move: these have -l' at their score
            empty, rate = norms == 0.0, min(self.slope[1], self.slope[0] or 0.5)
            self.alpha[empty] = rate * self.cy[empty]
        self.keep(np.arange(len(problems)))

    def keep(self, columns: NDArray[np.intp]) -> None:
        """Go on with some columns alone, and fill up."""
        self._problems = [self._problems[at] for at in columns]
        padded = columns[np.minimum(np.arange(width(len(columns))), len(columns) - 1)]
        for name in ("cy", "alpha", "W", "b"):
            setattr(self, name, np.ascontiguousarray(getattr(self, name)[..., padded]))

    def sweep(self, count: int) -> None:
        """So many more sweeps over all documents, each followed by those over what still moves."""
        for _ in range(count):
            again = self.sweeps + 1 if self.sweeps >= SETTLED else 0
            self._sweep(Sweep(self.sweeps, again, self.q, self.slope, self.lag, self.lag))
            self.sweeps += 1

    def _squared_norms(self) -> Floats:
        """(n,) of the rows."""
        return compact_rows(self._design).norms

    def _sweep(self, sweep: Sweep) -> None:
        """One of these sweeps."""
        point = self.alpha, self.W, self.b
        sweep_rows(compact_rows(self._design).arrays, self._norms, self.cy, point, sweep)

    def _weights(self) -> Floats:
        """(labels, p) The weights in the order of the features."""
        rows, columns = compact_rows(self._design), self.W.T[: len(self._problems)]
        return np.stack([rows.expand(column) for column in columns.astype(np.float64)])

    def certify(self) -> Certificate:
        """Objectives at the present weights and the best intercepts, and lower bounds of them."""
        k, q = len(self._problems), self.q
        w = self._weights()
        scores = self._design.product(np.ascontiguousarray(w.T))
        b, losses = self._best_intercepts(scores)
        alpha = self.alpha[:, :k].copy()
        if self._intercept:
            balance(alpha)
        bound = np.empty(k)
        column_conjugates(alpha, np.ascontiguousarray(self.cy[:, :k]), bound, *self.slope)
        products = self._design.transposed_product(alpha)
        bound -= 0.5 / q * squared_lengths(products.T)
        return Certificate(w, b, losses + 0.5 * q * squared_lengths(w), bound, scores)

    def _best_intercepts(self, scores: Floats) -> tuple[Floats, Floats]:
        """(k,) The intercepts of least loss at these scores, and that loss.

        Newton's method in b, within points that are known to enclose the optimum.
        """
        k = scores.shape[1]
        cy, b = np.ascontiguousarray(self.cy[:, :k]), self.b[:k].copy()
        value, slope, bend = np.empty(k), np.empty(k), np.empty(k)
        low, high, longest = np.full(k, -np.inf), np.full(k, np.inf), INTERCEPT_LENGTH
        for step in range(INTERCEPT_STEPS):
            column_losses(scores, cy, b, value, slope, bend, *self.slope)
            far = slope * slope > INTERCEPT_EXACT * np.maximum(bend, INTERCEPT_EXACT) * value
            if not self._intercept or not far.any() or step == INTERCEPT_STEPS - 1:
                break
            low, high = np.where(slope < 0.0, b, low), np.where(slope < 0.0, high, b)
            change = np.divide(-slope, bend, out=-np.sign(slope) * np.inf, where=bend > 0.0)
            to = b + np.clip(change, -longest, longest)
            middle = np.where(np.isfinite(low + high), 0.5 * (low + high), to)
            b = np.where(far, np.where((to > low) & (to < high), to, middle), b)
            longest *= 2.0
        return b, value

    def residuals(self, certificate: Certificate, columns: NDArray[np.intp]) -> list[float]:
        """The largest derivative of the objective in a weight or the intercept, of some columns."""
        r, h = np.empty((len(self.cy), len(columns))), np.empty(len(self.cy))
        for at, column in enumerate(columns.tolist()):
            problem, derivatives = self._problems[column], np.empty(len(self.cy))
            z = certificate.scores[:, column] + certificate.b[column]
            problem.loss.derivatives(z, problem.y, problem.sample_weight, derivatives, h)
            r[:, at] = derivatives
        gradients = self._design.transposed_product(r)
        gradients += self.q * certificate.w[columns].T
        intercepts = np.abs(column_sums(r)) if self._intercept else np.zeros(len(columns))
        intercepts *= document_norm(self._design)
        largest: Floats = np.maximum(np.abs(gradients).max(axis=0, initial=0.0), intercepts)
        return list(largest)


class BlockAscent(Ascent):
    """The same of documents in blocks: W has the order of the features."""

    _design: BlockDesign

    def __init__(self, problems: Sequence[Problem], q: float) -> None:
        super().__init__(problems, q)
        smooth = isinstance(problems[0].loss, Logistic)
        self.first_rate, self.most_left = 0, 0.0 if smooth else math.inf

    def _squared_norms(self) -> Floats:
        """(n,) of the rows."""
        return self._design.row_norms()

    def _sweep(self, sweep: Sweep) -> None:
        """One block after the other; b' moves when all were read."""
        self._design.count_pass()
        design, cuts = self._design, pairwise(self._design.starts.tolist())
        sweep = sweep._replace(again=min(sweep.again, WITHIN), shift=0.0)
        blocks = zip(design.blocks, cuts, design.features_of_blocks(), strict=True)
        for number, (block, cut, features) in enumerate(blocks):
            rows = slice(*cut)
            point = self.alpha[rows], self.W[features], self.b
            arguments = self._norms[rows], self.cy[rows], point, sweep._replace(block=number)
            results = design.map(swept_block, *([arg] for arg in arguments), blocks=[block])
            self.alpha[rows], self.W[features], self.b = next(results)
        self.b = self.b + self.lag * column_sums(self.alpha)

    def _weights(self) -> Floats:
        """(labels, p) The weights."""
        return np.ascontiguousarray(self.W.T[: len(self._problems)], dtype=np.float64)


# Offsets, columns and float32 values of documents; and alpha, W and b of an ascent.
Rows = tuple[Int64s, Int32s, "NDArray[Any]"]
Point = tuple[Floats, "NDArray[Any]", Floats]


def swept_block(block: Block, norms: Floats, cy: Floats, point: Point, sweep: Sweep) -> Point:
    """The dual variables, the weights and the intercepts after a sweep over a block."""
    indptr, indices, data = block.rows
    alpha, W, b = (np.array(part) for part in point)  # as what is sent is read-only
    sweep_rows((indptr, indices, data.astype(np.float32)), norms, cy, (alpha, W, b), sweep)
    return alpha, W, b


class Sweep(NamedTuple):
    """A sweep over documents, and how many follow over those that it moves.

    number: of sweeps before it. slope, q, lag: as of :class:`Ascent`. shift: times the sum of alpha
    what b' moves by after it. block: the number of the block.
    """

    number: int
    again: int
    q: float
    slope: tuple[float, float]
    lag: float
    shift: float
    block: int = 0


def sweep_rows(rows: Rows, norms: Floats, cy: Floats, point: Point, sweep: Sweep) -> None:
    """Move the ``point`` by such sweeps, in place. norms: (n,) the squares of the rows."""
    alpha, W, b = point
    n, k, moved = len(cy), len(b), np.zeros(cy.shape)

    def over(order: Int32s, least: Floats) -> None:
        """One over documents that have moved by ``least`` (k,); threads share the columns."""

        def sweep_piece(_: int, piece: int) -> None:
            first = WIDTH * piece
            dual_sweep(
                *rows, order, norms, cy, sweep.q, sweep.lag, alpha, W, b, moved, least,
                *sweep.slope, first, min(first + WIDTH, k),
            )  # fmt: skip

        threads.share(sweep_piece, -(-k // WIDTH))

    over(shuffled((sweep.number, 0, sweep.block), n), np.full(k, -1.0))
    b += sweep.shift * column_sums(alpha)
    least = np.maximum(MOVING * column_sums(moved) / max(n, 1), np.finfo(np.float64).tiny)
    moving = np.flatnonzero(np.any(moved >= least, axis=1)).astype(np.int32)
    for again in range(sweep.again):
        # In a random order: which of two comes first does not depend on the others.
        keys = np.random.default_rng((sweep.number + 1, again, sweep.block)).random(n)
        over(moving[np.argsort(keys[moving])], least)


def width(count: int) -> int:
    """A number of columns that the kernels take in one go, or ``count`` where there are more."""
    return 1 << (count - 1).bit_length() if 0 < count <= WIDTH else count


def shuffled(seed: int | Sequence[int], number: int) -> Int32s:
    """The order in which a sweep takes so many documents."""
    order: Int32s = np.random.default_rng(seed).permutation(number).astype(np.int32)
    return order


def slope_of(loss: Loss) -> tuple[float, float]:
    """How the slope of a loss that sweeps are for depends on the margin (R1 to R2).

    (k, s) for a hinge whose slope at the margin m is -min(s, max(0, k (1 - m))); (0, 1) for the
    logistic loss.
    """
    if isinstance(loss, SmoothedHinge):
        return 1.0 / loss.smoothing, 1.0
    return (2.0, np.inf) if isinstance(loss, SquaredHinge) else (0.0, 1.0)


def column_sums(block: Floats) -> Floats:
    """(k,) of (n, k), each summed in the same order whatever columns are beside it."""
    sums: Floats = np.ascontiguousarray(block.T).sum(axis=1)
    return sums


def squared_lengths(rows: Floats) -> Floats:
    """(k,) of (k, p), the same."""
    return np.array([row @ row for row in np.ascontiguousarray(rows)])


def balance(alpha: Floats) -> None:
    """Make every column sum to zero, in place: the sign of the larger sum is scaled down (D2)."""
    positive = np.where(alpha > 0.0, alpha, 0.0)
    above, below = column_sums(positive), column_sums(positive - alpha)
    smaller = np.minimum(above, below)
    up, down = (
        np.divide(smaller, side, out=np.zeros_like(side), where=side > 0.0)
        for side in (above, below)
    )
    alpha *= np.where(alpha > 0.0, up, down)
