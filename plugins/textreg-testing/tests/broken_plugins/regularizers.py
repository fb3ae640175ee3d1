"""Regularizers as strangers write them, most with a ``solve`` of their own."""

from __future__ import annotations

import math
import re
import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from textreg.errors import ConvergenceWarning, UsageError
from textreg.kinds import Penalized, Regularizer
from textreg.params import AUTO, Choices, LogGrid, check_decided, param
from textreg.penalties import GroupNorms, Separable
from textreg.records import (
    Floats,
    Groups,
    Int64s,
    MultiSolution,
    Problem,
    SelectionReport,
    SelectionStep,
    Solution,
    Step,
)
from textreg.solvers.groups import majorize
from textreg.solvers.newton import newton
from textreg_testing import check_regularizer

from .bug import Bug

__all__ = ["BUGS", "ORIGINALS", "check"]


def check(part: Any) -> None:
    """Hold a regularizer to its contract; what takes long is not what these mistakes are in."""
    reasons = dict.fromkeys(("imports", "memory"), "takes long, and these parts share a module")
    check_regularizer(part, skip=reasons)


class Forward(Regularizer):
    """Best subset by forward selection: the feature of the largest gradient, then a refit."""

    name = "forward"
    l2: float = param(default=0.1, min=1e-6, help="strength of the ridge in every fit")
    budget: int = param(default=AUTO, min=1, search=Choices((2, 5, 10)), help="number of features")

    def objective(self, problem: Problem, w: Floats, b: float) -> float:
        return super().objective(problem, w, b) + self.l2 * float(w @ w)

    def scores(self, problem: Problem, w: Floats, b: float) -> Floats:
        """How much every feature would help."""
        r, h = np.empty(len(problem.y)), np.empty(len(problem.y))
        problem.loss.derivatives(
            np.asarray(problem.X @ w) + b, problem.y, problem.sample_weight, r, h
        )
        squares = problem.X.power(2).T @ problem.sample_weight
        gradient = np.abs(problem.X.T @ r)
        return gradient / np.sqrt(np.where(squares > 0.0, squares, 1.0))

    def refit(self, problem: Problem, features: list[int]) -> Solution:
        small = problem.replace(
            X=problem.X[:, features], groups=None, graph=None, callback=None, start=None
        )
        return newton(small, Separable.constant(len(features), l2=self.l2))

    def best(self, scores: Floats) -> int:
        return int(np.argmax(scores))

    def size(self, problem: Problem) -> int:
        return min(self.budget, problem.X.shape[1])

    def solve(self, problem: Problem) -> Solution:
        """Grow the model one feature at a time."""
        check_decided(self.name, budget=self.budget)
        return self.grown(problem, self.size(problem))

    def grown(self, problem: Problem, size: int) -> Solution:
        w, b, order = np.zeros(problem.X.shape[1]), problem.intercept_at_zero(), []
        fit, history, stopped = None, [], False
        value = self.value(problem, w, b)
        while len(order) < size and not stopped:
            scores = self.scores(problem, w, b)
            scores[order] = -1.0
            best = self.best(scores)
            if scores[best] <= 1e-9:
                break
            order.append(best)
            fit = self.refit(problem, order)
            w = np.zeros(problem.X.shape[1])
            w[order] = fit.w
            b, value = fit.b, fit.objective
            history.append(Step(len(order), value, math.nan))
            stopped = bool(problem.callback and problem.callback(history[-1]))
        if not order and problem.callback:
            problem.callback(Step(0, value, math.nan))
        return self.solution(problem, w, b, value, order, stopped, fit, tuple(history))

    def value(self, problem: Problem, w: Floats, b: float) -> float:
        z = np.asarray(problem.X @ w) + b
        return problem.loss.value(z, problem.y, problem.sample_weight) + self.l2 * float(w @ w)

    def solution(
        self, problem: Any, w: Any, b: Any, value: Any, order: Any, *rest: Any
    ) -> Solution:
        stopped, fit, history = rest
        return Solution(
            w=w,
            b=b,
            objective=value,
            iterations=len(order),
            converged=not stopped and (fit is None or fit.converged),
            history=history,
            report=SelectionReport(
                order=tuple(order), steps=tuple(SelectionStep(-1, k + 1) for k in range(len(order)))
            ),
        )


class Thresholded(Regularizer):
    """The l0 norm by iterative hard thresholding, with a refit of what is left."""

    name = "thresholded"
    features: int = param(default=AUTO, min=1, search=Choices((3, 10, 30)), help="features at most")
    l2: float = param(default=1.0, min=1e-4, help="strength of the ridge")

    def objective(self, problem: Problem, w: Floats, b: float) -> float:
        """Loss plus ridge; infinite with too many features."""
        if np.count_nonzero(w) > self.features:
            return math.inf
        z = np.asarray(problem.X @ w) + b
        return problem.loss.value(z, problem.y, problem.sample_weight) + self.l2 * float(w @ w)

    def keep(self, w: Floats) -> Floats:
        kept = np.zeros_like(w)
        largest = np.argsort(-np.abs(w), kind="stable")[: self.features]
        kept[largest] = w[largest]
        return kept

    def rounds(self, problem: Problem) -> tuple[Floats, float, int, bool]:
        X, y, c, loss = problem.X, problem.y, problem.sample_weight, problem.loss
        curvature = float(loss.curvature_bound(c).max(initial=0.0))
        most = curvature * float(np.square(X.data).sum()) + 2.0 * self.l2
        w, b, r, h = np.zeros(X.shape[1]), problem.intercept_at_zero(), np.empty(len(y)), c.copy()
        total = float(loss.curvature_bound(c).sum())
        for k in range(200):
            loss.derivatives(np.asarray(X @ w) + b, y, c, r, h)
            new = self.keep(w - (X.T @ r + 2.0 * self.l2 * w) * (4.0 / most))
            if problem.fit_intercept and total > 0.0:
                b -= float(r.sum()) / total
            value = self.objective(problem, new, b)
            w = new
            if problem.callback and problem.callback(Step(k + 1, value, math.nan)):
                return w, b, k + 1, True
        return w, b, 200, False

    def solve(self, problem: Problem) -> Solution:
        """Projected gradient, then the best weights for the features that it found."""
        check_decided(self.name, features=self.features)
        w, _, count, stopped = self.rounds(problem)
        chosen = np.flatnonzero(w)
        small = problem.replace(
            X=problem.X[:, chosen], groups=None, graph=None, callback=None, start=None
        )
        fit = newton(small, Separable.constant(len(chosen), l2=self.l2))
        w = np.zeros(problem.X.shape[1])
        w[chosen] = fit.w
        return Solution(
            w, fit.b, fit.objective, iterations=count, converged=fit.converged and not stopped
        )


