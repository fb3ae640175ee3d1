"""Arguments for the kernel that finds nearest columns."""

from __future__ import annotations

import numpy as np
from kernel_inputs import Arguments, Kernel, ragged

MOST = 3


def nearest_cosines(rng: np.random.Generator, n: int, p: int) -> Arguments:
    rows_ptr, rows = ragged(rng, n, p)
    document = np.repeat(np.arange(n, dtype=np.int32), np.diff(rows_ptr))
    sizes = np.bincount(rows, minlength=p)
    return {
        "columns_ptr": np.cumsum([0, *sizes], dtype=np.int64),
        "columns": document[np.argsort(rows, kind="stable")],
        "rows_ptr": rows_ptr, "rows": rows, "length": np.sqrt(sizes),
        "threshold": float(rng.choice([0.0, 0.4, 0.9])), "most": MOST,
        "shared": np.zeros(p, dtype=np.int32), "touched": np.zeros(p, dtype=np.int32),
        "nearest": np.full(p * MOST, -1, dtype=np.int32), "cosines": np.full(p * MOST, np.nan),
        "counts": np.zeros(p, dtype=np.int32),
    }  # fmt: skip


KERNELS = {
    "neighbors.nearest_cosines": Kernel(
        nearest_cosines,
        written="shared touched nearest cosines counts",
        checked="columns_ptr shared touched nearest cosines counts",
        room="touched",
    ),
}
