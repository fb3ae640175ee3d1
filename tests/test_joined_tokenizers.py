"""Several tokenizers at once: features side by side, models, explanations, options."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from conftest import Cli
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.pipeline import FeatureUnion

import textreg
from textreg.errors import DataError, ModelError, PluginError, TextregError, UsageError
from textreg.explain import explain, find_selection
from textreg.features.encoder import JoinedEncoder
from textreg.features.vectorize import Vectorizer
from textreg.kinds import Tokenizer
from textreg.model.model import Model
from textreg.model.storage import load_model
from textreg.params import param
from textreg.plugins import registry
from textreg.records import Corpus, Graph, Groups, Tokens
from textreg.tasks import classification

TEXTS = [
    "Good film. Bad plot; good actors! Never bad.",
    "Bad film, awful film. Never again",
    "A good goodness of GOODS. Fine film, bad seats.",
    "Unknown things. Bad things here! Good.",
    "Fine, fine films. Good-bye!",
    "An awful, awful plot. Never.",
]
LABELS = ["p", "n", "p", "n", "p", "n"]


class Pieces(Tokenizer):
    """Two and three characters in a row inside of white space; a document is one sentence."""

    name = "pieces"
    forms_ngrams: ClassVar[bool] = False
    lowercase: bool = param(default=True, help="convert to lower case")
    longest: int = param(default=3, min=2, help="maximum number of characters")

    def __call__(self, text: str) -> list[list[str]]:
        return [[name for name, _, _ in self.found(text)]]

    def found(self, text: str) -> Iterator[tuple[str, int, int]]:
        text, end = (text.lower() if self.lowercase else text), 0
        for word in text.split():
            start = text.index(word, end)
            end = start + len(word)
            for size in range(2, self.longest + 1):
                padded = f" {word} "
                for at in range(len(padded) - size + 1):
                    first = max(start + at - 1, start)
                    yield padded[at : at + size], first, min(start + at + size - 1, end)

    def encode(self, texts: Sequence[str], *, spans: bool = False) -> Tokens:
        tokens = super().encode(texts)
        if not spans:
            return tokens
        places = [(a, b) for text in texts for _, a, b in self.found(text)]
        whole = [(0, len(text)) for text in texts]
        return Tokens(
            tokens.ids,
            tokens.sentence_ptr,
            tokens.document_ptr,
            tokens.vocabulary,
            np.array(places, dtype=np.int32).reshape(-1, 2),
            np.array(whole, dtype=np.int32).reshape(-1, 2),
        )


@pytest.fixture(autouse=True)
def pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tokenizer of these tests is there for them, and for no others."""
    monkeypatch.setattr(registry._default, "added", {})
    registry.register(Pieces)


def join(**params: Any) -> Tokenizer:
    return textreg.tokenizer("words,pieces", **params)


def union(kind: type[Any], n: int = 2, **options: Any) -> FeatureUnion:
    """The same features by scikit-learn."""
    return FeatureUnion(
        [
            ("words", kind(token_pattern=r"\w+", ngram_range=(1, n), **options)),
            ("pieces", kind(analyzer="char_wb", ngram_range=(2, 3), **options)),
        ]
    )


# Features


@pytest.mark.parametrize(
    "pruning", [{}, {"min_df": 2}, {"max_df": 3}, {"min_df": 2, "max_df": 0.5}]
)
def test_features_are_those_of_a_feature_union(pruning: dict[str, Any]) -> None:
    for weighting, peer in (
        ("count", union(CountVectorizer, **pruning)),
        ("tfidf", union(TfidfVectorizer, sublinear_tf=True, **pruning)),
    ):
        features = Vectorizer(weighting=weighting, ngrams=2, **pruning).fit(
            join(sentences="none"), TEXTS
        )
        expected = peer.fit_transform(TEXTS)
        names = [name.partition("__")[2] for name in peer.get_feature_names_out()]
        n_words = len(peer.transformer_list[0][1].vocabulary_)
        assert features.encoder.names[:n_words] == names[:n_words]
        assert features.encoder.names[n_words:] == [f"pieces: {it}" for it in names[n_words:]]
        assert_allclose(features.X.toarray(), expected.toarray(), rtol=1e-13)
        new = ["good things, awful actors", "", "xyz"]
        assert_allclose(
            features.encoder.transform(new).toarray(), peer.transform(new).toarray(), rtol=1e-13
        )


def test_most_features_are_counted_together() -> None:
    features = Vectorizer(weighting="count", max_features=20).fit(join(), TEXTS)
    whole = Vectorizer(weighting="count").fit(join(), TEXTS)
    totals = whole.X.sum(axis=0)
    order = np.lexsort((np.arange(len(totals)), -totals))[:20]
    assert features.encoder.names == [whole.encoder.names[j] for j in np.sort(order)]
    assert 0 < features.X[:, : len(features.encoder.parts[0].names)].sum() < features.X.sum()


