"""Tokenizers, group builders and graph builders keep their contracts, and every check can fail."""

from __future__ import annotations

import itertools
import json
import random
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from broken_plugins import graphs, groups, tokenizers
from conftest import Cli
from heavy_plugin import HeavyGraph, HeavySentences, HeavyWords, undeclared
from scipy.sparse import csr_array
from thoroughness import without_fresh

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
from textreg_testing.builders import (
    Group,
    _orders,
    _used_in,
    built_of,
    common_share,
    described,
    is_empty,
    named,
    plain,
    renamed,
    renumbered,
    require_same,
    shuffled,
    unnumbered,
    with_unused,
    without,
)
from textreg_testing.checks import limited
from textreg_testing.texts import Trial, with_pairs, words_of, written
from textreg_testing.tokenizer import (
    _fold,
    _leads_to,
    check_characters,
    check_order,
    found_in,
)


def test_tokenizers() -> None:
    ours = [row for row in registry.listing() if row.distribution == "textreg"]
    names = [row.name for row in ours if row.kind == "tokenizer"]
    assert "words" in names
    with limited(60.0):  # imports in a fresh interpreter, on a busy machine
        for name in names:
            check_tokenizer(name, skip={} if name == "words" else without_fresh("tokenizer"))
    part = registry.create("tokenizer", "words", min_length=3, lowercase=False)
    check_tokenizer(part, skip=without_fresh("tokenizer"))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["sentences", "paragraphs", "documents", "windows"])
def test_group_builders(name: str) -> None:
    check_group_builder(name)


