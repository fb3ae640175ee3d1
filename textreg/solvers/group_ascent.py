"""Overlapping groups without l1, one label or several side by side, by dual coordinate ascent.

With touching points s fixed a group is a ridge of its features (docs/maths.md, M2). A sweep of dual
coordinate ascent comes as near to the optimum under it as s is to the norms, so s moves after every
sweep (M5); and a row of X that is read for one label is there for sixteen. That holds where the
penalty's own ridge is weak, too: the groups' is stronger. The certificate is that of
:mod:`.reweighting`, whose rounds by Newton steps take over where sweeps are slow.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from textreg.penalties import GroupNorms
from textreg.records import Floats, Problem, Solution, Step
from textreg.solvers import dual_ascent
from textreg.solvers.certificate import Bound, dual_value, relative_gap, value_of
from textreg.solvers.compact_rows import compact_rows
from textreg.solvers.dual_ascent import FeatureAscent
from textreg.solvers.engine import Engine, scales_of
from textreg.solvers.outcome import checks_overflow, finish
from textreg.solvers.parallel_columns import over_merged_features
from textreg.solvers.requests import FeatureSweep, Fit, Gradient, Products, Restart, side_by_side
from textreg.solvers.reweighting import (
    S_LEAST,
    UNIT,
    Reweighted,
    VectorFit,
    continued,
    grown,
    rounded,
    touching_points,
)
from textreg.solvers.ridge import beginning

WARM, COLD = 5, 7
"""Sweeps before the first look at the gap, from a given start and without."""

NEXT = 6
"""The next look comes after one more sweep for every NEXT of all before, rounded up: it takes as
long as a sweep."""

PATIENCE, RATE = 2, 0.95
"""Looks at the gap before the rate counts, and the largest share of it that a sweep may leave; else
Newton steps are quicker, though each takes as long as six sweeps or more."""


@checks_overflow
def group_ascents(problems: Sequence[Problem], penalty: GroupNorms) -> list[Solution]:
    """Minimize loss + penalty for several problems that share their matrix and groups.

    Parameters
    ----------
    problems : sequence of Problem
        What to fit; ``tol`` is the relative duality gap to stop at, ``max_iter`` the most rounds.
    penalty : GroupNorms
        Without l1, with l2.

    Returns
    -------
    list of Solution
        One for each; ``group_norms`` are those of the copies of the groups, as of
        :func:`.majorize.majorize`.
    """
    return over_merged_features(
        problems,
        penalty,
        lambda some, norms: side_by_side([_fit(problem, norms) for problem in some]),
    )


def _fit(problem: Problem, penalty: GroupNorms) -> Fit[Solution]:
    """The fit of one problem."""
    warm, scales = problem.start is not None, scales_of(problem)
    engine = yield from beginning(problem, penalty.value)
    engine.optimize_intercept()
    fit = VectorFit(engine, penalty, scales.weight, quick=True)
    s = touching_points(penalty, fit, warm=warm)
    found = yield from _sweeps(problem, penalty, engine, fit, s)
    if not (found.gap <= problem.tol or found.ended or found.iterations >= problem.max_iter):
        found = continued(problem, penalty, fit, found)
    norms = penalty.copies(found.w, found.u, scales.curvature)
    return finish(problem, found.solution(problem, norms), UNIT, stopped=found.ended)


def _sweeps(
    problem: Problem, penalty: GroupNorms, engine: Engine, fit: VectorFit, s: Floats
) -> Fit[Reweighted]:
    """Rounds of one sweep each, until the gap is closed or sweeps are slow."""
    rows, strengths = compact_rows(problem.design), penalty.strengths
    best_w, best_b, best, best_s = engine.w, engine.b, np.inf, s
    bound, gap, history, stopped = Bound(-np.inf, np.empty(0)), np.inf, list[Step](), False
    round_, next_look = 0, COLD if problem.start is None else WARM
    quick = dual_ascent.in_range(engine, rows, 2.0 * penalty.l2)
    if quick:
        gradient = yield Gradient(engine)
        ascent = FeatureAscent(engine, rows, penalty.majorizer(s), gradient)
    while quick and round_ < problem.max_iter and not gap <= problem.tol and not stopped:
        round_ += 1
        yield FeatureSweep(rows, ascent)
        w = ascent.weights()
        norms = penalty.norms(w)
        if round_ >= min(next_look, problem.max_iter):
            alpha = ascent.balanced(engine)
            products = yield Products(engine.design, alpha)
            yield Restart(engine, w, ascent.b)
            engine.optimize_intercept()
            objective, closer = fit.value(norms), np.maximum(s, norms)
            # What the groups leave of X'alpha the ridge pays for (M5).
            products -= w * penalty.spread(strengths / closer)
            value = dual_value(engine, alpha) - float(products @ products) / (4.0 * penalty.l2)
            bound, last = max(bound, Bound(value, alpha), key=value_of), gap
            if relative_gap(objective, bound.value) <= problem.tol:
                w, objective = rounded(fit, objective, problem.tol)
            if objective < best:
                best_w, best_b, best, best_s = w, engine.b, objective, closer
            sweeps = round_ - (history[-1].iteration if history else 0)
            gap, next_look = relative_gap(best, bound.value), round_ + -(-round_ // NEXT)
            history.append(Step(round_, best, gap))
            stopped = bool(problem.callback and problem.callback(history[-1]))
            quick = len(history) < PATIENCE or gap <= RATE**sweeps * last
        s = grown(s, norms, S_LEAST * fit.unit)
        ascent.take(penalty.majorizer(s).q)
    u, kept = penalty.duals(strengths / best_s, best_w), tuple(history)
    return Reweighted(
        best_w, best_b, best, gap, round_, kept, u, s, bound.alpha, bound.used, stopped
    )
