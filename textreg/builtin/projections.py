"""Logistic regression on a few directions of feature space: baselines of Sandler et al. (2008)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from textreg.errors import UsageError
from textreg.hookspecs import hookimpl
from textreg.kinds import Regularizer
from textreg.linking import scaled_rows
from textreg.params import AUTO, LogGrid, check_prices, param
from textreg.penalties import Separable
from textreg.records import Floats, Graph, Problem, Solution
from textreg.solvers.memo import remember
from textreg.solvers.newton import newton

if TYPE_CHECKING:
    from scipy.sparse import csr_array

DENSE = 1000
"""Matrices up to this size are decomposed whole; Lanczos' method takes the larger ones."""

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
        """Minimise the objective over the combinations; the gap is that of this problem."""
        check_prices(self.name, l2=self.l2)
        key = (self.replace(l2=0.0), problem.graph, problem.weights.tobytes())
        basis = remember(problem.X_csc, key, lambda: self.basis(problem))
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
    the similar links with rows that sum to one (sections 2.1 and 4.1). Features without a link get
    no weight. Time and memory grow with the features embedded, about 200 s and 0.2 GB for 20,000,
    so of a large graph only those take part that most others are linked to.
    """

    name = "lle"
    needs = "graph"
    default_builder = "cooccurrence"
    most: int = param(
        default=12_000, min=1, help="most features that are embedded: those most linked to"
    )

    def basis(self, problem: Problem) -> Basis:
        """UsageError without a graph, or where it has classes or no link."""
        graph, components, most = problem.graph, self.components, self.most
        if graph is None:
            raise UsageError("lle: the problem has no graph; give one, or a builder of graphs.")
        if graph.classes:
            raise UsageError("lle: a graph with classes cannot be embedded; use network.")
        features, V = remember(
            graph, ("lle", components, most), lambda: _embedding(graph, components, most)
        )
        p = problem.X.shape[1]

        def unfold(u: Floats) -> Floats:
            w = np.zeros(p)
            w[features] = V @ u
            return w

        return Basis(_rows(problem.X[:, features] @ V), unfold, lambda w: V.T @ w[features])


def _embedding(graph: Graph, components: int, most: int) -> tuple[Any, Floats]:
    """The linked features, or the ``most`` with the most links to them; and the eigenvectors."""
    from scipy.sparse import csr_array, identity

    links = graph.similar
    incoming = np.bincount(links.indices, minlength=links.shape[0])
    features = np.flatnonzero((np.diff(links.indptr) > 0) | (incoming > 0))
    if not len(features):
        raise UsageError("lle: the graph has no links; ask for more neighbors, or use ridge.")
    if len(features) > most:
        features = np.sort(features[np.argsort(-incoming[features], kind="stable")[:most]])
    R = csr_array(identity(len(features))) - scaled_rows(links[features][:, features])
    Rt = R.T.tocsr()
    V = eigenvectors(lambda v: Rt @ (R @ v), len(features), components, "smallest")[1]
    return features, V


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
