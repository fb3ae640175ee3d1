from collections.abc import Sequence

from textreg._core.arrays import Int32s, Int64s

RULES: dict[str, int]

def encode(
    texts: Sequence[str], lowercase: bool, min_length: int, sentences: str, spans: bool
) -> tuple[Int32s, Int64s, Int64s, Int64s, list[str], Int32s | None, Int32s | None]: ...
