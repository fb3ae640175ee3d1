"""How many columns a block of vectors has, for kernels that take several in one go."""

from __future__ import annotations

LARGEST = 16
"""Columns that a kernel takes in one go."""


def width(count: int) -> int:
    """A number of columns that the kernels take in one go, or ``count`` where there are more."""
    return 1 << (count - 1).bit_length() if count <= LARGEST else count
