"""Comparing what was built of two kinds of tokens, by the names of features."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np

from textreg.testing.building import Group, Pair
from textreg.testing.checks import fail


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
