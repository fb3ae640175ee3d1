"""Doing the same again: with other copies, in threads, and in a fresh interpreter."""

from __future__ import annotations

import json
import os
import pickle
import random
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np

from textreg.kinds import Plugin
from textreg.testing.checks import Skipped, fail

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
