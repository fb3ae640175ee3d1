"""Relations between what a builder makes of some tokens, and of others that say the same.

Nobody but its author knows what the groups of a builder mean. But numbers of features mean nothing:
groups and links, read as names, must be the same whatever the numbers are. So a number that is off
by one, or a place in a selection that is taken for a number, comes to light.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import count

import numpy as np

from textreg.records import Graph, Groups, Tokens
from textreg.testing.building import (
    Builder,
    Group,
    Pair,
    build,
    must_build,
    named_groups,
    named_links,
    noun,
    refused,
)
from textreg.testing.checks import Skipped, fail, require

_UNLIKE = 0x3400
"""Where the characters begin of names that are like no other: CJK extension A."""

_LONG = 12
"""Characters of such a name, so that no word is a few changes away from it."""


def with_unused(tokens: Tokens) -> tuple[Tokens, frozenset[str]]:
    """The same with features that occur nowhere among the others, which keep their order.

    They are first, last, and after every other feature; their names are also given.
    """
    old = list(tokens.vocabulary)
    letters = count(_UNLIKE)
    names, new, unused = [], [], []
    for feature, name in enumerate(old):
        if feature % 2 == 0:
            unused.append("".join(chr(next(letters)) for _ in range(_LONG)))
            names.append(unused[-1])
        new.append(len(names))
        names.append(name)
    unused.append("".join(chr(next(letters)) for _ in range(_LONG)))
    names.append(unused[-1])
    ids = np.array(new, dtype=np.int32)[tokens.ids]
    return replace(tokens, ids=ids, vocabulary=names), frozenset(unused)


def renumbered(tokens: Tokens, order: Sequence[int]) -> Tokens:
    """The same with other numbers of the features: those that they had before, in order."""
    new = np.empty(len(order), dtype=np.int32)
    new[list(order)] = np.arange(len(order), dtype=np.int32)
    names = [tokens.vocabulary[feature] for feature in order]
    return replace(tokens, ids=new[tokens.ids], vocabulary=names)


def renamed(tokens: Tokens, *, capitals: bool) -> Tokens:
    """The same with other letters in all names, one for each: alike as before, but no words.

    capitals: whether names begin with a capital.
    """
    moved = str.maketrans("abcdefghijklmnopqrstuvwxyz", "qwjzxvkbghnfcdtrsplmyiouea")
    names = [name.translate(moved) for name in tokens.vocabulary]
    if capitals:
        names = [name[:1].upper() + name[1:] for name in names]
    return replace(tokens, vocabulary=names)


def check_unused(part: Builder, tokens: Tokens) -> None:
    """Features that occur nowhere change nothing among the others."""
    changed, unused = with_unused(tokens)
    where = "the same texts with features in the vocabulary that occur nowhere"
    before, after = must_build(part, tokens, "the texts"), must_build(part, changed, where)
    cause = (
        "The number of a feature may be off by one, or its place among some features, as those "
        "that are frequent, be taken for its number; or the first or last one left out"
    )
    if isinstance(before, Groups) and isinstance(after, Groups):
        wanted = named_groups(before, tokens.vocabulary)
        got = named_groups(after, changed.vocabulary)
        _require_groups(*_without(unused, wanted, got), (where, cause))
    elif isinstance(before, Graph) and isinstance(after, Graph):
        links = named_links(before, tokens.vocabulary), named_links(after, changed.vocabulary)
        for kind, pairs in links[1].items():
            among = {pair: it for pair, it in pairs.items() if not unused.intersection(pair)}
            _require_links(links[0][kind], among, (f"{kind} links", where, cause))


def _without(
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


def check_numbers(part: Builder, tokens: Tokens) -> None:
    """Another numbering of the features changes nothing."""
    for order in _orders(tokens, used_in(must_build(part, tokens, "the texts"))):
        _check_order(
            part,
            (tokens, renumbered(tokens, order)),
            "the same texts with other numbers of the features",
            "Features may be mixed up with their neighbors in the vocabulary, those that differ in "
            "case alone with each other, the first or the last one be left out, or only half of "
            "the pairs of features be looked at",
        )


def used_in(built: Groups | Graph) -> list[int]:
    """The features in groups, those in the smallest first; or with links, the fewest first."""
    if isinstance(built, Groups):
        sizes = np.diff(built.indptr)
        smallest = [built.members(group) for group in np.argsort(sizes, kind="stable")]
        return list(dict.fromkeys(int(feature) for some in smallest for feature in some))
    links = built.similar[: built.n_features, : built.n_features]
    ends = np.bincount(np.concatenate(links.nonzero()), minlength=built.n_features)
    return [int(feature) for feature in np.argsort(ends, kind="stable") if ends[feature]]


def _orders(tokens: Tokens, used: list[int]) -> list[list[int]]:
    """One by chance, and one that begins and ends with words that are used."""
    drawn = np.random.default_rng(3).permutation(len(tokens.vocabulary)).tolist()
    words = [feature for feature in used if " " not in tokens.vocabulary[feature]] or used
    ends = [*words[:1], *words[-1:]]
    among = [feature for feature in drawn[::-1] if feature not in ends]
    return [drawn, [*ends[:1], *among, *ends[1:]] if len(set(ends)) == 2 else drawn[::-1]]


def check_documents(part: Builder, tokens: Tokens) -> None:
    """Another order of the documents changes nothing but the order of the groups."""
    for order in (
        np.random.default_rng(4).permutation(tokens.n_documents),
        np.argsort(np.diff(tokens.token_document_ptr), kind="stable"),
    ):
        _check_order(
            part,
            (tokens, tokens.select(order)),
            "the same documents in another order",
            "Something may reach from one document into the next, the first or the last document "
            "be left out, or an empty one shift those after it",
        )


def check_case(part: Builder, tokens: Tokens) -> None:
    """Names in capitals are as good as others. The names are no words: who looks for certain words
    finds none, and is not asked.
    """
    small, large = (renamed(tokens, capitals=capitals) for capitals in (False, True))
    cased = [name != other for name, other in zip(small.vocabulary, large.vocabulary, strict=True)]
    if len(set(large.vocabulary)) < len(cased):
        raise Skipped("the texts have words that differ in case alone")
    if refused(part, small):
        raise Skipped("it looks for certain words")
    wanted = sum(cased[feature] for feature in used_in(build(part, small)))
    some = [] if refused(part, large) else used_in(build(part, large))
    found = sum(cased[feature] for feature in some)
    require(
        2 * found >= wanted,
        f"{noun(part)} of about {wanted} features with a capital, as of those in small letters",
        f"{found}: names may be changed to small letters before they are looked up",
    )


def _check_order(part: Builder, given: tuple[Tokens, Tokens], where: str, cause: str) -> None:
    cause += (
        f". If the order is to settle ties, say so: order_matters = True in {type(part).__name__}"
    )
    before, after = must_build(part, given[0], "the texts"), must_build(part, given[1], where)
    names = given[0].vocabulary, given[1].vocabulary
    if isinstance(before, Groups) and isinstance(after, Groups):
        groups = named_groups(before, names[0]), named_groups(after, names[1])
        _require_groups(*_unnumbered(*groups), (where, cause))
    elif isinstance(before, Graph) and isinstance(after, Graph):
        links = named_links(before, names[0]), named_links(after, names[1])
        for kind in links[0]:
            about = (f"{kind} links", where, cause)
            if given[0].vocabulary == given[1].vocabulary:
                _require_links(links[0][kind], links[1][kind], about)
            else:
                _require_ties(links[0][kind], links[1][kind], about)


def _unnumbered(wanted: list[Group], got: list[Group]) -> tuple[list[Group], list[Group]]:
    """Groups without names where these tell them apart by numbers, for those follow the order."""
    for groups in (wanted, got):
        bare = {re.sub(r"\d+", "", group.name) for group in groups}
        if len(bare) < len(groups):
            return _nameless(wanted), _nameless(got)
    return wanted, got


def _require_groups(wanted: list[Group], got: list[Group], about: tuple[str, str]) -> None:
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


def _require_links(
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


def _require_ties(
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
    _require_links(wanted, got, about)


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
