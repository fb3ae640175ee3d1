"""Logistic regression on a few directions of feature space: baselines of Sandler et al. (2008)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from textreg.errors import UsageError
from textreg.hookspecs import hookimpl
from textreg.kinds import Regularizer
from textreg.params import AUTO, LogGrid, check_decided, param
from textreg.penalties import Separable
from textreg.records import Floats, Graph, Int64s, Problem, Solution
from textreg.solvers.newton import newton
from textreg.structure.linking import scaled_rows

if TYPE_CHECKING:
    from scipy.sparse import csr_array

DENSE = 1000
"""Matrices up to this size are decomposed whole; Lanczos' method takes the larger ones."""

SMALL = 0.1
"""Share of the largest set of features, below which another one is not embedded."""

FULL = 100
"""Entries a row of (I - P)'(I - P) above which its factor would fill up. Below, eigenvalues crowd
near zero, and those of the inverse are found many times sooner."""

SHIFT = 1e-6
"""Added to the diagonal before it is factorized, as the smallest eigenvalue is zero."""

TINY = 1e-10
"""Share of the largest singular value below which a direction is rounding."""


class Basis(NamedTuple):
    """Directions V (p, k) with orthonormal columns, which need not be held.

    scores: X V, CSR (n, k). unfold: V u for u (k,). fold: V'w for w (p,).
    """

    scores: csr_array
    unfold: Callable[[Floats], Floats]
    fold: Callable[[Floats], Floats]


class Projection(Regularizer):
    """Weights that are combinations of a few directions: w = V u (docs/networks.md, N3)."""

    components: int = param(default=200, min=1, help="most directions")
    l2: float = param(
        default=AUTO, min=0, search=LogGrid(1e-4, 1.0, 5), help="price of the squared weights"
    )

    @abstractmethod
    def basis(self, problem: Problem) -> Basis:
        """The directions, and the documents in them."""

    def solve(self, problem: Problem) -> Solution:
        """Minimize the objective over the combinations; the gap is that of this problem."""
        check_decided(self.name, l2=self.l2)
        key = (self.replace(l2=0.0), problem.graph, problem.weights.tobytes())
        basis = problem.design.cache.get(key, lambda: self.basis(problem))
        start = problem.start and (basis.fold(problem.start[0]), problem.start[1])
        inner = problem.replace(X=basis.scores, groups=None, graph=None, start=start)
        solution = newton(inner, Separable.constant(basis.scores.shape[1], l2=self.l2))
        return replace(solution, w=basis.unfold(solution.w))


class PrincipalComponents(Projection):
    """Principal components: weights in the span of the first right singular vectors of X.

        loss + l2 ||w||_2^2,    w = V u

    with V the vectors of the ``components`` largest singular values (section 4.1), every document
    counted as often as its weight says. Assumes that what tells documents apart most also tells the
    labels apart.
    """

    name = "pcr"

    def basis(self, problem: Problem) -> Basis:
        """V = X'C U / S, from the eigenvectors U of C XX' C, C the roots of the weights."""
        n, root = problem.X.shape[0], np.sqrt(problem.weights)
        # The closures below must not hold the matrix that the basis is kept with.
        columns = problem.X.multiply(root[:, None]).T.tocsr()
        rows = columns.T.tocsr()
        squares, U = eigenvectors(lambda v: rows @ (columns @ v), n, self.components, "largest")
        kept = squares > max(float(squares.max(initial=0.0)), 1e-300) * TINY**2 * n
        S, U = np.sqrt(squares[kept]), U[:, kept]
        scores = problem.X @ (columns @ (U / S))
        return Basis(
            _rows(scores), lambda u: columns @ (U @ (u / S)), lambda w: U.T @ (rows @ w) / S
        )


