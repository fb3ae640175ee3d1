"""Every loss keeps the contract, and every check of it can fail."""

from __future__ import annotations

import itertools
import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from textreg.losses import LOSSES, Logistic, Loss, SmoothedHinge, Squared, SquaredHinge
from textreg.plugins import registry
from textreg.records import Floats
from textreg_testing import CHECKS, Check, ContractError, check_loss, loss_checks
from textreg_testing.objective import each, labels, points, variants

ALL = list(itertools.product(registry.names("loss"), loss_checks()))


@pytest.mark.parametrize(("name", "check"), ALL, ids=[f"{name}-{check}" for name, check in ALL])
def test_every_loss_keeps_the_contract(name: str, check: Check) -> None:
    check(name)


@pytest.mark.parametrize("smoothing", [1e-3, 0.3, 1.0])
def test_the_hinge_keeps_it_however_smooth_it_is(smoothing: float) -> None:
    check_loss(SmoothedHinge(smoothing=smoothing))


@pytest.mark.parametrize("base", LOSSES.values())
def test_the_defaults_of_a_loss_keep_it(base: type[Loss]) -> None:
    """What a plugin need not write: balance and constant."""
    body = {"__doc__": "One.", "balance": Loss.balance, "constant": Loss.constant}
    check_loss(type("Defaults", (base,), body), skip={"loss-state": "made in a test"})


class Value(Logistic):
    def value(self, z: Floats, y: Floats, c: Floats) -> float:
        return super().value(z, y, c) / c.sum()


class Weights(Logistic):
    def curvature_bound(self, c: Floats) -> Floats:
        return np.full(len(c), 25.0)


class Idle(SmoothedHinge):
    """Hinge, whose smoothing is always the same."""

    def value(self, z: Floats, y: Floats, c: Floats) -> float:
        return SmoothedHinge().value(z, y, c)


class Odds(SquaredHinge):
    log_odds = True


class Inputs(Logistic):
    def curvature_bound(self, c: Floats) -> Floats:
        c *= 0.25
        return c


class Derivatives(Squared):
    def derivatives(self, z: Floats, y: Floats, c: Floats, r: Floats, h: Floats) -> float:
        value = super().derivatives(z, y, c, r, h)
        r *= 2.0
        return value


class SecondDerivatives(Squared):
    def derivatives(self, z: Floats, y: Floats, c: Floats, r: Floats, h: Floats) -> float:
        value = super().derivatives(z, y, c, r, h)
        h *= 2.0
        return value


class Convex(Loss):
    """Ramp: a step that is smooth."""

    name = "ramp"

    def value(self, z: Floats, y: Floats, c: Floats) -> float:
        return float(c @ (1.0 - np.tanh(y * z)))

    def derivatives(self, z: Floats, y: Floats, c: Floats, r: Floats, h: Floats) -> float:
        slope = np.cosh(np.clip(y * z, -300.0, 300.0)) ** -2.0
        r[:] = -c * y * slope
        h[:] = 2.0 * c * slope * np.tanh(y * z)
        return self.value(z, y, c)

    def curvature_bound(self, c: Floats) -> Floats:
        return 2.0 * c

    def dual_value(self, alpha: Floats, y: Floats, c: Floats) -> float:
        return 0.0


class Curvature(SquaredHinge):
    def curvature_bound(self, c: Floats) -> Floats:
        return 1.0 * c


class ThirdDerivative(SquaredHinge):
    third_derivative_bound = 1.0


class Conjugate(Squared):
    def dual_value(self, alpha: Floats, y: Floats, c: Floats) -> float:
        return super().dual_value(alpha, y, c) + 1.0


class Balance(Logistic):
    def balance(self, alpha: Floats, c: Floats) -> None:
        pass


class Unfeasible(Logistic):
    def balance(self, alpha: Floats, c: Floats) -> None:
        alpha -= alpha.mean()


class Constant(SquaredHinge):
    def constant(self, y: Floats, c: Floats) -> float:
        return float(y.mean())


class Extremes(Logistic):
    def value(self, z: Floats, y: Floats, c: Floats) -> float:
        return float(c @ np.log1p(np.exp(-y * z)))


