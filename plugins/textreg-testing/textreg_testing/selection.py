"""Whether features are treated alike, and which of them are selected."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np

from textreg.kinds import Regularizer
from textreg.losses import Logistic
from textreg.params import LogGrid
from textreg.records import Groups, Problem, SelectionReport, Solution
from textreg_testing.checks import Checks, at_least, near, require
from textreg_testing.problems import (
    CLOSE,
    at_random,
    declares,
    gain,
    hard,
    prepared,
    pursued,
    reordered,
    small,
    solved,
)

BUDGETS = (1, 2, 3, 5, 10, 20)
"""Values of a parameter at which the features are counted."""

GOOD = 1.0 / 3.0
"""Share of what a greedy pursuit gains that a selection must gain."""

checks = Checks("regularizer")


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


def _counts(part: Regularizer) -> dict[str, dict[int, Solution]]:
    """Solutions by whole parameter and its values, where a parameter is such a number."""
    problem = hard()
    ready = prepared(part, problem)
    solutions: dict[str, dict[int, Solution]] = {}
    for key, value in ready.params().items():
        declared = ready.declared()[key]
        if isinstance(value, bool) or not isinstance(value, int):
            continue
        low = 1 if declared.min is None else declared.min
        high = np.inf if declared.max is None else declared.max
        tried = [each for each in BUDGETS if low <= each <= high]
        solutions[key] = {each: solved(ready.replace(**{key: each}), problem) for each in tried}
    return solutions


@checks.add("budget")
def _budget(part: Regularizer) -> None:
    """No more features than a parameter allows: one that is the number of features for most of its
    values never is exceeded. A last group may exceed it, by no more than what it brings."""
    extra = int(np.diff(hard().groups.indptr).max()) - 1 if part.needs == "groups" else 0  # type: ignore[union-attr]
    for key, solutions in _counts(part).items():
        over = {value: solution.nonzero - value for value, solution in solutions.items()}
        usual, times = Counter(over.values()).most_common(1)[0]
        if 2 * times < len(over) or len(over) < 3 or (usual < 0 and 3 * times < 2 * len(over)):
            continue  # the number of something else
        for value, more in over.items():
            counted = f"{value + more} at {key}={value}"
            require(more <= extra, f"{value} features at most at {key}={value}", counted)
            told = f"{value} features at {key}={value}"
            require(usual == 0 or extra > 0, told, f"{counted}, and {usual:+d} at most values")


def _selects(part: Regularizer) -> bool:
    """Whether a regularizer selects features and reports it, or has a budget of them."""
    if part.needs == "groups" or any(
        isinstance(each.search, LogGrid) for each in part.declared().values()
    ):
        return False
    solution = solved(prepared(part, hard()), hard())
    return 0 < solution.nonzero < len(solution.w) // 2


@checks.add("selection", applies=_selects)
def _selection(part: Regularizer) -> None:
    """The selected features fit better than almost all others of the same number drawn at random,
    and not much worse than those of a greedy pursuit."""
    for seed in (0, 1):
        problem = hard(seed)
        ready = prepared(part, problem)
        tries = {solution.nonzero: solution for solution in _few(ready, problem)}
        for count, solution in tries.items():
            if not 0 < count < problem.X.shape[1] // 2:
                continue
            ours = max(gain(problem, each) for each in pursued(problem, count))
            gained = gain(problem, np.flatnonzero(solution.w))
            what = f"a gain of {count} features, where that of a pursuit is {ours:.4g},"
            at_least(what, gained, GOOD * ours)
            random = sorted(gain(problem, each) for each in at_random(problem, count, 12))
            at_least(f"a gain of {count} features, as drawn at random,", gained, random[-2])


def _few(ready: Regularizer, problem: Problem) -> list[Solution]:
    """Solutions with few features."""
    keys = [
        key
        for key, value in ready.params().items()
        if isinstance(value, int) and not isinstance(value, bool) and ready.declared()[key].search
    ]
    parts = [ready.replace(**{key: value}) for key in keys for value in (5, 10)]
    return [solved(each, problem) for each in parts or [ready]]


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
            if len(report.order) > 3:
                half = len(report.order) // 2
                first, last = (
                    np.array(each) for each in (report.order[:half], report.order[-half:])
                )
                told = f"in the first {half} of order features that help more than the last {half}"
                more, less = gain(problem, first), gain(problem, last)
                require(more >= less, told, f"{more:.4g} and {less:.4g} of the loss")
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


@checks.add(
    "structure", applies=lambda part: bool(part.needs) and callable(getattr(part, "penalty", None))
)
def _structure(part: Regularizer) -> None:
    """The groups or links that a penalty needs count, with their weights: with others its value is
    another."""
    problem = hard()
    ready = prepared(part, problem)
    w = np.random.default_rng(8).standard_normal(problem.X.shape[1])
    value = ready.objective(problem, w, 0.0)
    for told, other in _changed(problem, part.needs).items():
        require(
            ready.objective(other, w, 0.0) != value, f"another objective with {told}", "the same"
        )


def _changed(problem: Problem, needs: str) -> dict[str, Problem]:
    """The problem with one thing changed in its groups or graph."""
    groups, graph = problem.groups, problem.graph
    assert groups is not None
    assert graph is not None
    if needs == "groups":
        sizes = np.diff(groups.indptr)
        cases = {}
        for told, at in (
            ("the largest group", int(np.argmax(sizes))),
            ("the last group that is not empty", int(np.flatnonzero(sizes)[-1])),
            ("the first group", 0),
        ):
            # Smaller: where weights are a sum of parts, groups that have none do not count.
            weights = np.where(np.arange(len(groups)) == at, 1e-2, 1.0) * groups.weights
            more = Groups(groups.indptr, groups.indices, weights, groups.n_features)
            cases[f"another weight of {told}"] = problem.replace(groups=more)
        return cases
    cases = {}
    for told, at in (("first", 0), ("last", graph.similar.nnz - 1)):
        links = graph.similar.copy()
        links.data = np.where(np.arange(links.nnz) == at, 2.0, 1.0) * links.data
        cases[f"another weight of the {told} link"] = problem.replace(graph=type(graph)(links))
    return cases