class Boosted(Regularizer):
    """Boosting: steps of a tenth of the best weight of one feature at a time."""

    name = "boosted"
    minimizes = False
    steps: int = param(default=AUTO, min=1, search=Choices((10, 50, 200)), help="number of steps")
    rate: float = param(default=0.1, min=1e-3, max=1.0, help="share of the best weight")

    def solve(self, problem: Problem) -> Solution:
        """Coordinate steps on the loss, from no weights."""
        check_decided(self.name, steps=self.steps)
        X, y, c, loss = problem.X_csc, problem.y, problem.sample_weight, problem.loss
        squares = X.copy()
        squares.data **= 2
        w, b = np.zeros(X.shape[1]), problem.intercept_at_zero()
        z, r, h = np.full(len(y), b), np.empty(len(y)), np.empty(len(y))
        bound, total, done, stopped = loss.curvature_bound(c), 0.0, 0, False
        curvature = squares.T @ bound
        total = float(bound.sum())
        for done in range(1, self.steps + 1):
            value = loss.derivatives(z, y, c, r, h)
            if problem.callback and problem.callback(Step(done, value, math.nan)):
                stopped = True
                break
            gradient = X.T @ r
            gains = gradient**2 / np.where(curvature > 0.0, curvature, np.inf)
            best = int(np.argmax(gains))
            if gains[best] <= 1e-12:
                break
            move = -self.rate * gradient[best] / curvature[best]
            w[best] += move
            column = slice(X.indptr[best], X.indptr[best + 1])
            z[X.indices[column]] += move * X.data[column]
            if problem.fit_intercept and total > 0.0:
                loss.derivatives(z, y, c, r, h)
                shift = -float(r.sum()) / total
                b, z = b + shift, z + shift
        value = loss.value(np.asarray(X @ w) + b, y, c)
        return Solution(w, b, self.told(value), iterations=done, converged=not stopped)

    def told(self, value: float) -> float:
        return value


class Sorted:
    """sum_k lambda_k |w|_(k)."""

    def __init__(self, lambdas: Floats) -> None:
        self.lambdas = lambdas

    def value(self, w: Floats) -> float:
        return float(self.lambdas @ -np.sort(-np.abs(w)))

    def conjugate(self, t: Floats) -> float:
        over = np.cumsum(-np.sort(-np.abs(t))) > np.cumsum(self.lambdas) * (1.0 + 1e-12)
        return math.inf if over.any() else 0.0

    def prox(self, w: Floats, step: float) -> Floats:
        order = np.argsort(-np.abs(w), kind="stable")
        sums: list[float] = []
        sizes: list[int] = []
        for one in (np.abs(w)[order] - step * self.lambdas).tolist():
            sums.append(one)
            sizes.append(1)
            while len(sums) > 1 and sums[-2] * sizes[-1] <= sums[-1] * sizes[-2]:
                total, size = sums.pop(), sizes.pop()
                sums[-1] += total
                sizes[-1] += size
        x = np.empty_like(w)
        x[order] = np.maximum(np.repeat(np.array(sums) / np.array(sizes), sizes), 0.0)
        return np.sign(w) * x


class Slope(Penalized):
    """Words of similar importance share a weight (sorted l1)."""

    name = "slope"
    strength: float = param(
        default=AUTO, min=0, search=LogGrid(1e-2, 0.5, 5), help="largest lambda"
    )
    least: float = param(default=0.5, min=0, max=1, help="share of it that the smallest lambda is")

    def lambdas(self, p: int) -> Floats:
        return np.linspace(1.0, self.least, p)

    def penalty(self, problem: Problem) -> Any:
        """The sorted l1 norm."""
        check_decided(self.name, strength=self.strength)
        return Sorted(self.strength * self.lambdas(problem.X.shape[1]))

    def scale(self, problem: Problem, parameter: str) -> float:
        """The smallest strength that leaves no weight."""
        gradient = -np.sort(-np.abs(problem.gradient_at_zero()))
        sums = np.cumsum(self.lambdas(len(gradient)))
        return float((np.cumsum(gradient) / sums).max(initial=0.0))


