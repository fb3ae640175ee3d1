"""Of many labels a few rule out settings, and the best of the others are measured on all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Cli

import textreg
from textreg.tasks.classification import OneVsRest
from textreg.tasks.multilabel import Multilabel
from textreg.training.running import ALONE, Run
from textreg.training.search import racing
from textreg.training.search.racing import LABELS, few_labels, measure_race
from textreg.training.search.selection import MeasuredSetting, measure_grid
from textreg.training.search.trials import Fold

LETTERS = [chr(at) for at in range(ord("a"), ord("z") + 1)]


def documents(each: int = 12, seed: int = 0) -> tuple[list[str], list[str]]:
    """Of 26 labels, a word of its own in most documents of each, and words of all."""
    rng = np.random.default_rng(seed)
    labels = [letter for letter in LETTERS for _ in range(each)]
    texts = []
    for label in labels:
        words = [f"w{rng.integers(40)}" for _ in range(5)]
        own = label if rng.random() < 0.8 else str(rng.choice(LETTERS))
        texts.append(" ".join([*words, own * 2]))
    return texts, labels


def fold(few: int = 20, seed: int = 0, tol: float = 1e-3) -> Fold:
    from scipy.sparse import csr_array

    from textreg.records import Problem

    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(26), few)
    X = (rng.random((len(y), 60)) < 0.1).astype(float)
    X[np.arange(len(y)), y] = 1.0
    held = rng.permutation(len(y))
    task = OneVsRest(tuple(LETTERS))
    problem = Problem(csr_array(X), task.rows(y)[0], tol=tol)
    return Fold(problem, task, y, csr_array(X[held]), y[held])


def ranked(measured: Any, number: int) -> list[int]:
    return sorted(range(len(measured)), key=lambda at: measured[at].metrics["log-loss"])[:number]


GRID = [textreg.Elastic(l2=10.0**-a, l1=10.0**-b) for a in range(3) for b in range(3)]


def alone() -> Run:
    """A search in this thread."""
    return ALONE.run("search", len(GRID) * 26)


def test_what_is_kept_is_measured_as_ever() -> None:
    one = fold(tol=1e-7)
    race = measure_race(GRID, [one], alone(), ranked)
    everything = {it.regularizer: it for it in measure_grid(GRID, [one], alone())}
    assert len(race.measured) == racing.KEPT
    assert race.labels >= LABELS
    for kept in race.measured:
        same = everything[kept.regularizer]
        # Not to the last bit: fits start from other settings than in the whole grid.
        assert kept.metrics == pytest.approx(same.metrics, abs=1e-4)
        assert kept.nonzero == same.nonzero
    best = min(everything.values(), key=lambda it: it.metrics["log-loss"])
    assert best.regularizer in [it.regularizer for it in race.measured]


def test_fewer_fits_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    fits = []
    from textreg.training.search import trials

    solve = trials.solve_chunk

    def counted(chunk: Any, *rest: Any) -> Any:
        fits.extend(chunk.settings)
        return solve(chunk, *rest)

    monkeypatch.setattr("textreg.training.search.selection.solve_chunk", counted)
    race = measure_race(GRID, [fold()], alone(), ranked)
    assert len(fits) == len(GRID) * race.labels + racing.KEPT * (26 - race.labels)


def test_few_labels_are_of_all_frequencies() -> None:
    one = fold()
    rows = few_labels([one])
    assert rows is not None
    assert len(rows) <= 13
    assert (np.diff(rows) > 0).all()
    held = np.isin(one.y_held, rows).sum()
    assert held >= racing.DOCUMENTS or len(rows) == 13


@pytest.mark.parametrize("few", [1, 3])
def test_too_few_documents_rule_nothing_out(few: int) -> None:
    assert few_labels([fold(few)]) is None
    race = measure_race(GRID, [fold(few)], alone(), ranked)
    assert (len(race.measured), race.labels) == (len(GRID), 0)


def test_part_of_a_task() -> None:
    task = OneVsRest(tuple("abcd"), unknown="u")
    y = np.array([0, 3, 1, 4, 3])
    part, count, own = task.part(np.array([1, 3]), y)
    assert part.labels == ("b", "d")
    assert count.tolist() == [False, True, True, False, True]
    assert own.tolist() == [1, 0, 1]
    several = Multilabel(tuple("abc"))
    sets = np.array([[1, 0, 1], [0, 0, 0]], dtype=bool)
    part, count, own = several.part(np.array([0, 2]), sets)
    assert part.labels == ("a", "c")
    assert count.all()
    assert own.tolist() == [[True, True], [False, False]]


@pytest.mark.parametrize("several", [False, True])
def test_the_answer_is_the_same_for_any_number_of_jobs(several: bool) -> None:
    texts, labels = documents(40)
    targets: list[Any] = [[label, "z"] for label in labels] if several else labels
    how = {"tokenizer": "words", "reg": "elastic", "holdout": 0.5}
    one, two = (textreg.train(texts, targets, jobs=jobs, **how) for jobs in (1, 2))
    assert one.summary is not None
    assert one.summary.ruled_out > 0
    assert one.summary == two.summary
    np.testing.assert_array_equal(one.weights, two.weights)


def test_all_are_measured_on_request() -> None:
    texts, labels = documents(40)
    for options in ({"search": "grid"}, {"select": "1se"}, {"budget": "1h"}):
        model = textreg.train(texts, labels, tokenizer="words", reg="lasso", holdout=0.5, **options)
        assert model.summary is not None
        assert (model.summary.ruled_out, model.summary.ruled_out_by) == (0, 0)


def test_the_command_says_so(cli: Cli, tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    rows = [f"{text},{label}\n" for text, label in zip(*documents(40), strict=True)]
    table.write_text("text,label\n" + "".join(rows))
    options = ("--tokenizer", "words", "--reg", "elastic", "--holdout", "0.5")
    code, out, _ = cli("train", table, *options, "-o", tmp_path / "model")
    assert code == 0
    assert " of them ruled out by 12 labels (" in out


def test_measured_setting_of_a_part_has_no_start() -> None:
    one = fold()
    seen: list[MeasuredSetting] = []

    def best(measured: Any, number: int) -> list[int]:
        seen.extend(measured)
        return ranked(measured, number)

    measure_race(GRID, [one], alone(), best)
    assert {it.regularizer for it in seen} == set(GRID)
    assert all(it.starts == () for it in seen)
