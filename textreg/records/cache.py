"""What is expensive to derive from a record, made once and kept as long as the record lives."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

T = TypeVar("T")


class Cache:
    """Values by key, each made once: threads that ask at the same time wait for the first.

    Classes, folds and points of a grid share their matrix and their graph, and with them whatever
    was derived. A copy of the record shares its cache; a pickled one starts with an empty cache.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._values: dict[Hashable, Any] = {}

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The value of ``key``, which ``make`` returns if there is none yet."""
        if key not in self._values:  # a value that is there is read without waiting for others
            with self._lock:
                if key not in self._values:
                    self._values[key] = make()
        value: T = self._values[key]
        return value

    def __reduce__(self) -> tuple[type[Cache], tuple[()]]:
        return Cache, ()
