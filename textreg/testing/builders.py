"""The contracts of tokenizers, group builders and graph builders."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from textreg.errors import DataError, DataWarning, UsageError
from textreg.kinds import Tokenizer
from textreg.plugins import registry
from textreg.records import Graph, Groups, Tokens
from textreg.testing.checks import Check, fail, require, run_checks
from textreg.testing.parts import checks_of
from textreg.testing.texts import EDGES, TEXTS, some_tokens, with_pairs

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_tokenizer, _groups, _graph = (checks_of(kind) for kind in ("tokenizer", "groups", "graph"))


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


@_tokenizer.add("tokenizer-call")
def _tokenizer_call(part: Any) -> None:
    """Any text gives a list of tokens for each sentence; tokens are texts that are not empty."""
    made: Tokenizer = registry.create("tokenizer", part)
    for text in TEXTS:
        sentences = made(text)
        good = isinstance(sentences, list) and all(isinstance(one, list) for one in sentences)
        require("tokenizer-call", good, f"a list of lists for {text!r}", sentences)
        found = [token for one in sentences for token in one]
        wrong = [token for token in found if not isinstance(token, str) or not token]
        require("tokenizer-call", not wrong, f"texts as tokens of {text!r}", wrong)


@_tokenizer.add("tokenizer-encode")
def _tokenizer_encode(part: Any) -> None:
    """encode gives the same tokens as a call for every document."""
    made: Tokenizer = registry.create("tokenizer", part)
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
    """Character offsets, if it gives them, lie inside the text, in order."""
    made: Tokenizer = registry.create("tokenizer", part)
    try:
        tokens = made.encode(TEXTS, spans=True)
    except UsageError:
        return  # a plain tokenizer has none, and says so
    spans = tokens.spans
    if spans is None:
        fail("tokenizer-spans", "spans, or a UsageError", "neither")
    for document, text in enumerate(TEXTS):
        start, end = tokens.token_document_ptr[document : document + 2]
        here = spans[start:end]
        inside = bool(((here >= 0) & (here <= len(text))).all() and (here[:, 0] < here[:, 1]).all())
        rising = bool((np.diff(here[:, 0]) >= 0).all())
        require("tokenizer-spans", inside and rising, f"offsets in {text!r}", here.tolist())


@_tokenizer.add("tokenizer-determinism")
def _tokenizer_determinism(part: Any) -> None:
    """The same texts give the same tokens, and a text gives the same tokens alone and among
    others."""
    made: Tokenizer = registry.create("tokenizer", part)
    one, other = made.encode(TEXTS), made.encode(TEXTS)
    same = np.array_equal(one.ids, other.ids) and list(one.vocabulary) == list(other.vocabulary)
    require("tokenizer-determinism", same, "the same tokens twice", "others")
    alone = [made(text) for text in reversed(TEXTS)][::-1]
    require("tokenizer-determinism", alone == [made(text) for text in TEXTS], "no memory", "some")


def _built(kind: str, part: Any, tokens: Tokens) -> Any:
    """What it builds; None where it refuses such texts with a DataError. It may warn of them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        try:
            return registry.create(kind, part).build(tokens)
        except DataError:
            return None


def _check_features(name: str, built: Any, tokens: Tokens) -> None:
    wanted = len(tokens.vocabulary)
    require(name, built.n_features == wanted, f"{wanted} features", built.n_features)


def _check_edges(kind: str, part: Any) -> None:
    for texts in EDGES:
        tokens = with_pairs(registry.create("tokenizer", "words").encode(texts))
        built = _built(kind, part, tokens)
        if built is not None:
            _check_features(f"{kind}-edges", built, tokens)


def _check_determinism(kind: str, part: Any, same: Callable[[Any, Any], bool]) -> None:
    """same: says whether two results, neither of them None, are."""
    tokens = some_tokens()
    ids = tokens.ids.copy()
    one, other = _built(kind, part, tokens), _built(kind, part, some_tokens())
    alike = one is other or (one is not None and other is not None and same(one, other))
    name = f"{kind}-determinism"
    require(name, alike, f"the same {kind} twice", "others")
    require(name, np.array_equal(ids, tokens.ids), "tokens as they were", "others")


@_groups.add("groups-result")
def _groups_result(part: Any) -> None:
    """build gives at least one group over the features of the tokens, each with a weight; or a
    DataError that says why there is none."""
    tokens = some_tokens()
    groups = _built("groups", part, tokens)
    if groups is None:
        return
    require("groups-result", isinstance(groups, Groups), "Groups", type(groups).__name__)
    _check_features("groups-result", groups, tokens)
    require("groups-result", len(groups) > 0, "a group at least", "none")


@_groups.add("groups-edges")
def _groups_edges(part: Any) -> None:
    """Texts without words, one text, one word, and n-grams give a result for every feature, or a
    DataError that says what is missing."""
    _check_edges("groups", part)


@_groups.add("groups-determinism")
def _groups_determinism(part: Any) -> None:
    """The same tokens give the same groups, and are not modified."""

    def same(one: Groups, other: Groups) -> bool:
        arrays = ("indptr", "indices", "weights")
        return all(np.array_equal(getattr(one, it), getattr(other, it)) for it in arrays)

    _check_determinism("groups", part, same)


@_graph.add("graph-result")
def _graph_result(part: Any) -> None:
    """build gives a graph over the features of the tokens, with finite links of 0 or more; or a
    DataError that says why there is none."""
    tokens = some_tokens()
    graph = _built("graph", part, tokens)
    if graph is None:
        return
    require("graph-result", isinstance(graph, Graph), "a Graph", type(graph).__name__)
    _check_features("graph-result", graph, tokens)


@_graph.add("graph-edges")
def _graph_edges(part: Any) -> None:
    """Texts without words, one text, one word, and n-grams give a result for every feature, or a
    DataError that says what is missing."""
    _check_edges("graph", part)


@_graph.add("graph-determinism")
def _graph_determinism(part: Any) -> None:
    """The same tokens give the same graph, and are not modified."""

    def same(one: Graph, other: Graph) -> bool:
        return (
            one.classes == other.classes
            and _same_links(one.similar, other.similar)
            and _same_links(one.dissimilar, other.dissimilar)
        )

    _check_determinism("graph", part, same)


def _same_links(one: csr_array | None, other: csr_array | None) -> bool:
    if one is None or other is None:
        return one is other
    return bool(one.shape == other.shape and (one != other).nnz == 0)
