"""Features of texts, against scikit-learn where the settings coincide."""

from __future__ import annotations

import gzip
import json
import pickle
import re
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

import textreg
from textreg.builtin.tokenizers import Words
from textreg.errors import DataError, UsageError
from textreg.features.encoder import Encoder
from textreg.features.ngrams import GramNames, NGrams
from textreg.features.vectorize import Features, Vectorizer
from textreg.kinds import Tokenizer
from textreg.records import Tokens

WORD = r"(?u)\b\w+\b"
WHOLE = Words(sentences="none")  # scikit-learn's n-grams cross sentences
TEXTS = [
    "The cat sat. The cat ran!",
    "A dog sat on the cat",
    "",
    "cat cat cat. Dog dog",
    "the the the",
]


def corpus(data_dir: Path, part: str) -> list[str]:
    """A few hundred of the messages, from all groups."""
    with gzip.open(data_dir / f"data/20news/{part}.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line)["text"] for line in islice(file, 0, None, 16)]


@pytest.fixture(scope="module")
def train(data_dir: Path) -> list[str]:
    return corpus(data_dir, "train")


@pytest.fixture(scope="module")
def new(data_dir: Path) -> list[str]:
    return corpus(data_dir, "test")


def same(X: csr_array, Y: Any, rtol: float = 0.0) -> None:
    """The same matrix, with sorted columns; to the last bit unless ``rtol`` is given."""
    Y = csr_array(Y)
    Y.sort_indices()
    assert X.shape == Y.shape
    assert X.dtype == np.float64
    assert np.array_equal(X.indptr, Y.indptr)
    assert np.array_equal(X.indices, Y.indices)
    assert_allclose(X.data, Y.data, rtol=rtol, atol=0)


# Beside scikit-learn


def test_counts_on_20news(train: list[str], new: list[str]) -> None:
    peer = CountVectorizer(token_pattern=WORD, preprocessor=str.casefold)
    features = Vectorizer(weighting="count", ngrams=1).fit(Words(), train)
    same(features.X, peer.fit_transform(train))
    assert list(features.encoder.names) == peer.get_feature_names_out().tolist()
    same(features.encoder.transform(new), peer.transform(new))


def test_tfidf_on_20news(train: list[str], new: list[str]) -> None:
    peer = TfidfVectorizer(token_pattern=WORD, sublinear_tf=True, min_df=2, max_df=0.5)
    vectorizer = Vectorizer(weighting="tfidf", ngrams=1, min_df=2, max_df=0.5)
    features = vectorizer.fit(Words(), train)
    same(features.X, peer.fit_transform(train), rtol=1e-12)
    assert features.encoder.idf is not None
    assert_allclose(features.encoder.idf, peer.idf_, rtol=1e-14)
    same(features.encoder.transform(new), peer.transform(new), rtol=1e-12)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "options",
    [
        {"ngrams": 2},
        {"ngrams": 2, "min_df": 3, "max_df": 100},
        {"ngrams": 3, "min_df": 0.01, "max_df": 0.4},
        {"ngrams": 3, "stop_words": True},
    ],
)
def test_ngrams_on_20news(
    options: dict[str, Any], train: list[str], new: list[str], tmp_path: Path
) -> None:
    train, new = train[::2], new[::2]
    theirs = {key: value for key, value in options.items() if key != "ngrams"}
    if "stop_words" in options:
        theirs["stop_words"] = ["and", "don", "of", "t", "the"]
        options = {**options, "stop_words": str(tmp_path / "stop.txt")}
        (tmp_path / "stop.txt").write_text("the\nof\nAnd\ndon't\n")
    peer = CountVectorizer(token_pattern=WORD, ngram_range=(1, options["ngrams"]), **theirs)
    features = Vectorizer(weighting="count", **options).fit(WHOLE, train)
    same(features.X, peer.fit_transform(train))
    assert list(features.encoder.names) == peer.get_feature_names_out().tolist()
    same(features.encoder.transform(new), peer.transform(new))


@pytest.mark.thorough
def test_most_frequent_on_20news(train: list[str]) -> None:
    train = train[::2]
    features = Vectorizer(weighting="count", ngrams=2, max_features=500).fit(WHOLE, train)
    peer = CountVectorizer(token_pattern=WORD, ngram_range=(1, 2))
    counts = peer.fit_transform(train)
    totals = np.asarray(counts.sum(axis=0)).ravel()
    # Ties, which scikit-learn leaves to chance, go to the first by name.
    chosen = np.sort(np.argsort(-totals, kind="stable")[:500])
    same(features.X, counts[:, chosen])
    assert list(features.encoder.names) == peer.get_feature_names_out()[chosen].tolist()


