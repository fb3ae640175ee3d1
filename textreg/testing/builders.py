"""The contracts of tokenizers, group builders and graph builders."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from textreg import registry
from textreg.errors import UsageError
from textreg.kinds import Tokenizer
from textreg.records import Graph, Groups, Tokens
from textreg.testing.checks import Check, Checks, fail, require

TEXTS = (
    "The lamp is bright. We love it!\n\nIt came on Monday.",
    "",
    "Dull, dull lamp... and it broke.",
    "ÄÖÜ naïve Ωmega \U0001f600 １２ don't",
    "   \n\t ",
    "A lamp. A lamp. A lamp.\n\nNot a chair; a lamp!",
    "<b>markup</b> & http://example.org/?q=1 \x00 \u202e end",
)
"""Texts that a tokenizer must take: empty ones, all scripts, markup and control characters."""

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
    _run(_tokenizer, part, skip)


def check_group_builder(part: Any, *, skip: Mapping[str, str] | None = None) -> None:
    """Raise ContractError unless ``part``, a name, class or instance, builds groups as promised."""
    _run(_groups, part, skip)


def check_graph_builder(part: Any, *, skip: Mapping[str, str] | None = None) -> None:
    """Raise ContractError unless ``part``, a name, class or instance, is a good graph builder."""
    _run(_graph, part, skip)


def _run(checks: Checks, part: Any, skip: Mapping[str, str] | None) -> None:
    skip = skip or {}
    if unknown := skip.keys() - {check.name for check in checks.all}:
        raise UsageError(f"there is no check '{min(unknown)}' of this kind.")
    for check in checks.all:
        if check.name not in skip:
            check(part)


def _plain(name: str, part: Any) -> None:
    for key, declared in part.declared().items():
        require(name, bool(declared.help), f"a help text of {key}", "none")
    try:
        again = type(part)(**json.loads(json.dumps(part.params())))
    except TypeError as error:
        fail(name, "parameters that JSON can hold", f"{part.params()} ({error})")
    require(name, again.params() == part.params(), f"{part.params()}", again.params())


def _tokens() -> Tokens:
    """Documents enough for a builder to find something in."""
    rng = np.random.default_rng(0)
    words = [f"{a}{b}" for a in "klmn" for b in ("amp", "ettle", "ible", "oom", "urse")]
    texts = []
    for _ in range(60):
        start = int(rng.integers(0, 16))  # words that are near each other keep company
        picked = [words[(start + int(rng.integers(0, 5))) % 20] for _ in range(18)]
        texts.append(". ".join(" ".join(picked[at : at + 6]) for at in (0, 6, 12)) + ".")
    tokens: Tokens = registry.create("tokenizer", "words").encode([*texts, ""])
    return tokens


def _build(kind: str, part: Any, tokens: Tokens) -> Any:
    return registry.resolve(kind, part).build(tokens)


@_tokenizer.add("tokenizer-state")
def _tokenizer_state(part: Any) -> None:
    """Parameters are described, and plain values that JSON gives back."""
    _plain("tokenizer-state", registry.resolve("tokenizer", part))


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


@_groups.add("groups-state")
def _groups_state(part: Any) -> None:
    """Parameters are described, and plain values that JSON gives back."""
    _plain("groups-state", registry.resolve("groups", part))


@_groups.add("groups-result")
def _groups_result(part: Any) -> None:
    """Groups over the features of the tokens, one at least, with a price each."""
    tokens = _tokens()
    groups = _build("groups", part, tokens)
    require("groups-result", isinstance(groups, Groups), "Groups", type(groups).__name__)
    wanted = len(tokens.vocabulary)
    require("groups-result", groups.n_features == wanted, f"{wanted} features", groups.n_features)
    require("groups-result", len(groups) > 0, "a group at least", "none")


@_groups.add("groups-determinism")
def _groups_determinism(part: Any) -> None:
    """The same tokens give the same groups, and are not changed."""
    tokens = _tokens()
    ids = tokens.ids.copy()
    one, other = _build("groups", part, tokens), _build("groups", part, _tokens())
    same = all(
        np.array_equal(getattr(one, name), getattr(other, name))
        for name in ("indptr", "indices", "weights")
    )
    require("groups-determinism", same, "the same groups twice", "others")
    require("groups-determinism", np.array_equal(ids, tokens.ids), "tokens as they were", "others")


@_graph.add("graph-state")
def _graph_state(part: Any) -> None:
    """Parameters are described, and plain values that JSON gives back."""
    _plain("graph-state", registry.resolve("graph", part))


@_graph.add("graph-result")
def _graph_result(part: Any) -> None:
    """A graph over the features of the tokens, with finite links of 0 or more."""
    tokens = _tokens()
    graph = _build("graph", part, tokens)
    require("graph-result", isinstance(graph, Graph), "a Graph", type(graph).__name__)
    wanted = len(tokens.vocabulary)
    require("graph-result", graph.n_features == wanted, f"{wanted} features", graph.n_features)


@_graph.add("graph-determinism")
def _graph_determinism(part: Any) -> None:
    """The same tokens give the same graph, and are not changed."""
    tokens = _tokens()
    ids = tokens.ids.copy()
    one, other = _build("graph", part, tokens), _build("graph", part, _tokens())
    same = (one.similar != other.similar).nnz == 0 and one.classes == other.classes
    require("graph-determinism", same, "the same graph twice", "another")
    require("graph-determinism", np.array_equal(ids, tokens.ids), "tokens as they were", "others")
