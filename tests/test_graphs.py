"""Builders of graphs: neighbors by brute force, classes, edges, bad files, and models of them."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Cli
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from textreg import TextClassifier, train
from textreg.builtin.graph_builders import Classes, Cooccurrence, EdgeFile, Lexicon
from textreg.builtin.group_builders import Sentences
from textreg.builtin.network import Network
from textreg.errors import DataError, DataWarning, UsageError
from textreg.estimators.base import graph_builder, groups_builder
from textreg.features.vectorize import Vectorizer
from textreg.kinds import GraphBuilder
from textreg.plugins import registry
from textreg.records import Groups, Tokens
from textreg.structure import linking
from textreg.structure.linking import (
    correlations,
    mutual,
    nearest_by_cosine,
    nearest_by_distance,
    presence,
    read_word_lists,
)
from textreg.training.settings import TrainingSettings

TEXTS = [
    "good great fine",
    "good great film",
    "bad awful film",
    "bad awful plot",
    "good great plot fine fine",
    "bad awful mess",
]


def tokens(texts: list[str] = TEXTS) -> Tokens:
    return registry.create("tokenizer", "words").encode(texts)


def links_of(graph: Any, names: list[str], which: str = "similar") -> set[tuple[str, str]]:
    pairs = getattr(graph, which).tocoo()
    return {(names[i], names[j]) for i, j in zip(pairs.row, pairs.col, strict=True)}


@given(seed=st.integers(0, 2**32 - 1), neighbors=st.integers(1, 4), threshold=st.floats(0.0, 0.99))
def test_cosines_by_brute_force(seed: int, neighbors: int, threshold: float) -> None:
    rng = np.random.default_rng(seed)
    B = (rng.random((8, 6)) < 0.4).astype(float)
    B[:, 2] = 0.0
    found = nearest_by_cosine(csr_array(B), neighbors, threshold).toarray()
    length = np.sqrt(B.sum(axis=0))
    expected = np.zeros((6, 6))
    for j in range(6):
        cosine = {
            k: (B[:, j] @ B[:, k]) / (length[j] * length[k])
            for k in range(6)
            if k != j and B[:, j] @ B[:, k] > 0
        }
        near = [k for k in sorted(cosine, key=lambda k: (-cosine[k], k)) if cosine[k] > threshold]
        for k in near[:neighbors]:
            expected[j, k] = cosine[k]
    np.testing.assert_array_equal(found, expected)


def test_cooccurrence() -> None:
    made = tokens()
    names = list(made.vocabulary)
    graph = Cooccurrence(min_df=2, neighbors=1).build(made)
    assert {("good", "great"), ("great", "good"), ("bad", "awful"), ("awful", "bad")} <= links_of(
        graph, names
    )
    good, great = names.index("good"), names.index("great")
    assert graph.similar[good, great] == pytest.approx(1.0)
    mess = names.index("mess")  # in one document
    assert graph.similar[[mess]].nnz == 0
    assert graph.similar[:, [mess]].nnz == 0
    wide = Cooccurrence(min_df=1, neighbors=25, threshold=0.0).build(made)
    assert wide.similar[[mess]].nnz == 2
    fine, film = names.index("fine"), names.index("film")
    assert wide.similar[fine, good] == pytest.approx(2 / np.sqrt(2 * 3))  # binary: fine fine is one
    assert wide.similar[fine, film] == 0.0


def test_presence() -> None:
    made = tokens()
    B = presence(made, 2)
    frequency = np.bincount(B.indices, minlength=B.shape[1])
    assert set(B.data) == {1.0}
    kept = {made.vocabulary[j] for j in np.flatnonzero(frequency)}
    assert kept == set(made.vocabulary) - {"mess"}


def test_correlations_are_pearsons() -> None:
    rng = np.random.default_rng(0)
    B = (rng.random((40, 6)) < 0.4).astype(float)
    seeds = np.array([1, 4])
    expected = np.corrcoef(B.T)[:, seeds]
    np.testing.assert_allclose(correlations(csr_array(B), seeds), expected, atol=1e-12)
    B[:, 0] = 1.0
    assert not correlations(csr_array(B), seeds)[0].any()


def test_nearest_by_distance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linking, "BLOCK", 50)  # several rounds
    V = np.random.default_rng(1).normal(size=(30, 4))
    distance = np.linalg.norm(V[:, None] - V[None], axis=2)
    np.fill_diagonal(distance, np.inf)
    expected = np.argsort(distance, axis=1)[:, :5]
    found = nearest_by_distance(V, 5)
    assert [set(row) for row in found] == [set(row) for row in expected]
    links = mutual(found).toarray()
    near = np.zeros((30, 30))
    np.put_along_axis(near, expected, 1.0, axis=1)
    np.testing.assert_array_equal(links, near * near.T)
    assert nearest_by_distance(V[:1], 5).shape == (1, 0)


def test_lexicon(tmp_path: Path) -> None:
    seeds = tmp_path / "seeds.txt"
    seeds.write_text("; words of feeling\n\ngood\nbad\nnever-seen\n")
    made = tokens()
    for distance in ("cosine", "euclidean"):
        builder = Lexicon(seeds=str(seeds), min_seed_df=3, min_df=2, neighbors=2, distance=distance)
        links = links_of(builder.build(made), list(made.vocabulary))
        assert {("good", "great"), ("bad", "awful")} <= links
        assert not {("good", "bad"), ("good", "awful"), ("great", "awful")} & links
        assert all((other, one) in links for one, other in links)
    for few in ({"min_seed_df": 50}, {"min_seed_df": 1, "min_df": 50}):
        with pytest.raises(DataError, match=r"no seed is in 50 documents .*, 'bad', is in 3\."):
            Lexicon(seeds=str(seeds), **few).build(made)
    with pytest.raises(UsageError, match="--graph-seeds"):
        Lexicon().build(made)
    seeds.write_text("Good\n")
    with pytest.raises(
        DataError, match=r"none of 1 words is a feature of the texts, for example 'Good"
    ):
        Lexicon(seeds=str(seeds)).build(made)


def test_a_lexicon_takes_no_memory_for_rare_words(tmp_path: Path) -> None:
    """Which are most of the words of a corpus, and are not linked."""
    seeds, every = tmp_path / "seeds.txt", [f"s{n}" for n in range(100)]
    seeds.write_text("\n".join(every))
    made = tokens([" ".join([*every, *(f"r{n * 500 + k}" for k in range(500))]) for n in range(20)])
    tracemalloc.start()
    Lexicon(seeds=str(seeds), min_seed_df=5, min_df=5, neighbors=3).build(made)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4e6  # a table of all words and seeds would have 8 MB


def test_of_features_equally_near_the_order_chooses(tmp_path: Path) -> None:
    """So the class says that it matters."""
    (tmp_path / "seeds.txt").write_text("good\n")
    builder = Lexicon(seeds=str(tmp_path / "seeds.txt"), min_seed_df=1, min_df=1, neighbors=1)
    found = []
    for words in ("a b c", "d b c"):
        made = tokens([f"good {words}", "x"] * 3)
        found.append(links_of(builder.build(made), list(made.vocabulary)))
    assert {("a", "b"), ("b", "a")} <= found[0]
    assert {("b", "c"), ("c", "b")} <= found[1] - found[0]
    assert builder.order_matters


def test_a_class_of_builders_stays_what_it_is() -> None:
    assert graph_builder(Cooccurrence, 5) is Cooccurrence
    assert graph_builder(Cooccurrence(), 5).name == "cooccurrence"
    assert groups_builder(Sentences, ["a", "b"]) is Sentences


def test_listed_words(tmp_path: Path) -> None:
    one, other = tmp_path / "good.txt", tmp_path / "bad.words.txt"
    one.write_text("\ufeffgreat\n# no\nvery good\n", encoding="utf-8")
    other.write_text("awful\n")
    lists = read_word_lists(f"{one}, {other}")
    assert lists == {"good": ["great", "very good"], "bad": ["awful"]}
    with pytest.raises(UsageError, match="two word lists are called 'good'"):
        read_word_lists(f"{one},{one}")
    one.write_text("; nothing\n")
    with pytest.raises(DataError, match=r"good\.txt: no words in it"):
        read_word_lists(str(one))


def test_classes_of_lists(tmp_path: Path) -> None:
    for name, words in (("plus", "good great fine nowhere"), ("minus", "bad awful")):
        (tmp_path / f"{name}.txt").write_text("\n".join(words.split()))
    lists = f"{tmp_path}/plus.txt,{tmp_path}/minus.txt"
    made = tokens()
    names = [*made.vocabulary, "PLUS", "MINUS"]
    graph = Classes(lists=lists, opposite="plus:minus").build(made)
    assert (graph.classes, graph.n_features) == (2, len(made.vocabulary))
    assert links_of(graph, names) == {
        ("good", "PLUS"), ("great", "PLUS"), ("fine", "PLUS"), ("bad", "MINUS"), ("awful", "MINUS")
    }  # fmt: skip
    assert links_of(graph, names, "dissimilar") == {("PLUS", "MINUS"), ("MINUS", "PLUS")}
    assert Classes(lists=lists).build(made).dissimilar is None
    with pytest.raises(UsageError, match=r"opposite names 'mins', which is not a class.*'minus'"):
        Classes(lists=lists, opposite="plus:mins").build(made)
    with pytest.raises(UsageError, match="must be two classes"):
        Classes(lists=lists, opposite="plus").build(made)
    with pytest.raises(UsageError, match="give one of word lists"):
        Classes().build(made)
    (tmp_path / "minus.txt").write_text("nowhere")
    with pytest.raises(DataError, match="none of the words is a feature"):
        Classes(lists=f"{tmp_path}/minus.txt").build(made)


def test_classes_of_a_file_of_groups_mix(tmp_path: Path) -> None:
    path = tmp_path / "classes.tsv"
    path.write_text("praise\t3\tgood\tgreat\nrest\t1\tgood\tplot\n")
    made = tokens()
    graph = Classes(path=str(path)).build(made)
    good, p = list(made.vocabulary).index("good"), len(made.vocabulary)
    np.testing.assert_allclose(graph.similar[[good], p:].toarray(), [[3.0, 1.0]])
    path.write_text("praise\t3\nrest\t1\t\n")
    with pytest.raises(DataError, match=r"classes\.tsv: no group has a feature"):
        Classes(path=str(path)).build(made)
    path.write_text("praise\t3\nrest\t1\tnowhere\n")
    with pytest.raises(DataError, match=r"none of the words is a feature.* 'nowhere'"):
        Classes(path=str(path)).build(made)


def test_classes_of_groups() -> None:
    made = tokens()
    p = len(made.vocabulary)
    groups = Groups(
        indptr=np.array([0, 2, 3]),
        indices=np.array([0, 3, 3], dtype=np.int32),
        weights=np.array([1.0, 2.0]),
        n_features=p,
    )
    graph = Classes().build_from(made, groups)
    assert graph.classes == 2
    np.testing.assert_allclose(graph.similar[[3], p:].toarray(), [[1.0, 2.0]])
    with pytest.raises(UsageError, match="not from both"):
        Classes(lists="x.txt").build_from(made, groups)
    with pytest.raises(UsageError, match="makes no use of groups"):
        Cooccurrence().build_from(made, groups)


def test_edges(tmp_path: Path) -> None:
    path = tmp_path / "edges.tsv"
    path.write_text("# a, b, weight\ngood\tgreat\t2\ngood bad -1\n\nfilm\tnowhere\nfilm plot\n")
    made = tokens()
    names = list(made.vocabulary)
    left_out = r"edges\.tsv: 1 of 4 edges .* are ignored: line 5: 'film' and 'nowhere'$"
    with pytest.warns(DataWarning, match=left_out):
        graph = EdgeFile(path=str(path)).build(made)
    assert links_of(graph, names) == {
        ("good", "great"), ("great", "good"), ("film", "plot"), ("plot", "film")
    }  # fmt: skip
    assert graph.similar[names.index("good"), names.index("great")] == 2.0
    assert graph.similar[names.index("film"), names.index("plot")] == 1.0  # without a weight
    assert links_of(graph, names, "dissimilar") == {("good", "bad"), ("bad", "good")}
    with pytest.warns(DataWarning):
        directed = EdgeFile(path=str(path), directed=True).build(made)
    assert links_of(directed, names) == {("good", "great"), ("film", "plot")}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("good\tgreat\tbest\n", r"edges\.tsv:1: the weight 'best' is zero or not a number"),
        ("good great\ngood bad 0\n", r"edges\.tsv:2: the weight '0' is zero or not a number"),
        ("good great nan\n", r"edges\.tsv:1: the weight 'nan'"),
        ("good great -1e20\ngood bad -1e21\n", r"edges\.tsv:2: the weight '-1e21'"),
        ("good great 1e-320\n", r"edges\.tsv:1: the weight '1e-320' .* from 1e-300 to 1e20"),
        ("\ngood\n", r"edges\.tsv:2: this is not an edge: 'good'"),
        ("good good\n", r"edges\.tsv:1: 'good' is linked to itself"),
        ("# only\n", r"edges\.tsv: no edges in it"),
        ("Good Great\n", r"edges\.tsv, line 1: 'Good' and 'Great' are not both features"),
    ],
)
def test_bad_edges(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "edges.tsv"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        EdgeFile(path=str(path)).build(tokens())


def test_a_file_must_be_named() -> None:
    with pytest.raises(UsageError, match="--graph-path"):
        EdgeFile().build(tokens())
    with pytest.raises(UsageError, match=r"nowhere\.tsv cannot be read"):
        EdgeFile(path="nowhere.tsv").build(tokens())


def test_unlabeled_words_get_weights() -> None:
    """ "great" is in no labeled text, but beside "good" in unlabeled ones."""
    texts, labels = ["good film", "bad film"] * 4, ["plus", "minus"] * 4
    unlabeled = ["good great", "good great", "bad awful", "bad awful"]
    options: dict[str, Any] = {
        "reg": "network", "reg_alpha": 1.0, "reg_beta": 0.01, "graph_min_df": 1, "ngrams": 1,
        "graph_threshold": 0.3, "tokenizer": "words",
    }  # fmt: skip
    model = train(texts, labels, unlabeled=unlabeled, **options)
    assert model.predict(["great", "awful"]) == ["plus", "minus"]
    assert model.summary.documents == 8
    assert model.summary.graph.links >= 4
    network = Network(alpha=1.0, beta=0.01)
    graph = Cooccurrence(min_df=1, threshold=0.3)
    classifier = TextClassifier(reg=network, graph=graph, tokenizer="words", ngrams=1)
    classifier.fit(texts, labels, unlabeled=unlabeled)
    np.testing.assert_allclose(classifier.model_.weights, model.weights)
    plain = train(texts, labels, **options)
    assert plain.decision_function(["great"]) == plain.decision_function(["awful"])


def test_a_graph_without_a_link_is_told() -> None:
    texts, labels = ["good film", "bad film"] * 5, ["up", "down"] * 5
    with pytest.warns(DataWarning, match="cooccurrence finds no link between features, so network"):
        train(texts, labels, reg="network", graph_min_df=100)


def test_unlabeled_is_for_graphs_and_vectors() -> None:
    with pytest.raises(UsageError, match="unlabeled documents do not go with the regularizer"):
        train(["a", "b"], ["x", "y"], reg="lasso", unlabeled=["c"])


def test_groups_beside_a_graph() -> None:
    settings = TrainingSettings.from_options(reg="network", graph="classes", groups="sentences")
    assert settings.groups is not None
    with pytest.raises(UsageError, match="network makes no use of groups"):
        TrainingSettings.from_options(reg="network", graph="cooccurrence", groups="sentences")


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", ["network", "laplacian", "lle"])
def test_training_is_the_same_for_any_number_of_jobs(name: str) -> None:
    rng = np.random.default_rng(0)
    topics = ["red green blue sky sea", "one two three four five", "cat dog cow hen pig"]
    texts = [" ".join(rng.choice(topics[k % 3].split(), 4)) for k in range(30)]
    labels = [str(k % 3) for k in range(30)]
    options: dict[str, Any] = {"graph_min_df": 2, "cv": 2, "tokenizer": "words"}
    model, once = (train(texts, labels, reg=name, jobs=jobs, **options) for jobs in (3, 1))
    np.testing.assert_array_equal(model.weights, once.weights)
    assert model.summary.dev.metrics["accuracy"] > 0.9
    assert model.summary.converged


def test_from_the_command_line(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [{"text": text, "label": "plus" if "good" in text else "minus"} for text in TEXTS * 4]
    Path("rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    Path("more.txt").write_text("great lovely\ngreat lovely\nawful dreadful\nawful dreadful\n")
    options = ("--reg", "network", "--unlabeled", "more.txt", "--graph-min-df", 2, "--ngrams", 1)
    options += ("--tokenizer", "words", "--cv", 2)
    result = cli("train", "rows.jsonl", *options, "-o", "m.textreg")
    assert result.code == 0, result.err
    assert "more.txt: 4 documents" in result.out
    assert "links of cooccurrence" in result.out
    predicted = cli("train", "rows.jsonl", *options, "--json", "-o", "m.textreg")
    document = json.loads(predicted.out)
    assert document["graph"]["name"] == "cooccurrence"
    assert document["features"] == 10
    classes = ("--reg", "network", "--graph", "classes", "--groups", "sentences", "--cv", 2)
    mixed = cli("train", "rows.jsonl", *classes, "--ngrams", 1, "--json")
    assert json.loads(mixed.out)["graph"]["classes"] > 1
    wrong = cli("train", "rows.jsonl", "--reg", "lasso", "--unlabeled", "more.txt")
    assert wrong.code == 2
    assert "do not go with the regularizer lasso" in wrong.err


def test_every_builder_says_what_it_needs() -> None:
    for name in registry.names("graph"):
        part = registry.find("graph", name)
        assert issubclass(part, GraphBuilder)
        assert part.__doc__
        for declared in part.declared().values():
            assert declared.help


def pairs_of_words(texts: list[str]) -> Tokens:
    return Vectorizer(ngrams=2).fit(registry.create("tokenizer", "words"), texts).tokens


def test_opposites(tmp_path: Path) -> None:
    """A word and its negated pair are opposites, and so are words of the file."""
    features = pairs_of_words(["It is great. It is not great, it is bad.", "It was never bad."])
    graph = registry.create("graph", "opposites").build(features)
    names = list(features.vocabulary)
    assert graph.similar.nnz == 0
    assert graph.dissimilar is not None
    pairs = links_of(graph, names, "dissimilar")
    either = {("great", "not great"), ("bad", "never bad")}
    assert pairs == either | {(b, a) for a, b in either}
    file = tmp_path / "antonyms.tsv"
    file.write_text("great\tbad\t2.5\n")
    more = registry.create("graph", "opposites", antonyms=str(file), negations="not").build(
        features
    )
    assert more.dissimilar is not None
    pairs = links_of(more, names, "dissimilar")
    assert {("great", "bad"), ("not great", "great")} < pairs
    assert ("bad", "never bad") not in pairs
    great, bad, negated = (names.index(name) for name in ("great", "bad", "not great"))
    assert more.dissimilar[great, bad] == more.dissimilar[bad, great] == 2.5
    assert more.dissimilar[great, negated] == 1.0
    spaced = registry.create("graph", "opposites", negations="no, never").build(features)
    assert links_of(spaced, names, "dissimilar") == {("bad", "never bad"), ("never bad", "bad")}
    with pytest.raises(DataError, match="no feature is a word after one of not,no,never"):
        registry.create("graph", "opposites").build(pairs_of_words(["It is great."]))
