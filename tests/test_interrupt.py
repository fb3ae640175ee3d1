"""Ctrl-C keeps the best so far: real signals, sent while a search or a fit is under way."""

from __future__ import annotations

import json
import os
import signal
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
from textreg.demo.corpus import write_demo
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
        model = textreg.train(TEXTS, LABELS, reg=pressing(), jobs=jobs)
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
    from textreg.builtin.graphs import Cooccurrence
    from textreg.builtin.sentences import Sentences
    from textreg.builtin.words import Words
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
    done = cli("train", "demo/train.jsonl", "--reg", "lasso", "--jobs", 1, "--json")
    assert done.code == 0, done.err
    assert "interrupted: the best of 2 of 9 settings" in done.err
    assert json.loads(done.out)["interrupted"] == "search"
    assert Path("train.textreg").is_file()