class Pull(Regularizer):
    """Ridge by L-BFGS, with a gap from strong convexity."""

    name = "pull"
    l2: float = param(default=AUTO, min=0, search=LogGrid(1e-3, 1.0, 5), help="l2 strength")

    def solve(self, problem: Problem) -> Solution:
        """Quasi-Newton steps on the weights and the intercept."""
        from scipy.optimize import minimize

        check_decided(self.name, l2=self.l2)
        history: list[Step] = []
        stopped = False

        def watch(flat: Floats) -> None:
            nonlocal stopped
            value, gradient = self.cost(problem, flat)
            gap = self.gap(gradient[:-1], value)
            history.append(Step(len(history) + 1, value, gap))
            stopped = bool(problem.callback and problem.callback(history[-1]))
            if stopped or gap <= 1e-3 * problem.tol:
                raise StopIteration

        most = {"maxiter": problem.max_iter, "ftol": 0.0, "gtol": 1e-9, "maxfun": 10**6}
        done = minimize(
            lambda flat: self.cost(problem, flat),
            self.first(problem),
            jac=True,
            method="L-BFGS-B",
            callback=watch,
            options=most,
        )
        flat = self.centered(problem, done.x)
        value, gradient = self.cost(problem, flat)
        if not history:
            watch(flat) if problem.callback else None
        gap = self.gap(gradient[:-1], value)
        met = gap <= problem.tol if gap == gap else bool(np.abs(gradient).max() <= 1e-5 * value)
        if not met and not stopped:
            warnings.warn("pull: not converged", ConvergenceWarning, stacklevel=2)
        w, b = flat[:-1].copy(), float(flat[-1])
        found = Solution(w, b, value, gap, iterations=len(history), converged=met)
        return self.told(found, problem, value - self.l2 * float(w @ w))

    def objective(self, problem: Problem, w: Floats, b: float) -> float:
        return super().objective(problem, w, b) + self.l2 * float(w @ w)

    def cost(self, problem: Problem, flat: Floats) -> tuple[float, Floats]:
        """The objective and its gradient."""
        w, b = flat[:-1], float(flat[-1])
        r, h = np.empty(len(problem.y)), np.empty(len(problem.y))
        z = np.asarray(problem.X @ w) + b
        value = problem.loss.derivatives(z, problem.y, problem.sample_weight, r, h)
        value += self.l2 * float(w @ w)
        slope = float(r.sum()) if problem.fit_intercept else 0.0
        return value, np.append(problem.X.T @ r + 2.0 * self.l2 * w, slope)

    def centered(self, problem: Problem, flat: Floats) -> Floats:
        """With the best intercept."""
        flat = flat.copy()
        r, h = np.empty(len(problem.y)), np.empty(len(problem.y))
        for _ in range(30 if problem.fit_intercept else 0):
            z = np.asarray(problem.X @ flat[:-1]) + flat[-1]
            problem.loss.derivatives(z, problem.y, problem.sample_weight, r, h)
            if h.sum() <= 1e-12:
                break
            flat[-1] -= r.sum() / h.sum()
        return flat

    def first(self, problem: Problem) -> Floats:
        if problem.start is not None:
            b = problem.start[1] if problem.fit_intercept else 0.0
            return np.append(problem.start[0], b)
        return np.append(np.zeros(problem.X.shape[1]), problem.intercept_at_zero())

    def told(self, found: Solution, problem: Problem, loss: float) -> Solution:
        return found

    def gap(self, gradient: Floats, value: float) -> float:
        if self.l2 <= 1e-9:
            return math.nan
        return float(gradient @ gradient) / (4.0 * self.l2) / max(value, 1e-12)


class TogetherRidge(Pull):
    """The same, and all classes together by gradient descent."""

    name = "together-ridge"
    softmax = True

    def solve_softmax(
        self, problem: Problem, codes: Int64s, start: tuple[Floats, Floats] | None = None
    ) -> MultiSolution:
        """Accelerated gradient descent on the softmax loss."""
        from scipy.optimize import minimize
        from scipy.special import logsumexp

        X, c, count, p = problem.X, problem.sample_weight, int(codes.max()) + 1, problem.X.shape[1]
        stopped = False
        steps: list[Step] = []

        def cost(flat: Floats) -> tuple[float, Floats]:
            W = flat.reshape(count, p + 1)
            z = np.asarray(X @ W[:, :p].T) + W[:, p]
            top = logsumexp(z, axis=1)
            shares = np.exp(z - top[:, None])
            shares[np.arange(len(codes)), codes] -= 1.0
            r = c[:, None] * shares
            value = (
                c @ (top - z[np.arange(len(codes)), codes]) + self.l2 * np.square(W[:, :p]).sum()
            )
            gradient = np.hstack([(X.T @ r).T + 2.0 * self.l2 * W[:, :p], r.sum(axis=0)[:, None]])
            return float(value), gradient.ravel()

        def watch(flat: Floats) -> None:
            nonlocal stopped
            steps.append(Step(len(steps) + 1, cost(flat)[0], math.nan))
            if problem.callback and problem.callback(steps[-1]):
                stopped = True
                raise StopIteration

        options = {"maxiter": problem.max_iter, "ftol": 0.0, "gtol": 1e-7}
        start_flat = np.zeros(count * (p + 1))
        done = minimize(
            cost, start_flat, jac=True, method="L-BFGS-B", callback=watch, options=options
        )
        W = done.x.reshape(count, p + 1)
        small = float(np.abs(done.jac).max()) <= 1e-4
        if not small and not stopped:
            warnings.warn("together: not converged", ConvergenceWarning, stacklevel=2)
        b = W[:, p] - W[:, p].mean()
        return MultiSolution(
            W[:, :p].copy(), b, float(done.fun), iterations=len(steps), converged=small
        )


