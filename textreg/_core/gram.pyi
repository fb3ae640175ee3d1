from textreg.records import Floats, Int32s, Int64s

def gram_product(
    indptr: Int64s,
    indices: Int32s,
    data: Floats,
    h: Floats,
    v: Floats,
    shift: float,
    out: Floats,
) -> float: ...
