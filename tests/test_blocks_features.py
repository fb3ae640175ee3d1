"""Features of documents in blocks are those of all documents at once, to the last bit."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textreg.blocks import counting
from textreg.blocks import features as features_module
from textreg.blocks.features import BlockFeatures
from textreg.blocks.scratch import Scratch, blocks_of
from textreg.builtin.backends import Here
from textreg.builtin.tokenizers import Words
from textreg.errors import DataError, UsageError
from textreg.features.encoder import WEIGHTINGS, AnyEncoder
from textreg.features.fields import tokenizer_of
from textreg.features.vectorize import Features, Vectorizer
from textreg.kinds import GroupBuilder, Tokenizer
from textreg.records import Groups, Tokens
from textreg.records.design import BlockDesign, CompressedArrays
from textreg.records.documents import Field, fielded
from textreg.records.store import ArrayStore, Memory
from textreg.structure.joining import Pretokenized

TOKENS = ("ids", "sentence_ptr", "document_ptr", "paragraph_ptr")


class Unsorted(Tokenizer):
    """Gives names in order of appearance, one that occurs nowhere, and no paragraphs."""

    name = "unsorted"

    def __call__(self, text: str) -> list[list[str]]:
        return [text.split()]

    def encode(self, texts: Sequence[str], *, spans: bool = False) -> Tokens:
        number = {"nowhere": 0}
        ids = [[number.setdefault(word, len(number)) for word in text.split()] for text in texts]
        ends = np.cumsum([0, *map(len, ids)])
        return Tokens(np.concatenate([[0], *ids])[1:], ends, np.arange(len(ends)), list(number))


def random_texts(seed: int, n: int = 200) -> list[str]:
    """Texts of a few frequent words and many rare ones, in sentences and paragraphs."""
    rng = np.random.default_rng(seed)
    words = [
        "the",
        "The",
        "a",
        "cat",
        "dog",
        "sat",
        "straße",
        "STRASSE",
        "é",
        "e\u0301",
        "ß",
        "고양이",
    ]
    words += [f"w{i}" for i in range(60)]
    odds = 1 / np.arange(1, len(words) + 1)
    texts = []
    for _ in range(n):
        some = rng.choice(words, size=rng.poisson(12), p=odds / odds.sum())
        ends = rng.choice([" ", " ", " ", ". ", "!\n", "\n\n"], size=len(some))
        texts.append("".join(word + end for word, end in zip(some, ends, strict=True)))
    texts[7] = texts[8] = ""
    texts[40:80] = ["... !"] * 40  # when there are five blocks, one has no word
    texts[199] = "<p>only&nbsp;here</p> and once <b>more</b> here"
    return texts


TEXTS = random_texts(0)
OPTIONS: list[dict[str, Any]] = [
    {"ngrams": 1},
    {"ngrams": 2},
    {"ngrams": 3},
    {"ngrams": 1, "min_df": 2},
    {"ngrams": 3, "min_df": 3, "max_df": 0.3},
    {"ngrams": 3, "min_df": 0.02},
    {"ngrams": 2, "max_df": 50},
    {"ngrams": 2, "max_features": 30},
    {"ngrams": 3, "max_features": 100, "min_df": 2},
    {"ngrams": 1, "max_features": 5},
    {"ngrams": 2, "stop_words": "stop.txt"},
    {"ngrams": 2, "strip_html": True},
]


def cut(texts: Sequence[str], blocks: int) -> Iterator[Sequence[str]]:
    for first, end in pairwise(np.linspace(0, len(texts), blocks + 1).astype(int).tolist()):
        yield texts[first:end]


class Noting(GroupBuilder):
    """Keeps the tokens that it is given, and builds no groups."""

    name = "noting"
    within_documents = True
    seen: ClassVar[list[Tokens]]

    def build(self, tokens: Tokens) -> Groups:
        self.seen.append(tokens)
        return Groups([0], [], [], tokens.n_columns)


class Made:
    """Rows and tokens of texts in blocks, cut as they are given."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        vectorizer: Vectorizer,
        blocks: Iterator[Sequence[str]],
        store: ArrayStore,
    ) -> None:
        given = [list(block) for block in blocks]
        Noting.seen = self.tokens = []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(features_module, "blocks_of", lambda texts: iter(given))
            texts = [text for block in given for text in block]
            workers = Here(store)
            features = BlockFeatures(texts, tokenizer, vectorizer, workers, store)
            self.encoder: AnyEncoder = features.encoder
            p = self.encoder.n_columns
            self.design = BlockDesign(workers, features.blocks(Noting()), p, store)
        self.starts, self.shape = self.design.starts, self.design.shape

    def rows(self, block: int) -> CompressedArrays:
        """The rows of a block, by the features of all."""
        found = next(self.design.map(lambda block: block, blocks=[self.design.blocks[block]]))
        for array in found.rows:
            assert not array.flags.writeable
        assert (found.start, found.end) == tuple(self.starts[block : block + 2])
        indices = found.features[found.rows.indices]
        indices.flags.writeable = False
        return found.rows._replace(indices=indices)


