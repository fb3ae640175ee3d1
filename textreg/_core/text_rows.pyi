from collections.abc import Sequence
from typing import Any

from textreg._core.arrays import Floats, Int32s, Int64s

class WordRows:
    distinct: bool
    def __init__(
        self,
        known: tuple[Any, Any],
        dropped: Any,
        children: list[tuple[Int64s, Int32s]],
        numbers: list[Int32s],
        rules: tuple[bool, int, str, bool, bool],
        *how: Any,
    ) -> None: ...
    def __call__(self, texts: Sequence[str]) -> tuple[Int64s, Int32s, Floats]: ...

class CharRows:
    distinct: bool
    def __init__(
        self,
        known: tuple[Any, Any],
        lengths: tuple[int, int],
        rules: tuple[bool, bool, str],
        *how: Any,
    ) -> None: ...
    def __call__(self, texts: Sequence[str]) -> tuple[Int64s, Int32s, Floats]: ...
