"""A limit on the time of a check, which also ends a plugin that never returns."""

from __future__ import annotations

import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import Any

from textreg.errors import UsageError

SECONDS = 20.0
"""What a check may take unless told otherwise; of a part that is right it takes less than one."""

PATIENCE = 5.0
"""How many times as long a check may take that had no processor for half of the time."""

_seconds: ContextVar[float] = ContextVar("seconds", default=SECONDS)


class OutOfTime(BaseException):
    """Raised in a check whose time is up; no Exception, so that no plugin handles it."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Give every check within it so many seconds; UsageError unless that is above 0."""
    if not seconds > 0.0:
        raise UsageError(f"the time limit must be above 0 seconds, not {seconds}.")
    token = _seconds.set(seconds)
    try:
        yield
    finally:
        _seconds.reset(token)


def within_time(run: Callable[[], None]) -> str:
    """Call ``run``; where its time ran out, say where it was, else give an empty text.

    A timer interrupts Python code in the main thread. Elsewhere, and on Windows, ``run`` gets a
    thread, which is left behind when its time is up. A call into compiled code ends first.
    """
    seconds = _seconds.get()
    if threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer"):
        return _by_timer(run, seconds)
    return _by_thread(run, seconds)


def _by_timer(run: Callable[[], None], seconds: float) -> str:
    start, begun = time.monotonic(), time.process_time()

    def stop(number: int, frame: FrameType | None) -> None:
        waited, used = time.monotonic() - start, time.process_time() - begun
        if used >= 0.5 * seconds or waited >= PATIENCE * seconds:
            raise OutOfTime

    before = signal.signal(signal.SIGALRM, stop)
    # Again and again, where the machine was busy with something else, or the plugin went on.
    later, every = signal.setitimer(signal.ITIMER_REAL, seconds, min(1.0, seconds))
    try:
        run()
    except OutOfTime as error:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        return _told(seconds, [frame for frame, _ in traceback.walk_tb(error.__traceback__)][:-1])
    finally:
        signal.setitimer(signal.ITIMER_REAL, later, every)
        signal.signal(signal.SIGALRM, before)
    return ""


def _by_thread(run: Callable[[], None], seconds: float) -> str:
    errors: list[BaseException] = []

    def work() -> None:
        try:
            run()
        except BaseException as error:  # noqa: BLE001  # raised again by who waits
            errors.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        frame = sys._current_frames().get(thread.ident or 0)
        stack = [each for each, _ in traceback.walk_stack(frame)][::-1]
        return _told(seconds, stack)
    if errors:
        raise errors[0]
    return ""


def _told(seconds: float, frames: list[FrameType]) -> str:
    """Where time went: the innermost frame that is not one of textreg or of a library."""
    own = [frame for frame in frames if not _is_library(frame)] or frames[-1:]
    if not own:
        return f"none within {seconds:g} s"
    code: Any = own[-1].f_code
    return f"none within {seconds:g} s: it was in {code.co_name}, {code.co_filename}:" + str(
        own[-1].f_lineno
    )


def _is_library(frame: FrameType) -> bool:
    root = frame.f_globals.get("__name__", "").partition(".")[0]
    return root in ("textreg", "numpy", "scipy", "threading")
