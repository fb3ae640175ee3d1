"""What every penalty offers, and what all of them use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from textreg.errors import UsageError
from textreg.records import Floats

if TYPE_CHECKING:
    from numpy.typing import NDArray

Real = TypeVar("Real", bound=np.floating[Any])

STRONGEST = 1e100
"""Largest penalty strength, beyond any gradient that records allow."""


class Penalty(Protocol):
    """What :func:`textreg.solvers.proximal.proximal` needs to know of a penalty.

    A penalty may offer more: ``conjugate(t)``, the supremum of t.w - value(w) over all w, gives
    solutions a duality gap; ``gradient(w)`` where it is smooth; ``convex = False`` where it is not
    convex.
    """

    def value(self, w: Floats) -> float:
        """The penalty.

        Parameters
        ----------
        w : ndarray of shape (p,)
            Weights.

        Returns
        -------
        float
            Infinite where ``w`` is not allowed.
        """

    def prox(self, w: Floats, step: float) -> Floats:
        """The proximal operator, argmin_x 1/2 ||x - w||^2 + step * value(x) (docs/maths.md, P1).

        Parameters
        ----------
        w : ndarray of shape (p,)
            Weights.
        step : float
            Above 0.

        Returns
        -------
        ndarray of shape (p,)
            A new array.
        """


def check_strengths(**strengths: float) -> None:
    """Refuse penalty strengths that cannot be computed with.

    Parameters
    ----------
    **strengths
        The strengths by the names that messages call them.

    Raises
    ------
    UsageError
        If one is not a number between 0 and :data:`STRONGEST`.
    """
    for name, value in strengths.items():
        if not 0.0 <= value <= STRONGEST:
            raise UsageError(f"{name} must be between 0 and {STRONGEST:g}, not {value}.")


def soft(w: NDArray[Real], threshold: NDArray[Real] | float) -> NDArray[Real]:
    """Soft thresholding: move every w toward zero by ``threshold``, and no further.

    Parameters
    ----------
    w : ndarray
        Weights.
    threshold : float or ndarray
        0 or more; one for all weights, or one for each.

    Returns
    -------
    ndarray
        Of the shape of ``w``.
    """
    shrunk: NDArray[Real] = np.sign(w) * np.maximum(np.abs(w) - threshold, 0.0)
    return shrunk