@settings(deadline=None)
@given(
    st.lists(st.text("abc ßΣς яé_"), min_size=1),
    st.integers(1, 3),
    st.sampled_from([1, 2, 0.3]),
    st.sampled_from([1.0, 0.6, 3]),
)
def test_small_corpora(texts: list[str], n: int, least: float, most: float) -> None:
    peer = CountVectorizer(
        token_pattern=WORD,
        preprocessor=str.casefold,
        ngram_range=(1, n),
        min_df=least,
        max_df=most,
    )
    try:
        expected = peer.fit_transform(texts)
    except ValueError:
        expected = None
    vectorizer = Vectorizer(weighting="count", ngrams=n, min_df=least, max_df=most)
    if expected is None or not expected.shape[1]:
        with pytest.raises(DataError):
            vectorizer.fit(WHOLE, texts)
        return
    features = vectorizer.fit(WHOLE, texts)
    same(features.X, expected)
    assert list(features.encoder.names) == peer.get_feature_names_out().tolist()


# What becomes of the counts


@pytest.mark.parametrize(
    ("weighting", "of_count"),
    [("count", lambda c: c), ("binary", lambda c: c**0), ("log", np.log1p)],
)
def test_weighting(weighting: str, of_count: Any) -> None:
    counts = Vectorizer(weighting="count").fit(Words(), TEXTS).X
    weighted = Vectorizer(weighting=weighting).fit(Words(), TEXTS).X
    counts.data = of_count(counts.data)
    same(weighted, counts, rtol=1e-15)


@pytest.mark.parametrize("n", [1, 2])
def test_unit_rows_without_pruning_have_length_one(n: int) -> None:
    X = Vectorizer(weighting="unit", ngrams=n).fit(Words(), TEXTS).X
    counts = Vectorizer(weighting="count", ngrams=n).fit(Words(), TEXTS).X
    lengths = np.sqrt(X.multiply(X).sum(axis=1))
    assert_allclose(lengths, [1, 1, 0, 1, 1], rtol=1e-14)
    counts.data = 1 + np.log(counts.data)
    for d in (0, 1, 3, 4):
        same(X[[d]], counts[[d]] / np.linalg.norm(counts[[d]].toarray()), rtol=1e-14)


def test_unit_idf_is_unit_times_idf() -> None:
    unit, idf, tfidf = (
        Vectorizer(weighting=name).fit(Words(), TEXTS) for name in ("unit", "unit-idf", "tfidf")
    )
    assert idf.encoder.idf is not None
    assert_allclose(idf.encoder.idf, tfidf.encoder.idf)
    same(idf.X, unit.X.multiply(idf.encoder.idf).tocsr(), rtol=1e-15)
    few = idf.encoder.restrict(np.array([1, 3]))
    assert len(few.vocabulary) == 2
    assert few.idf is not None
    assert np.array_equal(few.idf, idf.encoder.idf[[1, 3]])


def test_few_documents_have_tfidf() -> None:
    few, many, beside = (
        Vectorizer().decided(n, vectors=vectors).weighting
        for n, vectors in ((500, False), (501, False), (500, True))
    )
    assert (few, many, beside) == ("tfidf", "unit-idf", "unit-idf")
    of_labels = [
        Vectorizer().decided(n, labels).weighting
        for n, labels in ((500, 100), (2400, 12), (2401, 12), (2000, 11), (20_000, 100))
    ]
    assert of_labels == ["tfidf", "tfidf", "unit-idf", "unit-idf", "tfidf"]
    named = Vectorizer(weighting="log")
    assert named.decided(10) is named
    assert Vectorizer().fit(Words(), ["a b", "a"]).encoder.vectorizer.weighting == "tfidf"


def weighting_of(model: textreg.Model) -> str:
    (weighting,) = {part.vectorizer.weighting for part in model.encoder.parts}
    return str(weighting)


