"""The contract of a regularizer: how it treats the problems that it is given.

Whether a solution is what it says: objective, optimality, gap, and the features it selects.
"""

from __future__ import annotations

import itertools
import math
import tracemalloc
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from textreg.errors import ConvergenceWarning, DataError, PluginError, RecordError, UsageError
from textreg.kinds import Penalized, Regularizer
from textreg.losses import LOSSES
from textreg.params import LogGrid
from textreg.plugins import calls, registry
from textreg.records import Floats, Groups, Int64s, Problem, SelectionReport, Solution, Step
from textreg.solvers.proximal import proximal
from textreg.solvers.softmax import softmax_loss
from textreg_testing import problems
from textreg_testing.checks import Check, at_least, at_most, contract, fail, finite, near, require
from textreg_testing.objective import PENALTIES, Sized
from textreg_testing.problems import CLASSES, CLOSE, N, P, hard, loss_at, null_loss, prepared, small
from textreg_testing.repeated import Repeats, common_checks, repeated_checks

# Share of the objective that is left to rounding.
SAME = 1e-6

# Share of the objective by which weights nearby may lie below those that were found.
LOWER = 1e-5

# Share of it by which that of a converged solution may lie above the best that is known.
REACHED = 1e-3

# Share of the loss of no feature that a fit must be below.
BETTER = 0.999

# What a fit of the large sparse problem may take at its peak; as dense it would be 144, or 72 in
# single precision, and the products of all documents with each other 18.
MEGABYTES = 60

# A penalty strength at which every weight is zero.
HUGE = 1e9

# Problems whose features are of unlike sizes; by chance one alone may have no ties.
HARD = (hard, partial(hard, 1))

checks = common_checks("regularizer", "", lambda part: prepared(part, hard()))


@lru_cache(maxsize=32)  # most checks start from the same few
def fit(
    part: Regularizer, make: Callable[..., Problem], **changes: Any
) -> tuple[Problem, Regularizer, Solution]:
    """A problem that is made with these changes, the part with parameters chosen for it, and the
    solution."""
    problem = make(**changes)
    ready = prepared(part, problem)
    return problem, ready, ready.solve(problem)


@lru_cache(maxsize=4)
def fit_softmax(part: Regularizer) -> tuple[Problem, Int64s, Any, Any]:
    """The problem of three classes and their numbers, the part chosen for it, and the solution."""
    problem, codes = problems.labeled(tol=1e-6)
    ready = prepared(part, problem)
    return problem, codes, ready, calls.solve_softmax(ready, problem, codes)


def adds_penalty(part: Regularizer) -> bool:
    """Whether a regularizer has the method ``penalty(problem)``: what it adds to the loss."""
    return callable(getattr(part, "penalty", None))


def penalty_of(ready: Any, problem: Problem) -> Any:
    """What a decided regularizer adds to the loss, if it has a prox; else None."""
    penalty = ready.penalty(problem) if adds_penalty(ready) else None
    return penalty if hasattr(penalty, "prox") else None


def objective_of(ready: Any, problem: Problem, name: str = "objective") -> Callable[..., float]:
    """Its method of this name, with a penalty that is made once: it is called hundreds of times."""
    cached = copy(ready)
    if adds_penalty(ready):
        penalty = ready.penalty(problem)
        vars(cached)["penalty"] = lambda problem: penalty
    return partial(getattr(cached, name), problem)


def declares(part: Regularizer) -> bool:
    """Whether the regularizer says what its objective is."""
    return type(part).objective is not Regularizer.objective or adds_penalty(part)


def slack_of(value: float, problem: Problem, share: float, least: float = 1e-3) -> float:
    """A share of an objective, or of a part of the loss of no feature where that is larger."""
    return share * max(abs(value), least * null_loss(problem))


def require_objective(ready: Regularizer, problem: Problem, solution: Solution, told: str) -> None:
    """A solution states the objective of its weights; told: of which problem."""
    value = ready.objective(problem, solution.w, solution.b)
    told += "" if math.isfinite(value) else ", at which such weights are not allowed"
    if not declares(ready):
        told += " (the loss; what else is right, objective(problem, w, b) says)"
    same = abs(solution.objective - value) <= slack_of(value, problem, SAME) < math.inf
    require(same, f"the objective {value:.8g}{told}", f"{solution.objective:.8g}")


