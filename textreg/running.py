"""Pieces of work side by side: counted, and stopped when the user asks for it."""

from __future__ import annotations

import signal
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from textreg.errors import ConvergenceWarning
from textreg.records import Step

Progress = Callable[[str, int, int], None]
"""Called as ``progress(stage, done, total)``, from any thread but never from two at once."""


class Run:
    """Counts finished fits and stops the others when the user interrupts; safe between threads.

    stopped: whether Ctrl-C was pressed. What is done by then can be used; pressed once more, it is
    a KeyboardInterrupt as ever.
    """

    def __init__(self, stage: str, total: int, progress: Progress | None) -> None:
        self._stage, self._total, self._progress = stage, total, progress
        self._done = 0
        self._lock = threading.Lock()
        self.stopped = False

    def callback(self, step: Step) -> bool:
        """For ``Problem.callback``: True once the run was stopped."""
        return self.stopped

    def expect(self, total: int) -> None:
        """Know better how many fits there will be."""
        self._total = total

    def done(self, place: int, found: Any) -> None:
        """One more setting of a chain is done: see :data:`textreg.trials.Done`."""
        self.advance()

    def advance(self) -> None:
        """One more fit is done."""
        with self._lock:
            self._done += 1
            if self._progress is not None:
                self._progress(self._stage, self._done, self._total)

    def map(self, jobs: int, call: Callable[..., Any], pieces: Sequence[tuple[Any, ...]]) -> Any:
        """``[call(*piece) for piece in pieces]`` in ``jobs`` threads, stopped by Ctrl-C.

        Warnings of solvers are left to the caller, who knows which of the fits matter.
        """
        from joblib import Parallel, delayed
        from threadpoolctl import threadpool_limits

        try:
            # One thread a piece: BLAS adds in another order when it has several.
            with self.listening(), warnings.catch_warnings(), threadpool_limits(limits=1):
                warnings.simplefilter("ignore", ConvergenceWarning)
                return Parallel(n_jobs=jobs, prefer="threads")(
                    delayed(call)(*piece) for piece in pieces
                )
        except KeyboardInterrupt:
            self.stopped = True
            raise

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Take the first Ctrl-C as a wish to stop, where nobody else listens to it."""
        usual = signal.default_int_handler
        mine = threading.current_thread() is threading.main_thread()
        if not mine or signal.getsignal(signal.SIGINT) is not usual:
            yield
            return

        def stop(number: int, frame: Any) -> None:
            self.stopped = True
            signal.signal(signal.SIGINT, usual)

        signal.signal(signal.SIGINT, stop)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, usual)