def test_builders_with_files(tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    words.write_text("kamp lamp kettle\nmamp namp\n", encoding="utf-8")
    check_group_builder(registry.create("groups", "file", path=str(words)))
    check_graph_builder("cooccurrence", skip=without_fresh("graph"))
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


# What parts are tried on, and how results are compared


def words(*texts: str) -> Tokens:
    return words_of(texts, lowercase=False)


def names_of(tokens: Tokens) -> str:
    """The tokens by their names, a bar between sentences."""
    cuts = tokens.sentence_ptr.tolist()
    every = [tokens.vocabulary[feature] for feature in tokens.ids]
    return "|".join(" ".join(every[first:last]) for first, last in itertools.pairwise(cuts))


def size_of(tokens: Tokens) -> list[Any]:
    """Tokens, documents, sentences and features, and a sum that depends on the order."""
    place = np.arange(len(tokens.ids)) % 97
    counts = [len(tokens.ids), tokens.n_documents, tokens.n_sentences, len(tokens.vocabulary)]
    return [*counts, int(tokens.ids @ place), *tokens.vocabulary[:2]]


def test_texts_that_parts_are_tried_on() -> None:
    assert written(3, 2, 4, 1) == [
        "lamp glowing bulbed, glower candle? Glows lamps rebulb glows! Glows lamping and of bulber "
        "candleer it rebulb the relamp Kettle,",
        "rebake recook and boiled; recook kettleed boils it. Cook.\n\nBake bake kettleer reboil "
        "cooking.",
        "kettles the glow candleed recandle candleing the bulbs boiler bulbed candleed. Λάμπα - "
        "rebulb recandle lamper to!.",
    ]
    ours, given = Trial(), Trial(("Lamp lit lamp x1 a.", "Oil lamp") * 20)
    assert (ours.where, len(ours.every), len(ours.plain)) == ("the texts of the check", 15, 12)
    assert (given.where, len(given.every), len(given.plain)) == ("the 40 given texts", 45, 40)
    plain = ["lamp", "kettle", "rosewood", "bright", "music", "gardens", "straße", "x"]
    spaceless = ("，", "。", ["灯光", "电影", "音乐", "花园", "苹果", "老师"])
    assert ours.words == ((" ", ". ", plain), spaceless)
    assert given.words[0][2] == ["Lamp", "lit", "lamp", "Oil", *plain[1:5]]
    assert [size_of(it) for it in (ours.small, ours.large, ours.lower)] == [
        [756, 28, 118, 147, 3022608, "12", "1984"],
        [3371, 123, 509, 359, 29096557, "12", "1984"],
        [732, 28, 118, 88, 1391851, "12", "1984"],
    ]
    assert [size_of(it) for it in (given.small, given.large, given.lower)] == [
        [180, 30, 30, 11, 40080, "Lamp", "Lamp lit"],
        [240, 40, 40, 10, 40404, "a", "lamp"],
        [105, 30, 30, 5, 8114, "a", "lamp"],
    ]
    some = words("b a. C a b", "b a")
    assert list(with_pairs(some, 1).vocabulary) == ["C", "a", "b", "b a"]
    assert names_of(with_pairs(some, 1)) == "b b a a|C a b|b b a a"
    assert list(with_pairs(some).vocabulary) == ["C", "C a", "a", "a b", "b", "b a"]


def test_tokens_that_are_changed() -> None:
    some = words("a b c d", "e a")
    changed, unused = with_unused(some)
    assert ["*" if it in unused else it for it in changed.vocabulary] == list("*ab*cd*e*")
    assert names_of(changed) == names_of(some)
    assert {len(name) for name in unused} == {12}
    assert len(set("".join(unused))) == 12 * len(unused)
    other = renumbered(some, [2, 0, 1, 4, 3])
    assert (list(other.vocabulary), names_of(other)) == (list("cabed"), names_of(some))
    assert list(renamed(some, "capital").vocabulary) == list("QWJZX")
    assert list(renamed(some, "other").vocabulary) == list("щшжзх")
    text = "A b c d e. F g h. I j. K l. M n o p."
    told = {
        (level, inside): names_of(shuffled(words(text), 7, level, inside=inside))
        for level in ("sentence", "document")
        for inside in (True, False)
    }
    assert told == {
        ("sentence", True): "A b d c e|F g h|I j|K l|M o n p",
        ("sentence", False): "c A e b d|F g h|I j|K l|M n p o",
        ("document", True): "A b c d e|F g h|K l|I j|M n o p",
        ("document", False): "I j|A b c d e|M n o p|F g h|K l",
    }


GROUPS = Groups(
    np.array([0, 2, 5, 5]),
    np.array([0, 1, 1, 2, 3], dtype=np.int32),
    np.array([1.0, 0.5, 2.0]),
    9,
    names=("one 1", "one 2", "two"),
)
LINKS = Graph(csr_array(([1.0, 0.5, 2.0], ([0, 2, 2], [1, 3, 1])), shape=(9, 9)))


def test_results_by_their_names() -> None:
    letters = list("abcdefghi")
    assert described(GROUPS) == "3 groups over 4 features"
    assert described(LINKS) == "3 links of 4 features"
    assert [str(it) for it in named(GROUPS, letters)] == [
        "one 1: {a, b} of weight 1", "one 2: {b, c, d} of weight 0.5", "two: {} of weight 2",
    ]  # fmt: skip
    assert [str(it) for it in named(LINKS, letters)] == [
        "similar: {a, b} of weight 1",
        "similar: {c, b} of weight 2",
        "similar: {c, d} of weight 0.5",
    ]
    assert str(Group("", tuple("abcdefg"), "1")) == "{a, b, c, d, e, f, …} of weight 1"
    assert str(Group("", tuple("abcdef"), "1")) == "{a, b, c, d, e, f} of weight 1"
    assert (_used_in(GROUPS), _used_in(LINKS)) == ([0, 1, 2, 3], [0, 3, 1, 2])
    some = with_pairs(words("a b c d e f"), 2)
    assert list(some.vocabulary) == ["a", "a b", "b", "b c", "c", "d", "e", "f"]
    assert _orders(some, [3, 2, 1, 5]) == [[6, 7, 2, 1, 4, 5, 3, 0], [2, 0, 3, 4, 1, 7, 6, 5]]
    assert _orders(some, [3])[1] == [0, 3, 5, 4, 1, 2, 7, 6]
    assert (is_empty(GROUPS), is_empty(LINKS), is_empty(Graph(csr_array((2, 2))))) == (
        False, False, True,
    )  # fmt: skip
    assert plain(None) == []
    assert plain(LINKS)[0] == 0
    assert len(plain(LINKS)) == 2
    assert plain(GROUPS)[0] == ["one 1", "one 2", "two"]
    assert len(plain(GROUPS)) == 4


def of(features: str, name: str = "") -> Group:
    return Group(name, tuple(features), "1")


def test_groups_that_may_differ() -> None:
    assert common_share([of("ab"), of("c")], [of("ac")]) == pytest.approx(1 / 6)
    assert common_share([of("a")], [of("a"), of("b")]) == 0.5
    assert common_share([], []) == 0.0
    wanted, got = [of("a", "x1"), of("b", "x2")], [of("a", "x1")]
    assert unnumbered(wanted, got) == ([of("a"), of("b")], [of("a")])
    alone = [of("a", "x")], [of("b", "y")]
    assert unnumbered(*alone) == alone
    # Unused features u and v: a group loses them, becomes one, or is left out.
    got = [of("abu", "n2"), of("cdv", "z"), of("ev"), of("f"), of("uv")]
    assert without(frozenset("uv"), [of("ab", "n1")], got) == (
        [of("ab")],
        [of("f"), of("ab"), of("cd")],
    )
    assert without(frozenset("uv"), [of("a", "q")], [of("a", "q")]) == (
        [of("a", "q")],
        [of("a", "q")],
    )


@pytest.mark.parametrize(
    ("wanted", "got", "told"),
    [
        (["a", "bc"], ["bc"], "nothing instead of {a} of weight 1, and 0 other differences"),
        (["a"], ["a", "b"], "{b} of weight 1 more"),
        (
            ["cde", "ab", "ba"],
            ["de", "f"],
            "{f} of weight 1 instead of {a, b} of weight 1, and 2 other differences",
        ),
        (["a", "b"], ["b", "a"], ""),
        (["a", "a"], ["a"], "nothing instead of {a} of weight 1, and 0 other differences"),
    ],
)
def test_what_is_told_of_other_groups(wanted: list[str], got: list[str], told: str) -> None:
    builder = registry.create("groups", "sentences")
    with pytest.raises(ContractError) if told else nullcontext() as error:
        require_same(builder, list(map(of, wanted)), list(map(of, got)), "them", "Why.")
    if told:
        assert str(error.value) == f"expected the same groups of them, but got {told}. Why.."


def test_what_is_found_for_people() -> None:
    some = ["A b. C d.", "E f"]
    assert found_in(registry.create("tokenizer", "words"), some) == (
        "6 tokens in 3 sentences, 6 of them different, on the 2 given texts"
    )
    assert (
        built_of(registry.create("groups", "sentences"), some)
        == "3 groups over 9 features, on the 2 given texts"
    )


@pytest.mark.parametrize(
    ("token", "part", "leads"),
    [
        ("not", "Not", True),
        ("café", "cafe", True),
        ("##ing", "ing", True),
        ("not_good", "good", False),
        ("x", " x", False),
        (" x", " x", True),
        ("ß", "ss", True),
        ("a b", "a  b", True),
        ("ab", "a", False),
        ("ab", "", False),
        ("i", "İ", True),
        ("good", "good.", False),
    ],
)
def test_characters_that_a_token_stands_for(token: str, part: str, leads: bool) -> None:
    assert _leads_to(registry.create("tokenizer", "words"), token, part) is leads


def test_letters_without_what_tokenizers_change() -> None:
    assert _fold("Ñ\n x \N{LATIN SMALL LIGATURE FI}") == "n x fi"


ROWS = ["Ab cd. Ef", "gh"]


def spanned(spans: list[list[int]], sentences: list[list[int]]) -> Tokens:
    tokens = registry.create("tokenizer", "words", lowercase=False).encode(ROWS, spans=True)
    return replace(
        tokens, spans=np.array(spans), sentence_spans=np.array(sentences, dtype=np.int64)
    )


SPANS = [[0, 2], [3, 5], [7, 9], [0, 2]]
SENTENCES = [[0, 6], [7, 9], [0, 2]]


@pytest.mark.parametrize(
    ("spans", "sentences", "message"),
    [
        (SPANS, SENTENCES, ""),
        ([[0, 2], [0, 2], *SPANS[2:]], SENTENCES, ""),  # two of one word
        ([[3, 5], [0, 2], *SPANS[2:]], SENTENCES, "rising offsets in 'Ab cd"),
        ([[2, 2], *SPANS[1:]], SENTENCES, "rising offsets"),
        ([[-1, 2], *SPANS[1:]], SENTENCES, "rising offsets"),
        ([*SPANS[:3], [0, 3]], SENTENCES, "rising offsets in 'gh'"),
        (SPANS, [[1, 6], *SENTENCES[1:]], "to span its tokens"),
        (SPANS, [[0, 4], *SENTENCES[1:]], "to span its tokens"),
        (SPANS, [[0, 5], [7, 10], [0, 2]], "the span of a sentence in 'Ab cd"),
        (SPANS, [[0, 7], [7, 9], [0, 2]], ""),
        (SPANS, [[0, 8], [7, 9], [0, 2]], "sentences of 'Ab cd. Ef' in turn"),
        (SPANS, [[-1, 6], [7, 9], [0, 2]], "the span of a sentence"),
        (SPANS, [*SENTENCES[:2], [2, 0]], "the span of a sentence"),
    ],
)
def test_order_of_offsets(spans: list[list[int]], sentences: list[list[int]], message: str) -> None:
    with pytest.raises(ContractError, match=message) if message else nullcontext():
        check_order(ROWS, spanned(spans, sentences))


def test_characters_at_offsets() -> None:
    plain_words = registry.create("tokenizer", "words", lowercase=False)
    check_characters(plain_words, ROWS, spanned(SPANS, SENTENCES))
    with pytest.raises(ContractError, match=CAUSE):
        check_characters(plain_words, ROWS, spanned([[0, 2], [3, 4], *SPANS[2:]], SENTENCES))
    # One token of five may be one of several words, as that of a negation is.
    texts = ["not good bad end of it"]
    tokens = registry.create("tokenizer", "words").encode(texts, spans=True)
    names = ["not_good" if name == "good" else name for name in tokens.vocabulary]
    check_characters(plain_words, texts, replace(tokens, vocabulary=names))
    names = [f"not_{name}" if name in {"good", "bad"} else name for name in tokens.vocabulary]
    with pytest.raises(ContractError, match="as for 2 of 6 tokens"):
        check_characters(plain_words, texts, replace(tokens, vocabulary=names))
    names = ["not_fine" if name == "good" else name for name in tokens.vocabulary]
    with pytest.raises(ContractError, match="as for 1 of 6 tokens"):
        check_characters(plain_words, texts, replace(tokens, vocabulary=names))


CAUSE = (
    r"^expected offsets of the token 'cd' in 'Ab cd\. Ef', but got \(3, 4\), where 'c' is, as for "
    r"1 of 4 tokens\.$"
)
