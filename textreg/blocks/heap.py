"""Memory that nobody needs: given back to the system, or not taken at all."""

from __future__ import annotations

import ctypes
import mmap

import numpy as np

from textreg._core.arrays import Floats


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


def sparse_zeros(rows: int, columns: int) -> Floats:
    """A table of zeros that takes memory where something else than zero is written.

    NumPy asks the system for pages of two megabytes, and a few entries a row fill all of them.
    Where the system has no mappings of that kind, as on Windows, it is a table as any other.
    """
    size = 8 * rows * columns
    if not size or not hasattr(mmap, "MAP_PRIVATE"):
        return np.zeros((rows, columns))
    pages = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    return np.frombuffer(pages, dtype=np.float64).reshape(rows, columns)
