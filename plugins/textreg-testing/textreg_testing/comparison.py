"""Running a builder, and its result by names: groups and links without the numbers of features."""

from __future__ import annotations

import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from textreg.errors import BrokenPluginError, DataError, DataWarning
from textreg.kinds import GraphBuilder, GroupBuilder
from textreg.plugins import calls
from textreg.records import Graph, Groups, Tokens
from textreg_testing.checks import fail
from textreg_testing.texts import Trial

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


def without(
    unused: frozenset[str], wanted: list[Group], got: list[Group]
) -> tuple[list[Group], list[Group]]:
    """The groups before and after, but for what unused features may change by right.

    A builder that only looks at names puts them into groups as well. Then the weight and the name
    of that group may be others, and what was no group for want of features may be one.
    """
    clean = [group for group in got if not group.features & unused]
    if len(clean) == len(got):
        return wanted, got
    by_features = {group.features: group for group in wanted}
    for group in got:
        if group.features & unused:
            rest = group.features - unused
            if rest in by_features:
                clean.append(by_features[rest])
            elif len(rest) > 1:
                clean.append(group._replace(features=rest))
    # A group that has a number in its name may have another one now.
    return _nameless(wanted), _nameless(clean)


def _nameless(groups: list[Group]) -> list[Group]:
    return [group._replace(name="") for group in groups]


def unnumbered(wanted: list[Group], got: list[Group]) -> tuple[list[Group], list[Group]]:
    """Groups without names where these tell them apart by numbers, for those follow the order."""
    for groups in (wanted, got):
        bare = {re.sub(r"\d+", "", group.name) for group in groups}
        if len(bare) < len(groups):
            return _nameless(wanted), _nameless(got)
    return wanted, got


def common_share(wanted: list[Group], got: list[Group]) -> float:
    """The features that groups at the same place share, of all in one of them; a mean."""
    pairs = [(one.features, other.features) for one, other in zip(wanted, got, strict=False)]
    shares = [len(one & other) / max(len(one | other), 1) for one, other in pairs]
    return sum(shares) / max(len(wanted), len(got), 1)


def require_groups(wanted: list[Group], got: list[Group], about: tuple[str, str]) -> None:
    where, cause = about
    missing, extra = Counter(wanted) - Counter(got), Counter(got) - Counter(wanted)
    if missing or extra:
        lost = _first(missing) or "nothing"
        found = _first(extra) or "nothing"
        fail(
            f"the same groups of {where}",
            f"{found} instead of {lost}, and {sum(missing.values()) - 1:,} other differences. "
            f"{cause}"
            if missing
            else f"{found} more. {cause}",
        )


def _first(groups: Counter[Group]) -> str:
    return (
        str(min(groups, key=lambda group: (len(group.features), sorted(group.features))))
        if groups
        else ""
    )


def require_links(
    wanted: dict[Pair, float], got: dict[Pair, float], about: tuple[str, str, str]
) -> None:
    kind, where, cause = about
    for pair in sorted({*wanted, *got}):
        one, other = wanted.get(pair), got.get(pair)
        if one is None or other is None or not np.isclose(one, other, rtol=1e-9):
            fail(f"the same {kind} of {where}", f"{_change(pair, one, other)}. {cause}")


def _change(pair: Pair, one: float | None, other: float | None) -> str:
    link = f"from '{pair[0]}' to '{pair[1]}'"
    if one is None or other is None:
        return f"one {link} that was not there" if one is None else f"none {link}"
    return f"the weight {other:.6g} instead of {one:.6g} {link}"


def require_ties(
    wanted: dict[Pair, float], got: dict[Pair, float], about: tuple[str, str, str]
) -> None:
    """The links, but for which one of several that are equally near is among the nearest."""
    if wanted.keys() != got.keys():
        kind, where, cause = about
        one, other = _weights_of_rows(wanted), _weights_of_rows(got)
        for name in sorted({*one, *other}):
            if not _close(one[name], other[name]):
                fail(
                    f"the same {kind} of {where}",
                    f"{len(other[name])} from '{name}' instead of {len(one[name])}, or others. "
                    f"{cause}",
                )
        common = wanted.keys() & got.keys()
        if len(common) < 0.2 * len(wanted.keys() | got.keys()):
            fail(f"the same {kind} of {where}", f"{len(common)} of {len(wanted)}. {cause}")
        wanted, got = ({pair: it[pair] for pair in common} for it in (wanted, got))
    require_links(wanted, got, about)


def _weights_of_rows(links: dict[Pair, float]) -> dict[str, list[float]]:
    """The weights of the links from every feature, in order of size."""
    rows: dict[str, list[float]] = defaultdict(list)
    for (start, _), weight in links.items():
        rows[start].append(weight)
    for row in rows.values():
        row.sort()
    return rows


def _close(one: Sequence[float], other: Sequence[float]) -> bool:
    return len(one) == len(other) and bool(np.allclose(one, other, rtol=1e-9))
