from dataclasses import dataclass

from textreg._core.arrays import Floats, Int32s, Int64s

@dataclass(frozen=True, eq=False)
class GroupArrays:
    matrix: tuple[Int64s, Int32s, Floats]
    weights: Floats
    columns: Int32s
    dense: tuple[Int32s, Floats, Floats]
    group_offsets: Int64s
    members: Int32s
    width: int
    gram_width: int

def group_correlations(
    groups: GroupArrays, selected: Int32s, squares: Floats, r: Floats, dots: Floats, out: Floats
) -> None: ...
def group_projections(
    groups: GroupArrays,
    selected: Int32s,
    squares: Floats,
    r: Floats,
    dots: Floats,
    smoothing: float,
    rank: float,
    out: Floats,
) -> None: ...
def projection_bounds(
    groups: GroupArrays, selected: Int32s, squares: Floats, smoothing: float, out: Floats
) -> None: ...

@dataclass(frozen=True, eq=False)
class GroupBounds:
    value: Floats
    origin: Int32s
    lipschitz: Floats
    divisor: Floats

def candidate_groups(
    groups: GroupArrays,
    bounds: GroupBounds,
    factors: Floats,
    dots: Floats,
    error: float,
    distances: Floats,
    length: float,
    reach: float,
    radius: float,
    top: float,
    candidates: Int32s,
    upper: Floats,
) -> int: ...
