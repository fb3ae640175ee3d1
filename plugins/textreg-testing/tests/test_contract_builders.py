"""Tokenizers, group builders and graph builders keep their contracts, and every check can fail."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from broken_plugins import graphs, groups, tokenizers
from conftest import Cli
from heavy_plugin import HeavyGraph, HeavySentences, HeavyWords, undeclared
from scipy.sparse import csr_array

from textreg.errors import DataError, UsageError
from textreg.kinds import GraphBuilder, Tokenizer
from textreg.params import param
from textreg.plugins import registry
from textreg.records import Graph, Groups, Tokens
from textreg_testing import (
    CHECKS,
    Check,
    ContractError,
    check_graph_builder,
    check_group_builder,
    check_tokenizer,
    graph_builder_checks,
    group_builder_checks,
    tokenizer_checks,
)
from textreg_testing.checks import limited


def test_tokenizers() -> None:
    ours = [row for row in registry.listing() if row.distribution == "textreg"]
    names = [row.name for row in ours if row.kind == "tokenizer"]
    assert "words" in names
    with limited(60.0):  # imports in a fresh interpreter, on a busy machine
        for name in names:
            check_tokenizer(name)
    check_tokenizer(registry.create("tokenizer", "words", min_length=3, lowercase=False))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["sentences", "paragraphs", "documents", "windows"])
def test_group_builders(name: str) -> None:
    check_group_builder(name)


def test_builders_with_files(tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    words.write_text("kamp lamp kettle\nmamp namp\n", encoding="utf-8")
    check_group_builder(registry.create("groups", "file", path=str(words)))
    check_graph_builder("cooccurrence")
    check_graph_builder(registry.create("graph", "classes", path=str(words)))


class Plain(Tokenizer):
    """Words at spaces."""

    name = "plain"

    def __call__(self, text: str) -> list[list[str]]:
        return [text.split()]


class SomeParameters(Plain):
    """Words at spaces."""

    extra: int = param(default=1, help="has no range")


class Uncopied:
    """Comes back from a pickle as another."""

    def __reduce__(self) -> Any:
        return type(self), ()


class SomeState(Uncopied, Plain):
    extra: int = param(default=1, min=0, help="more")


class EmptyTokens(Plain):
    def __call__(self, text: str) -> list[list[str]]:
        return [text.split(" ")]


class OtherEncode(Plain):
    def encode(self, texts: Any, *, spans: bool = False) -> Tokens:
        return super().encode([text.upper() for text in texts])


class WrongSpans(Plain):
    def encode(self, texts: Any, *, spans: bool = False) -> Tokens:
        tokens = super().encode(texts)
        return Tokens(
            tokens.ids,
            tokens.sentence_ptr,
            tokens.document_ptr,
            tokens.vocabulary,
            spans=np.full((len(tokens.ids), 2), 10_000, dtype=np.int32),
        )


class Moody(Plain):
    seen: ClassVar[list[str]] = []

    def __call__(self, text: str) -> list[list[str]]:
        self.seen.append(text)
        return [[*text.split(), f"n{len(self.seen)}"]]

    def encode(self, texts: Any, *, spans: bool = False) -> Tokens:
        return super().encode(texts)


Sentences: Any = registry.find("groups", "sentences")


class GroupParameters(Sentences):
    """Sentences."""

    name = "lacking"
    extra: int = param(default=1, help="more")


class GroupState(Uncopied, Sentences):
    name = "stateful"


class WordsOnly(Sentences):
    name = "words-only"

    def build(self, tokens: Tokens) -> Groups:
        words = [name for name in tokens.vocabulary if " " not in name]
        return super().build(Plain().encode([" ".join(words)]))


class NoGroups(Sentences):
    name = "none"

    def build(self, tokens: Tokens) -> Groups:
        empty = np.empty(0, np.int32)
        return Groups(np.zeros(1, np.int64), empty, np.empty(0), len(tokens.vocabulary))


class RandomGroups(Sentences):
    name = "random"

    def build(self, tokens: Tokens) -> Groups:
        groups = super().build(tokens)
        return Groups(
            groups.indptr, groups.indices, groups.weights * random.random(), groups.n_features
        )


class Links(GraphBuilder):
    """The first word to the second."""

    name = "links"

    def build(self, tokens: Tokens) -> Graph:
        if len(tokens.vocabulary) < 2:
            raise DataError("links: there are no two words to link.")
        return self.graph(len(tokens.vocabulary), 1.0)

    def graph(self, p: int, weight: float) -> Graph:
        return Graph(csr_array(([weight], ([0], [1])), shape=(p, p)))


class GraphParameters(Links):
    """The first word to the second."""

    extra: int = param(default=1, help="has no range")


class GraphState(Uncopied, Links):
    extra: int = param(default=1, min=0, help="more")


class Brittle(Links):
    """The first word to the second, where there is one."""

    def build(self, tokens: Tokens) -> Graph:
        p = len(tokens.vocabulary)
        return self.graph(p, 1.0) if p > 3 else Graph(csr_array((4, 4)))


class SmallGraph(Links):
    def build(self, tokens: Tokens) -> Graph:
        return self.graph(2, 1.0)


class RandomGraph(Links):
    def build(self, tokens: Tokens) -> Graph:
        return self.graph(len(tokens.vocabulary), random.random())


class RandomOpposites(Links):
    """Random links of opposites alone."""

    def build(self, tokens: Tokens) -> Graph:
        p = len(tokens.vocabulary)
        weight = np.random.default_rng().random()
        return Graph(csr_array((p, p)), self.graph(p, weight).similar)


class FirstOfBatch(Plain):
    def encode(self, texts: Any, *, spans: bool = False) -> Tokens:
        return super().encode([*texts[:1], *(text.replace("lamp", "") for text in texts[1:])])


class WrongFromGroups(Links):
    """The first word to the second, or to the next."""

    takes_groups = True

    def build_from(self, tokens: Tokens, groups: Groups) -> Graph:
        links = csr_array(
            ([1.0], ([0], [int(groups.indices[0]) + 1])), shape=(groups.n_features,) * 2
        )
        return Graph(links)


WRONG = {
    "tokenizer-parameters": SomeParameters,
    "tokenizer-state": SomeState(extra=2),
    "tokenizer-manifest": undeclared(Plain),
    "tokenizer-imports": HeavyWords,
    "tokenizer-call": EmptyTokens,
    "tokenizer-encode": OtherEncode,
    "tokenizer-spans": WrongSpans,
    "tokenizer-positions": tokenizers.LastTokenLost,
    "tokenizer-threads": tokenizers.SharedBuffer,
    "tokenizer-settings": tokenizers.CallLosesCase,
    "tokenizer-processes": tokenizers.Hashed,
    "tokenizer-determinism": Moody,
    "groups-parameters": GroupParameters,
    "groups-state": GroupState(weight="sqrt"),
    "groups-manifest": undeclared(WordsOnly),
    "groups-imports": HeavySentences,
    "groups-edges": WordsOnly,
    "groups-result": NoGroups,
    "groups-determinism": RandomGroups,
    "groups-unused": groups.NextFeature,
    "groups-numbers": groups.LastGroupLost,
    "groups-documents": groups.AcrossDocuments,
    "groups-within": groups.WeightsOfAll,
    "groups-names": groups.LowerCaseWords,
    "groups-bounds": groups.LastWordOfSentenceLost,
    "groups-threads": groups.SharedByThreads,
    "groups-settings": groups.WeightIgnored,
    "groups-processes": groups.SetOrder,
    "graph-parameters": GraphParameters,
    "graph-state": GraphState(extra=2),
    "graph-manifest": undeclared(Links),
    "graph-imports": HeavyGraph,
    "graph-edges": Brittle,
    "graph-result": SmallGraph,
    "graph-determinism": RandomGraph,
    "graph-unused": graphs.NextColumn,
    "graph-numbers": graphs.OneDirection,
    "graph-documents": graphs.LastDocumentLost,
    "graph-names": graphs.LowerCaseLookup,
    "graph-bounds": graphs.NextSentence,
    "graph-groups": WrongFromGroups,
    "graph-threads": graphs.SharedByThreads,
    "graph-settings": graphs.ThresholdIgnored,
    "graph-processes": graphs.TiesByHash,
}
RIGHT = {"tokenizer": Plain, "groups": Sentences, "graph": graphs.Together}
BUILT_IN = {"tokenizer": "words", "groups": "sentences", "graph": "cooccurrence"}
ALL = [*tokenizer_checks(), *group_builder_checks(), *graph_builder_checks()]


def test_opposites_are_of_the_same_graph() -> None:
    (check,) = (one for one in graph_builder_checks() if one.name == "graph-determinism")
    with pytest.raises(ContractError, match="expected the same result twice"):
        check(RandomOpposites)


@pytest.mark.sampled(15)
@pytest.mark.parametrize("check", ALL, ids=str)
def test_every_check_can_fail(check: Check) -> None:
    with pytest.raises(ContractError, match=rf"(?s)^{check.name}: expected .*, but got"):
        check(WRONG[check.name])
    kind = check.name.partition("-")[0]
    # A module of tests imports a lot.
    check(BUILT_IN[kind] if check.name.endswith("-imports") else RIGHT[kind])


def test_tokens_do_not_depend_on_the_texts_around() -> None:
    (check,) = (one for one in tokenizer_checks() if one.name == "tokenizer-encode")
    with pytest.raises(ContractError, match="tokenizer-encode: expected"):
        check(FirstOfBatch)


def test_from_the_shell(cli: Cli) -> None:
    done = cli("plugins", "check", "tokenizer.words")
    assert done.code == 0
    assert "12 of 12 checks passed" in done.out
    with pytest.raises(UsageError, match="no check 'nonsense'"):
        check_tokenizer(Plain, skip={"nonsense": ""})
    kinds = {"regularizer", "tokenizer", "groups", "graph", "loss", "exporter", "backend"}
    assert set(CHECKS) == {*kinds, "vectors", "command"}


def test_a_name_that_one_kind_has_needs_no_kind(cli: Cli) -> None:
    done = cli("plugins", "check", "windows", "--json")
    assert done.code == 0, done.err
    assert all(row["check"].startswith("groups-") for row in json.loads(done.out)["checks"])
    both = cli("plugins", "check", "file")
    assert both.code == 2
    assert "'file' stands for graph.file and groups.file and vectors.file: name" in both.err
