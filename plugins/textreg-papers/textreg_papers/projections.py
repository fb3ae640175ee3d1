"""Regression on a few directions of feature space: the baselines of sandler2008, section 4.1."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from textreg.errors import UsageError
from textreg.hookspecs import hookimpl
from textreg.kinds import Regularizer
from textreg.params import AUTO, LogGrid, check_decided, param
from textreg.penalties import Separable
from textreg.records import Design, Floats, Graph, Int64s, Problem, Solution
from textreg.solvers.newton import newton
from textreg.structure.linking import scaled_rows
from textreg_papers.eigenvectors import eigenvectors

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
    l2: float = param(default=AUTO, min=0, search=LogGrid(1e-4, 1.0, 5), help="l2 penalty strength")

    @abstractmethod
    def basis(self, problem: Problem) -> Basis:
        """The directions, and the scores of the documents in them."""

    def objective(self, problem: Problem, w: Floats, b: float) -> float:
        """Loss plus penalty; infinite for other weights than combinations of the directions."""
        basis = self._basis(problem)
        apart = float(np.linalg.norm(w - basis.expand(basis.project(w))))
        if apart > NEAR * max(float(np.linalg.norm(w)), NEAR):
            return math.inf
        return super().objective(problem, w, b) + self.l2 * float(w @ w)

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
            ("lle", components, linked.tobytes()),
            lambda: _embedding(graph, linked, components),
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
    found = eigenvectors(
        lambda v: Rt @ (R @ v), size, components, "smallest", lambda: (Rt @ R).tocsc()
    )
    return linked, found[1]


@hookimpl
def textreg_regularizers() -> list[type[Regularizer]]:
    """Both of them."""
    return [PrincipalComponents, LocallyLinear]
