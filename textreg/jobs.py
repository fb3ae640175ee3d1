"""In how many threads work is done side by side."""

from __future__ import annotations

import os

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
