"""The contracts of group builders and graph builders."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from textreg.errors import BrokenPluginError, DataError, UsageError
from textreg.kinds import GraphBuilder
from textreg.plugins import calls, registry
from textreg.records import Graph, Groups, Tokens
from textreg.testing import relations
from textreg.testing.building import (
    Builder,
    arrays,
    build,
    described,
    equal,
    is_empty,
    must_build,
    noun,
    refused,
    tokens_for,
)
from textreg.testing.checks import Check, Checks, Skipped, always, fail, require, run_checks
from textreg.testing.parts import common_checks
from textreg.testing.runs import copies, elsewhere, own_numbers
from textreg.testing.settings import check_settings
from textreg.testing.texts import EDGES, Trial, TrialCheck, on_texts, trial, with_pairs
from textreg.testing.threads import in_threads


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
    return _checks("groups", trial(texts)).all


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
    return _checks("graph", trial(texts)).all


def check_group_builder(
    part: Any, *, texts: Sequence[str] | None = None, skip: Mapping[str, str] | None = None
) -> None:
    """Raise ContractError unless ``part``, a name, class or instance, builds groups as promised.

    Parameters
    ----------
    part : str, class or GroupBuilder
    texts : sequence of str, optional
        Texts of which it builds groups, where it builds none of ours.
    skip : mapping of str to str, optional
        Checks to leave out, with the reasons.
    """
    run_checks(group_builder_checks(texts), part, skip)


def check_graph_builder(
    part: Any, *, texts: Sequence[str] | None = None, skip: Mapping[str, str] | None = None
) -> None:
    """Raise ContractError unless ``part``, a name, class or instance, is a good graph builder.

    Parameters
    ----------
    part : str, class or GraphBuilder
    texts : sequence of str, optional
        Texts of which it builds a graph, where it builds none of ours.
    skip : mapping of str to str, optional
        Checks to leave out, with the reasons.
    """
    run_checks(graph_builder_checks(texts), part, skip)


def built_of(part: Builder, texts: Sequence[str] | None = None) -> str:
    """What a builder builds of the texts it is checked on, for people."""
    given = trial(texts)
    return f"{described(build(part, tokens_for(part, given)))}, on {given.where}"


def _checks(kind: str, given: Trial) -> Checks:
    """The checks of a kind of builder, the cheap ones first."""
    checks = common_checks(kind, f"{kind}-")
    imports = checks.all.pop()
    for name, run in _OF_BOTH.items():
        if name not in _OF_ONE or _OF_ONE[name] == kind:
            checks.add(f"{kind}-{name}", _APPLY.get(name, always))(on_texts(run, given))
    checks.all.append(imports)
    checks.add(f"{kind}-processes")(on_texts(_processes, given))
    return checks


def _result(part: Builder, given: Trial) -> None:
    """build gives groups, or links, over the features of the tokens: at least one, valid and with
    finite weights of 0 or more. A DataError is for texts of which there is nothing to build."""
    some, why = False, ""
    for tokens in given.both:
        try:
            built = build(part, tokens)
        except DataError as error:
            why = f": '{error}'"
            continue
        some |= not is_empty(built)
        if isinstance(built, Groups) and len(built):
            require(built.weights.any(), "a group with a weight above 0", "weights of 0 alone")
    require(
        some,
        f"{noun(part)} of {given.where}",
        f"none{why}. What builds nothing cannot be checked. Give texts of which it builds some: "
        "textreg plugins check NAME --text FILE, or the argument texts",
    )


def _edges(part: Builder, given: Trial) -> None:
    """Texts without words, one text, one word, n-grams, and features that occur nowhere give a
    result for every feature, or a DataError that says what is missing."""
    for texts in EDGES:
        refused(part, with_pairs(registry.create("tokenizer", "textreg:words").encode(texts)))
    some = tokens_for(part, given)
    for documents in ([], [0], [some.n_documents - 1]):
        refused(part, some.select(np.array(documents, dtype=np.intp)))
    with suppress(UsageError):  # of one that needs paragraphs
        refused(part, replace(some, paragraph_ptr=None))


def _determinism(part: Builder, given: Trial) -> None:
    """The same tokens give the same result, also after other tokens and in a copy. The random
    numbers of the process are left alone."""
    tokens = tokens_for(part, given)
    with own_numbers("the same result of the same tokens"):
        first = build(part, tokens)
        one = arrays(first)
    require(equal(one, arrays(build(part, tokens))), "the same result twice", "others")
    half = tokens.select(np.arange(tokens.n_documents // 2))
    for more in given.both:
        _outcome(part, more)
    other = _outcome(part, half)
    require(
        equal(one, arrays(first)),
        "the first result as it was",
        "another: later builds write to the arrays that it was given",
    )
    require(
        equal(one, arrays(must_build(part, tokens, "the texts"))),
        "the same result after builds of other tokens",
        "another: something of the first build is kept",
    )
    for what, copy in copies(part).items():
        again = _outcome(copy, half), _outcome(copy, tokens)
        require(
            equal(one, again[1]) and equal(other, again[0]),
            f"the same result by {what}",
            "another: something of it is not a parameter, or is kept from the first build",
        )


def _outcome(part: Builder, tokens: Tokens) -> list[Any]:
    """The arrays that it builds; empty for a refusal."""
    try:
        return arrays(build(part, tokens))
    except DataError:
        return []


def _threads(part: Builder, given: Trial) -> None:
    """Builds at the same time, in threads, give the same results as alone."""
    tokens = tokens_for(part, given)
    half = tokens.select(np.arange(tokens.n_documents // 2, tokens.n_documents))
    tasks = [tokens, half]
    alone = [_outcome(part, task) for task in tasks]
    try:
        together = in_threads(_outcome, part, tasks)
    except Exception as error:  # noqa: BLE001  # of a stranger's code, or what came of it
        fail("the same results in threads", f"{type(error).__name__}: {error}")
    require(
        all(map(equal, alone * len(together), chain(*together))),
        "the same results in threads",
        "others: keep what belongs to one build in variables of its own, not in the builder",
    )


def _unused(part: Builder, given: Trial) -> None:
    """Features that occur in no document change nothing among the others: groups and links are the
    same by name, whatever the numbers of the features."""
    relations.check_unused(part, tokens_for(part, given))


def _numbers(part: Builder, given: Trial) -> None:
    """Another order of the vocabulary gives the same groups, or links, by name; unless the class
    says order_matters = True."""
    relations.check_numbers(part, tokens_for(part, given))


def _documents(part: Builder, given: Trial) -> None:
    """Another order of the documents gives the same groups, or links, by name; unless the class
    says order_matters = True."""
    relations.check_documents(part, tokens_for(part, given))


def _within(part: Builder, given: Trial) -> None:
    """The groups of some documents, and of those after them, are those of all, in this order; only
    of a class that says within_documents = True."""
    tokens = tokens_for(part, given)
    n = tokens.n_documents
    whole = must_build(part, tokens, "the texts")
    halves = [
        must_build(part, tokens.select(some), "a half of the texts")
        for some in np.array_split(np.arange(n, dtype=np.intp), 2)
    ]
    fields = []
    for groups in (whole, *halves):
        assert isinstance(groups, Groups)
        fields.append([np.diff(groups.indptr), groups.indices, groups.weights])
    parts = [np.concatenate(both) for both in zip(*fields[1:], strict=True)]
    require(
        equal(parts, fields[0]),
        "the groups of the first half of the documents, then those of the second",
        "others: leave within_documents at False where groups hold several documents, or their "
        "weights depend on others",
    )


def _bounds(part: Builder, given: Trial) -> None:
    """What does not depend on the order of the words inside a sentence does not depend on its first
    and last word either; and so for the sentences of a document."""
    relations.check_bounds(part, tokens_for(part, given))


def _names(part: Builder, given: Trial) -> None:
    """Features in capitals and in other scripts are in groups, or have links, as others are; not
    asked of what looks for certain words."""
    relations.check_names(part, given.lower)


def _parameters_matter(part: Builder, given: Trial) -> None:
    """Every parameter has an effect: some other value of it gives another result. Not asked of
    seeds, nor of files and other texts."""
    tokens = [each for every in dict.fromkeys((given, Trial())) for each in every.both]
    check_settings(part, tokens, _outcome, equal)


def _given_groups(part: GraphBuilder, given: Trial) -> None:
    """build_from gives a graph over the features of the tokens, which follows the numbers of the
    features as build does."""
    sentences = registry.create("groups", "textreg:sentences")
    try:
        calls.build_graph(part, given.small, calls.build_groups(sentences, given.small))
    except UsageError as error:
        raise Skipped(str(error)) from None
    except BrokenPluginError as error:
        fail("a valid graph from groups", f"the error '{error.cause}'")
    relations.check_unused(_FromGroups(part), given.small)


class _FromGroups(GraphBuilder):
    """A graph builder that is called with the groups of sentences."""

    name = "from groups"

    def __init__(self, part: GraphBuilder) -> None:
        super().__init__()
        self.__dict__["part"] = part

    def build(self, tokens: Tokens) -> Graph:
        groups = calls.build_groups(registry.create("groups", "textreg:sentences"), tokens)
        return calls.build_graph(self.__dict__["part"], tokens, groups)


def _processes(part: Builder, given: Trial) -> None:
    """A fresh interpreter, with other hash values of texts, gives the same result, bit for bit."""
    tokens = tokens_for(part, given)
    tasks = [tokens.select(np.arange(tokens.n_documents // 2)), tokens]
    there = elsewhere(_outcome, part, tasks)
    here = [_outcome(part, task) for task in tasks]
    require(
        all(map(equal, here, there)),
        "the same result in a fresh interpreter",
        "another: the order of a set of texts, hash() or id() may be used, none of which lasts",
    )


def _is_free(part: Any) -> bool:
    return not part.order_matters


def _is_within(part: Any) -> bool:
    return bool(getattr(part, "within_documents", False))


def _takes_groups(part: Any) -> bool:
    return bool(getattr(part, "takes_groups", False))


_OF_BOTH: dict[str, TrialCheck] = {
    "result": _result,
    "edges": _edges,
    "determinism": _determinism,
    "unused": _unused,
    "numbers": _numbers,
    "documents": _documents,
    "within": _within,
    "bounds": _bounds,
    "names": _names,
    "groups": _given_groups,
    "threads": _threads,
    "settings": _parameters_matter,
}
_OF_ONE = {"groups": "graph", "within": "groups"}
"""Those that are for one kind only."""

_APPLY: dict[str, Callable[[Any], bool]] = {
    "numbers": _is_free,
    "documents": _is_free,
    "bounds": _is_free,
    "groups": _takes_groups,
    "within": _is_within,
}
