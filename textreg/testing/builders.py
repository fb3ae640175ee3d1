"""The contracts of tokenizers, group builders and graph builders."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from textreg import registry
from textreg.errors import DataError, DataWarning, UsageError
from textreg.kinds import Tokenizer
from textreg.records import Graph, Groups, Tokens
from textreg.testing.checks import Check, Checks, fail, require, run_checks
from textreg.testing.parts import check_imports, check_parameters, check_state
from textreg.testing.texts import EDGES, TEXTS, some_tokens, with_pairs

_tokenizer, _groups, _graph = Checks(), Checks(), Checks()


def tokenizer_checks() -> list[Check]:
    """Those of tokenizers, in order."""
    return list(_tokenizer.all)


def group_builder_checks() -> list[Check]:
    """Those of group builders, in order."""
    return list(_groups.all)


def graph_builder_checks() -> list[Check]:
    """Those of graph builders, in order."""
    return list(_graph.all)


def check_tokenizer(part: Any, *, skip: Mapping[str, str] | None = None) -> None:
    """Raise ContractError unless ``part``, a name, class or instance, is a good tokenizer."""
    run_checks(_tokenizer.all, part, skip)


def check_group_builder(part: Any, *, skip: Mapping[str, str] | None = None) -> None:
    """Raise ContractError unless ``part``, a name, class or instance, builds groups as promised."""
    run_checks(_groups.all, part, skip)


def check_graph_builder(part: Any, *, skip: Mapping[str, str] | None = None) -> None:
    """Raise ContractError unless ``part``, a name, class or instance, is a good graph builder."""
    run_checks(_graph.all, part, skip)


def _built(kind: str, part: Any, tokens: Tokens) -> Any:
    """What it builds; None where it refuses such texts with a DataError. It may warn of them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        try:
            return registry.resolve(kind, part).build(tokens)
        except DataError:
            return None


@_tokenizer.add("tokenizer-parameters")
def _tokenizer_parameters(part: Any) -> None:
    """The class and every parameter say what they are for, and numbers have a range."""
    check_parameters("tokenizer-parameters", registry.resolve("tokenizer", part))


@_tokenizer.add("tokenizer-state")
def _tokenizer_state(part: Any) -> None:
    """Parameters are plain values: JSON gives them back, and a pickled copy is equal."""
    check_state("tokenizer-state", registry.resolve("tokenizer", part))


@_tokenizer.add("tokenizer-imports")
def _tokenizer_imports(part: Any) -> None:
    """Importing its module is cheap: what is large is imported where it is used."""
    check_imports("tokenizer-imports", registry.resolve("tokenizer", part))


@_tokenizer.add("tokenizer-call")
def _tokenizer_call(part: Any) -> None:
    """Any text gives lists of tokens, one a sentence; a token is a text and not empty."""
    made: Tokenizer = registry.resolve("tokenizer", part)
    for text in TEXTS:
        sentences = made(text)
        good = isinstance(sentences, list) and all(isinstance(one, list) for one in sentences)
        require("tokenizer-call", good, f"a list of lists for {text!r}", sentences)
        found = [token for one in sentences for token in one]
        wrong = [token for token in found if not isinstance(token, str) or not token]
        require("tokenizer-call", not wrong, f"texts as tokens of {text!r}", wrong)


@_tokenizer.add("tokenizer-encode")
def _tokenizer_encode(part: Any) -> None:
    """``encode`` gives the tokens that calling it gives, document by document."""
    made: Tokenizer = registry.resolve("tokenizer", part)
    tokens = made.encode(TEXTS)
    require("tokenizer-encode", isinstance(tokens, Tokens), "Tokens", type(tokens).__name__)
    require(
        "tokenizer-encode",
        tokens.n_documents == len(TEXTS),
        f"{len(TEXTS)} documents",
        tokens.n_documents,
    )
    for document, text in enumerate(TEXTS):
        called = [token for sentence in made(text) for token in sentence]
        start, end = tokens.token_document_ptr[document : document + 2]
        encoded = [tokens.vocabulary[token] for token in tokens.ids[start:end]]
        require("tokenizer-encode", called == encoded, f"{called} for {text!r}", encoded)


@_tokenizer.add("tokenizer-spans")
def _tokenizer_spans(part: Any) -> None:
    """Where character offsets are given, they lie inside the text, in order."""
    made: Tokenizer = registry.resolve("tokenizer", part)
    try:
        tokens = made.encode(TEXTS, spans=True)
    except UsageError:
        return  # a plain tokenizer has none, and says so
    spans = tokens.spans
    if spans is None:
        fail("tokenizer-spans", "spans, or a UsageError", "neither")
        return
    for document, text in enumerate(TEXTS):
        start, end = tokens.token_document_ptr[document : document + 2]
        here = spans[start:end]
        inside = bool(((here >= 0) & (here <= len(text))).all() and (here[:, 0] < here[:, 1]).all())
        rising = bool((np.diff(here[:, 0]) >= 0).all())
        require("tokenizer-spans", inside and rising, f"offsets in {text!r}", here.tolist())


