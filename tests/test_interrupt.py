"""Ctrl-C keeps the best so far: real signals, sent while a search or a fit is under way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Cli

import textreg
from textreg.builtin.separable import Lasso
from textreg.demo import write_demo
from textreg.errors import ConvergenceWarning
from textreg.kinds import Regularizer
from textreg.records import Problem, Solution

TEXTS = ["good kettle", "fine lamp", "bad kettle", "poor lamp"] * 10
LABELS = ["pos", "pos", "neg", "neg"] * 10


def press() -> None:
    os.kill(os.getpid(), signal.SIGINT)
    if threading.current_thread() is not threading.main_thread():
        time.sleep(0.5)  # signals are handled by the main thread, when it gets round to it


class Pressing(Lasso):
    """A lasso during whose n-th fit somebody presses Ctrl-C."""

    name = "pressing"
    calls = 0
    when: tuple[int, ...] = ()

    def solve(self, problem: Problem) -> Solution:
        type(self).calls += 1
        if type(self).calls in self.when:
            press()
        return super().solve(problem)


@pytest.fixture
def pressing() -> Iterator[type[Pressing]]:
    class Fresh(Pressing):
        calls = 0

    yield Fresh
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_search_takes_the_best_of_what_was_measured(pressing: type[Pressing], jobs: int) -> None:
    pressing.when = (4,)
    with pytest.warns(ConvergenceWarning, match=r"interrupted: the best of \d of 9 settings"):
        model = textreg.train(TEXTS, LABELS, reg=pressing(), jobs=jobs, holdout=0.1)
    assert model.summary.interrupted == "search"
    assert 1 <= len(model.summary.search) < 9
    assert model.summary.converged
    assert model.predict(["good lamp", "bad lamp"]) == ["pos", "neg"]


def test_pressed_twice_it_ends(pressing: type[Pressing]) -> None:
    pressing.when = (2, 3)

    class Deaf(pressing):  # type: ignore[misc, valid-type]
        """Goes on with its path though it was asked to stop."""

        def path(self, problem: Problem, candidates: Any = None) -> Any:
            solved = [(part, part.solve(problem)) for part in candidates]
            yield from solved

    with pytest.raises(KeyboardInterrupt):
        textreg.train(TEXTS, LABELS, reg=Deaf())


def test_pressed_before_anything_was_measured_it_ends(pressing: type[Pressing]) -> None:
    pressing.when = (1,)
    with pytest.raises(KeyboardInterrupt):
        textreg.train(TEXTS, LABELS, reg=pressing())


@pytest.mark.parametrize(
    ("reg", "params"),
    [
        ("lasso", {"l1": 1e-4}),
        ("ridge", {"l2": 1e-4}),
        ("sentence", {"group": 1e-3, "l1": 1e-3}),
        ("sentence", {"group": 1e-3, "l1": 1e-3, "solver": "admm"}),
        ("network", {"alpha": 0.1, "beta": 1e-4}),
        ("omp", {"budget": 12, "l2": 0.01}),
        ("stagewise", {"steps": 100_000, "epsilon": 1e-3}),
    ],
    ids=lambda case: str(case)[:40],
)
def test_every_solver_stops_when_it_is_asked_to(reg: str, params: dict[str, Any]) -> None:
    """The callback's True ends it at once, with weights that are worth having."""
    from textreg.builtin.graph_builders import Cooccurrence
    from textreg.builtin.group_builders import Sentences
    from textreg.builtin.tokenizers import Words
    from textreg.features.vectorize import Vectorizer
    from textreg.plugins import registry

    write = [
        f"{a} {b} kettle. {b} {c} lamp." for a in "good bad".split() for b in "xyz" for c in "uvw"
    ]
    features = Vectorizer(weighting="count", ngrams=1).fit(Words(), write)
    asked = []

    def stop(step: Any) -> bool:
        asked.append(step)
        return True

    problem = Problem(
        X=features.X,
        y=np.repeat([1.0, -1.0], 9),
        groups=Sentences().build(features.tokens),
        graph=Cooccurrence(neighbors=3, threshold=0.0).build(features.tokens),
        tol=1e-12,
        callback=stop,
    )
    part: Regularizer = registry.create("regularizer", reg, **params)
    solution = part.solve(problem)
    assert len(asked) == 1
    assert not solution.converged
    assert np.isfinite(solution.w).all()
    assert np.isfinite(solution.objective)


