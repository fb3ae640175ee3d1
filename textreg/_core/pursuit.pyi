from textreg._core.arrays import Floats, Int32s, Int64s

def ridge_descent(
    indptr: Int64s,
    indices: Int32s,
    data: Floats,
    h: Floats,
    v: Floats,
    features: Int32s,
    q: Floats,
    curvature: Floats,
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
    columns: Int32s,
    scale: Floats,
    dots: Floats,
    error: float,
    lipschitz: float,
    radius: float,
    tie: float,
    rival: float,
    rival_lipschitz: float,
    score: Floats,
    candidates: Int32s,
) -> tuple[int, float, float]: ...
def update_dots(
    row_indptr: Int64s,
    positions: Int32s,
    values: Floats,
    r: Floats,
    last: Floats,
    inverse: Floats,
    tolerance: float,
    dots: Floats,
) -> tuple[float, float]: ...
