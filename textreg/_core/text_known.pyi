import numpy as np
from numpy.typing import NDArray

from textreg._core.arrays import Int32s, Int64s

def index_names(names: NDArray[np.uint8], ptr: Int64s) -> NDArray[np.uint64] | None: ...
def index_grams(
    names: NDArray[np.uint8], ptr: Int64s
) -> tuple[NDArray[np.uint64], Int32s] | None: ...
def find_grams(
    spelled: NDArray[np.uint32],
    ptr: Int64s,
    shortest: int,
    longest: int,
    slots: NDArray[np.uint64],
    n_nodes: int,
) -> tuple[Int32s, Int64s]: ...
def in_order(names: NDArray[np.uint8], ptr: Int64s) -> bool: ...
def number_grams(children: Int64s, keep: NDArray[np.uint8], n_words: int) -> Int32s: ...
