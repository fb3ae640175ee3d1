"""JSON of model files, read without what Python adds to it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, NoReturn

from textreg.model.faults import FaultError, shown

_LONGEST_NUMBER = 300  # digits: all such are finite as floats


def canonical(header: Mapping[str, Any]) -> str:
    """The canonical JSON text of a header."""
    return json.dumps(header, sort_keys=True, allow_nan=False, separators=(",", ":"))


def parse(text: str | bytes) -> Any:
    """JSON without what Python adds to it, and with finite numbers only."""
    return json.loads(
        text,
        parse_constant=_no_constant,
        parse_int=_whole,
        parse_float=_finite,
        object_pairs_hook=_object,
    )


def _no_constant(word: str) -> NoReturn:
    raise ValueError(word)


def _whole(digits: str) -> int:
    if len(digits) > _LONGEST_NUMBER:
        raise FaultError(f"its header has the number {digits[:20]}..., which is too large")
    return int(digits)


def _finite(digits: str) -> float:
    if not math.isfinite(number := float(digits)):
        raise FaultError(f"its header has the number {shown(digits)}, which is too large")
    return number


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise FaultError("its header has two members of the same name")
    return members
