"""What the code of a plugin may not do by accident to the process that it runs in.

A plugin is not sandboxed: this contains slips, not attacks.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, NoReturn

_exit = os._exit


class _Here(threading.local):
    """Calls of plugins that this thread is in."""

    depth = 0


_here = _Here()


def is_inside() -> bool:
    """Whether this thread is in the code of a plugin."""
    return _here.depth > 0


class Inside:
    """A context that is the code of a plugin, which may not end the process with ``os._exit``.

    There that raises SystemExit; forked children, and all other code, end as they always do.
    """

    def __enter__(self) -> None:
        if os._exit is not _leave:
            os._exit = _leave
        _here.depth += 1

    def __exit__(self, *_: object) -> None:
        _here.depth -= 1


def _leave(status: int) -> NoReturn:
    if _here.depth:
        raise SystemExit(f"os._exit({status})")
    _exit(status)


def _forget() -> None:
    _here.depth = 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


@contextmanager
def contained() -> Iterator[None]:
    """Code of a plugin, after which the state of the process that matters is as it was before.

    That is the working folder, for relative paths of results; what NumPy does about overflows; and
    the streams that results and messages are written to.
    """
    numpy: Any = sys.modules.get("numpy")
    folder, streams = _folder(), (sys.stdout, sys.stderr)
    with Inside(), nullcontext() if numpy is None else numpy.errstate():
        try:
            yield
        finally:
            sys.stdout, sys.stderr = streams
            if folder is not None and _folder() != folder:
                os.chdir(folder)


@contextmanager
def keeping_ctrl_c() -> Iterator[None]:
    """Code after which Ctrl-C is handled as before it; for imports, in the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if handler is not None and signal.getsignal(signal.SIGINT) is not handler:
            signal.signal(signal.SIGINT, handler)


def _folder() -> str | None:
    """The working folder; None if it was removed."""
    try:
        return os.getcwd()
    except OSError:
        return None
