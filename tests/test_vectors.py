"""Word vectors as a prior on weights of words, folded into these (textreg.training.priors)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import textreg
from textreg.errors import BrokenPluginError, DataError, DataWarning, UsageError
from textreg.explain import find_selection
from textreg.features.encoder import Encoder
from textreg.features.vectorize import Vectorizer
from textreg.kinds import WordVectors
from textreg.plugins import calls
from textreg.records import Floats, Problem
from textreg.training import priors
from textreg.training.priors import Vectors

# Words of two kinds, of which the training texts have a half.
KINDS = {"p": [f"up{i}" for i in range(20)], "n": [f"down{i}" for i in range(20)]}
OTHERS = [f"word{i}" for i in range(40)]


class Table(WordVectors):
    """Vectors that tell the kinds apart, and some noise."""

    name = "kinds"

    def rows(self, wanted: Callable[[int, str], bool]) -> tuple[list[str], Floats]:
        words = [*OTHERS, *KINDS["p"], *KINDS["n"]]
        table = np.random.default_rng(0).normal(0.0, 0.3, (len(words), 6))
        table[len(OTHERS) :, 0] += np.repeat([2.0, -2.0], 20)
        kept = [at for at, word in enumerate(words) if wanted(at, word)]
        return [words[at] for at in kept], table[kept]


class Strange(Table):
    """Of another language."""

    name = "strange"

    def rows(self, wanted: Callable[[int, str], bool]) -> tuple[list[str], Floats]:
        words, table = super().rows(wanted)
        return [f"étrange{i}" for i in range(len(words))], table


class Nearly(Strange):
    """Of another language, that has a word in common."""

    name = "nearly"

    def rows(self, wanted: Callable[[int, str], bool]) -> tuple[list[str], Floats]:
        words, table = super().rows(wanted)
        return [*words[:-1], "up0"], table


class Broken(Table):
    """With a value that is not finite."""

    name = "broken"

    def rows(self, wanted: Callable[[int, str], bool]) -> tuple[list[str], Floats]:
        words, table = super().rows(wanted)
        return words, table * np.inf


@pytest.fixture(autouse=True)
def tables() -> None:
    for table in (Table, Strange, Nearly, Broken):
        textreg.register(table)


def corpus(n: int = 60, words: slice = slice(0, 10), seed: int = 0) -> tuple[list[str], list[str]]:
    """Texts with two words of the kind of their label, and others."""
    rng = np.random.default_rng(seed)
    labels = ["p" if it else "n" for it in rng.permutation(np.arange(n) % 2)]
    texts = [
        " ".join([*rng.choice(KINDS[label][words], 2), *rng.choice(OTHERS, 6)]) for label in labels
    ]
    return texts, labels


WORDS: dict[str, Any] = {"tokenizer": "words", "ngrams": 1, "prune": 0.0, "jobs": 1}


def trained(**options: Any) -> textreg.Model:
    return textreg.train(*corpus(), **{**WORDS, "vectors": "kinds", **options})


def test_words_of_no_training_text_get_weights() -> None:
    model = trained()
    assert model.summary is not None
    vectors = model.summary.vectors
    assert vectors is not None
    assert (vectors.name, vectors.inferred, vectors.known) == ("kinds", 20, 1.0)
    assert vectors.scale in Vectors.strengths[1:]
    assert "vectors kinds" in [f"{part.kind} {part.name}" for part in model.summary.plugins]
    unseen = corpus(200, slice(10, 20), 1)
    right = np.mean(np.array(model.predict(unseen[0])) == unseen[1])
    plain = textreg.train(*corpus(), **WORDS)
    assert right > 0.95 > 0.7 > np.mean(np.array(plain.predict(unseen[0])) == unseen[1])
    names = np.array(list(model.encoder.names))
    assert set(names[model.inferred]) == {*KINDS["p"][10:], *KINDS["n"][10:]}
    words = model.explain("up1 up15 down3").words
    assert [(word.feature, word.inferred) for word in words] == [
        *(("up1", False), ("up15", True), ("down3", False))
    ]


class Turned(Table):
    """With its rows from the last to the first."""

    name = "turned"

    def rows(self, wanted: Callable[[int, str], bool]) -> tuple[list[str], Floats]:
        words, table = super().rows(wanted)
        return words[::-1], table[::-1]


def test_words_of_a_table_may_have_any_order() -> None:
    textreg.register(Turned)
    unseen, labels = corpus(200, slice(10, 20), 1)
    for name in ("kinds", "turned"):
        model = trained(vectors=name)
        assert list(model.encoder.names) == sorted(model.encoder.names)
        assert np.mean(np.array(model.predict(unseen)) == labels) > 0.95


def test_features_of_other_tokenizers_stay(tmp_path: Path) -> None:
    model = trained(tokenizer="words,chars")
    assert [part.tokenizer.name for part in model.encoder.parts] == ["words", "chars"]
    assert model.summary.vectors.inferred > 0
    unseen = corpus(50, slice(10, 20), 1)[0]
    model.save(tmp_path / "m")
    scores = textreg.load(tmp_path / "m").decision_function(unseen)
    np.testing.assert_allclose(scores, model.decision_function(unseen), rtol=1e-5, atol=1e-6)


def test_the_scores_are_those_of_the_block() -> None:
    """Another way to them: the columns of [X, s T E] beside each other, by a fit of their own."""
    texts, labels = corpus()
    model = trained(reg="ridge", reg_l2=0.3, tol=1e-12)
    assert model.summary is not None
    assert model.summary.vectors is not None
    scale = model.summary.vectors.scale
    assert scale > 0.0
    plain = textreg.train(texts, labels, reg="ridge", reg_l2=0.3, weighting="unit-idf", **WORDS)
    X = plain.encoder.transform(texts).toarray()
    rows, table = Table().rows(lambda *_: True)
    share = 1.0 / np.arange(1, len(rows) + 1)
    share /= share.sum()
    table = table - share @ table
    table /= np.sqrt(share @ (table**2).sum(axis=1))
    columns = [rows.index(name) for name in plain.encoder.names]
    block = scale * X @ table[columns]
    y = np.where(np.array(labels) == "p", 1.0, -1.0)
    fitted = textreg.regularizer("ridge", l2=0.3).solve(
        Problem(np.hstack([X, block]), y, tol=1e-12)
    )
    expected = np.hstack([X, block]) @ fitted.w
    scores = model.decision_function(texts) - model.intercepts[0]
    np.testing.assert_allclose(scores, expected, atol=1e-5)
    # A word of no text: its idf is that of no document.
    new = model.decision_function(["up15"]) - model.intercepts[0]
    inferred = scale * (1.0 + np.log(61.0)) * table[rows.index("up15")] @ fitted.w[X.shape[1] :]
    assert new == pytest.approx(inferred, rel=0.01)  # rounded to a 127th of the largest


def test_the_file_and_jobs_change_nothing(tmp_path: Path) -> None:
    model, again = (trained(cv=3, jobs=jobs) for jobs in (1, 2))
    model.save(tmp_path / "m")
    loaded = textreg.load(tmp_path / "m")
    texts = corpus(20, slice(0, 20), 3)[0]
    for other in (again, loaded):
        assert (other.decision_function(texts) == model.decision_function(texts)).all()
        assert (other.inferred == model.inferred).all()
        assert other.summary == model.summary


@pytest.mark.sampled(1)
@pytest.mark.parametrize("reg", ["elastic", "auto", "ridge"])
def test_every_regularizer_with_a_ridge_has_room(reg: str) -> None:
    model = trained(reg=reg, cv=2, **({"reg_l1": 0.3, "reg_l2": 0.1} if reg == "elastic" else {}))
    assert model.predict(["up15 up16", "down15 down16"]) == ["p", "n"]
    assert model.summary is not None
    assert model.summary.reg.params.get("weights") == "none"


def test_more_labels_and_several_a_document() -> None:
    texts, labels = corpus(90)
    three = [label if at % 3 else "other" for at, label in enumerate(labels)]
    quick = {**WORDS, "cv": 2, "vectors": "kinds"}
    model = textreg.train(texts, three, **quick)
    assert len(model.intercepts) == 3
    several = textreg.train(texts, [[label] for label in labels], **quick)
    assert several.predict(["up15 up16 up17"]) == [["p"]]
    numbers = textreg.train(
        texts, [1.0 if label == "p" else -1.0 for label in labels],
        **{**quick, "task": "regression", "loss": "squared"}, reg="ridge",
    )  # fmt: skip
    low, high = numbers.predict(["down15 down16", "up15 up16"])
    assert low < 0.0 < high


def test_beside_a_label_of_the_unknown() -> None:
    texts, labels = corpus(60)
    rng = np.random.default_rng(1)
    outside = [" ".join(rng.choice(OTHERS, 6)) for _ in range(10)]
    model = textreg.train(
        [*texts, *outside], [*labels, *["none"] * 10], **WORDS, vectors="kinds", unknown="none"
    )
    assert model.summary is not None
    assert model.summary.vectors is not None
    assert model.summary.vectors.scale > 0.0
    assert model.predict(["up15 up16", "down15 down16"]) == ["p", "n"]


def test_documents_that_are_never_fitted_keep_their_words() -> None:
    """Of many more documents to choose by than to fit every word was taken for an unknown one."""
    dev = corpus(600, seed=7)
    model = trained(dev=dev, refit=False)
    assert model.summary is not None
    assert model.summary.dev is not None
    right = float(np.mean(np.array(model.predict(dev[0])) == dev[1]))
    assert model.summary.dev.metrics["accuracy"] == pytest.approx(right, abs=0.01)
    assert right > 0.95


def test_unlabeled_texts_say_which_words_are_alike() -> None:
    texts, labels = corpus()
    more = [*corpus(600, slice(0, 20), 5)[0]]
    model = textreg.train(texts, labels, **WORDS, unlabeled=more)
    assert model.summary is not None
    vectors = model.summary.vectors
    assert vectors is not None
    assert (vectors.name, vectors.inferred) == ("unlabeled", 20)
    unseen = corpus(200, slice(10, 20), 1)
    assert np.mean(np.array(model.predict(unseen[0])) == unseen[1]) > 0.85
    new = corpus(20, seed=2)
    assert textreg.update(model, *new).summary  # they are in the weights already
    with pytest.raises(UsageError, match=r"unlabeled .* give them again \(--unlabeled FILE\)"):
        textreg.update(model, *new, old=(texts, labels))
    newer = textreg.update(model, *new, old=(texts, labels), unlabeled=more)
    assert newer.summary is not None
    assert newer.summary.vectors is not None


def test_an_update_with_the_old_documents_leans_on_them_too() -> None:
    model, new = trained(reg="ridge", reg_l2=0.1), corpus(20, seed=2)
    newer = textreg.update(model, *new, old=corpus())
    both = [[*old, *more] for old, more in zip(corpus(), new, strict=True)]
    again = textreg.train(*both, **WORDS, vectors="kinds", reg="ridge", reg_l2=0.1)
    assert newer.summary is not None
    assert again.summary is not None
    assert newer.summary.vectors == again.summary.vectors
    assert newer.inferred.tolist() == again.inferred.tolist()
    assert find_selection(again, (both[0], both[1])).missing == 0
    unseen = corpus(50, slice(10, 20), 1)[0]
    scores = again.decision_function(unseen)
    np.testing.assert_allclose(newer.decision_function(unseen), scores, atol=0.01)


def test_a_shadow_of_the_table_does_no_harm() -> None:
    """Its rows permuted among the words: what is left is no knowledge."""

    class Shadow(Table):
        name = "shadow"

        def rows(self, wanted: Callable[[int, str], bool]) -> tuple[list[str], Floats]:
            words, table = super().rows(wanted)
            return words, np.random.default_rng(1).permutation(table)

    textreg.register(Shadow)
    model = textreg.train(*corpus(400), **WORDS, vectors="shadow")
    plain = textreg.train(*corpus(400), **WORDS)
    unseen = corpus(200, slice(0, 10), 1)
    right = [np.mean(np.array(it.predict(unseen[0])) == unseen[1]) for it in (model, plain)]
    assert right[0] >= right[1] - 0.01


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"reg": "sentence"}, "vectors do not go with the regularizer sentence"),
        ({"reg": "lasso"}, "vectors do not go with the regularizer lasso"),
        ({"reg_weights": "documents", "reg": "ridge"}, "do not go with weights of penalties"),
        ({"weighting": "tfidf"}, "do not go with the weighting tfidf"),
        ({"memory": "1GB"}, "do not go with memory"),
        ({"path": True, "reg": "elastic"}, "do not go with path"),
        ({"max_nonzero": 5}, "do not go with max_nonzero"),
        ({"tokenizer": "chars"}, "word vectors need a tokenizer that gives words"),
        ({"unlabeled": ["more"]}, "give vectors or unlabeled"),
        ({"vectors": "nowhere.txt"}, "nowhere.txt cannot be read: No such file"),
    ],
)
def test_what_they_do_not_go_with(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        trained(**options)


def test_tables_that_do_not_fit() -> None:
    with pytest.raises(DataError, match="strange: it has a vector for none of the words"):
        trained(vectors="strange")
    with pytest.warns(DataWarning, match="nearly: 2% of the words of the training texts are known"):
        trained(vectors="nearly")
    with pytest.raises(textreg.TextregError, match="words, and a finite vector of each"):
        trained(vectors="broken")
    with pytest.raises(DataError, match="fewer than two words in 5 documents"):
        textreg.train(["a b", "c d"] * 2, ["p", "n"] * 2, unlabeled=["e f"], **WORDS)


@pytest.mark.parametrize(
    "found",
    [None, ["up0"], (None, np.ones((1, 2))), (["up0"], None), (["up0"], [["a"]]), ([1], [[0.5]])],
)
def test_a_table_that_gives_anything_else_is_blamed(found: Any) -> None:
    class Odd(Table):
        """Of no rows at all."""

        name = "odd"

        def rows(self, wanted: Callable[[int, str], bool]) -> Any:
            return found

    with pytest.raises(BrokenPluginError, match=r"vectors .*Odd .* rows"):
        calls.rows_of_vectors(Odd(), lambda *_: True)


def test_vectors_of_frequent_words_have_the_length_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(priors, "MOST", 2)
    # Of the first two, which count 2/3 and 1/3, the mean is 2 and the mean square then 2.
    table = priors._standardized(np.array([[3.0], [0.0], [6.0]]))
    np.testing.assert_allclose(table, np.array([[1.0], [-2.0], [4.0]]) / np.sqrt(2.0), rtol=1e-14)
    assert priors._standardized(np.array([[3.0, 1.0], [3.0, 1.0]])).tolist() == [[0, 0], [0, 0]]


def test_which_rows_of_a_table_are_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(priors, "MOST", 3)
    (part,) = Vectorizer(ngrams=1).fit(textreg.tokenizer("words"), ["a"]).encoder.parts

    def place(known: list[str]) -> dict[str, int]:
        numbers = dict(zip(known, range(len(known)), strict=True))
        found, table = priors._of_table("kinds", part, numbers)
        assert len(table) == max(found.values()) + 1
        return found

    three = {"word0": 0, "word1": 1, "word2": 2}
    assert place(["word2", "up3", "down0"]) == {**three, "up3": 3, "down0": 4}
    # One of five known words is a fifth, which is enough.
    assert place(["word1", "x", "y", "z", "v"]) == three
    with pytest.warns(DataWarning) as told:
        place(["word1", "x", "y", "z", "v", "w"])
    assert [str(one.message) for one in told] == [
        "kinds: 17% of the words of the training texts are known. Give vectors of their language, "
        "if these are not."
    ]


def test_weights_of_words_are_those_of_the_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """The most frequent new words get weights of 127 steps, the others none."""
    monkeypatch.setattr(priors, "WEIGHTS", 4)
    fitted = Vectorizer(ngrams=1).fit(textreg.tokenizer("words"), ["b d", "d f"]).encoder
    (part,) = fitted.parts
    words = ["a", "b", "c", "g"]
    idf = np.array([5.0, 6.0, 7.0, 8.0])
    vectors = Vectors(
        Encoder(part.tokenizer, part.vectorizer, words, idf),
        columns=np.array([-1, 0, -1, -1]),
        ranks=np.array([5, 0, 2, 9]),
        table=np.array([[1.0, 0.0], [2.0, 1.0], [0.0, 3.0], [1.0, 1.0]]),
        known=1.0,
        block=np.array([[1.0, 2.0]]),
    )
    w = np.array([[10.0, 20.0, 30.0, 1.0, 0.5], [0.0, 1.0, 0.0, 0.0, -0.25]])
    encoder, weights, count = vectors.fold_in(fitted, w, 2.0)
    assert count == 2
    assert list(encoder.names) == ["a", "b", "c", "d", "f"]
    assert encoder.parts[0].idf is not None
    assert part.idf is not None
    assert encoder.parts[0].idf.tolist() == [5.0, part.idf[0], 7.0, *part.idf[1:]]
    # 2 table w of a, b and c: 2, 5, 3 and 0, -.5, -1.5; of a in steps of 3/127
    expected = [[85 * 3 / 127, 15.0, 3.0, 20.0, 30.0], [0.0, -0.5, -1.5, 1.0, 0.0]]
    np.testing.assert_allclose(weights, expected, rtol=1e-14)
    assert w[0, 0] == 10.0
    X = csr_array([[1.0, 0.0, 2.0]])
    assert vectors.applied(X, 0.5).toarray().tolist() == [[1.0, 0.0, 2.0, 0.5, 1.0]]


def test_the_penalty_of_a_lasso_leaves_the_block_alone() -> None:
    some: Any = None
    plain, applied = (
        SimpleNamespace(problem=SimpleNamespace(design=SimpleNamespace(shape=(9, p))))
        for p in (2, 5)
    )
    of: Any = Vectors.regularizer
    net, ridge = textreg.Elastic(l1=0.5, l2=1.0), textreg.Ridge(l2=1.0)
    assert of(some, net, plain, applied) == net.replace(weights=(1.0, 1.0, 0.0, 0.0, 0.0))
    assert of(some, ridge, plain, applied) is ridge
