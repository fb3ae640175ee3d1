"""What trainings and their parts take in memory, beside what they return."""

from __future__ import annotations

import os
import pickle
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from textreg import train
from textreg.blocks.scratch import sparse_zeros
from textreg.features.encoder import WEIGHTINGS
from textreg.features.fields import tokenizer_of
from textreg.features.vectorize import Vectorizer
from textreg.penalties import GroupNorms
from textreg.records import Design, Groups, Problem
from textreg.records.arrays import distinct_rows, take_rows
from textreg.solvers.certificate import EngineDual, group_bound
from textreg.solvers.state import Engine
from textreg.text import CsrArrays

ENTRIES = 2_000_000


def peak_of(call: Callable[[], Any]) -> int:
    """The most bytes that a call has at once, of those that it allocates."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.fixture(scope="module")
def rows() -> tuple[np.ndarray, np.ndarray]:
    """Ragged rows of ten sorted entries."""
    steps = np.random.default_rng(0).integers(1, 500, size=(ENTRIES // 10, 10))
    return np.arange(0, ENTRIES + 1, 10), np.cumsum(steps, axis=1).ravel().astype(np.int32)


def test_rows_are_taken_without_arrays_over_all_entries(rows: Any) -> None:
    ptr, flat = rows
    every = np.arange(len(ptr) - 1)
    assert peak_of(lambda: take_rows(ptr, flat, every)) < 1.9 * flat.nbytes
    assert peak_of(lambda: distinct_rows(ptr, flat, every)) < 2.5 * flat.nbytes


def test_norms_of_copies_take_no_array_over_all_entries(rows: Any) -> None:
    ptr, flat = rows
    groups = Groups(ptr, flat, np.ones(len(ptr) - 1), 5001)
    penalty = GroupNorms(groups, 1.0, 1.0)
    w, u = np.ones(5001), np.zeros(len(penalty.indices))
    assert peak_of(lambda: penalty.copies(w, u)) < u.nbytes / 2


@pytest.mark.parametrize("name", ["log", "unit-idf", "tfidf"])
def test_values_are_weighed_in_place(name: str, rows: Any) -> None:
    ptr, flat = rows
    counts = CsrArrays(ptr, flat, np.ones(ENTRIES))
    weighting = WEIGHTINGS[name]
    idf = np.ones(5001) if weighting.idf else None
    norms = np.ones(len(ptr) - 1) if weighting.norm == "ngrams" else None
    assert peak_of(lambda: weighting.weigh(counts, idf, norms)) < counts.data.nbytes / 2


def test_a_fit_of_some_documents_has_no_matrix_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor any by rows: each is made by columns from the occurrences."""
    made: list[Design] = []

    def of_columns(*arrays: Any) -> Design:
        made.append(designed(*arrays))
        return made[-1]

    designed = Design.of_columns
    monkeypatch.setattr(Design, "of_columns", of_columns)
    texts = [f"{word} {other}. It is." for word in ("good", "bad") for other in "abcdefgh"]
    strengths = {"reg_l1": 0.5, "reg_group": 0.1, "reg_l2": 0.1}
    options = {"tokenizer": "words", "holdout": 0.25, "intercept": "fitted", "calibrate": "none"}
    train(texts, ["pos"] * 8 + ["neg"] * 8, reg="sentence", **options, **strengths)
    assert {design.shape[0] for design in made} == {12, 16}
    assert not any(design.has_rows for design in made)


@pytest.mark.parametrize("documents", [None, [4, 0, 2], [], [-1]])
@pytest.mark.parametrize("weighting", ["unit-idf", "tfidf", "count"])
@pytest.mark.parametrize("tokenizer", ["words", "words,chars"])
def test_rows_by_columns_have_the_same_bits(
    tokenizer: str, weighting: str, documents: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("textreg.features.vectorize.BLOCK", 5)
    texts = ["It broke. It is sad.", "It works", "", "sad, sad it is", "works works"]
    features = Vectorizer(weighting=weighting, min_df=2).fit(tokenizer_of(tokenizer), texts)
    chosen = None if documents is None else np.array(documents, dtype=np.int64)
    whole = Design(features.X if chosen is None else features.X[chosen])
    design = features.rows.design(chosen)
    assert all(map(np.array_equal, design.columns, whole.columns))
    assert all(map(np.array_equal, Design(features.rows.matrix(chosen)).columns, whole.columns))


def test_groups_store_their_features_once() -> None:
    rows = [[0, 2], [], [1], [0, 2], [1, 2, 3], [3], [0, 2]]
    ptr = np.cumsum([0, *map(len, rows)])
    groups = Groups(ptr, np.concatenate(rows), np.arange(7.0), n_features=4, names=list("abcdefg"))
    compact = groups.compact()
    assert "indices" not in vars(compact)
    assert repr(compact) == repr(groups)
    assert compact.merged is groups.merged
    assert np.array_equal(compact.indices, groups.indices)
    assert compact.members(4).tolist() == [1, 2, 3]
    assert pickle.loads(pickle.dumps(groups.compact())).widened(9).n_features == 9
    singles = Groups([0, 1, 1, 2], [3, 0], np.ones(3), 4).compact()
    assert singles.indices.tolist() == [3, 0]
    with pytest.raises(AttributeError, match="no attribute 'index'"):
        _ = groups.index  # type: ignore[attr-defined]


def resident() -> int:
    """Bytes of this process that are in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="only Linux tells")
def test_a_table_of_zeros_takes_memory_where_it_is_written() -> None:
    before = resident()
    table = sparse_zeros(50, 500_000)
    table[:, ::50_000] = 1.0
    assert table.shape == (50, 500_000)
    assert table.flags.c_contiguous
    assert np.flatnonzero(table.any(axis=0)).tolist() == list(range(0, 500_000, 50_000))
    assert resident() - before < table.nbytes / 10


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (2, 3)])
def test_a_table_of_zeros_of_any_shape(shape: tuple[int, int]) -> None:
    np.testing.assert_array_equal(sparse_zeros(*shape), np.zeros(shape))


def test_a_check_holds_the_dual_variables_and_few_vectors() -> None:
    p, sentences = 400_000, 20_000
    rng = np.random.default_rng(0)
    steps = rng.integers(1, 2 * p // 40, size=(sentences, 20))
    indices = (np.cumsum(steps, axis=1) % p).astype(np.int32)
    indices.sort(axis=1)
    distinct = (np.diff(indices, axis=1) > 0).all(axis=1)
    indices = indices[distinct]
    indptr = np.arange(0, indices.size + 1, 20)
    groups = Groups(indptr, indices.ravel(), np.ones(len(indices)), p)
    penalty = GroupNorms(groups, 1e-3, 0.0, 0.1)
    X = csr_array((rng.random(p), rng.permutation(p), np.arange(0, p + 1, 400)), shape=(1000, p))
    engine = Engine(Problem(X, np.where(rng.random(1000) < 0.5, 1.0, -1.0)))
    u, size = np.zeros(len(penalty.indices)), np.zeros(p)
    dual = EngineDual(engine, penalty.lam)
    _ = penalty.floor
    peak = peak_of(lambda: group_bound(dual, penalty, size, u, 1000.0, 1e-3))
    assert peak < 5 * size.nbytes
