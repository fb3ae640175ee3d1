"""Regression on a few directions of feature space: the baselines of sandler2008, section 4.1.

One of them needs the eigenvectors of a symmetric matrix that is known by its products alone.
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
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np

# Not later: a training keeps the BLAS to one thread that is there when it begins.
from scipy.linalg import eigh_tridiagonal
from scipy.sparse import csc_array
from scipy.sparse.linalg import LinearOperator, eigsh, splu

from textreg.errors import UsageError
from textreg.hookspecs import hookimpl
from textreg.kinds import Regularizer
from textreg.params import LogGrid, check_decided, param
from textreg.penalties import Separable
from textreg.records import Design, Floats, Graph, Int64s, Problem, Solution
from textreg.solvers.newton import newton
from textreg.structure.linking import scaled_rows

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

        def apart(v: Floats, basis: Floats = vectors) -> Floats:
            v = apply(v - basis @ (basis.T @ v))
            return np.asarray(v - basis @ (basis.T @ v))

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
    values, vectors = eigh_tridiagonal(diagonal[: k + 1], beside[:k])
    return Spectrum(values, vectors[0] ** 2)


# Connected sets of features smaller than this share of the largest one are not embedded.
SMALL = 0.1

# Share of their norm by which weights may be off the directions, as rounding.
NEAR = 1e-6

# Share of the largest singular value below which a direction is rounding error.
TINY = 1e-10


class Basis(NamedTuple):
    """Directions V (p, k) with orthonormal columns, which need not be in memory.

    scores: X V. expand: V u for u (k,). project: V'w for w (p,).
    """

    scores: Design
    expand: Callable[[Floats], Floats]
    project: Callable[[Floats], Floats]


class Projection(Regularizer):
    """Weights that are linear combinations of a few directions, w = V u (docs/networks.md, N3)."""

    components: int = param(default=200, min=1, help="largest number of directions")
    l2: float = param(min=0, search=LogGrid(1e-4, 1.0, 5), help="l2 penalty strength")

    @abstractmethod
    def basis(self, problem: Problem) -> Basis:
        """The directions, and the scores of the documents in them."""

    def objective(self, problem: Problem, w: Floats, b: float) -> float:
        """Loss plus penalty; infinite for other weights than combinations of the directions.

        Of weights that are off them by rounding it is that of the nearest combination, as a step
        beside the directions, however short, may lower the loss.
        """
        basis = self._basis(problem)
        nearest = basis.expand(basis.project(w))
        if np.linalg.norm(w - nearest) > NEAR * max(float(np.linalg.norm(w)), NEAR):
            return math.inf
        return super().objective(problem, nearest, b) + self.l2 * float(nearest @ nearest)

    def solve(self, problem: Problem) -> Solution:
        """Minimize loss + penalty over u; the gap is that of this smaller problem."""
        check_decided(self.name, l2=self.l2)
        basis = self._basis(problem)
        start = problem.start and (basis.project(problem.start[0]), problem.start[1])
        inner = problem.replace(X=basis.scores, groups=None, graph=None, start=start)
        solution = newton(inner, Separable.constant(basis.scores.shape[1], l2=self.l2))
        return replace(solution, w=basis.expand(solution.w))

    def _basis(self, problem: Problem) -> Basis:
        """The directions, made once for all strengths."""
        key = (self.replace(l2=0.0), problem.graph, problem.sample_weight.tobytes())
        basis: Basis = problem.design.cache.get(key, lambda: self.basis(problem))
        return basis


class PrincipalComponents(Projection):
    """Principal component regression: weights in the span of the first singular vectors of X.

        loss + l2 ||w||_2^2,    w = V u

    with V the right singular vectors of the ``components`` largest singular values, each document
    counted by its weight. Assumes that the directions of largest variance separate the labels.
    """

    name = "pcr"

    def basis(self, problem: Problem) -> Basis:
        """V = X'C U / S, from the eigenvectors U of C XX' C, C the roots of the weights."""
        n, root = problem.design.shape[0], np.sqrt(problem.sample_weight)
        columns = problem.X.multiply(root[:, None]).T.tocsr()
        rows = columns.T.tocsr()
        squares, U = eigenvectors(lambda v: rows @ (columns @ v), n, self.components, "largest")
        nonzero = squares > max(float(squares.max(initial=0.0)), 1e-300) * TINY**2 * n
        S, U = np.sqrt(squares[nonzero]), U[:, nonzero]
        scores = problem.X @ (columns @ (U / S))
        return Basis(
            Design(scores), lambda u: columns @ (U @ (u / S)), lambda w: U.T @ (rows @ w) / S
        )


class LocallyLinear(Projection):
    """Locally linear embedding of the features: weights near the mean of their neighbors' weights.

        loss + l2 ||w||_2^2,    w = V u

    with V the eigenvectors of (I - P)'(I - P) of the ``components`` smallest eigenvalues, P holding
    the links between similar features, with rows that sum to one (sandler2008, sections 2.1 and
    4.1). Every closed set of features has an eigenvalue of zero, and thousands of such sets are a
    few words quoted together. So only links within strongly connected components count, and
    features of small components, or without a link, get no weight.
    """

    name = "lle"
    needs = "graph"
    default_builder = "cooccurrence"
    most: int = param(
        default=100_000, min=1, help="largest number of features: those in the most documents"
    )

    def basis(self, problem: Problem) -> Basis:
        """UsageError if the problem has no graph, or one with classes or without links."""
        graph, components = problem.graph, self.components
        if graph is None:
            raise UsageError("lle: the problem has no graph; give one, or name a graph builder.")
        if graph.classes:
            raise UsageError("lle: a graph with classes cannot be embedded; use network.")
        p, documents, links = problem.design.shape[1], problem.X, graph.similar
        incoming = np.bincount(links.indices, minlength=p)
        linked = np.flatnonzero((np.diff(links.indptr) > 0) | (incoming > 0))
        if not len(linked):
            raise UsageError("lle: the graph has no links; allow more neighbors, or use ridge.")
        if len(linked) > self.most:
            counts = np.repeat(problem.sample_weight, np.diff(documents.indptr))
            frequency = np.bincount(documents.indices, counts, p)[linked]
            linked = np.sort(linked[np.argsort(-frequency, kind="stable")[: self.most]])
        features, V = graph.cache.get(
            ("lle", components, linked.tobytes()), lambda: _embedding(graph, linked, components)
        )

        def expand(u: Floats) -> Floats:
            w = np.zeros(p)
            w[features] = V @ u
            return w

        return Basis(Design(problem.X[:, features] @ V), expand, lambda w: V.T @ w[features])


def _embedding(graph: Graph, linked: Int64s, components: int) -> tuple[Int64s, Floats]:
    """The ``linked`` features that are in large components, and their eigenvectors."""
    from scipy.sparse import csr_array, identity
    from scipy.sparse.csgraph import connected_components

    P = graph.similar[linked][:, linked]
    _, sets = connected_components(P, directed=True, connection="strong")
    size = np.bincount(sets)[sets]
    if size.max() > 1:  # without any cycle all components are single features
        large = np.flatnonzero(size >= SMALL * size.max())
        linked, sets = linked[large], sets[large]
        pairs = P[large][:, large].tocoo()
        within = sets[pairs.row] == sets[pairs.col]
        P = csr_array(
            (pairs.data[within], (pairs.row[within], pairs.col[within])), shape=pairs.shape
        )
    R = csr_array(identity(len(linked))) - scaled_rows(P)
    Rt = R.T.tocsr()
    size = len(linked)
    spectrum = eigenvectors(
        lambda v: Rt @ (R @ v), size, components, "smallest", lambda: (Rt @ R).tocsc()
    )
    return linked, spectrum[1]


@hookimpl
def textreg_regularizers() -> list[type[Regularizer]]:
    """Both of them."""
    return [PrincipalComponents, LocallyLinear]
