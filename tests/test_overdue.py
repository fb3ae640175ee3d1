"""Parts that do not return: a budget ends them, and the message says which."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Cli

import textreg
from textreg.builtin.separable import Lasso
from textreg.builtin.words import Words
from textreg.errors import BrokenPluginError
from textreg.losses import Logistic
from textreg.plugins import overdue
from textreg.records import Problem, Solution

TEXTS = ["good kettle", "fine lamp", "bad kettle", "poor lamp"] * 10
LABELS = ["pos", "pos", "neg", "neg"] * 10


def for_ever() -> None:
    while True:
        pass


def asleep() -> None:
    time.sleep(3600)


class Hanging(Lasso):
    name = "hanging"
    how: Any = staticmethod(for_ever)

    def solve(self, problem: Problem) -> Solution:
        self.how()
        return super().solve(problem)


class HangingLoss(Logistic):
    name = "hanging-loss"

    def value(self, z: Any, y: Any, c: Any) -> float:
        for_ever()
        return 0.0


class HangingTokenizer(Words):
    name = "hanging-words"

    def encode(self, texts: Any, *, spans: bool = False) -> Any:
        for_ever()


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overdue, "GRACE", 0.3)


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("how", [for_ever, asleep])
def test_a_solver_that_does_not_return(how: Any, jobs: int) -> None:
    class Fresh(Hanging):
        pass

    Fresh.how = staticmethod(how)
    begin = time.monotonic()
    with pytest.raises(
        BrokenPluginError,
        match=r"regularizer 'hanging' .*solve has not returned 0.3 s after the budget of 0.5 s",
    ):
        textreg.train(TEXTS, LABELS, reg=Fresh(l1=0.1), budget=0.5, jobs=jobs)
    assert time.monotonic() - begin < 20


def test_a_search_of_one() -> None:
    with pytest.raises(BrokenPluginError, match="solve has not returned"):
        textreg.train(TEXTS, LABELS, reg=Hanging(), budget=0.5, cv=2)


def test_a_loss_is_blamed_and_not_the_regularizer() -> None:
    with pytest.raises(BrokenPluginError, match=r"loss 'hanging-loss' .* solve of lasso with it"):
        textreg.train(TEXTS, LABELS, reg=Lasso(l1=0.1), loss=HangingLoss(), budget=0.5)


def test_a_tokenizer() -> None:
    with pytest.raises(BrokenPluginError, match=r"tokenizer 'hanging-words' .*encode has not ret"):
        textreg.train(TEXTS, LABELS, reg="lasso", tokenizer=HangingTokenizer(), budget=0.5)


def test_the_grace_grows_with_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    assert overdue.Limit(0.0, 3.0).grace == 5.0
    assert overdue.Limit(0.0, 600.0).grace == 300.0


def test_one_that_returns_is_as_without_a_budget() -> None:
    class Quick(Lasso):
        name = "quick"

    free, limited = (
        textreg.train(TEXTS, LABELS, reg=Quick(l1=0.01), budget=budget) for budget in (None, 60)
    )
    assert np.array_equal(free.weights, limited.weights)


def test_the_command_line(tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("texts.tsv").write_text(
        "label\ttext\n" + "".join(f"{a}\t{b}\n" for a, b in zip(LABELS, TEXTS, strict=True))
    )
    Path("hangs.py").write_text(
        "from textreg.builtin.separable import Lasso\n"
        "from textreg.hookspecs import hookimpl\n"
        "class Hangs(Lasso):\n"
        "    name = 'hangs'\n"
        "    def solve(self, problem):\n"
        "        while True:\n"
        "            pass\n"
        "@hookimpl\n"
        "def textreg_regularizers():\n"
        "    return [Hangs]\n"
    )
    done = cli("--plugin", "hangs.py", "train", "texts.tsv", "--reg", "hangs", "--budget", "0.5s")
    assert (done.code, "Traceback" in done.err) == (1, False)
    assert "solve has not returned 0.3 s after the budget of 0.5 s ended" in done.err