class LocallyLinear(Projection):
    """Locally linear embedding of the features: weights near the mean of their neighbors'.

        loss + l2 ||w||_2^2,    w = V u

    with V the eigenvectors of (I - P)'(I - P) of the ``components`` smallest eigenvalues, P holding
    the similar links with rows that sum to one (sections 2.1 and 4.1). Each set of features that no
    link leaves would have a direction of its own, and thousands of sets are a few words quoted
    together; so links count within sets whose features all lead to each other, and small sets, like
    features without a link, get no weight.
    """

    name = "lle"
    needs = "graph"
    default_builder = "cooccurrence"
    most: int = param(
        default=12_000, min=1, help="most features that take part: those in most documents"
    )

    def basis(self, problem: Problem) -> Basis:
        """UsageError without a graph, or where it has classes or no link."""
        graph, components = problem.graph, self.components
        if graph is None:
            raise UsageError("lle: the problem has no graph; give one, or a builder of graphs.")
        if graph.classes:
            raise UsageError("lle: a graph with classes cannot be embedded; use network.")
        p, documents, links = problem.X.shape[1], problem.X, graph.similar
        incoming = np.bincount(links.indices, minlength=p)
        linked = np.flatnonzero((np.diff(links.indptr) > 0) | (incoming > 0))
        if not len(linked):
            raise UsageError("lle: the graph has no links; ask for more neighbors, or use ridge.")
        if len(linked) > self.most:
            counts = np.repeat(problem.weights, np.diff(documents.indptr))
            frequency = np.bincount(documents.indices, counts, p)[linked]
            linked = np.sort(linked[np.argsort(-frequency, kind="stable")[: self.most]])
        features, V = graph.cache.get(
            ("lle", components, linked.tobytes()),
            lambda: _embedding(graph, linked, components),
        )

        def unfold(u: Floats) -> Floats:
            w = np.zeros(p)
            w[features] = V @ u
            return w

        return Basis(_rows(problem.X[:, features] @ V), unfold, lambda w: V.T @ w[features])


def _embedding(graph: Graph, linked: Int64s, components: int) -> tuple[Int64s, Floats]:
    """Those of the ``linked`` features that lie in large sets, and the eigenvectors."""
    from scipy.sparse import csr_array, identity
    from scipy.sparse.csgraph import connected_components
    from scipy.sparse.linalg import splu

    P = graph.similar[linked][:, linked]
    _, sets = connected_components(P, directed=True, connection="strong")
    size = np.bincount(sets)[sets]
    if size.max() > 1:  # without a way back anywhere no links are left to themselves
        large = np.flatnonzero(size >= SMALL * size.max())
        linked, sets = linked[large], sets[large]
        pairs = P[large][:, large].tocoo()
        within = sets[pairs.row] == sets[pairs.col]
        P = csr_array(
            (pairs.data[within], (pairs.row[within], pairs.col[within])), shape=pairs.shape
        )
    R = csr_array(identity(len(linked))) - scaled_rows(P)
    Rt = R.T.tocsr()
    M = (Rt @ R).tocsc()
    if M.nnz > FULL * len(linked):
        return linked, eigenvectors(lambda v: Rt @ (R @ v), len(linked), components, "smallest")[1]
    shifted = (M + SHIFT * identity(len(linked))).tocsc()
    factor = splu(shifted, "MMD_AT_PLUS_A", 0.0, options={"SymmetricMode": True})
    return linked, eigenvectors(factor.solve, len(linked), components, "largest")[1]


def eigenvectors(
    product: Callable[[Floats], Floats],
    size: int,
    count: int,
    which: Literal["largest", "smallest"],
) -> tuple[Floats, Floats]:
    """The ``count`` largest or smallest eigenvalues, the extreme one first, and their vectors.

    product: a symmetric matrix (size, size) times a vector or a matrix (size, k).
    """
    from scipy.sparse.linalg import LinearOperator, eigsh

    count = min(count, size)
    if size <= max(DENSE, 3 * count):
        values, vectors = np.linalg.eigh(product(np.eye(size)))
    else:
        operator = LinearOperator((size, size), matvec=product, dtype=np.float64)
        begin = np.random.default_rng(0).standard_normal(size)  # the same in every run
        side = "LA" if which == "largest" else "SA"
        values, vectors = eigsh(operator, count, which=side, v0=begin, ncv=2 * count + 1, tol=1e-6)
    order = np.argsort(values if which == "smallest" else -values)[:count]
    return values[order], vectors[:, order]


def _rows(Z: Floats) -> csr_array:
    """A dense matrix in the form of a sparse one."""
    from scipy.sparse import csr_array

    return csr_array(Z)


@hookimpl
def textreg_regularizers() -> list[type[Regularizer]]:
    """Both of them."""
    return [PrincipalComponents, LocallyLinear]
