"""The rules of a run of forward stagewise, and its path and report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from textreg.errors import UsageError
from textreg.records import Floats, Int32s, Int64s, SolverReport


@dataclass(frozen=True, kw_only=True)
class StepRules:
    """How forward stagewise steps, and when it stops: by the first of its rules that is met.

    The rules are those of section 5.1 of hooker2004. A step that would undo the last one is a loop,
    and always stops the run.

    Parameters
    ----------
    likelihood : {"loss", "linear", "exponential"}, default "loss"
        What is maximized: minus the loss of the problem; minus squared error, whatever the loss; or
        the exponential family of
        :class:`~textreg.solvers.stagewise.ExponentialLikelihood`, in which the weights
        of documents are the W_i of the paper.
    epsilon : float, default 0.01
        Size of a step, in score per standard deviation of a feature.
    scaled : bool, default False
        Multiply the size of every step by the present root mean squared residual.
    standardize : bool, default True
        Divide columns by their standard deviation; without it epsilon is in the units of weights.
    every : int, default 100
        Steps between measurements of the errors. The steps themselves do not depend on it.
    steps : int, default 1000
        Most steps.
    features : int, optional
        Most features with a nonzero weight.
    threshold : float, default 0
        Stop when all derivatives are below this share of the largest one at the start.
    relative : bool, default True
        Whether ``threshold`` is a share. Without it derivatives are compared with the threshold
        itself, as in the paper; they are sums over documents.
    patience : int, optional
        Stop this many steps after the least error on ``Problem.validation``, which it needs.
    sample : int, optional
        Number of features that a step selects from; default all (section 7). A stopping rule is
        applied only after a look at all features.
    lookup : {"random", "queue"}, default "random"
        Whether the sample is drawn at random, or is of the features that were not looked at for the
        longest time. A queue without ``sample`` looks at as many as it takes to be sure of the
        best, by a bound on what the others can have changed since: the path is that of all.
    keep_best : bool, default False
        Add the feature of the last step to the sample.
    seed : int, default 0
        Seed of the random draws.
    cache : float, default 1000
        Most megabytes of Gram columns in memory, for squared error.

    Raises
    ------
    UsageError
        A value is out of range, or two contradict each other.
    """

    likelihood: str = "loss"
    epsilon: float = 0.01
    scaled: bool = False
    standardize: bool = True
    every: int = 100
    steps: int = 1000
    features: int | None = None
    threshold: float = 0.0
    relative: bool = True
    patience: int | None = None
    sample: int | None = None
    lookup: str = "random"
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
        if self.lookup not in ("random", "queue"):
            raise UsageError(f"stagewise: lookup must be random or queue, not {self.lookup!r}.")
        if self.relative and self.threshold > 1.0:
            raise UsageError(
                f"stagewise: a threshold of {self.threshold:g} is no share of the largest "
                "derivative; give one of at most 1, or relative=False (--no-reg-relative)."
            )
        if self.keep_best and self.sample is None:
            raise UsageError(
                "stagewise: keep_best adds a feature to a sample; say how many to draw "
                "with sample (--reg-sample), or leave keep_best out."
            )
        if not self.epsilon > 0.0 or self.every < 1:
            raise UsageError(
                f"stagewise: epsilon must be above 0 and every at least 1, "
                f"not {self.epsilon:g} and {self.every}."
            )


@dataclass(frozen=True, eq=False)
class StagewisePath:
    """All steps of a run, and what was measured on the way.

    Errors are means over documents: of squares, of the loss, or of minus the log-likelihood.

    Attributes
    ----------
    features : int32 ndarray, shape (steps,)
        The feature of every step.
    sizes : ndarray, shape (steps,)
        Signed size of every step, in multiples of epsilon.
    epsilon : float
        Size of a step.
    scale : ndarray, shape (p,)
        One over the standard deviation of every feature; 0 for constant features.
    checks : int64 ndarray, shape (checks,)
        Steps after which the following were measured.
    train_error, validation_error : ndarray, shape (checks,)
        Errors on the documents of the problem and on held-out ones; NaN where there are none.
    nonzero : int64 ndarray, shape (checks,)
        Number of features with a nonzero weight.
    intercepts : ndarray, shape (checks,)
        The intercept.
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
        """The weights after some step.

        Parameters
        ----------
        step : int
            Number of steps.

        Returns
        -------
        ndarray, shape (p,)
            In the units of the features as they were given.
        """
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
    lookups : int or None
        Derivatives computed with ``lookup="queue"`` and no ``sample``, else None.
    """

    stopped: str
    steps: int
    best_step: int
    largest: float
    path: StagewisePath
    gram: GramCacheUse | None = None
    lookups: int | None = None
