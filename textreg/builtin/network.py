"""Regularizers with a network of features (Sandler, Talukdar, Ungar & Blitzer 2008)."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from textreg.errors import UsageError
from textreg.hookspecs import hookimpl
from textreg.kinds import Regularizer
from textreg.params import LogGrid, check_decided, param
from textreg.penalties import Links, Quadratic
from textreg.records import Floats, Graph, Int64s, MultiSolution, Problem, Solution
from textreg.solvers.newton import quadratic
from textreg.solvers.reduce import MergedColumns, merge_linked_columns
from textreg.solvers.softmax import QuadraticStep, multinomial
from textreg.structure.linking import scaled_rows

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class Linked(Regularizer):
    """A quadratic penalty that ties the weights of linked features together."""

    needs = "graph"
    default_builder = "cooccurrence"
    softmax = True
    alpha: float
    beta: float = param(min=0, search=LogGrid(1e-4, 1e-2, 3), help="l2 penalty strength")

    @abstractmethod
    def links(self, graph: Graph) -> Links:
        """The quadratic form of the graph, made once for all problems that share it."""

    def scale(self, problem: Problem, parameter: str) -> float:
        """As of l2, since both strengths are of squares."""
        return super().scale(problem, "l2")

    def penalty(self, problem: Problem) -> Quadratic:
        """The penalty for ``problem``; UsageError if it has no graph."""
        check_decided(self.name, alpha=self.alpha, beta=self.beta)
        if problem.graph is None:
            raise UsageError(
                f"{self.name}: the problem has no graph; give one, or name a graph builder."
            )
        return Quadratic(self.links(problem.graph), self.alpha, self.beta)

    def solve(self, problem: Problem) -> Solution:
        """Minimize loss + penalty, to the relative duality gap ``problem.tol``."""
        merged, penalty = self._merge(problem)
        return merged.expand_solution(quadratic(merged.merge_problem(problem), penalty))

    def solve_softmax(
        self, problem: Problem, codes: Int64s, start: tuple[Floats, Floats] | None = None
    ) -> MultiSolution:
        """Minimize the softmax loss of all classes + penalty; UsageError if ``beta`` is 0."""
        merged, penalty = self._merge(problem)
        if not penalty.l2 > 0.0:
            raise UsageError(
                f"{self.name}: softmax needs a beta above 0, because without a ridge there is no "
                "lower bound to stop by. Set beta, or leave out multiclass."
            )
        small = merged.merge_problem(problem)
        if start is not None:
            start = merged.merge_start(start)
        solution = multinomial(small, codes, QuadraticStep(small, penalty), start)
        return merged.expand_solution(solution)

    def _merge(self, problem: Problem) -> tuple[MergedColumns, Quadratic]:
        """Parallel columns without links as one feature each, and the penalty of these."""
        penalty = self.penalty(problem)
        merged, links = merge_linked_columns(problem, penalty.links)
        return merged, Quadratic(links, penalty.strength, penalty.l2)


class Network(Linked):
    """Each weight is drawn to the mean of its neighbors' weights (sandler2008, section 2).

        loss + alpha (||(I - P) w||^2 + ||(I + Q) w||^2) + beta ||w||^2     (docs/networks.md, N1)

    P and Q hold the links between similar and between dissimilar features, each row divided by its
    sum. A feature without a similar one is drawn to zero, as its row of P is empty. Rows of I + Q
    without a dissimilar feature are left out, and so are the rows of virtual features (classes,
    section 3.1) without links of their own. Words that occur in no labeled document get weights
    from their neighbors, so unlabeled documents help.
    """

    name = "network"
    alpha: float = param(min=0, search=LogGrid(1e-3, 1.0, 4), help="strength of ties to neighbors")

    def links(self, graph: Graph) -> Links:
        """The rows of (N1)."""
        return graph.cache.get("network", lambda: Links(network_rows(graph), graph.classes))


class Laplacian(Linked):
    """Linked features get similar weights, link by link (sandler2008, section 3.3).

        loss + alpha / 2 sum_ij W_ij (w_i - w_j)^2 + beta ||w||^2     (docs/networks.md, N2)

    W_ij is the weight of the link from i to j. Links of one direction count half in both, W =
    (W + W') / 2. With ``normalized``, w_i is divided by the square root of its degree D_ii =
    sum_j W_ij. Links between dissimilar features add (w_i + w_j)^2 (Goldberg et al. 2007).
    """

    name = "laplacian"
    alpha: float = param(
        min=0, search=LogGrid(1e-4, 1e-1, 4), help="strength of ties between linked features"
    )
    normalized: bool = param(
        default=False, help="divide each weight by the square root of its feature's degree first"
    )

    def links(self, graph: Graph) -> Links:
        """The rows of (N2)."""
        normalized = self.normalized
        return graph.cache.get(
            ("laplacian", normalized),
            lambda: Links(laplacian_rows(graph, normalized=normalized), graph.classes),
        )


def network_rows(graph: Graph) -> csr_array:
    """I - P stacked on I + Q, without the rows that are left out; CSR (rows, p + classes)."""
    from scipy.sparse import csr_array, identity, vstack

    size = graph.similar.shape[0]
    eye = csr_array(identity(size))
    real = np.arange(size) < graph.n_features
    linked = np.diff(graph.similar.indptr) > 0
    rows = (eye - scaled_rows(graph.similar))[np.flatnonzero(real | linked)]
    if graph.dissimilar is None:
        return csr_array(rows)
    opposed = np.flatnonzero(np.diff(graph.dissimilar.indptr))
    return csr_array(vstack([rows, (eye + scaled_rows(graph.dissimilar))[opposed]]))


def laplacian_rows(graph: Graph, *, normalized: bool = False) -> csr_array:
    """One row for each linked pair, sqrt(W_ij) (e_i - e_j), or + for dissimilar features."""
    from scipy.sparse import csr_array, triu, vstack

    size = graph.similar.shape[0]
    parts = []
    for links, sign in ((graph.similar, -1.0), (graph.dissimilar, 1.0)):
        if links is None:
            continue
        W = 0.5 * (links + links.T)
        degree = np.asarray(W.sum(axis=1)).ravel()
        pairs = triu(W, format="coo")
        weight = np.sqrt(pairs.data)
        ends = [weight, sign * weight]
        if normalized:
            ends = [weight / np.sqrt(degree[pairs.row]), sign * weight / np.sqrt(degree[pairs.col])]
        row = np.arange(len(weight))
        coordinates = np.concatenate([row, row]), np.concatenate([pairs.row, pairs.col])
        parts.append(csr_array((np.concatenate(ends), coordinates), shape=(len(weight), size)))
    return csr_array(vstack(parts))


@hookimpl
def textreg_regularizers() -> list[type[Regularizer]]:
    """Both of them."""
    return [Network, Laplacian]
