"""Some eigenvectors of a symmetric matrix that is known by its products alone.

The smallest eigenvalues of a graph cluster near zero, where the Lanczos method takes thousands of
steps, each of which is made orthogonal to hundreds of vectors. So it is run on a Chebyshev
polynomial of the matrix M, which is large below a ``cut`` and at most 1 in absolute value above it:

    T_d((top + cut - 2 M) / (top - cut)).

It falls with the eigenvalue below the cut, so if all eigenvalues that are found lie there, they are
the smallest. The first cut is estimated from the distribution of the eigenvalues. Where that is
next to nothing, as for long chains, the degree would be in the hundreds, but a factorization of M
fills up little, and its inverse takes the place of the polynomial.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from scipy.sparse import csc_array

from textreg.records import Floats

# A symmetric matrix (size, size) times a vector or a matrix (size, k).
Product = Callable[[Floats], Floats]

# Largest matrix that is decomposed densely.
DENSE = 1000

# Lanczos steps that estimate the distribution of the eigenvalues.
STEPS = 60

# How far above the largest eigenvalue of these steps all others are taken to lie.
ABOVE = 1.1

# Factor of a cut over the largest eigenvalue wanted.
WIDER = 1.5

# A cut farther above the largest eigenvalue wanted, by this factor, tells them apart badly.
LOOSE = 10.0

# Cuts are at least the largest eigenvalue by 10 to the minus LEAST; limits of the degree d.
LEAST, DEGREES = 20, (20, 1000)

# Most cuts that are tried.
ROUNDS = 12

# Least dimension of the space in which eigenvectors are sought.
SPACE = 40

# By what share an eigenvalue must be larger to be missing; how many are then sought at once.
MISSED, EQUALS = 1e-6, 4

# Share of the largest eigenvalue below which a cut is next to nothing; what is added to the
# diagonal before the factorization, as the smallest eigenvalue may be zero.
FLAT, SHIFT = 1e-4, 1e-6


class Spectrum(NamedTuple):
    """Roughly where the eigenvalues lie: values, ascending, and the share of all at each."""

    values: Floats
    shares: Floats


def eigenvectors(
    product: Product,
    size: int,
    count: int,
    which: Literal["largest", "smallest"],
    matrix: Callable[[], csc_array] | None = None,
) -> tuple[Floats, Floats]:
    """The ``count`` largest or smallest eigenvalues, the extreme one first, and their vectors.

    matrix: makes the matrix itself, if it can be made.
    """
    count = min(count, size)
    if size <= max(DENSE, 3 * count):
        values, vectors = np.linalg.eigh(product(np.eye(size)))
    elif which == "largest":
        values, vectors = _lanczos(product, size, count)
    else:
        values, vectors = _smallest(product, size, count, matrix)
    order = np.argsort(values if which == "smallest" else -values)[:count]
    return values[order], vectors[:, order]


def _lanczos(product: Product, size: int, count: int) -> tuple[Floats, Floats]:
    """The largest eigenvalues."""
    from scipy.sparse.linalg import LinearOperator, eigsh

    operator = LinearOperator((size, size), matvec=product, dtype=np.float64)
    values, vectors = eigsh(
        operator, count, which="LA", v0=_start(size), ncv=max(2 * count + 1, SPACE), tol=1e-6
    )
    return np.asarray(values), np.asarray(vectors)


def _start(size: int) -> Floats:
    """A vector to begin from, the same in every run."""
    return np.random.default_rng(0).standard_normal(size)


def _smallest(
    product: Product, size: int, count: int, matrix: Callable[[], csc_array] | None
) -> tuple[Floats, Floats]:
    """The smallest eigenvalues."""
    spectrum = _spectrum(product, size)
    top = ABOVE * float(spectrum.values[-1])
    cut = float(np.interp(WIDER * count / size, np.cumsum(spectrum.shares), spectrum.values))
    for _ in range(ROUNDS):
        if cut < FLAT * top and matrix is not None:
            inverse = _inverse(matrix())
            vectors = _completed(inverse, *_lanczos(inverse, size, count))
            return _rayleigh(product, vectors), vectors
        cut = min(max(cut, 0.1**LEAST * top), top / WIDER)
        apply = _filtered(product, top, cut)
        filtered, vectors = _lanczos(apply, size, count)
        largest = float(_rayleigh(product, vectors).max())
        if largest <= cut and (cut <= LOOSE * largest or largest <= np.finfo(float).eps * top):
            vectors = _completed(apply, filtered, vectors)
            return _rayleigh(product, vectors), vectors
        cut = WIDER * largest
    values, vectors = _lanczos(lambda v: -product(v), size, count)  # slow, and sure
    return -values, vectors


def _rayleigh(product: Product, vectors: Floats) -> Floats:
    """v'Mv for every one of some vectors of length one."""
    return np.asarray(np.einsum("ij,ij->j", vectors, product(vectors)))


