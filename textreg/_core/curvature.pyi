import numpy as np
from numpy.typing import NDArray

from textreg._core.arrays import Floats, Int32s, Int64s

Values = Floats | NDArray[np.float32]

def curvature_product(
    indptr: Int64s,
    indices: Int32s,
    data: Values,
    rows: Int32s,
    h: Floats,
    w: Floats,
    b: float,
    scores: Floats,
    out: Floats,
) -> float: ...
def row_scores(
    indptr: Int64s, indices: Int32s, data: Values, rows: Int32s, w: Floats, b: float, scores: Floats
) -> None: ...
def row_sums(
    indptr: Int64s, indices: Int32s, data: Values, rows: Int32s, v: Floats, out: Floats
) -> None: ...
def curvature_diagonal(
    indptr: Int64s, indices: Int32s, data: Values, rows: Int32s, h: Floats, out: Floats
) -> None: ...