class GroupRidge(Regularizer):
    """Norms of groups, and a ridge."""

    name = "group-ridge"
    needs = "groups"
    default_builder = "sentences"
    group: float = param(default=AUTO, min=0, search=LogGrid(1e-3, 0.1, 4), help="group strength")
    l2: float = param(default=AUTO, min=0, search=LogGrid(1e-2, 0.1, 2), help="ridge strength")

    def penalty(self, problem: Problem) -> Any:
        """The norms."""
        check_decided(self.name, group=self.group, l2=self.l2)
        if problem.groups is None:
            raise UsageError("group-ridge: the problem has no groups.")
        return GroupNorms(problem.groups, self.group, 0.0, self.l2)

    def solve(self, problem: Problem) -> Solution:
        """By the solver for overlapping groups."""
        return majorize(problem, self.penalty(problem))


class Differences:
    """strength sum_ij W_ij (w_i - w_j)^2 + l2 ||w||^2."""

    def __init__(self, links: Any, strength: float, l2: float) -> None:
        from scipy.sparse import csc_array, diags, identity

        symmetric = links + links.T
        degrees = np.asarray(symmetric.sum(axis=1)).ravel()
        self.one = csc_array(identity(len(degrees)))
        self.M = csc_array(strength * (diags(degrees) - symmetric) + l2 * self.one)

    def value(self, w: Floats) -> float:
        return float(w @ (self.M @ w))

    def gradient(self, w: Floats) -> Floats:
        return 2.0 * (self.M @ w)

    def prox(self, w: Floats, step: float) -> Floats:
        from scipy.sparse.linalg import cg

        A = self.one + 2.0 * step * self.M
        found, _ = cg(A, w, rtol=1e-13, atol=0.0, maxiter=10 * len(w))
        return found


class Tied(Penalized):
    """Linked words have similar weights."""

    name = "tied"
    needs = "graph"
    default_builder = "cooccurrence"
    strength: float = param(default=AUTO, min=0, search=LogGrid(1e-3, 1.0, 4), help="of the links")
    l2: float = param(default=AUTO, min=0, search=LogGrid(1e-3, 0.1, 2), help="ridge strength")

    def penalty(self, problem: Problem) -> Any:
        """The sum over links."""
        check_decided(self.name, strength=self.strength, l2=self.l2)
        if problem.graph is None:
            raise UsageError("tied: the problem has no graph.")
        return Differences(problem.graph.similar, self.strength, self.l2)


ORIGINALS = (Forward, Thresholded, Boosted, Slope, Pull, TogetherRidge, GroupRidge, Tied)
BUGS: list[Bug] = []


def bug(name: str, base: type[Any], missed: str = "", **changed: Any) -> None:
    """Enter a mistake: ``base`` with other methods or attributes."""
    title = re.sub(r"\W", "", name.title())
    cls = type(title, (base,), {"__doc__": base.__doc__, "__module__": __name__, **changed})
    globals()[title] = cls  # by which pickle finds it
    BUGS.append(Bug(name, cls, missed))


def found(change: Any, method: str = "solve") -> Any:
    """A method that spoils the solution of its base: change(self, found, problem)."""

    def spoiled(self: Any, problem: Problem, *more: Any) -> Any:
        base = type(self).__mro__[1]
        return change(self, getattr(base, method)(self, problem, *more), problem)

    return spoiled


def given(change: Any) -> Any:
    """solve of another problem: change(self, problem)."""

    def spoiled(self: Any, problem: Problem) -> Solution:
        base = type(self).__mro__[1]
        return base.solve(self, change(self, problem))

    return spoiled


def _noisy(self: Any, problem: Problem, w: Floats, b: float) -> Floats:
    scores = Forward.scores(self, problem, w, b)
    return scores * (1.0 + 0.2 * np.random.default_rng(0).standard_normal(len(scores)))


def _noisy_anew(self: Any, problem: Problem, w: Floats, b: float) -> Floats:
    scores = Forward.scores(self, problem, w, b)
    return scores * (1.0 + 0.2 * np.random.default_rng().standard_normal(len(scores)))


def _hashed(self: Any, problem: Problem, w: Floats, b: float) -> Floats:
    scores = Forward.scores(self, problem, w, b)
    return scores * (1.0 + 0.2 * ((hash("budget") % 97) / 97.0) * (np.arange(len(scores)) % 2))


def _signed(self: Any, problem: Problem, w: Floats, b: float) -> Floats:
    r, h = np.empty(len(problem.y)), np.empty(len(problem.y))
    z = np.asarray(problem.X @ w) + b
    problem.loss.derivatives(z, problem.y, problem.sample_weight, r, h)
    return -(problem.X.T @ r)


def _unweighted(self: Any, problem: Problem, w: Floats, b: float) -> Floats:
    ones = problem.replace(sample_weight=np.ones(len(problem.y)))
    return Forward.scores(self, ones, w, b)


def _frequent(self: Any, problem: Problem, w: Floats, b: float) -> Floats:
    return np.asarray((problem.X != 0).sum(axis=0), dtype=np.float64).ravel()


def _without_l2(self: Any, problem: Problem, w: Floats, b: float) -> float:
    z = np.asarray(problem.X @ w) + b
    return float(problem.loss.value(z, problem.y, problem.sample_weight))


def _no_ridge(self: Any, it: Solution, problem: Problem) -> Solution:
    return replace(it, objective=it.objective - self.l2 * float(it.w @ it.w))


def _mean(self: Any, it: Solution, problem: Problem) -> Solution:
    return replace(it, objective=it.objective / len(problem.y))


def _plain_loss(self: Any, it: Solution, problem: Problem) -> Solution:
    z = np.asarray(problem.X @ it.w) + it.b
    loss = problem.loss.value(z, problem.y, np.ones(len(z)))
    return replace(it, objective=loss + self.l2 * float(it.w @ it.w))


