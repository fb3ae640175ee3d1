"""Of many labels a few rule out settings, and the best of the others are measured on all."""

from __future__ import annotations

import itertools
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
from conftest import Cli
from thoroughness import thorough

import textreg
from textreg.tasks.classification import OneVsRest
from textreg.tasks.multilabel import Multilabel
from textreg.training import search, trials
from textreg.training.search import LABELS, few_labels, label_stages
from textreg.training.splits import Split

# Intercepts that are shifted afterwards take longer than all fits.
QUICK: dict[str, Any] = {"tokenizer": "words", "reg": "elastic", "holdout": 0.5}
QUICK |= {"intercept": "fitted", "calibrate": "none", "weighting": "unit-idf"}
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


def prepared(each: int = 20) -> tuple[Any, list[Split]]:
    """So many documents of each of 26 labels, which are all fitted and all held out."""
    y = np.repeat(np.arange(26), each)
    every = np.arange(len(y))
    return SimpleNamespace(task=OneVsRest(tuple(LETTERS)), y=y), [Split(every, every)]


def searched(**options: Any) -> textreg.Model:
    """A model of 26 labels, half of its documents held out."""
    return textreg.train(*documents(40), **{**QUICK, **options})


class Raced(NamedTuple):
    """A model, and what its search fitted: labels, settings, whether from weights of others."""

    model: textreg.Model
    chunks: list[tuple[Any, Any, bool]]


