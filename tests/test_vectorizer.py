"""TextVectorizer, and pipelines of it and others with the linear estimators."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import sklearn
from scipy.sparse import csr_array, issparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import GridSearchCV, cross_val_predict, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

import textreg
from textreg import (
    Group,
    Lasso,
    LinearClassifier,
    LinearRegressor,
    Ridge,
    Sentence,
    TextClassifier,
    TextRegressor,
    TextVectorizer,
)
from textreg.builtin.group_builders import Sentences
from textreg.builtin.network import Network
from textreg.errors import DataError, UsageError
from textreg.estimators.base import TextMatrix
from textreg.training.splits import holdout

GOOD = ["good film. I liked it.", "a fine plot, good acting", "good good good", "fine and moving"]
BAD = ["bad film. I left.", "a dull plot, bad acting", "bad bad. bad", "dull and slow"]
TEXTS = [*GOOD, *BAD] * 3
SIDES = np.array(([1] * 4 + [0] * 4) * 3)
STARS = SIDES * 2.0 + np.arange(24) / 24
WORDS = {"tokenizer": "words", "ngrams": 2, "weighting": "unit-idf"}
SENTENCE = Sentence(group=0.05, l1=0.01, l2=0.01)


# The same as TextClassifier


@pytest.mark.parametrize(
    "options", [WORDS, {"weighting": "tfidf"}, {"min_df": 4, "weighting": "unit-idf"}], ids=str
)
def test_a_text_classifier_is_a_vectorizer_and_a_linear_classifier(options: Any) -> None:
    whole = TextClassifier(SENTENCE, prune=0, **options).fit(TEXTS, SIDES)
    parts = make_pipeline(TextVectorizer(**options), LinearClassifier(SENTENCE)).fit(TEXTS, SIDES)
    expected = whole.decision_function(TEXTS)
    assert parts.decision_function(TEXTS).tobytes() == expected.tobytes()
    names = parts[0].get_feature_names_out()[np.flatnonzero(parts[1].coef_[0])]
    assert names.tolist() == list(whole.model_.encoder.names)


def test_so_is_its_search() -> None:
    whole = TextClassifier("sentence", prune=0, holdout=0.1, **WORDS).fit(TEXTS, SIDES)
    split = holdout(SIDES, ["0", "1"], 0.1, 0)
    parts = make_pipeline(TextVectorizer(**WORDS), LinearClassifier("sentence", cv=[split]))
    parts.fit(TEXTS, SIDES)
    assert parts[1].reg_.params() == whole.model_.summary.reg.params
    assert parts.decision_function(TEXTS).tobytes() == whole.decision_function(TEXTS).tobytes()


def test_so_is_a_regression() -> None:
    whole = TextRegressor(Lasso(l1=0.1), prune=0, **WORDS).fit(TEXTS, STARS)
    parts = make_pipeline(TextVectorizer(**WORDS), LinearRegressor(Lasso(l1=0.1)))
    assert parts.fit(TEXTS, STARS).predict(TEXTS).tobytes() == whole.predict(TEXTS).tobytes()


def test_so_is_a_network_of_words() -> None:
    reg = Network(alpha=0.1, beta=0.1)
    whole = TextClassifier(reg, prune=0, **WORDS).fit(TEXTS, SIDES)
    parts = make_pipeline(TextVectorizer(**WORDS), LinearClassifier(reg)).fit(TEXTS, SIDES)
    assert parts.decision_function(TEXTS).tobytes() == whole.decision_function(TEXTS).tobytes()


@pytest.mark.parametrize("reg", [Lasso(l1=0.1), Group(group=0.5, l1=0.01, l2=0.01)], ids=repr)
def test_so_are_fields(reg: Any) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"title": TEXTS, "body": TEXTS[::-1], "stars": STARS})
    options = {"fields": {"title": "text", "body": {"ngrams": 1}, "stars": "number"}, **WORDS}
    groups = "fields" if reg.needs else None
    whole = TextClassifier(reg, groups=groups, prune=0, **options).fit(frame, SIDES)
    parts = make_pipeline(TextVectorizer(**options), LinearClassifier(reg, groups=groups))
    parts.fit(frame, SIDES)
    assert parts.decision_function(frame).tobytes() == whole.decision_function(frame).tobytes()
    assert {"title:good film", "stars"} <= set(parts[0].get_feature_names_out())


# Which matrix knows its sentences


def test_groups_are_those_of_the_rows() -> None:
    X = TextVectorizer(**WORDS).fit_transform(TEXTS)
    assert isinstance(X, TextMatrix)
    assert issparse(X)
    rows = np.array([5, 0, 3])
    for some in (
        X[rows],
        X[rows.tolist()],
        X[np.isin(np.arange(24), rows)],
        X[2:9:3],
        X[[-1]],
        X[rows, :],
    ):
        assert np.array_equal(some.toarray(), X.toarray()[_rows_of(some, X)])
        # every group is of columns that some row has
        assert set(some.groups().indices) == set(some.indices)
    assert len(X.groups()) == len(X.groups(Sentences())) == 30
    assert X.groups("windows").n_features == X.shape[1]
    assert X.graph("cooccurrence").n_features == X.shape[1]


def _rows_of(some: Any, X: Any) -> list[int]:
    """The first rows of X that equal those of ``some``."""
    whole = X.toarray()
    return [int(np.flatnonzero((whole == row).all(axis=1))[0]) for row in some.toarray()]


@pytest.mark.parametrize(
    "change",
    [
        lambda X: X.copy(),
        lambda X: X * 2.0,
        lambda X: X[:, :5],
        lambda X: X[[0, 1], [2, 3]],
        lambda X: X[X.toarray() > 0.0],
        lambda X: X.T,
        lambda X: X.tocsc().tocsr(),
        lambda X: csr_array(X),
        lambda X: X + X,
        lambda X: SelectKBest(k=3).fit_transform(X, SIDES),
    ],
)
def test_a_changed_matrix_knows_none(change: Any) -> None:
    changed = change(TextVectorizer(**WORDS).fit_transform(TEXTS))
    assert getattr(changed, "tokens", None) is None
    if isinstance(changed, TextMatrix):
        with pytest.raises(UsageError, match="does not know its texts"):
            changed.groups()
        with pytest.raises(UsageError, match="does not know its texts"):
            changed.graph()


def test_a_step_between_is_told() -> None:
    steps = make_pipeline(TextVectorizer(**WORDS), MaxAbsScaler(), LinearClassifier(SENTENCE))
    with pytest.raises(UsageError, match=r"takes its groups from texts .sentences.* with no step"):
        steps.fit(TEXTS, SIDES)
    X = TextVectorizer(**WORDS).fit(TEXTS).transform(TEXTS)
    with pytest.raises(UsageError, match="takes its groups from texts"):
        LinearClassifier(SENTENCE).fit(X, SIDES)


def test_a_matrix_that_was_cut_in_place_is_refused() -> None:
    X = TextVectorizer(**WORDS).fit_transform(TEXTS)
    X.resize(24, 4)
    with pytest.raises(UsageError, match=r"X has the shape \(24, 4\), .* it was changed after"):
        LinearClassifier(SENTENCE).fit(X, SIDES)


def test_rows_chosen_by_scikit_learn_keep_their_sentences() -> None:
    X = TextVectorizer(**WORDS).fit_transform(TEXTS)
    train, test, y, _ = train_test_split(X, SIDES, random_state=0, stratify=SIDES)
    fitted = LinearClassifier(SENTENCE).fit(train, y)
    by_hand = LinearClassifier(SENTENCE, groups=train.groups()).fit(csr_array(train), y)
    assert np.array_equal(fitted.coef_, by_hand.coef_)
    all_groups = LinearClassifier(SENTENCE, groups=X.groups()).fit(train, y)
    assert not np.array_equal(fitted.coef_, all_groups.coef_)
    assert fitted.predict(test).shape == (6,)


def test_a_grid_search_builds_groups_of_its_own_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    build = Sentences.build

    def counted(self: Sentences, tokens: Any) -> Any:
        groups = build(self, tokens)
        seen.append((tokens.n_documents, groups.n_features, len(tokens.vocabulary)))
        return groups

    monkeypatch.setattr(Sentences, "build", counted)
    steps = make_pipeline(TextVectorizer(**WORDS), LinearClassifier(SENTENCE))
    search = GridSearchCV(
        steps,
        {"linearclassifier__reg__group": [0.01, 10.0], "textvectorizer__ngrams": [1, 2]},
        cv=3,
    )
    search.fit(TEXTS, SIDES)
    assert [documents for documents, _, _ in seen] == [16] * 12 + [24]
    assert all(columns == features for _, columns, features in seen)
    assert search.best_params_["linearclassifier__reg__group"] == 0.01
    assert search.score(TEXTS, SIDES) == 1.0


def test_columns_have_the_names_of_features() -> None:
    X = TextVectorizer(**WORDS).fit_transform(TEXTS)
    reg = Group(group=0.1, l1=0.1, l2=0.01)
    fitted = LinearClassifier(reg, groups=[["good", "bad"]], path=True, cv=2).fit(X[:], SIDES)
    assert fitted.path_.at(fitted.path_.chosen).keys() >= {"good", "bad"}


# Beside the parts of scikit-learn


def test_other_vectorizers() -> None:
    steps = make_pipeline(TfidfVectorizer(), LinearClassifier("lasso", cv=2))
    assert clone(steps).fit(TEXTS, SIDES).score(TEXTS, SIDES) == 1.0
    steps.set_params(linearclassifier__reg=Lasso(l1=0.1))
    search = GridSearchCV(steps, {"linearclassifier__reg__l1": [0.01, 100.0]}, cv=2)
    search.fit(TEXTS, SIDES)
    assert search.best_params_ == {"linearclassifier__reg__l1": 0.01}
    again = pickle.loads(pickle.dumps(search))
    assert np.array_equal(again.predict_proba(TEXTS), search.predict_proba(TEXTS))
    calibrated = CalibratedClassifierCV(steps, cv=2).fit(TEXTS, SIDES)
    assert calibrated.predict_proba(TEXTS).sum(axis=1) == pytest.approx(1.0)
    assert cross_val_predict(steps, TEXTS, SIDES, cv=2).tolist() == SIDES.tolist()


def test_columns_of_a_data_frame() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"title": TEXTS, "body": TEXTS[::-1], "stars": STARS})
    columns = ColumnTransformer(
        [
            ("title", TextVectorizer(**WORDS), "title"),
            ("body", TextVectorizer(**WORDS), ["body"]),  # one column, as a frame
            ("stars", MaxAbsScaler(), ["stars"]),
        ],
        verbose_feature_names_out=True,
    )
    steps = make_pipeline(columns, LinearClassifier(Lasso(l1=0.1))).fit(frame, SIDES)
    assert steps.score(frame, SIDES) == 1.0
    names = columns.fit(frame).get_feature_names_out()
    assert {"title__good", "body__good film", "stars__stars"} <= set(names)
    fields = list(columns.output_indices_.values())[:3]
    by_field = LinearClassifier("group", groups=fields, cv=2).fit(columns.transform(frame), SIDES)
    assert by_field.coef_.shape == (1, len(names))


def test_one_column_is_taken_for_its_texts() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"text": TEXTS})
    plain = TextClassifier(Ridge(l2=0.1), **WORDS).fit(TEXTS, SIDES)
    for given in (frame, np.array(TEXTS)[:, None], frame["text"]):
        assert plain.predict_proba(given).tobytes() == plain.predict_proba(TEXTS).tobytes()
    whole = clone(plain).fit(frame, pd.Series(SIDES))
    assert whole.predict_proba(frame).tobytes() == plain.predict_proba(TEXTS).tobytes()
    with pytest.raises(UsageError, match="not a table with the columns text, more"):
        plain.predict(frame.assign(more=1))
    frame.loc[3, "text"] = None
    with pytest.raises(DataError, match=r"X\[3\] is .*not a text"):
        plain.predict(frame)


def test_other_data_frames_of_one_column() -> None:
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    plain = TextVectorizer(**WORDS).fit(TEXTS)
    expected = plain.transform(TEXTS).toarray()
    for given in (pl.DataFrame({"text": TEXTS}), pa.table({"text": TEXTS}), pl.Series(TEXTS)):
        assert np.array_equal(plain.transform(given).toarray(), expected)


@pytest.mark.parametrize("container", ["pandas", "polars"])
def test_output_in_a_data_frame(container: str) -> None:
    pytest.importorskip(container)
    plain = TextVectorizer(**WORDS).set_output(transform="default")
    assert isinstance(plain.fit_transform(TEXTS), TextMatrix)
    with pytest.raises(ValueError, match=r"outputs a scipy sparse|does not support sparse"):
        plain.set_output(transform=container).fit_transform(TEXTS)
    # as of any matrix, where the answers are not sparse
    steps = make_pipeline(TextVectorizer(**WORDS), LinearClassifier(Ridge(l2=0.1)))
    assert steps.fit(TEXTS, SIDES).predict(TEXTS).tolist() == SIDES.tolist()


def test_weights_by_metadata_routing() -> None:
    weights = np.where(SIDES == 1, 20.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        linear = LinearClassifier(Ridge(l2=0.1)).set_fit_request(sample_weight=True)
        linear.set_score_request(sample_weight=True)
        steps = make_pipeline(TextVectorizer(**WORDS), linear)
        routed = steps.fit(TEXTS, SIDES, sample_weight=weights)
        steps.set_score_request(sample_weight=True)  # asked for before scikit-learn 1.8
        search = GridSearchCV(clone(steps), {"linearclassifier__reg__l2": [0.1]}, cv=2)
        search.fit(TEXTS, SIDES, sample_weight=weights)
    X = routed[0].transform(TEXTS)
    expected = LinearClassifier(Ridge(l2=0.1)).fit(X, SIDES, sample_weight=weights)
    assert np.array_equal(routed[1].coef_, expected.coef_)
    assert np.array_equal(search.best_estimator_[1].coef_, expected.coef_)
    by_step = steps.fit(TEXTS, SIDES, linearclassifier__sample_weight=weights)
    assert np.array_equal(by_step[1].coef_, expected.coef_)


def test_sixteen_threads_answer_as_one() -> None:
    steps = make_pipeline(TextVectorizer(), LinearClassifier(SENTENCE)).fit(TEXTS, SIDES)
    batches = [TEXTS[at : at + 3] for at in range(20)] * 4
    alone = [steps.predict_proba(texts) for texts in batches]
    fresh = pickle.loads(pickle.dumps(steps))  # without what is made on first use
    with ThreadPoolExecutor(16) as pool:
        together = list(pool.map(fresh.predict_proba, batches))
    assert all(np.array_equal(a, b) for a, b in zip(alone, together, strict=True))


# An estimator


def test_tokens_in_place_of_texts() -> None:
    lists = [text.split() for text in TEXTS]
    X = TextVectorizer(ngrams=1).fit_transform(lists)
    assert len(X.groups()) == 24
    with pytest.raises(UsageError, match="nothing to tokenize"):
        TextVectorizer(tokenizer="words").fit(lists)


def test_parameters_are_checked() -> None:
    for params, message in (
        ({"ngrams": 0}, "ngrams must be at least 1"),
        ({"weighting": "tf"}, "weighting must be one of"),
        ({"min_df": 100}, "no feature is left"),
    ):
        with pytest.raises(ValueError, match=message):
            TextVectorizer(**params).fit(TEXTS)
    longer = TextVectorizer(tokenizer="words").set_params(tokenizer__min_length=3)
    assert "a fine" not in longer.fit(TEXTS).get_feature_names_out()
    with pytest.raises(NotFittedError):
        TextVectorizer().transform(TEXTS)


def test_a_classifier_saves_its_model(tmp_path: Any) -> None:
    with pytest.raises(NotFittedError):
        TextClassifier().save(tmp_path / "none.textreg")
    for estimator, y in (
        (TextClassifier(Ridge(l2=0.1), **WORDS), SIDES),
        (TextRegressor(Ridge(l2=0.1), **WORDS), STARS),
    ):
        fitted = estimator.fit(TEXTS, y)
        fitted.save(tmp_path / "one.textreg")
        model = textreg.load(tmp_path / "one.textreg")
        assert [type(y.tolist()[0])(it) for it in model.predict(TEXTS)] == (
            fitted.predict(TEXTS).tolist()
        )
