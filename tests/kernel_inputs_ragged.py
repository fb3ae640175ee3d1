"""Arguments for the kernels of ragged arrays."""

from __future__ import annotations

import numpy as np
from kernel_inputs import Arguments, Kernel, chosen, ragged, some


def copy_rows(rng: np.random.Generator, n: int, p: int) -> Arguments:
    ptr, flat = ragged(rng, n, p)
    rows = rng.integers(0, n, size=n)
    new_ptr = np.concatenate([[0], np.cumsum(np.diff(ptr)[rows])])
    kind = rng.choice(["u1", "i4", "i8", "f8"])
    out = np.zeros(new_ptr[-1], dtype=kind)
    return {"ptr": ptr, "flat": flat.astype(kind), "rows": rows, "new_ptr": new_ptr, "out": out}


def repeated(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Short rows of few entries, so that many of them are equal."""
    rows = [rng.integers(0, 2, size=rng.integers(0, 3)) for _ in range(n)]
    ptr = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    return ptr, np.concatenate([np.empty(0), *rows]).astype(np.int32)


def hash_rows(rng: np.random.Generator, n: int, p: int) -> Arguments:
    ptr, flat = repeated(rng, n)
    out = np.zeros(n, dtype=np.uint64)
    return {"ptr": ptr, "flat": flat, "rows": rng.permutation(n), "out": out}


def equal_rows(rng: np.random.Generator, n: int, p: int) -> Arguments:
    ptr, flat = repeated(rng, n)
    one, two = rng.permutation(n), rng.permutation(n)
    return {"ptr": ptr, "flat": flat, "one": one, "two": two, "out": np.zeros(n, dtype=np.uint8)}


def scatter_rows(rng: np.random.Generator, n: int, p: int) -> Arguments:
    indptr, indices = ragged(rng, n, p)
    sizes = np.bincount(indices, minlength=p) + rng.integers(0, 2, size=p)
    entries, rows = int(sizes.sum()), None if rng.random() < 0.5 else chosen(rng, n)
    factors = None if rng.random() < 0.5 else some(rng, n if rows is None else len(rows))
    begin, end = (0, -1) if rng.random() < 0.5 else sorted(rng.integers(0, p + 1, size=2).tolist())
    return {
        "indptr": indptr, "indices": indices, "data": some(rng, len(indices)),
        "first": int(rng.integers(0, 9)), "place": np.cumsum(sizes) - sizes,
        "out_indices": np.zeros(entries, dtype=np.int32),
        "out_data": np.zeros(entries, dtype=rng.choice(["f4", "f8"])),
        "rows": rows, "factors": factors, "begin": begin, "end": end,
    }  # fmt: skip


KERNELS = {
    "ragged.scatter_rows": Kernel(
        scatter_rows, "place out_indices out_data", "indices data out_indices out_data"
    ),
    "ragged.copy_rows": Kernel(copy_rows, "out", "new_ptr out"),
    "ragged.hash_rows": Kernel(hash_rows, "out", "out"),
    "ragged.equal_rows": Kernel(equal_rows, "out", "one out"),
}
