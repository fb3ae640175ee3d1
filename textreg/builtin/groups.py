"""Regularizers that select groups of features: any groups, and sentences of documents."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from textreg.builtin.separable import Elastic
from textreg.errors import UsageError
from textreg.hookspecs import hookimpl
from textreg.kinds import Regularizer
from textreg.losses import Logistic
from textreg.params import AUTO, LogGrid, Parametrized, check_decided, param
from textreg.penalties import GroupNorms, Separable
from textreg.records import Floats, Groups, Int64s, MultiSolution, Problem, Solution
from textreg.records.arrays import row_of
from textreg.records.design import BlockGroups
from textreg.records.problem import Support
from textreg.solvers.admm import AdmmOptions, Algorithm1Options, admm, algorithm_1
from textreg.solvers.certificate import provable, support_of_groups
from textreg.solvers.groups import group_ascents, majorize
from textreg.solvers.out_of_core import over_blocks, over_features, scale_in_blocks
from textreg.solvers.reduce import is_small
from textreg.solvers.softmax import SeparableStep, multinomial, multinomial_groups, softmax_loss


class Solver(NamedTuple):
    """A function of a problem and the norms of groups, and the class that declares its options.

    merge: whether it wants identical groups merged.
    """

    solve: Callable[..., Solution]
    options: type[Parametrized] = Parametrized
    merge: bool = True


SOLVERS = {
    "majorize": Solver(majorize),
    "admm": Solver(admm, AdmmOptions),
    "algorithm-1": Solver(algorithm_1, Algorithm1Options, merge=False),
}


# Yogatama & Smith's strengths (section 6.2), from the strongest down.
PAPERS = (1e3, 1e2, 1e1, 1.0, 1e-1, 1e-2)


class Group(Regularizer):
    """Sparse overlapping group lasso, with groups from one builder or several.

    Assumes that the features of a group are relevant together or not at all:

        loss + group sum_g c_g ||w_g||_2 + l1 ||w||_1 + l2 ||w||_2^2

    with w_g the weights of the features of group g, and c_g the weight of the group from its
    builder (Yogatama & Smith 2014, section 3, eq. (1), for any groups). The paper has no ridge; a
    small one helps with normalized features, so the search uses one. If group and l1 are given and
    l2 is not, l2 is 0, as in the paper.

    Examples
    --------
    >>> import numpy as np
    >>> from textreg.records import Groups, Problem
    >>> X = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    >>> groups = Groups([0, 2, 4], [0, 1, 1, 2], np.ones(2), n_features=3)
    >>> problem = Problem(X, y=[1.0, -1.0, 1.0, -1.0], groups=groups)
    >>> solution = Group(group=0.5, l1=0.0, l2=0.0).solve(problem)
    >>> solution.group_norms.shape, bool(solution.gap <= problem.tol)
    ((2,), True)
    """

    name = "group"
    needs = "groups"
    softmax = True
    group: float = param(min=0, search=LogGrid(1e-4, 3e-2, 4), help="group penalty strength")
    l1: float = param(min=0, search=LogGrid(3e-3, 3e-2, 2, zero=True), help="l1 penalty strength")
    l2: float = param(min=0, search=LogGrid(4e-5, 5e-3, 4), help="l2 penalty strength")
    grid: str = param(
        default="relative",
        choices=("relative", "papers"),
        help="values to search: multiples of the strength that leaves no weight, or those of the "
        "papers, 0.01 to 1000 for group and l1, and no l2",
    )
    solver: str = param(
        default="majorize",
        options={name: solver.options for name, solver in SOLVERS.items()},
        help="algorithm that finds the optimum; algorithm-1 is that of the paper as printed",
    )

    def __init__(self, /, **params: Any) -> None:
        super().__init__(**params)
        if self.undecided() == ["l2"]:
            self.__dict__["l2"] = 0.0

    def reduced(self) -> Regularizer | None:
        """The elastic net, or what that reduces to, where ``group`` is zero."""
        if self.group != 0:
            return None
        elastic = Elastic(l1=self.l1, l2=self.l2)
        return elastic.reduced() or elastic

    def scale(self, problem: Problem, parameter: str) -> float:
        """For ``group`` a strength that makes all weights zero without the help of l1 and l2.

        Zero is optimal if the gradient at zero can be split among the groups such that the norm of
        no part exceeds the strength of its group. Here each feature's gradient is split in
        proportion to the weights of its groups. This gives the smallest such strength if groups do
        not overlap, and an upper bound of it if they do. As multiples of it, the same strengths
        suit a few topics and thousands of sentences. Under softmax a feature's gradient is the norm
        over the classes.
        """
        groups = problem.groups
        if parameter != "group" or groups is None:
            return super().scale(problem, parameter)
        sizes = problem.gradient_sizes_at_zero()
        if isinstance(groups, BlockGroups):
            return scale_in_blocks(groups, sizes) or super().scale(problem, parameter)
        member_of = row_of(groups.indptr)
        total = np.bincount(groups.indices, groups.weights[member_of], groups.n_features)
        shares = sizes / np.where(total > 0, total, np.inf)
        squares = np.bincount(member_of, shares[groups.indices] ** 2, len(groups))
        return float(np.sqrt(squares.max(initial=0.0))) or super().scale(problem, parameter)

    def candidates(self, problem: Problem) -> list[Regularizer]:
        """As of the base, or the papers' grid."""
        if self.grid == "papers":
            tried = {"group": PAPERS, "l1": PAPERS, "l2": (0.0,)}
            names = self.undecided()
            values = itertools.product(*(tried[name] for name in names))
            return [self.replace(**dict(zip(names, point, strict=True))) for point in values]
        return super().candidates(problem)

    def penalty(self, problem: Problem) -> GroupNorms:
        """The penalty of one problem.

        Parameters
        ----------
        problem : Problem
            With groups.

        Returns
        -------
        GroupNorms

        Raises
        ------
        UsageError
            If the problem has no groups, or a strength is missing.
        """
        check_decided(self.name, group=self.group, l1=self.l1, l2=self.l2)
        merge, groups = SOLVERS[self.solver].merge, groups_of(problem, self.name)
        return GroupNorms(groups, self.group, self.l1, self.l2, merge=merge)

    def class_penalty(self, problem: Problem) -> GroupNorms:
        """The penalty of the weights of all classes together.

        Parameters
        ----------
        problem : Problem
            With groups.

        Returns
        -------
        GroupNorms

        Raises
        ------
        UsageError
            As for :meth:`penalty`.
        """
        norms = self.penalty(problem)
        return GroupNorms(norms.original, self.group, self.l1, self.l2, over_classes=True)

    def fits_blocks(self) -> bool:
        """Whether there is an l1 penalty, or no norm of groups and a ridge."""
        if self.solver != "majorize":
            return False
        if self.l1 is AUTO or self.l1 > 0.0:
            return True
        return (self.group is AUTO or self.group == 0.0) and (self.l2 is AUTO or self.l2 > 0.0)

    def objective(self, problem: Problem, w: Floats, b: float) -> float:
        """The loss and the penalty, also where documents lie in blocks."""
        if (simpler := self.reduced()) is not None:
            return simpler.objective(problem, w, b)
        if isinstance(problem.groups, BlockGroups):
            features = np.flatnonzero(w).astype(np.int32)
            return super().objective(over_features(problem, features), w[features], b)
        return super().objective(problem, w, b)

    def objective_softmax(self, problem: Problem, codes: Int64s, w: Floats, b: Floats) -> float:
        """The softmax loss and the penalty, whose norms run over all classes."""
        return softmax_loss(problem, codes, w, b) + self.class_penalty(problem).value_over_classes(
            w
        )

    def solve(self, problem: Problem) -> Solution:
        """Minimize loss + penalty; UsageError if the problem has no groups."""
        if isinstance(problem.groups, BlockGroups):
            return self._solve_blocks(problem)
        penalty = self.penalty(problem)
        simpler = self.reduced()
        if simpler is not None and self.solver == "majorize":
            solution = simpler.solve(problem)
            norms = penalty.original_norms(penalty.norms(solution.w), solution.w)
            return replace(solution, group_norms=norms)
        if self._ascends(problem):
            return group_ascents([problem], penalty)[0]
        solve = SOLVERS[self.solver].solve
        return solve(problem, penalty, **self.params_of("solver"))

    def solve_each(self, problems: Sequence[Problem]) -> list[Solution]:
        """The same for several labels; they share their passes without l1, or without norms."""
        first, simpler = problems[0], self.reduced()
        if self.solver != "majorize" or isinstance(first.groups, BlockGroups):
            return super().solve_each(problems)
        penalty = self.penalty(first)
        if simpler is None:
            together = all(map(self._ascends, problems))
            return group_ascents(problems, penalty) if together else super().solve_each(problems)
        return [
            replace(fit, group_norms=penalty.original_norms(penalty.norms(fit.w), fit.w))
            for fit in simpler.solve_each(problems)
        ]

    def _ascends(self, problem: Problem) -> bool:
        """Whether norms of groups are fitted by sweeps, which labels share: in memory, no l1."""
        suits = type(problem.loss) is Logistic and not is_small(problem)
        return self.solver == "majorize" and self.l1 == 0.0 < self.l2 and suits

    def support(self, problem: Problem, solution: Solution) -> Support | None:
        """Which features and groups surely have no weight, and which surely have one."""
        simpler = self.reduced()
        if simpler is not None or not provable(problem, solution):
            return None if simpler is None else simpler.support(problem, solution)
        return support_of_groups(problem, solution, self.penalty(problem))

    def _solve_blocks(self, problem: Problem) -> Solution:
        """The same where documents lie in blocks; UsageError without l1, unless ``group`` is 0."""
        check_decided(self.name, group=self.group, l1=self.l1, l2=self.l2)
        simpler = self.reduced()
        if simpler is not None:
            return simpler.solve(problem)
        if self.l1 == 0.0:
            raise UsageError(
                f"{self.name}: documents in blocks need l1 above 0, which tells the features that "
                "matter. Give l1, or train without --memory."
            )
        return over_blocks(problem, self.l1, self.l2, self.solve, self.group)

    def solve_softmax(
        self, problem: Problem, codes: Int64s, start: tuple[Floats, Floats] | None = None
    ) -> MultiSolution:
        """Minimize the softmax loss of all classes + penalty; UsageError for another solver.

        The norm of a group runs over its features and all classes (docs/maths.md, S3).
        """
        if self.solver != "majorize":
            raise UsageError(
                f"{self.name}: the solver '{self.solver}' has no softmax. Take solver=majorize, or "
                "leave out multiclass."
            )
        penalty = self.class_penalty(problem)
        if penalty.strengths.any():
            return multinomial_groups(problem, codes, penalty, start)
        elastic = Separable.constant(penalty.p, l1=self.l1, l2=self.l2)
        return multinomial(problem, codes, SeparableStep(problem, elastic), start)


