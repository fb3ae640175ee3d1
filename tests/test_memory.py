"""What trainings and their parts take in memory, beside what they return."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from textreg.features.weighting import WEIGHTINGS
from textreg.penalties import GroupNorms
from textreg.records import Groups
from textreg.records.ragged import counted_entries, distinct_rows, take_rows
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
    assert peak_of(lambda: counted_entries(flat, 5000)) < 0.3 * flat.nbytes


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
