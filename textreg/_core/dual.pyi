from typing import Any

import numpy as np
from numpy.typing import NDArray

from textreg._core.arrays import Floats, Int32s, Int64s

def dual_sweep(
    indptr: Int64s,
    indices: Int32s,
    data: NDArray[Any],
    order: Int32s,
    squares: Floats,
    cy: Floats,
    q: float,
    lag: float,
    alpha: Floats,
    W: NDArray[Any],
    b: Floats,
    moved: Floats,
    least: Floats,
    curvature: float = 0.0,
    largest: float = 1.0,
    first: int = 0,
    last: int = -1,
) -> None: ...
def column_losses(
    Z: Floats,
    cy: Floats,
    b: Floats,
    value: Floats,
    slope: Floats,
    bend: Floats,
    curvature: float = 0.0,
    largest: float = 1.0,
) -> None: ...
def column_conjugates(
    alpha: Floats, cy: Floats, out: Floats, curvature: float = 0.0, largest: float = 1.0
) -> None: ...
def dual_sweep_by_feature(
    indptr: Int64s,
    indices: Int32s,
    data: NDArray[Any],
    order: Int32s,
    cy: Floats,
    lag: Floats,
    lam: NDArray[np.float32],
    inverse: NDArray[np.float32],
    alpha: Floats,
    T: NDArray[np.float32],
    b: Floats,
) -> None: ...