def _with_intercept(self: Any, it: Solution, problem: Problem) -> Solution:
    return replace(it, objective=it.objective + self.l2 * it.b**2)


def _last_sign(self: Any, it: Solution, problem: Problem) -> Solution:
    w = it.w.copy()
    if w.any():
        w[np.flatnonzero(w)[-1]] *= -1.0
    return replace(it, w=w)


def _half_intercept(self: Any, it: Solution, problem: Problem) -> Solution:
    return replace(it, b=0.5 * it.b)


def _ties(self: Any, it: Solution, problem: Problem) -> Solution:
    order = tuple(sorted(it.report.order))[: len(it.report.order) - 1] if it.report else ()
    return replace(it, report=SelectionReport(order=order))


def _late_steps(self: Any, it: Solution, problem: Problem) -> Solution:
    order = it.report.order if it.report else ()
    steps = tuple(SelectionStep(-1, k) for k in range(len(order)))
    return replace(it, report=SelectionReport(order=order, steps=steps))


def _one_more(self: Any, problem: Problem) -> int:
    return min(self.budget + 1, problem.X.shape[1])


def _one_more_at_ten(self: Any, problem: Problem) -> int:
    return min(self.budget + (self.budget >= 10), problem.X.shape[1])


def _keep_more(self: Any, w: Floats) -> Floats:
    return np.where(np.abs(w) >= np.sort(np.abs(w))[-min(self.features + 1, len(w))], w, 0.0)


def _keep_signed(self: Any, w: Floats) -> Floats:
    kept = np.zeros_like(w)
    largest = np.argsort(-w, kind="stable")[: self.features]
    kept[largest] = w[largest]
    return kept


def _keep_first(self: Any, w: Floats) -> Floats:
    kept = np.zeros_like(w)
    kept[: self.features] = w[: self.features]
    return kept


def _keep_least(self: Any, w: Floats) -> Floats:
    kept = np.zeros_like(w)
    least = np.argsort(np.abs(w), kind="stable")[: self.features]
    kept[least] = w[least] + 1e-3
    return kept


def _slope_of_first(self: Any, problem: Problem, parameter: str) -> float:
    return float(np.abs(problem.gradient_at_zero())[0]) + 1e-3


def _in_turn(self: Any, problem: Problem, candidates: Any = None) -> Any:
    last = None
    for part in self.candidates(problem) if candidates is None else candidates:
        solution = part.solve(problem)
        yield part, last or solution
        last = solution


def _only_first(self: Any, problem: Problem, candidates: Any = None) -> Any:
    parts = self.candidates(problem) if candidates is None else list(candidates)
    solution = parts[0].solve(problem)
    for part in parts:
        yield part, solution


def _without_last(self: Any, problem: Problem, candidates: Any = None) -> Any:
    parts = self.candidates(problem) if candidates is None else list(candidates)
    yield from Regularizer.path(self, problem, parts[:-1])


def _unconverged(self: Any, problem: Problem) -> Solution:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        it = type(self).__mro__[1].solve(self, problem)
    return replace(it, converged=True, gap=min(it.gap, problem.tol) if it.gap == it.gap else it.gap)


def _forced(self: Any, problem: Problem) -> Solution:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        it = type(self).__mro__[1].solve(self, problem)
    return replace(it, converged=True, gap=math.nan)


def _loose(self: Any, gradient: Floats, value: float) -> float:
    return 1e-3 * float(gradient @ gradient) / max(value, 1e-12)


def _start_kept(self: Any, problem: Problem) -> Solution:
    if problem.start is None:
        return Pull.solve(self, problem)
    w, b = problem.start
    value = self.objective(problem, w, b) + self.l2 * float(w @ w)
    if problem.callback:
        problem.callback(Step(1, value, math.nan))
    return Solution(w.copy(), b, value, converged=True)


def _penalized_intercept(self: Any, problem: Problem, flat: Floats) -> tuple[float, Floats]:
    value, gradient = Pull.cost(self, problem, flat)
    if problem.fit_intercept:
        gradient[-1] += 2.0 * self.l2 * flat[-1]
    return value + self.l2 * float(flat[-1] ** 2) * problem.fit_intercept, gradient


def _half_ridge(self: Any, problem: Problem, flat: Floats) -> tuple[float, Floats]:
    value, gradient = Pull.cost(self, problem, flat)
    gradient[:-1] -= self.l2 * flat[:-1]
    return value - 0.5 * self.l2 * float(flat[:-1] @ flat[:-1]), gradient


def _logistic_only(self: Any, problem: Problem) -> Problem:
    return problem.replace(loss="logistic")


def _always_intercept(self: Any, problem: Problem) -> Problem:
    return problem.replace(fit_intercept=True)


def _equal(self: Any, problem: Problem) -> Problem:
    return problem.replace(sample_weight=np.ones(len(problem.y)))


def _deaf(self: Any, problem: Problem) -> Problem:
    return problem.replace(callback=None)


def _shuffled(self: Any, it: MultiSolution, problem: Problem) -> MultiSolution:
    return replace(it, w=np.roll(it.w, 1, axis=0))


def _halved(self: Any, it: MultiSolution, problem: Problem) -> MultiSolution:
    return replace(it, w=0.8 * it.w)


def _softmax_mean(self: Any, it: MultiSolution, problem: Problem) -> MultiSolution:
    return replace(it, objective=it.objective / len(problem.y))


def _softmax_gap(self: Any, it: MultiSolution, problem: Problem) -> MultiSolution:
    return replace(it, gap=0.0, w=0.99 * it.w)


def _not_centered(self: Any, it: MultiSolution, problem: Problem) -> MultiSolution:
    return replace(it, b=it.b + 1.0)