def groups_of(problem: Problem, name: str) -> Groups:
    """The groups of a problem for the regularizer of a name; UsageError if it has none."""
    if problem.groups is None:
        raise UsageError(
            f"{name}: the problem has no groups; build them from the training text, or give "
            "Problem(groups=...)."
        )
    return problem.groups


class Sentence(Group):
    """Sparse overlapping group lasso with one group for every training sentence.

    Assumes that a few sentences of each document are relevant, and the others are not:

        loss + group sum_s ||w_s||_2 + l1 ||w||_1 + l2 ||w||_2^2

    with w_s the weights of the features of sentence s (section 3, eq. (1)). With the same
    strengths it is ``--reg group --groups sentences``.

    Examples
    --------
    >>> import textreg
    >>> texts = ["It is red. I love it.", "It is blue. I hate it."] * 5
    >>> model = textreg.train(texts, ["pos", "neg"] * 5, reg=Sentence(group=0.01, l1=0.1))
    >>> model.predict(["I love it."])
    ['pos']
    """

    name = "sentence"
    default_builder = "sentences"
    group: float = param(min=0, search=LogGrid(1e-5, 3e-2, 5), help="group penalty strength")
    l1: float = param(min=0, search=LogGrid(3e-3, 3e-2, 3), help="l1 penalty strength")
    l2: float = param(min=0, search=LogGrid(4e-3, 4e-3, 1), help="l2 penalty strength")

    def scale(self, problem: Problem, parameter: str) -> float:
        """The smallest l1 strength that leaves no weight, also for the groups."""
        return Regularizer.scale(self, problem, parameter)


@hookimpl
def textreg_regularizers() -> list[type[Regularizer]]:
    return [Group, Sentence]
