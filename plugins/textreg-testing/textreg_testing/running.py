"""Doing the same again: with other copies, in threads, and in a fresh interpreter."""

from __future__ import annotations

import json
import os
import pickle
import random
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event
from time import process_time
from types import FrameType
from typing import Any, TypeVar

import numpy as np

from textreg.errors import DataWarning
from textreg.kinds import Plugin
from textreg_testing.checks import Skipped, fail

_SEED = 271828

P = TypeVar("P", bound=Plugin)
Run = Callable[[Any, Any], Any]
"""A function of a part and a task, at the top of a module, so that it can be sent elsewhere."""

_SERVE = """
import os, pickle, sys
out = os.fdopen(os.dup(1), "wb")
os.dup2(2, 1)  # what a plugin prints is no answer
run, part, tasks = pickle.loads(sys.stdin.buffer.read())
try:
    part = pickle.loads(part)
except Exception as error:
    answer = "absent", f"{type(error).__name__}: {error}"
else:
    answer = "done", [run(part, task) for task in tasks]
pickle.dump(answer, out)
"""


def copies(part: P) -> dict[str, P]:
    """The same part made anew in the ways in which textreg does so."""
    parameters = json.loads(json.dumps(part.params()))
    return {
        "one made from its parameters": type(part)(**parameters),
        "a pickled copy": pickle.loads(pickle.dumps(part)),
    }


@contextmanager
def own_numbers(what: str) -> Iterator[None]:
    """ContractError if the generators of random numbers that all code shares are used."""
    state, numbers = random.getstate(), np.random.get_state()
    # A state that nobody leaves behind: who seeds them himself comes to his own again.
    random.seed(_SEED)
    np.random.seed(_SEED)
    before = _shared_generators()
    try:
        yield
        used = _shared_generators() != before
    finally:
        random.setstate(state)
        np.random.set_state(numbers)
    if used:
        fail(
            f"{what} without the random numbers of the whole process",
            "a call of random or numpy.random. Draw from numpy.random.default_rng(self.seed), "
            "with a declared seed",
        )


def _shared_generators() -> tuple[Any, ...]:
    kind, keys, *rest = np.random.get_state()
    return random.getstate(), kind, keys.tobytes() if isinstance(keys, np.ndarray) else keys, *rest


def elsewhere(run: Run, part: Any, tasks: Sequence[Any]) -> list[Any]:
    """``run(part, task)`` of all tasks in a fresh interpreter, which hashes texts in another way.

    Raises Skipped where the class of the part is not found there, as that of a notebook.
    """
    seed = os.environ.get("PYTHONHASHSEED", "random")
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "PYTHONHASHSEED": "2" if seed == "1" else "1",
    }
    try:
        sent = pickle.dumps((run, pickle.dumps(part), list(tasks)))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise Skipped(f"its class cannot be sent to another process ({error})") from None
    done = subprocess.run(
        [sys.executable, "-c", _SERVE],
        input=sent,
        env=environment,
        capture_output=True,
        check=False,
    )
    if done.returncode:
        told = done.stderr.decode(errors="replace").strip().splitlines()
        fail("the same in a fresh interpreter", told[-1] if told else f"exit {done.returncode}")
    state, answer = pickle.loads(done.stdout)
    if state == "absent":
        raise Skipped(f"a fresh interpreter does not find its class ({answer})")
    results: list[Any] = answer
    return results


THREADS = 3
"""Calls at one time."""

PLACES = ((0.5, 1.0), (0.5, 0.02), (0.02, 1.0), (0.98, 1.0), (0.25, 0.5), (0.75, 1.0), (0.9, 0.1))
"""Where one call stands still, as a share of the lines it runs, while another one begins; and where
that one stands still until the first has ended: 1 is its end, so that it runs as a whole."""

PATIENCE = 1.0
"""Seconds after which a call goes on, for it may hold a lock that the other waits for."""

SLOW, ENOUGH = 0.8, 4.0
"""Seconds of computing: of a call that is too slow to be traced, and of all together."""

