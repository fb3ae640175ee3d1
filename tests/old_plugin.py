"""A plugin as it was written for the first interface. It is never changed: all it uses is promised.

One class of each kind, with all the methods that a plugin may write.
"""

import numpy as np
from scipy.sparse import csr_array

from textreg.hookspecs import hookimpl
from textreg.kinds import GraphBuilder, GroupBuilder, Penalized, Regularizer, Tokenizer
from textreg.params import AUTO, LogGrid, param
from textreg.penalties import Separable
from textreg.records import Graph, Groups, Problem, Solution, Tokens
from textreg.solvers.newton import newton
from textreg.solvers.proximal import proximal


class OldWords(Tokenizer):
    """Words between spaces."""

    name = "old-words"
    lower: bool = param(default=True, help="make all letters small")

    def __call__(self, text):
        return [(text.lower() if self.lower else text).split()]

    def encode(self, texts, *, spans=False):
        tokens = super().encode(texts)
        assert isinstance(tokens, Tokens)
        return tokens


class OldPairs(GroupBuilder):
    """Every two features that follow each other."""

    name = "old-pairs"
    weight: float = param(default=1.0, min=0, help="price of a group")

    def build(self, tokens):
        p = len(tokens.vocabulary)
        starts = np.arange(0, p - 1, 2)
        indices = (starts[:, None] + [0, 1]).ravel().astype(np.int32)
        indptr = np.arange(0, len(indices) + 1, 2)
        return Groups(indptr, indices, np.full(len(starts), self.weight), p)


class OldChain(GraphBuilder):
    """Every feature linked to the one after it."""

    name = "old-chain"

    def build(self, tokens):
        p = len(tokens.vocabulary)
        rows = np.arange(p - 1)
        return Graph(csr_array((np.ones(p - 1), (rows, rows + 1)), shape=(p, p)))


class Price:
    """l1 |w|."""

    def __init__(self, l1):
        self.l1 = l1

    def value(self, w):
        return self.l1 * float(np.abs(w).sum())

    def prox(self, w, step):
        return np.sign(w) * np.maximum(np.abs(w) - step * self.l1, 0.0)


class OldPrice(Penalized):
    """A penalty, and nothing else."""

    name = "old-price"
    l1: float = param(default=AUTO, min=0, search=LogGrid(1e-2, 0.3, 3), help="price")

    def penalty(self, problem):
        return Price(self.l1)


class OldReg(Regularizer):
    """All that a regularizer may write."""

    name = "old-reg"
    needs = "groups"
    default_builder = "old-pairs"
    l1: float = param(default=AUTO, min=0, search=LogGrid(1e-2, 0.3, 3), help="price")
    way: str = param(default="newton", choices=("newton", "proximal"), help="how it is solved")

    def scale(self, problem, parameter):
        return super().scale(problem, parameter)

    def candidates(self, problem):
        return super().candidates(problem)

    def path(self, problem, candidates):
        for one in candidates:
            yield one, one.solve(problem)

    def solve(self, problem):
        assert isinstance(problem, Problem)
        n, p = problem.X.shape
        assert problem.y.shape == problem.weights.shape == (n,)
        assert problem.groups.n_features == p
        if self.way == "proximal":
            return proximal(problem, Price(self.l1))
        found = newton(problem, Separable.constant(p, l1=self.l1))
        return Solution(
            w=found.w,
            b=found.b,
            objective=found.objective,
            gap=found.gap,
            iterations=found.iterations,
            converged=found.converged,
        )


@hookimpl
def textreg_tokenizers():
    return [OldWords]


@hookimpl
def textreg_group_builders():
    return [OldPairs]


@hookimpl
def textreg_graph_builders(api):
    assert api >= 1
    return [OldChain]


@hookimpl
def textreg_regularizers():
    return [OldReg, OldPrice]
