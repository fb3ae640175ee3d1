"""How a regularizer deals with large problems, extreme ones and extreme strengths."""

from __future__ import annotations

import math
import tracemalloc
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from textreg.errors import DataError, UsageError
from textreg.kinds import Regularizer
from textreg.params import LogGrid
from textreg.records import Graph, Groups, Problem, Step
from textreg.testing.checks import Checks, near, require
from textreg.testing.problems import (
    N,
    P,
    graph_of,
    groups_of,
    hard,
    large,
    loss_at,
    null_loss,
    prepared,
    reordered,
    require_refusal,
    small,
    solved,
)
from textreg.testing.runs import elsewhere
from textreg.training.running import one_thread_in_blas

MEGABYTES = 300
"""What a fit of the large sparse problem may take at its peak; as dense it would be 4,000."""

HUGE = 1e9
"""A penalty strength at which every weight is zero."""

checks = Checks("regularizer")


@checks.add("memory")
def _memory(part: Regularizer) -> None:
    """A large sparse X is never converted to a dense array."""
    problem = large()
    sparse = {
        key: min(200, value)
        for key, value in prepared(part, problem).params().items()
        if isinstance(value, int) and not isinstance(value, bool) and value > 200
    }
    ready = prepared(part.replace(**sparse), problem)
    tracemalloc.start()
    try:
        solved(ready, problem)
        peak = tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()
    require(peak < MEGABYTES, f"less than {MEGABYTES} MB", f"{peak:.0f} MB")


@checks.add("edges")
def _edges(part: Regularizer) -> None:
    """It solves problems with one feature, two documents, equal features or a single label. Groups
    without features and graphs without links are solved, or refused with a message."""
    ready, rng = prepared(part), np.random.default_rng(3)
    problem = small()
    cases = {
        "a single feature": problem.replace(
            X=problem.X[:, [0]], groups=groups_of(1, rng, 2), graph=graph_of(1, rng)
        ),
        "two documents": problem.replace(
            X=problem.X[:2], y=np.array([1.0, -1.0]), sample_weight=np.ones(2)
        ),
        "a feature twice": problem.replace(X=problem.X[:, np.r_[0, 0, 2:P]]),
        "one label": problem.replace(y=np.ones(N)),
        "documents without a feature": problem.replace(
            X=csr_array(problem.X.multiply((np.arange(N) % 2)[:, None]))
        ),
        "columns of zeros": problem.replace(X=csr_array(problem.X.multiply(np.arange(P) % 2))),
    }
    for name, case in cases.items():
        if ready.needs == "graph" and name == "a single feature":
            continue  # nothing to link
        _is_finite(ready, name, case)
    bare: dict[str, Problem] = {}
    if ready.needs == "groups":
        bare["no group"] = problem.replace(groups=_empty_groups(0))
        bare["groups without a feature"] = problem.replace(groups=_empty_groups(3))
    if ready.needs == "graph":
        bare["a graph without a link"] = problem.replace(graph=Graph(csr_array((P, P))))
    for name, case in bare.items():
        try:
            _is_finite(ready, name, case)
        except (DataError, UsageError) as error:
            require_refusal(error, name)


def _is_finite(ready: Regularizer, name: str, case: Problem) -> None:
    found = solved(ready, case.replace(max_iter=200, tol=1e-3))
    finite = bool(np.isfinite(found.w).all()) and math.isfinite(found.b)
    require(finite, f"finite weights for {name}", found.w)


def _empty_groups(count: int) -> Groups:
    """So many groups with nothing in them."""
    nothing = np.empty(0, dtype=np.int32)
    return Groups(np.zeros(count + 1, dtype=np.int64), nothing, np.ones(count), P)


def _strengths_of(part: Regularizer) -> list[str]:
    return [key for key, it in part.declared().items() if isinstance(it.search, LogGrid)]


