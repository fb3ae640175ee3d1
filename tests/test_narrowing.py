"""Large grids are narrowed down to where they are best, and end at the best."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import textreg
from textreg.builtin.separable import Elastic
from textreg.errors import UsageError
from textreg.kinds import Regularizer
from textreg.params import AUTO, Choices, param
from textreg.records import Problem, Solution
from textreg.training.search import Lattice, promising
from textreg.training.space import Tuning
from textreg.training.trials import MeasuredSetting

TEXTS = ["good kettle", "fine lamp", "bad kettle", "poor lamp"] * 10
LABELS = ["pos", "pos", "neg", "neg"] * 10


def grid(rows: int, columns: int) -> list[Regularizer]:
    return [
        Elastic(l2=10.0**-row, l1=10.0**-column) for row in range(rows) for column in range(columns)
    ]


def places(lattice: Lattice, chosen: Sequence[int]) -> set[tuple[int, int]]:
    values = [(lattice.grid[at].l2, lattice.grid[at].l1) for at in chosen]
    return {(round(-np.log10(a)), round(-np.log10(b))) for a, b in values}


def test_at_first_every_third_and_the_last() -> None:
    lattice = Lattice(grid(5, 9))
    assert places(lattice, lattice.coarse()) == set(itertools.product((0, 3, 4), (0, 3, 6, 8)))
    assert lattice.coarse() == sorted(lattice.coarse())


def test_of_two_values_the_last_alone() -> None:
    lattice = Lattice(grid(2, 9))
    assert places(lattice, lattice.coarse()) == set(itertools.product((1,), (0, 3, 6, 8)))
    pair = Lattice(grid(2, 2))
    assert places(pair, pair.coarse()) == {(1, 1)}
    assert places(pair, pair.neighbors(pair.grid[3])) == {(0, 1), (1, 0)}


def test_of_three_values_the_middle_alone() -> None:
    lattice = Lattice(grid(3, 9))
    assert places(lattice, lattice.coarse()) == set(itertools.product((1,), (0, 3, 6, 8)))
    three = Lattice(grid(3, 3))
    assert places(three, three.coarse()) == {(1, 1)}
    assert places(three, three.neighbors(three.grid[4])) == {(0, 1), (2, 1), (1, 0), (1, 2)}


def test_then_the_neighbors() -> None:
    lattice = Lattice(grid(3, 5))
    around = {(0, 2), (2, 2), (1, 1), (1, 3)}
    assert places(lattice, lattice.neighbors(Elastic(l2=1e-1, l1=1e-2))) == around
    corner = {(0, 1), (1, 0)}
    assert places(lattice, lattice.neighbors(Elastic(l2=1.0, l1=1.0))) == corner


def test_a_grid_with_holes_is_measured_as_a_whole() -> None:
    lattice = Lattice([part for part in grid(6, 6) if part.l2 <= part.l1])
    assert lattice.coarse() == list(range(21))
    assert places(lattice, lattice.neighbors(Elastic(l2=1.0, l1=1.0))) == {(1, 0)}


def test_one_setting() -> None:
    lattice = Lattice([Elastic(l2=1.0, l1=1.0)])
    assert (lattice.coarse(), lattice.neighbors(lattice.grid[0])) == ([0], [])


class Numbered(Regularizer):
    """Has weights that say nothing, and is asked for many settings."""

    name = "numbered"
    mode: str = param(
        default=AUTO, choices=("a", "b", "c", "d"), search=Choices(tuple("abcd")), help="m"
    )
    size: int = param(default=AUTO, search=Choices(range(9)), help="size")
    tried: list[tuple[str, int]]
    best = ("b", 4)

    def solve(self, problem: Problem) -> Solution:
        """The nearer to the best, the more of the words that tell the labels apart."""
        self.tried.append((self.mode, self.size))
        far = (self.mode != self.best[0]) + abs(self.size - self.best[1])
        w = problem.X.T @ problem.y / (1.0 + far)
        return Solution(w=w, b=0.0, objective=0.0, converged=True)


@pytest.fixture
def numbered() -> type[Numbered]:
    class Fresh(Numbered):
        tried: list[tuple[str, int]] = []

    return Fresh


def test_the_best_is_found_without_measuring_all(numbered: type[Numbered]) -> None:
    summary = textreg.train(
        TEXTS, LABELS, reg=numbered, tokenizer="words", metric="log-loss"
    ).summary
    assert summary.reg.params == {"mode": "b", "size": 4}
    wide = set(itertools.product("abcd", (0, 3, 6, 8)))
    # Beside (b, 3), and then beside (b, 4).
    around = {("b", 2), ("b", 4), ("b", 5)}
    assert set(numbered.tried) == wide | around
    assert summary.planned == len(summary.search)
    assert len(set(numbered.tried)) == len(summary.search)


def test_all_are_measured_where_that_is_wanted(numbered: type[Numbered]) -> None:
    options = {"tokenizer": "words", "metric": "log-loss", "search": "grid"}
    summary = textreg.train(TEXTS, LABELS, reg=numbered, **options).summary
    assert summary.reg.params == {"mode": "b", "size": 4}
    assert len(summary.search) == 36


def test_all_are_measured_where_they_are_few(numbered: type[Numbered]) -> None:
    options = {"tokenizer": "words", "reg_mode": "b"}
    assert len(textreg.train(TEXTS, LABELS, reg=numbered, **options).summary.search) == 9


def test_a_large_space_of_small_grids_is_narrowed(numbered: type[Numbered]) -> None:
    space = {"weighting": ["log", "tfidf", "count", "binary"]}
    options = {"reg_mode": "b", "tokenizer": "words", "metric": "log-loss"}
    summary = textreg.train(TEXTS, LABELS, reg=numbered, search_space=space, **options).summary
    assert {one.settings["weighting"] for one in summary.search} == set(space["weighting"])
    assert summary.reg.params["size"] == 4
    assert 16 < len(summary.search) < 36


def test_runs_of_their_own_are_not_cut(numbered: type[Numbered]) -> None:
    class Running(numbered):  # type: ignore[misc, valid-type]
        """One run for all sizes."""

        def path(
            self, problem: Problem, candidates: Sequence[Regularizer] | None = None
        ) -> Iterator[tuple[Regularizer, Solution]]:
            given = list(candidates or ())
            assert [part.size for part in given] == list(range(9))
            yield from super().path(problem, given)

    summary = textreg.train(
        TEXTS, LABELS, reg=Running, tokenizer="words", metric="log-loss"
    ).summary
    assert len(summary.search) == 36  # modes have no order


def test_the_number_of_jobs_changes_nothing(numbered: type[Numbered]) -> None:
    how = {"reg": "elastic", "tokenizer": "words", "cv": 2}
    found = [
        textreg.train(TEXTS, LABELS, **how, jobs=jobs, search_space=space)
        for space in [{"weighting": ["log", "tfidf"], "ngrams": [1, 2]}]
        for jobs in (1, 3)
    ]
    one, many = (model.summary for model in found)
    assert one == many
    assert len(one.search) < 96
    assert found[0].weights.tobytes() == found[1].weights.tobytes()


def point(value: float, nonzero: float, error: float | None = None) -> MeasuredSetting:
    return MeasuredSetting(Elastic(l1=1.0, l2=1.0), {"accuracy": value}, nonzero, (), error=error)


POINTS = [point(0.90, 500, 0.02), point(0.89, 300), point(0.885, 100), point(0.91, 900, 0.02)]


@pytest.mark.parametrize(
    ("rule", "ranked"),
    [
        (Tuning(), [3, 0]),
        (Tuning(select="1se"), [1, 3, 0]),
        (Tuning(select="sparsest", within=0.5), [2, 3, 0]),
        (Tuning(max_nonzero=400), [1, 2]),
        (Tuning(max_nonzero=50), [2, 1]),  # none is small enough: toward smaller ones
    ],
)
def test_what_looks_best(rule: Tuning, ranked: list[int]) -> None:
    assert promising(POINTS, "accuracy", rule, 2) == ranked


def test_unknown_search() -> None:
    with pytest.raises(UsageError, match="Did you mean 'grid'"):
        textreg.train(TEXTS, LABELS, search="grit")


@pytest.mark.thorough
def test_real_documents(data_dir: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """No worse than the whole grid, and measured far less."""
    from textreg.reading.corpus import read_corpus
    from textreg.training.settings import TrainingSettings
    from textreg.training.train import train_corpus

    # Each search comes to its best setting from another one, by which fits differ in their gap.
    monkeypatch.setattr("textreg.training.prepare.SEARCH_TOL", 1e-4)
    tasks = data_dir / "data" / "tasks" / "computer"
    train, dev = (read_corpus([tasks / f"{name}.jsonl.gz"]) for name in ("train", "dev"))
    found = {}
    for search in ("narrow", "grid"):
        options: dict[str, Any] = {"reg": "lasso", "search": search, "dev": dev}
        options["search_space"] = {"weighting": ["log", "tfidf", "binary"]}
        found[search] = train_corpus(train, TrainingSettings.from_options(**options)).summary
    assert found["narrow"].dev.metrics["accuracy"] == found["grid"].dev.metrics["accuracy"]
    assert len(found["narrow"].search) <= len(found["grid"].search) * 0.7