def _unit_groups(self: Any, problem: Problem) -> Any:
    groups = problem.groups
    assert groups is not None
    plain = Groups(groups.indptr, groups.indices, np.ones(len(groups)), groups.n_features)
    return GroupNorms(plain, self.group, 0.0, self.l2)


def _without_last_group(self: Any, problem: Problem) -> Any:
    groups = problem.groups
    assert groups is not None
    last = int(np.flatnonzero(np.diff(groups.indptr))[-1]) if len(groups.indices) else 0
    start = int(groups.indptr[last]) if len(groups) else 0
    fewer = Groups(
        groups.indptr[: last + 1], groups.indices[:start], groups.weights[:last], groups.n_features
    )
    return GroupNorms(fewer, self.group, 0.0, self.l2)


def _shifted_group(self: Any, problem: Problem) -> Any:
    groups = problem.groups
    assert groups is not None
    p = groups.n_features
    rows = np.split((groups.indices + 1) % p, groups.indptr[1:-1]) if len(groups) else []
    indices = np.concatenate([np.sort(row) for row in rows] or [groups.indices]).astype(np.int32)
    moved = Groups(groups.indptr, indices, groups.weights, p)
    return GroupNorms(moved, self.group, 0.0, self.l2)


def _binary_links(self: Any, problem: Problem) -> Any:
    assert problem.graph is not None
    links = problem.graph.similar.copy()
    links.data = np.ones(links.nnz)
    return Differences(links, self.strength, self.l2)


def _one_strength(self: Any, problem: Problem) -> Any:
    assert problem.graph is not None
    return Differences(problem.graph.similar, self.strength, 0.1)


class BrokenProx(Sorted):
    """Sorted l1, shrunk by the step twice."""

    def prox(self, w: Floats, step: float) -> Floats:
        return Sorted.prox(self, Sorted.prox(self, w, step), step)


class OptimisticConjugate(Sorted):
    """Sorted l1, of which every dual point is feasible."""

    def conjugate(self, t: Floats) -> float:
        return 0.0


def _worst(self: Any, scores: Floats) -> int:
    return int(np.argmin(np.where(scores > 0.0, scores, np.inf)))


def _second(self: Any, scores: Floats) -> int:
    return int(np.argsort(scores)[-min(2, len(scores))])


def _thousandfold(self: Any, problem: Problem, parameter: str) -> float:
    return 1e3 * Slope.scale(self, problem, parameter)


def _sorted(kind: type[Sorted]) -> Any:
    return lambda self, problem: kind(self.strength * self.lambdas(problem.X.shape[1]))


bug("noise in the selection", Forward, scores=_noisy)
bug("other noise every time", Forward, scores=_noisy_anew)
bug("noise from a hash", Forward, scores=_hashed)
bug("signed scores", Forward, scores=_signed)
bug("scores without weights", Forward, scores=_unweighted)
bug("the most frequent features", Forward, scores=_frequent)
bug("one feature more", Forward, size=_one_more)
bug("one feature fewer", Forward, size=lambda self, problem: max(self.budget - 1, 1))
bug("one feature more from ten on", Forward, size=_one_more_at_ten)
bug(
    "the worst feature",
    Forward,
    best=_worst,
)
bug(
    "the second best feature",
    Forward,
    missed="it is a rule of its own, whose features are nearly as good",
    best=_second,
)
bug("the objective without its ridge", Forward, solve=found(_no_ridge))
bug("the mean objective", Forward, solve=found(_mean))
bug("the objective without weights", Forward, solve=found(_plain_loss))
bug("the objective with the intercept", Forward, solve=found(_with_intercept))
bug("one wrong sign", Forward, solve=found(_last_sign))
bug("half the intercept", Forward, solve=found(_half_intercept))
bug("an order that lacks one", Forward, solve=found(_ties))
bug("steps that are one late", Forward, solve=found(_late_steps))
bug("a gap of 0 for a selection", Forward, solve=found(lambda s, it, p: replace(it, gap=0.0)))
bug("no weights of documents", Forward, solve=given(_equal))
bug("always the logistic loss", Forward, solve=given(_logistic_only))
bug("always an intercept", Forward, solve=given(_always_intercept))
bug("no callback", Forward, solve=given(_deaf))
bug("no refit", Forward, solve=found(lambda s, it, p: replace(it, w=0.9 * it.w)))
bug("one more is kept", Thresholded, keep=_keep_more)
bug("the largest are kept by sign", Thresholded, keep=_keep_signed)
bug("the first are kept", Thresholded, keep=_keep_first)
bug("the smallest are kept", Thresholded, keep=_keep_least)
bug("a ridge that is not declared", Thresholded, objective=_without_l2)
bug("thresholding claims a gap", Thresholded, solve=found(lambda s, it, p: replace(it, gap=1e-9)))
bug("boosting states a mean", Boosted, told=lambda self, value: value / 50.0)
bug("boosting minimizes", Boosted, minimizes=True)
bug("boosting without weights", Boosted, solve=given(_equal))
bug("a prox that shrinks twice", Slope, penalty=_sorted(BrokenProx))
bug("every dual point is feasible", Slope, penalty=_sorted(OptimisticConjugate))
bug("a gap of zero", Slope, solve=found(lambda s, it, p: replace(it, gap=0.0)))
bug("converged whatever the gap", Slope, solve=_unconverged)
bug("converged without a gap", Slope, solve=_forced)
bug("the scale of one feature", Slope, scale=_slope_of_first)
bug(
    "a scale a thousand times too large",
    Slope,
    scale=_thousandfold,
)
bug(
    "a scale of one",
    Slope,
    scale=lambda self, p, key: 1.0,
)
bug(
    "the strength is squared",
    Slope,
    missed="the strength is what the author calls so",
    penalty=lambda self, p: Sorted(self.strength**2 * self.lambdas(p.X.shape[1])),
)
bug("the strength is ignored", Slope, penalty=lambda self, p: Sorted(self.lambdas(p.X.shape[1])))
bug("a path that is one late", Slope, path=_in_turn)
bug("a path of the first", Slope, path=_only_first)
bug("a path without the last", Slope, path=_without_last)
bug("the intercept is penalized", Pull, cost=_penalized_intercept)
bug(
    "half the ridge is fitted",
    Pull,
    solve=found(
        lambda s, it, p: replace(it, objective=it.objective + 0.5 * s.l2 * float(it.w @ it.w))
    ),
    cost=_half_ridge,
)
bug("a gap that forgets the ridge", Pull, gap=_loose)
bug("the start is the answer", Pull, solve=_start_kept)
bug("rounded weights", Pull, solve=found(lambda s, it, p: replace(it, w=np.round(it.w, 2))))
bug(
    "the first feature is left out",
    Pull,
    solve=found(lambda s, it, p: replace(it, w=np.where(np.arange(len(it.w)) == 0, 0.0, it.w))),
)
bug(
    "float32 inside",
    Pull,
    missed="single precision keeps six digits, as many as are asked for",
    solve=found(lambda s, it, p: replace(it, w=it.w.astype(np.float32).astype(float))),
)
bug("a negative gap", Pull, solve=found(lambda s, it, p: replace(it, gap=-it.gap)))
bug("shuffled classes", TogetherRidge, solve_softmax=found(_shuffled, "solve_softmax"))
bug(
    "softmax weights that are too small",
    TogetherRidge,
    solve_softmax=found(_halved, "solve_softmax"),
)
bug("a mean softmax loss", TogetherRidge, solve_softmax=found(_softmax_mean, "solve_softmax"))
bug("a softmax gap of 0", TogetherRidge, solve_softmax=found(_softmax_gap, "solve_softmax"))
bug(
    "intercepts that do not sum to 0",
    TogetherRidge,
    solve_softmax=found(_not_centered, "solve_softmax"),
)
bug("the weights of groups are ignored", GroupRidge, penalty=_unit_groups)
bug("the last group is left out", GroupRidge, penalty=_without_last_group)
bug(
    "groups of the features beside",
    GroupRidge,
    penalty=_shifted_group,
)
bug("the weights of links are ignored", Tied, penalty=_binary_links)
bug("a ridge that is always the same", Tied, penalty=_one_strength)


