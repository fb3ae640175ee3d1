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
    row_ptr, places = ragged(rng, n, p)
    return {
        **columns(rng, n, p), "row_ptr": row_ptr, "places": places,
        "values": rng.normal(size=len(places)), "c": rng.random(n), "gamma": rng.random(p),
        "j": int(rng.integers(p)), "sums": np.zeros(p), "seen": np.zeros(p, dtype=np.uint8),
        "out_places": np.full(p, -1, dtype=np.int32), "out_values": np.full(p, np.nan),
    }  # fmt: skip


def add_entries(rng: np.random.Generator, n: int, p: int) -> Arguments:
    _, places = ragged(rng, n, p)
    return {
        **blocks(rng, p), "places": places, "values": some(rng, len(places)), "t": rng.normal()
    }  # fmt: skip


def add_rows(rng: np.random.Generator, n: int, p: int) -> Arguments:
    row_ptr, places = ragged(rng, n, p)
    rows = rng.permutation(n)[: rng.integers(0, n + 1)].astype(np.int32)
    return {
        **blocks(rng, p), "row_ptr": row_ptr, "places": places,
        "values": rng.normal(size=len(places)), "rows": rows, "change": some(rng, len(rows)),
    }  # fmt: skip


def settle_offset(rng: np.random.Generator, n: int, p: int) -> Arguments:
    return {**blocks(rng, p), "B": np.sort(some(rng, p)), "offset": rng.normal()}


def strongest(rng: np.random.Generator, n: int, p: int) -> Arguments:
    given = settle_offset(rng, n, p)
    pieces = [given["B"][start : start + 2**SHIFT] for start in range(0, p, 2**SHIFT)]
    return {
        **given, "low": np.array([piece.min() for piece in pieces]),
        "high": np.array([piece.max() for piece in pieces]),
        "order": rng.permutation(p).astype(np.int32), "tie": float(rng.choice([0.0, 1e-10, 0.5])),
    }  # fmt: skip


KERNELS = {
    "stagewise.gram_column": Kernel(
        gram_column, "sums seen out_places out_values", "c gamma sums seen out_places out_values"
    ),
    "stagewise.add_entries": Kernel(add_entries, "A top bottom", "places top bottom"),
    "stagewise.add_rows": Kernel(add_rows, "A top bottom", "rows top bottom"),
    "stagewise.settle_offset": Kernel(settle_offset, "A top bottom", "B top bottom"),
    "stagewise.strongest": Kernel(strongest, "top bottom", "B order top bottom low high"),
}
