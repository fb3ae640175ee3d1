from collections.abc import Sequence

from textreg._core.arrays import Int32s, Int64s

def encode(
    texts: Sequence[str],
    lowercase: bool,
    across: bool,
    sentences: str,
    shortest: int,
    longest: int,
    spans: bool,
) -> tuple[Int32s, Int64s, Int64s, Int64s, list[str], Int32s | None, Int32s | None]: ...
