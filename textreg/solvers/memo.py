"""What is dear to derive from a matrix or a graph, kept for as long as that lives."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

T = TypeVar("T")

_kept: dict[int, dict[Hashable, Any]] = {}
_locks: dict[int, threading.RLock] = {}
_guard = threading.Lock()


def remember(owner: object, key: Hashable, make: Callable[[], T]) -> T:
    """``make()``, once for each ``owner`` (by identity, weakly held) and ``key``.

    Classes, folds and points of a grid share their matrix and graph; threads that come at the same
    time wait for the first.
    """
    number = id(owner)
    with _guard:
        if number not in _kept:
            _kept[number], _locks[number] = {}, threading.RLock()
            weakref.finalize(owner, _forget, number)
        kept, lock = _kept[number], _locks[number]
    with lock:
        if key not in kept:
            kept[key] = make()
        value: T = kept[key]
        return value


def _forget(number: int) -> None:
    with _guard:
        del _kept[number], _locks[number]
