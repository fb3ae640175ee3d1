"""What a solver reports beside the weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, eq=False)
class SolverReport:
    """Figures of one fit beside its weights; the base of what a solver puts in ``Solution.report``.

    A solver that has figures of its own declares them as the fields of a frozen subclass. This base
    has none.
    """


@dataclass(frozen=True, eq=False)
class PartsReport(SolverReport):
    """The groups that have a part, where weights are a sum of parts within groups.

    Attributes
    ----------
    groups : tuple of int
        Their indices in ``Problem.groups``, ascending.
    """

    groups: tuple[int, ...] = ()


class SelectionStep(NamedTuple):
    """One step of a greedy selection.

    Attributes
    ----------
    group : int
        Index of the group that was selected, in ``Problem.groups``; -1 for a single feature.
    active : int
        Number of selected features after the step.
    """

    group: int
    active: int


@dataclass(frozen=True, eq=False)
class SelectionReport(SolverReport):
    """The order in which a greedy solver selected its features; a model keeps it in its summary.

    Attributes
    ----------
    order : tuple of int
        Indices of the selected features, first selected first.
    steps : tuple of SelectionStep
        The steps that selected them. Step k selected
        ``order[steps[k - 1].active:steps[k].active]``. Empty where the solver does not say.
    """

    order: tuple[int, ...] = ()
    steps: tuple[SelectionStep, ...] = ()
