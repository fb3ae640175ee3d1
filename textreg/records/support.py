"""What is proven of the weights of the optimum, wherever a solver stopped."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

ZERO, UNDECIDED, NONZERO = -1, 0, 1
"""Surely zero at the optimum, not known, and surely not zero."""


@dataclass(frozen=True, eq=False)
class Support:
    """Which features and groups surely have no weight at the optimum, and which surely have one.

    Attributes
    ----------
    features : ndarray of int8, shape (p,)
        ZERO, UNDECIDED or NONZERO for every feature.
    groups : ndarray of int8, shape (groups,), or None
        The same of the groups, where the regularizer has some.
    """

    features: NDArray[np.int8]
    groups: NDArray[np.int8] | None = None


def states(zero: NDArray[np.bool_], nonzero: NDArray[np.bool_]) -> NDArray[np.int8]:
    """The states of what is surely zero, and of what is surely not."""
    found = np.where(nonzero, NONZERO, UNDECIDED)
    return np.where(zero, ZERO, found).astype(np.int8)
