"""Parallel columns in the same groups as one: same scores, same norms, same minimum."""

from __future__ import annotations

import numpy as np
import pytest
from labels import labels_over
from scipy.sparse import csr_array

from textreg import Group
from textreg.penalties import GroupNorms
from textreg.plugins import calls
from textreg.records import Groups, Problem
from textreg.solvers import reduce as merging
from textreg.solvers.groups import majorize
from textreg.solvers.reduce import kinds_of, merged_features

N, WORDS, COPIES = 60, 25, 4

pytestmark = pytest.mark.usefixtures("merged_values")


def problem(seed: int = 0, **options: object) -> Problem:
    """Every word has three copies with a factor, of which the last is in one group more.

    The last ten features are in no document, five of them in a group that has no other.
    """
    random = np.random.default_rng(seed)
    words = random.poisson(0.4, (N, WORDS)).astype(float)
    X = np.hstack([factor * words for factor in (1.0, 2.0, -0.5, 3.0)] + [np.zeros((N, 10))])
    y = np.where(X[:, 0] - X[:, 1] + random.standard_normal(N) > 0.0, 1.0, -1.0)
    members = [random.choice(WORDS, 5, replace=False) for _ in range(30)]
    sets = [np.sort(np.concatenate([one + at * WORDS for at in range(COPIES)])) for one in members]
    sets.append(3 * WORDS + np.sort(random.choice(WORDS, 8, replace=False)))
    sets.append(COPIES * WORDS + np.arange(5))
    indptr = np.cumsum([0, *map(len, sets)])
    strengths = random.uniform(0.5, 2.0, len(sets))
    groups = Groups(indptr, np.concatenate(sets), strengths, n_features=X.shape[1])
    return Problem(csr_array(X), y, groups=groups, **{"tol": 1e-9, **options})  # type: ignore[arg-type]


def test_kinds_tell_who_is_in_the_same_groups() -> None:
    members = np.array([0, 1, 3, 1, 3, 4], dtype=np.int32)
    groups = Groups(np.array([0, 3, 5, 6]), members, np.ones(3), n_features=6)
    kinds = kinds_of(groups)
    assert kinds[1] == kinds[3]
    assert len(set(kinds.tolist())) == 4
    assert kinds[2] == kinds[5] == 0.0


def test_scores_and_norms_are_kept() -> None:
    given = problem()
    assert given.groups is not None
    penalty = GroupNorms(given.groups, 0.3, 0.0, 0.1)
    merged = merged_features(given.design, penalty)
    assert merged is not None
    small = merged.columns.merge_problem(given)
    smaller = penalty.standing_for_all(merged.columns.representatives)
    alike = kinds_of(given.groups)[3 * WORDS : 4 * WORDS] == kinds_of(given.groups)[:WORDS]
    assert 0 < alike.sum() < WORDS
    assert small.design.shape[1] == smaller.p == 2 * WORDS - alike.sum() + 1
    u = np.random.default_rng(1).standard_normal(smaller.p)
    u[-1] = 0.0  # that of the features in no document
    w = merged.columns.expand(u)
    np.testing.assert_allclose(given.X @ w, small.design.product(u), atol=1e-12)
    np.testing.assert_allclose(penalty.norms(w), smaller.norms(u), atol=1e-12)
    assert smaller.value(u) == pytest.approx(penalty.value(w), rel=1e-13)
    np.testing.assert_allclose(
        penalty.copies(w, penalty.duals(np.ones(len(penalty.strengths)), w)),
        smaller.copies(u, smaller.duals(np.ones(len(smaller.strengths)), u)),
        atol=1e-12,
    )


@pytest.mark.sampled(8)
@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared-hinge"])
@pytest.mark.parametrize(("group", "l2"), [(0.05, 0.01), (0.3, 0.1), (0.3, 0.0), (5.0, 0.1)])
def test_the_minimum_is_that_of_all_features(
    group: float, l2: float, loss: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = problem(loss=loss, tol=1e-6)
    assert given.groups is not None
    penalty = GroupNorms(given.groups, group, 0.0, l2)
    found = majorize(given, penalty)
    assert found.converged
    value = given.loss.value(given.X @ found.w + found.b, given.y, given.sample_weight)
    assert found.objective == pytest.approx(value + penalty.value(found.w), rel=1e-9)
    monkeypatch.setattr(merging, "MERGED_SHARE", 0.0)
    plain = majorize(problem(loss=loss, tol=1e-6), penalty)
    assert plain.w[1] != 0.0 or group > 1.0
    # Each is above what the other has proven.
    assert found.objective >= plain.objective * (1.0 - plain.gap) * (1.0 - 1e-12)
    assert plain.objective >= found.objective * (1.0 - found.gap) * (1.0 - 1e-12)
    assert found.group_norms is not None
    assert plain.group_norms is not None
    np.testing.assert_allclose(found.group_norms, plain.group_norms, atol=1e-2)


def test_labels_side_by_side_are_merged_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("textreg.solvers.reduce.SMALL", 0)
    part = Group(group=0.2, l1=0.0, l2=0.1)
    posed = labels_over(problem(tol=1e-7), 4, np.random.default_rng(2))
    for one, found in zip(posed, calls.solve_each(part, posed), strict=True):
        assert found.converged
        assert found.w.shape == (one.X.shape[1],)
        assert found.objective == pytest.approx(part.objective(one, found.w, found.b), rel=1e-9)
        assert found.objective == pytest.approx(part.solve(one).objective, rel=3e-7)


def test_an_l1_penalty_can_tell_them_apart() -> None:
    given = problem()
    assert given.groups is not None
    assert merged_features(given.design, GroupNorms(given.groups, 0.3, 0.1)) is None
