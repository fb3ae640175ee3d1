"""The contracts of group builders and graph builders.

Nobody but its author knows what the groups of a builder mean. But numbers of features mean nothing:
groups and links, read as names, must be the same whatever the numbers are. So a number that is off
by one, or a place in a selection that is taken for a number, comes to light.
"""

from __future__ import annotations

import itertools
import re
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import find

from textreg.errors import DataError, DataWarning, PluginError, UsageError
from textreg.kinds import GraphBuilder, GroupBuilder
from textreg.plugins import calls, registry
from textreg.records import Graph, Groups, Tokens
from textreg.records.arrays import take_rows
from textreg_testing.checks import Check, ContractError, Run, Skipped, contract, fail, require
from textreg_testing.repeated import Repeats, common_checks, repeated_checks
from textreg_testing.texts import EDGES, LETTERS, Trial, trial_of, trials, with_pairs, words_of

Builder = GroupBuilder | GraphBuilder


def build(part: Builder, tokens: Tokens, *, from_groups: bool = False) -> Groups | Graph:
    """What it builds; a DataError that says why it does not passes, and warnings are not shown.

    from_groups: whether a graph is built from those of the sentences.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        if isinstance(part, GroupBuilder):
            return calls.build_groups(part, tokens)
        sentences = registry.create("groups", "textreg:sentences")
        groups = [calls.build_groups(sentences, tokens)] if from_groups else []
        return calls.build_graph(part, tokens, *groups)


def attempt(part: Builder, tokens: Tokens) -> Groups | Graph | None:
    """What it builds; None for a refusal."""
    try:
        return build(part, tokens)
    except DataError:
        return None


def tokens_for(part: Builder, trial: Trial) -> Tokens:
    """The small tokens of a trial where something is built of them, else the large ones."""
    built = attempt(part, trial.small)
    return trial.large if built is None or is_empty(built) else trial.small


def must_build(part: Builder, tokens: Tokens, where: str, **options: bool) -> Groups | Graph:
    """What it builds; ContractError where it refuses tokens that it need not refuse."""
    try:
        return build(part, tokens, **options)
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
    linked = len(np.unique(np.concatenate(built.similar.nonzero())))
    return f"{built.n_links:,} links of {linked:,} features"


class Group(NamedTuple):
    """A group by the names of its features; without a name of its own, that is empty.

    A link is a group of its two ends, and its name says whether they are similar.
    """

    name: str
    features: tuple[str, ...]
    weight: str

    def __str__(self) -> str:
        more = ", …" if len(self.features) > 6 else ""
        name = f"{self.name}: " if self.name else ""
        return f"{name}{{{', '.join(self.features[:6])}{more}}} of weight {self.weight}"


def named(built: Groups | Graph, vocabulary: Any) -> list[Group]:
    """The groups or links. Weights are rounded to what the order of a sum cannot change."""
    if isinstance(built, Groups):
        return [
            Group(
                "" if built.names is None else built.names[group],
                tuple(sorted(vocabulary[feature] for feature in built.members(group))),
                f"{built.weights[group]:.9g}",
            )
            for group in range(len(built))
        ]
    names = [*vocabulary, *(f"class {number}" for number in range(built.classes))]
    return [
        Group(kind, (names[row], names[column]), f"{weight:.9g}")
        for kind in ("similar", "dissimilar")
        if (links := getattr(built, kind)) is not None
        for row, column, weight in zip(*find(links), strict=True)
    ]


def plain(built: Groups | Graph | None) -> list[Any]:
    """All of a result that has to be the same when it is built again, to compare or to send."""
    if built is None:
        return []
    if isinstance(built, Groups):
        names = None if built.names is None else list(built.names)
        return [names, *map(_bits, (built.indptr, built.indices, built.weights))]
    graphs = [links for links in (built.similar, built.dissimilar) if links is not None]
    return [built.classes, *(list(map(_bits, (it.indptr, it.indices, it.data))) for it in graphs)]


def _bits(array: Any) -> tuple[str, bytes]:
    return array.dtype.str, array.tobytes()


def without(
    unused: frozenset[str], wanted: list[Group], got: list[Group]
) -> tuple[list[Group], list[Group]]:
    """The groups before and after, but for what unused features may change by right.

    A builder that only looks at names puts them into groups as well. Then the weight and the name
    of that group may be others, and what was no group for want of features may be one.
    """
    clean = [group for group in got if unused.isdisjoint(group.features)]
    if len(clean) == len(got):
        return wanted, got
    by_features = {group.features: group for group in wanted}
    for group in got:
        rest = tuple(name for name in group.features if name not in unused)
        if rest != group.features and rest in by_features:
            clean.append(by_features[rest])
        elif rest != group.features and len(rest) > 1:
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
    pairs = [({*one.features}, {*other.features}) for one, other in zip(wanted, got, strict=False)]
    shares = [len(one & other) / max(len(one | other), 1) for one, other in pairs]
    return sum(shares) / max(len(wanted), len(got), 1)


def require_same(
    part: Builder, wanted: list[Group], got: list[Group], where: str, cause: str
) -> None:
    """ContractError unless these are the same groups or links, in any order."""
    missing, extra = Counter(wanted) - Counter(got), Counter(got) - Counter(wanted)
    lost, found = (min(them, key=_size, default="nothing") for them in (missing, extra))
    difference = f"{found} more"
    if missing:
        difference = f"{found} instead of {lost}, and {missing.total() - 1:,} other differences"
    require(not (missing or extra), f"the same {noun(part)} of {where}", f"{difference}. {cause}")


def _size(group: Group) -> tuple[int, tuple[str, ...]]:
    return len(group.features), group.features


GROUPS = common_checks("groups", "groups-")
GRAPHS = common_checks("graph", "graph-")


def group_builder_checks(texts: Sequence[str] | None = None) -> list[Check]:
    """The checks of group builders, in order.

    Parameters
    ----------
    texts : sequence of str, optional
        What the builder is tried on, in place of texts of our own.

    Returns
    -------
    list of Check
    """
    return GROUPS.of(trials(texts))


def graph_builder_checks(texts: Sequence[str] | None = None) -> list[Check]:
    """The checks of graph builders, in order.

    Parameters
    ----------
    texts : sequence of str, optional
        What the builder is tried on, in place of texts of our own.

    Returns
    -------
    list of Check
    """
    return GRAPHS.of(trials(texts))


check_group_builder = contract(group_builder_checks)
check_graph_builder = contract(graph_builder_checks)

_ORDER = "If the order is to settle ties, say so in the class: order_matters = True"

# Share in common below which results are drawn anew, and not the same but for some mistake.
_ALIKE = 0.2


def _add(name: str, *applies: Callable[..., bool], level: int = GROUPS.USUAL) -> Callable[..., Run]:
    """Decorate the function of a check of both kinds."""
    decorators = [checks.add(name, *applies, level=level) for checks in (GROUPS, GRAPHS)]
    return lambda run: decorators[0](decorators[1](run))


def built_of(part: Builder, texts: Sequence[str] | None = None) -> str:
    """What a builder builds of the texts it is checked on, for people."""
    trial = trial_of(part, texts)
    return f"{described(build(part, tokens_for(part, trial)))}, on {trial.where}"


@_add("result", level=GROUPS.RESULT)
def _result(part: Builder, trial: Trial) -> None:
    """build gives groups, or links, over the features of the tokens: at least one, valid and with
    finite weights of 0 or more. A DataError is for texts of which there is nothing to build."""
    nonempty, why = False, ""
    for tokens in (trial.small, trial.large):
        try:
            built = build(part, tokens)
        except DataError as error:
            why = f": '{error}'"
            continue
        nonempty |= not is_empty(built)
        if isinstance(built, Groups) and len(built):
            require(built.weights.any(), "a group with a weight above 0", "weights of 0 alone")
    trial.require_some(nonempty, f"{noun(part)} of", why)


@_add("edges")
def _edges(part: Builder, trial: Trial) -> None:
    """Texts without words, one text, one word, n-grams, and features that occur nowhere give a
    result for every feature, or a DataError that says what is missing."""
    for texts in EDGES:
        attempt(part, with_pairs(words_of(texts)))
    tokens = tokens_for(part, trial)
    for documents in ([], [0], [tokens.n_documents - 1]):
        attempt(part, tokens.select(np.array(documents, dtype=np.intp)))
    with suppress(UsageError):  # of one that needs paragraphs
        attempt(part, replace(tokens, paragraph_ptr=None))


@_add("unused")
def _unused(part: Builder, trial: Trial) -> None:
    """Features that occur in no document change nothing among the others: groups and links are the
    same by name, whatever the numbers of the features."""
    check_unused(part, tokens_for(part, trial))


@_add("numbers", lambda part: not part.order_matters)
def _numbers(part: Builder, trial: Trial) -> None:
    """Another order of the vocabulary gives the same groups, or links, by name; unless the class
    says order_matters = True."""
    tokens = tokens_for(part, trial)
    cause = (
        "Features may be mixed up with their neighbors in the vocabulary, those that differ in "
        "case alone with each other, the first or the last one be left out, or only half of "
        f"the pairs of features be looked at. {_ORDER}"
    )
    for order in _orders(tokens, _used_in(must_build(part, tokens, "the texts"))):
        where = "the same texts with other numbers of the features"
        _check_same(part, tokens, renumbered(tokens, order), where, cause)


@_add("documents", lambda part: not part.order_matters)
def _documents(part: Builder, trial: Trial) -> None:
    """Another order of the documents gives the same groups, or links, by name; unless the class
    says order_matters = True."""
    tokens = tokens_for(part, trial)
    cause = (
        "Something may reach from one document into the next, the first or the last document "
        f"be left out, or an empty one shift those after it. {_ORDER}"
    )
    by_length = np.argsort(np.diff(tokens.token_document_ptr), kind="stable")
    for order in (np.random.default_rng(4).permutation(tokens.n_documents), by_length):
        where = "the same documents in another order"
        _check_same(part, tokens, tokens.select(order), where, cause)


@GROUPS.add("within", lambda part: bool(part.within_documents))
def _within(part: Builder, trial: Trial) -> None:
    """The groups of some documents, and of those after them, are those of all, in this order; only
    of a class that says within_documents = True."""
    tokens = tokens_for(part, trial)
    halves = np.array_split(np.arange(tokens.n_documents, dtype=np.intp), 2)
    built: list[Any] = [
        must_build(part, subset, "the texts") for subset in (tokens, *map(tokens.select, halves))
    ]
    fields = [(np.diff(it.indptr), it.indices, it.weights) for it in built]
    for whole, *parts in zip(*fields, strict=True):
        require(
            np.array_equal(whole, np.concatenate(parts)),
            "the groups of the first half of the documents, then those of the second",
            "others: leave within_documents at False where groups hold several documents, or their "
            "weights depend on others",
        )


@_add("bounds", lambda part: not part.order_matters)
def _bounds(part: Builder, trial: Trial) -> None:
    """What does not depend on the order of the words inside a sentence does not depend on its first
    and last word either; and so for the sentences of a document."""
    tokens = tokens_for(part, trial)
    plain, asked = replace(tokens, paragraph_ptr=None), False
    for level, variant in (("sentence", tokens), ("document", plain)):
        what = f"another order inside each {level}"
        try:
            for seed in range(8, 13):  # several: a single one may change nothing by chance
                _check_same(part, variant, shuffled(variant, seed, level, inside=True), what, "")
        except (ContractError, PluginError, UsageError):  # as of one that needs paragraphs
            continue
        asked = True
        where = f"{what}, which does not matter but for the first and the last"
        cause = "The first or the last may be left out, or one too many be taken"
        _check_same(part, variant, shuffled(variant, 7, level, inside=False), where, cause)
    if not asked:
        raise Skipped("it looks at the order of the words")


@_add("names")
def _names(part: Builder, trial: Trial) -> None:
    """Features in capitals and in other scripts are in groups, or have links, as others are; not
    asked of what looks for certain words."""
    small = renamed(trial.lower, "small")
    if attempt(part, small) is None:
        raise Skipped("it looks for certain words")
    used = _used_in(build(part, small))
    for letters in ("capital", "other"):
        names = renamed(trial.lower, letters)
        if len(set(names.vocabulary)) < len(small.vocabulary):
            continue
        changed = [a != b for a, b in zip(small.vocabulary, names.vocabulary, strict=True)]
        built = attempt(part, names)
        used_now = [] if built is None else _used_in(built)
        wanted, got = (sum(changed[feature] for feature in them) for them in (used, used_now))
        expected = f"{noun(part)} of about {wanted} features with {letters} letters, as with a to z"
        require(2 * got >= wanted, expected, got)


@GRAPHS.add("groups", lambda part: bool(part.takes_groups))
def _given_groups(part: GraphBuilder, trial: Trial) -> None:
    """build_from gives a graph over the features of the tokens, which follows the numbers of the
    features as build does."""
    try:
        build(part, trial.small, from_groups=True)
    except UsageError as error:
        raise Skipped(str(error)) from None
    check_unused(part, trial.small, from_groups=True)


def _tasks(part: Builder, trial: Trial) -> list[Tokens]:
    """All of the tokens, and a half of the documents."""
    tokens = tokens_for(part, trial)
    half = np.arange(tokens.n_documents)[tokens.n_documents // 2 :]
    return [tokens, tokens.select(half)]


def _various(part: Builder, trial: Trial) -> list[Tokens]:
    """Tokens of the texts that are given, and of our own."""
    trials = dict.fromkeys((trial, Trial()))
    return [tokens for each in trials for tokens in (each.small, each.large)]


for _checks in (GROUPS, GRAPHS):
    repeated_checks(_checks, Repeats(attempt, plain, _tasks, _various))


def check_unused(part: Builder, tokens: Tokens, **options: bool) -> None:
    """Features that occur nowhere change nothing among the others."""
    changed, unused = with_unused(tokens)
    where = "the same texts with features in the vocabulary that occur nowhere"
    cause = (
        "The number of a feature may be off by one, or its place among some features, as those "
        "that are frequent, be taken for its number; or the first or last one left out"
    )
    before = must_build(part, tokens, "the texts", **options)
    after = must_build(part, changed, where, **options)
    wanted, got = named(before, tokens.vocabulary), named(after, changed.vocabulary)
    if isinstance(before, Graph):
        got = [link for link in got if unused.isdisjoint(link.features)]
    elif part.order_matters and common_share(wanted, got) < _ALIKE:
        raise Skipped("it draws numbers for all features")
    else:
        wanted, got = without(unused, wanted, got)
    require_same(part, wanted, got, where, cause)


def _used_in(built: Groups | Graph) -> list[int]:
    """The features in groups, those in the smallest first; or with links, the fewest first."""
    if isinstance(built, Groups):
        sizes = np.diff(built.indptr)
        smallest = [built.members(group) for group in np.argsort(sizes, kind="stable")]
        return list(dict.fromkeys(int(feature) for members in smallest for feature in members))
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


def _check_same(part: Builder, tokens: Tokens, changed: Tokens, where: str, cause: str) -> None:
    """ContractError unless both give the same by name, but for the order of groups, and ties."""
    before, after = must_build(part, tokens, "the texts"), must_build(part, changed, where)
    wanted, got = named(before, tokens.vocabulary), named(after, changed.vocabulary)
    if isinstance(before, Groups):
        wanted, got = unnumbered(wanted, got)
    elif tokens.vocabulary != changed.vocabulary:
        # Of several that are equally near, others may be among the nearest: ends are left out.
        common, every = len({*wanted} & {*got}), len({*wanted, *got})
        if common < _ALIKE * every:
            fail(f"the same links of {where}", f"{common} of {every}. {cause}")
        wanted, got = (
            [link._replace(features=link.features[:1]) for link in links] for links in (wanted, got)
        )
    require_same(part, wanted, got, where, cause)


# Where the characters begin of names that are like no other: CJK extension A.
_UNLIKE = 0x3400

# Characters of such a name, so that no word is a few changes away from it.
_LONG = 12


def with_unused(tokens: Tokens) -> tuple[Tokens, frozenset[str]]:
    """The same with features that occur nowhere among the others, which keep their order.

    They are first, last, and after every other feature; their names are also given.
    """
    old = list(tokens.vocabulary)
    starts = range(_UNLIKE, _UNLIKE + _LONG * len(old[::2]) + 1, _LONG)
    unused = ["".join(map(chr, range(start, start + _LONG))) for start in starts]
    names = np.insert(np.array(old, dtype=object), [*range(0, len(old), 2), len(old)], unused)
    ids = np.arange(len(old), dtype=np.int32)  # a new name is before every other old one
    ids += ids // 2 + 1
    return replace(tokens, ids=ids[tokens.ids], vocabulary=names.tolist()), frozenset(unused)


def renumbered(tokens: Tokens, order: Sequence[int]) -> Tokens:
    """The same with other numbers of the features: those that they had before, in order."""
    new = np.argsort(order).astype(np.int32)
    names = [tokens.vocabulary[feature] for feature in order]
    return replace(tokens, ids=new[tokens.ids], vocabulary=names)


def renamed(tokens: Tokens, letters: str) -> Tokens:
    """The same with ``small``, ``capital`` or ``other`` letters for a to z in all names."""
    change = str.maketrans("abcdefghijklmnopqrstuvwxyz", LETTERS[letters])
    return replace(tokens, vocabulary=[name.translate(change) for name in tokens.vocabulary])


def shuffled(tokens: Tokens, seed: int, level: str, *, inside: bool) -> Tokens:
    """The same with the tokens of every sentence in another order, or the sentences of every
    document.

    level: ``sentence`` or ``document``. inside: whether the first and the last stay where they are.
    """
    rng = np.random.default_rng(seed)
    ptr = tokens.sentence_ptr if level == "sentence" else tokens.document_ptr
    order = np.arange(ptr[-1])
    for start, end in itertools.pairwise(ptr.tolist()):
        if end - start > 3:  # so that some can move when the first and the last stay
            moved = slice(start + inside, end - inside)
            order[moved] = rng.permutation(order[moved])
    if level == "sentence":
        return replace(tokens, ids=tokens.ids[order])
    sentence_ptr, ids = take_rows(tokens.sentence_ptr, tokens.ids, order)
    return replace(tokens, ids=ids, sentence_ptr=sentence_ptr, paragraph_ptr=None)
