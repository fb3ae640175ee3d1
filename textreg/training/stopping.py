"""When work ends early: Ctrl-C, and a deadline."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext

from textreg.interrupts import stopping
from textreg.records import Step


class Stopper:
    """Stops work on Ctrl-C, and a reserve of time before a deadline.

    The first Ctrl-C is acknowledged on stderr, and the work that is done can be used; a second one
    raises KeyboardInterrupt as usual. Threads may share an object.

    Parameters
    ----------
    deadline : float
        As ``time.monotonic()`` counts; infinite for none.
    listens : bool, default True
        Whether :meth:`listening` handles Ctrl-C.

    Attributes
    ----------
    interrupted : bool
        Whether the user pressed Ctrl-C.
    reserve : callable
        Seconds to keep free before the deadline, from those of the slowest fit so far.
    """

    def __init__(self, deadline: float = math.inf, *, listens: bool = True) -> None:
        self._listens = listens
        self.deadline = deadline
        self.interrupted = False
        self.reserve: Callable[[float], float] = lambda slowest: 0.0
        self._slowest = 0.0
        self._lock = threading.Lock()

    @property
    def remaining(self) -> float:
        """Seconds until the reserve is reached."""
        return self.deadline - self.reserve(self._slowest) - time.monotonic()

    @property
    def stopped(self) -> str | None:
        """Why nothing more should start: "interrupted" or "budget"; None to go on."""
        if self.interrupted:
            return "interrupted"
        # Without a deadline the clock is never read.
        return "budget" if self.deadline < math.inf and self.remaining < 0 else None

    def callback(self, step: Step) -> bool:
        """For ``Problem.callback``: True to stop."""
        return self.stopped is not None

    def note(self, seconds: float) -> None:
        """Take the time of a finished fit into account."""
        with self._lock:
            self._slowest = max(self._slowest, seconds)

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Handle Ctrl-C in the main thread, unless somebody else handles it already."""
        with stopping(self.interrupt) if self._listens else nullcontext():
            yield

    def interrupt(self) -> None:
        """Stop, as Ctrl-C does."""
        self.interrupted = True