def test_only_words_are_stopped(tmp_path: Path) -> None:
    (tmp_path / "stop").write_text("film\n")
    options: dict[str, Any] = {"weighting": "count", "stop_words": str(tmp_path / "stop")}
    names = Vectorizer(**options).fit(join(), TEXTS).encoder.names
    assert "film" not in names
    assert "pieces: fil" in names
    with pytest.raises(UsageError, match="tokenizer 'pieces' gives none: leave out stop_words"):
        Vectorizer(**options).fit(Pieces(), TEXTS)


@pytest.mark.parametrize("weighting", ["count", "log", "unit", "unit-idf", "tfidf"])
def test_rows_are_the_same_again(weighting: str, tmp_path: Path) -> None:
    """By the encoder, pickled, one by one, of some columns, from a model file."""
    features = Vectorizer(weighting=weighting).fit(join(), TEXTS)
    encoder, X = features.encoder, features.X.toarray()
    assert isinstance(encoder, JoinedEncoder)
    for one in (encoder, pickle.loads(pickle.dumps(encoder))):
        assert np.array_equal(one.transform(TEXTS).toarray(), X)
    for row, text in zip(X, TEXTS, strict=True):
        assert np.array_equal(encoder.transform([text]).toarray()[0], row)
    columns = np.arange(1, X.shape[1], 3)
    part = encoder.restrict(columns)
    assert part.names == [encoder.names[j] for j in columns]
    assert np.array_equal(part.transform(TEXTS).toarray(), X[:, columns])
    some = np.array([0, 2, len(columns) - 1])
    few = part.restrict(some)
    assert np.array_equal(few.transform(TEXTS).toarray(), X[:, columns[some]])
    first = len(encoder.parts[0].names)
    for some in (np.arange(first), np.arange(first, X.shape[1]), np.arange(0)):
        few = encoder.restrict(some)
        assert few.names == [encoder.names[j] for j in some]
        assert np.array_equal(few.transform(TEXTS).toarray(), X[:, some])
        weights = np.ones((1, len(some)))
        model = Model(classification(["n", "p"]), few, weights, np.zeros(1))
        model.save(tmp_path / "m")
        assert load_model(tmp_path / "m").explain(TEXTS[0]).score == model.explain(TEXTS[0]).score


def test_a_single_tokenizer_without_ngrams() -> None:
    features = Vectorizer(weighting="count", ngrams=3).fit(Pieces(), TEXTS)
    peer = CountVectorizer(analyzer="char_wb", ngram_range=(2, 3)).fit(TEXTS)
    assert features.encoder.names == peer.get_feature_names_out().tolist()
    assert np.array_equal(features.X.toarray(), peer.transform(TEXTS).toarray())
    assert np.array_equal(features.encoder.transform(TEXTS).toarray(), features.X.toarray())


def test_groups_and_links_are_of_the_first() -> None:
    features = Vectorizer(weighting="count").fit(join(), TEXTS)
    alone = Vectorizer(weighting="count").fit(textreg.tokenizer("words"), TEXTS)
    assert features.tokens.vocabulary == alone.tokens.vocabulary
    assert np.array_equal(features.tokens.ids, alone.tokens.ids)
    assert features.encoder.names[: len(alone.encoder.names)] == alone.encoder.names


class Titled(Pieces):
    name = "titled"

    def __call__(self, text: str) -> list[list[str]]:
        return [["th"]]


def test_names_that_would_be_the_same_are_refused() -> None:
    class Lines(Tokenizer):
        name = "lines"

        def __call__(self, text: str) -> list[list[str]]:
            return [[text]]

    both = registry.create("tokenizer", [Lines(), Titled()])
    with pytest.raises(DataError, match="'titled: th' is a feature of tokenizer 'lines'"):
        Vectorizer(ngrams=1).fit(both, ["titled: th"])


# The part


def test_joined_tokenizers_compare_copy_and_pickle() -> None:
    one = join(min_length=2, pieces_lowercase=False)
    assert one == join(min_length=2, pieces_lowercase=False)
    assert one != one.replace(longest=4)
    assert pickle.loads(pickle.dumps(one)) == copy.deepcopy(one) == one
    listed = registry.create("tokenizer", ["words", Pieces(lowercase=False)], min_length=2)
    assert listed == one
    assert repr(one) == "JoinedTokenizer(Words(min_length=2), Pieces(lowercase=False))"
    assert registry.create("tokenizer", [Pieces]) == Pieces()
    assert one("A box")[0] == ["box"]
    assert one("A box")[1][:2] == ["pieces:  A", "pieces: A "]
    classifier = textreg.TextClassifier(reg="ridge", tokenizer=["words", "pieces"])
    assert classifier.set_params(tokenizer__longest=4).get_params()["tokenizer"] == join(longest=4)


