"""A loss for labels, where the example is one for numbers."""

import numpy as np

from textreg.hookspecs import hookimpl
from textreg.kinds import Loss
from textreg.params import param
from textreg.records import Floats


class Margin(Loss):
    """Squared shortfall of the margin, 1/2 max(0, margin - y z)^2."""

    name = "my-loss"
    binary = True
    margin: float = param(default=1.0, min=0.1, help="score beyond which a label costs nothing")

    def value(self, z: Floats, y: Floats, c: Floats) -> float:
        """Sum of c_i l(y_i, z_i)."""
        short = np.maximum(self.margin - y * z, 0.0)
        return float(0.5 * c @ (short * short))

    def derivatives(self, z: Floats, y: Floats, c: Floats, r: Floats, h: Floats) -> float:
        """First derivatives into r, second ones into h."""
        short = np.maximum(self.margin - y * z, 0.0)
        np.multiply(c, -y * short, out=r)
        np.multiply(c, short > 0.0, out=h)
        return float(0.5 * c @ (short * short))

    def curvature_bound(self, c: Floats) -> Floats:
        """The second derivatives are 1 at most."""
        return 1.0 * c

    def dual_value(self, alpha: Floats, y: Floats, c: Floats) -> float:
        """Minus the conjugate at -alpha."""
        some = c > 0.0
        a = (alpha * y)[some]
        if (a < 0.0).any() or alpha[~some].any():
            return -np.inf
        return float(self.margin * a.sum() - 0.5 * a @ (a / c[some]))


@hookimpl
def textreg_losses() -> list[type[Loss]]:
    return [Margin]
