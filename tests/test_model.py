"""Model: scores by hand and by scikit-learn, the same to the last bit in any company."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

import textreg
from textreg.errors import RecordError, UsageError
from textreg.features.encoder import Encoder
from textreg.features.vectorize import Vectorizer
from textreg.kinds import Tokenizer
from textreg.model.model import LARGEST, Model
from textreg.model.storage import load_model
from textreg.plugins import registry
from textreg.tasks import classification

TEXTS = ["good good film", "bad film", "fine good plot", "bad bad plot", "fine fine film", "good"]


class Blank(Tokenizer):
    """Tokens between blanks."""

    name = "test-blank"

    def __call__(self, text: str) -> list[list[str]]:
        return [text.split()]


def encoder(*names: str) -> Encoder:
    return Encoder(Blank(), Vectorizer(weighting="count"), sorted(names))


def binary() -> Model:
    return Model(
        classification(("neg", "pos")),
        encoder("bad", "film", "good"),
        np.array([[-2.0, 0.0, 1.5]]),
        np.array([0.25]),
    )


def several() -> Model:
    weights = np.array([[1.0, 0.0, -1.0], [0.0, 0.0, 2.0], [-0.5, 0.0, 0.5]])
    return Model(
        classification(("a", "b", "c")),
        encoder("bad", "film", "good"),
        weights,
        np.array([0.0, 0.1, 0.2]),
    )


def test_scores_and_labels_by_hand() -> None:
    model = binary()
    scores = model.decision_function(["good good film", "bad good", "", "film unknown"])
    assert scores.tolist() == [3.25, -0.25, 0.25, 0.25]
    assert model.predict(["good", "bad", ""]) == ["pos", "neg", "pos"]


def test_several_labels_by_hand() -> None:
    model = several()
    scores = model.decision_function(["bad bad", "good", ""])
    assert scores == pytest.approx(np.array([[2, 0.1, -0.8], [-1, 2.1, 0.7], [0, 0.1, 0.2]]))
    assert model.predict(["bad bad", "good", ""]) == ["a", "b", "c"]


def test_ties_go_to_the_first_label() -> None:
    two = Model(classification(("x", "y")), encoder("w"), np.array([[1.0]]), np.zeros(1))
    three = Model(classification(("x", "y", "z")), encoder("w"), np.ones((3, 1)), np.zeros(3))
    assert two.predict([""]) == three.predict(["w"]) == ["x"]


def test_only_features_with_a_weight_are_kept() -> None:
    model = several()
    assert list(model.encoder.names) == ["bad", "good"]
    assert model.n_features == 2
    assert model.weights.tolist() == [[1.0, -1.0], [0.0, 2.0], [-0.5, 0.5]]


def test_a_model_without_features_gives_its_intercept() -> None:
    model = Model(classification(("x", "y")), encoder("w"), np.zeros((1, 1)), np.array([-1.0]))
    assert model.n_features == 0
    assert model.decision_function(["w w", ""]).tolist() == [-1.0, -1.0]
    assert model.top_features() == {"x": [], "y": []}


def test_no_texts() -> None:
    assert binary().predict([]) == []
    assert binary().predict_proba([]).shape == (0, 2)
    assert several().predict([]) == []
    assert several().decision_function([]).shape == (0, 3)


@given(
    texts=st.lists(st.lists(st.integers(0, 49), max_size=30), min_size=1, max_size=12),
    cut=st.integers(0, 12),
    rows=st.sampled_from([1, 4]),
)
def test_scores_do_not_depend_on_the_batch(texts: list[list[int]], cut: int, rows: int) -> None:
    # Weights of very different sizes, so that another order of adding would show.
    rng = np.random.default_rng(7)
    weights = rng.normal(size=(rows, 50)) * 10.0 ** rng.integers(-8, 8, size=50)
    labels = [f"label{i}" for i in range(max(rows, 2))]
    names = encoder(*(f"w{i:02}" for i in range(50)))
    model = Model(classification(labels), names, weights, rng.normal(size=rows))
    lines = [" ".join(f"w{i:02}" for i in text) for text in texts]
    whole = model.decision_function(lines)
    parts = [model.decision_function(lines[:cut]), model.decision_function(lines[cut:])]
    alone = [model.decision_function([line]) for line in lines]
    assert np.concatenate(parts).tobytes() == whole.tobytes()
    assert np.concatenate(alone).tobytes() == whole.tobytes()


@pytest.mark.parametrize("y", [[1, 0, 1, 0, 1, 1], [2, 0, 1, 0, 1, 2]])
def test_probabilities_are_those_of_scikit_learn(y: list[int]) -> None:
    encode = encoder("bad", "film", "fine", "good", "plot")
    X = encode.transform(TEXTS)
    peer = OneVsRestClassifier(LogisticRegression()).fit(X, y)
    labels = [f"label{code}" for code in sorted(set(y))]
    model = Model(
        classification(labels),
        encode,
        np.vstack([each.coef_ for each in peer.estimators_]),
        np.concatenate([each.intercept_ for each in peer.estimators_]),
    )
    texts = [*TEXTS, "", "fine unknown"]
    expected = peer.predict_proba(encode.transform(texts))
    assert model.predict_proba(texts) == pytest.approx(expected, abs=1e-14)
    assert model.predict(texts) == [labels[row.argmax()] for row in expected]


@pytest.mark.parametrize("size", [1.0, 40.0, 800.0, 1e300])
def test_probabilities_stay_numbers(size: float) -> None:
    two = binary().probabilities(np.array([-size, 0.0, size]))
    several_ = several().probabilities(
        np.array([[-size, -2 * size, -3 * size], [size, size, size]])
    )
    for proba in (two, several_):
        assert np.isfinite(proba).all()
        assert proba.sum(axis=1) == pytest.approx(1.0)
    assert two[0, 1] == pytest.approx(np.exp(-size) / (1 + np.exp(-size)), rel=1e-12)
    assert several_[1] == pytest.approx(1 / 3)
    assert several_[0].argmax() == 0


def test_scores_may_be_lists_and_must_be_of_the_model() -> None:
    assert binary().choose([0.5, -0.5]) == binary().choose(np.array([[0.5], [-0.5]]))
    for model, scores in ((binary(), [0.5, -0.5]), (several(), [[0.1, 0.3, 0.2]])):
        given = model.probabilities(scores)
        assert given.tolist() == model.probabilities(np.array(scores)).tolist()
        for method in (model.choose, model.probabilities, model.log_probabilities):
            for wrong in (np.zeros((2, 2)), np.zeros((0, 5)), 1.0, [[]]):
                with pytest.raises(RecordError, match="scores has the shape"):
                    method(wrong)
    with pytest.raises(RecordError, match="scores has the shape"):
        several().choose([0.1, 0.3, 0.2])


def test_top_features_speak_for_their_label() -> None:
    assert binary().top_features() == {"neg": [("bad", 2.0)], "pos": [("good", 1.5)]}
    assert several().top_features(1) == {
        "a": [("bad", 1.0)],
        "b": [("good", 2.0)],
        "c": [("good", 0.5)],
    }
    flat = Model(
        classification(("x", "y")), encoder("c", "b", "a", "d"), np.ones((1, 4)), np.zeros(1)
    )
    assert [name for name, _ in flat.top_features(3)["y"]] == ["a", "b", "c"]
    for wrong in (-1, 1.5, "all"):
        with pytest.raises(RecordError, match="n must"):
            flat.top_features(wrong)  # type: ignore[arg-type]


def test_tfidf_rows_are_normed_over_all_words() -> None:
    features = Vectorizer(weighting="tfidf").fit(Blank(), TEXTS)
    weights = np.zeros((1, len(features.encoder.names)))
    weights[0, list(features.encoder.names).index("good")] = 3.0
    model = Model(classification(("neg", "pos")), features.encoder, weights, np.array([0.5]))
    assert model.n_features == 1
    expected = features.encoder.transform(TEXTS) @ weights[0] + 0.5
    assert model.decision_function(TEXTS) == pytest.approx(expected, rel=1e-12)
    assert 0.5 < model.decision_function(["good film"])[0] < model.decision_function(["good"])[0]


@pytest.mark.parametrize("weighting", ["log", "unit", "unit-idf", "tfidf"])
@pytest.mark.parametrize("labels", [2, 3])
def test_scores_are_the_same_to_the_last_bit(weighting: str, labels: int, tmp_path: Path) -> None:
    """Of the few features with a weight, from a file, and in batches of any size."""
    words = registry.create("tokenizer", "words")
    rng = np.random.default_rng(4)
    numbers = rng.integers(0, 60, (5, 40)).tolist()
    texts = [" ".join(f"w{w}{'.' * (w % 3)}" for w in row) for row in numbers]
    features = Vectorizer(weighting=weighting, ngrams=2).fit(words, texts)
    rows = 1 if labels == 2 else labels
    weights = rng.normal(size=(rows, features.X.shape[1]))
    weights[:, rng.random(features.X.shape[1]) < 0.8] = 0.0
    intercepts = rng.normal(size=rows)
    terms = features.X.toarray()[:, None, :] * weights
    expected = np.squeeze(terms.cumsum(axis=2)[:, :, -1] + intercepts)  # one after the other
    model = Model(classification("abc"[:labels]), features.encoder, weights, intercepts)
    assert model.n_features < 0.3 * features.X.shape[1]
    if weighting != "tfidf":
        assert len(model.encoder.vocabulary) == model.n_features
    model.save(tmp_path / "m")
    for one in (model, load_model(tmp_path / "m")):
        assert np.array_equal(one.decision_function(texts), expected)
        for d, text in enumerate(texts):
            assert np.array_equal(one.decision_function([text])[0], expected[d])


@pytest.mark.parametrize(
    ("labels", "weights", "intercepts", "message"),
    [
        (("a",), np.ones((1, 1)), np.zeros(1), "two or more distinct labels"),
        (("a", "a"), np.ones((1, 1)), np.zeros(1), "two or more distinct labels"),
        (("a", "b"), np.ones((2, 1)), np.zeros(2), r"shape \(1, 1\)"),
        (("a", "b"), np.ones((1, 2)), np.zeros(1), r"shape \(1, 1\)"),
        (("a", "b", "c"), np.ones((3, 1)), np.zeros(1), r"shape \(3,\)"),
        (("a", "b"), np.array([[np.nan]]), np.zeros(1), "finite"),
        (("a", "b"), np.ones((1, 1)), np.array([np.inf]), "finite"),
    ],
)
def test_parts_that_do_not_fit(
    labels: tuple[str, ...], weights: np.ndarray, intercepts: np.ndarray, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        Model(classification(labels), encoder("w"), weights, intercepts)


def test_one_text_is_not_a_list() -> None:
    with pytest.raises(UsageError, match="list of texts"):
        binary().predict("good film")


def test_repr_is_short() -> None:
    assert repr(binary()) == "<Model: labels 'neg', 'pos'; 2 features>"
    many = Model(
        classification([f"l{i}" for i in range(9)]), encoder("w"), np.ones((9, 1)), np.zeros(9)
    )
    assert repr(many) == "<Model: labels 'l0', 'l1', 'l2', 'l3', ...; 1 features>"


PREDICT_ALONE = """
import sys
import textreg

