"""Identities that hold for the penalties whatever the numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from textreg.penalties import GroupNorms, Separable, soft
from textreg.records import Floats, Groups

P = 6
NUMBER = st.floats(-10, 10).map(lambda x: round(x, 3))
STRENGTH = st.just(0.0) | st.floats(0.01, 10)
VECTOR = arrays(np.float64, P, elements=NUMBER)
STRENGTHS = arrays(np.float64, P, elements=STRENGTH)
STEP = st.floats(0.01, 10)
SEPARABLE = st.builds(Separable, STRENGTHS, VECTOR, STRENGTHS)

# Every group's features; some of them empty, single, or given twice.
SETS = st.lists(st.sets(st.integers(0, P - 1)).map(sorted), max_size=8).flatmap(
    lambda sets: (
        st.lists(st.sampled_from(sets), max_size=3).map(lambda more: sets + more)
        if sets
        else st.just(sets)
    )
)


@st.composite
def grouped(draw: st.DrawFn) -> tuple[GroupNorms, list[list[int]], Floats, Floats]:
    """A penalty, its sets, their weights, and (group, l1, l2)."""
    sets = draw(SETS)
    weights = draw(arrays(np.float64, len(sets), elements=STRENGTH))
    strengths = draw(arrays(np.float64, 3, elements=STRENGTH))
    groups = Groups(
        indptr=np.cumsum([0, *map(len, sets)], dtype=np.int64),
        indices=np.array([j for members in sets for j in members], dtype=np.int32),
        weights=weights,
        n_features=P,
    )
    return GroupNorms(groups, *strengths), sets, weights, strengths


@given(SEPARABLE, VECTOR)
def test_separable_value(penalty: Separable, w: Floats) -> None:
    expected = sum(
        0.5 * q * (x - mu) ** 2 + lam * abs(x)
        for q, mu, lam, x in zip(penalty.q, penalty.mu, penalty.lam, w, strict=True)
    )
    assert penalty.value(w) == pytest.approx(expected)
    features = np.array([4, 1], dtype=np.int32)
    others = np.delete(np.arange(P), features).astype(np.int32)
    parts = penalty.of(features, w[features]) + penalty.of(others, w[others])
    assert parts == pytest.approx(expected)


@given(SEPARABLE, VECTOR, STEP, VECTOR)
def test_prox_is_the_minimum(penalty: Separable, w: Floats, step: float, move: Floats) -> None:
    def model(x: Floats) -> float:
        return 0.5 * float((x - w) @ (x - w)) + step * penalty.value(x)

    x = penalty.prox(w, step)
    for size in (1.0, 1e-3):
        other = x + size * move
        # The model curves by at least one.
        least = model(x) + 0.5 * float((other - x) @ (other - x))
        assert model(other) >= least - 1e-9 * (1.0 + abs(least))


@given(SEPARABLE, VECTOR, STEP)
def test_prox_and_conjugate_share_a_tangent(penalty: Separable, w: Floats, step: float) -> None:
    # Moreau: t = (w - x) / step is a slope at x = prox(w), where value(x) + conjugate(t) = t.x.
    x = penalty.prox(w, step)
    t = (w - x) / step
    flat = penalty.q == 0.0
    t[flat] = np.clip(t[flat], -penalty.lam[flat], penalty.lam[flat])  # but for rounding, it is so
    assert penalty.value(x) + penalty.conjugate(t) == pytest.approx(t @ x, rel=1e-6, abs=1e-6)


@given(SEPARABLE, VECTOR, VECTOR)
def test_conjugate_lies_above_every_line(penalty: Separable, t: Floats, w: Floats) -> None:
    below = t @ w - penalty.value(w)
    assert penalty.conjugate(t) >= below - 1e-9 * (1.0 + abs(below))


def test_conjugate_is_infinite_where_nothing_holds_a_weight() -> None:
    penalty = Separable.constant(2, l1=1.0)
    assert penalty.conjugate(np.array([1.0, -1.0])) == 0.0
    assert penalty.conjugate(np.array([1.5, 0.0])) == np.inf


def test_constant_strengths_are_those_of_the_papers() -> None:
    w = np.array([2.0, -1.0, 0.0])
    assert Separable.constant(3, l1=0.5).value(w) == pytest.approx(1.5)
    assert Separable.constant(3, l2=0.5).value(w) == pytest.approx(2.5)


def test_soft_thresholding() -> None:
    np.testing.assert_array_equal(soft(np.array([3.0, -3.0, 0.5]), 1.0), [2.0, -2.0, 0.0])


@given(grouped(), VECTOR)
def test_group_norms_are_those_of_the_sets(
    given_groups: tuple[GroupNorms, list[list[int]], Floats, Floats], w: Floats
) -> None:
    penalty, sets, weights, (group, l1, l2) = given_groups
    norms = [float(np.linalg.norm(w[members])) for members in sets]
    expected = group * float(weights @ norms) + l1 * np.abs(w).sum() + l2 * float(w @ w)
    assert penalty.value(w) == pytest.approx(expected)
    np.testing.assert_allclose(penalty.original_norms(penalty.norms(w), w), norms, atol=1e-12)


@given(grouped(), VECTOR, st.floats(0.1, 10))
def test_majorizer_lies_above_and_touches(
    given_groups: tuple[GroupNorms, list[list[int]], Floats, Floats], w: Floats, s: float
) -> None:
    penalty, *_ = given_groups
    for scale in (np.full(len(penalty.strengths), s), np.maximum(penalty.norms(w), 1e-3)):
        above = penalty.majorizer(scale).value(w) + 0.5 * float(penalty.strengths @ scale)
        assert above >= penalty.value(w) * (1 - 1e-12)
    exact = float(penalty.strengths @ np.where(penalty.norms(w) < 1e-3, 1e-3, 0.0))
    assert above <= penalty.value(w) + exact + 1e-9 * (1.0 + above)


@given(grouped(), VECTOR)
def test_floor_lies_below(
    given_groups: tuple[GroupNorms, list[list[int]], Floats, Floats], w: Floats
) -> None:
    penalty, *_ = given_groups
    assert penalty.floor @ np.abs(w) <= penalty.value(w) * (1 + 1e-12) + 1e-300


@given(grouped(), VECTOR)
def test_gather_is_the_transpose_of_copying(
    given_groups: tuple[GroupNorms, list[list[int]], Floats, Floats], w: Floats
) -> None:
    penalty, *_ = given_groups
    ragged = np.linspace(-1, 1, len(penalty.indices))
    assert penalty.gather(ragged) @ w == pytest.approx(ragged @ w[penalty.indices], abs=1e-9)
    rates = np.linspace(0, 1, len(penalty.strengths))
    np.testing.assert_allclose(
        penalty.gather(penalty.duals(rates, w)), penalty.spread(rates) * w, atol=1e-9
    )


@given(grouped())
def test_copies_of_nothing_are_zero(
    given_groups: tuple[GroupNorms, list[list[int]], Floats, Floats],
) -> None:
    penalty, sets, *_ = given_groups
    norms = penalty.copies(np.zeros(P), np.zeros(len(penalty.indices)))
    np.testing.assert_array_equal(norms, np.zeros(len(sets)))


def test_copies_are_the_shrunk_norms() -> None:
    groups = Groups(np.array([0, 2, 2, 3]), np.array([0, 1, 2], dtype=np.int32), np.ones(3), 3)
    penalty = GroupNorms(groups, 1.0, 0.1)
    w, u = np.array([3.0, 4.0, 0.5]), np.array([0.6, 0.8])
    np.testing.assert_allclose(penalty.copies(w, u), [5.0, 0.0, 0.5])
