"""Fits side by side in threads: counted, timed, and stopped early by Ctrl-C or a deadline."""

from __future__ import annotations

import math
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from typing import Any
from weakref import WeakKeyDictionary

from textreg import errors, interrupts, kinds, terminal
from textreg._core.threads import allowed, allowing
from textreg.jobs import check_jobs, one_thread_in_blas, threads_of
from textreg.records import Step

LOG = terminal.logger("training")

# Called as `progress(stage, done, total)`, from any thread but never from two at once.
Progress = Callable[[str, int, int], None]

STAGES = {
    "features": "extracting features",
    "search": "searching hyperparameters",
    "fit": "fitting",
    "path": "fitting the path",
    "report": "fitting for the report",
    "labels": "judging labels",
    "cells": "training",
}


@contextmanager
def bars(console: Any) -> Iterator[Progress]:
    """A progress bar for each stage, on a console of rich, until the work ends."""
    from rich import progress

    with progress.Progress(console=console, transient=True) as shown:
        tasks: dict[str, Any] = {}

        def report(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = shown.add_task(STAGES.get(stage, stage), total=total)
            shown.update(tasks[stage], completed=done, total=total)

        yield report


def notebook_bars() -> AbstractContextManager[Progress | None]:
    """The same in a notebook that has widgets (ipywidgets); else None."""
    if "ipykernel" in sys.modules and find_spec("rich") and find_spec("ipywidgets"):
        from rich.console import Console

        if (console := Console()).is_jupyter:
            return bars(console)
    return nullcontext()


@dataclass(frozen=True)
class Work:
    """How to work, whatever there is to do.

    jobs: number of threads, -1 for one a core. progress: called as fits are done. deadline: when
    work must end, as ``time.monotonic()`` counts. workers: of a backend, who solve the pieces of a
    search if they are elsewhere; sent: handles of what they have. partial: whether a part of the
    work is of use, so that Ctrl-C lets present fits end; else all ends at once. UsageError for any
    other number of jobs.
    """

    jobs: int = 1
    progress: Progress | None = None
    deadline: float = math.inf
    workers: kinds.Workers | None = None
    partial: bool = True
    sent: WeakKeyDictionary[Any, Any] = field(default_factory=WeakKeyDictionary, repr=False)

    def __post_init__(self) -> None:
        check_jobs(self.jobs)

    def run(self, stage: str, total: int) -> Run:
        """A run of ``total`` fits."""
        return Run(self, stage, total)

    def report(self, stage: str, done: int, total: int) -> None:
        """Report progress, if anybody listens."""
        if self.progress is not None:
            self.progress(stage, done, total)

    @property
    def threads(self) -> int:
        """The number of threads."""
        return threads_of(self.jobs)

    def rounds(self, pieces: int) -> int:
        """How many pieces the busiest thread works on."""
        # ceil(pieces / threads)
        return -(-pieces // self.threads)


# One piece after the other, without a deadline or a report of progress.
ALONE = Work(partial=False)


class Run:
    """Fits under way: how to work, how many are done, and when to stop; threads may share it.

    It stops on Ctrl-C, and a reserve of time before the deadline. The first Ctrl-C is acknowledged
    on stderr, and the work that is done can be used; a second one raises KeyboardInterrupt as
    usual.

    Attributes
    ----------
    total : int
        Number of fits that are expected; may change.
    interrupted : bool
        Whether the user pressed Ctrl-C.
    reserve : callable
        Seconds to keep free before the deadline, from those of the slowest fit so far.
    """

    def __init__(self, work: Work, stage: str, total: int) -> None:
        self.work, self.total = work, total
        self.interrupted = False
        self.reserve: Callable[[float], float] = lambda slowest: 0.0
        self._stage, self._done = stage, 0
        self._slowest = 0.0
        self._lock = threading.Lock()

    def advance(self, fits: int = 1, seconds: float = 0.0) -> None:
        """So many more fits are done, of which the slowest took so long."""
        for _ in range(fits):
            with self._lock:
                self._done += 1
                self._slowest = max(self._slowest, seconds)
                LOG.debug("%s: %d of %d fits", self._stage, self._done, self.total)
                self.work.report(self._stage, self._done, self.total)

    @property
    def remaining(self) -> float:
        """Seconds until the reserve is reached."""
        # Nothing begins that would leave no time for what must follow.
        return self.work.deadline - self.reserve(self._slowest) - time.monotonic()

    @property
    def stopped(self) -> str | None:
        """Why nothing more should start: "interrupted" or "budget"; None to go on."""
        if self.interrupted:
            return "interrupted"
        # Without a deadline the clock is never read.
        return "budget" if self.work.deadline < math.inf and self.remaining < 0 else None

    def callback(self, step: Step) -> bool:
        """For ``Problem.callback``: True to stop."""
        return self.stopped is not None

    def listening(self) -> AbstractContextManager[None]:
        """Handle Ctrl-C in the main thread, unless somebody else handles it already."""
        return interrupts.stopping(self.interrupt) if self.work.partial else nullcontext()

    def interrupt(self) -> None:
        """Stop, as Ctrl-C does."""
        self.interrupted = True

    def map(self, call: Callable[..., Any], pieces: Sequence[tuple[Any, ...]]) -> list[Any]:
        """``[call(*piece) for piece in pieces]``, each piece in a thread of its own.

        Ctrl-C sets :attr:`stopped`, and so does an error, for the pieces that still run. A
        ConvergenceWarning is left to the caller, who knows which of the fits matter.
        """
        # Limits on time hold in the threads as they do here; pieces divide those of kernels.
        with allowing(max(1, allowed() // max(1, len(pieces)))):
            calls = [partial(copy_context().run, call, *piece) for piece in pieces]
        threads = min(self.work.threads, len(calls))  # no thread without work
        try:
            # One thread a piece: BLAS adds in another order when it has several.
            with self.listening(), warnings.catch_warnings(), one_thread_in_blas():
                warnings.simplefilter("ignore", errors.ConvergenceWarning)
                return [run() for run in calls] if threads < 2 else self._shared(calls, threads)
        except BaseException:
            self.interrupted = True
            raise

    def _shared(self, calls: Sequence[Callable[[], Any]], threads: int) -> list[Any]:
        """The results of calls in threads, or the first error, when what still runs has stopped."""
        from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait

        pool, patient = ThreadPoolExecutor(threads), True
        try:
            futures = [pool.submit(call) for call in calls]
            left = {*futures}
            while left:  # by turns, as on Windows a signal does not wake a thread that waits
                done, left = wait(left, 0.1, FIRST_EXCEPTION)
                for future in done:
                    future.result()
            return [future.result() for future in futures]
        except BaseException as error:
            self.interrupted, patient = True, not isinstance(error, KeyboardInterrupt)
            raise
        finally:
            # A piece that outlives the command would put back the streams it found, which are gone.
            pool.shutdown(wait=patient, cancel_futures=True)


class Clock:
    """Measures stages that follow each other."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._began = time.perf_counter()

    def stop(self, stage: str) -> float:
        """The seconds of the stage that ends now; the next one begins."""
        now = time.perf_counter()
        self.seconds[stage] = round(now - self._began, 3)
        self._began = now
        return self.seconds[stage]