@_tokenizer.add("tokenizer-determinism")
def _tokenizer_determinism(part: Any) -> None:
    """The same texts give the same tokens again, and a text alone what it gives among others."""
    made: Tokenizer = registry.resolve("tokenizer", part)
    one, other = made.encode(TEXTS), made.encode(TEXTS)
    same = np.array_equal(one.ids, other.ids) and list(one.vocabulary) == list(other.vocabulary)
    require("tokenizer-determinism", same, "the same tokens twice", "others")
    alone = [made(text) for text in reversed(TEXTS)][::-1]
    require("tokenizer-determinism", alone == [made(text) for text in TEXTS], "no memory", "some")


@_groups.add("groups-parameters")
def _groups_parameters(part: Any) -> None:
    """The class and every parameter say what they are for, and numbers have a range."""
    check_parameters("groups-parameters", registry.resolve("groups", part))


@_groups.add("groups-state")
def _groups_state(part: Any) -> None:
    """Parameters are plain values: JSON gives them back, and a pickled copy is equal."""
    check_state("groups-state", registry.resolve("groups", part))


@_groups.add("groups-imports")
def _groups_imports(part: Any) -> None:
    """Importing its module is cheap: what is large is imported where it is used."""
    check_imports("groups-imports", registry.resolve("groups", part))


@_groups.add("groups-result")
def _groups_result(part: Any) -> None:
    """Groups over the features of the tokens, one at least, with a price each; or a DataError that
    says why there is none."""
    tokens = some_tokens()
    groups = _built("groups", part, tokens)
    if groups is None:
        return
    require("groups-result", isinstance(groups, Groups), "Groups", type(groups).__name__)
    wanted = len(tokens.vocabulary)
    require("groups-result", groups.n_features == wanted, f"{wanted} features", groups.n_features)
    require("groups-result", len(groups) > 0, "a group at least", "none")


@_groups.add("groups-edges")
def _groups_edges(part: Any) -> None:
    """Texts without words, one text, one word, and n-grams: a result for every feature, or a
    DataError that says what is missing."""
    for texts in EDGES:
        tokens = with_pairs(registry.create("tokenizer", "words").encode(texts))
        found = _built("groups", part, tokens)
        if found is None:
            continue
        wanted = len(tokens.vocabulary)
        require("groups-edges", found.n_features == wanted, f"{wanted} features", found.n_features)


@_groups.add("groups-determinism")
def _groups_determinism(part: Any) -> None:
    """The same tokens give the same groups, and are not changed."""
    tokens = some_tokens()
    ids = tokens.ids.copy()
    one, other = _built("groups", part, tokens), _built("groups", part, some_tokens())
    same = one is other or (
        one is not None
        and other is not None
        and all(
            np.array_equal(getattr(one, name), getattr(other, name))
            for name in ("indptr", "indices", "weights")
        )
    )
    require("groups-determinism", same, "the same groups twice", "others")
    require("groups-determinism", np.array_equal(ids, tokens.ids), "tokens as they were", "others")


@_graph.add("graph-parameters")
def _graph_parameters(part: Any) -> None:
    """The class and every parameter say what they are for, and numbers have a range."""
    check_parameters("graph-parameters", registry.resolve("graph", part))


@_graph.add("graph-state")
def _graph_state(part: Any) -> None:
    """Parameters are plain values: JSON gives them back, and a pickled copy is equal."""
    check_state("graph-state", registry.resolve("graph", part))


@_graph.add("graph-imports")
def _graph_imports(part: Any) -> None:
    """Importing its module is cheap: what is large is imported where it is used."""
    check_imports("graph-imports", registry.resolve("graph", part))


@_graph.add("graph-result")
def _graph_result(part: Any) -> None:
    """A graph over the features of the tokens, with finite links of 0 or more; or a DataError that
    says why there is none."""
    tokens = some_tokens()
    graph = _built("graph", part, tokens)
    if graph is None:
        return
    require("graph-result", isinstance(graph, Graph), "a Graph", type(graph).__name__)
    wanted = len(tokens.vocabulary)
    require("graph-result", graph.n_features == wanted, f"{wanted} features", graph.n_features)


@_graph.add("graph-edges")
def _graph_edges(part: Any) -> None:
    """Texts without words, one text, one word, and n-grams: a result for every feature, or a
    DataError that says what is missing."""
    for texts in EDGES:
        tokens = with_pairs(registry.create("tokenizer", "words").encode(texts))
        found = _built("graph", part, tokens)
        if found is None:
            continue
        wanted = len(tokens.vocabulary)
        require("graph-edges", found.n_features == wanted, f"{wanted} features", found.n_features)


@_graph.add("graph-determinism")
def _graph_determinism(part: Any) -> None:
    """The same tokens give the same graph, and are not changed."""
    tokens = some_tokens()
    ids = tokens.ids.copy()
    one, other = _built("graph", part, tokens), _built("graph", part, some_tokens())
    same = one is other or (
        one is not None
        and other is not None
        and (one.similar != other.similar).nnz == 0
        and one.classes == other.classes
    )
    require("graph-determinism", same, "the same graph twice", "another")
    require("graph-determinism", np.array_equal(ids, tokens.ids), "tokens as they were", "others")
