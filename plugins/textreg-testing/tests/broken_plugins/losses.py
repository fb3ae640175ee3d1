"""Losses as strangers write them, and their mistakes."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from scipy.special import expit

from textreg.kinds import Loss
from textreg.params import param
from textreg.records import Floats
from textreg_testing import check_loss as check

from .bug import Bug

__all__ = ["BUGS", "ORIGINALS", "check"]


class Softplus(Loss):
    """Logistic loss with a sharpness, log(1 + exp(-s m)) / s at the margin m."""

    name = "softplus"
    sharpness: float = param(default=2.0, min=0.1, max=10.0, help="how near the hinge it is")

    def value(self, z: Floats, y: Floats, c: Floats) -> float:
        """Weighted sum."""
        return float(c @ np.logaddexp(0.0, -self.sharpness * y * z)) / self.sharpness

    def share(self, z: Floats, y: Floats) -> Floats:
        return 0.5 - 0.5 * np.tanh(0.5 * self.sharpness * y * z)

    def derivatives(self, z: Floats, y: Floats, c: Floats, r: Floats, h: Floats) -> float:
        """By the probability of the other label."""
        s = self.share(z, y)
        r[:] = -c * y * s
        h[:] = self.sharpness * c * s * (1.0 - s)
        return self.value(z, y, c)

    def curvature_bound(self, c: Floats) -> Floats:
        """At the margin 0."""
        return 0.25 * self.sharpness * c

    def dual_value(self, alpha: Floats, y: Floats, c: Floats) -> float:
        """The entropy over the sharpness."""
        some = c > 0.0
        s = np.clip(alpha[some] * y[some] / c[some], 0.0, 1.0)
        entropy = -_xlogx(s) - _xlogx(1.0 - s)
        return float(c[some] @ entropy) / self.sharpness


def _xlogx(s: Floats) -> Floats:
    return s * np.log(np.where(s > 0.0, s, 1.0))


class Huber(Loss):
    """Squared error up to delta, absolute error beyond."""

    name = "huber"
    binary = False
    delta: float = param(default=1.0, min=1e-3, help="error beyond which the loss is linear")

    def value(self, z: Floats, y: Floats, c: Floats) -> float:
        """Weighted sum."""
        slope = np.clip(z - y, -self.delta, self.delta)
        return float(c @ (slope * (z - y - 0.5 * slope)))

    def derivatives(self, z: Floats, y: Floats, c: Floats, r: Floats, h: Floats) -> float:
        """The clipped error."""
        r[:] = c * np.clip(z - y, -self.delta, self.delta)
        h[:] = c * (np.abs(z - y) < self.delta)
        return self.value(z, y, c)

    def curvature_bound(self, c: Floats) -> Floats:
        """That of the squared error."""
        return 1.0 * c

    def dual_value(self, alpha: Floats, y: Floats, c: Floats) -> float:
        """That of the squared error, for alpha within delta c."""
        some = c > 0.0
        return float(alpha[some] @ (y[some] - 0.5 * alpha[some] / c[some]))


class Quadratic(Loss):
    """Squared hinge, max(0, 1 - m)^2, with twice the cost of errors on the rarer label."""

    name = "asymmetric"
    cost: float = param(default=2.0, min=0.1, max=100.0, help="cost of an error on +1")

    def costs(self, y: Floats, c: Floats) -> Floats:
        return np.where(y > 0.0, self.cost * c, c)

    def value(self, z: Floats, y: Floats, c: Floats) -> float:
        """Weighted sum."""
        slack = np.maximum(1.0 - y * z, 0.0)
        return float(self.costs(y, c) @ slack**2)

    def derivatives(self, z: Floats, y: Floats, c: Floats, r: Floats, h: Floats) -> float:
        """Twice the slack."""
        slack = np.maximum(1.0 - y * z, 0.0)
        r[:] = -2.0 * self.costs(y, c) * y * slack
        h[:] = 2.0 * self.costs(y, c) * (slack > 0.0)
        return self.value(z, y, c)

    def curvature_bound(self, c: Floats) -> Floats:
        """That of the dearer label."""
        return 2.0 * max(self.cost, 1.0) * c

    def dual_value(self, alpha: Floats, y: Floats, c: Floats) -> float:
        """Sum of a (s - s^2 / 4), s = alpha y / a."""
        some = c > 0.0
        a = self.costs(y, c)[some]
        s = np.maximum(alpha[some] * y[some] / a, 0.0)
        return float(a @ (s - 0.25 * s * s))

    def constant(self, y: Floats, c: Floats) -> float:
        """The mean label."""
        a = self.costs(y, c)
        return float(a @ y / a.sum()) if a.any() else 0.0


class Absolute(Loss):
    """Absolute error with a rounded tip of the width g."""

    name = "absolute"
    binary = False
    rounding: float = param(default=0.2, min=1e-4, max=10.0, help="half the width of the tip")

    def value(self, z: Floats, y: Floats, c: Floats) -> float:
        """Weighted sum of the lower envelope: e^2 / 2g, then |e| - g / 2."""
        e, g = np.abs(z - y), self.rounding
        return float(c @ np.where(e < g, 0.5 * e * e / g, e - 0.5 * g))

    def derivatives(self, z: Floats, y: Floats, c: Floats, r: Floats, h: Floats) -> float:
        """The clipped error over g."""
        e, g = z - y, self.rounding
        r[:] = c * np.clip(e / g, -1.0, 1.0)
        h[:] = np.where(np.abs(e) < g, c / g, 0.0)
        return self.value(z, y, c)

    def curvature_bound(self, c: Floats) -> Floats:
        """At the tip."""
        return c / self.rounding

    def dual_value(self, alpha: Floats, y: Floats, c: Floats) -> float:
        """alpha y - g alpha^2 / 2c."""
        some = c > 0.0
        return float(alpha[some] @ (y[some] - 0.5 * self.rounding * alpha[some] / c[some]))

    def unsmoothed_value(self, z: Floats, y: Floats, c: Floats) -> float:
        """With the tip."""
        return float(c @ np.abs(z - y))


class Classic(Softplus):
    """Logistic loss: a sharpness of one, and probabilities."""

    name = "classic"
    log_odds = True
    third_derivative_bound = 0.0963
    sharpness: float = param(default=1.0, min=1.0, max=1.0, help="one, or it has no log odds")

    def constant(self, y: Floats, c: Floats) -> float:
        """The log odds."""
        up, down = float(c[y > 0].sum()), float(c[y < 0].sum())
        return float(np.log(up / down)) if up > 0.0 and down > 0.0 else 0.0


class Sigmoid(Loss):
    """One over 1 + exp(m), which is not convex, so that nobody asks for dual values."""

    name = "sigmoid"
    convex = False

    def value(self, z: Floats, y: Floats, c: Floats) -> float:
        """Weighted sum."""
        return float(c @ expit(-y * z))

    def derivatives(self, z: Floats, y: Floats, c: Floats, r: Floats, h: Floats) -> float:
        """By the value s: -y s (1 - s), and s (1 - s) (1 - 2 s)."""
        s = expit(-y * z)
        r[:] = -c * y * s * (1.0 - s)
        h[:] = c * s * (1.0 - s) * (1.0 - 2.0 * s)
        return self.value(z, y, c)

    def curvature_bound(self, c: Floats) -> Floats:
        """At s = 1/2 - 1/sqrt(12)."""
        return 0.0963 * c

    def dual_value(self, alpha: Floats, y: Floats, c: Floats) -> float:
        """There is none."""
        raise NotImplementedError


ORIGINALS = (
    Softplus,
    Softplus(sharpness=7.0),
    Huber,
    Huber(delta=0.2),
    Quadratic,
    Absolute,
    Classic,
    Sigmoid,
)
BUGS: list[Bug] = []


def bug(name: str, base: type[Loss], missed: str = "", **changed: Any) -> None:
    """Enter a mistake: ``base`` with other methods or attributes."""
    body = {"__doc__": base.__doc__, "__module__": __name__, **changed}
    title = re.sub(r"\W", "", name.title())
    cls = type(title, (base,), body)
    globals()[title] = cls  # by which pickle finds it
    BUGS.append(Bug(name, cls, missed))


def after(method: str, change: Any) -> Any:
    """A method that spoils what the one of its base returns: change(self, result, *arrays)."""

    def spoiled(self: Any, *arrays: Floats) -> Any:
        base = type(self).__mro__[1]
        return change(self, getattr(base, method)(self, *arrays), *arrays)

    return spoiled


def _written(change: Any) -> Any:
    """derivatives that spoil what they have written: change(self, z, y, c, r, h)."""

    def spoiled(self: Any, result: float, *arrays: Floats) -> float:
        change(self, *arrays)
        return result

    return after("derivatives", spoiled)


def _negate(self: Any, z: Floats, y: Floats, c: Floats, r: Floats, h: Floats) -> None:
    r *= -1.0


def _half(self: Any, z: Floats, y: Floats, c: Floats, r: Floats, h: Floats) -> None:
    h *= 0.5


def _no_weights(self: Any, z: Floats, y: Floats, c: Floats, r: Floats, h: Floats) -> None:
    h[:] = np.where(c > 0.0, h / np.where(c > 0.0, c, 1.0), 0.0)


def _last(self: Any, z: Floats, y: Floats, c: Floats, r: Floats, h: Floats) -> None:
    h[-1] = np.nan


def _unsigned(self: Any, z: Floats, y: Floats, c: Floats, r: Floats, h: Floats) -> None:
    r[:] = np.where(y > 0.0, r, -r)


def _adds(self: Any, z: Floats, y: Floats, c: Floats, r: Floats, h: Floats) -> float:
    e = z - y
    r += c * np.clip(e, -self.delta, self.delta)
    h[:] = c * (np.abs(e) < self.delta)
    return float(self.value(z, y, c))


def _weighted_error(self: Any, z: Floats, y: Floats, c: Floats, r: Floats, h: Floats) -> None:
    r[:] = np.clip(c * (z - y), -self.delta, self.delta)


def _overflows(self: Any, z: Floats, y: Floats, c: Floats) -> float:
    with np.errstate(over="ignore"):
        return float(c @ np.log1p(np.exp(-self.sharpness * y * z))) / self.sharpness


def _clips(self: Any, z: Floats, y: Floats, c: Floats) -> float:
    m = np.clip(self.sharpness * y * z, -30.0, 30.0)
    return float(c @ np.logaddexp(0.0, -m)) / self.sharpness


def _zero_one(self: Any, z: Floats, y: Floats, c: Floats) -> float:
    return float(c @ (np.logaddexp(0.0, self.sharpness * z) / self.sharpness - y * z))


def _at_zero_only(self: Any, alpha: Floats, y: Floats, c: Floats) -> float:
    some = c > 0.0
    s = alpha[some] * y[some] / c[some]
    with np.errstate(all="ignore"):
        return float(c[some] @ (-s * np.log(s) - (1 - s) * np.log(1 - s))) / self.sharpness


def _centered(self: Any, alpha: Floats, c: Floats) -> None:
    alpha -= alpha.mean()


def _copies(self: Any, alpha: Floats, c: Floats) -> None:
    alpha = alpha - c * alpha.sum() / c.sum()


def _one(self: Any, y: Floats, c: Floats) -> float:
    return float(np.clip(Loss.constant(self, y, c), -1.0, 1.0))


bug("the sign of the gradient", Softplus, derivatives=_written(_negate))
bug("half the second derivative", Softplus, derivatives=_written(_half))
bug("second derivatives without weights", Softplus, derivatives=_written(_no_weights))
bug("the last document is not written", Softplus, derivatives=_written(_last))
bug("a gradient that forgets the label", Softplus, derivatives=_written(_unsigned))
bug("r is added to", Huber, derivatives=_adds)
bug("the weighted error is clipped", Huber, derivatives=_written(_weighted_error))
bug("derivatives return nothing", Huber, derivatives=after("derivatives", lambda s, v, *a: 0.0))
bug("a mean instead of a sum", Huber, value=after("value", lambda s, v, z, y, c: v / len(z)))
bug("value without weights", Huber, value=lambda s, z, y, c: Huber.value(s, z, y, np.ones(len(z))))
bug(
    "a constant is left out",
    Quadratic,
    value=after("value", lambda s, v, z, y, c: max(v - 0.1, 0.0)),
)
bug("large scores overflow", Softplus, value=_overflows)
bug("large scores are clipped", Softplus, value=_clips)
bug("labels of 0 and 1", Softplus, value=_zero_one)
bug(
    "a bound of half the curvature",
    Softplus,
    curvature_bound=after("curvature_bound", lambda s, v, c: 0.5 * v),
)
bug("a bound that forgets the sharpness", Softplus, curvature_bound=lambda s, c: 0.25 * c)
bug("a bound without the cost", Quadratic, curvature_bound=lambda s, c: 2.0 * c)
bug(
    "a bound without weights",
    Absolute,
    curvature_bound=lambda s, c: np.full(len(c), 1.0 / s.rounding),
)
bug("twice the dual value", Huber, dual_value=after("dual_value", lambda s, v, *a: 2.0 * v))
bug("a dual value with the other sign", Huber, dual_value=after("dual_value", lambda s, v, *a: -v))
bug("a dual value of NaN where alpha is 0", Softplus, dual_value=_at_zero_only)
bug(
    "a dual value that forgets the tip",
    Absolute,
    dual_value=lambda s, alpha, y, c: float(alpha @ y),
)
bug(
    "a dual value that forgets the sharpness",
    Softplus,
    dual_value=after("dual_value", lambda s, v, *a: v * s.sharpness),
)
bug(
    "a dual value without the cost",
    Quadratic,
    dual_value=lambda s, alpha, y, c: Quadratic.dual_value(s.replace(cost=1.0), alpha, y, c),
)
bug("balance subtracts the mean", Softplus, balance=_centered)
bug("balance works on a copy", Huber, balance=_copies)
bug("balance does nothing", Softplus, balance=lambda s, alpha, c: None)
bug("the unweighted mean label", Quadratic, constant=lambda s, y, c: float(y.mean()))
bug("a constant of one at most", Softplus, constant=_one)
bug("always a constant of 0", Softplus, constant=lambda s, y, c: 0.0)
bug("the log odds turned round", Classic, constant=after("constant", lambda s, v, *a: -v))
bug("half the third derivative", Classic, third_derivative_bound=0.04)
bug("log odds that are none", Softplus, log_odds=True)
bug(
    "the smoothed value twice", Absolute, unsmoothed_value=lambda s, z, y, c: s.value(z, y, c) * 2.0
)
bug(
    "unsmoothed without weights",
    Absolute,
    unsmoothed_value=lambda s, z, y, c: float(np.abs(z - y).sum() * 3.0),
)
bug(
    "unsmoothed below",
    Absolute,
    unsmoothed_value=lambda s, z, y, c: float(c @ np.maximum(np.abs(z - y) - s.rounding, 0.0)),
)
bug(
    "delta is ignored",
    Huber,
    **{
        name: (lambda base: lambda s, *a: base(Huber(), *a))(getattr(Huber, name))
        for name in ("value", "derivatives", "dual_value")
    },
)
bug(
    "the tip is always 0.2",
    Absolute,
    derivatives=lambda s, *a: Absolute.derivatives(Absolute(), *a),
)
bug(
    "a loss that is not convex",
    Huber,
    value=lambda s, z, y, c: float(c @ np.log1p((z - y) ** 2)),
    derivatives=lambda s, z, y, c, r, h: _cauchy(z, y, c, r, h),
)


def _cauchy(z: Floats, y: Floats, c: Floats, r: Floats, h: Floats) -> float:
    square = (z - y) ** 2
    r[:] = 2.0 * c * (z - y) / (1.0 + square)
    h[:] = 2.0 * c * (1.0 - square) / (1.0 + square) ** 2
    return float(c @ np.log1p(square))
