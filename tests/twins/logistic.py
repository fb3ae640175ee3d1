"""NumPy twins of ``textreg._core.logistic``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from textreg._core.arrays import Floats


def logistic_value(z: Floats, y: Floats, c: Floats) -> float:
    """Twin of :func:`textreg._core.logistic.logistic_value`."""
    return float(c @ np.logaddexp(0.0, -y * z))


def logistic_derivatives(z: Floats, y: Floats, c: Floats, r: Floats, h: Floats) -> float:
    """Twin of :func:`textreg._core.logistic.logistic_derivatives`."""
    log_s = -np.logaddexp(0.0, y * z)  # s = sigmoid(-y z)
    log_rest = -np.logaddexp(0.0, -y * z)
    r[:] = -c * y * np.exp(log_s)
    h[:] = c * np.exp(log_s + log_rest)
    return logistic_value(z, y, c)


def logistic_entropy(alpha: Floats, y: Floats, c: Floats) -> float:
    """Twin of :func:`textreg._core.logistic.logistic_entropy`."""
    some = c > 0.0
    s = np.clip(alpha[some] * y[some] / c[some], 0.0, 1.0)
    inside = (s > 0.0) & (s < 1.0)
    s, weight = s[inside], c[some][inside]
    return float(-weight @ (s * np.log(s) + (1.0 - s) * np.log1p(-s)))
