"""The matrix of a problem: products, what is derived from it, and that it is shared."""

from __future__ import annotations

import gc
import pickle
import threading
import weakref
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.sparse import bsr_array, coo_array, csc_array, csr_array, dok_array, lil_array

from textreg.errors import RecordError
from textreg.records import Design, Floats, Problem
from textreg.records.arrays import Cache
from textreg.records.design import ScaledColumns

N, P = 9, 7
Y = np.where(np.arange(N) % 2, 1.0, -1.0)


def dense() -> Floats:
    """Small counts, with a document and a feature that have none."""
    X = np.random.default_rng(0).poisson(0.7, (N, P)).astype(np.float64)
    X[3], X[:, 5] = 0.0, 0.0
    return X


def messy() -> csr_array:
    """The same matrix: rows unsorted, every value in two parts, and a zero that is stored."""
    X = csr_array(dense())
    order = np.concatenate([np.arange(b - 1, a - 1, -1) for a, b in pairwise(X.indptr)])
    indices, data = np.repeat(X.indices[order], 2), np.repeat(X.data[order] / 2, 2)
    data[0] += data[1]
    data[1] = 0.0
    return csr_array((data, indices, 2 * X.indptr), shape=X.shape)


MATRICES: dict[str, Callable[[], Any]] = {
    "dense": dense,
    "integers": lambda: dense().astype(np.int32),
    "by columns in memory": lambda: np.asfortranarray(dense()),
    "csr": lambda: csr_array(dense()),
    "csc": lambda: csc_array(dense()),
    "coo": lambda: coo_array(dense()),
    "bsr": lambda: bsr_array(dense(), blocksize=(3, 7)),
    "lil": lambda: lil_array(dense()),
    "dok": lambda: dok_array(dense()),
    "unsorted, with duplicates": messy,
}


def scaled() -> ScaledColumns:
    """The same matrix, each column a sixth of one of another matrix, which has more of them."""
    others = np.random.default_rng(2).random((N, P))
    return ScaledColumns(
        Design(np.hstack([others, 6.0 * dense()[:, ::-1]])),
        np.arange(2 * P - 1, P - 1, -1),
        np.full(P, 1.0 / 6.0),
    )


@pytest.mark.parametrize("kind", [*MATRICES, "scaled columns", "scaled columns by pieces"])
def test_products_of_any_matrix(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X, random = dense(), np.random.default_rng(1)
    if kind.endswith("pieces"):
        monkeypatch.setattr("textreg.records.design.PIECE", 9)
    design = Design(MATRICES[kind]()) if kind in MATRICES else scaled()
    assert design.shape == (N, P)
    np.testing.assert_array_equal(design.sizes, np.diff(design.X_csc.indptr))
    assert design.values == design.X_csc.nnz
    assert design.X.has_canonical_format
    assert design.X_csc.has_canonical_format
    np.testing.assert_allclose(design.X.toarray(), X, rtol=1e-15)
    np.testing.assert_allclose(design.X_csc.toarray(), X, rtol=1e-15)
    few = np.array([1, 4, 5], dtype=np.int32)
    r, h = random.standard_normal(N), random.random(N)
    for shape in ((P,), (P, 1), (P, 3)):
        w = random.standard_normal(shape)
        np.testing.assert_allclose(design.product(w), X @ w, atol=1e-12)
        np.testing.assert_allclose(design.product(w, intercept=0.5), X @ w + 0.5, atol=1e-12)
        np.testing.assert_allclose(design.product(w[few], few), X[:, few] @ w[few], atol=1e-12)
        np.testing.assert_allclose(
            design.product(w[few], few, -2.0), X[:, few] @ w[few] - 2.0, atol=1e-12
        )
    for k in (1, 3):
        R = random.standard_normal((N, k))
        np.testing.assert_allclose(design.transposed_product(R), X.T @ R, atol=1e-12)
        np.testing.assert_allclose(design.transposed_product(R, few), X[:, few].T @ R, atol=1e-12)
    np.testing.assert_allclose(design.transposed_product(r), X.T @ r, atol=1e-12)
    np.testing.assert_allclose(design.transposed_product(r, few), X[:, few].T @ r, atol=1e-12)
    np.testing.assert_allclose(design.curvature(h), h @ X**2, atol=1e-12)
    np.testing.assert_allclose(design.curvature(h, few), h @ X[:, few] ** 2, atol=1e-12)


@pytest.mark.parametrize("design", [Design(dense() / 3.0), scaled()], ids=["own", "scaled"])
@pytest.mark.parametrize("nonzero", range(P + 1))
def test_several_right_hand_sides_give_the_bits_of_one(nonzero: int, design: Design) -> None:
    """Whether a product goes by rows or by columns is a matter of speed alone."""
    random = np.random.default_rng(nonzero)
    W, R = np.zeros((P, 4)), random.standard_normal((N, 4))
    W[random.permutation(P)[:nonzero]] = random.standard_normal((nonzero, 4))
    every = np.arange(P, dtype=np.int32)
    for k in range(4):
        one = design.product(np.ascontiguousarray(W[:, k]))
        np.testing.assert_array_equal(design.product(W)[:, k], one)
        np.testing.assert_array_equal(design.product(W[:, k].copy(), every), one)
        np.testing.assert_array_equal(
            design.transposed_product(R)[:, k], design.transposed_product(R[:, k])
        )


@pytest.mark.parametrize("chosen", [False, True])
@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (3, 2)])
def test_matrix_without_documents_features_or_values(shape: tuple[int, int], chosen: bool) -> None:
    n, p = shape
    other = ScaledColumns(Design(csr_array(shape)), np.arange(p), np.ones(p))
    design = other if chosen else Design(csr_array(shape))
    np.testing.assert_array_equal(design.product(np.ones(p), intercept=2.0), np.full(n, 2.0))
    np.testing.assert_array_equal(design.product(np.ones((p, 2))), np.zeros((n, 2)))
    np.testing.assert_array_equal(design.transposed_product(np.ones(n)), np.zeros(p))
    np.testing.assert_array_equal(design.transposed_product(np.ones((n, 2))), np.zeros((p, 2)))
    np.testing.assert_array_equal(design.curvature(np.ones(n)), np.zeros(p))


