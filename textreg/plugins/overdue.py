"""Calls of third-party parts that do not return, although the time of a training is over.

While there is a limit, such a call runs in a thread of its own, and the caller waits for it no
longer than a grace period after the end. A part that calls ``problem.callback`` never gets there.
"""

from __future__ import annotations

import ctypes
import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from typing import Any, NamedTuple, TypeVar

from textreg.plugins.inside import Inside

GRACE = 5.0
"""Least number of seconds after the end of a budget that a call may take."""

SHARE = 0.5
"""The same as a share of the budget; the longer of the two counts."""

T = TypeVar("T")


class OverdueError(Exception):
    """A call has not returned in time; its text says for how long."""


class Limit(NamedTuple):
    """deadline: as ``time.monotonic()`` counts. budget: the seconds before it."""

    deadline: float
    budget: float

    @property
    def grace(self) -> float:
        """Seconds after the deadline that a call may take."""
        return max(GRACE, SHARE * self.budget)


_limit: ContextVar[Limit | None] = ContextVar("textreg_limit", default=None)


@contextmanager
def limited(deadline: float, budget: float | None) -> Iterator[None]:
    """Limit the calls of third-party parts in here; nothing is limited without a budget.

    Threads need a copy of the context to know of it.
    """
    if budget is None or math.isinf(deadline):
        yield
        return
    token = _limit.set(Limit(deadline, budget))
    try:
        yield
    finally:
        _limit.reset(token)


def in_time(call: Callable[..., T], *arguments: Any) -> T:
    """``call(*arguments)``; OverdueError if it has not returned when a limit has passed.

    What cannot be stopped from outside, such as a loop in C, goes on in the background.
    """
    limit = _limit.get()
    if limit is None:
        return call(*arguments)
    result: list[T] = []
    raised: list[BaseException] = []

    def work() -> None:
        try:
            with Inside():
                result.append(call(*arguments))
        except BaseException as error:  # noqa: BLE001  # it is the caller's to handle
            raised.append(error)

    thread = threading.Thread(target=copy_context().run, args=(work,), daemon=True)
    thread.start()
    try:
        thread.join(max(0.0, limit.deadline - time.monotonic()) + limit.grace)
    finally:
        if thread.is_alive():
            _stop(thread)
    if raised:
        raise raised[0]
    if not result:
        raise OverdueError(
            f"has not returned {limit.grace:g} s after the budget of {limit.budget:g} s ended"
        )
    return result[0]


def _stop(thread: threading.Thread) -> None:
    """Raise SystemExit in a thread as soon as it runs Python code again."""
    ident = ctypes.c_ulong(thread.ident or 0)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ident, ctypes.py_object(SystemExit))
