"""The bias of a pursuit, and the models that it gives: fits of what it has selected."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from textreg.penalties import Separable
from textreg.records import Design, Floats, Problem, Solution
from textreg.solvers.active import ActiveFit
from textreg.solvers.newton import newton

INTERCEPTS = ("free", "ridge", "feature")
"""How a pursuit may treat the intercept, see :class:`~textreg.solvers.pursuit.Pursuit`."""


def with_bias(problem: Problem) -> Problem:
    """The problem with a last feature that is 1 in every document, in the place of an intercept.

    Made once for all labels and ridges that share its matrix and groups.
    """
    n, p = problem.design.shape

    def design() -> Design:
        from scipy.sparse import csr_array, hstack

        return Design(hstack([problem.X, csr_array(np.ones((n, 1)))], format="csr"))

    groups, cache = problem.groups, problem.design.cache
    if groups is not None:
        # The value holds the groups, so that their id stays theirs.
        key, given = ("with a bias", id(groups)), groups
        _, groups = cache.get(key, lambda: (given, given.widened(p + 1)))
    return problem.replace(
        X=cache.get("with a bias", design),
        groups=groups,
        graph=None,
        start=None,
        validation=None,
        fit_intercept=False,
    )


class Models:
    """The fits of the first features of an order, on the columns as they are given.

    The fits of a pursuit are exact enough to select by, not to the tolerance of a model. Each one
    here starts from the last with fewer features.
    """

    def __init__(self, problem: Problem, l2: float, bias: int) -> None:
        """bias: the feature that stands for the intercept, -1 where there is none."""
        self.problem, self._l2, self._bias = problem, l2, bias
        self._found: dict[int, tuple[Floats, float]] = {}

    def fit(self, order: list[int], selecting: ActiveFit, norms: Floats, bias: bool) -> Solution:
        """The weights of the features in ``order``, and the intercept.

        selecting: the fit that they were selected by, on columns of these ``norms``. bias: whether
        the feature that stands for the intercept is in the model.
        """
        features = [*order, self._bias] if bias else order
        if not features:
            b = self.problem.intercept_at_zero()
            scores = np.full(len(self.problem.y), b)
            value = self.problem.loss.value(scores, self.problem.y, self.problem.sample_weight)
            return Solution(w=np.empty(0), b=b, objective=value, residual=0.0, converged=True)
        w, b = self._start(order, selecting, norms)
        small = self.problem.replace(
            X=self.problem.X_csc[:, features],
            groups=None,
            graph=None,
            callback=None,
            start=(np.append(w, b), 0.0) if bias else (w, b),
        )
        found = newton(small, Separable.constant(len(features), l2=self._l2))
        w, b = (found.w[:-1], float(found.w[-1])) if bias else (found.w, found.b)
        self._found[len(order)] = w, b
        return replace(found, w=w, b=b)

    def _start(self, order: list[int], selecting: ActiveFit, norms: Floats) -> tuple[Floats, float]:
        """Weights and an intercept to begin from."""
        last = max((size for size in self._found if size <= len(order)), default=0)
        if last:
            w, b = self._found[last]
            return np.concatenate([w, np.zeros(len(order) - last)]), b
        weights = dict(
            zip(selecting.features, selecting.w / norms[selecting.features], strict=True)
        )
        return np.array([weights[j] for j in order]), weights.get(self._bias, selecting.b)