def _completed(apply: Product, values: Floats, vectors: Floats) -> Floats:
    """The vectors of the largest eigenvalues, where some of these may be others' equals.

    The Lanczos method finds one vector of several with the same eigenvalue, and the others late.
    """
    size, count = vectors.shape
    while True:

        def apart(v: Floats, found: Floats = vectors) -> Floats:
            v = apply(v - found @ (found.T @ v))
            return np.asarray(v - found @ (found.T @ v))

        # What a Lanczos process finds is no larger than what there is: something is missing.
        if _spectrum(apart, size).values[-1] <= values.min() * (1.0 + MISSED):
            return vectors
        more = _lanczos(apart, size, EQUALS)[1]
        basis, _ = np.linalg.qr(np.hstack([vectors, more]))
        values, turn = np.linalg.eigh(basis.T @ apply(basis))
        values, vectors = values[-count:], basis @ turn[:, -count:]


def _inverse(matrix: csc_array) -> Product:
    """Its inverse, times a vector or a matrix."""
    from scipy.sparse import identity
    from scipy.sparse.linalg import splu

    shifted = (matrix + SHIFT * identity(matrix.shape[0])).tocsc()
    solve: Product = splu(shifted, "MMD_AT_PLUS_A", 0.0, options={"SymmetricMode": True}).solve
    return solve


def _filtered(product: Product, top: float, cut: float) -> Product:
    """The polynomial of the matrix, times a vector, by its recurrence."""
    center, half = (top + cut) / 2.0, (top - cut) / 2.0
    degree = int(np.clip(2.0 * math.sqrt(top / cut), *DEGREES))

    def apply(v: Floats) -> Floats:
        before, now = v, (center * v - product(v)) / half
        for _ in range(degree - 1):
            before, now = now, 2.0 * (center * now - product(now)) / half - before
        return now

    return apply


def _spectrum(product: Product, size: int) -> Spectrum:
    """An estimate by Gauss quadrature: Lanczos steps from a random vector."""
    basis = np.zeros((STEPS + 1, size))
    basis[0] = _start(size)
    basis[0] /= np.linalg.norm(basis[0])
    diagonal, beside = np.zeros(STEPS), np.zeros(STEPS)
    for k in range(STEPS):
        v = product(basis[k])
        diagonal[k] = v @ basis[k]
        for _ in range(2):  # twice is enough against rounding
            v = v - basis[: k + 1].T @ (basis[: k + 1] @ v)
        beside[k] = np.linalg.norm(v)
        if beside[k] <= np.finfo(float).eps * abs(diagonal[: k + 1]).max():
            break
        basis[k + 1] = v / beside[k]
    inside = slice(k + 1)
    matrix = np.diag(diagonal[inside]) + np.diag(beside[:k], 1) + np.diag(beside[:k], -1)
    values, vectors = np.linalg.eigh(matrix)
    return Spectrum(values, vectors[0] ** 2)
