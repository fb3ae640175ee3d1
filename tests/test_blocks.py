"""Products with several vectors in one pass over the matrix."""

from __future__ import annotations

import numpy as np
import pytest
from kernel_inputs import random_matrix

from textreg.records.design import Design

WIDTHS = (1, 3, 4, 8, 16, 29)


@pytest.fixture(scope="module")
def design() -> Design:
    rng = np.random.default_rng(5)
    return Design(random_matrix((60, 50), 0.2, rng))


@pytest.mark.parametrize("width", WIDTHS)
def test_the_bits_of_a_vector_do_not_depend_on_the_others(design: Design, width: int) -> None:
    rng = np.random.default_rng(width)
    W, R = rng.normal(size=(50, width)), rng.normal(size=(60, width))
    scores, products = design.product(W), design.transposed_product(R)
    for k in range(width):
        assert (scores[:, k] == design.product(W[:, k])).all()
        assert (products[:, k] == design.transposed_product(R[:, k])).all()


@pytest.mark.parametrize("width", WIDTHS)
def test_the_bits_do_not_depend_on_the_layout(design: Design, width: int) -> None:
    from textreg._core.blocks import block_dots, block_sums

    rng = np.random.default_rng(width)
    W, R = rng.normal(size=(50, width)), rng.normal(size=(60, width))
    by_rows, by_columns = np.zeros((50, width)), np.zeros((60, width))
    block_sums(*design.rows, R, by_rows)
    block_sums(*design.columns, W, by_columns)
    assert (by_rows == design.transposed_product(R)).all()
    assert (by_columns == design.product(W)).all()
    dots = np.empty((60, width))
    block_dots(*design.rows, W, dots)
    assert (dots == by_columns).all()


def test_float32_values_that_are_exact_change_no_bit(design: Design) -> None:
    from textreg._core.blocks import block_dots

    indptr, indices, data = design.rows
    W = np.random.default_rng(0).normal(size=(50, 9))
    single = np.round(data * 8.0).astype(np.float32)
    one, other = np.empty((60, 9)), np.empty((60, 9))
    block_dots(indptr, indices, single, W, one)
    block_dots(indptr, indices, single.astype(np.float64), W, other)
    assert (one == other).all()
