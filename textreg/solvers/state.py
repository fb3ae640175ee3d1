"""The state of a fit, its units and its steps; and how solvers begin and end.

One proximal Newton step, which every solver here is made of, lowers

    sum_i c_i l(y_i, x_i w + b) + sum_j 1/2 q_j (w_j - mu_j)^2 + lam_j |w_j|

over an active set of features (docs/maths.md, E1). The loss is replaced by its second-order model
at the present scores (E2); coordinate descent finds which weights are zero and the signs of the
others (E3); conjugate gradients then optimize the others, where coordinate descent alone is slow; a
line search ensures that the objective falls.

With X times s every weight is divided by s, with y times s it is multiplied by s under the squared
loss, and derivatives grow with the weights of the documents. So solvers have no constants in the
units of weights or of curvature, but multiples of the units of a problem.

Weak penalties are approached from stronger ones where the loss has kinks. A hinge is flat beyond
the margin: with a weak penalty the first steps take all documents there, by far too many weights,
and from then on every step is short. With a stronger penalty they stay before the margin, and its
solution is near that of the next weaker one. A hinge is smoothed by a wide quadratic first, within
which nearly all documents are, and then by narrower ones (chen1996): in a narrow one are few, and
which these are changes with every step, so that far from the optimum each is short.

Numbers that overflow on the way, as those of a trial point may, are rejected there, or give a bound
that is infinite and certifies nothing. So solvers run without NumPy's warnings of them, and what
they return is checked at the end.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np

from textreg._core.descent import coordinate_descent, select_active
from textreg.errors import ConvergenceWarning, DataError, DataWarning
from textreg.losses import Loss, SmoothedHinge
from textreg.penalties import GroupNorms, Separable
from textreg.records import Design, Floats, Int32s, MultiSolution, Problem, Solution, Step
from textreg.solvers.linear_algebra import (
    Advance,
    Direction,
    Hessian,
    backtrack,
    conjugate_gradients,
    projected_path,
    step_with_fallback,
)


class Scales(NamedTuple):
    """The units of a problem.

    Attributes
    ----------
    weight : float
        A weight that counts, such as 2 for the logistic loss and documents of norm one.
    curvature : float
        The largest second derivative of the loss in a weight, at zero weights.
    """

    weight: float
    curvature: float


def scales_of(problem: Problem) -> Scales:
    """The units of a problem, at zero weights and the best intercept."""
    z = np.full(len(problem.y), problem.intercept_at_zero())
    return scales_at(problem.design, problem.loss, z, problem.y, problem.sample_weight)


def scales_at(design: Design, loss: Loss, z: Floats, y: Floats, c: Floats) -> Scales:
    """The units of a problem whose documents have the scores z at zero weights (docs/maths.md, U1).

    Both are 1 where that is no number above 0, as in a matrix of zeros.
    """
    r = np.empty_like(z)
    loss.derivatives(z, y, c, r, np.empty_like(z))
    h = loss.curvature_above(z, y, c)
    (curvature, largest), total = _curvature(design, h), float(h.sum())
    slopes = np.divide(r * r, c, out=np.zeros_like(r), where=c > 0.0)
    score = math.sqrt(float(slopes.sum()) * float(c.sum())) / total if total > 0.0 else 0.0
    squares = curvature / total if total > 0.0 else 0.0  # of the norms of documents
    weight = score / math.sqrt(squares) if squares > 0.0 else 0.0
    return Scales(_number(weight), _number(largest))


def _curvature(design: Design, h: Floats) -> tuple[float, float]:
    """The sum and the largest of sum_i h_i x_ij^2 over the features j.

    Labels share these where their documents count alike.
    """

    def sum_and_largest(h: Floats) -> tuple[float, float]:
        curvature = design.curvature(h)
        return float(curvature.sum()), float(curvature.max(initial=0.0))

    if not len(h) or (h != h[0]).any():
        return sum_and_largest(h)
    total, largest = design.cache.get("curvature", lambda: sum_and_largest(np.ones(len(h))))
    return float(h[0]) * total, float(h[0]) * largest


def document_norm(design: Design) -> float:
    """The root of the mean squared norm of a document.

    A derivative in the intercept times this has the unit of one in a weight.
    """
    n = design.shape[0]
    return math.sqrt(_curvature(design, np.ones(n))[0] / max(n, 1))


def _number(scale: float) -> float:
    return scale if 0.0 < scale < math.inf else 1.0


# Relative rounding of the objective; a rise below it does not stop a step.
NOISE = 1e-14

# Steps in a row without progress, after which the tolerance is beyond floating point.
IDLE = 5

# Most steps on the intercept alone, and the relative sum of r that ends them.
INTERCEPT_STEPS, INTERCEPT_SLOPE = 40, 1e-9

# Most rounds of coordinate descent on a quadratic model, and iterations of conjugate gradients.
# More of them make a model more exact than it is true.
PASSES, CG_ROUNDS = 3, 10

# A longer Newton step on the intercept shows that the loss is flat there: between two points that
# enclose the optimum the next one is halfway.
FLAT = 1e3

# Where a loss is straight, the share of the parabola above it that a model has for a curvature: at
# first, and at least.
DAMPING, LEAST_DAMPING = 0.3, 0.01

# It grows by this factor after a step that goes less than half of its way, and falls by it after
# one that goes all of it.
DAMPED, HALF_WAY = 3.0, 0.5

# Largest effort of a step, which its rounds and iterations are multiplied by.
MOST_EFFORT = 8

# Share of the residual at which conjugate gradients stop, divided by the effort; of a dense one
# .1 takes half more products.
CG_TOLERANCE, DENSE_CG_TOLERANCE = 0.1, 0.3


# Weights, intercept, and derivatives of a model in the scores.
ModelPoint = tuple[Floats, float, Floats]


class Engine:
    """A point of a fit, and steps from there.

    Attributes
    ----------
    w, b : ndarray of shape (p,), and float
        Weights and intercept.
    z : ndarray, shape (n,)
        Scores, X w + b.
    value : float
        The loss.
    r, h : ndarray, shape (n,)
        First and second derivatives of the loss in the scores; h may be a bound of the latter.
    design, loss, y, c, fit_intercept
        The problem: matrix, loss, targets, weights of the documents.
    curvature : ndarray, shape (p,)
        sum_i h_i x_ij^2 for the active features of the last step.
    """

    def __init__(self, problem: Problem, penalty: Callable[[Floats], float] | None = None) -> None:
        """penalty: its value at weights (p,), which tells whether the start is of any use."""
        self.loss = problem.loss
        self.design = problem.design
        self.y, self.c, self.fit_intercept = problem.y, problem.sample_weight, problem.fit_intercept
        n, p = self.design.shape
        self.z, self.r, self.h = np.empty(n), np.empty(n), np.empty(n)
        self.curvature = np.zeros(p)
        self.value, self._damping = 0.0, DAMPING
        if problem.start is None:
            self.restart(np.zeros(p), 0.0)
            return
        w, b = problem.start
        self.restart(w.copy(), b if self.fit_intercept else 0.0)
        if penalty is not None:
            b = problem.intercept_at_zero()
            at_zero = self.loss.value(np.full(n, b), self.y, self.c) + penalty(np.zeros(p))
            if not self.value + penalty(self.w) <= at_zero:  # also where it overflowed
                self.restart(np.zeros(p), b)

    @classmethod
    def begun(cls, problem: Problem, penalty: Callable[[Floats], float] | None = None) -> Engine:
        """The same; where no start is given, at zero weights and the best intercept for them."""
        engine = cls(problem, penalty)
        if problem.start is None:
            engine.restart(engine.w, problem.intercept_at_zero())
        return engine

    def restart(self, w: Floats, b: float) -> None:
        """Move to other weights and compute their scores and derivatives."""
        self.move_to(w, b, self.design.product(w, intercept=b))

    def move_to(self, w: Floats, b: float, z: Floats, y: Floats | None = None) -> None:
        """Move to other weights with known scores z, and to other targets y if given."""
        self.w, self.b, self.z = w, b, z
        if y is not None:
            self.y = y
        self._refresh()

    def _refresh(self) -> None:
        self.value = self.loss.derivatives(self.z, self.y, self.c, self.r, self.h)

    def optimize_intercept(self, tol: float = INTERCEPT_SLOPE) -> None:
        """Move the intercept alone to its optimum, where the derivatives r sum to zero.

        tol: the sum that is taken for zero, relative to that of the absolute derivatives.
        """
        if not self.fit_intercept:
            return
        low, high = -math.inf, math.inf  # where the slope is known to be negative and positive
        for _ in range(INTERCEPT_STEPS):
            # Where curvatures may be negative, a step by their bound never goes too far.
            steep = self.h if self.loss.convex else self.loss.curvature_bound(self.c)
            slope, curvature = float(self.r.sum()), float(steep.sum())
            if abs(slope) <= tol * float(np.abs(self.r).sum()) or curvature <= 0.0:
                return
            value, b, z = self.value, self.b, self.z
            low, high = (b, high) if slope < 0.0 else (low, b)
            change = -slope / curvature
            if abs(change) > max(FLAT, high - low):
                change = (low + high) / 2.0 - b
            self.b, self.z = b + change, z + change
            self._refresh()
            if not self.value <= value * (1.0 + NOISE):  # too far, where the loss is flat
                self.b, self.z = b, z
                self._refresh()
                return

    def loss_at(self, w: Floats) -> float:
        """The loss at other weights, the intercept unchanged."""
        z = self.z + self.design.product(w - self.w)
        return self.loss.value(z, self.y, self.c)

    def gradient(self) -> Floats:
        """d loss / d w, (p,)."""
        return self.design.transposed_product(self.r)

    def active(self, penalty: Separable, gradient: Floats) -> Int32s:
        """The active set: features in the model, or that the ``gradient`` (p,) lets enter it."""
        out = np.empty(len(self.w), dtype=np.int32)
        count = select_active(gradient, self.w, penalty.q, penalty.mu, penalty.lam, out)
        return out[:count]

    def step(
        self,
        active: Int32s,
        penalty: Separable,
        effort: int = 1,
        *,
        passes: int = PASSES,
        cg_rounds: int = CG_ROUNDS,
    ) -> float:
        """One proximal Newton step over ``active`` (permuted in place).

        passes: most rounds of coordinate descent. cg_rounds: most iterations of conjugate
        gradients, which take over as soon as coordinate descent changes no sign. effort: a factor
        of their number and accuracy, and how often the two take turns, if weights become zero in
        between.
        Returns the decrease of the objective, 0.0 if it is lost in rounding.
        """
        # A decrease that is rounding is none: weights whose documents have no curvature have not
        # moved.
        noise = NOISE * abs(self.value)
        decrease = step_with_fallback(
            lambda: self.damped(lambda: self._step(active, penalty, passes, cg_rounds, effort)),
            self.use_curvature_bound,
            failed=lambda advance: advance.decrease <= noise,
        )
        if decrease <= noise:
            self._refresh()  # the second derivatives again, in place of their bound
        return decrease

    def damped(self, step: Callable[[], Advance]) -> Advance:
        """What a ``step`` gives for a model that is nowhere straight.

        Beyond the kink of a hinge no second derivative holds documents back from going past it; so
        steps would end there. They get a share of the curvature that a parabola above the loss has,
        and less of it the farther steps go.
        """
        straight = (self.h == 0.0) & (self.r != 0.0)
        if not straight.any():
            return step()
        above = self.loss.curvature_above(self.z, self.y, self.c)
        self.h = np.where(straight, self._damping * above, self.h)
        advance = step()
        if advance.length < HALF_WAY:
            self._damping = min(DAMPED * self._damping, 1.0)
        elif advance.length == 1.0:
            self._damping = max(1.0 / DAMPED * self._damping, LEAST_DAMPING)
        return advance

    def use_curvature_bound(self) -> None:
        """Put the curvature of a model above the loss in the place of h, until the next move."""
        self.h = self.loss.curvature_above(self.z, self.y, self.c)

    def _step(
        self, active: Int32s, penalty: Separable, passes: int, cg_rounds: int, effort: int
    ) -> Advance:
        """The step for the second derivatives h as they stand."""
        v, w, b = self.r.copy(), self.w.copy(), self.b
        smooth = self._is_smooth(active, penalty)
        for _ in range(effort):
            if smooth:
                self.curvature[active] = self.design.curvature(self.h, active)
            else:
                b = coordinate_descent(
                    *self.design.columns, self.h, v, active, self.curvature,
                    penalty.q, penalty.mu, penalty.lam,
                    w, b, self.fit_intercept, passes,
                )  # fmt: skip
            b, optimal = self._refine(active, penalty, (w, b, v), cg_rounds, effort)
            if optimal:
                break
        return self._advance(active[w[active] != self.w[active]], penalty, w, b)

    def _is_smooth(self, active: Int32s, penalty: Separable) -> bool:
        """Whether conjugate gradients do everything, over all weights.

        A round over the columns of a dense matrix takes as long as many products with all of it.
        """
        return self.design.full and not penalty.lam[active].any()

    def _advance(self, moved: Int32s, penalty: Separable, w: Floats, b: float) -> Advance:
        """Go toward (w, b), which differs from the present point in ``moved``, while it helps."""
        present = self.w[moved]
        change = w[moved] - present
        move = self.design.product(change, moved, b - self.b)
        before = penalty.of(moved, present)
        slope = float(self.r @ move) + penalty.of(moved, w[moved]) - before
        noise = NOISE * (abs(self.value) + abs(before))
        if slope > noise:
            return Advance(0.0, 0.0)

        def decrease_at(length: float) -> float:
            loss = self.loss.value(self.z + length * move, self.y, self.c)
            return self.value + before - loss - penalty.of(moved, present + length * change)

        advance = backtrack(decrease_at, slope, noise)
        if length := advance.length:
            self.w[moved] = present + length * change
            self.b += length * (b - self.b)
            self.z = self.z + length * move
            self._refresh()
        return advance

    def _refine(
        self, active: Int32s, penalty: Separable, at: ModelPoint, rounds: int, effort: int
    ) -> tuple[float, bool]:
        """Minimize the model over the nonzero weights, with their signs kept.

        Conjugate gradients from ``at``: weights w (p,) and intercept b, and the derivatives v (n,)
        of the model in their scores. A weight with an l1 penalty that would change its sign
        stays at zero from there on. Of that projected path the first of the lengths 1, 1/2, 1/4,
        ... is taken that lowers the model, at least up to where the first weight becomes zero,
        which always does (Moré & Toraldo 1991). Changes the arrays of ``at`` in place; returns the
        new intercept, and whether no weight changed its sign.
        """
        w, b, v = at
        smooth = self._is_smooth(active, penalty)
        support = np.sort(active if smooth else active[w[active] != 0.0])
        # Without curvature a weight has no minimum in the model.
        support = support[self.curvature[support] + penalty.q[support] > 0.0]
        start = w[support]
        change, change_b, move = self._conjugate(penalty, support, at, rounds, effort)
        before = penalty.of(support, start)
        for t, trial, stopped in projected_path(start, change, penalty.lam[support] > 0.0):
            if stopped.any():
                step = self.design.product(trial - start, support, t * change_b)
            else:
                step = t * move
            model = float(v @ step) + 0.5 * float(self.h @ (step * step))
            if model + penalty.of(support, trial) < before:
                break
        w[support] = trial
        v += self.h * step
        return b + t * change_b, not stopped.any()

    def _conjugate(
        self, penalty: Separable, support: Int32s, at: ModelPoint, rounds: int, effort: int
    ) -> Direction:
        """The step from the weights of the support, by conjugate gradients."""
        design, (w, _, v), q = self.design, at, penalty.q[support]
        model = Hessian(
            lambda w, b: design.product(w, support, b),
            lambda r: design.transposed_product(r, support),
            *(self.h, q, self.curvature[support] + q, self.fit_intercept),
        )
        zero = Direction(np.zeros(len(support)), 0.0, np.zeros(len(v)))
        if model.of_intercept() <= 0.0:
            return zero
        gradient = model.adjoint(v) + q * (w[support] - penalty.mu[support])
        gradient += penalty.lam[support] * np.sign(w[support])
        residual = -gradient, -float(v.sum()) if self.fit_intercept else 0.0
        tolerance = DENSE_CG_TOLERANCE if design.full else CG_TOLERANCE
        return conjugate_gradients(
            model, residual, zero, rounds=rounds * effort, accuracy=tolerance / effort
        )


def slope_of_intercept(engine: Engine) -> float:
    """|d loss / d b|, of several classes the largest; 0 where there is no intercept."""
    return float(np.abs(engine.r.sum(axis=-1)).max()) if engine.fit_intercept else 0.0


# Mean curvature of the loss below which its model is useless.
UNDERFLOW = 1e-12

# Length of a step below which its model is not trusted, and it is halved no more.
SHORT = 0.1


def underflowed(engine: Engine) -> bool:
    """Whether next to nothing is left of the curvature of the loss."""
    return bool(engine.h.sum() <= UNDERFLOW * engine.c.sum())


# Share of the strength that leaves no weight below which a penalty of sparsity is weak.
WEAK = 0.03

# Strengths fall by this factor at most, from one to the next.
PATH_FACTOR = 10.0

# Relative gaps to which stronger penalties are solved, and wider quadratics of a hinge.
ROUGH_GAP, WIDE_GAP = 0.1, 0.01


class Approached(NamedTuple):
    """The problem, to be begun at the last solution; how many iterations that took; and whether
    the caller has stopped.
    """

    problem: Problem
    iterations: int
    stopped: bool


def has_kinks(loss: Loss) -> bool:
    """Whether second derivatives of the loss jump."""
    return math.isinf(loss.third_derivative_bound)


def strongest_l1(problem: Problem, strengths: Floats) -> float:
    """Times which factor a penalty is no longer weak, if it is at least sum_j m_j |w_j|.

    strengths: (p,), m_j >= 0.
    """
    gradient, penalized = np.abs(problem.gradient_at_zero()), strengths > 0.0
    return WEAK * float((gradient[penalized] / strengths[penalized]).max(initial=0.0))


def strongest_ridge(problem: Problem, q: Floats) -> float:
    """Times which factor a ridge sum_j q_j w_j^2 / 2 holds the scores within the margin.

    q: (p,), positive. That is the largest score after a step from zero weights w_j = -g_j / q_j.
    """
    weights = problem.gradient_at_zero() / q
    return float(np.abs(problem.design.product(weights)).max(initial=0.0))


def approach(
    problem: Problem,
    strongest_for: Callable[[Problem], float],
    solve: Callable[[Problem, float], Solution],
) -> Approached:
    """Solve with stronger penalties first, and a hinge with wider quadratics, where that pays.

    Parameters
    ----------
    problem : Problem
        What to fit. A given start with weights is used as it is.
    strongest_for : callable
        The factor of the first penalty; none is stronger if that is 1 or less.
    solve : callable
        Solves a problem whose penalty is multiplied by a factor.
    """
    loss, start, iterations, stopped = problem.loss, problem.start, 0, False
    if not has_kinks(loss) or (start is not None and start[0].any()):
        return Approached(problem, 0, False)
    width = loss.smoothing if isinstance(loss, SmoothedHinge) else 1.0
    widest = loss.replace(smoothing=1.0) if width < 1.0 else loss
    strongest = strongest_for(problem.replace(loss=widest))
    stages = [(widest, factor, ROUGH_GAP) for factor in falling(strongest)]
    for factor in falling(1.0 / width):
        stages.append((loss.replace(smoothing=factor * width), 1.0, WIDE_GAP))

    def watch(step: Step) -> bool:
        nonlocal stopped
        stopped = problem.stops(step)
        return stopped

    for near, factor, tol in stages:
        left = problem.max_iter - iterations - 1  # one is for the problem itself
        if stopped or left < 1:
            break
        rough = problem.replace(
            loss=near, start=start, tol=max(tol, problem.tol), max_iter=left, callback=watch
        )
        solution = solve(rough, factor)
        start, iterations = (solution.w, solution.b), iterations + solution.iterations
    left = problem.max_iter - iterations
    return Approached(problem.replace(start=start, max_iter=left), iterations, stopped)


def falling(largest: float) -> list[float]:
    """Factors from ``largest`` down to 1, which is left out, each by PATH_FACTOR at most less."""
    if not 1.0 < largest < math.inf:
        return []
    stages = math.ceil(math.log(largest) / math.log(PATH_FACTOR))
    return [largest ** (1.0 - stage / stages) for stage in range(stages)]


def approach_groups(
    problem: Problem, penalty: GroupNorms, solve: Callable[..., tuple[Solution, bool]], unit: str
) -> Solution:
    """A solution of norms of groups, approached as :func:`approach` does, for a weak l1 penalty.

    solve: gives one of a problem and a penalty, from where the problem says, and whether it has
    been stopped. unit: what iterations are called.
    """
    near = approach(
        problem,
        lambda part: strongest_l1(part, penalty.with_l1),
        lambda part, k: solve(part, penalty.times(k))[0],
    )
    solution, stopped = solve(near.problem, penalty)
    return finish(problem, solution, unit, stopped=stopped, before=near)


# Share of the objective at zero weights below which all documents are fitted.
NOTHING = 1e-6


def watching(
    solve: Callable[[Problem], Solution], problem: Problem, penalty: GroupNorms
) -> Solution:
    """A solution, unless features without a penalty fit all documents: then it says so, and ends.

    Warns with a DataWarning: it is not a matter of iterations.
    """
    if not len(penalty.unpenalized):
        return solve(problem)
    b = problem.intercept_at_zero()
    at_zero = problem.loss.value(np.full(len(problem.y), b), problem.y, problem.sample_weight)
    fitted = False

    def callback(step: Step) -> bool:
        nonlocal fitted
        fitted = step.objective <= NOTHING * at_zero and not step.gap < 1.0
        return fitted or problem.stops(step)

    solution = solve(problem.replace(callback=callback))
    if not fitted:
        return solution
    warnings.warn(
        f"{len(penalty.unpenalized):,} features have no penalty, as l1 and l2 are 0 and they are "
        "in no group, and they fit all documents: the loss falls to zero, and there is no optimum "
        "that the penalty decides about. Give them a penalty, such as a small l2 (--reg-l2).",
        DataWarning,
        stacklevel=5,
    )
    return replace(solution, converged=False)


P = ParamSpec("P")
T = TypeVar("T")


def checks_overflow(solve: Callable[P, T]) -> Callable[P, T]:
    """Decorate a function that runs without NumPy's warnings, and checks its result: see above."""

    @wraps(solve)
    def quiet(*args: P.args, **kwargs: P.kwargs) -> T:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            return solve(*args, **kwargs)

    return quiet


