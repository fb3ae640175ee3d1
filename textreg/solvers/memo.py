"""What is dear to derive from a matrix or a graph, kept for as long as that lives."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

T = TypeVar("T")


class _Kept:
    """What was derived from one owner, by key."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.values: dict[Hashable, Any] = {}


_kept: dict[int, _Kept] = {}


def remember(owner: object, key: Hashable, make: Callable[[], T]) -> T:
    """``make()``, once for each ``owner`` (by identity, weakly held) and ``key``.

    Classes, folds and points of a grid share their matrix and graph; threads that come at the same
    time wait for the first. What is made must not hold its owner, or both would stay forever.
    """
    number = id(owner)
    made = _Kept()
    kept = _kept.setdefault(number, made)  # in one piece, so that no lock is needed
    if kept is made:
        # Nor one here: finalizers run wherever garbage is collected, inside each other too.
        weakref.finalize(owner, _kept.pop, number, None)
    with kept.lock:
        if key not in kept.values:
            kept.values[key] = make()
        value: T = kept.values[key]
        return value
