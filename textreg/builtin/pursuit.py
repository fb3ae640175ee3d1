"""Greedy pursuits of features and of groups (Skianis, Tziortziotis & Vazirgiannis 2018)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from textreg.errors import UsageError
from textreg.hookspecs import hookimpl
from textreg.kinds import Regularizer
from textreg.params import AUTO, Choices, check_decided, param
from textreg.records import Problem, Solution
from textreg.solvers.group_scores import SCORES
from textreg.solvers.pursuit import COLUMNS, Pursuit

BUDGETS = (25, 50, 100, 200, 300, 400, 600, 800, 1000, 1500, 2000)
"""The budgets that the search tries; all of them cost little more than the largest."""


class Omp(Regularizer):
    """Orthogonal matching pursuit: the features that help most, one after the other.

    Assumes that few features decide, and finds a small set of them that explains the labels
    together: at every step the feature is added that correlates best with what a ridge fit of those
    before leaves over (Algorithm 1). There is no price on features but their number. One run gives
    the models of all budgets, so the search tries many at the cost of the largest.

    ``columns="given"`` is the paper as it is written. The numbers in its tables were made with
    columns of norm one, on which rare and frequent features have the same chance.
    """

    name = "omp"
    l2: float = param(
        default=AUTO,
        min=0,
        search=Choices((0.1, 0.01)),
        help="price of the squared weights in every fit",
    )
    budget: int = param(
        default=AUTO, min=1, search=Choices(BUDGETS), help="most features in the model"
    )
    columns: str = param(
        default="unit",
        choices=COLUMNS,
        help="choose on columns of norm one and refit on the given ones, or all on the given ones",
    )
    epsilon: float = param(default=0.0, min=0, help="stop when no score is above this")

    def solve(self, problem: Problem) -> Solution:
        """The model of the budget. ``problem.start`` has no part in it."""
        self._check(problem)
        return self._run(problem).solution(self.budget)

    def candidates(self, problem: Problem) -> list[Regularizer]:
        """The grid, without budgets beyond the number of features."""
        parts = super().candidates(problem)
        if "budget" in self.undecided():
            p = max(problem.X.shape[1], 1)
            parts = [part.replace(budget=min(part.params()["budget"], p)) for part in parts]
        return list(dict.fromkeys(parts))

    def path(
        self, problem: Problem, candidates: Sequence[Regularizer] | None = None
    ) -> Iterator[tuple[Regularizer, Solution]]:
        """One run for all candidates in a row that differ in the budget alone."""
        run, settings = None, None
        for part in self.candidates(problem) if candidates is None else candidates:
            if not isinstance(part, Omp):
                raise UsageError(f"{self.name}: {part!r} is no candidate of a pursuit.")
            part._check(problem)
            if run is None or part.replace(budget=1) != settings:
                run, settings = part._run(problem), part.replace(budget=1)
            yield part, run.solution(part.budget)

    def _check(self, problem: Problem) -> None:
        """Refuse what cannot be run."""
        open_ones = {"l2": self.l2, "budget": self.budget}
        check_decided(self.name, **open_ones)

    def _run(self, problem: Problem) -> Pursuit:
        """A run from the beginning."""
        return Pursuit(problem, l2=self.l2, columns=self.columns, epsilon=self.epsilon)


class Gomp(Omp):
    """Overlapping group orthogonal matching pursuit: whole groups of features, one after the other.

    Assumes that features decide in groups known beforehand, such as clusters or topics. Like omp,
    but at every step the group is added that correlates best (Algorithm 2), with all its features
    that are not in the model yet; the other groups lose them. Single features compete with the
    groups unless told otherwise. The prices of groups have no part in it.

    The scores ``mean`` (11), ``sum`` (9) and ``orthonormal`` (10) are the paper's, ``projection``
    is that of the authors' code. By ``mean`` a group never beats its best single feature.
    """

    name = "gomp"
    needs = "groups"
    default_builder = "sentences"
    budget: int = param(
        default=AUTO,
        min=1,
        search=Choices(BUDGETS[:5]),
        help="features in the model at which to stop; the last group may overstep it",
    )
    score: str = param(
        default="projection", choices=SCORES, help="how the correlation of a group is measured"
    )
    singletons: bool = param(default=True, help="let single features compete with the groups")

    def _check(self, problem: Problem) -> None:
        super()._check(problem)
        if problem.groups is None:
            raise UsageError("gomp: the problem has no groups; build some, or use omp.")

    def _run(self, problem: Problem) -> Pursuit:
        return Pursuit(
            problem,
            l2=self.l2,
            columns=self.columns,
            epsilon=self.epsilon,
            score=self.score,
            singletons=self.singletons,
        )


@hookimpl
def textreg_regularizers() -> list[type[Regularizer]]:
    """The two of them."""
    return [Omp, Gomp]
