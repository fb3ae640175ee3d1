"""The latent group lasso of Jacob, Obozinski & Vert (2009), by default over sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from textreg.builtin.groups import groups_of
from textreg.builtin.separable import Elastic
from textreg.errors import UsageError
from textreg.hookspecs import hookimpl
from textreg.kinds import Regularizer
from textreg.params import LogGrid, check_decided, param
from textreg.records import Floats, Groups, Problem, Solution
from textreg.records.problem import Support
from textreg.solvers.certificate import provable
from textreg_latent.certificate import support_of_parts
from textreg_latent.penalty import LatentPenalty, parts_within
from textreg_latent.solver import latent_groups


class Latent(Regularizer):
    """Latent group lasso: weights that are a sum of parts, each within one group.

    Assumes that what matters is said in a few groups, as in a few sentences:

        loss + min sum_g group c_g ||v_g||_2 + l1 ||w||_1 + l2 ||w||_2^2

    over parts v_g within group g that sum to w, with c_g the weight of the group from its builder
    (Jacob, Obozinski & Vert 2009, eq. (2); Obozinski, Jacob & Vert 2011). A group is selected if it
    has a part, and the features with a weight are those of the selected groups, or some of them
    with an l1 penalty. Under ``group`` and ``sentence`` it is the other way round: a group is
    dropped as a whole, and a feature has a weight where none of its groups is dropped.
    """

    name = "latent"
    needs = "groups"
    default_builder = "sentences"
    group: float = param(min=0, search=LogGrid(3e-4, 3e-2, 5), help="group penalty strength")
    l1: float = param(default=0.0, min=0, help="l1 penalty strength")
    l2: float = param(min=0, search=LogGrid(2e-4, 5e-3, 3), help="l2 penalty strength")

    def reduced(self) -> Regularizer | None:
        """The elastic net, or what that reduces to, where ``group`` is zero."""
        if self.group != 0:
            return None
        elastic = Elastic(l1=self.l1, l2=self.l2)
        return elastic.reduced() or elastic

    def scale(self, problem: Problem, parameter: str) -> float:
        """For ``group`` the smallest strength that makes all weights of groups zero.

        That is the dual norm of the gradient at zero, max_g ||gradient_g|| / c_g.
        """
        if parameter != "group" or problem.groups is None:
            return super().scale(problem, parameter)
        ratios = LatentPenalty(problem.groups, 1.0, 0.0).ratios(problem.gradient_at_zero())
        return float(ratios.max(initial=0.0))

    def penalty(self, problem: Problem) -> LatentPenalty:
        """The penalty for ``problem``; UsageError if it has no groups or a strength is missing."""
        check_decided(self.name, group=self.group, l1=self.l1, l2=self.l2)
        return LatentPenalty(groups_of(problem, self.name), self.group, self.l1, self.l2)

    def support(self, problem: Problem, solution: Solution) -> Support | None:
        """Which features and groups surely have no weight or part, and which surely have."""
        simpler = self.reduced()
        if simpler is not None or not provable(problem, solution):
            return None if simpler is None else simpler.support(problem, solution)
        return support_of_parts(problem, solution, self.penalty(problem))

    def parts(self, w: Floats, groups: Groups, selected: Sequence[int]) -> list[Floats]:
        """The parts of least sum within the selected groups; equal groups have the same one."""
        penalty = LatentPenalty(groups, 1.0, 0.0, 1.0)
        merged = penalty.origin[np.array(selected, dtype=np.int64)]
        eta, t = parts_within(penalty, w, np.unique(merged[merged >= 0]))
        return [  # a group of weight 0 has its features for nothing
            eta[g] * t[members] if g >= 0 else w[members]
            for g, members in zip(merged.tolist(), map(groups.members, selected), strict=True)
        ]

    def solve(self, problem: Problem) -> Solution:
        """Minimize loss + penalty; UsageError where a feature would have no penalty."""
        penalty = self.penalty(problem)
        simpler = self.reduced()
        if simpler is not None:
            solution = simpler.solve(problem)
            norms = penalty.original_norms(penalty.norms(solution.w), solution.w)
            return replace(solution, group_norms=norms)
        if self.l1 == 0.0 and self.l2 == 0.0 and penalty.free.any():
            raise UsageError(
                f"{self.name}: {int(penalty.free.sum()):,} features are in a group of weight 0, "
                "and have no penalty where l1 and l2 are 0. Give l2 or l1, or groups a weight."
            )
        return latent_groups(problem, penalty)


@hookimpl
def textreg_regularizers() -> list[type[Regularizer]]:
    """The one."""
    return [Latent]
