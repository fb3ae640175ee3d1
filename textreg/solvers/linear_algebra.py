"""Conjugate gradients, the search along a direction, and sets of features."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from textreg.records import Floats, Int32s


class Direction(NamedTuple):
    """A change of weights ``w``, of the intercept ``b``, and of the scores ``z`` = X w + b."""

    w: Floats
    b: float
    z: Floats


# Most iterations of conjugate gradients, unless a solver needs less of them.
ROUNDS = 200


class LinearSystem(Protocol):
    """A positive semidefinite matrix over weights and intercept, and one near its inverse."""

    def product(self, w: Floats, b: float) -> tuple[Floats, float, Floats]:
        """The matrix times (w, b), and the scores X w + b, which it is made from."""

    def precondition(self, w: Floats, b: float) -> tuple[Floats, float]:
        """A positive definite matrix near the inverse times (w, b)."""


class Hessian(NamedTuple):
    """X'diag(h)X + diag(q) in the weights of some columns and the intercept, as a linear system.

    Attributes
    ----------
    scores, adjoint : callable
        X w + b for weights w and an intercept b; and X'r for r (n,).
    h : ndarray, shape (n,)
        Curvature of the loss in every document.
    q, diagonal : ndarray, shape (columns,)
        Curvature of the penalty, and the diagonal of the whole, by which it is preconditioned.
    fit_intercept : bool
        Whether there is an intercept.
    """

    scores: Callable[[Floats, float], Floats]
    adjoint: Callable[[Floats], Floats]
    h: Floats
    q: Floats
    diagonal: Floats
    fit_intercept: bool

    def of_intercept(self) -> float:
        """The entry of the intercept on the diagonal; 1 without one."""
        return float(self.h.sum()) if self.fit_intercept else 1.0

    def product(self, w: Floats, b: float) -> tuple[Floats, float, Floats]:
        """The Hessian times (w, b), and the scores."""
        z = self.scores(w, b)
        weighted = self.h * z
        slope = float(weighted.sum()) if self.fit_intercept else 0.0
        return self.adjoint(weighted) + self.q * w, slope, z

    def precondition(self, w: Floats, b: float) -> tuple[Floats, float]:
        """Divide by the diagonal."""
        return w / self.diagonal, b / self.of_intercept()


def conjugate_gradients(
    system: LinearSystem,
    residual: tuple[Floats, float],
    start: Direction,
    *,
    rounds: int = ROUNDS,
    accuracy: float = 0.0,
    enough: Callable[[Floats, float], bool] | None = None,
) -> Direction:
    """Solve ``system`` x = target (Hestenes & Stiefel 1952), preconditioned.

    Parameters
    ----------
    system : LinearSystem
        The matrix and its preconditioner.
    residual : tuple of ndarray and float
        The target less the product of ``start``, for the weights and for the intercept.
    start : Direction
        Where to begin.
    rounds : int, default 200
        Most products with the matrix.
    accuracy : float, default 0
        Stop when the residual, in the norm of the preconditioner, has fallen to this share.
    enough : callable, optional
        A test of the residual of the weights and that of the intercept; stop when it returns True.

    Returns
    -------
    Direction
        x. Where the curvature has underflowed, the best so far.
    """
    w, b, z = start.w.copy(), start.b, start.z.copy()
    rest, rest_b = residual[0].copy(), residual[1]
    direction, direction_b, size, first = w, 0.0, 0.0, 0.0
    for done in range(rounds):
        scaled, scaled_b = system.precondition(rest, rest_b)
        last, size = size, float(rest @ scaled) + rest_b * scaled_b
        if done == 0:
            first, direction, direction_b = size, scaled, scaled_b
        elif last:
            direction *= size / last
            direction += scaled
            direction_b = scaled_b + (size / last) * direction_b
        del scaled  # every vector less counts where there are millions of weights
        if size <= accuracy**2 * first or (enough is not None and enough(rest, rest_b)):
            break
        image, image_b, moved = system.product(direction, direction_b)
        curvature = float(direction @ image) + direction_b * image_b
        if curvature <= 0.0:  # all of it has underflowed
            break
        length = size / curvature
        w += length * direction
        b += length * direction_b
        z += length * moved
        image *= length
        rest -= image
        rest_b -= length * image_b
        del image, moved
    return Direction(w, b, z)


# Share of the decrease predicted by the slope that a step must achieve (Armijo 1966).
SUFFICIENT = 0.01

# Step length at which the search gives up: no progress is possible in floating point.
SHORTEST = 1e-10


class Advance(NamedTuple):
    """How much the objective fell, 0.0 where it is lost in rounding, and by what share of a step.

    A length of 0.0 means that nothing moved.
    """

    decrease: float
    length: float


def backtrack(
    decrease_at: Callable[[float], float],
    slope: float,
    noise: float,
    shortest: float = SHORTEST,
) -> Advance:
    """The first of the lengths 1, 1/2, 1/4, ... at which the objective falls enough (Armijo 1966).

    Parameters
    ----------
    decrease_at : callable
        By how much the objective is lower at the given length.
    slope : float
        Derivative of the objective along the step, 0 or below.
    noise : float
        Rise that is nothing but rounding.
    shortest : float
        Lengths must be above this.
    """
    length = 1.0
    while length > shortest:
        decrease = decrease_at(length)
        if decrease >= -SUFFICIENT * length * slope - noise:
            return Advance(max(decrease, 0.0), length)
        length *= 0.5
    return Advance(0.0, 0.0)


def projected_path(
    start: Floats, change: Floats, signed: NDArray[np.bool_], shortest: float = 1.0
) -> Iterator[tuple[float, Floats, NDArray[np.bool_]]]:
    """The lengths 1, 1/2, 1/4, ... of a change, the weights there, and which have become zero.

    Of the weights ``start`` (k,) the ``signed`` ones stay at zero where they would change sign.
    The last length is where the first of them becomes zero, if that is below ``shortest``, and
    else that: so far the path is straight, and lowers what the change does (Moré & Toraldo 1991).
    """
    crossing = ((start + change) * np.sign(start) < 0.0) & signed
    zero_at = np.divide(-start, change, out=np.ones(len(start)), where=crossing)
    last, length = float(zero_at.min(initial=shortest)), 1.0
    while True:
        zero = crossing & (zero_at <= length)
        yield length, np.where(zero, 0.0, start + length * change), zero
        if length == last:
            return
        length = max(0.5 * length, last)


def step_with_fallback(
    step: Callable[[], Advance],
    use_curvature_bound: Callable[[], None],
    failed: Callable[[Advance], bool],
) -> float:
    """A step by the second derivatives; where it fails, another one by their upper bound.

    Far from the optimum the loss is nearly straight: its second derivatives vanish, and the minimum
    of the model lies far too far away. A bound of them gives a model that lies above the loss, so
    its minimum always lowers the objective (Boehning & Lindsay 1988). Returns the decrease of both.
    """
    advance = step()
    decrease = advance.decrease
    if failed(advance):
        use_curvature_bound()
        decrease += step().decrease
    return decrease


def union(*sets: Int32s) -> Int32s:
    """What is in any of these sets of features, ascending."""
    features = np.concatenate(sets)
    present = np.zeros(int(features.max(initial=-1)) + 1, dtype=bool)
    present[features] = True
    return np.flatnonzero(present).astype(np.int32)
