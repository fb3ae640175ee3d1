"""The graph-guided fused lasso: linked words get equal weights, most words none."""

from __future__ import annotations

import warnings

import numpy as np

from textreg.errors import ConvergenceWarning, UsageError
from textreg.hookspecs import hookimpl
from textreg.kinds import Penalized, Regularizer
from textreg.params import LogGrid, param
from textreg.penalties import soft
from textreg.records import Floats, Graph, Problem
from textreg_fused.kernel import link_rounds

# Duality gap of a prox, relative to 1/2 ||w||^2: weights are right to six digits at least.
NEAR = 1e-12

# What the gap owes to rounding, relative to the products that it is a sum of.
ROUNDING = 1e-16

# Rounds of a prox at most; one or two are the rule, as each starts where the last one ended.
MOST = 10_000


class Fused:
    """fuse sum_e c_e |w_i - w_j| + l1 ||w||_1 over the links e = (i, j) of a graph.

    prox has no formula. With dual variables |u_e| <= step fuse c_e it is soft(w - D'u, step l1) for
    the u with the least 1/2 ||soft(w - D'u, step l1)||^2, where (D'u)_j sums u over the links of j;
    coordinate descent finds that (Friedman et al. 2007 has the case of a chain). c_e is the sum of
    the weights of both directions.
    """

    def __init__(self, graph: Graph, fuse: float, l1: float) -> None:
        from scipy.sparse import triu

        links = triu(graph.similar + graph.similar.T, format="coo")
        self.heads, self.tails = links.row.astype(np.int32), links.col.astype(np.int32)
        self.strengths: Floats = fuse * links.data
        self.l1 = l1
        self.u = np.zeros(len(self.strengths))

    def value(self, w: Floats) -> float:
        """The penalty at w (p,)."""
        apart = np.abs(w[self.heads] - w[self.tails])
        return float(self.strengths @ apart) + self.l1 * float(np.abs(w).sum())

    def prox(self, w: Floats, step: float) -> Floats:
        """argmin_x 1/2 ||x - w||^2 + step * value(x); warns where that is not found to six digits.

        Starts from the dual variables of the last call, so two calls differ by rounding.
        """
        size = float(np.abs(w).sum())
        bounds = np.minimum(step * self.strengths, size)  # over no link flows more than there is
        u = np.clip(step * self.u, -bounds, bounds)
        z = w - np.bincount(self.heads, u, len(w)) + np.bincount(self.tails, u, len(w))
        least = NEAR * 0.5 * float(w @ w) + ROUNDING * size * float(bounds.sum())
        room = np.empty(len(u), dtype=np.int32)
        gap = link_rounds(self.heads, self.tails, bounds, step * self.l1, u, z, room, least, MOST)
        if gap > least:
            warnings.warn(
                f"fused: a prox was left at a gap of {gap:.1g} after {MOST:,} rounds.",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.u = u / step
        return soft(z, step * self.l1)


class GraphFused(Penalized):
    """Linked words have the same weight, and few words have any (Tibshirani et al. 2005).

        loss + fuse sum_e c_e |w_i - w_j| + l1 ||w||_1

    over the links e = (i, j) of a graph, c_e the sum of the weights of both directions. Where a
    Laplacian pulls linked weights near each other, this makes most of them equal, so that the
    model is a few sets of words with one weight each.
    """

    name = "fused"
    needs = "graph"
    default_builder = "cooccurrence"
    l1: float = param(min=0, search=LogGrid(1e-3, 0.3, 4), help="strength of the l1 penalty")
    fuse: float = param(
        min=0,
        search=LogGrid(1e-4, 1e-2, 3),
        help="strength of the penalty on differences of linked weights",
    )

    def penalty(self, problem: Problem) -> Fused:
        """UsageError where the problem has no graph, or one with dissimilar links or classes."""
        graph = problem.graph
        if graph is None or graph.classes or graph.dissimilar is not None:
            raise UsageError(
                f"{self.name}: needs a graph of similar features, without classes and dissimilar "
                "links: take a graph builder such as cooccurrence."
            )
        return Fused(graph, self.fuse, self.l1)


@hookimpl
def textreg_regularizers() -> list[type[Regularizer]]:
    """The one."""
    return [GraphFused]
