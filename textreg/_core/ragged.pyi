from typing import Any

import numpy as np
from numpy.typing import NDArray

from textreg._core.arrays import Floats, Int32s, Int64s

def copy_rows(
    ptr: Int64s, flat: NDArray[Any], rows: Int64s, new_ptr: Int64s, out: NDArray[Any]
) -> None: ...
def scatter_rows(
    indptr: Int64s,
    indices: Int32s,
    data: Floats,
    first: int,
    place: Int64s,
    out_indices: Int32s,
    out_data: NDArray[Any],
    rows: Int32s | None = None,
    factors: Floats | None = None,
    begin: int = 0,
    end: int = -1,
) -> None: ...
def hash_rows(ptr: Int64s, flat: Int32s, rows: Int64s, out: NDArray[np.uint64]) -> None: ...
def equal_rows(
    ptr: Int64s, flat: Int32s, one: Int64s, two: Int64s, out: NDArray[np.uint8]
) -> None: ...
