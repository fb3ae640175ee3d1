from textreg._core.arrays import Floats, Int32s, Int64s

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
    race: Int32s,
    scale: Floats,
    products: Floats,
    error: float,
    reach: float,
    radius: float,
    tie: float,
    floor: float,
    floor_reach: float,
    score: Floats,
    fresh: Int32s,
) -> tuple[int, float, float]: ...
