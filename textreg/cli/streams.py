"""Standard output for results alone: what plugins print, and what is logged, goes elsewhere."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO

from textreg.isolation import is_inside


class Results:
    """Stands in for ``sys.stdout`` while a command runs.

    Only the thread of the command writes there, outside the code of plugins. All others get
    standard error: threads and forks that a plugin started, too.
    """

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._owner = os.getpid(), threading.get_ident()

    def __getattr__(self, name: str) -> Any:
        mine = self._owner == (os.getpid(), threading.get_ident()) and not is_inside()
        return getattr(self._out if mine else sys.stderr, name)

    def close(self) -> None:
        """Nothing: no plugin closes the stream of another."""


@contextmanager
def results_only(*, to_the_end: bool) -> Iterator[None]:
    """Keep standard output for what the command itself prints.

    The file descriptor is moved as well, so what C code and subprocesses write to it is seen on
    standard error, too. to_the_end: so it stays until the end of the process, where functions run
    that plugins registered with ``atexit``; otherwise standard output is as before afterwards.
    """
    given, kept = sys.stdout, None
    if _is_descriptor(given, 1) and _is_descriptor(sys.stderr, 2):
        given.flush()
        kept = os.dup(1)
        os.dup2(2, 1)
    out = given if kept is None else _opened(kept, given)
    if given is not None and sys.stderr is not None:
        sys.stdout = Results(out)
    try:
        yield
    finally:
        sys.stdout = sys.stderr if to_the_end and sys.stderr is not None else given
        if kept is not None:
            with suppress(OSError):  # an error of writing was raised by the flush before
                out.flush()
            with suppress(OSError):
                given.flush()
            if not to_the_end:
                os.dup2(kept, 1)
            with suppress(OSError):
                out.close()


def _is_descriptor(stream: TextIO | None, number: int) -> bool:
    try:
        return stream is not None and stream.fileno() == number
    except (AttributeError, OSError, ValueError):
        return False  # a stand-in of a program that calls us


def _opened(descriptor: int, like: TextIO) -> TextIO:
    """A file descriptor as a stream that is buffered and encoded as another one."""
    by_line = getattr(like, "line_buffering", False) or getattr(like, "write_through", False)
    return open(
        descriptor,
        "w",
        buffering=1 if by_line else -1,
        encoding=like.encoding,
        errors=like.errors,
    )


@contextmanager
def logging_to_stderr(verbosity: int) -> Iterator[None]:
    """Write what textreg logs to standard error: INFO, and DEBUG with a verbosity above 1."""
    import logging

    from textreg.terminal import single_line

    class Lines(logging.Formatter):
        def format(self, record: logging.LogRecord) -> str:
            return single_line(super().format(record))

    logger, handler = logging.getLogger("textreg"), logging.StreamHandler(sys.stderr)
    handler.setFormatter(Lines("%(asctime)s %(message)s", "%H:%M:%S"))
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG if verbosity > 1 else logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
