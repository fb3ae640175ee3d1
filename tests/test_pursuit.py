"""Greedy pursuits: the reference runs, a plain version with exact fits, and identities."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array, diags_array, hstack
from thoroughness import draws

from textreg.builtin.greedy import Gomp, Omp
from textreg.errors import ConvergenceWarning, DataError, UsageError
from textreg.kinds import Regularizer
from textreg.records import Groups, Problem, Step
from textreg.solvers import column_scores
from textreg.solvers.column_scores import SCORES, ColumnDots, ColumnGroups, UnitColumns
from textreg.solvers.pursuit import ActiveFit, Pursuit
from textreg.tasks import classification
from textreg.training.running import Work
from textreg.training.train import train
from textreg.training.trials import Fold, search

RUNS = ["lam1", "lam0p1"]
GROUP_RUNS = [f"{kind}_{run}" for kind in ("rand", "clus", "freq") for run in RUNS]


class ReferenceRuns:
    """A file of reference runs: the authors' code, and exact fits beside it.

    Their first column is the intercept, of ones, not normed and under the ridge like any other: so
    we give it as a column too, and fit no intercept of our own.
    """

    def __init__(self, path: Path) -> None:
        with np.load(path, allow_pickle=False) as arrays:
            self.stored = dict(arrays)
        shape = tuple(self["train_shape"])
        parts = (self["train_data"].astype(float), self["train_indices"], self["train_indptr"])
        X = csr_array(parts, shape=shape)
        ones = csr_array(np.ones((shape[0], 1)))
        self.raw = csr_array(hstack([ones, X]))
        self.normed = csr_array(hstack([ones, X @ diags_array(1.0 / self["col_norm"])]))

    def __getitem__(self, key: str) -> Any:
        return self.stored[key]

    def problem(self, X: csr_array, **options: Any) -> Problem:
        y = self["train_y"].astype(float)
        return Problem(X, y, fit_intercept=False, max_iter=5000, **options)

    def groups(self, kind: str) -> Groups:
        indptr = self[f"groups_{kind}_indptr"].astype(np.int64)
        return Groups(
            indptr=indptr,
            indices=self[f"groups_{kind}_indices"].astype(np.int32) + 1,
            weights=np.ones(len(indptr) - 1),
            n_features=self.raw.shape[1],
        )


@pytest.fixture(scope="module")
def omp_reference(data_dir: Path) -> ReferenceRuns:
    return ReferenceRuns(data_dir / "golden" / "omp_religion.npz")


@pytest.fixture(scope="module")
def gomp_reference(data_dir: Path) -> ReferenceRuns:
    return ReferenceRuns(data_dir / "golden" / "gomp_religion.npz")


@pytest.mark.parametrize("name", RUNS)
def test_omp_selects_the_features_of_the_reference(omp_reference: ReferenceRuns, name: str) -> None:
    reference, l2 = omp_reference, float(omp_reference[f"{name}_lambda"])
    run = Pursuit(reference.problem(reference.normed), l2=l2, columns="given", initial=[0])
    run.grow(301)
    assert run.uncertain == 0
    assert run.order == (reference[f"{name}_exact_order"] + 1).tolist()
    theirs = reference[f"{name}_order"] + 1
    differ = np.flatnonzero(np.array(run.order) != theirs)
    if len(differ):  # where the two leaders are closer than their fit was to an exact one
        assert reference[f"{name}_gap"][differ[0] - 1] < 1e-5
        assert sorted(theirs[differ]) == sorted(np.array(run.order)[differ])


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("count", [50, 101, 300])
def test_omp_has_the_weights_of_the_reference(
    omp_reference: ReferenceRuns, name: str, count: int
) -> None:
    reference, l2 = omp_reference, float(omp_reference[f"{name}_lambda"])
    order = (reference[f"{name}_order"] + 1)[:count]
    for X, columns, kind in ((reference.normed, "given", "path"), (reference.raw, "unit", "raw")):
        problem = reference.problem(X, tol=1e-14)
        solution = Pursuit(problem, l2=l2, columns=columns, initial=order.tolist()).solution(count)
        expected = reference[f"{name}_w_{kind}_exact_{count}"]
        np.testing.assert_allclose(solution.w[order], expected, atol=1e-6)
        objective = reference[f"{name}_objective"][reference[f"{name}_checkpoints"] == count]
        assert solution.objective == pytest.approx(objective[0, 1 if kind == "path" else 3])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", GROUP_RUNS)
def test_gomp_selects_the_groups_of_the_reference(gomp_reference: ReferenceRuns, name: str) -> None:
    reference, groups = gomp_reference, gomp_reference.groups(name.partition("_")[0])
    problem = reference.problem(reference.normed, groups=groups)
    l2 = float(reference[f"{name}_lambda"])
    run = Pursuit(problem, l2=l2, columns="given", score="projection")
    run.grow(200)
    assert run.order == (reference[f"{name}_order"] + 1).tolist()
    steps = reference[f"{name}_steps"]
    selected = [step.group for step in run.steps]
    assert np.diff([0, *(step.active for step in run.steps)]).tolist() == steps[:, 1].tolist()
    # A group with one feature left ties with that feature: either is right.
    several = steps[:, 1] > 1
    named = np.where(steps[:, 0] < len(groups), steps[:, 0], -1)
    assert np.array_equal(np.array(selected)[several], named[several])


# A simple dense version: every fit is exact, and every score computed by its formula.


def exact_fit(A: Any, y: Any, c: Any, q: Any, intercept: bool) -> tuple[Any, Any]:
    """Weights, the intercept last, and the derivatives of the loss, by Newton to the last digit."""
    X = np.column_stack([A, np.ones(len(y)) * intercept])
    ridge, w = np.append(q, 0.0 if intercept else 1.0), np.zeros(A.shape[1] + 1)

    def objective(w: Any) -> float:
        return float(c @ np.logaddexp(0.0, -y * (X @ w)) + 0.5 * ridge @ (w * w))

    for _ in range(100):
        s = 1.0 / (1.0 + np.exp(y * (X @ w)))
        gradient = X.T @ (-c * y * s) + ridge * w
        step = np.linalg.solve((X.T * (c * s * (1.0 - s))) @ X + np.diag(ridge), -gradient)
        t = 1.0
        while objective(w + t * step) > objective(w) + 1e-12 and t > 1e-6:
            t /= 2.0
        w = w + t * step
        if np.abs(step).max() < 1e-13:
            break
    return w, -c * y / (1.0 + np.exp(y * (X @ w)))


def score_of(A: Any, c: Any, r: Any, kind: str) -> float:
    """The formulas of the four scores for the columns A (n, m)."""
    products, gram, m = A.T @ r, (A.T * c) @ A, A.shape[1]
    if kind == "projection":
        return float(products @ np.linalg.solve(gram + 0.01 * np.eye(m), products) / m)
    if kind == "orthonormal":
        return float(products @ np.linalg.pinv(gram, rcond=1e-10) @ products)
    return float(products @ products) / (m if kind == "mean" else 1)


def simple_pursuit(
    problem: Problem, l2: float, budget: int, columns: str, kind: str = "mean", groups: Any = ()
) -> list[int]:
    """The order in which features are selected."""
    X, c = problem.X.toarray(), problem.sample_weight
    norms = np.sqrt(c @ (X * X))
    A = X / np.where(norms > 0.0, norms, 1.0) if columns == "unit" else X
    left = [[j for j in group if norms[j] > 0.0] for group in groups]
    left += [[j] for j in range(X.shape[1]) if norms[j] > 0.0]
    order: list[int] = []
    while len(order) < budget:
        q = np.full(len(order), 2.0 * l2)
        _, r = exact_fit(A[:, order], problem.y, c, q, problem.fit_intercept)
        values = [score_of(A[:, group], c, r, kind) if group else -1.0 for group in left]
        top = max(values)
        if top < 0.0:
            break
        best = next(g for g, value in enumerate(values) if value >= top * (1.0 - 1e-9))
        order += left[best]
        left = [[j for j in group if j not in order] for group in left]
    return order


def small(seed: int, n: int = 40, p: int = 25, **options: Any) -> Problem:
    """Counts, some columns parallel, some empty, and labels that depend on some of them."""
    rng = np.random.default_rng(seed)
    X = rng.integers(1, 4, (n, p)) * (rng.random((n, p)) < 0.25).astype(float)
    X[:, p - 1], X[:, p // 2], X[:, 3] = 0.0, 2.0 * X[:, 1], X[:, 2]
    y = np.where(X[:, :6] @ rng.normal(size=6) + rng.normal(size=n) > 0.0, 1.0, -1.0)
    return Problem(csr_array(X), y, **options)


def some_groups(seed: int, p: int = 25, count: int = 8) -> Groups:
    rng = np.random.default_rng(seed)
    rows = [np.sort(rng.permutation(p)[: rng.integers(0, 7)]) for _ in range(count)]
    rows.append(rows[0])
    return Groups(
        indptr=np.cumsum([0, *map(len, rows)], dtype=np.int64),
        indices=np.concatenate(rows).astype(np.int32),
        weights=np.ones(len(rows)),
        n_features=p,
    )


@pytest.mark.parametrize("columns", ["unit", "given"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_omp_agrees_with_the_simple_version(seed: int, intercept: bool, columns: str) -> None:
    weights = np.random.default_rng(seed).integers(0, 3, 40).astype(float)
    problem = small(seed, fit_intercept=intercept, sample_weight=weights)
    run = Pursuit(problem, l2=0.3, columns=columns)
    run.grow(25)
    assert run.order == simple_pursuit(problem, 0.3, 25, columns)
    assert run.stopped == "exhausted"
    assert run.uncertain == 0


@pytest.mark.sampled(12)
@pytest.mark.parametrize("kind", SCORES)
@pytest.mark.parametrize("columns", ["unit", "given"])
@pytest.mark.parametrize("seed", range(4))
def test_gomp_agrees_with_the_simple_version(seed: int, columns: str, kind: str) -> None:
    groups = some_groups(seed)
    problem = small(seed, groups=groups)
    members = [groups.members(g).tolist() for g in range(len(groups))]
    run = Pursuit(problem, l2=0.3, columns=columns, score=kind)
    run.grow(15)
    assert run.order == simple_pursuit(problem, 0.3, 15, columns, kind, members)
    assert run.uncertain == 0


@pytest.mark.parametrize("kind", SCORES)
def test_the_size_of_caches_changes_no_selection(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = small(21, groups=some_groups(21))
    run = Pursuit(problem, l2=0.3, score=kind)
    run.grow(20)
    for module, name, value in (
        (column_scores, "MOST_BOUNDED", 2),
        (column_scores, "DENSE_ENTRIES", 0),
        (column_scores, "ORIGINS", 2),
    ):
        monkeypatch.setattr(module, name, value)
    other = Pursuit(small(21, groups=some_groups(21)), l2=0.3, score=kind)
    other.grow(20)
    assert (other.order, other.steps) == (run.order, run.steps)


@draws(20)
@given(st.integers(0, 10**6), st.booleans())
def test_projection_bounds_bound_the_score(seed: int, unit: bool) -> None:
    rng = np.random.default_rng(seed)
    problem, groups = small(seed, sample_weight=rng.random(40)), some_groups(seed)
    columns = UnitColumns(problem)
    size = np.sign(columns.norms) if unit else columns.norms
    prepared = column_scores.column_groups(groups, columns, size)
    u = columns.dots(r := rng.normal(size=40), prepared.distinct.columns)
    factors, left = prepared.projection_bounds(columns, 0.01), (size > 0.0) & (rng.random(25) < 0.7)
    A = problem.X.toarray() * (size / np.where(size > 0.0, columns.norms, 1.0))
    for g, first in enumerate(prepared.first.tolist()):
        entries = np.arange(prepared.offsets[g], prepared.offsets[g + 1], dtype=np.int32)
        members = groups.indices[groups.indptr[first] : groups.indptr[first + 1]]
        assert prepared.remaining_squares(entries, left).sum() == pytest.approx(
            (size[members[left[members]]] ** 2).sum()
        )
        for some in (size > 0.0, left):
            alive = prepared.remaining_squares(entries, some) > 0.0
            bound = (factors[entries] * alive) @ u[prepared.members[entries]] ** 2
            inside = members[some[members]]
            if len(inside):
                mean = score_of(A[:, inside], problem.sample_weight, r, "projection")
                assert mean * len(inside) <= bound * (1.0 + 1e-9)


@given(st.integers(0, 10**6), st.floats(0.0, 3.0))
def test_the_error_of_column_dots_is_bounded(seed: int, tolerance: float) -> None:
    rng = np.random.default_rng(seed)
    columns = UnitColumns(small(seed, sample_weight=rng.random(40) + 0.1))
    products = ColumnDots(columns, columns.distinct(np.sign(columns.norms)))
    r = rng.normal(size=40)
    for _ in range(4):
        r = r + rng.normal(size=40) * rng.exponential(size=40)
        products.tolerance = tolerance
        error = products.update(r)
        assert error <= tolerance * (1.0 + 1e-6) + 1e-6
        off = products.values - columns.dots(r, products.distinct.columns)
        assert np.abs(off).max() <= error


def test_what_does_not_depend_on_labels_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    prepared: list[str] = []

    def count(owner: type, name: str) -> None:
        do = getattr(owner, name)

        def counted(*args: Any, **named: Any) -> Any:
            prepared.append(do.__qualname__)
            return do(*args, **named)

        monkeypatch.setattr(owner, name, counted)

    for owner, name in (
        (UnitColumns, "__init__"),
        (UnitColumns, "next_parallel"),
        (ColumnGroups, "__init__"),
    ):
        count(owner, name)
    problem = small(22, groups=some_groups(22))
    assert problem.X_csc.shape == (40, 25)  # shared by all problems that replace makes of it
    for y in (problem.y, -problem.y):
        for l2 in (0.1, 1.0):
            Gomp(l2=l2, budget=8).solve(problem.replace(y=y))
    assert sorted(prepared) == [
        "ColumnGroups.__init__",
        "UnitColumns.__init__",
        "UnitColumns.next_parallel",
    ]


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_a_factor_of_all_weights_changes_nothing(factor: float) -> None:
    rng = np.random.default_rng(5)
    X, y = rng.random((60, 8)), np.where(rng.random(60) < 0.2, 1.0, -1.0)
    X[:, :7] *= rng.random((60, 7)) < 0.3
    one, other = (
        Omp(budget=4, l2=0.0).solve(Problem(X, y, sample_weight=np.full(60, weight)))
        for weight in (1.0, factor)
    )
    np.testing.assert_allclose(other.w, one.w, rtol=1e-6)
    assert other.b == pytest.approx(one.b, rel=1e-6)


def test_groups_are_selected_as_a_whole() -> None:
    run = Pursuit(small(1, groups=some_groups(1)), l2=0.3, score="sum")
    run.grow(20)
    assert max(np.diff([0, *(step.active for step in run.steps)])) > 1


def test_by_mean_no_group_scores_higher_than_its_best_feature() -> None:
    run = Pursuit(small(2, groups=some_groups(2)), l2=0.3, score="mean")
    run.grow(25)
    assert [step.active for step in run.steps] == list(range(1, 25))


def test_groups_of_one_feature_are_omp() -> None:
    p = 25
    one = Groups(np.arange(p + 1), np.arange(p, dtype=np.int32), np.ones(p), p)
    separate, together = (
        Pursuit(small(3), l2=1.0),
        Pursuit(small(3, groups=one), l2=1.0, score="sum", singletons=False),
    )
    separate.grow(p)
    together.grow(p)
    assert together.order == separate.order
    assert [step.group for step in together.steps] == together.order


def test_without_singletons_only_groups_are_selected() -> None:
    groups = some_groups(4)
    run = Pursuit(small(4, groups=groups), l2=1.0, score="projection", singletons=False)
    run.grow(1000)
    assert run.stopped == "exhausted"
    assert sorted(run.order) == sorted(set(groups.indices.tolist()) - {24})
    assert all(step.group >= 0 for step in run.steps)


@draws(30)
@given(st.integers(0, 10**6), st.floats(0.01, 10.0), st.booleans())
def test_the_radius_is_a_bound(seed: int, l2: float, intercept: bool) -> None:
    rng = np.random.default_rng(seed)
    problem = small(seed, fit_intercept=intercept, sample_weight=rng.random(40))
    columns = UnitColumns(problem)
    fit = ActiveFit(problem, columns, np.full(25, 2.0 * l2))
    fit.add(rng.permutation(24)[: rng.integers(1, 20)].astype(np.int32))
    c, norms = problem.sample_weight, columns.norms
    A = problem.X.toarray()[:, fit.features] / norms[fit.features]
    _, r = exact_fit(A, problem.y, c, np.full(A.shape[1], 2.0 * l2), intercept)
    for wanted in (1.0, 0.1, 1e-3, 1e-6):
        fit.improve(wanted)
        assert columns.length(fit.r - r) <= 1.001 * fit.radius + 1e-9
    for _ in range(50):
        fit.improve(0.0)
    assert fit.radius < 1e-6


@given(st.integers(0, 10**6))
def test_parallel_columns_are_found(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(-1, 2, (3, 20)).astype(float) * rng.integers(1, 5, 20)
    columns = UnitColumns(Problem(csr_array(X), np.array([1.0, -1.0, 1.0])))
    scale = rng.integers(1, 3, 20).astype(float)
    following = columns.next_parallel(scale)
    unit = X / np.where(columns.norms > 0.0, columns.norms, 1.0)
    for j in range(20):
        alike = [k for k in range(20) if abs(unit[:, j] @ unit[:, k]) > 1.0 - 1e-9]
        alike.sort(key=lambda k: (-scale[k], k))
        expected = alike[alike.index(j) + 1 :] if j in alike else []
        assert following[j] == (expected[0] if expected else -1)


def test_of_parallel_columns_the_first_is_selected_first() -> None:
    problem = small(5)
    run = Pursuit(problem, l2=0.1)
    run.grow(24)
    assert run.order.index(1) < run.order.index(12)  # column 12 is twice column 1
    assert run.order.index(2) < run.order.index(3)
    given = Pursuit(problem, l2=0.1, columns="given")
    given.grow(24)
    assert given.order.index(12) < given.order.index(1)


def test_empty_columns_are_never_selected() -> None:
    solution = Omp(l2=1.0, budget=25).solve(small(6))
    assert solution.report.stopped == "exhausted"
    assert sorted(solution.report.order) == list(range(24))
    assert solution.converged


@pytest.mark.parametrize("reg", [Omp(l2=1.0, budget=3), Gomp(l2=1.0, budget=3)])
def test_without_documents_nothing_is_selected(reg: Omp) -> None:
    groups = Groups(np.array([0, 2]), np.arange(2, dtype=np.int32), np.ones(1), 3)
    assert reg.solve(Problem(csr_array((0, 3)), np.empty(0), groups=groups)).nonzero == 0


def test_no_features_make_a_model_of_the_intercept() -> None:
    y = np.array([1.0, 1.0, 1.0, -1.0])
    solution = Omp(l2=1.0, budget=3).solve(Problem(csr_array((4, 5)), y))
    assert solution.nonzero == 0
    assert solution.b == pytest.approx(math.log(3.0))
    assert solution.converged


def test_a_document_of_weight_two_is_that_document_twice() -> None:
    problem = small(7)
    weights = np.random.default_rng(7).integers(0, 4, 40)
    twice = np.repeat(np.arange(40), weights)
    groups = some_groups(7)
    for reg in (Omp(l2=0.5, budget=12), Gomp(l2=0.5, budget=12)):
        weighted = reg.solve(
            Problem(problem.X, problem.y, sample_weight=weights, groups=groups, tol=1e-10)
        )
        repeated = reg.solve(Problem(problem.X[twice], problem.y[twice], groups=groups, tol=1e-10))
        assert weighted.report.order == repeated.report.order
        np.testing.assert_allclose(weighted.w, repeated.w, atol=1e-4)


def test_the_order_of_documents_does_not_matter() -> None:
    problem = small(8)
    shuffled = np.random.default_rng(8).permutation(40)
    other = Problem(problem.X[shuffled], problem.y[shuffled])
    reg = Omp(l2=0.5, budget=15)
    assert reg.solve(other).report.order == reg.solve(problem).report.order


def test_scaling_columns_changes_no_selection_of_unit_columns() -> None:
    problem = small(9)
    factors = np.random.default_rng(9).choice([0.25, 0.5, 2.0, 8.0], 25)
    scaled = Problem(problem.X @ diags_array(factors), problem.y)
    reg = Omp(l2=0.5, budget=15)
    assert reg.solve(scaled).report.order == reg.solve(problem).report.order


def test_the_given_ridge_is_that_of_the_last_fit() -> None:
    solution = Omp(l2=0.7, budget=6).solve(small(10, tol=1e-12))
    problem, features = small(10), list(solution.report.order)
    A = problem.X.toarray()[:, features]
    w, _ = exact_fit(A, problem.y, problem.sample_weight, np.full(6, 1.4), True)
    np.testing.assert_allclose(solution.w[features], w[:-1], atol=1e-5)
    assert solution.b == pytest.approx(w[-1], abs=1e-5)
    assert math.isnan(solution.gap)


@pytest.mark.parametrize("reg", [Omp(l2=0.5), Gomp(l2=0.5, score="sum")])
def test_the_path_is_one_run_with_the_models_of_many(reg: Omp) -> None:
    problem = small(11, groups=some_groups(11), tol=1e-10)
    parts = [reg.replace(budget=budget) for budget in (2, 5, 9, 4)]
    for part, solution in reg.path(problem, parts):
        separate = part.solve(problem)
        assert solution.report.order == separate.report.order
        assert solution.report.steps == separate.report.steps
        assert len(solution.report.order) >= part.budget
        np.testing.assert_allclose(solution.w, separate.w, atol=1e-4)


def test_a_search_runs_once_for_all_budgets(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[Omp] = []
    begin = Omp._run

    def counted(self: Omp, problem: Problem) -> Pursuit:
        runs.append(self)
        return begin(self, problem)

    monkeypatch.setattr(Omp, "_run", counted)
    problem = small(12)
    X, codes = problem.X[30:], (problem.y[30:] > 0).astype(np.int64)
    part = Problem(problem.X[:30], problem.y[:30])
    y = (part.y > 0).astype(np.int64)
    fold = Fold(problem=part, task=classification("ab"), y=y, X_held=X, y_held=codes)
    points = search(Omp(), [fold])
    assert [point.regularizer for point in points] == Omp().candidates(part)
    assert len(runs) == 2  # one for every ridge
    assert [point.nonzero for point in points] == [24.0] * 2
    assert len(search(Omp(l2=1.0), [fold], Work(2))) == 1


@pytest.mark.parametrize("shape", [(120, 200), (200, 120)])
def test_candidates_end_with_the_features_or_documents(shape: tuple[int, int]) -> None:
    problem = Problem(csr_array(np.eye(*shape)), np.tile([1.0, -1.0], shape[0] // 2))
    budgets = [part.params()["budget"] for part in Omp(l2=1.0).candidates(problem)]
    assert budgets == [25, 50, 100, 120]
    assert Omp(l2=1.0, budget=500).candidates(problem) == [Omp(l2=1.0, budget=500)]


def test_a_callback_stops_with_the_best_so_far() -> None:
    steps: list[Step] = []

    def stop(step: Step) -> bool:
        steps.append(step)
        return len(steps) == 4

    solution = Omp(l2=1.0, budget=20).solve(small(13, callback=stop))
    assert solution.nonzero == 4
    assert not solution.converged
    assert solution.report.stopped == "callback"
    assert solution.history == tuple(steps)
    objectives = [step.objective for step in steps]
    assert objectives == sorted(objectives, reverse=True)
    assert solution.report.order == Omp(l2=1.0, budget=4).solve(small(13)).report.order


@pytest.mark.parametrize(
    ("reg", "power"), [(Omp(intercept="free"), 1), (Gomp(score="sum", intercept="free"), 2)]
)
def test_epsilon_ends_a_run(reg: Omp, power: int) -> None:
    nothing = Groups(np.zeros(1, dtype=np.int64), np.empty(0, np.int32), np.empty(0), 25)
    problem, columns = small(14, groups=nothing), UnitColumns(small(14))
    part = reg.replace(l2=1.0, budget=10)
    order = list(part.solve(problem).report.order)
    A = problem.X.toarray()[:, order[:5]] / columns.norms[order[:5]]
    _, r = exact_fit(A, problem.y, problem.sample_weight, np.full(5, 2.0), True)
    best = np.abs(columns.dots(r, np.array(order[5:], dtype=np.int32))).max()
    for factor, count in ((1.001, 5), (0.999, 6)):
        ended = part.replace(epsilon=factor * best**power).solve(problem)
        assert list(ended.report.order[:count]) == order[:count]
        assert (ended.nonzero == 5) == (count == 5)
        if count == 5:
            assert ended.report.stopped == "epsilon"


def test_without_a_ridge_selections_are_not_proven() -> None:
    problem = small(20)
    solution = Omp(l2=0.0, budget=4).solve(problem)
    assert not solution.report.proven
    assert solution.nonzero == 4
    assert solution.converged
    assert Omp(l2=1.0, budget=4).solve(problem).report.proven


@pytest.mark.parametrize("loss", ["squared", "squared-hinge"])
def test_with_more_features_than_documents_selections_are_certain(loss: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 200))
    problem = Problem(X, np.sign(X[:, :6].sum(axis=1)), loss=loss)
    run = Pursuit(problem, l2=0.01)
    run.grow(80)
    assert (run.uncertain, run.proven) == (0, True)
    if loss == "squared":  # where exact fits have a formula
        A = X / np.linalg.norm(X, axis=0)
        order: list[int] = []
        while len(order) < 80:
            B = np.column_stack([A[:, order], np.ones(50)])
            ridge = np.diag([*[0.02] * len(order), 0.0])
            r = B @ np.linalg.solve(B.T @ B + ridge, B.T @ problem.y) - problem.y
            scores = np.abs(A.T @ r)
            scores[order] = -1.0
            order.append(int(np.argmax(scores)))
        assert run.order == order


def test_uncertain_selections_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("textreg.solvers.pursuit.NEWTON_STEPS", 0)
    with pytest.warns(ConvergenceWarning, match="6 of 6 selections of the pursuit are uncertain"):
        solution = Omp(l2=1.0, budget=6).solve(small(15))
    assert not solution.converged


def test_too_large_a_group_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(column_scores, "LARGEST_GROUP", 3)
    groups = Groups(
        np.array([0, 2, 7]), np.array([0, 1, 0, 2, 4, 5, 6], np.int32), np.ones(2), 25,
        names=["few", "many"],
    )  # fmt: skip
    problem = small(16, groups=groups)
    with pytest.raises(DataError, match="group 'many' has 5 features, too many"):
        Gomp(l2=1.0, budget=5).solve(problem)
    assert Gomp(l2=1.0, budget=5, score="mean").solve(problem).nonzero == 5


@pytest.mark.parametrize(
    ("reg", "message"),
    [
        (Omp(), "omp: l2 and budget not chosen yet"),
        (Gomp(l2=1.0, budget=5), "gomp: the problem has no groups"),
    ],
)
def test_invalid_problems_are_refused(reg: Regularizer, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        reg.solve(small(18))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": "raw"}, "columns must be one of unit, given"),
        ({"score": "sums"}, "Did you mean 'sum'"),
        ({"score": "sum", "groups": None}, "a pursuit of groups needs groups"),
    ],
)
def test_wrong_settings_of_a_run(options: dict[str, Any], message: str) -> None:
    groups = options.pop("groups", some_groups(19))
    with pytest.raises(UsageError, match=message):
        Pursuit(small(19, groups=groups), l2=1.0, **options)


@pytest.mark.parametrize("reg", [Omp(l2=0.1, budget=3), Gomp(l2=0.1, budget=3)])
def test_a_model_has_the_order_of_selection(reg: Omp) -> None:
    texts = ["good good film", "good plot", "fine good", "bad film", "dull bad plot", "bad bad"]
    model = train(texts, ["pos"] * 3 + ["neg"] * 3, reg=reg, tokenizer="words", min_df=1)
    (order,) = model.summary.order
    assert set(order[:2]) == {"good", "bad"}
    assert len(order) >= 3
    assert model.predict(texts) == ["pos"] * 3 + ["neg"] * 3
