import numpy as np
from numpy.typing import NDArray

from textreg._core.arrays import Floats, Int32s, Int64s

def group_norms(indptr: Int64s, indices: Int32s, w: Floats, out: Floats) -> None: ...
def group_spread(indptr: Int64s, indices: Int32s, values: Floats, out: Floats) -> None: ...
def ball_sweeps(
    indptr: Int64s,
    indices: Int32s,
    strengths: Floats,
    lam: Floats,
    u: Floats,
    z: Floats,
    over: NDArray[np.uint8],
    active: Int32s,
    sweeps: int,
) -> int: ...
def group_scale(indptr: Int64s, indices: Int32s, rates: Floats, w: Floats, u: Floats) -> None: ...
def copy_norms(
    indptr: Int64s, indices: Int32s, strengths: Floats, w: Floats, u: Floats, out: Floats
) -> None: ...
def group_gather(indices: Int32s, u: Floats, out: Floats) -> None: ...
def admm_copies(
    indptr: Int64s,
    indices: Int32s,
    strengths: Floats,
    w: Floats,
    rho: float,
    relax: float,
    v: Floats,
    u: Floats,
    norms: Floats,
    target: Floats,
) -> tuple[float, float, float, float]: ...
def select_groups(
    indptr: Int64s,
    indices: Int32s,
    strengths: Floats,
    groups: Int32s,
    place: Int32s,
    lam: Floats,
    out_indptr: Int64s,
    out_indices: Int32s,
    out_strengths: Floats,
    origin: Int64s,
) -> int: ...
def group_sums(
    indptr: Int64s, indices: Int32s, values: Floats, chosen: Int32s, out: Floats
) -> None: ...
def group_add(
    indptr: Int64s, indices: Int32s, values: Floats, chosen: Int32s, out: Floats
) -> None: ...
def fill_groups(
    indptr: Int64s,
    indices: Int32s,
    room: Floats,
    features: Int32s,
    share: Floats,
    load: Floats,
    taken: NDArray[np.uint8],
) -> None: ...
