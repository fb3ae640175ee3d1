"""Arguments for the kernels of forward stagewise."""

from __future__ import annotations

import numpy as np
from kernel_inputs import Arguments, Kernel, columns, ragged, some

SHIFT = 1


def blocks(rng: np.random.Generator, p: int) -> Arguments:
    """Numbers A in blocks of two, and bounds that hold for them."""
    A = some(rng, p)
    size = 2**SHIFT
    pieces = [A[start : start + size] for start in range(0, p, size)]
    slack = np.abs(some(rng, 2 * len(pieces)))
    return {
        "A": A,
        "top": np.array([piece.max() for piece in pieces]) + slack[: len(pieces)],
        "bottom": np.array([-piece.min() for piece in pieces]) + slack[len(pieces) :],
        "shift": SHIFT,
    }


def gram_column(rng: np.random.Generator, n: int, p: int) -> Arguments:
    p += 1  # there is always a column to ask for
    row_indptr, positions = ragged(rng, n, p)
    return {
        **columns(rng, n, p), "row_indptr": row_indptr, "positions": positions,
        "values": rng.normal(size=len(positions)), "c": rng.random(n), "gamma": rng.random(p),
        "j": int(rng.integers(p)), "sums": np.zeros(p), "visited": np.zeros(p, dtype=np.uint8),
        "out_positions": np.full(p, -1, dtype=np.int32), "out_values": np.full(p, np.nan),
    }  # fmt: skip


def add_entries(rng: np.random.Generator, n: int, p: int) -> Arguments:
    _, positions = ragged(rng, n, p)
    return {
        **blocks(rng, p), "positions": positions, "values": some(rng, len(positions)),
        "t": rng.normal(),
    }  # fmt: skip


def add_rows(rng: np.random.Generator, n: int, p: int) -> Arguments:
    row_indptr, positions = ragged(rng, n, p)
    rows = rng.permutation(n)[: rng.integers(0, n + 1)].astype(np.int32)
    return {
        **blocks(rng, p), "row_indptr": row_indptr, "positions": positions,
        "values": rng.normal(size=len(positions)), "rows": rows, "change": some(rng, len(rows)),
    }  # fmt: skip


def apply_offset(rng: np.random.Generator, n: int, p: int) -> Arguments:
    return {**blocks(rng, p), "B": np.sort(some(rng, p)), "offset": rng.normal()}


def largest_derivative(rng: np.random.Generator, n: int, p: int) -> Arguments:
    given = apply_offset(rng, n, p)
    pieces = [given["B"][start : start + 2**SHIFT] for start in range(0, p, 2**SHIFT)]
    return {
        **given, "low": np.array([piece.min() for piece in pieces]),
        "high": np.array([piece.max() for piece in pieces]),
        "order": rng.permutation(p).astype(np.int32), "tie": float(rng.choice([0.0, 1e-10, 0.5])),
        "noise": float(rng.choice([0.0, 0.1])),
    }  # fmt: skip


KERNELS = {
    "stagewise.gram_column": Kernel(
        gram_column,
        "sums visited out_positions out_values",
        "c gamma sums visited out_positions out_values",
    ),
    "stagewise.add_entries": Kernel(add_entries, "A top bottom", "positions top bottom"),
    "stagewise.add_rows": Kernel(add_rows, "A top bottom", "rows top bottom"),
    "stagewise.apply_offset": Kernel(apply_offset, "A top bottom", "B top bottom"),
    "stagewise.largest_derivative": Kernel(
        largest_derivative, "top bottom", "B order top bottom low high"
    ),
}
