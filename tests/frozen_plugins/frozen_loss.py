"""The loss frozen-loss, for textreg."""

import numpy as np

from textreg.hookspecs import hookimpl
from textreg.kinds import Loss
from textreg.params import param
from textreg.records import Floats


class FrozenLoss(Loss):
    """Huber's loss: squared error up to ``delta``, absolute error beyond. Put your own here.

    Huber (1964), "Robust estimation of a location parameter".

    Examples
    --------
    >>> z, y, c = np.array([0.5, 3.0]), np.zeros(2), np.ones(2)
    >>> FrozenLoss(delta=1.0).value(z, y, c)
    2.625
    """

    name = "frozen-loss"
    binary = False  # for any numbers; losses for labels have -1 and +1 in y
    delta: float = param(default=1.0, min=1e-3, help="error beyond which the loss is linear")

    def value(self, z: Floats, y: Floats, c: Floats) -> float:
        """Sum of c_i l(y_i, z_i); scores z, labels y and weights c are (n,)."""
        error = z - y
        slope = np.clip(error, -self.delta, self.delta)
        return float(c @ (slope * (error - 0.5 * slope)))

    def derivatives(self, z: Floats, y: Floats, c: Floats, r: Floats, h: Floats) -> float:
        """Write first derivatives in z into r, second ones into h; return the value."""
        error = z - y
        slope = np.clip(error, -self.delta, self.delta)
        np.multiply(c, slope, out=r)
        np.multiply(c, np.abs(error) < self.delta, out=h)
        return float(c @ (slope * (error - 0.5 * slope)))

    def curvature_bound(self, c: Floats) -> Floats:
        """The largest second derivatives that there can be."""
        return 1.0 * c

    def dual_value(self, alpha: Floats, y: Floats, c: Floats) -> float:
        """Minus the conjugate at -alpha, from which the duality gap is made."""
        some = c > 0.0
        s = alpha[some] / c[some]
        return float(alpha[some] @ (y[some] - 0.5 * s))


@hookimpl
def textreg_losses() -> list[type[Loss]]:
    """The losses of this module."""
    return [FrozenLoss]
