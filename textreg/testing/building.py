"""Running a builder, and its result by names: groups and links without the numbers of features."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from textreg.errors import BrokenPluginError, DataError, DataWarning
from textreg.kinds import GraphBuilder, GroupBuilder
from textreg.plugins import calls
from textreg.records import Graph, Groups, Tokens
from textreg.testing.checks import fail
from textreg.testing.texts import Trial

Builder = GroupBuilder | GraphBuilder
Pair = tuple[str, str]


def build(part: Builder, tokens: Tokens) -> Groups | Graph:
    """What it builds; a DataError that says why it does not passes, and warnings are not shown.

    Raises ContractError where the builder is broken, as when its record is invalid.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        try:
            if isinstance(part, GroupBuilder):
                return calls.build_groups(part, tokens)
            return calls.build_graph(part, tokens)
        except BrokenPluginError as error:
            fail("a valid result", f"the error '{error.cause}'")


def refused(part: Builder, tokens: Tokens) -> bool:
    """Whether it refuses such tokens with a DataError."""
    try:
        build(part, tokens)
    except DataError:
        return True
    return False


def tokens_for(part: Builder, trial: Trial) -> Tokens:
    """The small tokens of a trial where something is built of them, else the large ones."""
    try:
        built = build(part, trial.small)
    except DataError:
        built = None
    return trial.large if built is None or is_empty(built) else trial.small


def must_build(part: Builder, tokens: Tokens, where: str) -> Groups | Graph:
    """What it builds; ContractError where it refuses tokens that it need not refuse."""
    try:
        return build(part, tokens)
    except DataError as error:
        fail(f"{noun(part)} of {where}", f"none: '{error}'")


def is_empty(built: Groups | Graph) -> bool:
    """Whether there is no feature in any group, or no link."""
    return not (len(built.indices) if isinstance(built, Groups) else built.n_links)


def noun(part: Builder) -> str:
    """What it builds, in a word."""
    return "groups" if isinstance(part, GroupBuilder) else "links"


def described(built: Groups | Graph) -> str:
    """The size of a result, such as ``7 groups over 31 features``."""
    if isinstance(built, Groups):
        return f"{len(built):,} groups over {len(np.unique(built.indices)):,} features"
    ends = built.similar.nonzero()
    linked = len(np.unique(np.concatenate(ends)))
    return f"{built.n_links:,} links of {linked:,} features"


class Group(NamedTuple):
    """A group by the names of its features; without a name of its own, that is empty."""

    name: str
    features: frozenset[str]
    weight: str

    def __str__(self) -> str:
        some = sorted(self.features)
        more = ", …" if len(some) > 6 else ""
        name = f"{self.name}: " if self.name else ""
        return f"{name}{{{', '.join(some[:6])}{more}}} of weight {self.weight}"


def named_groups(groups: Groups, vocabulary: Any) -> list[Group]:
    """The groups, in order. Weights are rounded to what the order of a sum cannot change."""
    return [
        Group(
            "" if groups.names is None else groups.names[group],
            frozenset(vocabulary[feature] for feature in groups.members(group)),
            f"{groups.weights[group]:.9g}",
        )
        for group in range(len(groups))
    ]


def named_links(graph: Graph, vocabulary: Any) -> dict[str, dict[Pair, float]]:
    """The links by the names of their ends, similar and dissimilar; classes by their numbers."""
    names = [*vocabulary, *(f"class {number}" for number in range(graph.classes))]
    found: dict[str, dict[Pair, float]] = {}
    for kind in ("similar", "dissimilar"):
        links = getattr(graph, kind)
        pairs = None if links is None else links.tocoo()
        found[kind] = (
            {}
            if pairs is None
            else {
                (names[row], names[column]): float(weight)
                for row, column, weight in zip(pairs.row, pairs.col, pairs.data, strict=True)
            }
        )
    return found


def arrays(built: Groups | Graph) -> list[Any]:
    """All of a result that has to be the same when it is built again, to compare or to send."""
    if isinstance(built, Groups):
        names = None if built.names is None else list(built.names)
        return [built.indptr.copy(), built.indices.copy(), built.weights.copy(), names]
    found: list[Any] = [built.classes]
    for links in (built.similar, built.dissimilar):
        if links is not None:
            links = links.copy()
            links.sum_duplicates()
            found += [links.indptr, links.indices, links.data]
        else:
            found.append(None)
    return found


def equal(one: list[Any], other: list[Any]) -> bool:
    """Whether two results of :func:`arrays` are the same."""
    return len(one) == len(other) and all(map(_alike, one, other))


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return np.array_equal(one, other)
    return type(one) is type(other) and bool(one == other)
