"""Plain twins of ``textreg._core.gram``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from textreg.records import Floats, Int32s, Int64s


def gram_product(
    indptr: Int64s,
    indices: Int32s,
    data: Floats,
    h: Floats,
    v: Floats,
    shift: float,
    out: Floats,
) -> float:
    """Twin of :func:`textreg._core.gram.gram_product`."""
    total = 0.0
    for i in range(len(h)):
        here = slice(indptr[i], indptr[i + 1])
        t = h[i] * (data[here] @ v[indices[here]] + shift)
        np.add.at(out, indices[here], t * data[here])
        total += t
    return float(total)
