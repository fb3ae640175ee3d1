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
from textreg.records import Int64s, Problem, Solution
from textreg.solvers.stagewise import stagewise, stagewise_path
from textreg.solvers.stagewise_rules import StagewiseReport, StepRules

STEP = 0.025
"""Size of a step times the largest curvature of the loss. One that curves more is at its least
after a shorter way, and most steps beyond that would undo each other."""


class Stagewise(Regularizer):
    """Many small steps, each along the one feature that now helps most.

    Assumes that few features decide, and that weight belongs on the best of those that say the
    same. Starts from no model; every step adds epsilon to the weight of the feature whose centered
    and scaled column agrees best with what is not yet explained (section 4). There is no price:
    stopping early is the regularization, so one run gives the models of all numbers of steps, and
    the search tries them at the cost of the longest.

    The defaults scale steps by the residual, as section 6 advises for speed. ``scaled=False,
    epsilon=0.01, likelihood="linear"`` is the paper's run.
    """

    name = "stagewise"
    steps: int = param(
        default=AUTO,
        min=1,
        search=Choices((50, 100, 200, 400, 800, 1600, 3200)),
        help="most steps",
    )
    epsilon: float | None = param(
        default=None,
        min=1e-9,
        help="size of a step, in score per standard deviation of a feature; none: 0.025 over the "
        "loss's largest curvature, so 0.1 under the logistic loss",
    )
    scaled: bool = param(default=True, help="multiply epsilon by the residual's root mean square")
    likelihood: str = param(
        default="loss",
        choices=("loss", "linear", "exponential"),
        help="what is climbed: minus the loss, minus squared error, or an exponential family",
    )
    standardize: bool = param(default=True, help="divide features by their standard deviation")
    features: int | None = param(default=None, min=1, help="most features with a weight")
    threshold: float = param(
        default=0.0,
        min=0,
        max=1,
        help="stop when all derivatives are below this share of the first",
    )
    patience: int | None = param(
        default=None,
        min=1,
        help="stop so many steps after the least error on a tenth of the documents, held out; a "
        "run on all of them then goes as far as that",
    )
    every: int = param(
        default=50, min=1, help="steps between updates of residual, intercept and errors"
    )
    sample: int | None = param(
        default=None, min=1, help="look at so many features a step, drawn at random"
    )
    keep_best: bool = param(default=False, help="sample: look at the last step's feature as well")
    seed: int = param(default=0, min=0, help="sample, patience: seed of the draws")
    cache: float = param(default=1000.0, min=0, help="linear: megabytes of Gram columns kept")

    def __init__(self, /, **values: Any) -> None:
        super().__init__(**values)
        given = {**self.params(), "steps": 1, "epsilon": self.epsilon or STEP}
        StepRules(**given)  # what contradicts is refused here

    def solve(self, problem: Problem) -> Solution:
        """The end of the path, or its best point on ``problem.validation`` where that is given.

        With ``patience`` and no validation, a tenth of the documents takes its place to find the
        number of steps, and the run on all of them ends there. Raises UsageError where ``steps`` is
        undecided.
        """
        check_decided(self.name, steps=self.steps)
        rules = self._rules(problem)
        if self.patience is None or problem.validation is not None:
            return stagewise(problem, rules)
        train, held = self._split(problem)
        part = problem.replace(
            X=problem.X[train],
            y=problem.y[train],
            weights=problem.weights[train],
            validation=(problem.X[held], problem.y[held]),
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

    def _split(self, problem: Problem) -> tuple[Int64s, Int64s]:
        """The documents to learn from, and a tenth to measure on, of large and small y alike."""
        rows = np.flatnonzero(problem.weights)
        if len(rows) < 2:
            raise DataError("stagewise: patience needs two documents at least, one to measure on.")
        mixed = np.random.default_rng(self.seed).permutation(rows)
        held = mixed[np.argsort(-problem.y[mixed], kind="stable")][::10]
        return np.setdiff1d(rows, held), np.sort(held)

    def path(
        self, problem: Problem, candidates: Sequence[Regularizer] | None = None
    ) -> Iterator[tuple[Regularizer, Solution]]:
        """One run for all candidates that differ in the number of steps alone."""
        given = list(self.candidates(problem) if candidates is None else candidates)
        parts = [part for part in given if isinstance(part, Stagewise)]
        alone = {part.replace(steps=1) for part in parts}
        ascending = all(a.steps <= b.steps for a, b in itertools.pairwise(parts))
        holding = self.patience is not None and problem.validation is None
        if len(parts) < len(given) or len(alone) != 1 or not ascending or holding:
            yield from super().path(problem, given)
            return
        steps = [part.steps for part in parts]
        yield from zip(parts, stagewise_path(problem, parts[0]._rules(problem), steps), strict=True)

    def _rules(self, problem: Problem) -> StepRules:
        """The parameters as rules, with a size of steps that suits the loss."""
        # An exponential family has no largest curvature: steps are as under the logistic loss.
        climbed = {"loss": problem.loss, "linear": Squared(), "exponential": Logistic()}
        usual = STEP / climbed[self.likelihood].largest_curvature()
        return StepRules(**{**self.params(), "epsilon": self.epsilon or usual})


def _report(solution: Solution) -> StagewiseReport:
    """The report of a solution of :func:`stagewise`."""
    assert isinstance(solution.report, StagewiseReport)
    return solution.report


@hookimpl
def textreg_regularizers() -> list[type[Regularizer]]:
    """The one."""
    return [Stagewise]
