"""A budget of time: kept by a clock that only moves when a test says so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli

import textreg
from textreg.builtin.separable import Lasso
from textreg.demo import write_demo
from textreg.errors import ConvergenceWarning, UsageError
from textreg.records import Problem, Solution
from textreg.training.space import parse_seconds

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