def test_the_command_line_keeps_the_model(
    tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_demo("demo")
    seen = []
    solve = Lasso.solve

    def slow(self: Lasso, problem: Problem) -> Solution:
        seen.append(self.l1)
        if len(seen) == 3:
            press()
        return solve(self, problem)

    monkeypatch.setattr(Lasso, "solve", slow)
    words = "train", "demo/train.jsonl", "--reg", "lasso", "--holdout", 0.1, "--jobs", 1, "--json"
    done = cli(*words)
    assert done.code == 0, done.err
    assert "interrupted: the best of 2 of 9 settings" in done.err
    assert json.loads(done.out)["interrupted"] == "search"
    assert Path("train.textreg").is_file()


PLUGIN = """
import threading
import numpy as np
from textreg.builtin.separable import Lasso
from textreg.builtin.tokenizers import Words
from textreg.hookspecs import hookimpl

def begin():
    open("began", "w").close()

class Endless(Lasso):
    name = "endless"

    def solve(self, problem):
        begin()
        while True:
            pass

class Deaf(Lasso):
    name = "deaf"

    def solve(self, problem):
        while True:
            try:
                begin()
                while True:
                    pass
            except BaseException:
                pass

class Compiled(Lasso):
    name = "compiled"

    def solve(self, problem):
        A = np.random.default_rng(0).normal(size=(6000, 6000))
        threading.Timer(0.5, begin).start()  # when it is there, not on the way
        np.linalg.eigh(A)

class EndlessWords(Words):
    name = "endless-words"

    def encode(self, texts, *, spans=False):
        begin()
        while True:
            pass

@hookimpl
def textreg_regularizers():
    return [Endless, Deaf, Compiled]

@hookimpl
def textreg_tokenizers():
    return [EndlessWords]
"""


class Running:
    """A command in a process of its own, and what it says on standard error."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self._began = folder / "began"
        (folder / "plugin.py").write_text(PLUGIN)
        rows = [{"label": y, "text": x} for x, y in zip(TEXTS, LABELS, strict=True)]
        (folder / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        self._process = subprocess.Popen(
            [sys.executable, "-m", "textreg", "--plugin", "plugin.py", *arguments],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        while not self._began.exists():
            assert self._process.poll() is None, self._process.communicate()
            time.sleep(0.01)

    def press(self) -> None:
        self._process.send_signal(signal.SIGINT)

    def acknowledged(self) -> bool:
        """Whether the next line says so; waits for it."""
        assert self._process.stderr is not None
        while not (line := self._process.stderr.readline()).strip():
            pass
        return line == "Stopping after the present fit. Press Ctrl-C again to end now.\n"

    def ended(self) -> str:
        """The rest of standard error, after the process has died of Ctrl-C."""
        out, err = self._process.communicate(timeout=60)
        assert self._process.returncode == -signal.SIGINT, (out, err)
        return err.lstrip()


TRAIN = ["train", "corpus.jsonl", "--quiet", "--ngrams", "1", "-o", "model.textreg"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("options", [[], ["--cv", "2"], ["--budget", "1h"]], ids=str)
def test_in_the_loop_of_a_plugin(tmp_path: Path, jobs: str, options: list[str]) -> None:
    running = Running(tmp_path, *TRAIN, "--reg", "endless", "--jobs", jobs, *options)
    running.press()
    assert running.acknowledged()
    running.press()
    said = "Interrupted in solve of regularizer 'endless' of plugin.py. No file was left incomplete"
    assert running.ended().startswith(said)
    assert not (tmp_path / "model.textreg").exists()


def test_a_plugin_that_catches_it(tmp_path: Path) -> None:
    running = Running(tmp_path, *TRAIN, "--reg", "deaf", "--jobs", "1")
    running.press()
    assert running.acknowledged()
    for _ in range(2):
        time.sleep(0.3)
        running.press()
    assert running.ended() == ""


def test_in_compiled_code(tmp_path: Path) -> None:
    """Which Python cannot interrupt: it would take minutes."""
    running = Running(tmp_path, *TRAIN, "--reg", "compiled", "--reg-l1", "1", "--jobs", "1")
    begin = time.monotonic()
    running.press()
    assert running.acknowledged()
    running.press()
    assert running.ended() == ""
    assert time.monotonic() - begin < 20


def test_after_all_work_it_ends_the_process_unless_another_handles_it() -> None:
    code = """if True:
        import signal
        from textreg.interrupts import disown, own
        disown()
        print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)
        own()
        disown()
        print(signal.getsignal(signal.SIGINT) is signal.SIG_DFL)
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True"]


@pytest.mark.parametrize(
    "command",
    [
        ["train", "corpus.jsonl", "--tokenizer", "endless-words"],
        ["compare", "corpus.jsonl", "--reg", "endless,lasso"],
        ["groups", "corpus.jsonl", "--tokenizer", "endless-words"],
    ],
    ids=lambda command: command[0],
)
def test_at_once_where_nothing_can_be_kept(tmp_path: Path, command: list[str]) -> None:
    running = Running(tmp_path, *command)
    running.press()
    assert running.ended().startswith("Interrupted in ")


def test_the_first_is_acknowledged_in_a_program(
    pressing: type[Pressing], capfd: pytest.CaptureFixture[str]
) -> None:
    pressing.when = (4,)
    others = signal.set_wakeup_fd(-1)  # an event loop of a test before
    try:
        with pytest.warns(ConvergenceWarning, match="interrupted: the best"):
            textreg.train(TEXTS, LABELS, reg=pressing(), holdout=0.1)
        assert capfd.readouterr().err.count("Press Ctrl-C again to end now") == 1
        assert signal.set_wakeup_fd(-1) == -1
    finally:
        signal.set_wakeup_fd(others)
