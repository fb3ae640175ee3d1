"""What the final fit of a training was, and what became of its weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class RegularizerSummary:
    """The regularizer of the final fit.

    Attributes
    ----------
    name : str
        Its name, as for ``--reg``.
    params : dict of str to Any
        Its parameters, with the values that were fitted.
    searched : tuple of str
        The parameters whose values were chosen by the search.
    """

    name: str
    params: dict[str, Any]
    searched: tuple[str, ...]


@dataclass(frozen=True)
class UnsmoothedSummary:
    """The final fit under the loss that a smoothed one stands for.

    Attributes
    ----------
    objective : float
        Objective with that loss, a sum over the weight vectors of the fit.
    gap : float or None
        Bound on how far, relatively, that lies above its minimum; None without a bound.
    """

    objective: float
    gap: float | None


@dataclass(frozen=True)
class SupportCounts:
    """How many features, or groups, are proven to be out of the optimum or in it.

    Attributes
    ----------
    zero, nonzero, undecided : int
        Number of those that surely have no weight there, surely have one, and the others.
    """

    zero: int
    nonzero: int
    undecided: int


@dataclass(frozen=True)
class SupportSummary:
    """What the final fit proves of its optimum, whatever solver came how near.

    Attributes
    ----------
    features : tuple of SupportCounts
        One for each weight vector.
    groups : tuple of SupportCounts
        The same of groups; empty where the regularizer has none.
    """

    features: tuple[SupportCounts, ...]
    groups: tuple[SupportCounts, ...]


@dataclass(frozen=True)
class PruneSummary:
    """The smallest weights, left out after the final fit.

    Attributes
    ----------
    share : float
        The most of the variance of the scores that they may hold.
    before, after : int
        Number of weights before and after.
    gap : float or None
        Bound on how far, relatively, the objective lies above its minimum without them; None
        without a bound.
    """

    share: float
    before: int
    after: int
    gap: float | None


@dataclass(frozen=True)
class GroupsSummary:
    """The groups of features that a regularizer used.

    Attributes
    ----------
    name : str
        Name of the group builder.
    params : dict of str to Any
        Parameters of the group builder.
    before : int
        Number of groups.
    after : int or None
        Number of those that differ in their features; None where documents lay in blocks.
    """

    name: str
    params: dict[str, Any]
    before: int
    after: int | None


@dataclass(frozen=True)
class GraphSummary:
    """The graph of features that a regularizer used.

    Attributes
    ----------
    name : str
        Name of the graph builder.
    params : dict of str to Any
        Parameters of the graph builder.
    links : int
        Number of links.
    classes : int
        Number of virtual features.
    """

    name: str
    params: dict[str, Any]
    links: int
    classes: int


@dataclass(frozen=True)
class PathSummary:
    """The regularization path that the model keeps.

    Attributes
    ----------
    parameter : str
        The parameter that changes along the path.
    points : int
        Number of models on it.
    """

    parameter: str
    points: int


@dataclass(frozen=True)
class BlocksSummary:
    """How documents were read that lay in blocks.

    Attributes
    ----------
    blocks : int
        Number of blocks.
    passes : int
        How often the final fits read all of them, together.
    searched : int or None
        Documents that the search saw; None where nothing was searched.
    """

    blocks: int
    passes: int
    searched: int | None


@dataclass(frozen=True)
class GroupStep:
    """One step of a pursuit of groups.

    Attributes
    ----------
    group : int or None
        Index of the group; None where a single feature was selected.
    name : str or None
        Name of the group, if it has one.
    features : tuple of str
        The features that were selected in this step.
    """

    group: int | None
    name: str | None
    features: tuple[str, ...]
