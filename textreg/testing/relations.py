"""Relations between what a builder makes of some tokens, and of others that say the same.

Nobody but its author knows what the groups of a builder mean. But numbers of features mean nothing:
groups and links, read as names, must be the same whatever the numbers are. So a number that is off
by one, or a place in a selection that is taken for a number, comes to light.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from textreg.errors import UsageError
from textreg.records import Graph, Groups, Tokens
from textreg.testing.building import (
    Builder,
    build,
    must_build,
    named_groups,
    named_links,
    noun,
    refused,
)
from textreg.testing.checks import ContractError, Skipped, require
from textreg.testing.comparing import (
    common_share,
    require_groups,
    require_links,
    require_ties,
    unnumbered,
    without,
)
from textreg.testing.transforms import (
    renamed,
    renumbered,
    shuffled_sentences,
    shuffled_words,
    with_unused,
)

_ALIKE = 0.2
"""Share in common below which results are drawn anew, and not the same but for some mistake."""


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
        if part.order_matters and common_share(wanted, got) < _ALIKE:
            raise Skipped("it draws numbers for all features")
        require_groups(*without(unused, wanted, got), (where, cause))
    elif isinstance(before, Graph) and isinstance(after, Graph):
        links = named_links(before, tokens.vocabulary), named_links(after, changed.vocabulary)
        for kind, pairs in links[1].items():
            among = {pair: it for pair, it in pairs.items() if not unused.intersection(pair)}
            require_links(links[0][kind], among, (f"{kind} links", where, cause))


def check_numbers(part: Builder, tokens: Tokens) -> None:
    """Another numbering of the features changes nothing."""
    for order in _orders(tokens, _used_in(must_build(part, tokens, "the texts"))):
        _check_same(
            part,
            (tokens, renumbered(tokens, order)),
            "the same texts with other numbers of the features",
            "Features may be mixed up with their neighbors in the vocabulary, those that differ in "
            "case alone with each other, the first or the last one be left out, or only half of "
            f"the pairs of features be looked at. {_order_matters(part)}",
        )


def _order_matters(part: Builder) -> str:
    return f"If the order is to settle ties, say so: order_matters = True in {type(part).__name__}"


def _used_in(built: Groups | Graph) -> list[int]:
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
        _check_same(
            part,
            (tokens, tokens.select(order)),
            "the same documents in another order",
            "Something may reach from one document into the next, the first or the last document "
            f"be left out, or an empty one shift those after it. {_order_matters(part)}",
        )


def check_bounds(part: Builder, tokens: Tokens) -> None:
    """To what does not look at the order inside a sentence, or a document, its ends are nothing
    special.
    """
    plain = replace(tokens, paragraph_ptr=None)
    asked = [
        _ends_are_like_others(part, shuffle, given, what)
        for shuffle, given, what in (
            (shuffled_words, tokens, "words of each sentence"),
            (shuffled_sentences, plain, "sentences of each document"),
        )
    ]
    if not any(asked):
        raise Skipped("it looks at the order of the words")


def _ends_are_like_others(
    part: Builder, shuffle: Callable[..., Tokens], tokens: Tokens, what: str
) -> bool:
    """Whether that was asked of it; ContractError where it is not so."""
    try:
        for seed in range(8, 13):  # several: one may change nothing by chance
            _check_same(part, (tokens, shuffle(tokens, seed, inside=True)), what, "")
    except (ContractError, UsageError):  # one that needs paragraphs
        return False
    _check_same(
        part,
        (tokens, shuffle(tokens, 7, inside=False)),
        f"the {what} in another order, as it does not matter but for the first and the last",
        "The first or the last may be left out, or one too many be taken",
    )
    return True


def check_names(part: Builder, tokens: Tokens) -> None:
    """Names in capitals, or of other letters, are as good as others. The names are no words: who
    looks for certain words finds none, and is not asked.
    """
    small = renamed(tokens, "small")
    if refused(part, small):
        raise Skipped("it looks for certain words")
    used = _used_in(build(part, small))
    for letters, why in (
        ("capital", "names may be changed to small letters before they are looked up"),
        ("other", "a pattern such as [a-z] may leave out other letters"),
    ):
        other = renamed(tokens, letters)
        changed = [a != b for a, b in zip(small.vocabulary, other.vocabulary, strict=True)]
        if len(set(other.vocabulary)) < len(changed):
            continue
        wanted = sum(changed[feature] for feature in used)
        some = [] if refused(part, other) else _used_in(build(part, other))
        found = sum(changed[feature] for feature in some)
        require(
            2 * found >= wanted,
            f"{noun(part)} of about {wanted} features with {letters} letters, as of the same ones "
            "in small letters from a to z",
            f"{found}: {why}",
        )


def _check_same(part: Builder, given: tuple[Tokens, Tokens], where: str, cause: str) -> None:
    """ContractError unless both give the same by name, but for the order of groups, and ties."""
    before, after = must_build(part, given[0], "the texts"), must_build(part, given[1], where)
    names = given[0].vocabulary, given[1].vocabulary
    if isinstance(before, Groups) and isinstance(after, Groups):
        groups = named_groups(before, names[0]), named_groups(after, names[1])
        require_groups(*unnumbered(*groups), (where, cause))
    elif isinstance(before, Graph) and isinstance(after, Graph):
        links = named_links(before, names[0]), named_links(after, names[1])
        for kind in links[0]:
            about = (f"{kind} links", where, cause)
            if given[0].vocabulary == given[1].vocabulary:
                require_links(links[0][kind], links[1][kind], about)
            else:
                require_ties(links[0][kind], links[1][kind], about)