def by_blocks(
    tokenizer: Tokenizer,
    vectorizer: Vectorizer,
    blocks: Iterator[Sequence[str]],
    store: ArrayStore | None = None,
) -> Made:
    return Made(tokenizer, vectorizer, blocks, Memory() if store is None else store)


def raised(call: Callable[[], Any]) -> Any:
    """The message of the DataError that a call raises, or what it returns."""
    try:
        return call()
    except DataError as error:
        return str(error)


def assert_same(features: Made, whole: Features) -> None:
    X = whole.X
    assert features.shape == X.shape
    assert features.starts[-1] == X.shape[0]
    assert len(features.encoder.parts) == len(whole.encoder.parts)
    for one, other in zip(features.encoder.parts, whole.encoder.parts, strict=True):
        assert list(one.vocabulary) == list(other.vocabulary)
        assert one.stop_words == other.stop_words
        assert (one.idf is None) == (other.idf is None)
        assert one.idf is None or np.array_equal(one.idf, other.idf)
    for block, (first, end) in enumerate(pairwise(features.starts.tolist())):
        rows, expected = features.rows(block), X[first:end]
        for name, kind in (("indptr", np.int64), ("indices", np.int32), ("data", np.float64)):
            array = getattr(rows, name)
            assert array.dtype == kind
            assert not array.flags.writeable
            assert np.array_equal(array, getattr(expected, name))
        tokens, occurring = features.tokens[block], whole.tokens.select(np.arange(first, end))
        assert len(tokens.vocabulary) == len(whole.tokens.vocabulary)
        for name in TOKENS:
            array = getattr(occurring, name)
            assert (getattr(tokens, name) is None) == (array is None)
            assert array is None or np.array_equal(getattr(tokens, name), array)
    assert list(features.encoder.names) == list(whole.encoder.names)
    new = ["the new cat sat. W1 w2 w3", ""]
    assert (features.encoder.transform(new) != whole.encoder.transform(new)).nnz == 0


