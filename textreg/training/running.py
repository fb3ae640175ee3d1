"""Fits side by side in threads: counted, and stopped early if need be."""

from __future__ import annotations

import math
import threading
import warnings
from collections.abc import Callable, Sequence
from contextvars import copy_context
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from textreg._core.threads import allowed, allowing
from textreg.errors import ConvergenceWarning, TextregError
from textreg.jobs import check_jobs, threads_of
from textreg.logs import logger
from textreg.training.blas import one_thread_in_blas
from textreg.training.stopping import Stopper

if TYPE_CHECKING:
    from textreg.training.search.cluster import Cluster

LOG = logger("training")

Progress = Callable[[str, int, int], None]
"""Called as ``progress(stage, done, total)``, from any thread but never from two at once."""


@dataclass(frozen=True)
class Work:
    """How to work, whatever there is to do.

    jobs: number of threads, -1 for one a core. progress: called as fits are done. deadline: when
    work must end, as ``time.monotonic()`` counts. cluster: solves the pieces of a search instead of
    threads. partial: whether a part of the work is of use, so that Ctrl-C lets present fits end;
    else all ends at once. UsageError for any other number of jobs.
    """

    jobs: int = 1
    progress: Progress | None = None
    deadline: float = math.inf
    cluster: Cluster | None = None
    partial: bool = True

    def __post_init__(self) -> None:
        check_jobs(self.jobs)

    def run(self, stage: str, total: int) -> Run:
        """A run of ``total`` fits."""
        return Run(
            self, Counter(stage, total, self.progress), Stopper(self.deadline, listens=self.partial)
        )

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
        return -(-pieces // self.threads)


ALONE = Work(partial=False)
"""One piece after the other, without a deadline or a report of progress."""


class Counter:
    """Counts finished fits and reports them; threads may share it.

    Attributes
    ----------
    total : int
        Number of fits that are expected; may change.
    """

    def __init__(self, stage: str, total: int, progress: Progress | None) -> None:
        self.total = total
        self._stage, self._progress = stage, progress
        self._done = 0
        self._lock = threading.Lock()

    def advance(self) -> None:
        """One more fit is done."""
        with self._lock:
            self._done += 1
            LOG.debug("%s: %d of %d fits", self._stage, self._done, self.total)
            if self._progress is not None:
                self._progress(self._stage, self._done, self.total)


@dataclass(frozen=True)
class Run:
    """Fits under way: how to work, a counter of them, and when to stop."""

    work: Work
    counter: Counter
    stopper: Stopper

    @property
    def stopped(self) -> str | None:
        """See :attr:`Stopper.stopped`."""
        return self.stopper.stopped

    def map(self, call: Callable[..., Any], pieces: Sequence[tuple[Any, ...]]) -> Any:
        """``[call(*piece) for piece in pieces]`` in threads; Ctrl-C sets :attr:`stopped`."""
        try:
            with self.stopper.listening():
                return in_threads(call, pieces, self.work.jobs)
        except KeyboardInterrupt:
            self.stopper.interrupted = True
            raise


def in_threads(call: Callable[..., Any], pieces: Sequence[tuple[Any, ...]], jobs: int) -> list[Any]:
    """``[call(*piece) for piece in pieces]``, each piece in a thread of its own.

    A ConvergenceWarning is left to the caller, who knows which of the fits matter.
    """
    causes: dict[TextregError, BaseException | None] = {}

    def keeping_cause(*piece: Any) -> Any:
        try:
            return call(*piece)
        except TextregError as error:
            causes[error] = error.__cause__
            raise

    # Limits on time hold in the threads as they do here; kernels have no further ones there.
    with allowing(allowed() if len(pieces) == 1 else 1):
        calls = [(copy_context().run, piece) for piece in pieces]
    try:
        # One thread a piece: BLAS adds in another order when it has several.
        with warnings.catch_warnings(), one_thread_in_blas():
            warnings.simplefilter("ignore", ConvergenceWarning)
            threads = min(threads_of(jobs), len(calls))
            if threads < 2:
                return [run(keeping_cause, *piece) for run, piece in calls]
            from joblib import Parallel, delayed

            parallel = Parallel(n_jobs=threads, prefer="threads")
            return list(parallel(delayed(run)(keeping_cause, *piece) for run, piece in calls))
    except TextregError as error:
        # With several threads joblib replaces the cause by a text.
        error.__cause__ = causes.get(error, error.__cause__)
        raise
