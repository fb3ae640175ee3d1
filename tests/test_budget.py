"""A budget of time: kept by a clock that only moves when a test says so."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from conftest import Cli

import textreg
from textreg.builtin.separable import Lasso
from textreg.demo import write_demo
from textreg.errors import ConvergenceWarning, UsageError
from textreg.records import Problem, Solution
from textreg.training import running, search
from textreg.training.running import Work
from textreg.training.space import parse_seconds
from textreg.training.splits import Split

TEXTS = ["good kettle", "fine lamp", "bad kettle", "poor lamp"] * 10
LABELS = ["pos", "pos", "neg", "neg"] * 10


class Clock:
    """Stands in for the module ``time``."""

    now = 1000.0

    def monotonic(self) -> float:
        return self.now

    perf_counter = monotonic


class Slow(Lasso):
    """A lasso of which every fit takes a while."""

    name = "slow"
    clock: Clock
    takes = 1.0

    def solve(self, problem: Problem) -> Solution:
        self.clock.now += self.takes
        return super().solve(problem)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> type[Slow]:
    class Fresh(Slow):
        clock = Clock()

    for module in ("running", "search", "train", "trials", "prepare"):
        monkeypatch.setattr(f"textreg.training.{module}.time", Fresh.clock)
    return Fresh


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        (90, 90.0),
        (0.5, 0.5),
        ("90", 90.0),
        ("90s", 90.0),
        ("1.5 M", 90.0),
        ("2min", 120.0),
        ("1h", 3600.0),
    ],
)
def test_times_are_read(given: float | str, seconds: float) -> None:
    assert parse_seconds(given) == seconds


@pytest.mark.parametrize("given", ["0", -1, "", "s", "1x", "1 ms", "inf", "nan", True])
def test_times_that_are_none(given: Any) -> None:
    with pytest.raises(UsageError, match="a time above 0, such as 90s, 5m or 2h"):
        textreg.train(TEXTS, LABELS, reg="lasso", budget=given)


def test_the_search_ends_in_time_for_the_final_fit(slow: type[Slow]) -> None:
    begin = slow.clock.now
    options = {"tokenizer": "words", "intercept": "fitted", "calibrate": "none", "holdout": 0.1}
    with pytest.warns(ConvergenceWarning, match="budget of 7 s is used up: the best of 3 of 9 set"):
        model = textreg.train(TEXTS, LABELS, reg=slow(), budget="7s", **options)
    # Three that count, one that was stopped, and the final fit; 3 x 1.1 s were left for that.
    assert slow.clock.now - begin == 5
    assert model.summary.interrupted == "search"
    assert model.summary.converged
    assert (model.summary.budget, model.summary.planned) == (7.0, 9)
    assert len(model.summary.search) == 3


def test_more_is_left_for_more_fits(slow: type[Slow]) -> None:
    """Those of three parts, or five that are cut for it, from which probabilities are learned."""
    begin = slow.clock.now
    with pytest.warns(ConvergenceWarning, match="the best of 3 of 9 settings"):
        textreg.train(TEXTS, LABELS, reg=slow(), tokenizer="words", budget=12, holdout=0.1)
    # Three that count, one that was stopped, the final fit, and those of five parts.
    assert slow.clock.now - begin == 10
    begin = slow.clock.now
    with pytest.warns(ConvergenceWarning, match="the best of 3 of 9 settings"):
        textreg.train(
            TEXTS, LABELS, reg=slow(), tokenizer="words", budget=17, cv=3, calibrate="temperature"
        )
    # Probabilities are learned from the fits of the search.
    assert slow.clock.now - begin <= 17


def test_enough_time_changes_nothing(slow: type[Slow]) -> None:
    how = {"tokenizer": "words", "cv": 2}
    model = textreg.train(TEXTS, LABELS, reg=slow(), budget=60, **how)
    free = textreg.train(TEXTS, LABELS, reg=slow(), **how)
    assert model.summary.interrupted is None
    assert model.summary.search == free.summary.search
    assert (model.weights.tobytes(), free.summary.budget) == (free.weights.tobytes(), None)


def test_a_final_fit_that_takes_too_long_is_cut_short(slow: type[Slow]) -> None:
    slow.takes = 10
    with pytest.warns(ConvergenceWarning, match="budget of 5 s is used up: the model is the best"):
        model = textreg.train(TEXTS, LABELS, reg=slow(l1=1e-4), budget=5)
    assert model.summary.interrupted == "fit"


def test_too_little_time(slow: type[Slow]) -> None:
    slow.takes = 3
    with pytest.raises(UsageError, match=r"after 3.0 s no setting .* the budget of 2 s"):
        textreg.train(TEXTS, LABELS, reg=slow(), tokenizer="words", budget=2, holdout=0.1)


def test_what_contradicts() -> None:
    with pytest.raises(UsageError, match="leave out path or the budget"):
        textreg.train(TEXTS, LABELS, reg="lasso", budget=2, path=True)


def test_the_command_line(tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_demo("demo", train=100)
    done = cli("train", "demo/train.jsonl", "--reg", "lasso", "--budget", "1h", "--json")
    assert json.loads(done.out)["budget"] == 3600
    done = cli("train", "demo/train.jsonl", "--budget", "1ns", "-o", "other.textreg")
    assert (done.code, done.out) == (2, "")
    assert "not '1ns'" in done.err
    done = cli("train", "demo/train.jsonl", "--budget", "0.001s", "-o", "other.textreg")
    assert done.code == 2
    assert "within the budget of 0.001 s" in done.err
    assert not Path("other.textreg").exists()


def test_a_run_stops_before_its_reserve(slow: type[Slow]) -> None:
    seen: list[tuple[str, int, int]] = []
    clock = slow.clock
    run = Work(3, lambda *at: seen.append(at), deadline=clock.now + 10).run("fit", 4)
    assert (run.remaining, run.stopped) == (10.0, None)
    run.advance(2, 3.0)
    run.advance(seconds=1.0)  # the slowest fit stays that of 3 s
    assert seen == [("fit", 1, 4), ("fit", 2, 4), ("fit", 3, 4)]
    run.reserve = lambda slowest: 2.0 * slowest + 1.0
    clock.now += 3.0
    step: Any = None
    assert (run.remaining, run.stopped, run.callback(step)) == (0.0, None, False)
    clock.now += 0.25
    assert (run.remaining, run.stopped, run.callback(step)) == (-0.25, "budget", True)
    run.interrupt()
    assert run.stopped == "interrupted"
    endless = Work().run("fit", 1)
    endless.reserve = lambda slowest: float("inf")
    assert endless.stopped is None
    assert (Work().partial, running.ALONE.partial) == (True, False)
    assert [Work(3).rounds(pieces) for pieces in (0, 1, 3, 4, 6, 7)] == [0, 1, 1, 2, 2, 3]


def test_stages_are_timed_one_by_one(slow: type[Slow]) -> None:
    stages = running.Clock()
    slow.clock.now += 1.23456
    assert stages.stop("a") == 1.235
    slow.clock.now += 2.0
    assert stages.stop("b") == 2.0
    assert stages.seconds == {"a": 1.235, "b": 2.0}


def test_time_that_the_final_fit_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """3 rounds are for its tolerance; more documents, and fits that leave some out, take longer."""
    fold = SimpleNamespace(rows=[0, 1, 2])
    splits = [Split(np.arange(50), np.arange(50, 100)), Split(np.arange(80), np.arange(80, 100))]
    data = SimpleNamespace(
        rows=SimpleNamespace(shape=(100, 7)),
        folds=[fold],
        timed_folds=([fold], 0.5),
        splits=splits,
    )
    learns = [True]
    documents = SimpleNamespace(
        splits=splits,
        outside=None,
        target=SimpleNamespace(
            task=SimpleNamespace(learns_from_held_out=lambda settings: learns[0])
        ),
    )
    settings = SimpleNamespace(refit=True)
    context: Any = SimpleNamespace(
        prepared=lambda values: data, settings=settings, documents=documents
    )
    left = [splits]
    monkeypatch.setattr(search.prepare, "left_out_splits", lambda *_: left[0])

    def seconds(slowest: float = 2.0) -> float:
        return search._final_fit_seconds(context, (), Work(2))(slowest)

    # Twice the documents of the smaller split; two rounds of three labels in two threads.
    assert seconds() == 2 * 0.5 + 3 * 2 * 2 * 2.0
    assert seconds(0.0) == 1.0
    left[0] = [splits[0]] * 5
    assert seconds() == 1.0 + (12 + 5 * 2) * 2.0
    learns[0] = False
    assert seconds() == 1.0 + 12 * 2.0
    learns[0], left[0], documents.outside = True, splits, "corpus"
    assert seconds() == 1.0 + (12 + 2 * 2) * 2.0
    documents.outside, settings.refit = None, False
    assert seconds() == 0.5 + 3 * 2 * 2.0
