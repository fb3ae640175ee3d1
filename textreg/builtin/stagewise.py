"""Forward stagewise selection of Hooker & Weng (2004)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from textreg.errors import DataError
from textreg.hookspecs import hookimpl
from textreg.kinds import Regularizer
from textreg.losses import Logistic, Squared
from textreg.params import AUTO, Choices, check_decided, param
from textreg.records import Floats, Int64s, Problem, Solution
from textreg.solvers.stagewise import stagewise, stagewise_path
from textreg.solvers.stagewise_exponential import minus_log_likelihood, observed_counts
from textreg.solvers.stagewise_rules import StagewiseReport, StepRules

STEP = 0.025
"""Size of a step times the largest curvature of the loss: the minimum of a loss of high curvature
is near, and most steps beyond it would undo each other."""


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
        default=AUTO,
        min=1,
        search=Choices((50, 100, 200, 400, 800, 1600, 3200)),
        help="maximum number of steps",
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
        "as many as it takes to be sure of the best",
    )
    keep_best: bool = param(default=False, help="sample: add the feature of the last step")
    seed: int = param(default=0, min=0, help="sample, patience: random seed")
    cache: float = param(default=1000.0, min=0, help="linear: megabytes for Gram columns")

    def __init__(self, /, **values: Any) -> None:
        super().__init__(**values)
        given = {**self.params(), "steps": 1, "epsilon": self.epsilon or STEP}
        StepRules(**given)  # refuses parameters that contradict each other

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
        given = list(self.candidates(problem) if candidates is None else candidates)
        parts = [part for part in given if isinstance(part, Stagewise)]
        others = {part.replace(steps=1) for part in parts}
        ascending = all(a.steps <= b.steps for a, b in itertools.pairwise(parts))
        two_runs = self.patience is not None and problem.validation is None
        if len(parts) < len(given) or len(others) != 1 or not ascending or two_runs:
            yield from super().path(problem, given)
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
    """Forward stagewise."""
    return [Stagewise]
