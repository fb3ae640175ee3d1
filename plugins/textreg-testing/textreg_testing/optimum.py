"""Whether a solution is what it says: objective, optimality, gap, and the features it selects."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from textreg.errors import DataError, UsageError
from textreg.kinds import Regularizer
from textreg.losses import Logistic
from textreg.params import LogGrid
from textreg.plugins import calls, registry
from textreg.records import (
    Floats,
    Groups,
    Int64s,
    MultiSolution,
    Problem,
    SelectionReport,
    Solution,
)
from textreg.solvers.proximal import proximal
from textreg.solvers.softmax import softmax_loss
from textreg_testing.checks import Check, at_least, at_most, contract, finite, near, require
from textreg_testing.objective import Sized, penalty_checks
from textreg_testing.regularizer import (
    CLOSE,
    SAME,
    P,
    checks,
    declares,
    hard,
    identical,
    loss_at,
    lower,
    null_loss,
    prepared,
    quiet,
    reordered,
    repeated,
    require_honest,
    require_refusal,
    require_stop,
    small,
    solved,
)

# Share of the objective by which weights nearby may lie below those that were found.
LOWER = 1e-5

# Share of it by which that of a converged solution may lie above the best that is known.
REACHED = 1e-3

# The checks that solve nothing.
QUICK = ("parameters", "state", "manifest", "imports", "builder")


def adds_penalty(part: Regularizer) -> bool:
    """Whether a regularizer has the method ``penalty(problem)``: what it adds to the loss."""
    return callable(getattr(part, "penalty", None))


@checks.add("objective")
def _objective(part: Regularizer) -> None:
    """The objective of a solution is that of its w and b, also where it was stopped: the loss, and
    what is added to it: the value of its penalty, or what objective(problem, w, b) says."""
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
        solution = solved(ready, problem)
        value = ready.objective(problem, solution.w, solution.b)
        told += "" if math.isfinite(value) else ", at which such weights are not allowed,"
        off = abs(solution.objective - value)
        same = math.isfinite(value) and off <= SAME * max(abs(value), 1e-3 * null_loss(problem))
        if not declares(part):
            told += " (the loss; what else is right, objective(problem, w, b) says)"
        require(same, f"the objective {value:.8g}{told}", f"{solution.objective:.8g}")
        if solution.unsmoothed is not None:
            smooth = problem.unsmoothed(solution.w, solution.b, solution.objective, solution.gap)
            near("unsmoothed.objective", [solution.unsmoothed.objective], [smooth.objective], SAME)  # type: ignore[union-attr]


@checks.add("optimality", applies=lambda part: part.minimizes)
def _optimality(part: Regularizer) -> None:
    """No weights nearby have a lower objective, nor does another intercept: other weights of the
    same features, and where there is a penalty also of others, of which the proximal gradient is 0.
    A regularizer whose weights minimize nothing says minimizes = False."""
    for problem in (small(), hard()):
        ready: Any = prepared(part, problem)
        solution, objective = solved(ready, problem), partial(ready.objective, problem)
        least = objective(solution.w, solution.b)
        _, gradient = loss_at(problem, solution.w, solution.b)
        slack = LOWER * max(abs(least), 1e-2 * null_loss(problem))
        everywhere = adds_penalty(part)
        moves = _moves(solution.w, gradient, everywhere=everywhere)
        sizes = (-1e-2, -1e-3, 1e-3, 1e-2)
        value, w, b = lower(objective, solution, moves, sizes)
        what = "another intercept" if b != solution.b else _changed(w - solution.w)
        at_least(f"an objective, with {what},", value, least, slack)
        if everywhere:
            _require_no_gradient(ready.penalty(problem), problem, solution, gradient)


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


def _require_no_gradient(penalty: Any, problem: Problem, solution: Solution, g: Floats) -> None:
    if hasattr(penalty, "prox"):
        step = 0.1 / max(float(abs(problem.X).sum()), 1e-9)
        moved = solution.w - penalty.prox(solution.w - step * g, step)
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
    for make in (small, hard):
        tight = make()
        ready = prepared(part, tight)
        best = solved(ready, tight).objective
        slack = REACHED * max(abs(best), 1e-2 * null_loss(tight))
        for each in (tight, make(tol=1e-13, max_iter=1), make(tol=1e-6, max_iter=3)):
            solution = require_honest(ready.solve, each)
            if not solution.converged or not part.minimizes:
                continue
            if not adds_penalty(part):  # features may differ where there are many local optima
                _, gradient = loss_at(each, solution.w, solution.b)
                moves = _moves(solution.w, gradient, everywhere=False)
                objective = partial(ready.objective, each)
                best = lower(objective, solution, moves, (-1e-2, -1e-3, 1e-3, 1e-2))[0]
            at_most("a converged objective", solution.objective, best, slack)


def _solutions(part: Regularizer, ready: Regularizer, problem: Problem) -> Iterator[Solution]:
    """What is known of a problem: from other starts, to another tolerance, with other parameters,
    by another solver, with other features."""
    yield solved(ready, problem)
    rng = np.random.default_rng(6)
    far = rng.standard_normal(problem.X.shape[1]), 0.5
    yield solved(ready, problem.replace(start=far))
    with quiet():
        for _, solution in part.path(problem.replace(tol=1e-4), part.candidates(problem)[:4]):
            yield solution
        penalty: Any = ready.penalty(problem) if adds_penalty(ready) else None  # type: ignore[attr-defined]
        if hasattr(penalty, "prox"):
            yield proximal(problem.replace(max_iter=500), penalty)


@checks.add("bound")
def _bound(part: Regularizer) -> None:
    """If a gap is given, it is valid: of all solutions that are known, by other starts, tolerances
    and parameters, or another solver, none has an objective below the bound."""
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
        solutions = [solved(ready, each) for each in tries]
        claims = [solution for solution in solutions if not math.isnan(solution.gap)]
        if not claims:
            continue
        objective = partial(ready.objective, problem)
        known = [(each.w, each.b) for each in _solutions(part, ready, problem)]
        least = min(objective(w, b) for w, b in known)
        for solution in claims:
            at_least("a gap", solution.gap, 0.0)
            bound = solution.objective * (1.0 - solution.gap)
            enough = bound <= least + 1e-9 * max(abs(least), 1e-3 * null_loss(problem))
            gap = (solution.objective - least) / solution.objective
            told = f"a gap of {gap:.2g} at least, as there is an objective of {least:.8g}"
            require(enough, told, f"{solution.gap:.2g}")


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


CLASSES = 3


def has_softmax(part: Regularizer) -> bool:
    """Whether a regularizer says that it fits all classes together."""
    return part.softmax


def labeled(**changes: Any) -> tuple[Problem, Int64s]:
    """The small problem with three classes, each of which two of the features speak for."""
    problem = small(**changes)
    speaks = np.zeros((P, CLASSES))
    speaks[np.arange(6), np.arange(6) % CLASSES] = 1.5
    scores = problem.X @ speaks + 0.3 * np.random.default_rng(4).standard_normal((1, CLASSES))
    return problem, np.argmax(scores, axis=1).astype(np.int64)


def one_rest(codes: Int64s, label: int) -> Floats:
    """The y of a class against the rest."""
    return np.where(codes == label, 1.0, -1.0)


def together(part: Regularizer, problem: Problem, codes: Int64s) -> MultiSolution:
    """Its solution for all classes, without a word on how well it converged."""
    with quiet():
        return part.solve_softmax(problem, codes)


@checks.add("multiclass")
def _multiclass(part: Regularizer) -> None:
    """One-vs-rest fits that share a problem equal separate fits, and predict better than the most
    frequent label."""
    problem, codes = labeled()
    problem = problem.replace(y=one_rest(codes, 0))
    ready = prepared(part, problem)
    _ = problem.X_csc  # the classes of a training share it too, and what is derived from it
    scores = []
    for label in range(CLASSES):
        y = one_rest(codes, label)
        shared, own = solved(ready, problem.replace(y=y)), solved(ready, small(y=y))
        near(f"weights of class {label}", shared.w, own.w, CLOSE)
        scores.append(problem.X @ shared.w + shared.b)
    right = float(np.mean(np.argmax(scores, axis=0) == codes))
    usual = float(np.bincount(codes).max()) / len(codes)
    require(right > usual, f"more than {usual:.0%} right answers", f"{right:.0%}")


@checks.add("side-by-side", applies=calls.solves_together)
def _side_by_side(part: Regularizer) -> None:
    """What solve_each gives for a label is the same to the last bit whatever labels are beside it,
    and as near to the optimum as what solve gives."""
    problem, codes = labeled()
    ready = prepared(part, problem)
    posed = [problem.replace(y=one_rest(codes, label)) for label in range(CLASSES)]
    with quiet():
        several = ready.solve_each(posed)
        require(len(several) == CLASSES, f"{CLASSES} solutions", len(several))
        for label, (one, solution) in enumerate(zip(posed, several, strict=True)):
            (own,) = ready.solve_each([one])
            require(
                identical(solution, own), f"the weights of class {label} as by itself", "others"
            )
            alone = solved(ready, one)
            near(f"objective of class {label}", solution.objective, alone.objective, CLOSE)
            near(f"weights of class {label}", solution.w, alone.w, CLOSE)


@checks.add("softmax", applies=has_softmax)
def _softmax(part: Regularizer) -> None:
    """solve_softmax gives weights (classes, p) that are better than no feature, do not depend on
    the order of the classes, and count a document of weight 3 as three. Strengths of 0 are
    allowed, or an error says why not."""
    problem, codes = labeled()
    ready = prepared(part, problem)
    solution = together(ready, problem, codes)
    require(isinstance(solution, MultiSolution), "a MultiSolution", type(solution).__name__)
    for name, shape in (("w", (CLASSES, P)), ("b", (CLASSES,))):
        value = getattr(solution, name)
        require(np.shape(value) == shape, f"{name} of the shape {shape}", np.shape(value))
        finite(name, value)
    shares = np.bincount(codes, weights=problem.sample_weight) / problem.sample_weight.sum()
    nothing = softmax_loss(problem, codes, np.zeros((CLASSES, P)), np.log(shares))
    loss = softmax_loss(problem, codes, solution.w, solution.b)
    require(loss < nothing, f"a loss below {nothing:g}, that of no feature", loss)

    turned = together(ready, problem, (codes + 1) % CLASSES)
    near("weights of classes in another order", turned.w[[1, 2, 0]], solution.w, CLOSE)
    codes_of_copies = np.repeat(codes, problem.sample_weight.astype(int))
    copies = together(ready, repeated(problem), codes_of_copies)
    near("weights of repeated documents", copies.w, solution.w, CLOSE)
    for key, declared in ready.declared().items():
        if isinstance(declared.search, LogGrid):
            try:
                free = together(ready.replace(**{key: 0.0}), labeled(tol=1e-3)[0], codes)
            except (DataError, UsageError) as error:
                require_refusal(error, f"{key}=0")
            else:
                finite(f"w at {key}=0", free.w)


@checks.add("softmax-objective", applies=has_softmax)
def _softmax_objective(part: Regularizer) -> None:
    """The objective of solve_softmax is the softmax loss, and what the regularizer adds for each
    class, or what objective_softmax says. No weights nearby have a lower one, a gap is valid, and
    the intercepts sum to 0."""
    problem, codes = labeled()
    ready = prepared(part, problem)
    own = type(part).objective_softmax is not Regularizer.objective_softmax
    solution = together(ready, problem, codes)

    def objective(w: Floats, b: Floats) -> float:
        if own:
            return ready.objective_softmax(problem, codes, w, b)
        # What is added to the loss of two classes is added here for each class.
        added = [ready.objective(problem, each, 0.0) - loss_at(problem, each, 0.0)[0] for each in w]
        return softmax_loss(problem, codes, w, b) + sum(added)

    value = objective(solution.w, solution.b)
    near("the objective", [solution.objective], [value], 1e-6)
    total = float(np.abs(solution.b.sum()))
    require(total <= 1e-6 * (1.0 + np.abs(solution.b).max()), "intercepts that sum to 0", total)
    moves = [np.eye(CLASSES * P)[k].reshape(CLASSES, P) for k in range(CLASSES * P)]
    trials = [(solution.w + size * move, solution.b) for move in moves for size in (-1e-3, 1e-3)]
    trials += [(share * solution.w, solution.b) for share in (0.99, 1.01)]
    trials += [(solution.w, solution.b + size * np.eye(CLASSES)[0]) for size in (-1e-2, 1e-2)]
    least = min(objective(w, b) for w, b in trials)
    at_least("an objective nearby", least, value, 1e-5 * value)
    for tol in (0.3, 1e-2):
        loose = together(ready, problem.replace(tol=tol), codes)
        if not math.isnan(loose.gap):
            known = min(least, value)
            at_most("a bound", loose.objective * (1.0 - loose.gap), known, 1e-9 * known)


@checks.add("softmax-honesty", applies=has_softmax)
def _softmax_honesty(part: Regularizer) -> None:
    """A converged solution has a gap within the tolerance, if it has one; any other gives a
    ConvergenceWarning. When the callback returns True, the best solution so far is returned at
    once."""
    for options in ({}, {"tol": 1e-13, "max_iter": 1}):
        problem, codes = labeled(**options)
        require_honest(prepared(part, problem).solve_softmax, problem, codes)
    problem, codes = labeled()
    ready = prepared(part, problem)
    require_stop(lambda stop: together(ready, problem.replace(callback=stop), codes))


@checks.add("columns", applies=lambda part: not part.order_matters)
def _columns(part: Regularizer) -> None:
    """The order of the features does not matter, except for rounding, unless the class says
    order_matters = True."""
    for seed in (0, 1, 2):
        problem = hard(seed)
        ready = prepared(part, problem)
        order = np.random.default_rng(seed).permutation(problem.X.shape[1])
        one, other = solved(ready, problem), solved(ready, reordered(problem, order))
        near("weights of features in another order", other.w, one.w[order], CLOSE)


@checks.add("labels")
def _labels(part: Regularizer) -> None:
    """Labels that change places turn the signs of the weights, where both signs cost the same and
    the loss treats both labels alike."""
    for seed in (0, 1):
        problem = hard(seed, loss=Logistic())
        ready = prepared(part, problem)
        solution = solved(ready, problem)
        if declares(part) and not _is_even(ready, problem, solution):
            continue
        turned = solved(ready, problem.replace(y=-problem.y))
        near("minus the weights", -turned.w, solution.w, CLOSE)


def _is_even(ready: Regularizer, problem: Problem, solution: Solution) -> bool:
    """Whether the opposite weights have the same objective for the opposite labels."""
    opposite = problem.replace(y=-problem.y)
    one = ready.objective(problem, solution.w, solution.b)
    return abs(one - ready.objective(opposite, -solution.w, -solution.b)) <= 1e-9 * max(
        abs(one), 1e-3
    )


# Values of a parameter at which the features are counted.
BUDGETS = (1, 2, 3, 5, 10, 20)


@checks.add("budget")
def _budget(part: Regularizer) -> None:
    """No more features than a parameter allows: one that is the number of features for most of its
    values never is exceeded. A last group may exceed it, by no more than what it brings."""
    problem = hard()
    ready = prepared(part, problem)
    extra = int(np.diff(problem.groups.indptr).max()) - 1 if part.needs == "groups" else 0  # type: ignore[union-attr]
    for key, value in ready.params().items():
        if isinstance(value, bool) or not isinstance(value, int):
            continue
        low, high = ready.declared()[key].min, ready.declared()[key].max
        tried = [it for it in BUDGETS if (low or 1) <= it <= (high or np.inf)]
        over = {it: solved(ready.replace(**{key: it}), problem).nonzero - it for it in tried}
        usual, times = max(Counter(over.values()).items(), key=lambda it: it[1], default=(0, 0))
        # Fewer features at some values is an early end; at other numbers it counts something else.
        if len(over) < 3 or times < len(over) * (2 / 3 if usual < 0 else 1 / 2):
            continue
        for it, more in over.items():
            right = more <= extra and (usual == 0 or extra > 0)
            require(right, f"{it} features at {key}={it}, or fewer at an end", it + more)


@checks.add("report")
def _report(part: Regularizer) -> None:
    """A report of a selection is right: its order has every feature with a weight, none twice, and
    its steps say how many there were after each, and which group brought them."""
    for problem in (small(), hard()):
        ready = prepared(part, problem)
        solution = solved(ready, problem)
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
    rises = all(a < b for a, b in itertools.pairwise([0, *actives]))
    whole = rises and actives[-1] == len(order)
    require(whole, f"steps whose active rises to {len(order)}", actives)
    for (start, end), step in zip(itertools.pairwise([0, *actives]), report.steps, strict=True):
        if step.group >= 0 and groups is not None:
            members = groups.indices[groups.indptr[step.group] : groups.indptr[step.group + 1]]
            strangers = np.setdiff1d(order[start:end], members)
            told = f"features of group {step.group}, {members}, in its step"
            require(not len(strangers), told, strangers)


@checks.add("structure", applies=lambda part: bool(part.needs) and adds_penalty(part))
def _structure(part: Regularizer) -> None:
    """The groups or links that a penalty needs count, with their weights: with others its value is
    another."""
    problem = hard()
    ready = prepared(part, problem)
    w = np.random.default_rng(8).standard_normal(problem.X.shape[1])
    value = ready.objective(problem, w, 0.0)
    for told, other in _with_others(problem, part.needs).items():
        same = ready.objective(other, w, 0.0) == value
        require(not same, f"another objective with {told}", "the same")


def _with_others(problem: Problem, needs: str) -> dict[str, Problem]:
    """The problem with one thing changed in its groups or graph."""
    groups, graph = problem.groups, problem.graph
    assert groups is not None
    assert graph is not None
    cases = {}
    if needs == "groups":
        sizes = np.diff(groups.indptr)
        places = {"largest group": int(np.argmax(sizes)), "first group": 0}
        places["last group that is not empty"] = int(np.flatnonzero(sizes)[-1])
        for told, at in places.items():
            # Smaller: where weights are a sum of parts, groups that have none do not count.
            weights = np.where(np.arange(len(groups)) == at, 1e-2, 1.0) * groups.weights
            other = problem.replace(groups=replace(groups, weights=weights))
            cases[f"another weight of the {told}"] = other
        return cases
    for told, at in (("first", 0), ("last", graph.similar.nnz - 1)):
        links = graph.similar.copy()
        links.data = np.where(np.arange(links.nnz) == at, 2.0, 1.0) * links.data
        cases[f"another weight of the {told} link"] = problem.replace(graph=type(graph)(links))
    return cases


def regularizer_checks() -> list[Check]:
    """All of them, in order; those of a penalty apply where there is a ``penalty(problem)``.

    They come first, as they are quick, and show where a mistake is.
    """
    own = checks.of()
    quick = [check for check in own if check.name in QUICK]
    others = [check for check in own if check.name not in QUICK]
    return [*quick, *map(_of_its_penalty, penalty_checks()), *others]


check_regularizer = contract(regularizer_checks)


def _of_its_penalty(check: Check) -> Check:
    """A check of penalties as one of the regularizer that makes them."""

    def penalty_of(part: Any) -> Sized | None:
        problem = small()
        ready: Any = prepared(registry.create("regularizer", part), problem)
        made = ready.penalty(problem) if adds_penalty(ready) else None
        return Sized(made, P) if hasattr(made, "prox") else None

    def applies(part: Any) -> bool:
        sized = penalty_of(part)
        return sized is not None and check.applies(sized)

    return replace(check, run=lambda part: check.run(penalty_of(part)), applies=applies)
