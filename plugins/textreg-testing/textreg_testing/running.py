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
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
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

PLACES = (0.5, 0.02, 0.98, 0.25, 0.75, 0.9)
"""Where one call stands still while another one runs, as a share of the lines that it runs."""

PATIENCE = 1.0
"""Seconds after which a call goes on, for it may hold a lock that the other waits for."""

SLOW, ENOUGH = 0.8, 4.0
"""Seconds of computing: of a call that is too slow to be traced, and of all together."""

_OTHERS = frozenset(
    {"textreg", "textreg_testing", "numpy", "scipy", "sklearn", "joblib", "threadpoolctl"}
)


def in_threads(run: Run, part: Any, tasks: Sequence[Any]) -> list[list[Any]]:
    """``run(part, task)`` of all tasks, several times over, at the same time as others.

    First the last task runs in the middle of the first one, at some places of its Python code: no
    luck is needed to meet there. Then all run side by side, for code that is not Python.
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
    whole = _Lines()
    whole.run(lambda: run(part, tasks[0]))
    for place in PLACES if whole.count else ():
        if results and process_time() - begin > ENOUGH:
            break
        with ThreadPoolExecutor(1) as pool:
            other: list[Future[Any]] = []

            def meet(pool: Any = pool, other: Any = other) -> None:
                other.append(pool.submit(run, part, tasks[-1]))
                wait(other, PATIENCE)

            first = _Lines(1 + int(place * whole.count), meet).run(lambda: run(part, tasks[0]))
            if other:  # else it was not reached this time
                between = [run(part, task) for task in tasks[1:-1]]
                results.append([first, *between, other[0].result()])
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


def _in_thread(call: Callable[[], Any]) -> Any:
    """What a call gives in a thread of its own."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(call).result()


class _Lines:
    """Counts the lines that run of a plugin, and does something at one of them."""

    def __init__(self, place: int = 0, then: Callable[[], None] = lambda: None) -> None:
        self.count = 0
        self.place = place
        self.then = then

    def run(self, call: Callable[[], Any]) -> Any:
        """The call in a thread that is traced, so that this one's debugger is left alone."""

        def traced() -> Any:
            sys.settrace(self.enter)
            try:
                return call()
            finally:
                sys.settrace(None)

        return _in_thread(traced)

    def enter(self, frame: FrameType, event: str, arg: Any) -> Any:
        """Trace the frame, unless it is of textreg or of a package that all share."""
        root = frame.f_globals.get("__name__", "").partition(".")[0]
        return None if root in _OTHERS or root in sys.stdlib_module_names else self.line

    def line(self, frame: FrameType, event: str, arg: Any) -> Any:
        """Count a line."""
        if event == "line":
            self.count += 1
            if self.count == self.place:
                self.then()
        return self.line
