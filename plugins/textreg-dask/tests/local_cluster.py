"""A Dask cluster on this machine, of worker processes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

distributed = pytest.importorskip("distributed")


@contextmanager
def started(workers: int, threads: int = 1, memory: str = "4GB") -> Iterator[Any]:
    """A cluster. Dask leaves what it sets for its workers, as OMP_NUM_THREADS, in ``os.environ``;
    what later tests start would run with it."""
    before = dict(os.environ)
    try:
        with distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=threads,
            processes=True,
            dashboard_address=":0",
            memory_limit=memory,
        ) as local:
            yield local
    finally:
        os.environ.clear()
        os.environ.update(before)