def lower(objective: Callable[..., float], solution: Any, moves: Any) -> tuple[float, Any, Any]:
    """The lowest objective that these moves of the weights or an intercept lead to, and where."""
    sizes = (-1e-2, -1e-3, 1e-3, 1e-2)
    first = np.eye(np.size(solution.b))[0] if np.ndim(solution.b) else 1.0  # of several classes
    trials = [(solution.w, solution.b + size * first) for size in (-1e-2, 1e-2)]
    trials += [(solution.w + size * move, solution.b) for move in moves for size in sizes]
    values = [objective(w, b) for w, b in trials]
    best = int(np.argmin(values))
    return values[best], *trials[best]


def require_honest(
    solve: Callable[..., Any], problem: Problem, *more: Any, known: Solution | None = None
) -> Any:
    """What ``solve(problem, *more)`` calls converged has a gap within the tolerance, if any; what
    is not warns. Returns it.

    known: the solution, if it has converged, so that it is not found again.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        solution = known or solve(problem, *more)
    warned = any(it.category is ConvergenceWarning for it in caught)
    if solution.converged and not math.isnan(solution.gap):
        require(solution.gap <= problem.tol, f"a gap within {problem.tol}", solution.gap)
    require(solution.converged or warned, "a ConvergenceWarning", "none")
    return solution


def require_stop(solve: Callable[[Callable[[Step], bool]], Any]) -> None:
    """A callback is called with one Step, where it returns True, and weights are finite then."""
    steps: list[Any] = []

    def stop(step: Step) -> bool:
        steps.append(step)
        return True

    solution = solve(stop)
    good = len(steps) == 1 and isinstance(steps[0], Step)
    require(good, "one Step for a callback that returns True", steps)
    finite("weights", solution.w)


def solved_or_refused(solve: Callable[[], Any], name: str, *, may_refuse: bool = True) -> Any:
    """The solution, whose weights are finite; None for a refusal that tells users what to change.

    A RecordError is a fault.
    """
    try:
        solution = solve()
    except (DataError, UsageError) as error:
        if not may_refuse:
            raise
        got = f"{type(error).__name__}: {error}"
        good = not isinstance(error, RecordError) and bool(str(error))
        require(good, f"a solution for {name}, or a DataError or UsageError that tells why", got)
        return None
    finite(f"weights and intercept for {name}", [*np.ravel(solution.w), *np.ravel(solution.b)])
    return solution


@checks.add("builder", lambda part: bool(part.default_builder), level=checks.OF_CLASS)
def _builder(part: Regularizer) -> None:
    """If it names a default builder for its groups or graph, that builder exists."""
    needs, name = part.needs, part.default_builder
    require(needs in ("groups", "graph"), "needs = 'groups' or 'graph'", repr(needs))
    try:
        distribution = registry.origin(part).distribution
        registry.find(needs, registry.preferred(needs, name, distribution, "textreg"))
    except PluginError as error:
        fail(f"a builder of {needs} called '{name}'", f"this error: {error}")


@lru_cache(maxsize=4)
def _sized(part: Regularizer) -> Sized | None:
    """Its penalty, as the checks of penalties take it; None where it has none with a prox."""
    penalty = penalty_of(prepared(part), small())
    return None if penalty is None else Sized(penalty, P)


def _of_penalty(check: Check) -> Check:
    """A check of the penalty of a regularizer, where it has one."""
    return replace(
        check,
        run=lambda part: check.run(_sized(part)),
        applies=lambda part: bool(_sized(part)) and check.applies(_sized(part)),
        level=checks.OF_PENALTY,
    )


checks.all += map(_of_penalty, PENALTIES.all)  # they solve nothing, and show where a mistake is


@checks.add("solution", level=checks.RESULT)
def _solution(part: Regularizer) -> None:
    """The solution has p finite weights, a finite intercept and a finite objective."""
    problem, _, solution = fit(part, small)
    require(isinstance(solution, Solution), "a Solution", type(solution).__name__)
    require(np.shape(solution.w) == (P,), f"w of the shape ({P},)", np.shape(solution.w))
    finite("weights", solution.w)
    finite("intercept and objective", [solution.b, solution.objective])
    if solution.group_norms is not None and problem.groups is not None:
        shape, wanted = np.shape(solution.group_norms), (len(problem.groups),)
        require(shape == wanted, f"group_norms of the shape {wanted}", shape)


@checks.add("losses")
def _losses(part: Regularizer) -> None:
    """With every loss, and parameters from the middle of its grid, the fit is better than no
    feature; so where every group is of one feature, and where y is numbers."""
    numbers = partial(small, y=small().X @ np.linspace(-1.0, 1.0, P) + 5.0)
    cases = [(small if LOSSES[loss].binary else numbers, {"loss": loss}) for loss in LOSSES]
    for make, changes in [*cases, (problems.single_features, {})]:
        problem, _, solution = fit(part, make, tol=1e-2, max_iter=500, **changes)
        loss, _ = loss_at(problem, solution.w, solution.b)
        what = f"a {problem.loss.label()} loss, {BETTER:g} of that of no feature,"
        what += " with groups of one feature each," * (not changes)
        at_most(what, loss, BETTER * null_loss(problem))


@checks.add("input", level=checks.SINGLE)
def _input(part: Regularizer) -> None:
    """solve does not modify the problem: X, y, weights, groups, links and start stay as they
    were. It takes them as training gives them, in arrays that cannot be written to."""
    problem: Any = hard(start=(np.full(90, 0.1), 0.1), tol=1e-3)
    arrays = {"X": problem.X.data, "groups.indices": problem.groups.indices}
    arrays |= {"groups.weights": problem.groups.weights, "graph": problem.graph.similar.data}
    arrays |= {"y": problem.y, "sample_weight": problem.sample_weight, "start": problem.start[0]}
    before = {name: array.copy() for name, array in arrays.items()}
    prepared(part, problem).solve(problem)
    for name, array in arrays.items():
        require(np.array_equal(array, before[name]), f"{name} as it was", "another")
    prepared(part, problem).solve(calls.sealed(problem))


def _weights_of(part: Regularizer, make: Callable[[], Problem]) -> tuple[Solution, list[Any]]:
    """Its solution of a problem, and the values that a search would try."""
    problem, keys = make(), part.undecided()
    tried = [[each.params()[key] for key in keys] for each in part.candidates(problem) if keys]
    return prepared(part, problem).solve(problem), tried


def _numbers(solved: tuple[Solution, list[Any]]) -> list[float]:
    solution, tried = solved
    return [*solution.w.tolist(), solution.b, *itertools.chain(*tried)]


def _tasks(part: Regularizer) -> list[Callable[[], Problem]]:
    # What is compared to the last bit need not be exact.
    return [partial(make, tol=1e-3) for make in (small, problems.turned)]


def _various(part: Regularizer) -> list[Callable[[], Problem]]:
    # An effect shows long before the end of fits without a penalty, which take longest.
    return [partial(make, tol=1e-3, max_iter=500) for make in (small, hard)]


# LAPACK may round in another way where arrays begin at other addresses.
repeated_checks(checks, Repeats(_weights_of, _numbers, _tasks, _various, rounding=1e-9))


@checks.add("order", applies=lambda part: not part.order_matters)
def _order(part: Regularizer) -> None:
    """The order of the documents and of the features does not matter, except for rounding, unless
    the class says order_matters = True."""
    rows = np.random.default_rng(2).permutation(N)
    problem, ready, solution = fit(part, small)
    y, c = problem.y[rows], problem.sample_weight[rows]
    other = ready.solve(problem.replace(X=problem.X[rows], y=y, sample_weight=c))
    near("weights of documents in another order", other.w, solution.w, CLOSE)
    for make in HARD:
        problem, ready, solution = fit(part, make)
        order = np.random.default_rng(2).permutation(problem.X.shape[1])
        other = ready.solve(problems.reordered(problem, order))
        near("weights of features in another order", other.w, solution.w[order], CLOSE)


@checks.add("labels")
def _labels(part: Regularizer) -> None:
    """Labels that change places turn the signs of the weights, where both signs cost the same and
    the loss treats both labels alike."""
    for make in HARD:
        problem, ready, solution = fit(part, make)
        opposite = problem.replace(y=-problem.y)
        if declares(part):
            one = ready.objective(problem, solution.w, solution.b)
            other = ready.objective(opposite, -solution.w, -solution.b)
            if abs(one - other) > 1e-9 * max(abs(one), 1e-3):
                continue
        near("minus the weights", -ready.solve(opposite).w, solution.w, CLOSE)


@checks.add("weights")
def _weights(part: Regularizer) -> None:
    """A document of weight 3 counts as three copies of it, and one of weight 0 does not count."""
    problem, ready, solution = fit(part, problems.weighted)
    copies = ready.solve(problems.repeated(problem))
    near("weights of repeated documents", copies.w, solution.w, CLOSE)


@checks.add("intercept")
def _intercept(part: Regularizer) -> None:
    """Without an intercept, b is 0; with an intercept and no features, b is the log odds."""
    problem, ready, _ = fit(part, small)
    without = ready.solve(problem.replace(fit_intercept=False))
    require(without.b == 0.0, "b = 0 where fit_intercept is off", without.b)
    up, down = (problem.sample_weight[problem.y == sign].sum() for sign in (1, -1))
    solution = ready.solve(problem.replace(X=csr_array((N, P))))
    require(not solution.w.any(), "no weight where every feature is 0", solution.w)
    near("the intercept alone", [solution.b], [math.log(up / down)], 1e-3)


@checks.add("dense")
def _dense(part: Regularizer) -> None:
    """A dense and a sparse X give the same solution."""
    problem, ready, solution = fit(part, small)
    dense = ready.solve(problem.replace(X=problem.X.toarray()))
    near("weights", dense.w, solution.w, 1e-9)


@checks.add("memory", level=checks.COSTLY)
def _memory(part: Regularizer) -> None:
    """A large sparse X is never converted to a dense array."""
    problem = problems.large()
    params = prepared(part, problem).params()
    counts = [key for key, value in params.items() if type(value) is int and value > 200]
    ready = prepared(part.replace(**dict.fromkeys(counts, 200)), problem)
    tracemalloc.start()
    try:
        ready.solve(problem)
        peak = tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()
    at_most("megabytes", peak, MEGABYTES)


@checks.add("edges")
def _edges(part: Regularizer) -> None:
    """It solves problems with one feature, two documents, equal features or a single label, and
    states their objectives. Groups without features and graphs without links are solved, or refused
    with a message."""
    ready = prepared(part)
    for name, (problem, may_refuse) in problems.edges(ready.needs).items():
        solve = partial(ready.solve, problem)
        if solution := solved_or_refused(solve, name, may_refuse=may_refuse):
            require_objective(ready, problem, solution, f" for {name}")


def _strengths_of(part: Regularizer) -> list[str]:
    return [key for key, it in part.declared().items() if isinstance(it.search, LogGrid)]


# What the others are asked at comes from the strengths and their scales.
@checks.add("strengths", applies=lambda part: bool(_strengths_of(part)), level=checks.RIGHT)
def _strengths(part: Regularizer) -> None:
    """A penalty strength of 0 is allowed, and a huge one leaves no weight. Each strength counts: a
    larger one gives other weights, which fit no better."""
    ready, problem = prepared(part), small(tol=1e-3, max_iter=100)
    strengths = _strengths_of(part)
    for key in strengths:
        finite(f"weights at {key}=0", ready.replace(**{key: 0.0}).solve(problem).w)
    solution = ready.replace(**dict.fromkeys(strengths, HUGE)).solve(problem)
    at_most(f"a weight at strengths of {HUGE:g}", float(np.abs(solution.w).max()), 1e-4)
    problem, _, first = fit(part, small)
    for key in strengths:
        more = ready.replace(**{key: 3.0 * getattr(ready, key)}).solve(problem)
        same = np.array_equal(first.w, more.w) and bool(first.w.any())
        require(not same, f"other weights with {key} three times as large", "the same")
        if part.minimizes:
            before, after = (loss_at(problem, each.w, each.b)[0] for each in (first, more))
            at_least(f"a loss with a larger {key}", after, before, 1e-5 * null_loss(problem))


@checks.add("scale", applies=lambda part: bool(_strengths_of(part)), level=checks.RIGHT)
def _scale(part: Regularizer) -> None:
    """The scale of a strength is of the size at which weights vanish: a hundredth of it leaves
    some, and of a sparse model ten times as much leaves none. A document of weight 3 counts in it
    as three copies do, and the order of the features does not matter."""
    problem, ready, usual = fit(part, small)
    copies = problems.repeated(problem)
    strengths = _strengths_of(part)
    scales = {key: part.scale(problem, key) for key in strengths}
    for key, scale in scales.items():
        require(math.isfinite(scale) and scale > 0.0, f"a number above 0 for {key}", scale)
        near(f"the scale of {key} for copies", [part.scale(copies, key)], [scale], 1e-6)
        mixed = part.scale(problems.reordered(problem, np.arange(P)[::-1]), key)
        near(f"the scale of {key} for features in another order", [mixed], [scale], 1e-6)
    small_ones = {key: 1e-2 * scale for key, scale in scales.items()}
    solution = ready.replace(**small_ones).solve(problem)
    require(solution.w.any(), "some weight at a hundredth of the scales", "none")
    if not part.needs and usual.nonzero < P:  # it is sparse
        large_ones = {key: 10.0 * scale for key, scale in scales.items()}
        left = ready.replace(**large_ones).solve(problem).nonzero
        require(left == 0, "no weight at ten times the scales", f"{left} weights")


@checks.add("callback", level=checks.SINGLE)
def _callback(part: Regularizer) -> None:
    """The callback is called with Steps; when it returns True, the best solution so far is
    returned at once."""
    ready = prepared(part)
    require_stop(lambda stop: ready.solve(small(tol=1e-12, callback=stop)))


@checks.add("objective", level=checks.RIGHT)
def _objective(part: Regularizer) -> None:
    """The objective of a solution is that of its w and b, also where it was stopped: the loss, and
    what is added to it: the value of its penalty, or what objective(problem, w, b) says."""
    cases = {
        "": fit(part, small)[0],
        " for unequal documents and features": hard(tol=1e-3),
        " with features 100 times as large": small(X=100.0 * small().X, tol=1e-3),
        " without an intercept": small(fit_intercept=False, tol=1e-3),
        " under the squared hinge loss": small(loss="squared-hinge", tol=1e-3),
        " of a run that is stopped early": hard(tol=0.3, max_iter=2),
        " of one that its callback ends": hard(callback=lambda step: step.iteration > 1),
    }
    for case, problem in cases.items():
        # Once the last of the grid, which has the most weights, and small ones among them.
        ready = part.candidates(problem)[-1] if "unequal" in case else prepared(part, problem)
        solution = ready.solve(problem) if case else fit(part, small)[2]
        require_objective(ready, problem, solution, case)
        if solution.unsmoothed is not None:
            smooth = problem.unsmoothed(solution.w, solution.b, solution.objective, solution.gap)
            near("unsmoothed.objective", [solution.unsmoothed.objective], [smooth.objective], SAME)  # type: ignore[union-attr]


@checks.add("optimality", lambda part: part.minimizes, level=checks.RIGHT)
def _optimality(part: Regularizer) -> None:
    """No weights nearby have a lower objective, nor does another intercept: other weights of the
    same features, and where there is a penalty also of others, of which the proximal gradient is 0.
    A regularizer whose weights minimize nothing says minimizes = False."""
    for make in (small, hard):
        problem, ready, solution = fit(part, make)
        objective = objective_of(ready, problem)
        least = objective(solution.w, solution.b)
        everywhere = adds_penalty(part)
        value, w, b = lower(objective, solution, _moves(solution, problem, everywhere=everywhere))
        places = np.flatnonzero(w != solution.w)
        what = "a change of all weights" if b == solution.b else "another intercept"
        if len(places) == 1:
            what = f"a change of w[{places[0]}] by {(w - solution.w)[places[0]]:.3g}"
        slack = slack_of(least, problem, LOWER, 1e-2)
        at_least(f"an objective, with {what},", value, least, slack)
        if penalty := penalty_of(ready, problem):
            _, gradient = loss_at(problem, solution.w, solution.b)
            step = 0.1 / max(float(abs(problem.X).sum()), 1e-9)
            moved = solution.w - penalty.prox(solution.w - step * gradient, step)
            off = float(np.abs(moved).max()) / step / problem.largest_gradient_at_zero()
            at_most("a proximal gradient", off, 1e-3)


def _moves(solution: Solution, problem: Problem, *, everywhere: bool) -> list[Floats]:
    """Directions: every weight, all of them, downhill, and one weight to zero."""
    w = solution.w
    _, gradient = loss_at(problem, w, solution.b)
    inside = np.ones(len(w), dtype=bool) if everywhere else w != 0.0
    moves = [*np.eye(len(w))[inside], w, np.where(inside, -gradient, 0.0)]
    to_zero = [-100.0 * w[j] * np.eye(len(w))[j] for j in np.flatnonzero(w)]
    return moves + to_zero if everywhere else moves


@checks.add("start")
def _start(part: Regularizer) -> None:
    """Started from its own solution, it returns one that is no worse; started from far away, one
    with the same objective."""
    problem, ready, first = fit(part, hard)
    again = ready.solve(problem.replace(start=(first.w, first.b)))
    slack = slack_of(first.objective, problem, 1e-5)
    at_most("an objective as before,", again.objective, first.objective, slack)
    away = np.random.default_rng(5).standard_normal(len(first.w)), 2.0
    other = ready.solve(problem.replace(start=away))
    near_enough = abs(other.objective - first.objective) <= 10.0 * slack
    expected = f"the objective {first.objective:.8g} from any start"
    require(near_enough or not other.converged, expected, f"{other.objective:.8g}")


@checks.add("honesty")
def _honesty(part: Regularizer) -> None:
    """A converged solution has a gap within the tolerance, if it has one, and an objective that is
    near the best one known, or without a penalty near that of other weights of the same features;
    any other gives a ConvergenceWarning."""
    for make in (small, hard):
        tight, ready, first = fit(part, make)
        best = first.objective
        slack = slack_of(best, tight, REACHED, 1e-2)
        for each in (tight, make(tol=1e-13, max_iter=1), make(tol=1e-6, max_iter=3)):
            known = first if each is tight and first.converged else None
            solution = require_honest(ready.solve, each, known=known)
            if not solution.converged or not part.minimizes:
                continue
            if not adds_penalty(part):  # features may differ where there are many local optima
                moves = _moves(solution, each, everywhere=False)
                best = lower(objective_of(ready, each), solution, moves)[0]
            at_most("a converged objective", solution.objective, best, slack)


@checks.add("bound")
def _bound(part: Regularizer) -> None:
    """If a gap is given, it is valid: of all solutions that are known, by other starts, tolerances
    and parameters, by weights nearby, or by another solver, none has an objective below the
    bound."""
    problem, ready, first = fit(part, hard)
    coarse = [hard(tol=0.3), hard(tol=1e-2), hard(tol=1e-6, max_iter=2)]
    early = [hard(max_iter=7), hard(max_iter=1)]
    solutions = [first, *(ready.solve(each) for each in (*coarse, *early))]
    claims = [solution for solution in solutions if not math.isnan(solution.gap)]
    if not claims:
        return
    objective = objective_of(ready, problem)
    least = min(objective(w, b) for w, b in _known(part, problem, ready, first))
    for solution in claims:
        bound = solution.objective * (1.0 - solution.gap)
        gap = (solution.objective - least) / solution.objective
        expected = f"a gap of {gap:.2g} at least, as there is an objective of {least:.8g}"
        require(bound <= least + slack_of(least, problem, 1e-9), expected, f"{solution.gap:.2g}")


def _known(
    part: Regularizer, problem: Problem, ready: Regularizer, first: Solution
) -> Iterator[tuple[Floats, float]]:
    """What is known of a problem: from other starts, to another tolerance, with other parameters,
    by moves, by another solver."""
    far = np.random.default_rng(6).standard_normal(problem.X.shape[1]), 0.5
    known = [first, ready.solve(problem.replace(start=far))]
    known += [it for _, it in part.path(problem.replace(tol=1e-4), part.candidates(problem)[:2])]
    overrides = type(part).solve is not Penalized.solve
    if overrides and (penalty := penalty_of(ready, problem)):
        known.append(proximal(problem.replace(max_iter=500), penalty))
    yield from ((it.w, it.b) for it in known)
    moves = _moves(first, problem, everywhere=False)
    yield lower(objective_of(ready, problem), first, moves)[1:]


@checks.add("path")
def _path(part: Regularizer) -> None:
    """path gives every candidate, in order and without AUTO, with the solution that it has
    alone."""
    problem = hard(tol=1e-5)
    grid = part.candidates(problem)
    calls.candidates(part, problem)  # an error where there is none, or one lacks a value
    doubles = [each for at, each in enumerate(grid) if each in grid[:at]]
    require(not doubles, "candidates that differ", f"{doubles[:1]} twice")
    candidates = grid[:4]
    walked = list(part.path(problem, candidates))
    parts = [each for each, _ in walked]
    require(parts == candidates, f"{len(candidates)} candidates in order", parts)
    for each, solution in (walked[len(walked) // 2], walked[-1]):
        alone = each.solve(problem)
        off = abs(solution.objective - alone.objective)
        same = off <= slack_of(alone.objective, problem, 1e-4)
        require(same, f"the objective {alone.objective} of {each}", f"{solution.objective}{_HINT}")
        if not part.minimizes:
            near(f"the weights of {each}", solution.w, alone.w, 1e-6)


_HINT = (
    ". Along a path every solution starts where the one before it ended, at problem.start: a "
    "procedure that is not convex may then end elsewhere. Start from zero, or override path"
)


@checks.add("multiclass")
def _multiclass(part: Regularizer) -> None:
    """One-vs-rest fits that share a problem equal separate fits, and predict better than the most
    frequent label."""
    problem, codes = problems.labeled(tol=1e-3)
    problem = problem.replace(y=problems.one_rest(codes, 0))
    ready = prepared(part, problem)
    _ = problem.X_csc  # the classes of a training share it too, and what is derived from it
    scores = []
    for label in range(CLASSES):
        y = problems.one_rest(codes, label)
        shared, alone = ready.solve(problem.replace(y=y)), ready.solve(small(y=y, tol=1e-3))
        near(f"weights of class {label}", shared.w, alone.w, CLOSE)
        scores.append(problem.X @ shared.w + shared.b)
    right = np.mean(np.argmax(scores, axis=0) == codes)
    usual = np.bincount(codes).max() / len(codes)
    require(right > usual, f"more than {usual:.0%} right answers", f"{right:.0%}")


@checks.add("side-by-side", applies=calls.solves_together)
def _side_by_side(part: Regularizer) -> None:
    """What solve_each gives for a label is the same to the last bit whatever labels are beside it,
    and as near to the optimum as what solve gives."""
    problem, codes = problems.labeled()
    ready = prepared(part, problem)
    posed = [problem.replace(y=problems.one_rest(codes, k)) for k in range(CLASSES)]
    several = ready.solve_each(posed)
    require(len(several) == CLASSES, f"{CLASSES} solutions", len(several))
    for label, (binary, solution) in enumerate(zip(posed, several, strict=True)):
        (own,), alone = ready.solve_each([binary]), ready.solve(binary)
        same = np.array_equal(solution.w, own.w)
        require(same, f"the weights of class {label} as by itself", "others")
        near(f"objective of class {label}", solution.objective, alone.objective, CLOSE)
        near(f"weights of class {label}", solution.w, alone.w, CLOSE)


@checks.add("softmax", applies=lambda part: part.softmax)
def _softmax(part: Regularizer) -> None:
    """solve_softmax gives weights (classes, p) that are better than no feature, do not depend on
    the order of the classes, and count a document of weight 3 as three. Strengths of 0 are
    allowed, or an error says why not."""
    problem, codes, ready, solution = fit_softmax(part)
    shares = np.bincount(codes, weights=problem.sample_weight) / problem.sample_weight.sum()
    nothing = softmax_loss(problem, codes, np.zeros((CLASSES, P)), np.log(shares))
    loss = softmax_loss(problem, codes, solution.w, solution.b)
    require(loss < nothing, f"a loss below {nothing:g}, that of no feature", loss)

    # Of copies, with the classes in another order.
    turned = np.repeat((codes + 1) % CLASSES, problem.sample_weight.astype(int))
    copies = ready.solve_softmax(problems.repeated(problem), turned)
    what = "weights of repeated documents, with the classes in another order,"
    near(what, copies.w[[1, 2, 0]], solution.w, CLOSE)
    loose = problems.labeled(tol=1e-2, max_iter=20)[0]
    for key in _strengths_of(ready):
        free = partial(ready.replace(**{key: 0.0}).solve_softmax, loose, codes)
        solved_or_refused(free, f"{key}=0")


@checks.add("softmax-objective", applies=lambda part: part.softmax)
def _softmax_objective(part: Regularizer) -> None:
    """The objective of solve_softmax is the softmax loss, and what the regularizer adds for each
    class, or what objective_softmax says. No weights nearby have a lower one, a gap is valid, and
    the intercepts sum to 0."""
    problem, codes, ready, solution = fit_softmax(part)
    objective = partial(objective_of(ready, problem, "objective_softmax"), codes)
    value = objective(solution.w, solution.b)
    near("the objective", [solution.objective], [value], 1e-6)
    total = float(np.abs(solution.b.sum()))
    require(total <= 1e-6 * (1.0 + np.abs(solution.b).max()), "intercepts that sum to 0", total)
    moves = [*np.eye(CLASSES * P).reshape(-1, CLASSES, P), solution.w]
    least = lower(objective, solution, moves)[0]
    at_least("an objective nearby", least, value, 1e-5 * value)
    for tol in (0.3, 1e-2):
        loose = ready.solve_softmax(problem.replace(tol=tol), codes)
        if not math.isnan(loose.gap):
            known = min(least, value)
            at_most("a bound", loose.objective * (1.0 - loose.gap), known, 1e-9 * known)


@checks.add("softmax-honesty", applies=lambda part: part.softmax)
def _softmax_honesty(part: Regularizer) -> None:
    """A converged solution has a gap within the tolerance, if it has one; any other gives a
    ConvergenceWarning. When the callback returns True, the best solution so far is returned at
    once."""
    for options in ({"tol": 1e-4}, {"tol": 1e-13, "max_iter": 1}):
        problem, codes = problems.labeled(**options)
        ready = prepared(part, problem)
        require_honest(ready.solve_softmax, problem, codes)
    require_stop(lambda stop: ready.solve_softmax(problems.labeled(callback=stop)[0], codes))


# Values of a parameter at which the features are counted.
BUDGETS = (1, 2, 3, 5, 10, 20)


@checks.add("budget", level=checks.SINGLE)
def _budget(part: Regularizer) -> None:
    """No more features than a parameter allows: one that is the number of features for most of its
    values never is exceeded. A last group may exceed it, by no more than what it brings."""
    problem, ready, _ = fit(part, hard)
    extra = int(np.diff(problem.groups.indptr).max()) - 1 if part.needs == "groups" else 0  # type: ignore[union-attr]
    for key, value in ready.params().items():
        if isinstance(value, bool) or not isinstance(value, int):
            continue
        low, high = ready.declared()[key].min, ready.declared()[key].max
        tried = [it for it in BUDGETS if (low or 1) <= it <= (high or np.inf)]
        over = {it: ready.replace(**{key: it}).solve(problem).nonzero - it for it in tried}
        usual, times = max(Counter(over.values()).items(), key=lambda it: it[1], default=(0, 0))
        # Fewer features at some values is an early end; at other numbers it counts something else.
        if len(over) < 3 or times < len(over) * (2 / 3 if usual < 0 else 1 / 2):
            continue
        for it, more in over.items():
            right = more <= extra and (usual == 0 or extra > 0)
            require(right, f"{it} features at {key}={it}, or fewer at an end", it + more)


@checks.add("report", level=checks.SINGLE)
def _report(part: Regularizer) -> None:
    """A report of a selection is right: its order has every feature with a weight, none twice, and
    its steps say how many there were after each, and which group brought them."""
    for make in (small, hard):
        problem, _, solution = fit(part, make)
        report = solution.report
        if isinstance(report, SelectionReport) and report.order:
            _require_order(solution, report, problem.groups)
        if solution.group_norms is not None and problem.groups is not None:
            at_least("group_norms", np.asarray(solution.group_norms).min(), 0.0)


def _require_order(solution: Solution, report: SelectionReport, groups: Groups | None) -> None:
    order = np.array(report.order)
    require(len(set(report.order)) == len(order), "each feature once in order", report.order)
    inside = bool(((order >= 0) & (order < len(solution.w))).all())
    require(inside, f"features of 0 to {len(solution.w) - 1} in order", report.order)
    missing = np.setdiff1d(np.flatnonzero(solution.w), order)
    require(not len(missing), "every feature with a weight in order", f"none of {missing}")
    idle = np.count_nonzero(solution.w[order] == 0.0)
    require(idle <= len(order) // 4, "weights of the features in order", f"{idle} without one")
    actives = [step.active for step in report.steps]
    if not actives:
        return
    whole = [0, *actives] == sorted({0, *actives}) and actives[-1] == len(order)
    require(whole, f"steps whose active rises to {len(order)}", actives)
    for (start, end), step in zip(itertools.pairwise([0, *actives]), report.steps, strict=True):
        if step.group >= 0 and groups is not None:
            members = groups.members(step.group)
            strangers = np.setdiff1d(order[start:end], members)
            expected = f"features of group {step.group}, {members}, in its step"
            require(not len(strangers), expected, strangers)


@checks.add("structure", lambda part: bool(part.needs) and adds_penalty(part), level=checks.SINGLE)
def _structure(part: Regularizer) -> None:
    """The groups or links that a penalty needs count, with their weights: with others its value is
    another."""
    problem, ready, _ = fit(part, hard)
    w = np.random.default_rng(8).standard_normal(problem.X.shape[1])
    value = ready.objective(problem, w, 0.0)
    for name, other in problems.with_others(problem, part.needs):
        changed = ready.objective(other, w, 0.0) != value
        require(changed, f"another objective with another weight of {name}", "the same")


regularizer_checks = checks.of
check_regularizer = contract(regularizer_checks)
