"""Whether a solution is what it says: its objective, its optimality, its gap."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from textreg.kinds import Regularizer
from textreg.records import Floats, Problem, Solution
from textreg.solvers.proximal import proximal
from textreg_testing.checks import Checks, at_least, at_most, near, require
from textreg_testing.objective import SAME, declares, lower, objective_of, rivals
from textreg_testing.problems import (
    hard,
    loss_at,
    null_loss,
    prepared,
    quiet,
    require_honest,
    small,
    solved,
)

LOWER = 1e-5
"""Share of the objective by which weights nearby may lie below those that were found."""

REACHED = 1e-3
"""Share of it by which that of a converged solution may lie above the best that is known."""

checks = Checks("regularizer")


def adds_penalty(part: Regularizer) -> bool:
    """Whether a regularizer has the method ``penalty(problem)``: what it adds to the loss."""
    return callable(getattr(part, "penalty", None))


def minimizes(part: Regularizer) -> bool:
    """Whether a regularizer says that its weights minimize its objective."""
    return part.minimizes


@checks.add("objective")
def _objective(part: Regularizer) -> None:
    """The objective of a solution is that of its w and b, also where it was stopped: the loss, and
    what is added to it. That is the value of its penalty, or what objective(problem, w, b) says, or
    a parameter times ||w||_1, ||w||_2^2, half of that, or the number of features."""
    of = objective_of(part)
    cases = {
        "": small(),
        " for unequal documents and features": hard(),
        " with features 100 times as large": small(X=100.0 * small().X),
        " without an intercept": hard(fit_intercept=False),
        " under the squared hinge loss": small(loss="squared-hinge"),
        " of a run that is stopped early": hard(tol=0.3, max_iter=2),
        " of one that its callback ends": hard(callback=lambda step: step.iteration > 1),
    }
    for told, problem in cases.items():
        # Once the last of the grid, which has the most weights, and small ones among them.
        ready = part.candidates(problem)[-1] if "unequal" in told else prepared(part, problem)
        found = solved(ready, problem)
        value = of(ready, problem)(found.w, found.b)
        told += "" if math.isfinite(value) else ", at which such weights are not allowed,"
        off = abs(found.objective - value)
        same = math.isfinite(value) and off <= SAME * max(abs(value), 1e-3 * null_loss(problem))
        told += _difference(ready, problem, found)
        require(same, f"the objective {value:.8g}{told}", f"{found.objective:.8g}")
        if found.unsmoothed is not None:
            smooth = problem.unsmoothed(found.w, found.b, found.objective, found.gap)
            near("unsmoothed.objective", [found.unsmoothed.objective], [smooth.objective], SAME)  # type: ignore[union-attr]


def _difference(ready: Regularizer, problem: Problem, found: Solution) -> str:
    """What the stated objective is instead, if that is simple to say."""
    loss, _ = loss_at(problem, found.w, found.b)
    total = float(problem.sample_weight.sum())
    ones = problem.replace(sample_weight=np.ones(len(problem.y)))
    plain = {
        "is the loss alone": loss,
        "is divided by the number of documents": ready.objective(problem, found.w, found.b) / total,
        "is the loss without the weights of the documents": loss_at(ones, found.w, found.b)[0],
    }
    for told, value in plain.items():
        if abs(value - found.objective) <= SAME * abs(value) and declares(ready):
            return f" (the one stated {told})"
    return ""


@checks.add("optimality", applies=minimizes)
def _optimality(part: Regularizer) -> None:
    """No weights nearby have a lower objective, nor does another intercept: other weights of the
    same features, and where there is a penalty also of others, of which the proximal gradient is 0.
    A regularizer whose weights minimize nothing says minimizes = False."""
    of = objective_of(part)
    for problem in (small(), hard()):
        ready: Any = prepared(part, problem)
        found, objective = solved(ready, problem), of(ready, problem)
        least = objective(found.w, found.b)
        _, gradient = loss_at(problem, found.w, found.b)
        slack = LOWER * max(abs(least), 1e-2 * null_loss(problem))
        everywhere = adds_penalty(part)
        moves = _moves(found.w, gradient, everywhere=everywhere)
        sizes = (-1e-2, -1e-3, 1e-3, 1e-2)
        value, w, b = lower(objective, found, moves, sizes)
        what = "another intercept" if b != found.b else _changed(w - found.w)
        at_least(f"an objective, with {what},", value, least, slack)
        if everywhere:
            _require_no_gradient(ready.penalty(problem), problem, found, gradient)


def _moves(w: Floats, gradient: Floats, *, everywhere: bool) -> list[Floats]:
    """Directions: every weight, all of them, downhill, and one weight to zero."""
    inside = np.ones(len(w), dtype=bool) if everywhere else w != 0.0
    downhill = np.where(inside, -gradient, 0.0)
    single = np.eye(len(w))[inside]
    moves = [*single, w, downhill]
    if everywhere:
        moves += [-100.0 * w[j] * np.eye(len(w))[j] for j in np.flatnonzero(w)]
    return moves


def _changed(move: Floats) -> str:
    places = np.flatnonzero(move)
    if len(places) == 1:
        return f"a change of w[{places[0]}] by {move[places[0]]:.3g}"
    return "a change of all weights"


def _require_no_gradient(penalty: Any, problem: Problem, found: Solution, g: Floats) -> None:
    if hasattr(penalty, "prox"):
        step = 0.1 / max(float(abs(problem.X).sum()), 1e-9)
        moved = found.w - penalty.prox(found.w - step * g, step)
        off = float(np.abs(moved).max()) / step / problem.largest_gradient_at_zero()
        at_most("a proximal gradient", off, 1e-3)


@checks.add("start")
def _start(part: Regularizer) -> None:
    """Started from its own solution, it returns one that is no worse; started from far away, one
    with the same objective."""
    for problem in (small(), hard()):
        ready, rng = prepared(part, problem), np.random.default_rng(5)
        first = solved(ready, problem)
        again = solved(ready, problem.replace(start=(first.w, first.b)))
        slack = max(abs(first.objective), 1e-3 * null_loss(problem)) * 1e-5
        at_most("an objective as before,", again.objective, first.objective, slack)
        away = rng.standard_normal(len(first.w)), 2.0
        other = solved(ready, problem.replace(start=away))
        apart = abs(other.objective - first.objective)
        require(
            apart <= 10.0 * slack or not other.converged,
            f"the objective {first.objective:.8g} from any start",
            f"{other.objective:.8g}",
        )


@checks.add("honesty")
def _honesty(part: Regularizer) -> None:
    """A converged solution has a gap within the tolerance, if it has one, and an objective that is
    near the best one known, or without a penalty near that of other weights of the same features;
    any other gives a ConvergenceWarning."""
    of: Any = None
    for make in (small, hard):
        tight = make()
        ready = prepared(part, tight)
        best = solved(ready, tight).objective
        slack = REACHED * max(abs(best), 1e-2 * null_loss(tight))
        for each in (tight, make(tol=1e-13, max_iter=1), make(tol=1e-6, max_iter=3)):
            found = require_honest(ready.solve, each)
            if not found.converged or not part.minimizes:
                continue
            if not adds_penalty(part):  # features may differ where there are many local optima
                of = of or objective_of(part)
                _, gradient = loss_at(each, found.w, found.b)
                moves = _moves(found.w, gradient, everywhere=False)
                best = lower(of(ready, each), found, moves, (-1e-2, -1e-3, 1e-3, 1e-2))[0]
            at_most("a converged objective", found.objective, best, slack)


def _solutions(part: Regularizer, ready: Regularizer, problem: Problem) -> Iterator[Solution]:
    """What is known of a problem: from other starts, to another tolerance, with other parameters,
    by another solver, with other features."""
    yield solved(ready, problem)
    rng = np.random.default_rng(6)
    far = rng.standard_normal(problem.X.shape[1]), 0.5
    yield solved(ready, problem.replace(start=far))
    with quiet():
        for _, found in part.path(problem.replace(tol=1e-4), part.candidates(problem)[:4]):
            yield found
        penalty: Any = ready.penalty(problem) if adds_penalty(ready) else None  # type: ignore[attr-defined]
        if hasattr(penalty, "prox"):
            yield proximal(problem.replace(max_iter=500), penalty)


@checks.add("bound")
def _bound(part: Regularizer) -> None:
    """If a gap is given, it is valid: of all solutions that are known, by other starts, tolerances
    and parameters, another solver, or exchanged features, none has an objective below the bound."""
    of: Any = None
    for make in (small, hard):
        problem = make()
        ready = prepared(part, problem)
        tries = [
            make(),
            make(tol=0.3),
            make(tol=1e-2),
            make(tol=1e-6, max_iter=2),
            make(max_iter=7),
        ]
        claims = [found for each in tries if _claims(found := solved(ready, each))]
        if not claims:
            continue
        of = of or objective_of(part)
        objective = of(ready, problem)
        known = [(each.w, each.b) for each in _solutions(part, ready, problem)]
        if not adds_penalty(part):
            known += rivals(problem, claims[0])
        least = min(objective(w, b) for w, b in known)
        for found in claims:
            at_least("a gap", found.gap, 0.0)
            bound = found.objective * (1.0 - found.gap)
            enough = bound <= least + 1e-9 * max(abs(least), 1e-3 * null_loss(problem))
            told = f"a gap of {(found.objective - least) / found.objective:.2g} at least, as there "
            require(enough, f"{told}is an objective of {least:.8g}", f"{found.gap:.2g}")


def _claims(found: Solution) -> bool:
    return not math.isnan(found.gap)


@checks.add("path")
def _path(part: Regularizer) -> None:
    """path gives every candidate, in order and without AUTO, with the solution that it has
    alone."""
    for problem in (small(tol=1e-6), hard(tol=1e-6)):
        grid = part.candidates(problem)
        open_ones = [each for each in grid if each.undecided()]
        require(bool(grid) and not open_ones, "candidates with every value", open_ones or grid)
        doubles = [each for at, each in enumerate(grid) if each in grid[:at]]
        require(not doubles, "candidates that differ", f"{doubles[:1]} twice")
        with quiet():
            walked = list(part.path(problem, grid))
        parts = [each for each, _ in walked]
        require(parts == grid, f"{len(grid)} candidates in order", parts)
        for each, solution in [*walked[:: max(1, len(walked) // 3)], walked[-1]]:
            alone = solved(each, problem)
            slack = 1e-4 * max(abs(alone.objective), 1e-3 * null_loss(problem))
            off = abs(solution.objective - alone.objective)
            require(off <= slack, f"the objective {alone.objective} of {each}", solution.objective)
            if not part.minimizes:
                near(f"the weights of {each}", solution.w, alone.w, 1e-6)
