"""Matrices and groups in blocks of rows: products, and fits that need one block at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise, repeat
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import csr_array
from thoroughness import draws

from textreg.builtin.backends import Here
from textreg.builtin.groups import Group, Sentence
from textreg.builtin.separable import Elastic, Lasso, NoRegularizer, Ridge
from textreg.errors import ConvergenceWarning, DataWarning, UsageError
from textreg.kinds import Regularizer
from textreg.losses import find_loss
from textreg.penalties import GroupNorms
from textreg.records import Design, Groups, Problem, Solution
from textreg.records.arrays import squared_norms
from textreg.records.design import (
    BlockDesign,
    BlockGroups,
    CompressedArrays,
    GroupBlock,
    numbered_within,
)
from textreg.records.store import ArrayStore
from textreg.solvers import dual_ascent
from textreg.solvers.dual_ascent import labels_at_a_time
from textreg.solvers.out_of_core import held_by_groups, left_by_groups, over_blocks

N, P = 90, 140


class Memory(dict[str, NDArray[Any]]):
    """A store in memory."""

    def put(self, name: str, array: NDArray[Any]) -> None:
        self[name] = array

    def get(self, name: str) -> NDArray[Any]:  # type: ignore[override]
        return self[name]

    def drop(self, name: str) -> None:
        del self[name]


class Files:
    """A store on disk, whose arrays are mapped."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, name: str, array: NDArray[Any]) -> None:
        np.save(self._folder / f"{name}.npy", array)

    def get(self, name: str) -> NDArray[Any]:
        return np.load(self._folder / f"{name}.npy", mmap_mode="r")

    def drop(self, name: str) -> None:
        (self._folder / f"{name}.npy").unlink()


def cut_rows(arrays: CompressedArrays, starts: list[int]) -> Iterator[CompressedArrays]:
    """The rows of a matrix, cut before these rows; the last is the end."""
    indptr, indices, data = arrays
    for start, end in pairwise(starts):
        first, last = indptr[start], indptr[end]
        yield CompressedArrays(
            indptr[start : end + 1] - first, indices[first:last], data[first:last]
        )


def kept(
    rows: CompressedArrays,
    cuts: list[int],
    p: int,
    store: ArrayStore,
    groups: Iterable[Any] = (),
    memory: float = np.inf,
) -> BlockDesign:
    """Rows that are cut, and groups of every block, kept in a store."""
    workers = Here(store)
    parts = zip(cut_rows(rows, cuts), cuts, [*groups] or repeat(None), strict=False)
    blocks = (workers.submit(numbered_within, part, start, p, own) for part, start, own in parts)
    return BlockDesign(workers, blocks, p, store, memory)


def in_blocks(
    X: csr_array, cuts: list[int], store: ArrayStore, memory: float = np.inf
) -> BlockDesign:
    return kept(Design(X).rows, cuts, X.shape[1], store, memory=memory)


def groups_in_blocks(groups: Groups, cuts: list[int], store: ArrayStore) -> BlockGroups:
    """Groups, two of every document, cut where documents are."""

    def blocks() -> Any:
        for start, end in pairwise(2 * cut for cut in cuts):
            first, last = groups.indptr[start], groups.indptr[end]
            indptr = groups.indptr[start : end + 1] - first
            yield GroupBlock(indptr, groups.indices[first:last], groups.weights[start:end])

    p = groups.n_features
    rows = Design(csr_array((cuts[-1], p))).rows
    return BlockGroups(kept(rows, cuts, p, store, blocks()))


def documents(seed: int, scale: float = 1.0) -> tuple[csr_array, NDArray[np.float64], Groups]:
    """Documents of common words and of words that some of them have alone, and their halves."""
    random = np.random.default_rng(seed)
    chance = np.concatenate([np.linspace(0.5, 0.1, 20), np.full(P - 20, 0.02)])
    dense = random.integers(1, 4, (N, P)) * (random.random((N, P)) < chance) * scale
    dense[:, -1] = 0.0  # a feature that occurs nowhere
    dense[7] = 0.0  # and a document without any
    X = csr_array(dense)
    meaning = random.normal(size=P)
    y = np.where(X @ meaning / scale + random.normal(size=N) > 0.0, 1.0, -1.0)
    sets = [part for row in dense for part in np.array_split(np.flatnonzero(row), 2)]
    sizes = np.array([len(part) for part in sets])
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    return X, y, Groups(indptr, np.concatenate(sets), np.sqrt(sizes), P)


