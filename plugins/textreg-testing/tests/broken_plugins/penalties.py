"""Penalties as strangers write them, and their mistakes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from textreg.records import Floats
from textreg_testing import check_penalty

from .bug import Bug

__all__ = ["BUGS", "ORIGINALS", "check"]

SIZE = 9


def check(penalty: Any) -> None:
    """Hold a penalty of SIZE weights to its contract."""
    check_penalty(penalty, SIZE)


class L1:
    """strength ||w||_1."""

    strength = 0.7

    def value(self, w: Floats) -> float:
        return self.strength * float(np.abs(w).sum())

    def prox(self, w: Floats, step: float) -> Floats:
        return np.sign(w) * np.maximum(np.abs(w) - step * self.strength, 0.0)

    def conjugate(self, t: Floats) -> float:
        return 0.0 if float(np.abs(t).max()) <= self.strength else math.inf


class Elastic:
    """l1 ||w||_1 + l2 ||w||_2^2."""

    l1, l2 = 0.4, 0.3

    def value(self, w: Floats) -> float:
        return float(self.l1 * np.abs(w).sum() + self.l2 * (w @ w))

    def prox(self, w: Floats, step: float) -> Floats:
        shrunk = np.sign(w) * np.maximum(np.abs(w) - step * self.l1, 0.0)
        return shrunk / (1.0 + 2.0 * step * self.l2)

    def conjugate(self, t: Floats) -> float:
        over = np.maximum(np.abs(t) - self.l1, 0.0)
        return float(over @ over) / (4.0 * self.l2)


class SortedL1:
    """sum_k lambda_k |w|_(k) of decreasing lambda_k (SLOPE, OWL)."""

    lambdas = np.linspace(1.0, 0.2, SIZE)

    def value(self, w: Floats) -> float:
        return float(self.lambdas @ -np.sort(-np.abs(w)))

    def pooled(self, v: Floats) -> Floats:
        """The nearest decreasing sequence, pool by pool."""
        sums: list[float] = []
        sizes: list[int] = []
        for one in v:
            sums.append(float(one))
            sizes.append(1)
            while len(sums) > 1 and sums[-2] * sizes[-1] <= sums[-1] * sizes[-2]:
                total, size = sums.pop(), sizes.pop()
                sums[-1] += total
                sizes[-1] += size
        return np.repeat(np.array(sums) / np.array(sizes), sizes)

    def prox(self, w: Floats, step: float) -> Floats:
        order = np.argsort(-np.abs(w), kind="stable")
        x = np.empty_like(w)
        x[order] = np.maximum(self.pooled(np.abs(w)[order] - step * self.lambdas), 0.0)
        return np.sign(w) * x

    def conjugate(self, t: Floats) -> float:
        over = np.cumsum(-np.sort(-np.abs(t))) > np.cumsum(self.lambdas)
        return math.inf if over.any() else 0.0


class Blocks:
    """sum_g c_g ||w_g||_2 over groups of three that do not overlap."""

    groups = np.arange(SIZE).reshape(-1, 3)
    costs = np.array([0.5, 1.0, 2.0])

    def value(self, w: Floats) -> float:
        return float(self.costs @ np.linalg.norm(w[self.groups], axis=1))

    def prox(self, w: Floats, step: float) -> Floats:
        norms = np.linalg.norm(w[self.groups], axis=1)
        shares = np.maximum(1.0 - step * self.costs / np.where(norms > 0.0, norms, 1.0), 0.0)
        x = np.zeros_like(w)
        x[self.groups] = shares[:, None] * w[self.groups]
        return x

    def conjugate(self, t: Floats) -> float:
        over = np.linalg.norm(t[self.groups], axis=1) > self.costs
        return math.inf if over.any() else 0.0


class Chain:
    """strength sum_j (w_j - w_(j-1))^2, which is smooth."""

    strength = 0.6
    D = np.eye(SIZE)[1:] - np.eye(SIZE)[:-1]

    def value(self, w: Floats) -> float:
        return self.strength * float(np.square(self.D @ w).sum())

    def gradient(self, w: Floats) -> Floats:
        return 2.0 * self.strength * self.D.T @ (self.D @ w)

    def prox(self, w: Floats, step: float) -> Floats:
        M = np.eye(len(w)) + 2.0 * step * self.strength * self.D.T @ self.D
        return np.linalg.solve(M, w)


class Positive:
    """strength sum_j w_j of weights of 0 or more."""

    strength = 0.3

    def value(self, w: Floats) -> float:
        return math.inf if (w < 0.0).any() else self.strength * float(w.sum())

    def prox(self, w: Floats, step: float) -> Floats:
        return np.maximum(w - step * self.strength, 0.0)

    def conjugate(self, t: Floats) -> float:
        return 0.0 if float(t.max()) <= self.strength else math.inf


class Count:
    """strength for every weight that is not zero."""

    convex = False
    strength = 0.3

    def value(self, w: Floats) -> float:
        return self.strength * np.count_nonzero(w)

    def prox(self, w: Floats, step: float) -> Floats:
        return np.where(w * w > 2.0 * self.strength * step, w, 0.0)


class Mcp:
    """The minimax concave penalty: as the l1 norm at zero, constant beyond a strength."""

    convex = False
    strength, gamma = 0.5, 1e4  # so flat that the longest step keeps the prox a function

    def value(self, w: Floats) -> float:
        a, s, g = np.abs(w), self.strength, self.gamma
        return float(np.where(a <= g * s, s * a - a * a / (2.0 * g), 0.5 * g * s * s).sum())

    def prox(self, w: Floats, step: float) -> Floats:
        a = np.maximum(np.abs(w) - step * self.strength, 0.0)
        if step >= self.gamma:  # concave: one of the ends
            return np.where(w * w > step * self.gamma * self.strength**2, w, 0.0)
        x = a / (1.0 - step / self.gamma)
        return np.where(np.abs(w) <= self.gamma * self.strength, np.sign(w) * x, w)


ORIGINALS = (L1(), Elastic(), SortedL1(), Blocks(), Chain(), Positive(), Count(), Mcp())
BUGS: list[Bug] = []


def bug(name: str, base: type[Any], missed: str = "", **changed: Any) -> None:
    """Enter a mistake: ``base`` with other methods or attributes."""
    cls = type(name.title().replace(" ", ""), (base,), {"__doc__": base.__doc__, **changed})
    BUGS.append(Bug(name, cls(), missed))


def _at(share: Any) -> Any:
    """prox with another step."""

    def prox(self: Any, w: Floats, step: float) -> Floats:
        base = type(self).__mro__[1]
        return base.prox(self, w, share(step))

    return prox


def _then(change: Any) -> Any:
    """prox with something done to its result: change(w, x)."""

    def prox(self: Any, w: Floats, step: float) -> Floats:
        base = type(self).__mro__[1]
        return change(w, base.prox(self, w, step))

    return prox


def _times(method: str, factor: float) -> Any:
    def scaled(self: Any, at: Floats) -> Any:
        base = type(self).__mro__[1]
        return factor * getattr(base, method)(self, at)

    return scaled


def _in_place(self: Any, w: Floats, step: float) -> Floats:
    w[:] = L1.prox(self, w, step)
    return w


def _hard(self: Any, w: Floats, step: float) -> Floats:
    return np.where(np.abs(w) > step * self.strength, w, 0.0)


def _sorted_by_value(self: Any, w: Floats, step: float) -> Floats:
    order = np.argsort(-w, kind="stable")
    x = np.empty_like(w)
    x[order] = np.maximum(self.pooled(np.abs(w)[order] - step * self.lambdas), 0.0)
    return np.sign(w) * x


def _not_sorted_back(self: Any, w: Floats, step: float) -> Floats:
    order = np.argsort(-np.abs(w), kind="stable")
    x = np.maximum(self.pooled(np.abs(w)[order] - step * self.lambdas), 0.0)
    return np.sign(w) * x


def _one_pass(self: Any, v: Floats) -> Floats:
    v = v.copy()
    for k in range(1, len(v)):
        if v[k] > v[k - 1]:
            v[k - 1] = v[k] = 0.5 * (v[k] + v[k - 1])
    return v


def _divides(self: Any, w: Floats, step: float) -> Floats:
    norms = np.linalg.norm(w[self.groups], axis=1)
    with np.errstate(all="ignore"):
        shares = np.maximum(norms - step * self.costs, 0.0) / norms
    x = np.zeros_like(w)
    x[self.groups] = shares[:, None] * w[self.groups]
    return x


def _without_costs(self: Any, w: Floats, step: float) -> Floats:
    other = Blocks()
    other.costs = np.ones(3)
    return other.prox(w, step)


def _last_left_out(self: Any, w: Floats, step: float) -> Floats:
    x = Blocks.prox(self, w, step)
    x[-1] = w[-1]
    return x


def _ridge_first(self: Any, w: Floats, step: float) -> Floats:
    v = w / (1.0 + 2.0 * step * self.l2)
    return np.sign(v) * np.maximum(np.abs(v) - step * self.l1, 0.0)


def _one_step(self: Any, w: Floats, step: float) -> Floats:
    return w - step * self.gradient(w)


def _five_rounds(self: Any, w: Floats, step: float) -> Floats:
    x = w.copy()
    M = np.eye(len(w)) + 2.0 * step * self.strength * self.D.T @ self.D
    for _ in range(5):
        x = (w - (M - np.diag(np.diag(M))) @ x) / np.diag(M)
    return x


def _dead_zone(self: Any, w: Floats, step: float) -> Floats:
    x = L1.prox(self, w, step)
    return np.where(np.abs(x) < 1e-2, 0.0, x)


def _first_step(self: Any, w: Floats, step: float) -> Floats:
    self.kept = getattr(self, "kept", step)
    return L1.prox(self, w, self.kept)


bug("the step is left out", L1, prox=_at(lambda step: 1.0))
bug("one over the step", L1, prox=_at(lambda step: 1.0 / step))
bug("the step squared", L1, prox=_at(lambda step: step * step))
bug("half the step", Elastic, prox=_at(lambda step: 0.5 * step))
bug("the step of the first call", L1, prox=_first_step)
bug("prox returns its argument", SortedL1, prox=lambda self, w, step: w.copy())
bug("prox changes its argument", L1, prox=_in_place)
bug("the sign is lost", L1, prox=_then(lambda w, x: np.abs(x)))
bug("the sign is turned round", L1, prox=_then(lambda w, x: -x))
bug("hard instead of soft", L1, prox=_hard)
bug("the ridge first", Elastic, prox=_ridge_first)
bug(
    "the ridge without its two",
    Elastic,
    prox=lambda self, w, step: L1.prox(_with(self.l1), w, step) / (1.0 + step * self.l2),
)
bug("sorted by value", SortedL1, prox=_sorted_by_value)
bug("not sorted back", SortedL1, prox=_not_sorted_back)
bug("lambdas that grow", SortedL1, lambdas=SortedL1.lambdas[::-1].copy())
bug("one pass of pooling", SortedL1, pooled=_one_pass)
bug(
    "no absolute values in the value",
    SortedL1,
    value=lambda self, w: float(self.lambdas @ -np.sort(-w)),
)
bug("a norm of 0 divides", Blocks, prox=_divides)
bug("prox without the costs", Blocks, prox=_without_costs)
bug(
    "value without the costs",
    Blocks,
    value=lambda self, w: float(np.linalg.norm(w[self.groups], axis=1).sum()),
)
bug(
    "squared norms",
    Blocks,
    value=lambda self, w: float(self.costs @ np.square(w[self.groups]).sum(axis=1)),
)
bug("the last feature is left out", Blocks, prox=_last_left_out)
bug(
    "one group too few in the value",
    Blocks,
    value=lambda self, w: float(self.costs[:-1] @ np.linalg.norm(w[self.groups[:-1]], axis=1)),
)
bug("a step of gradient", Chain, prox=_one_step)
bug("five rounds of Jacobi", Chain, prox=_five_rounds)
bug("half the gradient", Chain, gradient=_times("gradient", 0.5))
bug("a value with a minus", Chain, value=_times("value", -1.0))
bug("twice the value", Chain, value=_times("value", 2.0))
bug("a conjugate that is always 0", L1, conjugate=lambda self, t: 0.0)
bug("a conjugate that is always infinite", L1, conjugate=lambda self, t: math.inf)
bug(
    "a conjugate of the l1 norm of t",
    L1,
    conjugate=lambda self, t: 0.0 if np.abs(t).sum() <= self.strength else math.inf,
)
bug(
    "a conjugate that looks at the largest alone",
    SortedL1,
    conjugate=lambda self, t: 0.0 if np.abs(t).max() <= self.lambdas[0] else math.inf,
)
bug("a conjugate of half the size", Elastic, conjugate=_times("conjugate", 0.5))
bug(
    "a conjugate without the costs",
    Blocks,
    conjugate=lambda self, t: (
        0.0 if (np.linalg.norm(t[self.groups], axis=1) <= 1.0).all() else math.inf
    ),
)
bug(
    "a conjugate of absolute values",
    Positive,
    conjugate=lambda self, t: 0.0 if np.abs(t).max() <= self.strength else math.inf,
)
bug("negative weights pass", Positive, prox=lambda self, w, step: w - step * self.strength)
bug(
    "a negative value of negative weights",
    Positive,
    value=lambda self, w: self.strength * float(w.sum()),
)
bug("small weights are dropped", L1, prox=_dead_zone)
bug("the threshold of hard thresholding is a half", Count, prox=_at(lambda step: 0.5 * step))
bug("counting is called convex", Count, convex=True)
bug("twice is needed to get it right", L1, prox=_then(lambda w, x: 0.5 * (w + x)))


def _with(strength: float) -> L1:
    penalty = L1()
    penalty.strength = strength
    return penalty
