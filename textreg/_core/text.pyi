from collections.abc import Sequence
from typing import overload

import numpy as np
from numpy.typing import NDArray

from textreg._core.arrays import Int32s, Int64s

RULES: dict[str, int]

def is_latin(text: str) -> bool: ...
@overload
def encode(
    texts: Sequence[str],
    lowercase: bool,
    min_length: int,
    sentences: str,
    punctuation: bool,
    emoji: bool,
    spans: bool,
    known: None = None,
) -> tuple[Int32s, Int64s, Int64s, Int64s, list[str], Int32s | None, Int32s | None]: ...
@overload
def encode(
    texts: Sequence[str],
    lowercase: bool,
    min_length: int,
    sentences: str,
    punctuation: bool,
    emoji: bool,
    spans: bool,
    known: tuple[NDArray[np.uint8], Int64s, NDArray[np.uint64]],
) -> tuple[Int32s, Int64s, Int64s, Int64s, Int32s, Int32s | None, Int32s | None]: ...
