"""Memory that nobody needs any more, given back to the system."""

from __future__ import annotations

import ctypes


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
