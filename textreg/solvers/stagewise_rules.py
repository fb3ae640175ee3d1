"""What a run of forward stagewise is told, and what it leaves behind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from textreg.errors import UsageError
from textreg.records import Floats, Int32s, Int64s, SolverReport


@dataclass(frozen=True, kw_only=True)
class StepRules:
    """How to step, and when to stop: whichever of the rules of section 5.1 is met first.

    likelihood: "loss", the problem's own; "linear", squared error whatever the loss; or
    "exponential", see :class:`~textreg.solvers.stagewise_likelihood.Exponential`. epsilon: size of
    a step, in score per standard deviation of a feature. scaled: times the root mean squared
    residual at the last check. standardize: divide columns by their standard deviation; without it
    epsilon is in the units of the weights. every: steps between checks, which bring residual,
    intercept and errors up to date.

    steps, features: most steps, and most features with a weight. threshold: share of the largest
    derivative at the start; the run stops when all are below it. patience: steps after the least
    error on ``Problem.validation``, which it needs. A step that would undo the last one is a loop,
    and always stops the run.

    sample: features to look at in a step, drawn anew each time, None for all (section 7).
    keep_best: look at the last step's as well. seed: of the draws. A rule of stopping is applied
    only after a look at all. cache: megabytes of Gram columns kept.
    """

    likelihood: str = "loss"
    epsilon: float = 0.01
    scaled: bool = False
    standardize: bool = True
    every: int = 100
    steps: int = 1000
    features: int | None = None
    threshold: float = 0.0
    patience: int | None = None
    sample: int | None = None
    keep_best: bool = False
    seed: int = 0
    cache: float = 1000.0

    def __post_init__(self) -> None:
        if self.likelihood not in ("loss", "linear", "exponential"):
            raise UsageError(
                f"stagewise: likelihood must be loss, linear or exponential, "
                f"not {self.likelihood!r}."
            )
        if self.likelihood == "exponential" and self.scaled:
            raise UsageError(
                "stagewise: an exponential family has no residuals to scale steps by; "
                "give scaled=False (--no-reg-scaled) with likelihood='exponential'."
            )
        if self.keep_best and self.sample is None:
            raise UsageError(
                "stagewise: keep_best is for a look at a few features drawn at random; say how "
                "many with sample (--reg-sample), or leave it out."
            )
        if not self.epsilon > 0.0 or self.every < 1:
            raise UsageError(
                f"stagewise: epsilon must be above 0 and every at least 1, "
                f"not {self.epsilon:g} and {self.every}."
            )


@dataclass(frozen=True, eq=False)
class StagewisePath:
    """All steps of a run, and what was measured on the way.

    features: int32 (steps,), the feature of every step. sizes: (steps,), signed, in multiples of
    epsilon. scale: (p,), gamma; 0 for constant features. checks: int64, steps at which the rest was
    measured: train_error, validation_error (NaN without), nonzero, intercepts. Errors are means: of
    squares, of the loss, or of minus the log-likelihood.
    """

    features: Int32s
    sizes: Floats
    epsilon: float
    scale: Floats
    checks: Int64s
    train_error: Floats
    validation_error: Floats
    nonzero: Int64s
    intercepts: Floats

    def weights(self, step: int) -> Floats:
        """The weights (p,) after ``step`` steps, in the units of the features as given."""
        sums = np.bincount(
            self.features[:step], weights=self.sizes[:step], minlength=len(self.scale)
        )
        return self.epsilon * sums * self.scale


class GramCacheUse(NamedTuple):
    """How much the cache of Gram columns was used.

    Attributes
    ----------
    stored : int
        Columns in the cache at the end.
    computed : int
        Columns computed during the run; those that were dropped and needed again count again.
    bytes : int
        Memory that the stored columns take.
    """

    stored: int
    computed: int
    bytes: int


@dataclass(frozen=True, eq=False)
class StagewiseReport(SolverReport):
    """What forward stagewise reports beside its weights.

    Attributes
    ----------
    stopped : str
        The rule that ended the run: "steps", "features", "threshold", "loop" or "patience"; or
        "callback".
    steps : int
        Number of steps of the run.
    best_step : int
        Step of the weights that are returned: the one of least validation error where there are
        held-out documents, else the last.
    largest : float
        The last absolute derivative as a share of the first.
    path : StagewisePath
        All steps, and the errors measured between them.
    gram : GramCacheUse or None
        Use of the cache of Gram columns; None for likelihoods that need none.
    """

    stopped: str
    steps: int
    best_step: int
    largest: float
    path: StagewisePath
    gram: GramCacheUse | None = None