def test_parameters_of_several() -> None:
    """One for all that declare it alike, and one for each of them."""
    both = join(lowercase=False)
    assert [part.lowercase for part in both.parts] == [False, False]
    assert both == join(words_lowercase=False, pieces_lowercase=False)
    assert both == registry.create("tokenizer", [both.parts[0], both.parts[1]])
    one = join(lowercase=False, words_lowercase=True)
    assert [part.lowercase for part in one.parts] == [True, False]
    assert one == join(pieces_lowercase=False)
    assert one.replace(longest=4).parts[1] == Pieces(lowercase=False, longest=4)
    assert pickle.loads(pickle.dumps(one)) == one
    with pytest.raises(UsageError, match="lowercase must be true or false"):
        join(lowercase="so")


@pytest.mark.parametrize(
    ("names", "params", "error", "message"),
    [
        ("words,words", {}, UsageError, "tokenizer: 'words' is named twice"),
        ("words,piece", {}, PluginError, "no tokenizer 'piece'.*Did you mean 'pieces'"),
        ("words,", {}, UsageError, "'words,' has a comma with no name beside it.*words,chars"),
        ([], {}, UsageError, "tokenizer: the list is empty"),
        (["words", 3], {}, UsageError, "give a name"),
        ("words", {"longest": 3}, UsageError, "no parameter 'longest'"),
        ("words,pieces", {"longest": 1}, UsageError, "longest must be at least 2"),
    ],
)
def test_wrong_parts(
    names: Any, params: dict[str, Any], error: type[TextregError], message: str
) -> None:
    with pytest.raises(error, match=message):
        registry.create("tokenizer", names, **params)


# Models


def trained(weighting: str = "tfidf", **options: Any) -> textreg.Model:
    options = options or {"reg": "ridge", "reg_l2": 0.1}
    return textreg.train(TEXTS, LABELS, tokenizer="words,pieces", weighting=weighting, **options)


