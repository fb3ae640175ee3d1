"""Losses that are not convex: fitted without a bound on the gap, and held to their contract."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import expit

import textreg
from textreg.demo import make_reviews
from textreg.kinds import Loss
from textreg.params import param
from textreg.records import Floats
from textreg_testing import ContractError, check_loss


class Focal(Loss):
    """Log loss that looks away from documents which are right already (Lin et al. 2017)."""

    name = "focal"
    convex = False
    focus: float = param(default=2.0, min=0.0, max=5.0, help="power of the chance of being wrong")

    def value(self, z: Floats, y: Floats, c: Floats) -> float:
        m = y * z
        return float(c @ (expit(-m) ** self.focus * np.logaddexp(0.0, -m)))

    def derivatives(self, z: Floats, y: Floats, c: Floats, r: Floats, h: Floats) -> float:
        m, g = y * z, self.focus
        q, p, a = expit(-m), expit(m), np.logaddexp(0.0, -m)
        # l = q^g a, with q' = -p q and a' = -q
        r[:] = -c * y * q**g * (g * p * a + q)
        first = g * p * a + q
        h[:] = c * (g * p * q**g * first - q**g * (g * p * q * a - g * p * q - p * q))
        return self.value(z, y, c)

    def curvature_bound(self, c: Floats) -> Floats:
        return (0.25 + 2.0 * self.focus) * c


class Ramp(Loss):
    """A smooth step: documents that are far wrong count no more than others."""

    name = "ramp"
    convex = False

    def value(self, z: Floats, y: Floats, c: Floats) -> float:
        return float(c @ expit(-y * z))

    def derivatives(self, z: Floats, y: Floats, c: Floats, r: Floats, h: Floats) -> float:
        q = expit(-y * z)
        r[:] = -c * y * q * (1.0 - q)
        h[:] = c * q * (1.0 - q) * (1.0 - 2.0 * (1.0 - q)) * -1.0
        return self.value(z, y, c)

    def curvature_bound(self, c: Floats) -> Floats:
        return 0.1 * c


class Convexly(Ramp):
    """A smooth step, which says that it is convex."""

    convex = True

    def dual_value(self, alpha: Floats, y: Floats, c: Floats) -> float:
        return 0.0


@pytest.mark.parametrize("loss", [Focal, Ramp], ids=lambda loss: loss.name)
def test_they_keep_their_contract(loss: type[Loss]) -> None:
    check_loss(loss, skip={"loss-imports": "a module of tests"})


def test_what_says_that_it_is_convex_has_to_be() -> None:
    with pytest.raises(ContractError, match="loss-convex: expected"):
        check_loss(Convexly, skip={"loss-imports": "a module of tests"})


@pytest.mark.parametrize("reg", ["ridge", "lasso", "elastic"])
@pytest.mark.parametrize("loss", [Focal, Ramp], ids=lambda loss: loss.name)
def test_models_have_no_bound(loss: type[Loss], reg: str) -> None:
    labels, texts = zip(*make_reviews(40), strict=True)
    options: dict[str, Any] = {"reg_l2": 0.5} if reg == "ridge" else {"reg_l1": 0.2}
    options |= {"reg_l2": 0.1} if reg == "elastic" else {}
    model = textreg.train(
        texts, labels, reg=reg, loss=loss, tol=1e-3, ngrams=1, weighting="unit-idf", **options
    )
    assert model.summary.gap is None
    assert np.mean([a == b for a, b in zip(model.predict(texts), labels, strict=True)]) > 0.8
