"""NumPy twin of ``textreg._core.softmax``."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from textreg._core.arrays import Int32s, Int64s

Real = TypeVar("Real", np.float32, np.float64)


def softmax_product(
    indptr: Int64s,
    indices: Int32s,
    data: NDArray[Real],
    c: NDArray[Real],
    P: NDArray[Real],
    V: NDArray[Real],
    out: NDArray[Real],
    z: NDArray[Real],
) -> None:
    """Twin of :func:`textreg._core.softmax.softmax_product`."""
    for i, p in enumerate(P):
        here = slice(indptr[i], indptr[i + 1])
        shares = p * (data[here] @ V[indices[here]] + V[-1])
        z[:] = c[i] * (shares - shares.sum() * p)
        np.add.at(out, indices[here], np.outer(data[here], z))
        out[-1] += z
