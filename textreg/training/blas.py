"""The threads of BLAS, which adds in another order when it has several."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_LOCK = threading.Lock()
_limits: list[Any] = []
"""The limit that was set, once for each of those who work under it."""


@contextmanager
def one_thread_in_blas() -> Iterator[None]:
    """A time in which BLAS keeps to one thread: the last who leaves it ends it.

    Each by itself would restore what it found, which another may have set.
    """
    from threadpoolctl import threadpool_limits

    with _LOCK:
        _limits.append(_limits[0] if _limits else threadpool_limits(limits=1))
    try:
        yield
    finally:
        with _LOCK:
            limit = _limits.pop()
            if not _limits:
                limit.restore_original_limits()
