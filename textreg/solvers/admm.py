"""Overlapping groups by ADMM: Algorithm 1 of Yogatama & Smith (2014), on the engine.

Every group owns a copy v_g of its weights, tied to them by multipliers u_g. In turn, with the
numbers of the paper (docs/maths.md, A1):

- w: the loss and the l1 penalty, and a quadratic that ties each weight to the mean of its copies,
  eq. (2);
- v: each group of copies is shrunk toward zero, which makes groups zero, eq. (3) and (5);
- u: moved by the difference of copies and weights, eq. (4).

:func:`admm` has changes that bring it to the optimum. :func:`algorithm_1`, as it is printed, has
none of them: every sentence has a copy of its own, also one of a single word and one that
occurs twice; the copies are not over-relaxed; rho stays as it is; the run starts from zero, and
ends with the last iterate, by the rule of section 4. The certificate tells how far that is from the
optimum.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from textreg._core.groups import admm_copies
from textreg.errors import ConvergenceWarning
from textreg.params import Parametrized, param
from textreg.penalties import GroupNorms, Separable
from textreg.records import Floats, Problem, Solution, SolverReport, Step
from textreg.solvers.certificate import Bound, group_bound, relative_gap, value_of
from textreg.solvers.reweighting import VectorFit, rounded
from textreg.solvers.state import (
    Engine,
    approach_groups,
    checks_overflow,
    finish,
    has_kinks,
    scales_of,
    told_by,
    watching,
)

# What iterations are called.
UNIT = "iterations of ADMM"

# The paper's limit (section 4).
PAPER_ITERATIONS = 100

# Relative change of w at which the paper's rule stops; the paper gives no number.
PAPER_CHANGE = 1e-4

# The w step ends when a Newton step gains less than this share (footnote 2).
W_TOLERANCE = 1e-5

# Most Newton steps in one w step.
W_STEPS = 20

# Iterations of conjugate gradients in each: fewer take more Newton steps, more are wasted.
W_ROUNDS = 3

# Factor of the accuracy of each where the loss has kinks and there is an l1 penalty.
W_FINER = 10

# Iterations between computations of the gap.
CHECK = 10

# When one residual is IMBALANCE times the other, balancing changes rho by FACTOR.
IMBALANCE, FACTOR = 10.0, 2.0

# Factor beyond which balancing does not move rho: where no group has a strength, the multipliers
# are nothing but rounding, and rho would leave the range of numbers.
FARTHEST_RHO = 1e30


@dataclass(frozen=True, eq=False)
class AdmmReport(SolverReport):
    """What ADMM reports beside its weights.

    Attributes
    ----------
    rho : float
        The ADMM penalty parameter at the end; another one than at the start if it was balanced.
    """

    rho: float


class TiesOptions(Parametrized):
    """What both algorithms can be told of the ties between weights and copies."""

    rho: float = param(
        default=1.0, min=1e-6, help="penalty parameter of ADMM; larger ties the copies tighter"
    )


class AdmmOptions(TiesOptions):
    """Options of :func:`admm`.

    Boyd et al. (2010) describe balancing in section 3.4.1 and over-relaxation in section 3.4.3. The
    rule "paper" stops at a relative change of w of PAPER_CHANGE or after 100 iterations, as in
    section 4 of Yogatama & Smith (2014); "gap" at a relative gap of ``problem.tol``.
    """

    name = "admm"
    balanced: bool = param(default=True, help="adapt rho to the primal and dual residuals")
    relax: float = param(default=1.6, min=1.0, max=1.9, help="over-relaxation, 1 for none")
    stop: str = param(
        default="gap",
        choices=("gap", "paper"),
        help="stop at the duality gap, or by the rule of the paper",
    )


@checks_overflow
def admm(problem: Problem, penalty: GroupNorms, **options: Any) -> Solution:
    """Minimize loss + penalty over overlapping groups by ADMM.

    Parameters
    ----------
    problem : Problem
        What to fit; ``tol`` is the relative duality gap to stop at, ``max_iter`` the most
        iterations.
    penalty : GroupNorms
        The sparse overlapping group lasso.
    **options
        Those of :class:`AdmmOptions`.

    Returns
    -------
    Solution
        ``group_norms`` are those of the copies; ``residual`` is the larger of the relative primal
        and dual residual.

    References
    ----------
    yogatama2014, Algorithm 1; boyd2010.
    """
    chosen = AdmmOptions(**options)
    return watching(lambda watched: _approached(watched, penalty, chosen), problem, penalty)


def _approached(problem: Problem, penalty: GroupNorms, options: AdmmOptions) -> Solution:
    """The same, a weak l1 penalty from stronger ones, unless it is to be as in the paper."""
    if options.stop != "paper":
        return approach_groups(problem, penalty, partial(_admm, options=options), UNIT)
    solution, stopped = _admm(problem, penalty, options)
    return finish(problem, solution, UNIT, stopped=stopped)


def _admm(
    problem: Problem,
    penalty: GroupNorms,
    options: AdmmOptions,
    smallest: float = PAPER_CHANGE,
    printed: bool = False,
) -> tuple[Solution, bool]:
    """The same from where the problem says; and whether it has been stopped before its gap.

    smallest: the relative change of w at which the paper stops. printed: whether to end with the
    last iterate, as Algorithm 1 as printed does, and not with the best one.
    """
    rho, balanced, relax, stop = options.rho, options.balanced, options.relax, options.stop
    engine = Engine(problem, penalty.value)
    v = engine.w[penalty.indices]
    u = np.zeros_like(v)
    norms = penalty.norms(engine.w)
    copies = penalty.spread(np.ones(len(penalty.strengths)))  # N_j, how many copies a weight has
    target = copies * engine.w  # N_j mu_j
    limit = min(PAPER_ITERATIONS, problem.max_iter) if stop == "paper" else problem.max_iter
    best, bound, gap = np.inf, Bound(-np.inf, engine.r), math.inf
    best_w, best_b, best_norms = engine.w.copy(), engine.b, norms
    fit = VectorFit(engine, penalty, scales_of(problem).weight)
    history: list[Step] = []
    iteration, met, stopped, residual = 0, False, False, math.inf

    while iteration < limit and not met and not stopped:
        iteration += 1
        before = engine.w.copy()
        minimize_w(engine, penalty, rho, copies, target)  # eq. (2)
        target = np.zeros(penalty.p)
        distance, moved, v_size, u_size = admm_copies(  # eq. (5), then (4)
            penalty.indptr, penalty.indices, penalty.strengths, engine.w, rho, relax,
            v, u, norms, target,
        )  # fmt: skip
        primal = relative_norm(distance, v_size)
        dual = rho * relative_norm(moved, u_size)
        residual = max(primal, dual)
        if stop == "paper":
            change = float(np.linalg.norm(engine.w - before))
            met = change <= smallest * float(np.linalg.norm(before))
        last = met or iteration == limit
        if iteration % CHECK == 0 or last:
            w, objective = engine.w.copy(), fit.value()
            if not printed:
                w, objective = rounded(fit, objective, problem.tol)
            if printed or objective < best:
                best, best_w, best_b = objective, w, engine.b
                best_norms = norms.copy()
            if stop == "gap" or last or printed:
                # After the v step, -u_g is lambda_g times a subgradient of the norm at v_g: the
                # multipliers lie in their balls and are dual feasible.
                latest = group_bound(fit.dual(), penalty, fit.size(), -u, best, problem.tol)
                bound = max(bound, latest, key=value_of)
                gap = relative_gap(best, bound.value)
                met = met or (stop == "gap" and gap <= problem.tol)
            history.append(Step(iteration, best, gap))
            stopped = problem.stops(history[-1])
        if balanced and not last:
            scale = _rebalance(primal, dual)
            if 1.0 / FARTHEST_RHO <= scale * rho / options.rho <= FARTHEST_RHO and scale != 1.0:
                # target is the sum of v + u / rho, which changes with rho.
                target += penalty.gather(u) * (1.0 / (scale * rho) - 1.0 / rho)
                rho *= scale

    solution = Solution(
        w=best_w,
        b=best_b,
        residual=residual,
        **told_by(history, converged=gap <= problem.tol),
        group_norms=penalty.original_norms(best_norms, best_w),
        alpha=bound.alpha,
        report=AdmmReport(rho),
    )
    return solution, stopped


def minimize_w(
    engine: Engine, penalty: GroupNorms, rho: float, copies: Floats, target: Floats
) -> None:
    """The w step: loss + l1 + rho/2 sum_j N_j (w_j - mu_j)^2, mu_j the mean of v + u / rho."""
    q = rho * copies + 2.0 * penalty.l2
    mu = np.divide(rho * target, q, out=np.zeros(penalty.p), where=q > 0.0)
    inner = Separable(q, mu, penalty.lam)
    finer = W_FINER if has_kinks(engine.loss) and penalty.lam.any() else 1
    for _ in range(W_STEPS):
        active = engine.active(inner, engine.gradient())
        decrease = engine.step(active, inner, passes=finer, cg_rounds=finer * W_ROUNDS)
        if decrease <= W_TOLERANCE * abs(engine.value + inner.value(engine.w)):
            break


def relative_norm(square: float, size: float) -> float:
    """The root of one squared size over another; infinite where all copies or multipliers are 0."""
    if square <= 0.0:
        return 0.0
    return math.sqrt(square / size) if size > 0.0 else math.inf


def _rebalance(primal: float, dual: float) -> float:
    """Factor for rho: above 1 when copies differ from weights, below 1 when they move too much."""
    if primal > IMBALANCE * dual:
        return FACTOR
    if dual > IMBALANCE * primal:
        return 1.0 / FACTOR
    return 1.0


class Algorithm1Options(TiesOptions):
    """Options of :func:`algorithm_1`: the input of the algorithm, and a number it leaves open."""

    name = "algorithm-1"
    change: float = param(
        default=PAPER_CHANGE,
        min=0.0,
        help="relative change of the weights at which it stops, if not after 100 iterations",
    )


@checks_overflow
def algorithm_1(problem: Problem, penalty: GroupNorms, **options: Any) -> Solution:
    """Lower loss + penalty over overlapping groups by Algorithm 1 as printed.

    Parameters
    ----------
    problem : Problem
        What to fit; ``start`` is ignored. ``tol`` is the relative duality gap at which the solution
        counts as converged, and ends nothing. ``max_iter`` may lower the limit of 100 iterations.
    penalty : GroupNorms
        The sparse overlapping group lasso, its groups not merged.
    **options
        Those of :class:`Algorithm1Options`.

    Returns
    -------
    Solution
        The last iterate. ``gap`` is its own; ``group_norms`` are those of the copies; ``residual``
        is the larger of the relative primal and dual residual.

    Warns
    -----
    ConvergenceWarning
        The gap is above ``tol``.

    References
    ----------
    yogatama2014, section 4 and Algorithm 1.
    """
    chosen = Algorithm1Options(**options)
    return watching(
        lambda watched: _run(watched.replace(start=None), penalty, chosen), problem, penalty
    )


def _run(problem: Problem, penalty: GroupNorms, options: Algorithm1Options) -> Solution:
    """The same, all but features without a penalty."""
    plain = AdmmOptions(rho=options.rho, balanced=False, relax=1.0, stop="paper")
    solution, stopped = _admm(problem, penalty, plain, options.change, printed=True)
    if not solution.converged and not stopped:
        gap = "an unknown gap" if math.isnan(solution.gap) else f"a gap of {solution.gap:.1e}"
        warnings.warn(
            f"Algorithm 1 as printed ended after {solution.iterations} iterations with {gap}, "
            f"above the tolerance of {problem.tol:.1e}. Another rho may bring it nearer; the "
            "solvers majorize and admm go on to the tolerance.",
            ConvergenceWarning,
            stacklevel=5,
        )
    return finish(problem, solution, "iterations", stopped=True)