def test_a_model_keeps_its_weighting() -> None:
    texts, labels = ["good film", "bad film", "fine plot"] * 167, ["p", "n", "p"] * 167
    some = textreg.train(texts[:500], labels[:500], reg="ridge", reg_l2=1.0)
    assert weighting_of(some) == "tfidf"
    assert weighting_of(textreg.train(texts, labels, reg="ridge", reg_l2=1.0)) == "unit-idf"
    assert (
        weighting_of(textreg.train(texts, labels, reg="ridge", reg_l2=1.0, memory="1GB"))
        == "unit-idf"
    )
    many = [f"label {at % 12}" for at in range(len(texts))]
    assert weighting_of(textreg.train(texts, many, reg="ridge", reg_l2=1.0)) == "tfidf"
    numbers = {"reg": "ridge", "reg_l2": 1.0, "task": "regression"}
    assert weighting_of(textreg.train(texts, range(501), **numbers)) == "unit-idf"
    of_some = (texts[:500], labels[:500])
    for old in (of_some, None):
        assert weighting_of(textreg.update(some, texts[500:], labels[500:], old=old)) == "tfidf"
    for those in (texts[:200], [text.split() for text in texts[:200]]):
        more: dict[str, Any] = {"reg": "ridge", "reg_l2": 1.0, "unlabeled": those}
        assert weighting_of(textreg.train(those, labels[:200], **more)) == "unit-idf"
    space = {"weighting": ["count", "log"]}
    assert (
        weighting_of(textreg.train(*of_some, reg="ridge", reg_l2=1.0, search_space=space))
        != "tfidf"
    )


@pytest.mark.parametrize("weighting", ["unit", "unit-idf"])
@pytest.mark.parametrize(
    "pruning", [{"min_df": 2}, {"max_df": 2}, {"max_features": 3}, {"stop": "cat\nran"}]
)
@pytest.mark.parametrize("n", [1, 2])
def test_unit_rows_are_of_all_that_a_text_has(
    pruning: dict[str, Any], n: int, weighting: str, tmp_path: Path
) -> None:
    """What pruning leaves out still counts for the length of a row, what is stopped does not."""
    options: dict[str, Any] = {"ngrams": n, "weighting": weighting}
    texts = TEXTS
    if "stop" in pruning:
        (tmp_path / "stop").write_text(pruning["stop"])
        pruning = {"stop_words": str(tmp_path / "stop")}
        texts = [re.sub(r"cat|ran", "", text) for text in TEXTS]
    whole = Vectorizer(**options).fit(Words(), texts)
    features = Vectorizer(**options, **pruning).fit(Words(), TEXTS)
    names = list(whole.encoder.names)
    kept = [names.index(name) for name in features.encoder.names]
    assert "stop_words" in pruning or len(kept) < len(names)
    same(features.X, whole.X[:, kept])
    same(features.encoder.transform(TEXTS), features.X)
    new = ["the cat, unheard of", "unheard of cat ran"]
    (longer,) = features.encoder.transform(new[:1]).toarray()
    (short,) = features.encoder.transform(["the cat"]).toarray()
    assert (longer[short > 0] < short[short > 0]).all()
    assert len(features.encoder.transform(new).indices)


def test_a_text_without_features_has_an_empty_row() -> None:
    for weighting in ("log", "unit", "unit-idf", "tfidf"):
        encoder = Vectorizer(weighting=weighting, ngrams=1).fit(Words(), TEXTS).encoder
        X = encoder.transform(["", "unheard of", "cat \ud800 cat\0dog"])
        assert np.diff(X.indptr).tolist() == [0, 0, 2]
        assert np.isfinite(X.data).all()
        assert encoder.transform([]).shape == (0, len(encoder.names))


# Tokens


def stream(tokens: Tokens) -> list[list[list[str]]]:
    """Documents, sentences, names of features."""
    cuts, docs = tokens.sentence_ptr, tokens.document_ptr
    names = [tokens.vocabulary[i] for i in tokens.ids]
    sentences = [names[a:b] for a, b in pairwise(cuts)]
    return [sentences[a:b] for a, b in pairwise(docs)]


def test_ngrams_stay_inside_their_sentence() -> None:
    features = Vectorizer(ngrams=2, weighting="count").fit(Words(), TEXTS)
    assert stream(features.tokens)[0] == [
        ["the", "the cat", "cat", "cat sat", "sat"],
        ["the", "the cat", "cat", "cat ran", "ran"],
    ]
    assert "sat the" not in features.encoder.names
    assert features.encoder.transform(["It sat. The end", "sat the"]).sum() == 4


def test_sentences_without_features_stay() -> None:
    tokens = Vectorizer(min_df=3).fit(Words(), ["Cat. Dog.", "cat", "Bird! Cat", ""]).tokens
    assert stream(tokens) == [[["cat"], []], [["cat"]], [[], ["cat"]], []]


def test_tokens_and_matrix_agree() -> None:
    for n in (1, 2):
        features = Vectorizer(weighting="count", ngrams=n, min_df=2).fit(Words(), TEXTS)
        tokens, X = features.tokens, features.X
        assert tokens.vocabulary == features.encoder.names
        for d in range(len(TEXTS)):
            ids = tokens.ids[tokens.token_document_ptr[d] : tokens.token_document_ptr[d + 1]]
            counts = np.bincount(ids, minlength=X.shape[1])
            assert X[[d]].toarray().ravel().tolist() == counts.tolist()


