import numpy as np
from numpy.typing import NDArray

from textreg._core.arrays import Int64s

def index_names(names: NDArray[np.uint8], ptr: Int64s) -> NDArray[np.uint64] | None: ...
