from textreg._core.arrays import Floats, Int32s, Int64s

def nearest_cosines(
    columns_ptr: Int64s,
    columns: Int32s,
    rows_ptr: Int64s,
    rows: Int32s,
    length: Floats,
    threshold: float,
    most: int,
    shared: Int32s,
    touched: Int32s,
    nearest: Int32s,
    cosines: Floats,
    counts: Int32s,
) -> None: ...
