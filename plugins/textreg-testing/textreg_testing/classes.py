"""How a regularizer deals with several classes: one against the rest, and all together."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from textreg.errors import DataError, UsageError
from textreg.kinds import Regularizer
from textreg.params import LogGrid
from textreg.plugins import calls
from textreg.records import Floats, Int64s, MultiSolution, Problem, Step
from textreg.solvers.softmax import softmax_loss
from textreg_testing.checks import Checks, at_least, at_most, finite, near, require
from textreg_testing.objective import objective_of
from textreg_testing.problems import (
    CLOSE,
    P,
    loss_at,
    prepared,
    quiet,
    require_honest,
    require_refusal,
    small,
    solved,
)

CLASSES = 3

checks = Checks("regularizer")


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
        for label, (one, found) in enumerate(zip(posed, several, strict=True)):
            (own,) = ready.solve_each([one])
            same = np.array_equal(found.w, own.w) and found.b == own.b
            require(same, f"the weights of class {label} as by itself", "others")
            alone = solved(ready, one)
            near(f"objective of class {label}", found.objective, alone.objective, CLOSE)
            near(f"weights of class {label}", found.w, alone.w, CLOSE)


@checks.add("softmax", applies=has_softmax)
def _softmax(part: Regularizer) -> None:
    """solve_softmax gives weights (classes, p) that are better than no feature, do not depend on
    the order of the classes, and count a document of weight 3 as three. Strengths of 0 are
    allowed, or an error says why not."""
    problem, codes = labeled()
    ready = prepared(part, problem)
    found = together(ready, problem, codes)
    require(isinstance(found, MultiSolution), "a MultiSolution", type(found).__name__)
    for name, shape in (("w", (CLASSES, P)), ("b", (CLASSES,))):
        value = getattr(found, name)
        require(np.shape(value) == shape, f"{name} of the shape {shape}", np.shape(value))
        finite(name, value)
    shares = np.bincount(codes, weights=problem.sample_weight) / problem.sample_weight.sum()
    nothing = softmax_loss(problem, codes, np.zeros((CLASSES, P)), np.log(shares))
    loss = softmax_loss(problem, codes, found.w, found.b)
    require(loss < nothing, f"a loss below {nothing:g}, that of no feature", loss)

    turned = together(ready, problem, (codes + 1) % CLASSES)
    near("weights of classes in another order", turned.w[[1, 2, 0]], found.w, CLOSE)
    rows = np.repeat(np.arange(len(codes)), problem.sample_weight.astype(int))
    repeated = problem.replace(
        X=csr_array(problem.X[rows]), y=problem.y[rows], sample_weight=np.ones(len(rows))
    )
    near("weights of repeated documents", together(ready, repeated, codes[rows]).w, found.w, CLOSE)
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
    of = None if own else objective_of(part)(ready, problem)
    found = together(ready, problem, codes)

    def objective(w: Floats, b: Floats) -> float:
        if of is None:
            return ready.objective_softmax(problem, codes, w, b)
        # What is added to the loss of two classes is added here for each class.
        added = [of(each, 0.0) - loss_at(problem, each, 0.0)[0] for each in w]
        return softmax_loss(problem, codes, w, b) + sum(added)

    value = objective(found.w, found.b)
    near("the objective", [found.objective], [value], 1e-6)
    total = float(np.abs(found.b.sum()))
    require(total <= 1e-6 * (1.0 + np.abs(found.b).max()), "intercepts that sum to 0", total)
    moves = [np.eye(CLASSES * P)[k].reshape(CLASSES, P) for k in range(CLASSES * P)]
    trials = [(found.w + size * move, found.b) for move in moves for size in (-1e-3, 1e-3)]
    trials += [(share * found.w, found.b) for share in (0.99, 1.01)]
    trials += [(found.w, found.b + size * np.eye(CLASSES)[0]) for size in (-1e-2, 1e-2)]
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
    steps: list[Step] = []

    def stop(step: Step) -> bool:
        steps.append(step)
        return True

    problem, codes = labeled(callback=stop)
    found = together(prepared(part, problem), problem, codes)
    require(len(steps) == 1, "one call of the callback", f"{len(steps)} calls")
    finite("weights", found.w)