# Found by nobody when the checks were made: what they miss of these shows what they are worth.


def _drops_small(self: Any, it: Solution, problem: Problem) -> Solution:
    return replace(it, w=np.where(np.abs(it.w) < 0.05, 0.0, it.w))


def _squared_weights(self: Any, problem: Problem, features: list[int]) -> Solution:
    return Forward.refit(self, problem.replace(sample_weight=problem.sample_weight**2), features)


def _fifth_without_intercept(self: Any, problem: Problem, features: list[int]) -> Solution:
    off = len(features) == 5
    return Forward.refit(self, problem.replace(fit_intercept=False) if off else problem, features)


def _few_iterations(self: Any, problem: Problem) -> Solution:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        it = Slope.solve(self, problem.replace(max_iter=15))
    return replace(it, converged=True, gap=math.nan)


def _mean_ridge(self: Any, problem: Problem, flat: Floats) -> tuple[float, Floats]:
    value, gradient = Pull.cost(self, problem, flat)
    share, w = 1.0 / len(problem.y) - 1.0, flat[:-1]
    gradient[:-1] += 2.0 * share * self.l2 * w
    return value + share * self.l2 * float(w @ w), gradient


def _small_scale(self: Any, problem: Problem, parameter: str) -> float:
    return 1e-2 * float(np.abs(problem.gradient_at_zero()).mean())


def _never_told(self: Any, problem: Problem) -> Problem:
    told = problem.callback
    return problem.replace(callback=told and (lambda step: bool(told(step)) and False))


def _upper(self: Any, problem: Problem) -> Any:
    from scipy.sparse import csr_array, triu

    assert problem.graph is not None
    return Differences(csr_array(triu(problem.graph.similar)), self.strength, self.l2)


def _equal_softmax(self: Any, problem: Problem, codes: Int64s, start: Any = None) -> Any:
    return TogetherRidge.solve_softmax(self, _equal(self, problem), codes)


bug("small weights are left out", Forward, solve=found(_drops_small))
bug("squared weights in the refit", Forward, refit=_squared_weights)
bug("the fifth fit without an intercept", Forward, refit=_fifth_without_intercept)
bug("fifteen iterations", Slope, solve=_few_iterations)
bug("a scale that is too small", Slope, scale=_small_scale)
bug("a ridge divided by the documents", Pull, cost=_mean_ridge)
bug("a callback that ends nothing", Pull, solve=given(_never_told))
bug("a loose tolerance", GroupRidge, solve=given(lambda s, p: p.replace(tol=0.3)))
bug("no intercept in boosting", Boosted, solve=given(lambda s, p: p.replace(fit_intercept=False)))
bug("the upper half of the links", Tied, penalty=_upper)
bug("softmax without weights", TogetherRidge, solve_softmax=_equal_softmax)


# What solutions claim, and parameters that do nothing.


def _one_step(self: Any, problem: Problem) -> Solution:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        it = type(self).__mro__[1].solve(self, problem.replace(max_iter=1))
    return replace(it, converged=True, gap=math.nan)


