import numpy as np
from numpy.typing import NDArray

from textreg._core.arrays import Floats, Int32s, Int64s

def gram_column(
    indptr: Int64s,
    indices: Int32s,
    data: Floats,
    row_indptr: Int64s,
    positions: Int32s,
    values: Floats,
    c: Floats,
    gamma: Floats,
    j: int,
    sums: Floats,
    visited: NDArray[np.uint8],
    out_positions: Int32s,
    out_values: Floats,
) -> int: ...
def add_entries(
    positions: Int32s, values: Floats, t: float, A: Floats, top: Floats, bottom: Floats, shift: int
) -> None: ...
def add_rows(
    row_indptr: Int64s,
    positions: Int32s,
    values: Floats,
    rows: Int32s,
    change: Floats,
    A: Floats,
    top: Floats,
    bottom: Floats,
    shift: int,
) -> None: ...
def apply_offset(
    A: Floats, B: Floats, offset: float, top: Floats, bottom: Floats, shift: int
) -> None: ...
def largest_derivative(
    A: Floats,
    B: Floats,
    offset: float,
    low: Floats,
    high: Floats,
    top: Floats,
    bottom: Floats,
    order: Int32s,
    shift: int,
    tie: float,
    noise: float,
) -> int: ...
