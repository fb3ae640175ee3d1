"""Work in many threads at once, as without the GIL: every thread gets the bits of one alone."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, Event
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import textreg
from textreg._core.threads import allowed, allowing
from textreg.jobs import one_thread_in_blas
from textreg.plugins.registry import Registry
from textreg.training.running import Work

THREADS = 4
TIMES = 2
TEXTS = [f"good film {n} it was. So good" if n % 3 else f"bad film, awful {n}!" for n in range(60)]
LABELS = ["pos" if n % 3 else "neg" for n in range(60)]


@pytest.fixture(autouse=True)
def often_interrupted() -> Iterator[None]:
    """With a GIL, threads take turns as often as can be."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(usual)


def at_once(work: Callable[[int], Any]) -> list[Any]:
    """What ``work(number)`` gives in threads that all begin at the same time, a few times each."""
    barrier = Barrier(THREADS)

    def thread(number: int) -> list[Any]:
        barrier.wait()
        return [work(number) for _ in range(TIMES)]

    with ThreadPoolExecutor(THREADS) as pool:
        return [result for some in pool.map(thread, range(THREADS)) for result in some]


def trained(**options: Any) -> bytes:
    model = textreg.train(TEXTS, LABELS, jobs=1, **options)
    scores = model.decision_function(TEXTS)
    return bytes(np.concatenate([scores, *model.weights]).tobytes())


@pytest.mark.parametrize(
    "options",
    [
        {"reg": "ridge", "reg_l2": 1.0, "tokenizer": "words,chars"},
        {"reg": "sentence", "reg_group": 0.1, "reg_l1": 0.1},
        {"reg": "lasso", "reg_l1": 0.1, "loss": "squared-hinge"},
    ],
    ids=lambda options: options["reg"],
)
def test_training(options: dict[str, Any]) -> None:
    assert set(at_once(lambda _: trained(**options))) == {trained(**options)}


def test_different_trainings() -> None:
    strengths = [0.01 * 2**number for number in range(THREADS)]
    alone = [trained(reg="lasso", reg_l1=strength) for strength in strengths]
    assert len(set(alone)) > 1
    found = at_once(lambda number: (number, trained(reg="lasso", reg_l1=strengths[number])))
    assert all(bits == alone[number] for number, bits in found)


def test_one_model_for_all(tmp_path: Path) -> None:
    textreg.train(TEXTS, LABELS, reg="ridge", reg_l2=1.0).save(tmp_path / "model")
    texts = [f"{text} word{n}" for n, text in enumerate(TEXTS * 5)]
    alone = textreg.load(tmp_path / "model").decision_function(texts).tobytes()
    model = textreg.load(tmp_path / "model")  # what it keeps for later is not made yet
    assert {scores.tobytes() for scores in at_once(lambda _: model.decision_function(texts))} == {
        alone
    }


def test_plugins_are_loaded_once() -> None:
    registry = Registry()
    names = registry.names("regularizer")
    found = at_once(lambda _: [registry.find("regularizer", name) for name in names])
    assert all(classes == found[0] for classes in found)


def test_the_gil_stays_off() -> None:
    if not sysconfig.get_config_var("Py_GIL_DISABLED"):
        pytest.skip("this Python has a GIL")
    trained(reg="ridge", reg_l2=1.0)
    assert not sys._is_gil_enabled()  # type: ignore[attr-defined]


def test_an_error_waits_for_the_pieces_that_run() -> None:
    run = Work(jobs=2).run("trying", 2)
    began, ended = Event(), Event()

    def piece(fails: bool) -> None:
        if fails:
            began.wait()
            raise ValueError("no")
        began.set()
        while run.stopped is None:  # as a fit does, after every step
            time.sleep(0.01)
        time.sleep(0.2)
        ended.set()

    with pytest.raises(ValueError, match="no"):
        run.map(piece, [(False,), (True,)])
    assert ended.is_set()


def test_kernels_have_threads_of_their_own_where_one_piece_runs() -> None:
    """Several pieces run beside each other, each with its share."""
    with allowing(3):
        run = Work(jobs=2).run("trying", 2)
        assert run.map(allowed, [()]) == [3]
        assert run.map(allowed, [(), ()]) == [1, 1]
        assert run.map(allowed, [()] * 4) == [1] * 4
    with allowing(6):
        assert run.map(allowed, [(), ()]) == [3, 3]


def test_blas_has_its_threads_back_after_the_last_of_several() -> None:
    def threads() -> list[int]:
        return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]

    with threadpool_limits(limits=2):
        before, first, second = threads(), one_thread_in_blas(), one_thread_in_blas()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert set(threads()) == {1}
        second.__exit__(None, None, None)
        assert threads() == before


def test_blas_that_comes_with_an_import_keeps_to_one_thread() -> None:
    """That of SciPy is loaded within a training that needs it: the first gives what others give."""
    code = """
import numpy
from threadpoolctl import threadpool_info
from textreg.jobs import one_thread_in_blas

def threads():
    return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]

before = threads()
with one_thread_in_blas():
    import scipy.linalg
    late = threads()
    with one_thread_in_blas(loaded=True):
        within = threads()
    after = threads()
print(sorted(before), sorted(late), sorted(within), sorted(after), sorted(threads()))
"""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    env = {**{key: it for key, it in os.environ.items() if key not in names}, names[0]: "2"}
    said = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    if said.stdout == "[2] [1] [1] [1] [2]\n":
        pytest.skip("NumPy and SciPy share one BLAS here")
    assert said.stdout == "[2] [1, 2] [1, 1] [1, 1] [2, 2]\n", said.stderr