def _claimed(gap: float) -> Any:
    def solve(self: Any, problem: Problem) -> Solution:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            it = type(self).__mro__[1].solve(self, problem.replace(max_iter=5))
        return replace(it, converged=True, gap=gap)

    return solve


def _quietly(self: Any, problem: Problem) -> Solution:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return type(self).__mro__[1].solve(self, problem)


class Threaded(Forward):
    """Best subset by forward selection, with one more parameter."""

    name = "threaded"
    floor: float = param(default=0.0, min=0.0, max=1.0, help="least score of a feature")

    def scores(self, problem: Problem, w: Floats, b: float) -> Floats:
        scores = super().scores(problem, w, b)
        return np.where(scores < self.floor * scores.max(initial=0.0), 0.0, scores)


ORIGINALS = (*ORIGINALS, Threaded)

for _base in (Slope, Pull, GroupRidge, Tied):
    bug(f"one step of {_base.name} alone", _base, solve=_one_step)
    bug(f"five steps of {_base.name}, said to be optimal", _base, solve=_claimed(0.0))
    bug(f"five steps of {_base.name}, said to be near", _base, solve=_claimed(1e-8))
    bug(f"{_base.name} never warns", _base, solve=_quietly)
    bug(
        f"{_base.name} always converges",
        _base,
        solve=found(lambda s, it, p: replace(it, converged=True)),
    )
bug("a gap of 0 in any case", Slope, solve=found(lambda s, it, p: replace(it, gap=0.0)))
bug("a tenth of the gap", Pull, gap=lambda s, g, v: 0.1 * Pull.gap(s, g, v))
bug("an objective of 0", Pull, solve=found(lambda s, it, p: replace(it, objective=0.0)))
bug("least is ignored", Slope, lambdas=lambda s, p: np.linspace(1.0, 0.5, p))
bug("rate is ignored", Boosted, solve=lambda s, p: Boosted(steps=s.steps).solve(p))
bug("steps are ignored", Boosted, solve=lambda s, p: Boosted(steps=20, rate=s.rate).solve(p))
bug("l2 is ignored", Thresholded, solve=lambda s, p: Thresholded(features=s.features).solve(p))
bug("budget is ignored", Forward, size=lambda s, p: min(5, p.X.shape[1]))
bug("floor is ignored", Threaded, scores=Forward.scores)
bug(
    "l2 of groups is ignored",
    GroupRidge,
    penalty=lambda s, p: GroupNorms(p.groups, s.group, 0, 1.0),
)
bug(
    "one group of all features",
    GroupRidge,
    penalty=lambda s, p: GroupNorms(_whole(p), s.group, 0.0, s.l2),
)
bug(
    "groups of one feature are left out",
    GroupRidge,
    penalty=lambda s, p: GroupNorms(_of_several(p), s.group, 0.0, s.l2),
)
bug(
    "norms of groups by reduceat",
    GroupRidge,
    solve=found(lambda s, it, p: replace(it, objective=_norms_by_reduceat(s, it, p))),
)
bug(
    "scores of documents by reduceat", Pull, cost=lambda s, p, flat: _scores_by_reduceat(s, p, flat)
)
bug("numbers are taken for labels", Pull, solve=given(lambda s, p: p.replace(y=np.sign(p.y))))
bug("random numbers of the process", Pull, first=lambda s, p: np.random.randn(p.X.shape[1] + 1))
bug("keeps its last solution", Pull, first=lambda s, p: _kept(s, p))


def _whole(problem: Problem) -> Groups:
    p = problem.X.shape[1]
    return Groups(np.array([0, p]), np.arange(p, dtype=np.int32), np.ones(1), p)


def _of_several(problem: Problem) -> Groups:
    groups = problem.groups
    assert groups is not None
    some = [groups.members(g) for g in range(len(groups)) if len(groups.members(g)) > 1]
    return Groups(
        np.cumsum([0, *map(len, some)]),
        np.concatenate([np.empty(0, np.int32), *some]).astype(np.int32),
        np.ones(len(some)),
        groups.n_features,
    )


def _norms_by_reduceat(self: Any, it: Solution, problem: Problem) -> float:
    groups, loss = problem.groups, problem.loss
    assert groups is not None
    value = loss.value(problem.X @ it.w + it.b, problem.y, problem.sample_weight)
    value += self.l2 * float(it.w @ it.w)
    if not len(groups.indices):
        return value
    squares = np.append(it.w[groups.indices] ** 2, 0.0)  # of an empty group, the one after it
    norms = np.sqrt(np.add.reduceat(squares, groups.indptr[:-1]))
    return value + self.group * float(groups.weights @ norms)


def _scores_by_reduceat(self: Any, problem: Problem, flat: Floats) -> tuple[float, Floats]:
    X, y, w = problem.X, problem.y, flat[:-1]
    if not X.nnz:
        return Pull.cost(self, problem, flat)
    parts = np.append(X.data * w[X.indices], 0.0)  # of an empty row, the one after it
    z = np.add.reduceat(parts, X.indptr[:-1]) + flat[-1]
    r, h = np.empty(len(y)), np.empty(len(y))
    value = problem.loss.derivatives(z, y, problem.sample_weight, r, h) + self.l2 * float(w @ w)
    slope = float(r.sum()) if problem.fit_intercept else 0.0
    return value, np.append(X.T @ r + 2.0 * self.l2 * w, slope)


_last: list[Floats] = []


def _kept(self: Any, problem: Problem) -> Floats:
    first = Pull.first(self, problem)
    if _last and len(_last[-1]) == len(first):
        first = first + 1e-3 * _last[-1]
    _last.append(np.ones(len(first)) * len(_last))
    return first