CUTS = [0, 31, 32, 70, N]

REGULARIZERS = [
    Ridge(l2=1.0),
    Ridge(l2=0.01),
    Lasso(l1=1.0),
    Lasso(l1=0.1),
    Elastic(l1=0.3, l2=0.1),
    Sentence(group=0.1, l1=0.2, l2=0.0),
    Sentence(group=0.02, l1=0.5, l2=0.1),
    Sentence(group=0.0, l1=0.0, l2=0.1),
    Group(group=0.0, l1=0.3, l2=0.0),
]


@given(st.integers(0, 2**32 - 1), st.lists(st.integers(0, N), max_size=4), st.integers(0, 3))
@draws(30)
def test_products_are_those_of_the_matrix(seed: int, cuts: list[int], count: int) -> None:
    X, _, groups = documents(seed)
    cuts = [0, *sorted(cuts), N]
    design, dense = in_blocks(X, cuts, Memory()), X.toarray()
    random = np.random.default_rng(seed)
    some = np.sort(random.choice(P, 11, replace=False)).astype(np.int32)
    for w in (random.normal(size=P), random.normal(size=(P, count + 1)), np.zeros(P)):
        np.testing.assert_allclose(design.product(w, intercept=2.0), dense @ w + 2.0, atol=1e-12)
        np.testing.assert_allclose(design.product(w[some], some), dense[:, some] @ w[some])
    for r in (random.normal(size=N), random.normal(size=(N, 2))):
        np.testing.assert_allclose(design.transposed_product(r), dense.T @ r, atol=1e-12)
        np.testing.assert_allclose(
            design.transposed_product(r, some), dense[:, some].T @ r, atol=1e-12
        )
    h = random.random(N)
    np.testing.assert_allclose(design.curvature(h), (dense**2).T @ h)
    np.testing.assert_allclose(design.curvature(h, some), (dense[:, some] ** 2).T @ h)
    np.testing.assert_array_equal(design.select(some).X.toarray(), dense[:, some])
    part = np.union1d(some[random.random(len(some)) < 0.5], [3, 50]).astype(np.int32)
    known = part, design.select(part).columns
    np.testing.assert_array_equal(design.select(some, known).X_csc.toarray(), dense[:, some])
    np.testing.assert_array_equal(design.sizes, np.count_nonzero(dense, axis=0))
    in_parts = groups_in_blocks(groups, cuts, Memory())
    assert len(in_parts) == len(groups)
    every = np.arange(P, dtype=np.int32)
    left = in_parts.select(every)  # without groups that are empty
    filled = np.flatnonzero(np.diff(groups.indptr))
    np.testing.assert_array_equal(left.indices, groups.indices)
    np.testing.assert_array_equal(left.weights, groups.weights[filled])
    products = design.transposed_product(r := random.normal(size=N))
    features, large = design.large_products(r, least := float(np.median(np.abs(products))))
    np.testing.assert_array_equal(features, np.flatnonzero(np.abs(products) > least))
    np.testing.assert_array_equal(large, products[features])


def test_norms_are_read_once() -> None:
    X, _, _ = documents(3)
    design = in_blocks(X, CUTS, Memory())
    for _ in range(2):
        np.testing.assert_allclose(design.row_norms(), X.power(2).sum(axis=1), rtol=1e-12)
    assert design.passes == 1


