from textreg._core.arrays import Floats, Int32s, Int64s

def select_active(
    gradient: Floats, w: Floats, q: Floats, mu: Floats, lam: Floats, out: Int32s
) -> int: ...
def coordinate_descent(
    indptr: Int64s,
    indices: Int32s,
    data: Floats,
    h: Floats,
    v: Floats,
    active: Int32s,
    curvature: Floats,
    q: Floats,
    mu: Floats,
    lam: Floats,
    w: Floats,
    b: float,
    fit_intercept: bool,
    passes: int,
) -> float: ...
