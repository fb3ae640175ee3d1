import numpy as np
from numpy.typing import NDArray

from textreg.records import Floats, Int32s, Int64s

def ridge_descent(
    indptr: Int64s,
    indices: Int32s,
    data: Floats,
    h: Floats,
    v: Floats,
    features: Int32s,
    q: Floats,
    bend: Floats,
    w: Floats,
    b: float,
    fit_intercept: bool,
    slack: float,
    passes: int,
) -> float: ...
def best_column(
    indptr: Int64s,
    indices: Int32s,
    data: Floats,
    r: Floats,
    scale: Floats,
    reach: float,
    drift: float,
    radius: float,
    tie: float,
    floor: float,
    floor_reach: float,
    race: Int32s,
    score: Floats,
    seen: Floats,
    fresh: Int32s,
) -> tuple[int, float]: ...
def group_scores(
    indptr: Int64s,
    indices: Int32s,
    data: Floats,
    weights: Floats,
    r: Floats,
    size: Floats,
    alive: NDArray[np.uint8],
    group_ptr: Int64s,
    members: Int32s,
    groups: Int32s,
    projected: bool,
    smoothing: float,
    rank: float,
    dense: Floats,
    gram: Floats,
    products: Floats,
    left: Int32s,
    out: Floats,
) -> None: ...
