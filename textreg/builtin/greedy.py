"""Greedy regularizers: pursuit of features and of groups, and forward stagewise selection."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from textreg.errors import DataError, UsageError
from textreg.hookspecs import hookimpl
from textreg.kinds import Regularizer
from textreg.losses import Logistic, Squared
from textreg.params import Choices, check_decided, param
from textreg.records import Floats, Int64s, Problem, Solution
from textreg.solvers.column_scores import SCORES
from textreg.solvers.pursuit import COLUMNS, EPSILON_OF, INTERCEPTS, Pursuit
from textreg.solvers.stagewise import (
    minus_log_likelihood,
    observed_counts,
    stagewise,
    stagewise_path,
)
from textreg.solvers.stagewise_rules import StagewiseReport, StepRules

# The budgets that the search tries; together they cost little more than the largest one.
BUDGETS = (25, 50, 100, 200, 300, 400, 600, 800, 1000, 1500, 2000)


class Omp(Regularizer):
    """Orthogonal matching pursuit: adds the most helpful feature, one at a time.

    Assumes that few features matter, and finds a small set of them that explains the labels: every
    step adds the feature that correlates best with the residual of a ridge fit on the features
    before (Algorithm 1). The number of features is the regularization. One run gives the
    models of all budgets, so the search tries many at the cost of the largest.

    The features and their order are those of the code that was published with the paper: it selects
    on columns of norm one, on which rare and frequent features are treated alike, and its intercept
    is under the ridge. ``columns="given", intercept="feature", epsilon_of="residual"`` is the
    algorithm as the paper has it.

    References
    ----------
    .. [1] Skianis, Tziortziotis & Vazirgiannis (2018), "Orthogonal matching pursuit for text
       classification" (skianis2018).
    """

    name = "omp"
    l2: float = param(
        min=0, search=Choices((0.1, 0.01)), help="strength of the ridge penalty in every fit"
    )
    budget: int = param(
        min=1, search=Choices(BUDGETS), help="maximum number of features in the model"
    )
    columns: str = param(
        default="unit",
        choices=COLUMNS,
        help="select on columns of norm one and refit on the given ones, or do both on the given",
    )
    intercept: str = param(
        default="ridge",
        choices=INTERCEPTS,
        help="the intercept of the fits that select: under the ridge (free for numbers), free, or "
        "a feature like any other, then of the model as well",
    )
    epsilon: float = param(default=0.0, min=0, help="stop when epsilon_of is not above this")
    epsilon_of: str = param(
        default="score", choices=EPSILON_OF, help="the best score, or the norm of the residual"
    )

    def solve(self, problem: Problem) -> Solution:
        """The model of the budget.

        Parameters
        ----------
        problem : Problem
            What to fit; ``problem.start`` is ignored.

        Returns
        -------
        Solution
            ``report`` is a :class:`~textreg.solvers.pursuit.PursuitReport`; ``gap`` is NaN.

        Raises
        ------
        UsageError
            ``l2`` or ``budget`` is undecided, or the problem lacks the groups that gomp needs.
        """
        self._check(problem)
        return self._run(problem).solution(self.budget)

    def objective(self, problem: Problem, w: Floats, b: float) -> float:
        """Loss plus ridge, which is on the intercept only if that is a feature."""
        bias = b if self.intercept == "feature" else 0.0
        return super().objective(problem, w, b) + self.l2 * (float(w @ w) + bias * bias)

    def candidates(self, problem: Problem) -> list[Regularizer]:
        """The grid, without budgets beyond the number of features or that of documents.

        As many features as documents fit all of these, whatever their labels are.
        """
        parts = super().candidates(problem)
        if "budget" in self.undecided():
            most = max(min(problem.design.shape), 1)
            parts = [part.replace(budget=min(part.params()["budget"], most)) for part in parts]
        return list(dict.fromkeys(parts))

    def path(
        self, problem: Problem, candidates: Sequence[Regularizer] | None = None
    ) -> Iterator[tuple[Regularizer, Solution]]:
        """One run for all consecutive candidates that differ only in the budget."""
        run, settings = None, None
        for part in self.candidates(problem) if candidates is None else candidates:
            if not isinstance(part, Omp):
                raise UsageError(f"{self.name}: {part!r} is not a candidate of a pursuit.")
            part._check(problem)
            if run is None or part.replace(budget=1) != settings:
                run, settings = part._run(problem), part.replace(budget=1)
            yield part, run.solution(part.budget)

    def _check(self, problem: Problem) -> None:
        """Raise UsageError where the pursuit cannot run."""
        check_decided(self.name, l2=self.l2, budget=self.budget)

    def _run(self, problem: Problem) -> Pursuit:
        """A run from the beginning, with all parameters but the budget."""
        params = self.params()
        del params["budget"]
        if self.intercept == "ridge" and not problem.loss.binary:
            # A ridge would draw the mean of y toward zero, wherever zero is.
            params["intercept"] = "free"
        return Pursuit(problem, **params)


class Gomp(Omp):
    """Overlapping group orthogonal matching pursuit: adds whole groups of features, one at a time.

    Assumes that features matter in groups known in advance, such as clusters or topics. Like omp,
    but every step adds the group that correlates best with the residual (Algorithm 2), with
    all its features that are not in the model yet; they leave the other groups. By default single
    features compete with the groups. The weights of groups are ignored.

    The scores ``mean``, ``sum`` and ``orthonormal`` are the paper's, eq. (11), (9) and (10);
    ``projection`` is that of the authors' code, where ``intercept="feature"``. By ``mean`` a group
    never scores higher than its best feature.

    References
    ----------
    .. [1] Skianis, Tziortziotis & Vazirgiannis (2018), "Orthogonal matching pursuit for text
       classification" (skianis2018).
    """

    name = "gomp"
    needs = "groups"
    default_builder = "sentences"
    budget: int = param(
        min=1,
        search=Choices(BUDGETS[:5]),
        help="number of features at which to stop; the last group may exceed it",
    )
    score: str = param(default="projection", choices=SCORES, help="how groups are scored")
    singletons: bool = param(default=True, help="let single features compete with the groups")
    inside: float = param(
        default=0.0,
        min=0.0,
        max=1.0,
        help="of a selected group, add features one at a time while they correlate with the "
        "residual by this share of the first; 0 adds the whole group",
    )

    def _check(self, problem: Problem) -> None:
        super()._check(problem)
        if problem.groups is None:
            raise UsageError("gomp: the problem has no groups; build some, or use omp.")


# Size of a step times the largest curvature of the loss: the minimum of a loss of high curvature
# is near, and most steps beyond it would undo each other.
STEP = 0.025


class Stagewise(Regularizer):
    """Forward stagewise: many small steps, each along the feature that now helps most.

    Assumes that few features matter, and that of several correlated ones the best should get the
    weight. Starts from an empty model; every step adds epsilon to the weight of the feature whose
    centered and scaled column correlates best with the residual (section 4). Early stopping
    is the regularization, so one run gives the models of all numbers of steps, and the search tries
    them at the cost of the longest.

    By default steps are scaled by the residual, as section 6 recommends for speed.
    ``scaled=False, epsilon=0.01, likelihood="linear"`` is the run of the paper.

    References
    ----------
    .. [1] Hooker & Weng (2004), "Subset selection in large, sparse systems" (hooker2004).
    """

    name = "stagewise"
    minimizes = False
    steps: int = param(
        min=1, search=Choices((50, 100, 200, 400, 800, 1600, 3200)), help="maximum number of steps"
    )
    epsilon: float | None = param(
        default=None,
        min=1e-9,
        help="size of a step, in score per standard deviation of a feature; none: 0.025 divided by "
        "the largest curvature of the loss, 0.1 for the logistic loss",
    )
    scaled: bool = param(default=True, help="multiply epsilon by the root mean squared residual")
    likelihood: str = param(
        default="loss",
        choices=("loss", "linear", "exponential"),
        help="what to maximize: minus the loss, minus squared error, or an exponential family",
    )
    standardize: bool = param(default=True, help="divide features by their standard deviation")
    features: int | None = param(default=None, min=1, help="maximum number of features")
    threshold: float = param(
        default=0.0,
        min=0,
        help="stop when all derivatives are below this share of the largest at the start",
    )
    relative: bool = param(
        default=True,
        help="threshold: a share of the largest at the start; else the number that the sums over "
        "documents are compared with",
    )
    patience: int | None = param(
        default=None,
        min=1,
        help="stop this many steps after the smallest error on a held-out tenth of the documents; "
        "then repeat the run on all documents up to that error",
    )
    every: int = param(
        default=50, min=1, help="steps between measurements of the errors; no step depends on it"
    )
    sample: int | None = param(
        default=None, min=1, help="number of features that a step selects from; none: all"
    )
    lookup: str = param(
        default="random",
        choices=("random", "queue"),
        help="sample: drawn at random, or the features that waited longest; queue without sample: "
        "as many as are needed to find the best",
    )
    keep_best: bool = param(default=False, help="sample: add the feature of the last step")
    seed: int = param(default=0, min=0, help="sample, patience: random seed")
    cache: float = param(default=1000.0, min=0, help="linear: megabytes for Gram columns")

    def __init__(self, /, **values: Any) -> None:
        super().__init__(**values)
        rules = {**self.params(), "steps": 1, "epsilon": self.epsilon or STEP}
        StepRules(**rules)  # refuses parameters that contradict each other

    def solve(self, problem: Problem) -> Solution:
        """The end of the path, or its best point on ``problem.validation`` where that is given.

        With ``patience`` and no validation, a run with a tenth of the documents held out finds the
        number of steps, and the run on all of them ends there.

        Parameters
        ----------
        problem : Problem
            What to fit; ``problem.start`` is ignored.

        Returns
        -------
        Solution
            ``report`` is a :class:`~textreg.solvers.stagewise_rules.StagewiseReport`; ``gap`` is
            NaN.

        Raises
        ------
        UsageError
            ``steps`` is undecided.
        DataError
            ``patience`` is given and fewer than two documents have a weight.
        """
        check_decided(self.name, steps=self.steps)
        rules = self._rules(problem)
        if self.patience is None or problem.validation is not None:
            return stagewise(problem, rules)
        train, held_out = self._split(problem)
        part = problem.replace(
            X=problem.X[train],
            y=problem.y[train],
            sample_weight=problem.sample_weight[train],
            validation=(problem.X[held_out], problem.y[held_out]),
            start=None,
        )
        trial = stagewise(part, rules)
        measured = _report(trial)
        if measured.stopped == "callback":
            return trial
        final = stagewise(problem, replace(rules, steps=measured.best_step, patience=None))
        report = _report(final)
        if report.stopped != "steps":
            return final
        return replace(final, report=replace(report, stopped=measured.stopped))

    def objective(self, problem: Problem, w: Floats, b: float) -> float:
        """Minus the likelihood, up to a constant; with ``likelihood="loss"`` it is the loss."""
        z, y, c = problem.design.product(w), problem.y, problem.sample_weight
        if self.likelihood == "exponential":
            return minus_log_likelihood(z, observed_counts(y, c), c)
        loss = Squared() if self.likelihood == "linear" else problem.loss
        return loss.value(z + b, y, c)

    def _split(self, problem: Problem) -> tuple[Int64s, Int64s]:
        """The documents to train on, and a held-out tenth, stratified by y."""
        rows = np.flatnonzero(problem.sample_weight)
        if len(rows) < 2:
            raise DataError(
                "stagewise: patience needs at least two documents, one of them held out."
            )
        shuffled = np.random.default_rng(self.seed).permutation(rows)
        held_out = shuffled[np.argsort(-problem.y[shuffled], kind="stable")][::10]
        return np.setdiff1d(rows, held_out), np.sort(held_out)

    def path(
        self, problem: Problem, candidates: Sequence[Regularizer] | None = None
    ) -> Iterator[tuple[Regularizer, Solution]]:
        """One run for all candidates, if they differ only in the number of steps."""
        grid = list(self.candidates(problem) if candidates is None else candidates)
        parts = [part for part in grid if isinstance(part, Stagewise)]
        settings = {part.replace(steps=1) for part in parts}
        ascending = all(a.steps <= b.steps for a, b in itertools.pairwise(parts))
        two_runs = self.patience is not None and problem.validation is None
        if len(parts) < len(grid) or len(settings) != 1 or not ascending or two_runs:
            yield from super().path(problem, grid)
            return
        steps = [part.steps for part in parts]
        yield from zip(parts, stagewise_path(problem, parts[0]._rules(problem), steps), strict=True)

    def _rules(self, problem: Problem) -> StepRules:
        """The parameters as rules, with a size of steps that suits the loss."""
        # An exponential family has no largest curvature: steps are as under the logistic loss.
        maximized = {"loss": problem.loss, "linear": Squared(), "exponential": Logistic()}
        usual = STEP / maximized[self.likelihood].largest_curvature()
        return StepRules(**{**self.params(), "epsilon": self.epsilon or usual})


def _report(solution: Solution) -> StagewiseReport:
    """The report of a solution of :func:`stagewise`."""
    assert isinstance(solution.report, StagewiseReport)
    return solution.report


@hookimpl
def textreg_regularizers() -> list[type[Regularizer]]:
    return [Omp, Gomp, Stagewise]
