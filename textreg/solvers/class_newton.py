"""A Newton step for all classes at once, over the weights that are not zero.

Classes that take turns follow each other slowly where the penalty is weak: what one gives up, the
others have to take. So a round over the classes, which finds the weights that are not zero and
their signs, ends with a step for all of them at once, by conjugate gradients on

    r . d + 1/2 sum_i c_i (sum_k p_ik d_ik^2 - (sum_k p_ik d_ik)^2),    d_k = X dw_k + db_k

and the penalty. This is the second-order model of the softmax loss with its derivatives r and
probabilities p (docs/maths.md, S1). Weights with an l1 penalty that would change sign become zero.
Without l1 there is nothing to find, and a step alone is Newton's method (:mod:`.class_ridge`).
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from textreg.penalties import Separable
from textreg.records import Floats, Int32s
from textreg.solvers.class_ridge import ridge_together
from textreg.solvers.classes import Classes
from textreg.solvers.conjugate import Direction, conjugate_gradients

ROUNDS, ACCURACY = 20, 0.1
"""Most iterations of conjugate gradients, and the share of the residual at which they stop."""

SHORTEST = 0.1
"""Steps are halved until they are shorter than this; then there is none."""


def newton_together(classes: Classes, penalty: Separable) -> bool:
    """Lower the loss and the penalty, the same for every class; whether a step did."""
    if not penalty.lam.any():
        return ridge_together(classes, penalty.q)
    model = _SupportModel(classes, penalty)
    start, sign, zero = model.start, np.sign(model.start), np.zeros_like(model.start)
    gradient = model.adjoint(model.P * model.c - classes.targets()) + model.lam * sign
    gradient += model.q * start
    change = conjugate_gradients(
        model,
        (-gradient, 0.0),
        Direction(zero, 0.0, np.zeros_like(classes.Z)),
        rounds=ROUNDS,
        accuracy=ACCURACY,
    )

    def value(Z: Floats, w: Floats) -> float:
        return classes.loss_of(Z) + float(w @ (0.5 * model.q * w + model.lam * sign))

    before, length = value(classes.Z, start), 1.0
    while length >= SHORTEST:
        w, Z = start + length * change.w, classes.Z + length * change.z
        crossing = (w * sign < 0.0) & (model.lam > 0.0)
        if crossing.any():
            Z -= model.scores(np.where(crossing, w, 0.0))
            w[crossing] = 0.0
        if value(Z, w) < before:
            model.put(classes, w)
            classes.Z = Z
            return True
        length *= 0.5
    return False


class _SupportModel:
    """The model in the weights that are not zero, class after class, and then the intercepts.

    Without l1 all weights are meant.

    Attributes
    ----------
    start, q, lam : ndarray, shape (weights,)
        Their present values and penalties; intercepts have none.
    P : ndarray, shape (classes, n)
        Probabilities.
    c : ndarray, shape (n,)
        Weights of the documents.
    """

    def __init__(self, classes: Classes, penalty: Separable) -> None:
        from scipy.special import softmax

        self._design, k = classes.design, len(classes.b)
        free_of_l1 = np.broadcast_to(penalty.lam == 0.0, classes.W.shape)
        self._rows, places = np.nonzero((classes.W != 0.0) | free_of_l1)
        self._places = places.astype(np.int32)
        self._ends = np.searchsorted(self._rows, np.arange(k + 1))
        self._has_intercept = classes.has_intercept
        self.P, self.c = softmax(classes.Z, axis=0), classes.c
        free = np.zeros(k if self._has_intercept else 0)
        own = classes.W[self._rows, self._places]
        self.start = np.append(own, classes.b if self._has_intercept else free)
        self.q = np.append(penalty.q[self._places], free)
        self.lam = np.append(penalty.lam[self._places], free)
        h = self.c * self.P * (1.0 - self.P)
        parts = [self._design.curvature(row, at) for row, at in zip(h, self._parts(), strict=True)]
        if self._has_intercept:
            parts.append(h.sum(axis=1))
        self._diagonal = np.concatenate(parts) + self.q
        self._diagonal[self._diagonal <= 0.0] = 1.0  # nothing depends on such a weight

    def _parts(self) -> list[Int32s]:
        """The features of every class."""
        return [self._places[a:b] for a, b in pairwise(self._ends)]

    def scores(self, w: Floats) -> Floats:
        """(classes, n) The change of the scores by changes w (weights,)."""
        b = w[self._ends[-1] :] if self._has_intercept else np.zeros(len(self.P))
        parts = zip(self._parts(), pairwise(self._ends), b.tolist(), strict=True)
        return np.array(
            [self._design.product(w[begin:end], at, own) for at, (begin, end), own in parts]
        )

    def adjoint(self, Z: Floats) -> Floats:
        """(weights,) Derivatives in the weights, from those in the scores (classes, n)."""
        pairs = zip(Z, self._parts(), strict=True)
        parts = [self._design.transposed_product(row, at) for row, at in pairs]
        return np.concatenate([*parts, Z.sum(axis=1)] if self._has_intercept else parts)

    def product(self, w: Floats, b: float) -> tuple[Floats, float, Floats]:
        """The Hessian times w, and the scores."""
        Z = self.scores(w)
        weighted = self.P * Z
        weighted -= self.P * weighted.sum(axis=0)
        weighted *= self.c
        return self.adjoint(weighted) + self.q * w, 0.0, Z

    def precondition(self, w: Floats, b: float) -> tuple[Floats, float]:
        """Divide by the diagonal."""
        return w / self._diagonal, b

    def put(self, classes: Classes, w: Floats) -> None:
        """Give the classes these weights and intercepts."""
        size = self._ends[-1]
        classes.W[self._rows, self._places] = w[:size]
        if self._has_intercept:
            classes.b = w[size:].copy()
