"""More labels than there is room for: targets by the row, weights that are sparse, and refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from textreg import Corpus, load, train
from textreg.errors import UsageError
from textreg.model import model as models
from textreg.records import store
from textreg.records.arrays import dense_rows, used_columns
from textreg.tasks import Multilabel, classification
from textreg.training import fit

LABELS = 12


@pytest.fixture(scope="module")
def corpus() -> tuple[list[str], list[str]]:
    rng, texts, labels = np.random.default_rng(0), [], []
    for label in range(LABELS):
        for _ in range(12):
            words = [f"w{it}" for it in rng.integers(0, 300, 8)] + [f"key{label}"] * 2
            texts.append(" ".join(words))
            labels.append(f"l{label:02d}")
    return texts, labels


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fit, "LARGE", 1_000)
    monkeypatch.setattr(fit, "LEAST", 1)
    monkeypatch.setattr(models, "SMALL_WEIGHTS", 1_000)
    monkeypatch.setattr(models, "SPARSE", 0)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("reg", ["ridge", "elastic", "sentence"])
def test_sparse_weights_are_those_of_a_table(
    corpus: Any, reg: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    how = {"reg": reg, "tokenizer": "words", "prune": 0.0, "cv": 2, "intercept": "fitted"}
    how |= {"tol": 1e-7}  # their fits begin at other points
    sparse = train(*corpus, **how)
    assert isinstance(sparse.by_feature, csr_array)
    best = "features that support each label most"
    assert best not in dict(sparse.tables())  # for which it would be a table
    monkeypatch.setattr(fit, "LARGE", 1 << 31)
    monkeypatch.setattr(models, "SMALL_WEIGHTS", 1 << 31)
    dense = train(*corpus, **how)
    assert best in dict(dense.tables())
    np.testing.assert_allclose(sparse.weights, dense.weights, atol=2e-2)
    np.testing.assert_array_equal(
        sparse.decision_function(corpus[0]).argmax(axis=1),
        dense.decision_function(corpus[0]).argmax(axis=1),
    )
    sparse.save(tmp_path / "sparse")
    np.testing.assert_array_equal(load(tmp_path / "sparse").weights, sparse.weights)


@pytest.mark.thorough
def test_every_label_is_pruned_by_itself(corpus: Any, tmp_path: Path) -> None:
    model = train(*corpus, reg="ridge", tokenizer="words", prune=0.3)
    whole = train(*corpus, reg="ridge", tokenizer="words", prune=0.0)
    assert model.summary.pruned.before == np.count_nonzero(whole.weights)
    assert model.summary.pruned.after == np.count_nonzero(model.weights)
    assert model.summary.pruned.after < 0.8 * model.summary.pruned.before
    assert model.summary.pruned.gap is not None
    assert model.predict([f"key{it}" for it in range(LABELS)]) == list(model.labels)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    texts = corpus[0]
    np.testing.assert_array_equal(again.decision_function(texts), model.decision_function(texts))


def test_targets_by_the_row() -> None:
    y = np.array([2, 0, 1, 2])
    for labels in ("ab", "abc"):
        task = classification(tuple(labels))
        for number, row in enumerate(task.rows(y)):
            np.testing.assert_array_equal(task.row(y, number), row)
    sets = np.array([[True, False], [False, False]])
    task: Any = Multilabel(("a", "b"))
    np.testing.assert_array_equal([task.row(sets, it) for it in range(2)], task.rows(sets))


def test_tables_of_either_kind() -> None:
    table = np.array([[0.0, 2.0, 0.0], [0.0, 0.0, -1.0]])
    for either in (table, csr_array(table)):
        np.testing.assert_array_equal(used_columns(either), [1, 2])
        np.testing.assert_array_equal(list(dense_rows(either)), table)


@pytest.mark.parametrize(
    ("room", "options", "words"),
    [
        (2_000, {}, r"held out, by 12 labels, would take [\d,]+ bytes .*--min-label"),
        (20_000, {"reg_l2": 1e-3, "intercept": "fitted", "calibrate": "none"}, "--max-features"),
    ],
)
def test_refusals(
    corpus: Any, monkeypatch: pytest.MonkeyPatch, room: int, options: Any, words: str
) -> None:
    monkeypatch.setattr(store.os, "sysconf", {"SC_PHYS_PAGES": 1, "SC_PAGE_SIZE": room}.get)
    with pytest.raises(UsageError, match=words):
        train(*corpus, reg="ridge", tokenizer="words", prune=0.0, **options)


def test_a_corpus_of_one_document_a_label() -> None:
    task = classification(tuple(f"l{it}" for it in range(20_000)))
    y = task.known_targets(Corpus(["x"] * 20_000, list(task.labels)))
    assert task.describe(y)["l7"] == 1
    assert task.row(y, 5).sum() == 2 - 20_000
