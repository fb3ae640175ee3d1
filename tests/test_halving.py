"""Many documents: settings are ranked on a part of them, the best are measured on all."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from conftest import Cli
from thoroughness import thorough

import textreg
from textreg.builtin.separable import Elastic
from textreg.kinds import Regularizer
from textreg.records import Problem
from textreg.tasks import Target
from textreg.tasks.classification import Binary
from textreg.tasks.multilabel import Multilabel
from textreg.training import prepare, search, trials
from textreg.training.prepare import Prepared
from textreg.training.search import confirmed, drawn, promising
from textreg.training.space import BEST
from textreg.training.splits import Split
from textreg.training.trials import MeasuredSetting


def documents(each: int = 150, labels: str = "ab", seed: int = 0) -> tuple[list[str], list[str]]:
    rng = np.random.default_rng(seed)
    y = list(labels) * each
    texts = []
    for label in y:
        words = [f"w{number}" for number in rng.integers(60, size=8)]
        own = label if rng.random() < 0.8 else str(rng.choice(list(labels)))
        texts.append(" ".join([*words, own * 2, own * 3]))
    return texts, y


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of a few documents."""
    monkeypatch.setattr(search, "DOCUMENTS", 60)
    monkeypatch.setattr(search, "ENTRIES", 100)


@pytest.fixture
def fits(monkeypatch: pytest.MonkeyPatch) -> dict[int, list[Regularizer]]:
    """By their number of documents, the settings of a search, in turn."""
    found: dict[int, list[Regularizer]] = {}
    solve = trials.solve_chunk

    def noted(chunk: Any, *rest: Any) -> Any:
        fold, _, settings, _ = chunk
        some = found.setdefault(np.count_nonzero(fold.problem.sample_weight), [])
        some += [setting for setting in settings if setting not in some]
        return solve(chunk, *rest)

    monkeypatch.setattr("textreg.training.trials.solve_chunk", noted)
    return found


def trained(**options: Any) -> textreg.Model:
    how = {"tokenizer": "words", "reg": "sentence", "holdout": 0.1, "intercept": "fitted"}
    return textreg.train(*documents(), **{**how, **options})


def summary(model: textreg.Model) -> Any:
    assert model.summary is not None
    return model.summary