@pytest.mark.sampled(8)
@pytest.mark.parametrize("blocks", [1, 2, 5])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_same_as_all_at_once(
    options: dict[str, Any], blocks: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("stop.txt").write_text("the\nW3\nstraße\n", encoding="utf-8")
    vectorizer = Vectorizer(**options)
    with Scratch(tmp_path) as scratch:
        features = by_blocks(Words(), vectorizer, cut(TEXTS, blocks), scratch)
        assert_same(features, vectorizer.fit(Words(), TEXTS))


@pytest.mark.sampled(10)
@pytest.mark.parametrize("weighting", WEIGHTINGS)
@pytest.mark.parametrize("options", [{}, {"min_df": 2, "max_features": 40}], ids=str)
@pytest.mark.parametrize("tokenizer", ["words", "chars", "words,chars"])
def test_every_weighting_and_tokenizer(
    tokenizer: str, options: dict[str, Any], weighting: str
) -> None:
    vectorizer = Vectorizer(weighting=weighting, **options)
    chosen = tokenizer_of(tokenizer)
    features = by_blocks(chosen, vectorizer, cut(TEXTS, 5))
    assert_same(features, vectorizer.fit(chosen, TEXTS))


def test_joined_tokenizers_share_the_pruning() -> None:
    vectorizer = Vectorizer(ngrams=2, max_df=0.5, max_features=100)
    tokenizer = tokenizer_of("words,chars")
    features = by_blocks(tokenizer, vectorizer, cut(TEXTS, 3))
    assert_same(features, vectorizer.fit(tokenizer, TEXTS))


@pytest.mark.parametrize("options", [{"ngrams": 1}, {"ngrams": 2, "min_df": 2}], ids=str)
def test_a_tokenizer_of_somebody_else(options: dict[str, Any]) -> None:
    vectorizer = Vectorizer(**options)
    assert_same(by_blocks(Unsorted(), vectorizer, cut(TEXTS, 4)), vectorizer.fit(Unsorted(), TEXTS))


@settings(deadline=None)
@given(
    st.lists(st.lists(st.text("ab ß.\n", max_size=12), min_size=1), min_size=1, max_size=4),
    st.integers(1, 4),
    st.sampled_from([1, 2, 0.3]),
    st.sampled_from([1.0, 0.6, 3]),
    st.sampled_from([None, 1, 3]),
)
def test_small_blocks(
    blocks: list[list[str]], n: int, least: float, most: float, features: int | None
) -> None:
    vectorizer = Vectorizer(ngrams=n, min_df=least, max_df=most, max_features=features)
    texts = [text for block in blocks for text in block]
    whole = raised(lambda: vectorizer.fit(Words(), texts))
    if isinstance(whole, Features):
        assert_same(by_blocks(Words(), vectorizer, iter(blocks)), whole)
    else:
        assert raised(lambda: by_blocks(Words(), vectorizer, iter(blocks))) == whole


@pytest.mark.parametrize(
    ("options", "texts"),
    [
        ({}, []),
        ({}, ["", "..."]),
        ({"min_df": 300}, TEXTS),
        ({"max_df": 0.0001}, TEXTS),
        ({"min_df": 140, "max_df": 141}, TEXTS),
        ({"stop_words": "stop.txt"}, ["the", "the the"]),
    ],
    ids=str,
)
def test_the_same_errors(
    options: dict[str, Any], texts: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("stop.txt").write_text("the\n", encoding="utf-8")
    vectorizer = Vectorizer(**options)
    with pytest.raises(DataError) as expected:
        vectorizer.fit(Words(), texts)
    blocks = cut(texts, 2) if texts else iter([])
    assert raised(lambda: by_blocks(Words(), vectorizer, blocks)) == str(expected.value)


def test_a_blank_in_a_word() -> None:
    class Blanks(Unsorted):
        def encode(self, texts: Sequence[str], *, spans: bool = False) -> Tokens:
            ids = np.arange(len(texts))
            ends = np.arange(len(texts) + 1)
            return Tokens(ids, ends, ends, list(texts))

    with pytest.raises(DataError, match="returns 'a b' as one token"):
        by_blocks(Blanks(), Vectorizer(), iter([["a"], ["a b"]]))
    assert by_blocks(Blanks(), Vectorizer(ngrams=1), iter([["a"], ["a b"]])).shape == (2, 2)


class Unread(list[str]):
    """Texts that must not be read."""

    def __iter__(self) -> Iterator[str]:
        raise AssertionError("these texts are read")


@pytest.mark.parametrize(
    "options", [{"min_df": 1.5}, {"max_df": 2.5}, {"stop_words": "/no/such/file"}], ids=str
)
def test_wrong_settings_are_refused_before_anything_is_read(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError) as expected:
        Vectorizer(**options).fit(Words(), TEXTS)
    store = Memory()
    with pytest.raises(UsageError, match=re.escape(str(expected.value))):
        BlockFeatures(Unread(), Words(), Vectorizer(**options), Here(store), store)


def test_documents_that_are_not_for_blocks() -> None:
    store = Memory()
    with pytest.raises(UsageError, match="lists of tokens cannot be read in blocks"):
        BlockFeatures(Unread(), Pretokenized(), Vectorizer(), Here(store), store)
    with pytest.raises(UsageError, match="lists of tokens cannot be read in blocks"):
        BlockFeatures([["a"]], Words(), Vectorizer(), Here(store), store)  # type: ignore[list-item]
    fields = fielded([{"subject": "a", "body": "b"}], (Field("subject"), Field("body")))
    with pytest.raises(UsageError, match="several fields cannot be read in blocks"):
        BlockFeatures(fields, Words(), Vectorizer(), Here(store), store)


def test_more_ngrams_than_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "MOST", 9)
    assert by_blocks(Words(), Vectorizer(), iter([["a b c d e"]])).shape == (1, 9)
    with pytest.raises(DataError, match="more than 9 different n-grams of up to 2 words"):
        by_blocks(Words(), Vectorizer(), iter([["a b c d e a"]]))
    with pytest.raises(DataError, match="more than 9 different n-grams of up to 1 word"):
        by_blocks(Words(), Vectorizer(ngrams=1), iter([["a b c d e"], ["f g h i j"]]))


@pytest.mark.parametrize("tokenizer", ["words", "words,chars"])
def test_only_rows_and_groups_are_kept(tokenizer: str, tmp_path: Path) -> None:
    with Scratch(tmp_path) as scratch:
        features = by_blocks(
            tokenizer_of(tokenizer), Vectorizer(max_features=50), cut(TEXTS, 2), scratch
        )
        names = [path.name.partition("-") for path in scratch.folder.iterdir()]
        kept = sorted(int(number) for number, dash, _ in names if dash)
        # Of each block features, sizes, three arrays of rows and three of groups; features again.
        assert sorted(Counter(kept).values()) == [1, 1, 8, 8]
        block = next(features.design.map(lambda block: block))
        base: Any = block.rows.data
        while not isinstance(base, np.memmap):
            base = base.obj if isinstance(base, memoryview) else base.base


@given(st.lists(st.lists(st.text("ab", max_size=5))), st.integers(1, 4), st.integers(1, 8))
def test_blocks_depend_on_the_documents_alone(
    batches: list[list[str]], documents: int, characters: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("textreg.blocks.scratch.DOCUMENTS", documents)
        patch.setattr("textreg.blocks.scratch.CHARACTERS", characters)
        blocks = list(blocks_of(batches))
        texts = [text for batch in batches for text in batch]
        assert [text for block in blocks for text in block] == texts
        assert blocks == list(blocks_of([[text] for text in texts]))
        for block in blocks:
            size = sum(map(len, block))
            assert 1 <= len(block) <= documents
            assert size <= characters or len(block) == 1
        for block, following in pairwise(blocks):
            size = sum(map(len, block))
            assert len(block) == documents or size + len(following[0]) > characters
