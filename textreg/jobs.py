"""In how many threads work is done side by side."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from textreg.errors import UsageError

# Each thread takes 8 MB of addresses for its stack; no machine has twice as many cores.
MOST = 1024


def check_jobs(jobs: int) -> int:
    """The number of parallel jobs; UsageError if it is neither -1 nor from 1 to MOST."""
    if jobs != -1 and not 1 <= jobs <= MOST:
        raise UsageError(f"jobs must be 1 or more, up to {MOST}, or -1 for one a core, not {jobs}.")
    return jobs


def threads_of(jobs: int) -> int:
    """The number of threads: that of jobs, and one for each core that we may use of -1."""
    if jobs != -1:
        return jobs
    affinity = getattr(os, "sched_getaffinity", None)  # not on every system
    return len(affinity(0)) if affinity else os.cpu_count() or 1


_LOCK = threading.Lock()

# The limits that were set, for all who work under them: the first, and those of what came later.
_limits = ExitStack()
_working: list[bool] = []


@contextmanager
def one_thread_in_blas(*, loaded: bool = False) -> Iterator[None]:
    """A time in which BLAS and OpenMP keep to one thread: the last who leaves it ends it.

    Each by itself would restore what it found, which another may have set. By several threads sums
    come in another order.

    loaded: whether an import may just have loaded another library of them, as those of SciPy and
    scikit-learn do, which no limit holds that was set before.
    """
    from threadpoolctl import threadpool_limits

    with _LOCK:
        if loaded or not _working:
            _limits.enter_context(threadpool_limits(limits=1))
        _working.append(loaded)
    try:
        yield
    finally:
        with _LOCK:
            _working.pop()
            if not _working:
                _limits.close()