@pytest.mark.usefixtures("few")
def test_only_the_best_are_fitted_to_all(fits: dict[int, list[Regularizer]]) -> None:
    told = summary(trained())
    part, whole = fits[60], fits[270]
    assert sorted(fits) == [60, 270]
    assert search.KEPT <= len(whole) < len(part)
    assert len(told.search) == len(whole)
    assert told.ruled_out >= len(part) - len(whole) > 0
    assert (told.ruled_out_by, told.ruled_out_on) == (0, 60)
    assert told.planned == told.ruled_out + len(whole)


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(
    ("options", "expected"),
    [({"reg": "ridge"}, [60, 300]), ({"intercept": "left-out"}, [60, 270, 300])],
)
def test_matrices_are_gone_before_larger_ones_are_made(
    options: dict[str, Any], expected: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Groups are those of the fitted documents; without any, one matrix serves two fits."""
    made, sizes = list[weakref.ref[Any]](), list[int]()
    problem = Prepared.problem

    def noted(data: Prepared, rows: Any, tol: float) -> Problem:
        gc.collect()
        assert not any(ref() for ref in made)
        new = problem(data, rows, tol)
        made.append(weakref.ref(new.design))
        sizes.append(len(rows))
        return new

    monkeypatch.setattr(Prepared, "problem", noted)
    trained(**options)
    assert sizes == expected


class Stage:
    """A search of one grid whose log-losses are known by l2."""

    def __init__(self, losses: dict[float, float]) -> None:
        self.losses = losses
        self.measured: list[MeasuredSetting] = []
        self.asked: set[Any] = set()
        self.batches: list[list[float]] = []

    def grid(self, values: Any) -> list[Elastic]:
        return [Elastic(l1=1.0, l2=10.0**-at) for at in range(5)]

    def neighbors(self, steps: Sequence[int]) -> dict[tuple[()], set[int]]:
        best = self.measured[promising(self.measured, "log-loss", BEST, 1)[0]]
        near = search.Lattice(self.grid(())).neighbors(best.regularizer, steps)
        new = {place for place in near if ((), place) not in self.asked}
        return {(): new} if new else {}

    def ask(self, values: Any, places: Sequence[int], run: Any) -> bool:
        settings = [self.grid(values)[place] for place in places]
        self.asked |= {(values, place) for place in places}
        self.batches.append([one.l2 for one in settings])
        self.measured += [
            MeasuredSetting(one, {"log-loss": self.losses[one.l2]}, 1.0, ()) for one in settings
        ]
        return True


def test_weaker_neighbors_of_the_best_follow() -> None:
    # On the part the strongest was the best, and the next one after it.
    stage: Any = Stage({1.0: 0.5, 0.1: 0.4, 0.01: 0.3, 0.001: 0.6, 1e-4: 0.9})
    confirmed(stage, [((), 0), ((), 1)], None, weaker=True)  # type: ignore[arg-type]
    assert stage.batches == [[1.0, 0.1], [0.01], [0.001]]  # which is worse, so 1e-4 is not tried
    stage = Stage({1.0: 0.1, 0.1: 0.2})
    stage.asked.add(((), 1))
    confirmed(stage, [((), 0)], None, weaker=True)  # type: ignore[arg-type]
    assert stage.batches == [[1.0]]


def test_with_the_same_documents_each_starts_from_the_one_before() -> None:
    stage: Any = Stage({1.0: 0.2, 0.001: 0.1})
    confirmed(stage, [((), 3), ((), 0)], None, weaker=False)  # type: ignore[arg-type]
    assert stage.batches == [[0.001], [1.0]]


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("labels", ["ab", thorough("abcdefghijklmnopqrstuvwxyz")])
def test_the_same_for_any_number_of_jobs(labels: str) -> None:
    texts, y = documents(300 if labels == "ab" else 60, labels)
    how = {"tokenizer": "words", "ngrams": 1, "reg": "lasso", "holdout": 0.5}
    how |= {"intercept": "fitted", "calibrate": "none"}
    one, two = (textreg.train(texts, y, jobs=jobs, **how) for jobs in (1, 2))
    assert summary(one) == summary(two)
    assert summary(one).ruled_out_on > 0
    assert (summary(one).ruled_out_by > 0) == (len(labels) > 2)
    np.testing.assert_array_equal(one.weights, two.weights)


@pytest.mark.usefixtures("few")
def test_all_documents_on_request(fits: dict[int, list[Regularizer]]) -> None:
    how = ({"search": "grid"}, {"select": "1se"}, {"budget": "1h"}, {"metric": "accuracy"})
    for options in how:
        fits.clear()
        assert summary(trained(reg="lasso", **options)).ruled_out_on == 0
        assert list(fits) == [270]


def test_a_part_that_is_hardly_smaller_is_none(fits: dict[int, list[Regularizer]]) -> None:
    assert summary(trained()).ruled_out_on == 0
    assert list(fits) == [270]


class Counting(Elastic):
    """Its grid is longer for more documents."""

    name = "counting"

    def candidates(self, problem: Problem) -> list[Regularizer]:
        more = 1 + (problem.design.shape[0] > 100)
        return [self.replace(l1=float(l1), l2=1.0) for l1 in np.geomspace(9.0, 1.0, 5 * more)]


@pytest.mark.usefixtures("few")
def test_a_grid_of_another_length_is_searched_anew(fits: dict[int, list[Regularizer]]) -> None:
    told = summary(trained(reg=Counting()))
    assert len(fits[60]) == 5
    assert len(fits[270]) == len(told.search) == 10
    assert (told.planned, told.ruled_out) == (10, 0)


@pytest.mark.usefixtures("few")
def test_features_are_searched_too(fits: dict[int, list[Regularizer]]) -> None:
    told = summary(trained(reg="ridge", search_space={"ngrams": [1, 2]}))
    assert told.ruled_out_on == 60
    assert told.chosen["ngrams"] in (1, 2)
    assert 60 in fits


@pytest.mark.usefixtures("few")
def test_the_command_says_so(cli: Cli, tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    rows = [f"{text},{label}\n" for text, label in zip(*documents(), strict=True)]
    table.write_text("text,label\n" + "".join(rows))
    code, out, _ = cli("train", table, "--tokenizer", "words", "-o", tmp_path / "model")
    assert code == 0
    assert " of them ruled out on 60 documents (" in out


def test_some_documents_of_every_label() -> None:
    y = np.array([0] * 990 + [1] * 10)
    target = Target(Binary(("a", "b")), y)
    rows = np.arange(0, 1000, 2)
    some = drawn(target, rows, 50, seed=3)
    assert np.isin(some, rows).all()
    assert (np.diff(some) > 0).all()
    assert (y[some] == 1).sum() == 5  # all there are
    assert 50 <= len(some) <= 55
    np.testing.assert_array_equal(some, drawn(target, rows, 50, seed=3))
    assert not np.array_equal(some, drawn(target, rows, 50, seed=4))
    sets = np.zeros((1000, 2), dtype=bool)
    sets[:25, 1] = True
    many = drawn(Target(Multilabel(("a", "b")), sets), np.arange(1000), 50, seed=3)
    assert sets[many, 1].sum() >= search.OF_LABEL


def test_how_large_a_part_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "DOCUMENTS", 20)
    monkeypatch.setattr(search, "ENTRIES", 150)
    monkeypatch.setattr(search, "OF_LABEL", 0)
    target = Target(Binary(("a", "b")), np.arange(100) % 2)
    splits = [Split(np.arange(80), np.arange(80, 100)), Split(np.arange(40, 100), np.arange(40))]

    def sizes(entries: int, fitted: int = 60) -> list[int] | None:
        splits[1] = Split(np.arange(100 - fitted, 100), np.arange(100 - fitted))
        documents = SimpleNamespace(splits=splits, target=target)
        context: Any = SimpleNamespace(documents=documents, settings=SimpleNamespace(seed=3))
        data: Any = SimpleNamespace(rows=SimpleNamespace(shape=(100, 9), size=entries))
        parts = search.fewer_documents(context, data)
        if parts is None:
            return None
        for part, split in zip(parts, splits, strict=True):
            assert part.held is split.held
            expected = drawn(target, split.train, len(part.train), 3)
            np.testing.assert_array_equal(part.train, expected)
        return [len(part.train) for part in parts]

    # 20 of 60 documents; or those with 150 entries, 5 a document: 30
    assert sizes(1000) == [26, 20]
    assert sizes(500) == [40, 30]
    assert sizes(499) is None  # more than half
    assert sizes(0) is None
    assert sizes(1000, 40) == [40, 20]
    assert sizes(1000, 39) is None
    # No part where every label needs all that there are.
    monkeypatch.setattr(search, "OF_LABEL", 50)
    assert sizes(1000) is None


def test_who_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first of a random order, and the first few of every label."""
    monkeypatch.setattr(search, "OF_LABEL", 2)
    target = Target(Binary(("a", "b")), np.array([0] * 30 + [1] * 30))
    rows = np.arange(26, 36)
    order = [34, 30, 33, 26, 27, 28, 31, 35, 32, 29]
    assert np.random.default_rng(1).permutation(rows).tolist() == order
    assert drawn(target, rows, 3, seed=1).tolist() == [26, 27, 30, 33, 34]
    assert drawn(target, rows, 0, seed=1).tolist() == [26, 27, 30, 34]
    sets = np.zeros((60, 2), dtype=bool)
    sets[31:33] = True
    more = Target(Multilabel(("a", "b")), sets)
    assert drawn(more, rows, 1, seed=1).tolist() == [31, 32, 34]


def test_a_fold_of_the_matrix_of_all_documents_is_that_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One label: what is held out has the weight 0, and the search measures the same."""
    how = {"reg": "ridge", "search": "grid", "tol": 1e-9}
    monkeypatch.setattr(prepare, "SEARCH_TOL", 1e-9)
    shared = trained(**how)
    monkeypatch.setattr(Prepared, "shares_matrix", False)
    alone = trained(**how)
    assert summary(shared).reg == summary(alone).reg
    for one, other in zip(summary(shared).search, summary(alone).search, strict=True):
        assert one.metrics == pytest.approx(other.metrics, rel=1e-4)
    np.testing.assert_allclose(shared.weights, alone.weights, rtol=1e-4, atol=1e-7)