@pytest.mark.sampled(1)
@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared-hinge", "squared"])
@pytest.mark.parametrize("intercept", [True, False])
def test_several_labels_share_the_passes_of_a_ridge(loss: str, intercept: bool) -> None:
    X, y, _ = documents(1)
    random, part = np.random.default_rng(1), Ridge(l2=3.0)
    labels = [y, -y, np.where(random.random(N) < 0.3, 1.0, -1.0)]
    design = in_blocks(X, CUTS, Memory())
    posed = [
        Problem(design, label, loss=find_loss(loss), tol=1e-5, fit_intercept=intercept)
        for label in labels
    ]
    together, shared = part.solve_each(posed), design.passes
    for one, found in zip(posed, together, strict=True):
        alone = part.solve(one)
        np.testing.assert_array_equal(alone.w, found.w)
        assert (alone.b, alone.gap) == (found.b, found.gap)
        whole = part.solve(one.replace(X=X, tol=1e-9))
        assert found.converged
        assert found.objective <= whole.objective * (1.0 + 1e-5)
        assert found.objective * (1.0 - found.gap) <= whole.objective * (1.0 + 1e-9)
    if "hinge" in loss:  # others go on by Newton's method, label by label
        assert shared < 0.5 * (design.passes - shared)


def test_labels_share_passes_as_far_as_memory_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, _ = documents(1)
    design = in_blocks(X, CUTS, Memory(), memory=2.0 * 8.0 * (7 * N + 5 * P) * 3.5)
    assert labels_at_a_time(design) == 3
    assert labels_at_a_time(in_blocks(X, CUTS, Memory(), memory=1.0)) == 1
    assert labels_at_a_time(in_blocks(X, CUTS, Memory())) == 16
    counts, plain = [], dual_ascent._solve

    def counted(problems: Sequence[Problem], l2: float) -> list[Solution]:
        counts.append(len(problems))
        return plain(problems, l2)

    monkeypatch.setattr(dual_ascent, "_solve", counted)
    Ridge(l2=3.0).solve_each([Problem(design, y)] * 7)
    assert counts == [3, 3, 1]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("reg", REGULARIZERS, ids=str)
@pytest.mark.parametrize("loss", ["logistic", "squared-hinge"])
def test_the_optimum_is_that_of_the_whole_matrix(
    reg: Regularizer, loss: str, tmp_path: Path
) -> None:
    X, y, groups = documents(1)
    c = np.random.default_rng(1).integers(1, 3, N).astype(float)
    tol = 1e-6
    whole = reg.solve(Problem(X, y, c, loss, groups=groups, tol=1e-9, max_iter=5000))
    found = {}
    for name, store in {"memory": Memory(), "disk": Files(tmp_path)}.items():
        design, parts = in_blocks(X, CUTS, store), groups_in_blocks(groups, CUTS, store)
        problem = Problem(design, y, c, loss, groups=parts, tol=tol, max_iter=5000)
        solution = found[name] = reg.solve(problem)
        assert solution.converged
        assert solution.objective <= whole.objective * (1.0 + tol)
        for step in solution.history:  # what was certified on the way holds
            assert step.objective * (1.0 - step.gap) <= whole.objective * (1.0 + 1e-9)
        np.testing.assert_allclose(
            reg.objective(problem, solution.w, solution.b), solution.objective, rtol=1e-12
        )
        if solution.group_norms is not None:
            np.testing.assert_allclose(solution.group_norms, parts.norms(solution.w))
    np.testing.assert_array_equal(found["memory"].w, found["disk"].w)
    assert found["memory"].b == found["disk"].b


