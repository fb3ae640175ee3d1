"""A Dask cluster on this machine, of worker processes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

QUIET = {"distributed.worker.profile.enabled": False, "distributed.admin.tick.interval": "1s"}
"""Without the measurements of itself that Dask makes a hundred times a second."""


@contextmanager
def started(workers: int, threads: int = 1, memory: str = "4GB") -> Iterator[Any]:
    """A cluster. Dask leaves what it sets for its workers, as OMP_NUM_THREADS, in ``os.environ``;
    what later tests start would run with it."""
    before = dict(os.environ)
    try:
        with (
            dask.config.set(QUIET),
            distributed.LocalCluster(
                n_workers=workers,
                threads_per_worker=threads,
                processes=True,
                dashboard_address=":0",
                memory_limit=memory,
            ) as local,
        ):
            yield local
    finally:
        os.environ.clear()
        os.environ.update(before)
