import numpy as np
from numpy.typing import NDArray

from textreg._core.arrays import Int32s, Int64s

Tree = tuple[NDArray[np.uint8], NDArray[np.uint64], NDArray[np.uint64], Int32s]

def index_grams(names: NDArray[np.uint8], ptr: Int64s) -> Tree | None: ...