@pytest.mark.parametrize("reg", [Lasso(l1=0.1), Elastic(l1=0.1, l2=0.05)], ids=str)
def test_problems_that_begin_small_and_grow(
    reg: Regularizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("textreg.solvers.out_of_core.FIRST_FEATURES", 3)
    monkeypatch.setattr("textreg.solvers.out_of_core.FEATURE_GROWTH", 2)
    X, y, _ = documents(3)
    whole = reg.solve(Problem(X, y, tol=1e-9))
    solution = reg.solve(Problem(in_blocks(X, CUTS, Memory()), y, tol=1e-6))
    assert solution.converged
    assert len(solution.history) > 3
    assert solution.objective <= whole.objective * (1.0 + 1e-6)
    for step in solution.history:
        assert step.objective * (1.0 - step.gap) <= whole.objective * (1.0 + 1e-9)


@pytest.mark.parametrize("reg", [Lasso(l1=0.2), Sentence(group=0.1, l1=0.2, l2=0.0)], ids=str)
def test_few_passes(reg: Regularizer) -> None:
    X, y, groups = documents(2)
    design, parts = in_blocks(X, CUTS, Memory()), groups_in_blocks(groups, CUTS, Memory())
    solution = reg.solve(Problem(design, y, groups=parts, tol=1e-4))
    assert solution.converged
    assert design.passes == 1 + 2 * len(solution.history) <= 15
    before = design.passes
    again = reg.solve(
        Problem(design, y, groups=parts, tol=1e-4, start=(solution.w, solution.b))
    )  # fmt: skip
    assert again.converged
    assert len(again.history) <= len(solution.history)
    assert design.passes > before


def test_the_scale_of_groups_in_blocks_is_that_in_memory() -> None:
    X, y, groups = documents(9)
    parts, part = groups_in_blocks(groups, CUTS, Memory()), Group(group=1.0, l1=0.5, l2=0.0)
    whole = part.scale(Problem(X, y, groups=groups), "group")
    blocks = Problem(in_blocks(X, CUTS, Memory()), y, groups=parts)
    assert part.scale(blocks, "group") == pytest.approx(whole, rel=1e-12)
    none = groups_in_blocks(Groups(np.zeros(2 * N + 1), [], np.ones(2 * N), P), CUTS, Memory())
    assert part.scale(blocks.replace(groups=none), "group") == part.scale(blocks, "l1")


def test_groups_in_blocks_keep_features_at_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("textreg.solvers.out_of_core.LARGEST_SHARE", 1.0)
    X, y, groups = documents(9)
    parts, group, l1 = groups_in_blocks(groups, CUTS, Memory()), 0.5, 0.5
    products = np.abs(X.T @ (y - y.mean())) / 2.0
    features = np.flatnonzero(products > l1).astype(np.int32)
    excess, values = products[features] - l1, np.diff(X.tocsc().indptr)[features].astype(np.int32)
    left = left_by_groups(parts, group, features, excess, values)
    assert left is not None
    assert 0 < left.sum() < len(features)
    # The proportional choice of dual variables covers all others, and stays in every ball.
    weights, dense = group * groups.weights, np.zeros((len(groups), P))
    rows = np.repeat(np.arange(len(groups)), np.diff(groups.indptr))
    dense[rows, groups.indices] = weights[rows]
    kept = features[~left]
    u = dense[:, kept] * (excess[~left] / dense[:, kept].sum(axis=0))
    np.testing.assert_allclose(u.sum(axis=0), excess[~left])
    assert np.all(np.linalg.norm(u, axis=1) <= weights * (1.0 + 1e-12))
    monkeypatch.setattr("textreg.solvers.out_of_core.LARGEST_SHARE", 0.0)
    assert left_by_groups(parts, group, features, excess, values) is None


def test_groups_in_blocks_hold_features_as_in_memory() -> None:
    _, _, groups = documents(9)
    parts, group, chance = groups_in_blocks(groups, CUTS, Memory()), 0.5, np.random.default_rng(9)
    selected = np.flatnonzero(np.arange(P) % 7 == 0).astype(np.int32)
    others = np.flatnonzero(np.arange(P) % 7 == 1).astype(np.int32)
    penalty = GroupNorms(groups, group, 0.1)
    part = penalty.select(selected)
    u = chance.normal(size=len(part.indices))
    u /= np.maximum(1.0, np.sqrt(squared_norms(part.indptr, u)) / part.strengths).repeat(part.sizes)
    used = np.where(part.origin == -1, 0.0, penalty.strengths**2)
    used[part.origin >= 0] = squared_norms(part.indptr, u)
    room = penalty.room_of_originals(used)
    has = np.add.reduceat(np.isin(groups.indices, selected), groups.indptr[:-1]) > 0
    least = 0.2 * group * chance.random(len(others))
    held, taken = penalty.hold(others, 1.1 * least, least, penalty.free_of(part, u))
    known = selected, room[has]
    found = held_by_groups(parts, group, others, 1.1 * least, least, known)
    np.testing.assert_allclose(found, held, rtol=1e-9)
    assert held.any()
    assert np.all(taken**2 + used <= penalty.strengths**2 * (1.0 + 1e-12))


def test_without_an_intercept_and_without_a_weight() -> None:
    X, y, groups = documents(4)
    for reg in (Lasso(l1=1e3), Sentence(group=1.0, l1=1e3, l2=0.0)):
        design, parts = in_blocks(X, CUTS, Memory()), groups_in_blocks(groups, CUTS, Memory())
        solution = reg.solve(Problem(design, y, groups=parts, fit_intercept=False))
        assert solution.nonzero == 0
        assert solution.converged


def test_a_stop_by_the_caller_is_kept() -> None:
    X, y, _ = documents(5)
    seen: list[Any] = []

    def stop(step: Any) -> bool:
        seen.append(step)
        return True

    problem = Problem(in_blocks(X, CUTS, Memory()), y, tol=1e-12, callback=stop)
    solution = Lasso(l1=0.1).solve(problem)
    assert len(seen) == len(solution.history) == 1
    assert not solution.converged


def test_one_that_does_not_converge_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("textreg.solvers.out_of_core.MOST_PROBLEMS", 1)
    X, y, _ = documents(6)
    with pytest.warns(ConvergenceWarning, match="relative gap"):
        solution = Lasso(l1=0.1).solve(Problem(in_blocks(X, CUTS, Memory()), y, tol=1e-9))
    assert not solution.converged
    assert solution.gap > 1e-9


def test_a_problem_larger_than_memory_is_told_of_once() -> None:
    X, y, groups = documents(6)
    parts = groups_in_blocks(groups, CUTS, Memory())
    problem = Problem(in_blocks(X, CUTS, Memory(), 1e3), y, groups=parts, tol=1e-6)
    with pytest.warns(DataWarning, match="a larger l1 leaves fewer") as told:
        Sentence(group=0.1, l1=0.2, l2=0.0).solve(problem)
    assert len(told) == 1


class Untold(Lasso):
    """A lasso whose solutions in memory have no dual variables."""

    name = "untold"

    def solve(self, problem: Problem) -> Solution:
        if problem.design.blocks:
            return over_blocks(problem, 1.0, 0.0, self.solve)
        return replace(Lasso(l1=1.0).solve(problem), alpha=None)


@pytest.mark.parametrize(
    ("reg", "message"),
    [
        (Group(group=0.1, l1=0.0, l2=0.1), "need l1 above 0"),
        (Untold(), "no dual variables"),
        (NoRegularizer(), "without --memory"),
    ],
    ids=str,
)
def test_what_needs_the_whole_matrix_says_so(reg: Regularizer, message: str) -> None:
    X, y, groups = documents(7)
    design, parts = in_blocks(X, CUTS, Memory()), groups_in_blocks(groups, CUTS, Memory())
    with pytest.raises(UsageError, match=message):
        reg.solve(Problem(design, y, groups=parts))


def test_nothing_whole_is_there() -> None:
    X, _, groups = documents(8)
    design, parts = in_blocks(X, CUTS, Memory()), groups_in_blocks(groups, CUTS, Memory())
    for name in ("X", "X_csc", "columns", "rows", "squares"):
        with pytest.raises(UsageError, match="without --memory"):
            getattr(design, name)
    with pytest.raises(AttributeError, match="no attribute 'colums'"):
        design.colums  # noqa: B018
    with pytest.raises(UsageError, match="without --memory"):
        parts.indptr  # noqa: B018
    assert repr(design) == "<BlockDesign: 90 documents in 4 blocks, 140 features>"
    assert repr(parts) == "<BlockGroups: 180 over 140 features>"


def is_close(one: Solution, two: Solution) -> bool:
    return abs(one.objective - two.objective) <= 1e-6 * abs(two.objective)


@pytest.mark.parametrize("scale", [1e-4, 1e4])
def test_scales(scale: float) -> None:
    """X times s with l1 times s and l2 times s squared has the same scores."""
    X, y, _ = documents(9)
    scaled, _, _ = documents(9, scale)
    for plain, reg in (
        (Lasso(l1=0.3), Lasso(l1=0.3 * scale)),
        (Elastic(l1=0.3, l2=0.1), Elastic(l1=0.3 * scale, l2=0.1 * scale**2)),
    ):
        one = plain.solve(Problem(in_blocks(X, CUTS, Memory()), y, tol=1e-7))
        two = reg.solve(Problem(in_blocks(scaled, CUTS, Memory()), y, tol=1e-7))
        assert two.converged
        assert is_close(one, two)
