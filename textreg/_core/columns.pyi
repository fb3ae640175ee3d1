from textreg._core.arrays import Floats, Int32s, Int64s

def column_curvature(
    indptr: Int64s, indices: Int32s, data: Floats, h: Floats, features: Int32s, out: Floats
) -> None: ...
def column_damping(
    indptr: Int64s,
    indices: Int32s,
    data: Floats,
    alpha: Floats,
    features: Int32s,
    excess: Floats,
    factor: Floats,
) -> None: ...
