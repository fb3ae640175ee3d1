from typing import TypeVar

import numpy as np
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
) -> None: ...
