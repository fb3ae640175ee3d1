"""Proximal Newton by coordinate descent: lasso, ridge, elastic net, and no penalty at all.

    min  sum_i c_i l(y_i, x_i w + b) + sum_j lam_j |w_j| + 1/2 q_j (w_j - mu_j)^2

Each round determines the active set, the features that are in the model or would enter it, and
makes a step of the engine over it, or several while far from the optimum. The method is that of
Yuan, Ho & Lin (2012) for the l1 part, with conjugate gradients for the nonzero weights.

And Newton's method with conjugate gradients, for quadratic penalties that tie weights together:

    min  sum_i c_i l(y_i, x_i w + b) + w.M w,    M = strength R'R + l2 I

as the penalties of a graph are (sandler2008, eq. (1)). M is never formed: a step needs products
with X, X', R and R' alone. The equations of a step are solved only as exactly as the next step can
make use of (dembo1982), preconditioned by an incomplete Cholesky factor: the links of words make
chains, along which a diagonal preconditioner carries information one link per iteration, and a pass
through a triangular factor all the way.

For any alpha with sum_i alpha_i = 0, with t = X'alpha and any w,

    sum_i -c_i l*(-alpha_i / c_i) - (t.w - w.M w) - sum_j (t - 2 M w)_j^2 / (4 m_j)

is a lower bound of the minimum. For sup_v t.v - v.M v, the conjugate of the penalty, is at most the
sum of the last two terms if v.M v >= sum_j m_j v_j^2: expand it at w and bound the quadratic part.
m_j is l2 and what rows of R add that hold feature j alone.

Without links the squared loss has the dual of kernel ridge regression: linear equations, one a
document, which are solved at once where they are few (saunders1998).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import count

import numpy as np

from textreg._core.cholesky import solve_normal
from textreg.losses import SmoothedHinge, Squared
from textreg.penalties import Links, Quadratic, Separable
from textreg.records import Design, Floats, Int32s, Problem, Solution, Step
from textreg.solvers.certificate import (
    UNBALANCED,
    Bound,
    conjugate_bound,
    dual_scores,
    dual_value,
    relative_gap,
    separable_bound,
    value_of,
)
from textreg.solvers.linear_algebra import (
    ROUNDS,
    Advance,
    Direction,
    backtrack,
    conjugate_gradients,
    step_with_fallback,
)
from textreg.solvers.proximal import proximal
from textreg.solvers.reduce import merge_parallel_columns
from textreg.solvers.state import (
    IDLE,
    MOST_EFFORT,
    NOISE,
    ROUGH_GAP,
    SHORT,
    Approached,
    Engine,
    approach,
    checks_overflow,
    document_norm,
    finish,
    slope_of_intercept,
    strongest_l1,
    strongest_ridge,
    told_by,
    underflowed,
)

# Most rounds of coordinate descent in a step: its model is not one of a majorizer that changes.
MOST_PASSES = 5

# Steps go on over one active set as long as each lowers the objective by this share.
DECREASE = 0.03

# A decrease below this share of the objective doubles the effort.
LITTLE = 1e-3


def newton(problem: Problem, penalty: Separable) -> Solution:
    """Minimize loss + penalty for a penalty on single weights.

    Parameters
    ----------
    problem : Problem
        What to fit; ``tol`` is the relative duality gap to stop at, ``max_iter`` the most steps.
    penalty : Separable
        l1 and quadratic penalties of every weight.

    Returns
    -------
    Solution
        If some weight has no penalty there is no useful lower bound: the gap is NaN, and the solver
        stops when the largest violation of the optimality conditions is ``tol`` times the larger of
        the gradient at zero weights and the largest violation seen.

    References
    ----------
    yuan2012; friedman2010 for coordinate descent.
    """
    return newtons([problem], penalty)[0]


@checks_overflow
def newtons(problems: Sequence[Problem], penalty: Separable) -> list[Solution]:
    """The same for problems that share a matrix: their gradients are one product with it.

    Parameters
    ----------
    problems : sequence of Problem
        As of :func:`newton`.
    penalty : Separable
        That of each.

    Returns
    -------
    list of Solution
        One for each, the same with the others and without.
    """
    if not problems[0].loss.convex:
        return [proximal(problem, penalty) for problem in problems]
    near = [_approached(problem, penalty) for problem in problems]
    fits = _fitted([before.problem for before in near], penalty)
    return [
        finish(problem, fit.solution(), "Newton steps", stopped=fit.stopped, before=before)
        for problem, before, fit in zip(problems, near, fits, strict=True)
    ]


def unpenalized(problem: Problem) -> Solution:
    """The same without a penalty, with parallel columns merged: the loss cannot tell them apart."""

    def solve(problems: Sequence[Problem]) -> list[Solution]:
        return newtons(problems, Separable.constant(problems[0].design.shape[1]))

    if problem.design.full:
        return solve([problem])[0]
    return merge_parallel_columns(problem.design).solve([problem], solve)[0]


def _approached(problem: Problem, penalty: Separable) -> Approached:
    """A weak l1 penalty, or a weak ridge of all weights, from stronger ones.

    Steps from a start that is not near the optimum of a hinge are shorter than those from none.
    """

    def fitted(part: Problem, stronger: Separable) -> Solution:
        return _fitted([part], stronger)[0].solution()

    start = problem.start
    if isinstance(problem.loss, SmoothedHinge) and start is not None and start[0].any():
        look = problem.replace(callback=lambda _: True)
        if not fitted(look, penalty).gap <= ROUGH_GAP:
            problem = problem.replace(start=None)
    if penalty.lam.any() or penalty.mu.any() or not penalty.q.all():
        return approach(
            problem,
            lambda part: strongest_l1(part, penalty.lam),
            lambda part, k: fitted(part, penalty.times(k)),
        )
    return approach(
        problem,
        lambda part: strongest_ridge(part, penalty.q),
        lambda part, k: fitted(part, Separable(k * penalty.q, penalty.mu, penalty.lam)),
    )


def _fitted(problems: Sequence[Problem], penalty: Separable) -> list[NewtonFit]:
    """The fits of problems from where they say, after their last step."""
    design = problems[0].design
    fits = [NewtonFit(problem, penalty) for problem in problems]
    while stepping := [fit for fit in fits if not fit.ended]:
        r = np.stack([fit.engine.r for fit in stepping], axis=1)
        gradients = design.transposed_product(r)
        for step, gradient in zip(stepping, gradients.T, strict=True):
            step.step(gradient)
    return fits


class NewtonFit:
    """The fit of one label, its intercept at its optimum.

    ended, stopped: whether no step is next, and whether the caller wanted that.
    """

    def __init__(self, problem: Problem, penalty: Separable) -> None:
        self._problem, self._penalty = problem, penalty
        engine = self.engine = Engine.begun(problem, penalty.value)
        engine.optimize_intercept()
        self._free = bool((penalty.lam + penalty.q == 0.0).any())
        self._scale = problem.largest_gradient_at_zero() if self._free else 0.0
        self._norm = document_norm(problem.design)
        self._history, self._bound = list[Step](), Bound(-np.inf, engine.r)
        self._decrease, self._effort = math.inf, 1
        self._residual, self._iterations, self._idle = 0.0, 0, 0
        self.ended = self.stopped = self._converged = False

    def step(self, gradient: Floats) -> None:
        """Look at the gap, and take the next steps. gradient: (p,) that of the loss."""
        problem, penalty, engine = self._problem, self._penalty, self.engine
        active = engine.active(penalty, gradient)
        objective = engine.value + penalty.of(active, engine.w[active])
        self._residual = max(
            violation(engine, penalty, gradient, active), self._norm * slope_of_intercept(engine)
        )
        gap = self._gap(objective, gradient, active)
        self._history.append(Step(self._iterations, objective, gap))
        self.stopped = problem.stops(self._history[-1])
        self._idle = self._idle + 1 if self._decrease <= NOISE * objective else 0
        over = self._iterations >= problem.max_iter or self._idle > IDLE
        self.ended = self._converged or self.stopped or over
        if not self.ended:
            self._descend(active, objective)

    def _gap(self, objective: float, gradient: Floats, active: Int32s) -> float:
        """The relative gap, NaN where there is no bound; and whether the fit has converged."""
        problem, penalty, engine = self._problem, self._penalty, self.engine
        if self._free:
            self._scale = max(self._scale, self._residual)
            self._converged = self._residual <= problem.tol * self._scale
            return math.nan
        if penalty.mu.any():
            latest = Bound(conjugate_bound(engine, penalty.conjugate), dual_scores(engine))
        else:
            latest = separable_bound(engine, penalty, gradient, active)
        self._bound = max(self._bound, latest, key=value_of)
        gap = relative_gap(objective, self._bound.value)
        self._converged = gap <= problem.tol
        return gap

    def _descend(self, active: Int32s, objective: float) -> None:
        """Some steps over an active set."""
        engine, penalty, most = self.engine, self._penalty, self._problem.max_iter
        while True:
            self._iterations += 1
            self._decrease = engine.step(active, penalty, self._effort, passes=MOST_PASSES)
            engine.optimize_intercept()
            if self._decrease < DECREASE * objective or self._iterations >= most:
                break
        # Near the optimum Newton's method converges fast, unless the model is solved too loosely.
        little = self._decrease < LITTLE * objective
        self._effort = min(2 * self._effort, MOST_EFFORT) if little else max(self._effort // 2, 1)

    def solution(self) -> Solution:
        """What the steps have come to."""
        return Solution(
            w=self.engine.w,
            b=self.engine.b,
            residual=self._residual,
            alpha=None if self._free else self._bound.alpha,
            **told_by(self._history, converged=self._converged),
        )


def violation(engine: Engine, penalty: Separable, gradient: Floats, active: Int32s) -> float:
    """Largest violation of the optimality conditions of the weights.

    gradient: (p,) of the loss. active: the active set that it gives.
    """
    w, lam = engine.w[active], penalty.lam[active]
    smooth = gradient[active] + penalty.q[active] * (w - penalty.mu[active])
    off = np.where(w == 0.0, np.abs(smooth) - lam, np.abs(smooth + lam * np.sign(w)))
    return float(off.max(initial=0.0))


class IncompleteCholesky:
    """Upper triangular T with T'T near A = strength R'R + diag(d), for any strength and d.

    Parameters
    ----------
    links : Links
        R, over features and virtual features.

    Notes
    -----
    Variables are ordered by the number of rows of R they occur in, virtual features last. The
    pivot of a row r of R is its largest entry in absolute value, the first of these in that order;
    entries before the pivot are dropped. With U the part of sum_k r_k,pivot r_k to the right of the
    diagonal, and D the diagonal of A,

        T = D^(-1/2) (D + strength U)        (docs/networks.md, N4)

    Where every row of R holds a pair of linked features, R'R is a Laplacian and A = D + U' + U, so
    T'T = (D + U') D^-1 (D + U) is the symmetric Gauss-Seidel preconditioner. Where a row holds a
    feature with all its neighbors, T is most of R itself.
    """

    def __init__(self, links: Links) -> None:
        from scipy.sparse import csr_array

        rows, self.p = links.rows, links.p
        size = rows.shape[1]
        variables = np.arange(size)
        occurrences = np.bincount(rows.indices, minlength=size)
        self._order = np.lexsort((variables, occurrences, variables >= self.p))
        position = np.empty_like(variables)
        position[self._order] = variables
        column, value = position[rows.indices], rows.data
        self._squares = np.bincount(column, value**2, size)

        nonempty = np.flatnonzero(np.diff(rows.indptr))
        begin, length = rows.indptr[nonempty], np.diff(rows.indptr)[nonempty]
        largest = np.repeat(np.maximum.reduceat(np.abs(value), begin), length)
        candidates = np.where(np.abs(value) == largest, column, size)
        pivot = np.repeat(np.minimum.reduceat(candidates, begin), length)
        factor = np.repeat(value[column == pivot], length)
        right = column > pivot
        # Zeros on the diagonal reserve the first entry of every row for it.
        entries = np.append(np.zeros(size), (factor * value)[right])
        where = np.append(variables, pivot[right]), np.append(variables, column[right])
        U = csr_array((entries, where), shape=(size, size))
        U.sum_duplicates()
        self._indptr, self._indices = U.indptr.astype(np.int64), U.indices.astype(np.int32)
        self._entries, self._length = U.data, np.diff(U.indptr)

    def inverse(self, strength: float, d: Floats) -> Callable[[Floats], Floats]:
        """Multiplication of a vector (p,) by (T'T)^-1; d: (p,), 0 or more."""
        diagonal = self._ordered(d) + strength * self._squares
        diagonal[diagonal <= 0.0] = 1.0  # a variable in no row and without curvature
        root = np.sqrt(diagonal)
        data = strength * self._entries / np.repeat(root, self._length)
        data[self._indptr[:-1]] = root

        def multiply(values: Floats) -> Floats:
            x = self._ordered(values)
            solve_normal(self._indptr, self._indices, data, x)
            solved = np.empty_like(x)
            solved[self._order] = x
            return solved[: self.p]

        return multiply

    def _ordered(self, values: Floats) -> Floats:
        """Values of the features (p,) in the order of the variables.

        Virtual features get zeros: they are at their optimum, so their gradient is zero.
        """
        padded = np.zeros(len(self._order))
        padded[: self.p] = values
        return padded[self._order]


# Largest and smallest share of the gradient that a step may leave.
ROUGH, FINE = 0.3, 1e-3

# Share of the tolerated gap to which a step goes, at most, where its products are passes.
CLOSE = 0.7


@checks_overflow
def quadratic(problem: Problem, penalty: Quadratic) -> Solution:
    """Minimize loss + penalty for a quadratic penalty.

    Parameters
    ----------
    problem : Problem
        What to fit; ``tol`` is the relative duality gap to stop at.
    penalty : Quadratic
        w.M w.

    Returns
    -------
    Solution
        Without a ridge there is no lower bound: the gap is NaN, and the solver stops when the
        largest entry of the gradient is ``tol`` times the largest at the start.

    References
    ----------
    sandler2008; dembo1982, for the accuracy of a step.
    """
    near = _from_kernel(problem, penalty)
    problem, newton = near.problem, NewtonSteps(near.problem, penalty)
    engine, norm = newton.engine, document_norm(problem.design)
    # The model of a quadratic loss is the problem itself: one long step comes to the optimum.
    exact = problem.loss.third_derivative_bound == 0.0 and penalty.l2 > 0.0
    history, bound, gap, first, idle = list[Step](), -np.inf, math.inf, 0.0, 0

    def stop() -> bool:
        return problem.stops(history[-1])

    for iteration in range(problem.max_iter + 1):
        engine.optimize_intercept()
        gradient, objective = newton.gradient_and_objective()
        residual = max(float(np.abs(gradient).max(initial=0.0)), norm * slope_of_intercept(engine))
        first = max(first, residual)
        if penalty.l2 > 0.0:
            bound = max(bound, newton.bound())
            gap = relative_gap(objective, bound)
            converged = gap <= problem.tol
        else:
            gap, converged = math.nan, residual <= problem.tol * first
        history.append(Step(iteration, objective, gap))
        stopped = stop()
        ended = converged or stopped or residual == 0.0  # no step gains where no slope is left
        if ended or iteration == problem.max_iter or idle >= IDLE:
            break
        share = 0.0 if exact else min(ROUGH, max(FINE, math.sqrt(residual / first)))
        enough = CLOSE * problem.tol * objective if exact or problem.design.blocks else 0.0
        idle = idle + 1 if newton.step(share, enough, stop) <= NOISE * objective else 0

    fields = told_by(history, converged=converged)
    solution = Solution(w=engine.w, b=engine.b, residual=residual, **fields)
    return finish(problem, solution, "Newton steps", stopped=stopped, before=near)


# Most documents, and pairs of them for each value of the matrix, whose kernel is solved at once.
FEW, PAIRS = 3000, 10

# A feature in this share of the documents is frequent; and columns that are made dense together.
FREQUENT, PIECE = 0.1, 256

# Largest condition of these equations for which rounding is of no concern.
WELL = 1e10


def _from_kernel(problem: Problem, penalty: Quadratic) -> Approached:
    """A ridge begun at its solution where the loss is squared and documents are few (R4)."""
    design, q, as_it_is = problem.design, 2.0 * penalty.l2, Approached(problem, 0, False)
    if type(problem.loss) is not Squared or penalty.links.rows.nnz or design.blocks or design.full:
        return as_it_is
    n, p = design.shape
    if not n <= min(p, FEW) or n * n > PAIRS * design.values:
        return as_it_is
    from scipy.linalg import solve

    # (S K S / q + I) beta = S (y - b), alpha = S beta, sum_i alpha_i = 0
    K, c = design.cache.get("kernel", lambda: kernel(design)), problem.sample_weight
    if not 0.0 < float(c @ K.diagonal()) <= WELL * q:  # the trace of S K S
        return as_it_is
    s = np.sqrt(c)
    A = s[:, None] / q * K * s
    A.flat[:: n + 1] += 1.0
    u, v = solve(A, np.stack([s * problem.y, s], axis=1), overwrite_a=True, assume_a="pos").T
    b = float(s @ u) / float(s @ v) if problem.fit_intercept else 0.0
    w = design.transposed_product(s * (u - b * v)) / q
    return Approached(problem.replace(start=(w, b)), 1, False)


def kernel(design: Design) -> Floats:
    """(n, n) X X'; that of frequent features by dense products, which are quicker there."""
    X, frequent = design.X_csc, design.sizes >= FREQUENT * design.shape[0]
    rare, columns = X[:, ~frequent], np.flatnonzero(frequent)
    K: Floats = (rare @ rare.T).toarray()
    for at in range(0, len(columns), PIECE):
        piece = X[:, columns[at : at + PIECE]].toarray()
        K += piece @ piece.T
    return K


class NewtonSteps:
    """An engine, the penalty at its weights, and steps that lower the sum of both.

    product: M w at the engine's weights w. Code that moves these must update it.
    """

    def __init__(self, problem: Problem, penalty: Quadratic) -> None:
        engine = self.engine = Engine.begun(problem, penalty.value)
        self.penalty = penalty
        self.preconditioner = None  # without links the diagonal is all there is
        if penalty.links.rows.nnz:
            self.preconditioner = penalty.links.cache.get(
                "incomplete Cholesky", lambda: IncompleteCholesky(penalty.links)
            )
        self.product = penalty.product(engine.w)
        self._scores, self._gradient = np.empty(0), np.empty(0)

    def gradient(self) -> Floats:
        """(p,) Of the loss at the present scores; computed once for them, as it is a pass."""
        if self._scores is not self.engine.z:
            self._scores, self._gradient = self.engine.z, self.engine.gradient()
        return self._gradient

    def gradient_and_objective(self) -> tuple[Floats, float]:
        """Both at the present weights; the gradient (p,) is that in w."""
        penalty = max(float(self.engine.w @ self.product), 0.0)  # below it by rounding alone
        return self.gradient() + 2.0 * self.product, self.engine.value + penalty

    def bound(self) -> float:
        """A lower bound of the optimum from the present scores and weights."""
        engine, w = self.engine, self.engine.w
        alpha, t = dual_scores(engine), -self.gradient()
        if slope_of_intercept(engine) > UNBALANCED * float(np.abs(alpha).sum()):
            t = engine.design.transposed_product(alpha)
        rest = t - 2.0 * self.product
        excess = float((rest / self.penalty.floor) @ rest) / 4.0
        conjugate = float(t @ w) - float(w @ self.product) + excess  # an upper bound of it
        return dual_value(engine, alpha) - conjugate

    def step(self, share: float, gap: float = 0.0, stop: Callable[[], bool] = bool) -> float:
        """One step, the model solved down to ``share`` of its gradient, or to that absolute gap.

        Where the share is 0, conjugate gradients may take ten times as many rounds, and
        end early where ``stop``, asked now and then, says so (``bool`` never does).

        Returns the decrease of the objective.
        """
        engine = self.engine

        def trusted() -> Advance:
            if underflowed(engine):
                return Advance(0.0, 0.0)
            return engine.damped(lambda: self._step(share, gap, stop))

        return step_with_fallback(
            trusted, engine.use_curvature_bound, failed=lambda advance: advance.length < SHORT
        )

    def _step(self, share: float, gap: float, stop: Callable[[], bool]) -> Advance:
        """The step for the second derivatives as they stand."""
        engine = self.engine
        model, (gradient, _) = _NewtonModel(self), self.gradient_and_objective()
        residual = -gradient, -float(engine.r.sum()) if engine.fit_intercept else 0.0
        zero = Direction(np.zeros(len(gradient)), 0.0, np.zeros(len(engine.z)))
        # A gap that is small from the start is due to the intercept: then move at all.
        gap = min(gap, 0.5 * model.gap(gradient)) if gap else 0.0

        asked = count(1)

        def enough(rest: Floats, rest_b: float) -> bool:
            if next(asked) % ROUNDS == 0 and stop():
                return True
            return model.gap(rest) <= gap and model.gap(model.at_best_b(rest, rest_b)) <= gap

        rounds = ROUNDS if share else 10 * ROUNDS
        change = conjugate_gradients(
            model, residual, zero, rounds=rounds, accuracy=share, enough=enough if gap else None
        )
        slope = -(float(residual[0] @ change.w) + residual[1] * change.b)
        return self._advance(change.w, change.b, slope)

    def _advance(self, change: Floats, change_b: float, slope: float) -> Advance:
        """Go along the change while it helps; ``slope`` is that of the objective."""
        engine, product = self.engine, self.penalty.product(change)
        # (w + t d).M (w + t d) at the length t of the change d.
        value, square = float(engine.w @ self.product), float(change @ product)
        linear = 2.0 * float(self.product @ change)
        move = engine.design.product(change) + change_b

        def decrease_at(length: float) -> float:
            loss = engine.loss.value(engine.z + length * move, engine.y, engine.c)
            return engine.value - loss - length * linear - length * length * square

        advance = backtrack(decrease_at, slope, NOISE * (abs(engine.value) + abs(value)))
        if length := advance.length:
            w = length * change
            w += engine.w
            engine.move_to(w, engine.b + length * change_b, engine.z + length * move)
            self.product = self.product + length * product
        return advance


class _NewtonModel:
    """The Hessian of loss and penalty at the present weights, and its preconditioner."""

    def __init__(self, newton: NewtonSteps) -> None:
        engine, penalty = newton.engine, newton.penalty
        self._design, self._penalty, self._h = engine.design, penalty, engine.h
        self._intercept, self._h_sum = float(engine.fit_intercept), float(engine.h.sum())
        diagonal = engine.design.curvature(engine.h) + 2.0 * penalty.l2
        self._inverse: Callable[[Floats], Floats] = lambda values: values / diagonal
        if newton.preconditioner is not None:
            self._inverse = newton.preconditioner.inverse(2.0 * penalty.strength, diagonal)
        self._sums: Floats | None = None

    def gap(self, rest: Floats) -> float:
        """That of a fit whose objective has this gradient, its intercept at its optimum."""
        return 0.25 * float((rest / self._penalty.floor) @ rest)

    def at_best_b(self, rest: Floats, rest_b: float) -> Floats:
        """What a residual of the weights becomes when the intercept takes its own to zero."""
        if not rest_b:
            return rest
        if self._sums is None:
            self._sums = self._design.transposed_product(self._h)
        return rest - (rest_b / self._h_sum) * self._sums

    def product(self, w: Floats, b: float) -> tuple[Floats, float, Floats]:
        """The Hessian times (w, b), and the scores."""
        product, z = self._design.curvature_product(self._h, w, self._intercept * b)
        return product + 2.0 * self._penalty.product(w), self._intercept * float(self._h @ z), z

    def precondition(self, w: Floats, b: float) -> tuple[Floats, float]:
        """By the curvature of the intercept, and an incomplete Cholesky factor of the weights."""
        return self._inverse(w), b / self._h_sum