print(textreg.load(sys.argv[1]).predict(["good", "bad"]))
parts = ("textreg.solvers", "textreg.penalties", "textreg.builtin.separable", "sklearn", "scipy")
print([part for part in parts if part in sys.modules])
"""


def test_prediction_needs_no_regularizer(tmp_path: Path) -> None:
    path = tmp_path / "model.textreg"
    words = registry.create("tokenizer", "words")
    encode = Encoder(words, Vectorizer(weighting="log"), ["bad", "good"])
    Model(classification(("neg", "pos")), encode, np.array([[-1.0, 1.0]]), np.zeros(1)).save(path)
    run = subprocess.run(
        [sys.executable, "-c", PREDICT_ALONE, str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stdout.splitlines() == ["['pos', 'neg']", "[]"], run.stderr


@pytest.mark.parametrize("factor", [1.0, 1.0 + 1e-12])
def test_weights_up_to_the_largest_are_taken(factor: float) -> None:
    model = textreg.train(["a b", "a c"] * 4, ["p", "n"] * 4, reg="ridge", reg_l2=1.0)
    weights = np.full_like(model.weights, factor * LARGEST)
    if factor == 1.0:
        Model(model.task, model.encoder, weights, model.intercepts)
    else:
        with pytest.raises(UsageError, match="finite numbers up to"):
            Model(model.task, model.encoder, weights, model.intercepts)
