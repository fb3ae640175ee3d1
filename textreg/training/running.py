"""Pieces of work side by side: counted, and stopped when the user or the clock asks for it."""

from __future__ import annotations

import math
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from textreg.errors import ConvergenceWarning, TextregError, UsageError
from textreg.records import Step
from textreg.training.search.cluster import Cluster
from textreg.training.search.trials import Piece, Trial, Trials, solve_piece

Finished = Callable[[Piece, Trials], None]

Progress = Callable[[str, int, int], None]
"""Called as ``progress(stage, done, total)``, from any thread but never from two at once."""


def check_jobs(jobs: int) -> int:
    """The number of parallel jobs; UsageError if it is neither positive nor -1."""
    if jobs < 1 and jobs != -1:
        raise UsageError(f"jobs must be 1 or more, or -1 for one a core, not {jobs}.")
    return jobs


@dataclass(frozen=True)
class Work:
    """How work is done, whatever it is.

    jobs: pieces side by side, -1 for one a core. progress: who is told of it. deadline: when it
    must end, as ``time.monotonic()`` counts. cluster: where pieces of a search are solved, if not
    here. UsageError for any other number of jobs.
    """

    jobs: int = 1
    progress: Progress | None = None
    deadline: float = math.inf
    cluster: Cluster | None = None

    def __post_init__(self) -> None:
        check_jobs(self.jobs)

    def run(self, stage: str, total: int) -> Run:
        """So many fits, done like this."""
        return Run(stage, total, self)

    def rounds(self, pieces: int) -> int:
        """How often each worker has its turn until all pieces are done."""
        from joblib import effective_n_jobs

        return -(-pieces // int(effective_n_jobs(self.jobs)))


ALONE = Work()
"""One piece after the other, for as long as it takes, and nobody is told."""


class Run:
    """Counts finished fits and stops the others when it is time to; safe between threads.

    That is when the user presses Ctrl-C: what is done by then can be used; pressed once more, it is
    a KeyboardInterrupt as ever. And it is when the deadline of ``work`` is near.
    """

    def __init__(self, stage: str, total: int, work: Work) -> None:
        self.work = work
        self._stage, self._total = stage, total
        self._done = 0
        self._lock = threading.Lock()
        self._slowest = 0.0
        self._leave: Callable[[float], float] = lambda slowest: 0.0
        self.interrupted = False

    @property
    def late(self) -> bool:
        """Whether time is up, but for what is to be left of it."""
        # A run that may last for ever asks no clock.
        return self.work.deadline < math.inf and self.seconds < 0

    @property
    def seconds(self) -> float:
        """How long there is time, but for what is to be left of it."""
        return self.work.deadline - self._leave(self._slowest) - time.monotonic()

    @property
    def stopped(self) -> str | None:
        """Why nothing more is to be begun: "interrupted", or "budget"; None where more is."""
        if self.interrupted:
            return "interrupted"
        return "budget" if self.late else None

    def callback(self, step: Step) -> bool:
        """For ``Problem.callback``: True once the run was stopped."""
        return self.stopped is not None

    def expect(self, total: int) -> None:
        """Know better how many fits there will be."""
        self._total = total

    def leave(self, seconds: Callable[[float], float]) -> None:
        """Be late so many seconds before the deadline, which depend on those of the slowest fit."""
        self._leave = seconds

    def done(self, place: int, found: Sequence[Trial]) -> None:
        """One more setting of a chain is done: see :data:`textreg.training.search.trials.Done`."""
        with self._lock:
            self._slowest = max(self._slowest, *(trial.seconds for trial in found))
        self.advance()

    def advance(self) -> None:
        """One more fit is done."""
        with self._lock:
            self._done += 1
            if self.work.progress is not None:
                self.work.progress(self._stage, self._done, self._total)

    def solve_pieces(
        self, pieces: Sequence[Piece], finished: Finished | None = None
    ) -> list[Trials]:
        """Trials of every piece of work, for :func:`textreg.training.search.trials.solve_piece`.

        finished: told of each piece and its trials as it is done, from any thread. A cluster is
        told of no Ctrl-C, so there all the pieces are done.
        """

        def one(piece: Piece) -> Trials:
            trials = solve_piece(piece, self, self.done)
            if finished is not None:
                finished(piece, trials)
            return trials

        if self.work.cluster is None:
            return list(self.map(one, [(piece,) for piece in pieces]))
        with self.listening():
            solved = self.work.cluster.solve_pieces(pieces, self.seconds)
        for piece, trials in zip(pieces, solved, strict=True):
            for place, found in enumerate(trials):
                self.done(place, found)
            if finished is not None:
                finished(piece, trials)
        return solved

    def map(self, call: Callable[..., Any], pieces: Sequence[tuple[Any, ...]]) -> Any:
        """``[call(*piece) for piece in pieces]`` in threads, stopped by Ctrl-C.

        Warnings of solvers are left to the caller, who knows which of the fits matter.
        """
        from joblib import Parallel, delayed
        from threadpoolctl import threadpool_limits

        causes: dict[TextregError, BaseException | None] = {}

        def noting(*piece: Any) -> Any:
            try:
                return call(*piece)
            except TextregError as error:
                causes[error] = error.__cause__
                raise

        try:
            # One thread a piece: BLAS adds in another order when it has several.
            with self.listening(), warnings.catch_warnings(), threadpool_limits(limits=1):
                warnings.simplefilter("ignore", ConvergenceWarning)
                return Parallel(n_jobs=self.work.jobs, prefer="threads")(
                    delayed(noting)(*piece) for piece in pieces
                )
        except TextregError as error:
            # Where there are several threads, joblib has put a text in the place of the cause.
            error.__cause__ = causes.get(error, error.__cause__)
            raise
        except KeyboardInterrupt:
            self.interrupted = True
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
            self.interrupted = True
            signal.signal(signal.SIGINT, usual)

        signal.signal(signal.SIGINT, stop)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, usual)