def check_finite(solution: Solution | MultiSolution) -> None:
    """DataError unless weights, intercepts and the objective are finite."""
    finite = math.isfinite(solution.objective) and np.isfinite(solution.w).all()
    if not (finite and np.isfinite(solution.b).all()):
        raise DataError(
            "the fit overflowed: its weights, or the objective, are too large for floating point "
            "numbers. Bring X, y, sample_weight and the penalty strengths nearer to 1: divide what "
            "is large by its largest value."
        )


def told_by(history: Sequence[Step], *, converged: bool) -> dict[str, Any]:
    """The fields of a solution that the history of its fit tells."""
    end = history[-1]
    return {
        "objective": end.objective,
        "gap": end.gap,
        "iterations": end.iteration,
        "converged": converged,
        "history": tuple(history),
    }


def finish(
    problem: Problem,
    solution: Solution,
    unit: str,
    *,
    stopped: bool,
    before: Approached | None = None,
) -> Solution:
    """The solution, with what it says of the loss before smoothing; warns unless it converged.

    unit: what iterations are called. stopped: whether the caller ended the run, which is no reason
    to warn. before: how its problem was approached.
    """
    check_finite(solution)
    if before is not None and before.iterations:
        solution = replace(solution, iterations=before.iterations + solution.iterations)
    if not stopped and not (before is not None and before.stopped):
        warn_unless_converged(problem, solution, unit)
    w, b, objective, gap = solution.w, solution.b, solution.objective, solution.gap
    unsmoothed = problem.unsmoothed(w, b, objective, gap)
    return solution if unsmoothed is None else replace(solution, unsmoothed=unsmoothed)


def warn_unless_converged(problem: Problem, solution: Solution | MultiSolution, unit: str) -> None:
    """The ConvergenceWarning of a solver that ran out of iterations."""
    if solution.converged:
        return
    reached = "no known gap" if np.isnan(solution.gap) else f"a relative gap of {solution.gap:.1e}"
    violation = ""
    if isinstance(solution, Solution) and not math.isnan(solution.residual):
        violation = f" and a largest violation of {solution.residual:.1e}"
    warnings.warn(
        f"stopped after {solution.iterations} {unit} at {reached}{violation}, above "
        f"the tolerance of {problem.tol:.1e}; raise max_iter or the tolerance.",
        ConvergenceWarning,
        stacklevel=5,
    )
