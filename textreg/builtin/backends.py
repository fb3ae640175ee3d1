"""The built-in backend: blocks in this process, in memory or in files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from textreg.hookspecs import hookimpl
from textreg.kinds import Backend, Plugin, Workers
from textreg.records.store import ArrayStore, Kept


class Threads(Backend):
    """Everything is done here, in threads; blocks are in memory as far as they fit, or in files."""

    name = "threads"

    @contextmanager
    def open(
        self, address: str | None, parts: Sequence[Plugin], memory: int | None, store: ArrayStore
    ) -> Iterator[Workers]:
        """This process."""
        yield Here(store)


class Here(Workers):
    """This process, which keeps values in a store.

    Parameters
    ----------
    store : ArrayStore
    """

    elsewhere = False

    def __init__(self, store: ArrayStore) -> None:
        self._store = store

    def submit(self, function: Callable[..., Any], *arguments: Any, outputs: int = 1) -> Any:
        """Compute something now, and keep it in the store."""
        result = function(*map(value_of, arguments))
        if outputs == 1:
            return Kept(self._store, result)
        return [Kept(self._store, output) for output in result]

    def map(
        self, function: Callable[..., Any], handles: Iterable[Any], *arguments: Iterable[Any]
    ) -> Iterator[Any]:
        """One call after the other: kernels have the threads."""
        for inputs in zip(handles, *arguments, strict=False):
            yield function(*map(value_of, inputs))


def value_of(argument: Any) -> Any:
    """What a handle stands for; any other argument itself."""
    return argument.value() if isinstance(argument, Kept) else argument


@hookimpl
def textreg_backends() -> list[type[Backend]]:
    """Backends that come with textreg."""
    return [Threads]