def test_an_unknown_word_keeps_its_neighbors_apart() -> None:
    encoder = Vectorizer(ngrams=2).fit(Words(), ["red cat", "red dog"]).encoder
    assert stream(encoder.features(encoder.words(["red blue cat. Red cat"]))) == [
        [["red", "cat"], ["red", "red cat", "cat"]]
    ]


def test_spans_of_ngrams(tmp_path: Path) -> None:
    (tmp_path / "stop").write_text("the")
    vectorizer = Vectorizer(ngrams=2, stop_words=str(tmp_path / "stop"))
    encoder = vectorizer.fit(Words(), ["see the cat", "see dogs"]).encoder
    text = "İİ!! See the CAT. Dogs see THE cat?"
    for one in (encoder, encoder.restrict(np.arange(len(encoder.names)))):
        tokens = one.features(one.words([text], spans=True))
        assert tokens.spans is not None
        assert [
            (tokens.vocabulary[i], text[slice(*span)])
            for i, span in zip(tokens.ids, tokens.spans, strict=True)
        ] == [
            ("see", "See"),
            ("see cat", "See the CAT"),
            ("cat", "CAT"),
            ("dogs", "Dogs"),
            ("see", "see"),
            ("see cat", "see THE cat"),
            ("cat", "cat"),
        ]
        assert tokens.sentence_spans is not None
        assert [text[slice(*span)] for span in tokens.sentence_spans][1:] == [
            "See the CAT.",
            "Dogs see THE cat?",
        ]


# The encoder


@pytest.mark.parametrize("weighting", ["count", "log", "unit", "unit-idf", "tfidf"])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_encoder(weighting: str, n: int) -> None:
    """The same rows again: from parts as in a model file, pickled, one by one, some columns."""
    features = Vectorizer(weighting=weighting, ngrams=n).fit(Words(), TEXTS)
    encoder = features.encoder
    X = encoder.transform(TEXTS)
    same(X, features.X)
    idf = None if encoder.idf is None else np.array(encoder.idf.tolist())
    again = Encoder(
        Words(**json.loads(json.dumps(encoder.tokenizer.params()))),
        Vectorizer(**json.loads(json.dumps(encoder.vectorizer.params()))),
        json.loads(json.dumps(list(encoder.vocabulary))),
        idf,
        stop_words=json.loads(json.dumps(encoder.stop_words)),
    )
    same(again.transform(TEXTS), X)
    same(pickle.loads(pickle.dumps(encoder)).transform(TEXTS), X)
    for d, text in enumerate(TEXTS):
        same(encoder.transform([text]), X[[d]])

    columns = np.arange(1, X.shape[1], 2)
    part = encoder.restrict(columns)
    same(part.transform(TEXTS), X[:, columns])
    assert list(part.names) == [encoder.names[j] for j in columns]
    part = part.restrict(np.array([0, 2]))
    same(part.transform(TEXTS), X[:, columns[[0, 2]]])
    assert part.names == [encoder.names[j] for j in columns[[0, 2]]]


def test_an_encoder_has_idf_just_for_weightings_with_idf() -> None:
    with pytest.raises(UsageError, match="idf"):
        Encoder(Words(), Vectorizer(weighting="tfidf"), ["a"])
    with pytest.raises(UsageError, match="idf"):
        Encoder(Words(), Vectorizer(weighting="log"), ["a"], np.ones(1))
    with pytest.raises(UsageError, match="1 features but 2 idf"):
        Encoder(Words(), Vectorizer(weighting="tfidf"), ["a"], np.ones(2))


def test_names_longer_than_ngrams_are_refused() -> None:
    with pytest.raises(DataError, match="'a b c' has more than 2 words"):
        Encoder(Words(), Vectorizer(ngrams=2, weighting="log"), ["a b", "a b c"]).transform(["a"])


@settings(deadline=None)
@given(st.sets(st.lists(st.sampled_from("abc"), min_size=1, max_size=3).map(" ".join)))
def test_tree_of_names(names: set[str]) -> None:
    """Names survive the way into the tree and back, whatever their order."""
    given_names = sorted(names, reverse=True)
    tree, numbers = NGrams.of_names(given_names, 3)
    assert tree.names(numbers) == given_names
    kept = tree.number(np.concatenate(numbers) >= 0)
    assert tree.names(kept) == sorted(names)


