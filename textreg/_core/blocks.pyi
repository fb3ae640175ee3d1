import numpy as np
from numpy.typing import NDArray

from textreg._core.arrays import Floats, Int32s, Int64s

def block_dots(
    indptr: Int64s,
    indices: Int32s,
    data: Floats | NDArray[np.float32],
    V: Floats | NDArray[np.float32],
    out: Floats | NDArray[np.float32],
    lines: Int32s | None = None,
) -> None: ...
def block_sums(
    indptr: Int64s,
    indices: Int32s,
    data: Floats | NDArray[np.float32],
    V: Floats,
    out: Floats,
    lines: Int32s | None = None,
) -> None: ...
