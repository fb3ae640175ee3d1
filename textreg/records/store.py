"""Arrays that are kept by name, in memory or in files, and values whose arrays are kept so."""

from __future__ import annotations

import ctypes
import os
import pickle
from contextlib import suppress
from itertools import count
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from textreg.errors import UsageError
from textreg.records.arrays import read_only


class ArrayStore(Protocol):
    """Arrays by name, in memory or on disk.

    A name is that of a file: letters, digits, ``-``, ``_`` and ``.``.
    """

    def put(self, name: str, array: NDArray[Any]) -> None:
        """Keep an array, which is not to be changed from now on, in place of one of this name."""

    def get(self, name: str) -> NDArray[Any]:
        """An array, read-only; KeyError if there is none of this name."""

    def drop(self, name: str) -> None:
        """Forget an array; KeyError if there is none of this name."""


class Memory(ArrayStore):
    """Arrays in memory."""

    def __init__(self) -> None:
        self._arrays: dict[str, NDArray[Any]] = {}

    def put(self, name: str, array: NDArray[Any]) -> None:
        """Keep the array itself, without a copy."""
        self._arrays[name] = read_only(array)

    def get(self, name: str) -> NDArray[Any]:
        """The array that was given, as one that cannot be written to."""
        return self._arrays[name]

    def drop(self, name: str) -> None:
        """Forget an array."""
        del self._arrays[name]


_numbers = count()


class Kept:
    """A value whose arrays are in a store, until this object is forgotten.

    What is no array is kept by pickle. The value must not be changed from now on.

    Parameters
    ----------
    store : ArrayStore
    value : object
        Anything that can be pickled; the arrays of tuples, lists, dicts and records, too.
    """

    def __init__(self, store: ArrayStore, value: Any) -> None:
        self._store = store
        self._names: list[str] = []
        arrays: list[pickle.PickleBuffer] = []
        self._rest = pickle.dumps(value, protocol=5, buffer_callback=arrays.append)
        number = next(_numbers)
        for place, array in enumerate(arrays):
            store.put(name := f"{number}-{place}", np.frombuffer(array.raw(), dtype=np.uint8))
            self._names.append(name)

    def value(self) -> Any:
        """The value, with arrays that cannot be written to."""
        return pickle.loads(self._rest, buffers=map(self._store.get, self._names))

    def __del__(self) -> None:
        for name in self._names:
            with suppress(KeyError, OSError):  # the store may be gone before
                self._store.drop(name)


def same(value: Any) -> Any:
    """What was given."""
    return value


def check_room(needed: int, what: str, remedy: str) -> None:
    """UsageError for what takes more bytes than the machine has, where it tells how many."""
    try:
        room = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # Windows has no such call
        return
    if needed > room:
        raise UsageError(
            f"{what} would take {needed:,} bytes of memory, and this machine has {room:,}: "
            f"{remedy}."
        )


def release_memory() -> None:
    """Give back what is free: the C library of Linux keeps it, between pieces that are in use.

    A corpus in blocks leaves a hundred megabytes of such gaps after every stage. Nothing happens
    where the C library cannot do that.
    """
    try:
        trim = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):  # another C library; Windows has none by that name
        return
    trim(0)
