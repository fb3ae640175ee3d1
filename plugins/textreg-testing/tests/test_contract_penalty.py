"""Penalties keep their contract, and every check of it can fail."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from broken_plugins.penalties import L1

from textreg.errors import UsageError
from textreg.penalties import Separable
from textreg.records import Floats
from textreg_testing import Check, ContractError, check_penalty
from textreg_testing.objective import (
    Sized,
    cases,
    moves,
    penalty_checks,
    points_and_answers,
    short,
    spreads,
    weights_to_try,
)

SIZE = 6


class Squares:
    """||w||^2, which is smooth."""

    def value(self, w: Floats) -> float:
        return float(w @ w)

    def prox(self, w: Floats, step: float) -> Floats:
        return w / (1.0 + 2.0 * step)

    def gradient(self, w: Floats) -> Floats:
        return 2.0 * w


class Box:
    """Weights between -1 and 1: a constraint."""

    def value(self, w: Floats) -> float:
        return 0.0 if float(np.abs(w).max()) <= 1.0 else math.inf

    def prox(self, w: Floats, step: float) -> Floats:
        return np.clip(w, -1.0, 1.0)


class Count:
    """A constant for every weight that is not zero: prox is known, but it is not convex."""

    convex = False

    def value(self, w: Floats) -> float:
        return 0.3 * np.count_nonzero(w)

    def prox(self, w: Floats, step: float) -> Floats:
        return np.where(w * w > 2.0 * 0.3 * step, w, 0.0)


class TwoValues(L1):
    def value(self, w: Floats) -> Any:
        return np.abs(w)


class InPlace(L1):
    def prox(self, w: Floats, step: float) -> Floats:
        w *= 0.5
        return w.copy()


class Remembers(L1):
    """Is a little off by what the last one was."""

    last = 0.0

    def prox(self, w: Floats, step: float) -> Floats:
        x = super().prox(w, step) + 1e-3 * self.last
        self.last = float(np.abs(x).sum())
        return x


class ThresholdOff(L1):
    def prox(self, w: Floats, step: float) -> Floats:
        return super().prox(w, 1.02 * step)


class StepForgotten(L1):
    def prox(self, w: Floats, step: float) -> Floats:
        return super().prox(w, 1.0)


class Scaled(L1):
    def value(self, w: Floats) -> float:
        return 1.1 * super().value(w)


class Dented(Squares):
    """Convex it says, and is not."""

    def value(self, w: Floats) -> float:
        return float(np.sqrt(np.abs(w)).sum())


class Pays(L1):
    """Penalizes zero weights."""

    def prox(self, w: Floats, step: float) -> Floats:
        return super().prox(w, step) * 0.999


class Keeps(L1):
    """Never takes all."""

    def prox(self, w: Floats, step: float) -> Floats:
        return super().prox(w, min(step, 1.0))


class LooseConjugate(L1):
    def conjugate(self, t: Floats) -> float:
        return 1.0


class HalfGradient(Squares):
    def gradient(self, w: Floats) -> Floats:
        return w


WRONG = {
    "penalty-value": TwoValues,
    "penalty-result": InPlace,
    "penalty-determinism": Remembers,
    "penalty-prox": ThresholdOff,
    "penalty-conjugate": LooseConjugate,
    "penalty-gradient": HalfGradient,
}


@pytest.mark.parametrize(
    "penalty", [L1(), Squares(), Box(), Count()], ids=lambda p: type(p).__name__
)
@pytest.mark.parametrize("size", [1, SIZE])
def test_right_ones(penalty: Any, size: int) -> None:
    check_penalty(penalty, size)


@pytest.mark.parametrize("strengths", [(0.0, 0.0), (0.3, 0.0), (0.0, 2.0), (1.5, 0.2)], ids=str)
def test_our_own(strengths: tuple[float, float]) -> None:
    l1, l2 = strengths
    check_penalty(Separable.constant(SIZE, l1=l1, l2=l2), SIZE)
    rng = np.random.default_rng(0)
    check_penalty(Separable(rng.random(SIZE), rng.standard_normal(SIZE), rng.random(SIZE)), SIZE)


@pytest.mark.parametrize("check", penalty_checks(), ids=str)
def test_every_check_can_fail(check: Check) -> None:
    with pytest.raises(ContractError, match=rf"(?s)^{check.name}: expected .*, but got .*contract"):
        check(Sized(WRONG[check.name](), SIZE))
    for right in (L1(), Squares()):
        check(Sized(right, SIZE))


@pytest.mark.parametrize("wrong", [Pays, Keeps], ids=lambda wrong: wrong.__name__)
def test_strengths_of_zero_and_of_infinity(wrong: type[Any]) -> None:
    (check,) = [check for check in penalty_checks() if check.name == "penalty-result"]
    with pytest.raises(ContractError, match="penalty-result: expected"):
        check(Sized(wrong(), SIZE))


def test_a_prox_may_start_where_the_last_one_ended() -> None:
    class Near(Remembers):
        def prox(self, w: Floats, step: float) -> Floats:
            x = L1.prox(self, w, step) + 1e-13 * self.last
            self.last = float(np.abs(x).sum())
            return x

    check_penalty(Near(), SIZE)


@pytest.mark.parametrize("convex", [False, True])
@pytest.mark.parametrize("wrong", [ThresholdOff, StepForgotten], ids=lambda wrong: wrong.__name__)
def test_a_prox_is_found_out_whatever_it_says(wrong: type[Any], convex: bool) -> None:
    (check,) = [check for check in penalty_checks() if check.name == "penalty-prox"]
    penalty = wrong()
    penalty.convex = convex
    with pytest.raises(ContractError):
        check(Sized(penalty, SIZE))


@pytest.mark.parametrize("wrong", [Dented, Count], ids=lambda wrong: wrong.__name__)
def test_what_is_not_convex_must_say_so(wrong: type[Any]) -> None:
    (check,) = [check for check in penalty_checks() if check.name == "penalty-prox"]
    penalty = wrong()
    penalty.convex = True
    with pytest.raises(ContractError, match="penalty-prox: expected a"):
        check(Sized(penalty, SIZE))


def test_the_prox_of_what_is_not_convex_is_checked_as_well() -> None:
    class Wrong(Count):
        def prox(self, w: Floats, step: float) -> Floats:
            return np.where(w * w > 0.3 * step, w, 0.0)

    with pytest.raises(ContractError, match="penalty-prox: expected a cost of"):
        check_penalty(Wrong(), SIZE)


def test_checks_can_be_left_out_with_a_reason() -> None:
    check_penalty(LooseConjugate(), SIZE, skip={"penalty-conjugate": "no more than a bound"})
    with pytest.raises(UsageError, match=r"no check 'penalty-proxy'.*'penalty-prox'"):
        check_penalty(L1(), SIZE, skip={"penalty-proxy": ""})


def total(array: Any) -> float:
    """A sum that depends on the order."""
    values = np.ravel(array)
    return round(float(values @ np.cos(np.arange(len(values)))), 5)


def test_weights_that_penalties_are_tried_on() -> None:
    zeros, one, few, *_, signs, _, _, _ = weights_to_try(5)
    assert (zeros.tolist(), one.tolist()) == ([0.0] * 5, [0.0, 0.0, 1.0, 0.0, 0.0])
    assert np.flatnonzero(few).tolist() == [0, 3]
    assert signs.tolist() == [1.0, -1.0, 1.0, -1.0, 1.0]
    assert [total(w) for w in weights_to_try(5)] == [
        0.0, -0.41615, 0.02188, 0.03413, 0.3799, -69.69014, 3e-05, -0.51777,
    ]  # fmt: skip
    assert [total(w) for w in spreads(7)] == [
        6.97407,
        8.25386,
        9.7685,
        11.56109,
        13.68262,
        16.19348,
    ]
    assert [len(spreads(size)) for size in (5, 6, 40, 41)] == [8, 7, 1, 1]
    assert [total(move) for move in moves(4)] == [
        1.0, 0.5403, -0.41615, -0.98999, -0.4597, -0.95645, -0.57385, 1.5403, 0.13416, 1.94211,
        0.79468, -0.02958, -1.2167, 0.46171,
    ]  # fmt: skip
    some = Sized(L1(), 3)
    assert [total(x) for _, _, x in cases(some)][:8] == [0, 0, 0, 0.53652, 0.16209, 0, 0.11873, 0]
    assert len(points_and_answers(some)) == 8 + 24


def test_weights_in_messages() -> None:
    some = [[0.0, 1.0], [0.0] * 7, [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 2.5], range(8), [1.0] * 6]
    assert [short(np.array(w)) for w in some] == [
        "[0. 1.]",
        "7 zeros",
        "7 weights, {1: 1, 6: 2.5}",
        "[0 1 2 ... 5 6 7]",
        "[1. 1. 1. 1. 1. 1.]",
    ]
    assert short(np.array([1.0, 2.0, 3.0, 4.0, 0.0, 0.0, 0.0])) == (
        "7 weights, {0: 1, 1: 2, 2: 3, 3: 4}"
    )