def test_the_arrays_of_kernels_cannot_be_written_to() -> None:
    design = Design(dense())
    kinds = [array.dtype for array in design.columns]
    assert kinds == [np.int64, np.int32, np.float64]
    for array in (*design.columns, design.squares, design.features):
        assert array.flags.c_contiguous
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    design.X_csc.data[0] = design.X_csc.data[0]  # views alone are locked


def test_the_callers_matrix_stays_as_it_is() -> None:
    given = messy()
    before = [array.copy() for array in (given.indptr, given.indices, given.data)]
    design = Design(given)
    _ = design.columns, design.squares
    for array, was in zip((given.indptr, given.indices, given.data), before, strict=True):
        np.testing.assert_array_equal(array, was)
        assert array.flags.writeable


def test_errors_name_the_matrix() -> None:
    with pytest.raises(RecordError, match=r"^X has a value .* finite in row 1, column 0: nan\."):
        Design(np.array([[1.0], [np.nan]]))
    with pytest.raises(RecordError, match=r"^the links has the shape \(3,\), but must have 2 dim"):
        Design(np.ones(3), "the links")


def test_derived_arrays_are_made_once_across_threads() -> None:
    design, made, started = Design(dense()), [], threading.Barrier(8)

    def make() -> object:
        made.append(threading.get_ident())
        return object()

    results: list[tuple[Any, ...]] = []

    def use() -> None:
        started.wait()
        results.append((design.X_csc, design.columns, design.cache.get("key", make)))

    threads = [threading.Thread(target=use) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    for values in zip(*results, strict=True):
        assert len(set(map(id, values))) == 1


def test_a_cache_may_ask_itself_while_it_makes_a_value() -> None:
    cache = Cache()
    assert cache.get("outer", lambda: cache.get("inner", lambda: 1) + 1) == 2
    assert cache.get("inner", lambda: 5) == 1


def test_a_failure_is_not_kept() -> None:
    cache = Cache()
    with pytest.raises(ZeroDivisionError):
        cache.get("key", lambda: 1 // 0)
    assert cache.get("key", lambda: 3) == 3


def test_problems_share_a_design() -> None:
    problem = Problem(messy(), Y, validation=(dense()[:4], Y[:4]))
    _ = problem.X_csc
    other = problem.replace(y=-Y, tol=1e-2, start=(np.ones(P), 0.5))
    assert other.design is problem.design
    assert other.X is problem.X is problem.design.X
    assert other.X_csc is problem.X_csc is problem.design.X_csc
    assert problem.validation is not None
    assert other.validation is not None
    assert isinstance(problem.validation[0], Design)
    assert other.validation[0] is problem.validation[0]
    again = Problem(problem.design, Y, validation=problem.validation)
    assert again.design is problem.design
    assert again.validation is not None
    assert again.validation[0] is problem.validation[0]
    doubled = problem.replace(X=2 * problem.X)
    assert doubled.design is not problem.design
    np.testing.assert_array_equal(doubled.X_csc.toarray(), 2 * dense())
    np.testing.assert_array_equal(problem.X.toarray(), dense())


def test_a_copy_in_another_process_starts_with_an_empty_cache() -> None:
    design = Design(dense())
    _ = design.columns, design.cache.get("key", lambda: threading.Lock())
    copy = pickle.loads(pickle.dumps(design))
    np.testing.assert_array_equal(copy.X.toarray(), dense())
    assert copy.cache.get("key", lambda: 7) == 7


def test_a_design_is_shown_in_a_line() -> None:
    values = np.count_nonzero(dense())
    assert repr(Design(dense())) == f"<Design: {N} documents, {P} features, {values} values>"


def _keep(design: Design, made: Design) -> None:
    design.cache.get("some", lambda: made)


def test_columns_of_a_matrix_that_keeps_them_are_freed_with_it() -> None:
    design = Design(dense())
    made = ScaledColumns(design, np.arange(2), np.ones(2))
    _keep(design, made)
    ends = weakref.ref(design.X_csc), weakref.ref(made)
    gc.disable()
    try:
        del design, made
        assert [end() for end in ends] == [None, None]
    finally:
        gc.enable()
