"""How many threads a kernel may use, and how they share its work.

No result depends on that number: pieces are put together in their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock

import numpy as np

from textreg._core.arrays import Int64s

_allowed: ContextVar[int] = ContextVar("textreg_threads", default=1)

# Pieces of work for each thread: one whose core is busy leaves its share to the others.
PIECES = 4

# The size of a piece that is worth a thread: tokens or the like, for a few milliseconds.
LEAST = 1 << 20


def allowed() -> int:
    """The number of threads that a kernel may use here; 1 unless :func:`allowing` says more."""
    return _allowed.get()


@contextmanager
def allowing(threads: int) -> Iterator[None]:
    """Allow kernels this many threads."""
    token = _allowed.set(threads)
    try:
        yield
    finally:
        _allowed.reset(token)


def pieces_of(size: int, each: int = PIECES) -> int:
    """Into how many pieces work of this size is cut; each: the most of them for every thread."""
    threads = allowed()
    return 1 if threads == 1 else max(1, min(each * threads, size // LEAST))


def cuts_of(ptr: Int64s, pieces: int) -> Int64s:
    """Where to cut rows into pieces of about the same size; ``ptr`` has the offsets of the rows."""
    cuts = np.zeros(pieces + 1, dtype=np.int64)
    if pieces > 1:
        cuts[1:-1] = np.searchsorted(ptr, np.arange(1, pieces) * (int(ptr[-1]) // pieces))
    cuts[-1] = len(ptr) - 1
    return cuts


def share(work: Callable[[int, int], None], pieces: int) -> None:
    """Call ``work(worker, piece)`` once for every piece; workers are numbered from 0.

    Each worker is a thread that takes the next piece when it is done with one; the first is this
    thread, and where one is allowed it does everything. ``work`` must release the GIL.
    """
    workers = min(allowed(), pieces)
    if workers == 1:
        for piece in range(pieces):
            work(0, piece)
        return
    left = iter(range(pieces))
    lock = Lock()

    def take(worker: int) -> None:
        nonlocal left
        try:
            while True:
                with lock:
                    piece = next(left, None)
                if piece is None:
                    return
                work(worker, piece)
        finally:
            with lock:
                left = iter(())  # after an error, too

    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(workers - 1) as pool:
        others = [pool.submit(take, worker) for worker in range(1, workers)]
        take(0)
    for other in others:
        other.result()


def share_range(
    work: Callable[[int, int], None], count: int, size: int, each: int = PIECES
) -> None:
    """Call ``work(begin, end)`` for ranges that together are those from 0 to ``count``.

    size, each: as of :func:`pieces_of`.
    """
    pieces = pieces_of(size, each)
    share(lambda _, at: work(count * at // pieces, count * (at + 1) // pieces), pieces)