class Falls(Logistic):
    """Its slope falls a little where it is one: by less than differences of large values show."""

    def derivatives(self, z: Floats, y: Floats, c: Floats, r: Floats, h: Floats) -> float:
        value = super().derivatives(z, y, c, r, h)
        r[(z >= 1e6) & (r > 0.5)] -= 1e-8
        return value


class Unsmoothed(Squared):
    def unsmoothed_value(self, z: Floats, y: Floats, c: Floats) -> float:
        return 0.5 * self.value(z, y, c)


class Fit(Squared):
    def dual_value(self, alpha: Floats, y: Floats, c: Floats) -> float:
        return super().dual_value(alpha, y, c) - 1e-3


WRONG: list[tuple[str, type[Loss]]] = [
    ("loss-value", Value),
    ("loss-weights", Weights),
    ("loss-settings", Idle),
    ("loss-log-odds", Odds),
    ("loss-value", Inputs),
    ("loss-derivatives", Derivatives),
    ("loss-derivatives", SecondDerivatives),
    ("loss-convex", Convex),
    ("loss-curvature", Curvature),
    ("loss-curvature", ThirdDerivative),
    ("loss-conjugate", Conjugate),
    ("loss-balance", Balance),
    ("loss-balance", Unfeasible),
    ("loss-constant", Constant),
    ("loss-extremes", Extremes),
    ("loss-extremes", Falls),
    ("loss-unsmoothed", Unsmoothed),
    ("loss-fit", Fit),
]


@pytest.mark.parametrize(("name", "cls"), WRONG, ids=lambda it: it if isinstance(it, str) else "")
def test_every_check_can_fail(name: str, cls: type[Loss]) -> None:
    (check,) = [check for check in loss_checks() if check.name == name]
    with pytest.raises((ContractError, ValueError, RuntimeWarning)) as caught:
        check(cls)
    if isinstance(caught.value, ContractError):
        assert str(caught.value).startswith(f"{name}: expected ")


@pytest.mark.parametrize(("gap", "converged"), [(0.0, False), (1e-3, True), (math.nan, True)])
def test_fits_must_converge_and_prove_it(
    gap: float, converged: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = SimpleNamespace(gap=gap, converged=converged)
    monkeypatch.setattr("textreg_testing.objective.newton", lambda *_: answer)
    (check,) = [check for check in loss_checks() if check.name == "loss-fit"]
    with pytest.raises(ContractError, match="expected a gap of 0 to 1e-06"):
        check(Squared)


def test_all_checks_were_seen_to_fail() -> None:
    own = {str(check) for check in loss_checks()}
    common = {f"loss-{name}" for name in ("parameters", "state", "manifest", "imports")}
    assert own - {name for name, _ in WRONG} == common
    assert CHECKS["loss"] is loss_checks


def test_a_plugin_is_checked_from_the_shell(cli: Any) -> None:
    done = cli("plugins", "check", "hinge")
    assert (done.code, "16 of 16 checks passed" in done.out) == (0, True)


def test_points_that_losses_are_tried_at() -> None:
    logistic, squared = Logistic(), Squared()
    assert labels(logistic, 5).tolist() == [1.0, -1.0, 1.0, -1.0, 1.0]
    assert labels(squared, 7).tolist() == [0.5, -1.5, 2.5, -3.5, 4.5, -0.5, 1.5]

    def total(array: Floats) -> float:
        return round(float(array @ np.cos(np.arange(len(array)))), 5)

    found = [(len(at.z), total(at.z), total(at.c), round(at.value, 4)) for at in points(logistic)]
    assert found == [
        (194, -9.11087, -3.31411, 429.2665),
        (50, 1.14774, -1.05796, 112.2272),
        (8, 0.0, -0.05967, 8.5517),
        (16, -31.57794, -1.40019, 209.9147),
    ]
    kept = [array.flags.writeable for at in points(logistic) for array in (at.z, at.y, at.c)]
    assert not any(kept)
    hinge = SmoothedHinge(smoothing=0.025)
    assert [(key, it.smoothing) for key, it in variants(hinge)] == [  # type: ignore[attr-defined]
        ("smoothing", 0.05),
        ("smoothing", 0.0125),
    ]
    at = next(points(logistic))
    assert each(logistic, at) == pytest.approx(at.c * np.logaddexp(0.0, -at.y * at.z))
