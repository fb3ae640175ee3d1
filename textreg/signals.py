"""How signals end the process: temporary files are removed first, and it dies by the signal."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

_tidying: list[Callable[[], object]] = []


@contextmanager
def tidying(clean: Callable[[], object]) -> Iterator[None]:
    """Call ``clean`` after this code, and before a signal ends the process in it.

    A request to end (SIGTERM, SIGHUP) ends a process at once, without clean-up, unless somebody
    handles it. It is handled in the main thread, for as long as there is something to clean up.

    Parameters
    ----------
    clean : callable
        May be called twice, and at any time. Its OSErrors are ignored.
    """
    handled = _handle_requests()
    _tidying.append(clean)
    try:
        yield
    finally:
        with suppress(OSError):
            clean()
        _tidying.remove(clean)
        for number in handled:
            signal.signal(number, signal.SIG_DFL)


def _handle_requests() -> list[signal.Signals]:
    """Handle the requests to end that nobody handles yet; which these are."""
    if threading.current_thread() is not threading.main_thread():
        return []
    names = ("SIGTERM", "SIGHUP")
    requests = [getattr(signal, name) for name in names if hasattr(signal, name)]
    free = [number for number in requests if signal.getsignal(number) is signal.SIG_DFL]
    for number in free:
        signal.signal(number, _on_request)
    return free


def _on_request(number: int, frame: Any) -> None:
    end_by(number)


def clean_up() -> None:
    """Do all clean-ups that are due, in a process that ends."""
    for clean in reversed(_tidying):
        with suppress(OSError):
            clean()


def end_by(number: int) -> NoReturn:
    """Clean up, and die by a signal, so that a shell sees it: its loops end with Ctrl-C.

    Only for the main thread. Where signals do not end processes, the exit code is 128 + number.
    """
    clean_up()
    if os.name == "posix":
        signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
        signal.raise_signal(number)
    os._exit(128 + number)
