from collections.abc import Sequence

from textreg._core.arrays import Int32s, Int64s

def is_latin(text: str) -> bool: ...
def encode(
    texts: Sequence[str],
    lowercase: bool,
    min_length: int,
    sentences: str,
    punctuation: bool,
    emoji: bool,
    spans: bool,
) -> tuple[Int32s, Int64s, Int64s, Int64s, list[str], Int32s | None, Int32s | None]: ...
