"""Where work is done: in how many threads side by side, or on a cluster."""

from __future__ import annotations

import os

from textreg.errors import UsageError


def check_jobs(jobs: int) -> int:
    """The number of parallel jobs; UsageError if it is neither positive nor -1."""
    if jobs < 1 and jobs != -1:
        raise UsageError(f"jobs must be 1 or more, or -1 for one a core, not {jobs}.")
    return jobs


def threads_of(jobs: int) -> int:
    """The number of threads: that of jobs, and one for each core that we may use of -1."""
    if jobs != -1:
        return jobs
    affinity = getattr(os, "sched_getaffinity", None)  # not on every system
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def check_backend(backend: str, address: str | None) -> None:
    """UsageError unless there is an address where the backend is ``dask``, and only there."""
    if backend not in ("threads", "dask"):
        raise UsageError(f"backend must be threads or dask, not '{backend}'.")
    if backend == "dask" and address is None:
        raise UsageError(
            "backend 'dask' needs the address of a scheduler, such as tcp://10.0.0.5:8786 "
            "(--backend dask:ADDRESS)."
        )
    if backend != "dask" and address is not None:
        raise UsageError(
            "an address is for the backend 'dask': name that (--backend dask:ADDRESS), or leave "
            "the address out."
        )