_OTHERS = frozenset(
    {"textreg", "textreg_testing", "numpy", "scipy", "sklearn", "joblib", "threadpoolctl"}
)


def in_threads(run: Run, part: Any, tasks: Sequence[Any]) -> list[list[Any]]:
    """``run(part, task)`` of all tasks, several times over, at the same time as others.

    First the last task is begun in the middle of the first one, at some places of its Python code,
    and ends before that one or after it: no luck is needed to meet there. Then all run side by
    side, for code that is not Python.
    """
    with warnings.catch_warnings():
        # What threads do to the filters themselves ends in any order.
        warnings.simplefilter("ignore", DataWarning)
        return [*_in_the_middle(run, part, tasks), *_side_by_side(run, part, tasks)]


def _in_the_middle(run: Run, part: Any, tasks: Sequence[Any]) -> list[list[Any]]:
    begin = process_time()
    run(part, tasks[0])
    results: list[list[Any]] = []
    if process_time() - begin > SLOW:
        return results
    lines = [_count(run, part, task) for task in (tasks[0], tasks[-1])]
    for places in PLACES if all(lines) else ():
        if results and process_time() - begin > ENOUGH:
            break
        stop, pause = (1 + int(place * count) for place, count in zip(places, lines, strict=True))
        other = _Other(lambda at: _traced(at, run, part, tasks[-1]), pause)
        try:
            first = _traced(_Lines(stop, other.begin), run, part, tasks[0])
        finally:
            other.first_ended.set()
        results.append([first, *(run(part, task) for task in tasks[1:-1]), other.result()])
    return results


def _side_by_side(run: Run, part: Any, tasks: Sequence[Any]) -> list[list[Any]]:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(THREADS) as pool:
            turns = [[pool.submit(run, part, task) for task in tasks] for _ in range(THREADS)]
            return [[call.result() for call in turn] for turn in turns]
    finally:
        sys.setswitchinterval(interval)


class _Lines:
    """Counts the lines that run of a plugin, and does something at one of them."""

    def __init__(self, place: int = 0, then: Callable[[], None] = lambda: None) -> None:
        self.count = 0
        self.place = place
        self.then = then

    def enter(self, frame: FrameType, event: str, arg: Any) -> Any:
        """Trace the frame, unless it is of textreg or of a package that all share."""
        root = frame.f_globals.get("__name__", "").partition(".")[0]
        return None if root in _OTHERS or root in sys.stdlib_module_names else self.line

    def line(self, frame: FrameType, event: str, arg: Any) -> Any:
        if event == "line":
            self.count += 1
            if self.count == self.place:
                self.then()
        return self.line


class _Other:
    """A call in a thread of its own, which may stand still until another one has ended."""

    def __init__(self, call: Callable[[_Lines], Any], pause: int) -> None:
        self.call = call
        self.lines = _Lines(pause, self.stand_still)
        self.pool = ThreadPoolExecutor(1)
        self.done: Future[Any] | None = None
        self.stands_still = Event()
        self.first_ended = Event()

    def begin(self) -> None:
        """Begin, and wait for a while until it stands still, or has ended without that."""
        self.done = self.pool.submit(self.call, self.lines)
        self.done.add_done_callback(lambda _: self.stands_still.set())
        self.pool.shutdown(wait=False)
        self.stands_still.wait(PATIENCE)

    def stand_still(self) -> None:
        """Wait for a while until the first has ended."""
        self.stands_still.set()
        self.first_ended.wait(PATIENCE)

    def result(self) -> Any:
        """What the call gives."""
        if self.done is None:  # it was not reached this time
            return self.call(_Lines())
        return self.done.result()


def _count(run: Run, part: Any, task: Any) -> int:
    lines = _Lines()
    _traced(lines, run, part, task)
    return lines.count


def _traced(lines: _Lines, run: Run, part: Any, task: Any) -> Any:
    """``run(part, task)`` in a thread that is traced, so that this one's debugger is left alone."""

    def call() -> Any:
        sys.settrace(lines.enter)
        try:
            return run(part, task)
        finally:
            sys.settrace(None)

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(call).result()
