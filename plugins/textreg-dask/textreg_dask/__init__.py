"""The backend ``dask``: blocks of documents on the workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from textreg.hookspecs import hookimpl
from textreg.kinds import Backend, Plugin, Workers
from textreg.records.store import ArrayStore
from textreg_dask import connection

__all__ = ["Dask"]


class Dask(Backend):
    """Blocks lie on the workers of a Dask cluster, which read the files themselves."""

    name = "dask"
    address = "the address of a scheduler, such as tcp://10.0.0.5:8786"

    @contextmanager
    def open(
        self, address: str | None, parts: Sequence[Plugin], memory: int | None, store: ArrayStore
    ) -> Iterator[Workers]:
        """The workers of the scheduler at an address.

        Raises
        ------
        UsageError
            If it does not answer or has no workers, and for workers that lack a part, compute
            otherwise than we do here, or may take more than ``memory``.
        """
        assert address is not None
        with connection.connected(address) as workers:
            workers.check(parts)
            if memory is not None:
                workers.check_memory(memory)
            yield workers


@hookimpl
def textreg_backends() -> list[type[Backend]]:
    """The backends of this distribution."""
    return [Dask]