@checks.add("strengths", applies=lambda part: bool(_strengths_of(part)))
def _strengths(part: Regularizer) -> None:
    """A penalty strength of 0 is allowed, and a huge one leaves no weight. Each strength counts: a
    larger one gives other weights, which fit no better."""
    ready, problem = prepared(part), small(tol=1e-3, max_iter=100)
    strengths = _strengths_of(part)
    for key in strengths:
        free = solved(ready.replace(**{key: 0.0}), problem)
        require(bool(np.isfinite(free.w).all()), f"finite weights at {key}=0", free.w)
    found = solved(ready.replace(**dict.fromkeys(strengths, HUGE)), problem)
    largest = float(np.abs(found.w).max())
    require(largest < 1e-4, f"no weight at strengths of {HUGE:g}", largest)
    problem = small()
    first = solved(ready, problem)
    for key in strengths:
        more = solved(ready.replace(**{key: 3.0 * getattr(ready, key)}), problem)
        same = np.array_equal(first.w, more.w) and bool(first.w.any())
        require(not same, f"other weights with {key} three times as large", "the same")
        if part.minimizes:
            before, after = (loss_at(problem, each.w, each.b)[0] for each in (first, more))
            enough = after >= before - 1e-5 * null_loss(problem)
            require(enough, f"a loss of {before:.8g} at least with a larger {key}", f"{after:.8g}")


@checks.add("scale", applies=lambda part: bool(_strengths_of(part)))
def _scale(part: Regularizer) -> None:
    """The scale of a strength is of the size at which weights vanish: a hundredth of it leaves
    some, and of a sparse model ten times as much leaves none. A document of weight 3 counts in it
    as three copies do, and the order of the features does not matter."""
    problem = small()
    rows = np.repeat(np.arange(N), problem.sample_weight.astype(int))
    repeated = problem.replace(
        X=problem.X[rows], y=problem.y[rows], sample_weight=np.ones(len(rows))
    )
    strengths = _strengths_of(part)
    scales = {key: part.scale(problem, key) for key in strengths}
    for key, scale in scales.items():
        require(math.isfinite(scale) and scale > 0.0, f"a number above 0 for {key}", scale)
        near(f"the scale of {key} for copies", [part.scale(repeated, key)], [scale], 1e-6)
        mixed = part.scale(reordered(problem, np.arange(P)[::-1]), key)
        near(f"the scale of {key} for features in another order", [mixed], [scale], 1e-6)
    ready = prepared(part)
    small_ones = {key: 1e-2 * scale for key, scale in scales.items()}
    found = solved(ready.replace(**small_ones), problem)
    require(found.w.any(), "some weight at a hundredth of the scales", "none")
    if not part.needs and solved(ready, problem).nonzero < P:  # it is sparse
        large_ones = {key: 10.0 * scale for key, scale in scales.items()}
        left = solved(ready.replace(**large_ones), problem).nonzero
        require(left == 0, "no weight at ten times the scales", f"{left} weights")


@checks.add("callback")
def _callback(part: Regularizer) -> None:
    """The callback is called with Steps; when it returns True, the best solution so far is
    returned at once."""
    steps: list[Any] = []

    def stop(step: Step) -> bool:
        steps.append(step)
        return True

    problem = small(tol=1e-12, callback=stop)
    found = solved(prepared(part), problem)
    wrong = [step for step in steps if not isinstance(step, Step)]
    require(not wrong, "Steps", wrong)
    require(len(steps) >= 1, "a call at least", "none")
    require(len(steps) == 1, "an end when it returned True", f"{len(steps)} calls")
    require(bool(np.isfinite(found.w).all()), "finite weights", found.w)


def _weights_of(part: Regularizer, seed: int) -> list[float]:
    """The solution of a problem, as it is computed in another process: BLAS has one thread, as in
    trainings, where its number here may come from the environment."""
    with one_thread_in_blas():
        found = solved(part, hard(seed))
    return [*found.w.tolist(), found.b]


@checks.add("processes")
def _processes(part: Regularizer) -> None:
    """A fresh interpreter, in which texts have other hashes, gives the same solution. Skipped where
    the class is not found there, as that of a notebook."""
    ready = prepared(part, hard())
    for seed, there in zip((0, 1), elsewhere(_weights_of, ready, (0, 1)), strict=True):
        # No bits: LAPACK may round in another way where arrays begin at other addresses.
        near("weights of a fresh interpreter", there, _weights_of(ready, seed), 1e-9)