@pytest.mark.parametrize("weighting", ["unit-idf", "tfidf"])
@pytest.mark.parametrize("reg", [{"reg": "lasso", "reg_l1": 0.05}, {"reg": "ridge", "cv": 2}])
def test_models_from_files(weighting: str, reg: dict[str, Any], tmp_path: Path) -> None:
    model = trained(weighting, **reg)
    model.save(tmp_path / "one")
    trained(weighting, **reg).save(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    again = load_model(tmp_path / "one")
    new = [*TEXTS, "goodness", ""]
    assert np.array_equal(again.decision_function(new), model.decision_function(new))
    assert again.encoder.names == model.encoder.names
    assert again.encoder.tokenizer == model.encoder.tokenizer
    if weighting == "unit-idf":
        names = [name for part in again.encoder.parts for name in part.vocabulary]
        assert len(names) == model.n_features


def test_a_missing_part(tmp_path: Path) -> None:
    trained().save(tmp_path / "m")
    registry._default.added.clear()
    with pytest.raises(ModelError, match=r"needs the tokenizer 'pieces': no tokenizer 'pieces'"):
        load_model(tmp_path / "m")
    shown = load_model(tmp_path / "m", tokenizer=False)
    assert any(name.startswith("pieces: ") for name in shown.encoder.names)


def test_the_default_regularizer_and_searched_parameters() -> None:
    model = textreg.train(
        TEXTS * 2,
        LABELS * 2,
        tokenizer=["words", "pieces"],
        search_space={"tokenizer_longest": [2, 3], "tokenizer_words_lowercase": [True, False]},
        cv=2,
    )
    assert model.summary is not None
    searched = {"tokenizer_longest", "tokenizer_words_lowercase"}
    assert set(model.summary.chosen) == {"reg", *searched}
    assert [part.name for part in model.summary.plugins[:2]] == ["words", "pieces"]
    assert model.summary.features > len(model.encoder.parts[0].vocabulary)


def test_groups_and_graphs_of_many_features() -> None:
    options: dict[str, Any] = {"reg": "group", "groups": "documents,sentences", "reg_l1": 0.001}
    grouped = trained(**options, reg_group=0.01)
    assert any(name.startswith("pieces") for name in grouped.encoder.names)
    linked = trained(reg="network", graph="cooccurrence", graph_min_df=1, reg_beta=0.1)
    selection = find_selection(linked, Corpus(TEXTS, LABELS), top=1000)
    assert selection.missing == 0
    assert any(one.feature.startswith("pieces: ") for one in selection.linked)


def test_widened_records() -> None:
    groups = Groups([0, 2], [0, 1], [1.0], n_features=2, names=["both"])
    assert groups.widened(2) is groups
    assert groups.widened(4).n_features == 4
    assert groups.widened(4).label(0) == "both"
    links = csr_array(np.array([[0, 1, 2], [1, 0, 3], [2, 4, 0.0]]))  # the third is virtual
    wide = Graph(links, links, classes=1).widened(4)
    assert (wide.n_features, wide.classes) == (4, 1)
    expected = np.zeros((5, 5))
    expected[np.ix_([0, 1, 4], [0, 1, 4])] = links.toarray()
    assert wide.dissimilar is not None
    assert np.array_equal(wide.similar.toarray(), expected)
    assert np.array_equal(wide.dissimilar.toarray(), expected)


# Explanations


@pytest.mark.parametrize("weighting", ["count", "log", "unit", "unit-idf", "tfidf"])
def test_contributions_add_up_and_removals_are_exact(weighting: str) -> None:
    model = trained(weighting)
    texts = [*TEXTS, "... !!", "", "Nothing. Known here? Zzz!"]
    for each, score in zip(explain(model, texts, "p"), model.decision_function(texts), strict=True):
        assert each.score == pytest.approx(score, abs=1e-12)
        assert each.intercept + sum(word.value for word in each.words) == pytest.approx(score)
        total = each.intercept + sum(sentence.value for sentence in each.sentences)
        assert total == pytest.approx(score)
        assert [word.start for word in each.words] == sorted(word.start for word in each.words)
        whole = np.log(each.probabilities["p"])
        for sentence in each.sentences:
            rest = each.text[: sentence.start] + each.text[sentence.end :]
            probability = model.predict_proba([rest])[0][1]
            assert sentence.removal == pytest.approx(whole - np.log(probability), abs=1e-9)
    pieces = [word for word in model.explain(TEXTS[0]).words if word.feature == "pieces:  g"]
    assert [TEXTS[0][word.start : word.end] for word in pieces] == ["G", "g"]


@pytest.mark.parametrize("weighting", ["count", "unit", "tfidf"])
@pytest.mark.parametrize("kept", [0, 1, 2], ids=["words", "pieces", "none"])
def test_a_part_without_weights_contributes_nothing(weighting: str, kept: int) -> None:
    trained = textreg.train(
        TEXTS,
        LABELS,
        tokenizer=["words", "chars"],
        weighting=weighting,
        reg="ridge",
        reg_l2=0.1,
    )
    start = len(trained.encoder.parts[0].names)
    weights = trained.weights.copy()
    weights[:, start:] *= kept == 1
    weights[:, :start] *= kept == 0
    model = textreg.Model(trained.task, trained.encoder, weights, trained.intercepts)
    for explanation in explain(model, TEXTS, of="p"):
        total = sum(word.value for word in explanation.words) + explanation.intercept
        assert total == pytest.approx(explanation.score, abs=1e-12)
        assert {word.feature.startswith("chars: ") for word in explanation.words} <= {kept == 1}


# The command line


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.jsonl"
    rows = [{"text": t, "label": y} for t, y in zip(TEXTS * 3, LABELS * 3, strict=True)]
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def test_commands(cli: Cli, corpus: Path, tmp_path: Path) -> None:
    model = tmp_path / "m.textreg"
    options = ["--tokenizer", "words,pieces", "--tokenizer-longest", "4", "--reg", "ridge"]
    options += ["--reg-l2", "0.1"]
    done = cli("train", corpus, *options, "--no-tokenizer-pieces-lowercase", "-o", model)
    assert done.code == 0
    shown = json.loads(cli("show", model, "--json").out)
    assert shown["tokenizer"]["name"] == "words,pieces"
    assert shown["tokenizer"]["longest"] == 4
    assert shown["tokenizer"]["pieces_lowercase"] is False
    assert cli("predict", model, corpus).code == 0
    page = tmp_path / "page.html"
    assert cli("report", model, corpus, "--train", corpus, "-o", page).code == 0
    explained = cli("explain", model, corpus, "--top", "50").out
    shown = cli("show", model, "--top", "50").out
    for text in (shown, explained, page.read_text()):
        assert "pieces: ␣" in text
        assert "pieces:  " not in text
    help_text = cli("train", *options[:2], "--help").out
    assert "--tokenizer-longest" in help_text
    assert "pieces: maximum number" in " ".join(help_text.lower().split())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--tokenizer", "words,words"], "'words' is named twice"),
        (["--tokenizer", "words,piece"], "Did you mean 'pieces'"),
        (["--tokenizer", "words,"], "comma with no name"),
        (["--tokenizer-longest", "3"], "--tokenizer-longest"),
        (["--tokenizer", "words,pieces", "--tokenizer-max-n", "3"], "--tokenizer-max-n"),
    ],
)
def test_wrong_options(cli: Cli, corpus: Path, options: list[str], words: str) -> None:
    done = cli("train", corpus, *options)
    assert done.code in (1, 2)
    assert words in done.err
    assert "Traceback" not in done.err
