"""Greedy pursuits of features and of groups (Skianis, Tziortziotis & Vazirgiannis 2018)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from textreg.errors import UsageError
from textreg.hookspecs import hookimpl
from textreg.kinds import Regularizer
from textreg.params import AUTO, Choices, check_decided, param
from textreg.records import Floats, Problem, Solution
from textreg.solvers.group_scores import SCORES
from textreg.solvers.pursuit import COLUMNS, EPSILON_OF, Pursuit
from textreg.solvers.pursuit_model import INTERCEPTS

BUDGETS = (25, 50, 100, 200, 300, 400, 600, 800, 1000, 1500, 2000)
"""The budgets that the search tries; together they cost little more than the largest one."""


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
        default=AUTO,
        min=0,
        search=Choices((0.1, 0.01)),
        help="strength of the ridge penalty in every fit",
    )
    budget: int = param(
        default=AUTO, min=1, search=Choices(BUDGETS), help="maximum number of features in the model"
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
        default="score",
        choices=EPSILON_OF,
        help="the best score, or the norm of the residual",
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
        """The grid, without budgets beyond the number of features."""
        parts = super().candidates(problem)
        if "budget" in self.undecided():
            p = max(problem.design.shape[1], 1)
            parts = [part.replace(budget=min(part.params()["budget"], p)) for part in parts]
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
        default=AUTO,
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


@hookimpl
def textreg_regularizers() -> list[type[Regularizer]]:
    """Both pursuits."""
    return [Omp, Gomp]
