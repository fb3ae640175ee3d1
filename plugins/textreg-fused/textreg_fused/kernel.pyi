import numpy as np
from numpy.typing import NDArray

from textreg.records import Floats

Int32s = NDArray[np.int32]

def link_rounds(
    heads: Int32s,
    tails: Int32s,
    bounds: Floats,
    l1: float,
    u: Floats,
    z: Floats,
    apart: Int32s,
    least: float,
    most: int,
) -> float: ...
