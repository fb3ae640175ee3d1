"""Overlapping groups by reweighted quadratics, over the features that matter.

The rounds are those of :mod:`.reweighting`. Where there is an l1 penalty most features of text have
no weight: l1 alone keeps it at zero. So rounds run over a working set of the other features, and
over what these leave of the groups (docs/maths.md, W1). The certificate is that of all features:
one product with the whole matrix shows which ones were left out wrongly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from textreg.penalties import GroupNorms
from textreg.records import Floats, Problem, Solution, Step
from textreg.solvers.engine import Engine, Scales, scales_of
from textreg.solvers.group_ascent import SparseAscent, sweeps_suit
from textreg.solvers.outcome import approach, checks_overflow, finish, strongest_l1, watching
from textreg.solvers.parallel_columns import over_merged_features
from textreg.solvers.reweighting import (
    LATER,
    UNIT,
    Reweighted,
    Schedule,
    VectorFit,
    continued,
    reweight,
    touching_points,
)
from textreg.solvers.working_set import Beginning, WorkingSet, first_working_set

# Rounds over the first working set, where there is no start.
ROUNDS = 8

# Most working sets; the next one holds all features.
SETS = 12


@checks_overflow
def majorize(problem: Problem, penalty: GroupNorms) -> Solution:
    """Minimize loss + penalty over overlapping groups by majorization-minimization.

    Parameters
    ----------
    problem : Problem
        What to fit; ``tol`` is the relative duality gap to stop at, ``max_iter`` the most rounds.
    penalty : GroupNorms
        The sparse overlapping group lasso.

    Returns
    -------
    Solution
        ``group_norms`` are those of the copies of the groups, exactly zero where a group is not
        selected.

    Notes
    -----
    Equations (M1) to (M4) of docs/maths.md; anderson1965 and walker2011 for the acceleration.
    """

    def solve(one: Sequence[Problem], norms: GroupNorms) -> list[Solution]:
        return [watching(lambda watched: _approached(watched, norms), one[0], norms)]

    return over_merged_features([problem], penalty, solve)[0]


def _approached(problem: Problem, penalty: GroupNorms) -> Solution:
    """The same, a weak l1 penalty from stronger ones."""
    near = approach(
        problem,
        lambda part: strongest_l1(part, penalty.with_l1),
        lambda part, k: _majorize(part, penalty.times(k))[0],
    )
    solution, stopped = _majorize(near.problem, penalty)
    solution = replace(solution, iterations=near.iterations + solution.iterations)
    return finish(problem, solution, UNIT, stopped=stopped or near.stopped)


def _majorize(problem: Problem, penalty: GroupNorms) -> tuple[Solution, bool]:
    """The same from where the problem says; and whether the caller has stopped it."""
    begin, scales = first_working_set(problem, penalty), scales_of(problem)
    if begin is not None:
        found, norms = _over_working_sets(problem, penalty, begin, scales)
    else:
        engine = Engine(problem, penalty.value)
        fit = VectorFit(engine, penalty, scales.weight)
        s = touching_points(penalty, fit, warm=problem.start is not None)
        found = _over_all_features(problem, penalty, fit, s)
        norms = penalty.copies(found.w, found.u, scales.curvature)
    room = penalty.room_of_originals(found.used) if len(found.used) else None
    return found.solution(problem, norms, room), found.ended


def _over_all_features(
    problem: Problem, penalty: GroupNorms, fit: VectorFit, s: Floats
) -> Reweighted:
    """Sweeps, and the rounds where these are slow; from touching points s (groups,)."""
    if not sweeps_suit(problem, penalty):
        return reweight(problem, penalty, fit, s, Schedule())
    sweeps = SparseAscent(problem, penalty, fit, s)
    found = sweeps.run()
    return continued(problem, penalty, fit, found) if sweeps.slow else found


def _over_working_sets(
    problem: Problem, penalty: GroupNorms, begin: Beginning, scales: Scales
) -> tuple[Reweighted, Floats]:
    """The rounds over one working set after the other, and the norms of the groups."""
    features, w, b = begin
    s = np.full(len(penalty.strengths), np.nan)  # of groups that no set had yet
    history: list[Step] = []
    rounds, sets, stopped, first = 0, 1, False, problem.start is None

    def callback(step: Step) -> bool:
        nonlocal stopped
        history.append(step._replace(iteration=rounds + step.iteration))
        stopped = bool(problem.callback and problem.callback(history[-1]))
        return stopped or (step.gap > problem.tol and len(fit.missing) > 0)

    while True:
        part = WorkingSet(problem, penalty, features, scales)
        fit = part.fit(w, b)
        most = min(problem.max_iter - rounds, ROUNDS if first else problem.max_iter)
        options = part.problem.replace(callback=callback, max_iter=most)
        known = s[part.kept]
        fresh = touching_points(part.penalty, fit, warm=not first)
        start = np.where(np.isnan(known), fresh, known)
        found = reweight(options, part.penalty, fit, start, Schedule() if first else LATER)
        s[part.kept] = found.s
        rounds += found.iterations
        ended = found.gap <= problem.tol or stopped or rounds >= problem.max_iter
        if ended or not (first or len(fit.missing)):
            w, norms = part.expand(found.w), part.norms(found.w, found.u)
            kept = tuple(history)
            return found._replace(w=w, iterations=rounds, history=kept, ended=stopped), norms
        w, b = part.expand(fit.w), fit.intercept()
        features, first, sets = fit.shrunk() if first else fit.grown(), False, sets + 1
        del part, fit, options, found  # makes room for the next ones
        if sets > SETS:
            features = problem.design.features
