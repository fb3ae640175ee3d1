"""Python's logging, under the logger ``textreg``: it says nothing unless a program asks it to.

INFO tells what was read, how a search goes, what was chosen and why, and how long it took. DEBUG
adds every fit, and every row that was left out.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

logging.getLogger("textreg").addHandler(logging.NullHandler())


def logger(part: str) -> logging.Logger:
    """The logger of a part of textreg, such as ``textreg.training``."""
    return logging.getLogger(f"textreg.{part}")


@contextmanager
def quiet(name: str, least: int) -> Iterator[None]:
    """Let the logger of somebody else tell only what is of a level of at least ``least``."""
    theirs = logging.getLogger(name)
    before = theirs.level
    theirs.setLevel(least)
    try:
        yield
    finally:
        theirs.setLevel(before)
