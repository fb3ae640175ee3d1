"""What a regularizer is given, and what it gives back: the first half of its contract."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from scipy.sparse import csr_array

from textreg.errors import PluginError
from textreg.kinds import Regularizer
from textreg.losses import LOSSES
from textreg.plugins import registry
from textreg.records import Problem, Solution
from textreg.testing.checks import fail, near, require
from textreg.testing.parts import common_checks
from textreg.testing.problems import N, P, hard, null_loss, prepared, quiet, small, solved
from textreg.training.settings import default_builder

CLOSE = 5e-3
"""How near weights must be that are found in two ways, relative to the largest."""

BETTER = 0.99
"""Share of the loss of no feature that a fit must be below."""

checks = common_checks("regularizer", "", prepared)


@checks.add("builder", applies=lambda part: bool(part.default_builder))
def _builder(part: Regularizer) -> None:
    """If it names a default builder for its groups or graph, that builder exists."""
    needs, name = part.needs, part.default_builder
    require(needs in ("groups", "graph"), "needs = 'groups' or 'graph'", repr(needs))
    try:
        registry.find(needs, default_builder(part) or name)
    except PluginError as error:
        fail(f"a builder of {needs} called '{name}'", f"this error: {error}")


@checks.add("solution")
def _solution(part: Regularizer) -> None:
    """The solution has p finite weights, a finite intercept and a finite objective."""
    problem = small()
    found = solved(prepared(part), problem)
    require(isinstance(found, Solution), "a Solution", type(found).__name__)
    require(np.shape(found.w) == (P,), f"w of the shape ({P},)", np.shape(found.w))
    require(bool(np.isfinite(found.w).all()), "finite weights", found.w)
    for name in ("b", "objective"):
        value = getattr(found, name)
        require(np.ndim(value) == 0 and math.isfinite(value), f"a number {name}", value)
    if found.group_norms is not None and problem.groups is not None:
        shape, wanted = np.shape(found.group_norms), (len(problem.groups),)
        require(shape == wanted, f"group_norms of the shape {wanted}", shape)


@checks.add("use")
def _use(part: Regularizer) -> None:
    """With parameters from the middle of its grid, not zero, the fit is better than no feature."""
    _beats_nothing(part, small())


@checks.add("losses")
def _losses(part: Regularizer) -> None:
    """With every loss, the fit is better than no feature."""
    for loss in LOSSES:
        _beats_nothing(part, small(loss=loss))


def _beats_nothing(part: Regularizer, problem: Problem) -> None:
    found = solved(prepared(part, problem), problem)
    z = problem.X @ found.w + found.b
    loss = problem.loss.value(z, problem.y, problem.sample_weight)
    most = BETTER * null_loss(problem)
    expected = f"a {problem.loss.label()} loss below {most:g}, {BETTER:g} of that of no feature"
    require(loss < most, expected, loss)


@checks.add("input")
def _input(part: Regularizer) -> None:
    """solve does not modify the problem: X, y, weights, groups, links and start stay as they
    were."""
    problem = hard()
    problem = problem.replace(start=(np.full(problem.X.shape[1], 0.1), 0.1))
    assert problem.groups is not None
    assert problem.graph is not None
    assert problem.start is not None
    arrays = {
        "X": problem.X.data,
        "y": problem.y,
        "sample_weight": problem.sample_weight,
        "groups.indices": problem.groups.indices,
        "groups.weights": problem.groups.weights,
        "graph.similar": problem.graph.similar.data,
        "start": problem.start[0],
    }
    before = {name: array.copy() for name, array in arrays.items()}
    solved(prepared(part, problem), problem)
    for name, array in arrays.items():
        require(np.array_equal(array, before[name]), f"{name} as it was", "another")


@checks.add("determinism")
def _determinism(part: Regularizer) -> None:
    """The same problem gives the same solution, bit for bit."""
    for make in (small, hard):
        ready = prepared(part, make())
        one, other = solved(ready, make()), solved(ready, make())
        same = np.array_equal(one.w, other.w) and one.b == other.b
        require(same, "the same bits twice", "others")


@checks.add("workers")
def _workers(part: Regularizer) -> None:
    """Fits in parallel threads give the same solutions as alone, bit for bit."""
    ready, problem = prepared(part), small()
    problems = [problem, problem.replace(y=-problem.y), problem]
    alone = [solved(ready, small().replace(y=each.y)) for each in problems]
    with quiet(), ThreadPoolExecutor(3) as pool:
        beside = list(pool.map(ready.solve, problems))
    same = all(np.array_equal(a.w, b.w) and a.b == b.b for a, b in zip(alone, beside, strict=True))
    require(same, "the same bits in three threads", "others")


@checks.add("order", applies=lambda part: not part.order_matters)
def _order(part: Regularizer) -> None:
    """The order of the documents does not matter, except for rounding, unless the class says
    order_matters = True."""
    ready, problem = prepared(part), small()
    rows = np.random.default_rng(2).permutation(N)
    mixed = problem.replace(
        X=problem.X[rows], y=problem.y[rows], sample_weight=problem.sample_weight[rows]
    )
    near("weights", solved(ready, mixed).w, solved(ready, problem).w, CLOSE)


@checks.add("weights")
def _weights(part: Regularizer) -> None:
    """A document of weight 3 counts as three copies of it, and one of weight 0 does not count."""
    problem = small()
    ready = prepared(part, problem)
    counts = problem.sample_weight.astype(int)
    counts[:3] = 0
    weighted = problem.replace(sample_weight=counts.astype(np.float64))
    rows = np.repeat(np.arange(N), counts)
    repeated = problem.replace(
        X=problem.X[rows], y=problem.y[rows], sample_weight=np.ones(len(rows))
    )
    one, other = solved(ready, weighted), solved(ready, repeated)
    near("weights of repeated documents", one.w, other.w, CLOSE)


@checks.add("intercept")
def _intercept(part: Regularizer) -> None:
    """Without an intercept, b is 0; with an intercept and no features, b is the log odds."""
    problem = small()
    ready = prepared(part, problem)
    without = solved(ready, problem.replace(fit_intercept=False))
    require(without.b == 0.0, "b = 0 where fit_intercept is off", without.b)
    nothing = problem.replace(X=csr_array((N, P)))
    up = float(problem.sample_weight[problem.y > 0].sum())
    down = float(problem.sample_weight[problem.y < 0].sum())
    found = solved(ready, nothing)
    require(not found.w.any(), "no weight where every feature is 0", found.w)
    near("the intercept alone", [found.b], [math.log(up / down)], 1e-3)


@checks.add("dense")
def _dense(part: Regularizer) -> None:
    """A dense and a sparse X give the same solution."""
    ready, problem = prepared(part), small()
    dense = problem.replace(X=problem.X.toarray())
    near("weights", solved(ready, dense).w, solved(ready, problem).w, 1e-9)
