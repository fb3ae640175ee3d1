from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from textreg._core.arrays import Int32s, Int64s

def runs(
    texts: Sequence[str], lowercase: bool, across: bool, sentences: str, spans: bool
) -> tuple[
    NDArray[np.uint32],
    Int64s,
    Int32s,
    Int64s,
    Int64s,
    Int64s,
    Int32s | None,
    Int32s | None,
    Int32s | None,
]: ...
