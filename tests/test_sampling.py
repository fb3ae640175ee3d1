"""Search by Optuna: reproducible, whatever the number of jobs, and quiet."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli, plain

import textreg
from textreg.builtin.separable import Lasso
from textreg.demo.corpus import write_demo
from textreg.errors import ConvergenceWarning, UsageError
from textreg.kinds import Regularizer
from textreg.params import AUTO, param
from textreg.records import Problem, Solution
from textreg.training.search.sampling import _costs
from textreg.training.search.selection import MeasuredSetting

pytest.importorskip("optuna")

TEXTS = ["good kettle", "fine lamp", "bad kettle", "poor lamp"] * 10
LABELS = ["pos", "pos", "neg", "neg"] * 10


def test_the_number_of_jobs_changes_nothing() -> None:
    options: dict[str, Any] = {"reg": "elastic", "search": "tpe", "trials": 10, "cv": 3}
    options["search_space"] = {"weighting": ["log", "tfidf"]}
    one = textreg.train(TEXTS, LABELS, **options)
    many = textreg.train(TEXTS, LABELS, jobs=3, **options)
    assert plain(one) == plain(many)
    assert one.weights.tobytes() == many.weights.tobytes()
    assert len(one.summary.search) == one.summary.planned == 10
    other = textreg.train(TEXTS, LABELS, seed=1, **options)
    assert other.summary.search != one.summary.search


def test_prices_lie_between_the_ends_of_the_grid() -> None:
    grid = textreg.train(TEXTS, LABELS, reg="elastic").summary.search
    drawn = textreg.train(TEXTS, LABELS, reg="elastic", search="tpe", trials=30).summary.search
    for name in ("l1", "l2"):
        ends = [one.params[name] for one in grid]
        values = [one.params[name] for one in drawn]
        assert min(ends) <= min(values) < max(values) <= max(ends)
        assert len(set(values)) > len(set(ends))


class Spotty(Regularizer):
    """Good at one penalty strength, which is not on the grid, and bad at the others."""

    name = "spotty"
    far: float = param(default=AUTO, search=Lasso.declared()["l1"].search, help="how far")

    def scale(self, problem: Problem, parameter: str) -> float:
        return 1.0

    def solve(self, problem: Problem) -> Solution:
        w = problem.X.T @ problem.y / (1.0 + abs(self.far - 0.15) * 100)
        return Solution(w=w, b=0.0, objective=0.0, converged=True)


def test_it_goes_where_it_is_good() -> None:
    options: dict[str, Any] = {"reg": Spotty, "metric": "log-loss", "search": "tpe"}
    summary = textreg.train(TEXTS, LABELS, **options).summary
    tried = [one.params["far"] for one in summary.search]
    early, late = tried[:10], tried[-10:]
    assert sum(0.1 < far < 0.2 for far in late) > sum(0.1 < far < 0.2 for far in early)
    assert summary.reg.params["far"] == pytest.approx(0.15, abs=0.01)


def test_whole_numbers_and_named_values() -> None:
    space = {"reg_l2": ["0.1", "0.01"], "ngrams": [1, 2]}
    summary = textreg.train(
        TEXTS, LABELS, reg="omp", search="tpe", trials=9, search_space=space
    ).summary
    assert {one.params["l2"] for one in summary.search} <= {0.1, 0.01}
    assert all(type(one.params["budget"]) is int for one in summary.search)
    # Drawn twice, a setting is measured once.
    settings = [json.dumps([one.settings, one.params]) for one in summary.search]
    assert len(set(settings)) == len(settings) <= 9


def test_models_that_are_too_large_are_avoided() -> None:
    def point(value: float, nonzero: float) -> MeasuredSetting:
        return MeasuredSetting(Lasso(l1=1.0), {"accuracy": value}, nonzero, ())

    points = [point(0.9, 100), point(0.95, 200), point(0.5, 0)]
    assert _costs(points, "accuracy", None) == [-0.9, -0.95, -0.5]
    fine, large, empty = _costs(points, "accuracy", 100)
    assert (fine, empty) == (-0.9, -0.5)
    assert large == pytest.approx(-0.95 + 0.693147)


def test_it_goes_on_from_a_journal(tmp_path: Path) -> None:
    options: dict[str, Any] = {"reg": "lasso", "search": "tpe", "trials": 8}
    options["resume"] = tmp_path / "search.journal"
    first = textreg.train(TEXTS, LABELS, **options)
    lines = options["resume"].read_bytes()
    again = textreg.train(TEXTS, LABELS, **options)
    assert options["resume"].read_bytes() == lines
    assert plain(again) == plain(first)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"search": "grid", "trials": 5}, "trials is for search 'tpe'"),
        ({"search": "tpe", "trials": 0}, "trials must be at least 1, not 0"),
        ({"search": "tpes"}, "Did you mean 'tpe'"),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        textreg.train(TEXTS, LABELS, reg="lasso", **options)


def test_without_optuna(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(UsageError, match=r"needs optuna .*pip install 'textreg\[tune\]'"):
        textreg.train(TEXTS, LABELS, reg="lasso", search="tpe")


def test_an_interrupt_ends_it() -> None:
    class Slow(Lasso):
        name = "slow"
        calls = 0

        def solve(self, problem: Problem) -> Solution:
            Slow.calls += 1
            if Slow.calls == 6:
                raise_signal()
            return super().solve(problem)

    with pytest.warns(ConvergenceWarning, match="interrupted: the best of 5 of 40 settings"):
        textreg.train(TEXTS, LABELS, reg=Slow, search="tpe")


def raise_signal() -> None:
    import signal

    signal.raise_signal(signal.SIGINT)


def test_the_command_line(tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_demo("demo")
    done = cli(
        "train", "demo/train.jsonl", "--reg", "lasso", "--search", "tpe", "--trials", 6, "--json"
    )
    assert (done.code, done.err) == (0, "")
    assert len(json.loads(done.out)["search"]) == 6
