"""The contracts of tokenizers, group builders and graph builders."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from textreg.errors import DataError, DataWarning, RecordError, UsageError
from textreg.kinds import GraphBuilder, GroupBuilder, Tokenizer
from textreg.plugins import registry
from textreg.records import Graph, Groups, Tokens
from textreg.testing.checks import Check, Checks, fail, require, run_checks
from textreg.testing.parts import common_checks
from textreg.testing.texts import EDGES, TEXTS, some_tokens, with_pairs

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_tokenizer, _groups, _graph = (
    common_checks(kind, f"{kind}-") for kind in ("tokenizer", "groups", "graph")
)


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
def _tokenizer_call(tokenizer: Tokenizer) -> None:
    """Any text gives a list of tokens for each sentence; tokens are texts that are not empty."""
    for text in TEXTS:
        sentences = tokenizer(text)
        good = isinstance(sentences, list) and all(isinstance(one, list) for one in sentences)
        require(good, f"a list of lists for {text!r}", sentences)
        found = [token for one in sentences for token in one]
        wrong = [token for token in found if not isinstance(token, str) or not token]
        require(not wrong, f"texts as tokens of {text!r}", wrong)


@_tokenizer.add("tokenizer-encode")
def _tokenizer_encode(tokenizer: Tokenizer) -> None:
    """encode gives the same tokens as a call for every document."""
    tokens = tokenizer.encode(TEXTS)
    require(isinstance(tokens, Tokens), "Tokens", type(tokens).__name__)
    require(tokens.n_documents == len(TEXTS), f"{len(TEXTS)} documents", tokens.n_documents)
    for document, text in enumerate(TEXTS):
        called = [token for sentence in tokenizer(text) for token in sentence]
        start, end = tokens.token_document_ptr[document : document + 2]
        encoded = [tokens.vocabulary[token] for token in tokens.ids[start:end]]
        require(called == encoded, f"{called} for {text!r}", encoded)


@_tokenizer.add("tokenizer-spans")
def _tokenizer_spans(tokenizer: Tokenizer) -> None:
    """Character offsets, if it gives them, lie inside the text, in order."""
    try:
        tokens = tokenizer.encode(TEXTS, spans=True)
    except UsageError:
        return  # a plain tokenizer has none, and says so
    spans = tokens.spans
    if spans is None:
        fail("spans, or a UsageError", "neither")
    for document, text in enumerate(TEXTS):
        start, end = tokens.token_document_ptr[document : document + 2]
        here = spans[start:end]
        inside = bool(((here >= 0) & (here <= len(text))).all() and (here[:, 0] < here[:, 1]).all())
        rising = bool((np.diff(here[:, 0]) >= 0).all())
        require(inside and rising, f"offsets in {text!r}", here.tolist())


@_tokenizer.add("tokenizer-determinism")
def _tokenizer_determinism(tokenizer: Tokenizer) -> None:
    """The same texts give the same tokens, and a text gives the same tokens alone and among
    others."""
    one, other = tokenizer.encode(TEXTS), tokenizer.encode(TEXTS)
    same = np.array_equal(one.ids, other.ids) and list(one.vocabulary) == list(other.vocabulary)
    require(same, "the same tokens twice", "others")
    alone = [tokenizer(text) for text in reversed(TEXTS)][::-1]
    require(alone == [tokenizer(text) for text in TEXTS], "no memory", "some")


def _built(part: GroupBuilder | GraphBuilder, tokens: Tokens) -> Any:
    """What it builds; None where it refuses such texts with a DataError. It may warn of them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        try:
            return part.build(tokens)
        except RecordError as error:  # a DataError too, but of the builder's making
            fail("a valid record", error)
        except DataError:
            return None


def _check_record(built: Any, record: type[Groups | Graph], tokens: Tokens) -> None:
    require(isinstance(built, record), record.__name__, type(built).__name__)
    wanted = len(tokens.vocabulary)
    require(built.n_features == wanted, f"{wanted} features", built.n_features)


@_groups.add("groups-result")
def _groups_result(part: GroupBuilder) -> None:
    """build gives at least one group over the features of the tokens, each with a weight; or a
    DataError that says why there is none."""
    tokens = some_tokens()
    groups = _built(part, tokens)
    if groups is not None:
        _check_record(groups, Groups, tokens)
        require(len(groups) > 0, "a group at least", "none")


@_graph.add("graph-result")
def _graph_result(part: GraphBuilder) -> None:
    """build gives a graph over the features of the tokens, with finite links of 0 or more; or a
    DataError that says why there is none."""
    tokens = some_tokens()
    graph = _built(part, tokens)
    if graph is not None:
        _check_record(graph, Graph, tokens)


def _add_builder_checks(
    checks: Checks, kind: str, record: type[Groups | Graph], same: Callable[[Any, Any], bool]
) -> None:
    """The checks that are the same for groups and graphs. same: whether two records are equal."""

    @checks.add(f"{kind}-edges")
    def edges(part: Any) -> None:
        """Texts without words, one text, one word, and n-grams give a result for every feature, or
        a DataError that says what is missing."""
        for texts in EDGES:
            tokens = with_pairs(registry.create("tokenizer", "textreg:words").encode(texts))
            built = _built(part, tokens)
            if built is not None:
                _check_record(built, record, tokens)

    @checks.add(f"{kind}-determinism")
    def determinism(part: Any) -> None:
        """The same tokens give the same result, and are not modified."""
        tokens = some_tokens()
        ids = tokens.ids.copy()
        one, other = _built(part, tokens), _built(part, some_tokens())
        alike = one is other or (one is not None and other is not None and same(one, other))
        require(alike, f"the same {kind} twice", "others")
        require(np.array_equal(ids, tokens.ids), "tokens as they were", "others")


def _same_groups(one: Groups, other: Groups) -> bool:
    arrays = ("indptr", "indices", "weights")
    return all(np.array_equal(getattr(one, it), getattr(other, it)) for it in arrays)


def _same_graph(one: Graph, other: Graph) -> bool:
    return (
        one.classes == other.classes
        and _same_links(one.similar, other.similar)
        and _same_links(one.dissimilar, other.dissimilar)
    )


def _same_links(one: csr_array | None, other: csr_array | None) -> bool:
    if one is None or other is None:
        return one is other
    return bool(one.shape == other.shape and (one != other).nnz == 0)


_add_builder_checks(_groups, "groups", Groups, _same_groups)
_add_builder_checks(_graph, "graph", Graph, _same_graph)