@pytest.fixture(scope="module")
def raced() -> Raced:
    chunks: list[tuple[Any, Any, bool]] = []
    solve = trials.solve_chunk

    def noted(chunk: Any, *rest: Any) -> Any:
        _, rows, settings, starts = chunk
        chunks.append((rows, settings, any(start is not None for start in starts)))
        return solve(chunk, *rest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("textreg.training.trials.solve_chunk", noted)
        return Raced(searched(jobs=1), chunks)


def params(model: textreg.Model) -> Any:
    assert model.summary is not None
    return model.summary.reg.params


def test_the_one_left_is_measured_as_ever(raced: Raced) -> None:
    left, whole = raced.model, searched(search="grid")
    assert left.summary is not None
    assert whole.summary is not None
    assert len(left.summary.search) == 2
    row = left.summary.search[0]
    same = next(it for it in whole.summary.search if it.params == row.params)
    # Not to the last bit: fits start from other settings than in the whole grid.
    assert row.metrics == pytest.approx(same.metrics, abs=5e-3)
    best = min(it.metrics["calibrated-log-loss"] for it in whole.summary.search)
    assert row.metrics["calibrated-log-loss"] == pytest.approx(best, rel=0.05)


def test_fewer_fits_are_made(raced: Raced) -> None:
    model = raced.model
    fits: dict[Any, set[Any]] = {}
    for rows, settings, _ in raced.chunks:
        for setting in settings:
            fits.setdefault(setting, set()).update(rows)
    sizes = sorted(map(len, fits.values()), reverse=True)
    assert model.summary is not None
    assert model.summary.ruled_out == len(fits) - 2
    assert sizes[:2] == [26, 26]  # the best two of the last stage but one
    assert sizes[2:4] == [24, 24]
    assert set(sizes[4:]) == {LABELS}


def test_every_stage_has_twice_the_labels_of_the_one_before() -> None:
    data, _ = prepared()
    data.task = SimpleNamespace(n_rows=150)
    stages = label_stages(data, np.arange(0, 150, 13))
    assert [len(rows) for rows in stages] == [12, 24, 48]
    for few, more in itertools.pairwise(stages):
        assert np.isin(few, more).all()
        assert (np.diff(more) > 0).all()
    data.task = SimpleNamespace(n_rows=26)
    few = few_labels(*prepared())
    assert few is not None
    assert [len(rows) for rows in label_stages(data, few)] == [12, 24]


def test_few_labels_are_of_all_frequencies() -> None:
    data, splits = prepared()
    rows = few_labels(data, splits)
    assert rows is not None
    assert len(rows) <= 13
    assert (np.diff(rows) > 0).all()
    held = np.isin(data.y, rows).sum()
    assert held >= search.HELD_OUT or len(rows) == 13


@pytest.mark.parametrize("each", [1, 3])
def test_too_few_documents_rule_nothing_out(each: int) -> None:
    assert few_labels(*prepared(each)) is None


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
def test_the_answer_is_the_same_for_any_number_of_jobs(raced: Raced, several: bool) -> None:
    texts, labels = documents(40)
    if several:
        sets = [[label, "z"] for label in labels]
        how = {**QUICK, "reg": "lasso"}
        one, two = (textreg.train(texts, sets, jobs=jobs, **how) for jobs in (1, 2))
    else:
        one, two = raced.model, searched(jobs=2)
    assert one.summary is not None
    assert one.summary.ruled_out > 0
    assert one.summary == two.summary
    np.testing.assert_array_equal(one.weights, two.weights)


@pytest.mark.thorough
def test_all_are_measured_on_request() -> None:
    texts, labels = documents(40)
    for options in ({"search": "grid"}, {"select": "1se"}, {"budget": "1h"}):
        model = textreg.train(texts, labels, tokenizer="words", reg="lasso", holdout=0.5, **options)
        assert model.summary is not None
        assert (model.summary.ruled_out, model.summary.ruled_out_by) == (0, 0)


@pytest.mark.parametrize(
    ("kept", "intercept"),
    [thorough(search.KEPT_BY_LABELS, "left-out"), (2, "fitted")],  # 2 leaves one for all labels
)
def test_the_command_says_so(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: int, intercept: str
) -> None:
    monkeypatch.setattr(search, "KEPT_BY_LABELS", kept)
    table = tmp_path / "table.csv"
    rows = [f"{text},{label}\n" for text, label in zip(*documents(40), strict=True)]
    table.write_text("text,label\n" + "".join(rows))
    options = ["--tokenizer", "words", "--ngrams", "1", "--reg", "lasso", "--holdout", "0.5"]
    options += ["--intercept", intercept]
    code, out, _ = cli("train", table, *options, "-o", tmp_path / "model")
    assert code == 0
    assert " of them ruled out by 12 labels (" in out


def test_settings_start_from_the_best_so_far(raced: Raced) -> None:
    started: dict[int, list[tuple[Any, bool]]] = {}
    for rows, settings, warm in raced.chunks:
        for row in rows:
            started.setdefault(row, []).append((settings[0].params(), warm))
    best = params(raced.model)
    few = next(it for it in started.values() if len(it) == max(map(len, started.values())))
    assert [warm for _, warm in few] == [False, False, True, True]  # two chains, two neighbors
    later = [it for it in started.values() if len(it) < len(few)]
    assert later
    for row in later:  # labels of the later stages
        assert row[0] == (best, False)
        assert all(warm for _, warm in row[1:])


def test_which_labels_are_few() -> None:
    """Evenly spread over frequencies; one more where too few of their documents are held out."""
    # The frequency of label j is that of 26 labels in another order.
    y = np.repeat(np.arange(26), (np.arange(26) * 7) % 26 + 1)
    fitted = np.arange(len(y))
    twelve, thirteen = (
        [0, 1, 2, 4, 5, 6, 7, 9, 10, 11, 14, 23],
        [0, 3, 4, 7, 8, 11, 12, 13, 16, 17, 20, 21, 25],
    )

    def few(held: Any) -> Any:
        parts = np.array_split(np.arange(len(held)) + len(y), 2)
        splits = [Split(fitted, part) for part in parts]
        splits[1] = splits[1]._replace(train=fitted[::2])
        data: Any = SimpleNamespace(task=OneVsRest(tuple(LETTERS)), y=np.concatenate([y, held]))
        rows = few_labels(data, splits)
        return None if rows is None else rows.tolist()

    assert few(np.resize(twelve, 200)) == twelve
    assert few(np.resize(twelve, 199)) is None
    assert few(np.resize(thirteen, 200)) == thirteen


def test_stages_of_labels() -> None:
    def stages(k: int) -> list[list[int]]:
        data: Any = SimpleNamespace(task=SimpleNamespace(n_rows=k))
        return label_stages(data, np.array([0, 4]))

    assert stages(9) == [[0, 4], [0, 1, 4, 8], [0, 1, 2, 3, 4, 6, 7, 8]]
    assert stages(8) == [[0, 4], [0, 1, 4, 7]]  # no more than these are left
    # Of four settings two are left for the second stage, one for the third, and none for more.
    assert [len(rows) for rows in stages(100)] == [2, 4, 8]