@settings(deadline=None)
@given(
    st.sets(st.lists(st.sampled_from("abc"), min_size=1, max_size=3).map(" ".join)),
    st.randoms(use_true_random=False),
)
def test_pruned_tree(names: set[str], random: Any) -> None:
    """As the tree of the names that are left."""
    tree, numbers = NGrams.of_names(sorted(names), 3)
    chosen = [at for at in range(len(names)) if random.random() < 0.5]
    place = {at: number for number, at in enumerate(chosen)}
    few = [
        np.array([place.get(number, -1) for number in level.tolist()], dtype=np.int32)
        for level in numbers
    ]
    left = [sorted(names)[at] for at in chosen]
    pruned, numbers = tree.prune(few)
    expected, expected_numbers = NGrams.of_names(left, 3)
    assert pruned.words == expected.words
    for ours, theirs in ((pruned.child_ptr, expected.child_ptr), (pruned.last, expected.last)):
        assert [one.tolist() for one in ours] == [one.tolist() for one in theirs]
    assert [one.tolist() for one in numbers] == [one.tolist() for one in expected_numbers]
    assert GramNames(pruned, numbers) == left
    assert len(GramNames(pruned, numbers)) == len(left)


class Halves(Tokenizer):
    """A tokenizer of a plugin: ``__call__`` only, tokens of any characters."""

    name = "halves"

    def __call__(self, text: str) -> list[list[str]]:
        return [part.split("+") for part in text.split("/") if part]


def test_a_plain_tokenizer_does() -> None:
    features = Vectorizer(weighting="count", ngrams=1).fit(Halves(), ["new york+z/a", "a+a+\t"])
    assert features.encoder.names == ["\t", "a", "new york", "z"]
    assert features.X.toarray().tolist() == [[0, 1, 1, 1], [1, 2, 0, 0]]
    assert stream(features.tokens) == [[["new york", "z"], ["a"]], [["a", "a", "\t"]]]
    assert features.encoder.transform(["z+z+q/new york"]).toarray().tolist() == [[0, 0, 1, 2]]
    pairs = Vectorizer(weighting="count", ngrams=2).fit(Halves(), ["b+a/c"])
    assert pairs.encoder.names == ["a", "b", "b a", "c"]
    with pytest.raises(DataError, match="'new york' as one token"):
        Vectorizer(ngrams=2).fit(Halves(), ["new york+z"])


# Refusals


@pytest.mark.parametrize(
    ("options", "texts", "error", "message"),
    [
        ({}, [], DataError, "no document"),
        ({}, ["", " ..."], DataError, r"none of 2 documents has a word.*'words'"),
        ({"min_df": 2}, ["a", "b"], DataError, "min_df=2 asks for 2. Lower min_df"),
        ({"max_df": 0.5}, ["a", "a"], DataError, "max_df=0.5 allows 1. Raise max_df"),
        (
            {"min_df": 2, "max_df": 2},
            ["a", "a", "a b"],
            DataError,
            "min_df=2 and max_df=2 ask. Lower min_df or raise max_df",
        ),
        ({"min_df": 1.5}, ["a"], UsageError, "min_df must be a fraction .* not 1.5"),
        ({"max_df": 1.5}, ["a"], UsageError, "max_df must be a fraction .* not 1.5"),
        ({}, ["a", None], DataError, r"document 2 is missing \(None\)"),
        ({}, "a", UsageError, "put it in a list"),
        (
            {"stop_words": "nowhere/x"},
            ["a"],
            UsageError,
            r"from nowhere/x: No such file or directory\..*one word on each line",
        ),
    ],
)
def test_refusals(
    options: dict[str, Any], texts: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        Vectorizer(**options).fit(Words(), texts)


def test_only_stop_words(tmp_path: Path) -> None:
    (tmp_path / "stop.txt").write_text("\ufeffthe\na", encoding="utf-8")
    with pytest.raises(DataError, match=r"that is not in .*stop\.txt"):
        Vectorizer(stop_words=str(tmp_path / "stop.txt")).fit(Words(), ["The a", "a"])
    (tmp_path / "stop.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="UTF-8"):
        Vectorizer(stop_words=str(tmp_path / "stop.txt")).fit(Words(), ["a"])


def test_features_are_the_same_every_time() -> None:
    def fit() -> Features:
        return Vectorizer(ngrams=2, max_features=9).fit(Words(), TEXTS)

    one, other = fit(), fit()
    assert one.X.data.tobytes() == other.X.data.tobytes()
    assert one.tokens.ids.tobytes() == other.tokens.ids.tobytes()
    assert list(one.encoder.names) == list(other.encoder.names)
