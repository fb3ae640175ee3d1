"""Backends by name: checked before anything is read, and opened when blocks are to be kept."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager

from textreg.errors import UsageError
from textreg.kinds import Backend, Plugin, Workers
from textreg.plugins import calls, registry
from textreg.records.store import ArrayStore, Memory

# The backend that is used where none is named.
DEFAULT = "threads"


def check_backend(name: str, address: str | None) -> Backend:
    """The backend of a name; UsageError unless there is an address where it needs one.

    PluginError, which says how to install it, where there is no such backend.
    """
    # By its distribution, of which alone the metadata is read then.
    backend: Backend = registry.create("backend", f"textreg:{name}" if name == DEFAULT else name)
    if backend.address and address is None:
        raise UsageError(f"backend '{name}' needs {backend.address} (--backend {name}:ADDRESS).")
    if address is not None and not backend.address:
        raise UsageError(
            "an address is for the backend 'dask': name that (--backend dask:ADDRESS), or leave "
            "the address out."
        )
    return backend


def open_workers(
    name: str,
    address: str | None,
    parts: Sequence[Plugin | None] = (),
    *,
    memory: int | None = None,
    store: ArrayStore | None = None,
) -> AbstractContextManager[Workers]:
    """The workers of a backend; see :meth:`textreg.kinds.Backend.open`."""
    backend = check_backend(name, address)
    plugins = [part for part in parts if part is not None]
    return calls.workers(backend, address, plugins, memory, Memory() if store is None else store)
