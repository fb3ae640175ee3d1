"""LinearClassifier and LinearRegressor: scikit-learn estimators of any matrix."""

from __future__ import annotations

import inspect
import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import sklearn
from scipy.sparse import csc_array, csr_array, csr_matrix, diags
from sklearn.base import clone, is_classifier
from sklearn.datasets import make_classification
from sklearn.linear_model import ElasticNet, LogisticRegression
from sklearn.linear_model import Lasso as SklearnLasso
from sklearn.linear_model import Ridge as SklearnRidge
from sklearn.model_selection import GroupKFold, KFold

from textreg import (
    Elastic,
    Graph,
    Group,
    Groups,
    Lasso,
    LinearClassifier,
    LinearRegressor,
    Problem,
    Ridge,
)
from textreg.errors import ConvergenceWarning, DataError, RecordError, UsageError
from textreg.estimators.linear import LinearEstimator
from textreg.kinds import Penalized
from textreg.params import AUTO, LogGrid, param
from textreg.training.settings import declared_settings

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(80, 10)) * (RANDOM.random((80, 10)) < 0.6)
NUMBERS = X[:, 0] - 2.0 * X[:, 1] + 0.3 * RANDOM.normal(size=80) + 1.0
SIDES = (NUMBERS > 1.0).astype(int)
THREE = np.digitize(NUMBERS, [0.0, 2.0])
LABELS = np.column_stack([SIDES, X[:, 2] > 0, X[:, 3] > 0.5]).astype(int)
WEIGHTS = RANDOM.random(80) + 0.5


# The same optimum as other packages

by_l1_ratio = pytest.mark.skipif(
    tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 8),
    reason="l1_ratio says what the penalty is since scikit-learn 1.8",
)


@by_l1_ratio
@pytest.mark.parametrize(
    ("reg", "other"),
    [
        (Ridge(l2=0.5 / 2.0), {"C": 2.0}),
        (Lasso(l1=1.0 / 0.7), {"C": 0.7, "l1_ratio": 1.0, "solver": "saga"}),
        (Elastic(l1=0.5, l2=0.25), {"C": 1.0, "l1_ratio": 0.5, "solver": "saga"}),
    ],
    ids=repr,
)
def test_the_optimum_of_logistic_regression(reg: Any, other: dict[str, Any]) -> None:
    expected = LogisticRegression(**other, tol=1e-9, max_iter=100_000, random_state=0)
    expected.fit(X, SIDES, sample_weight=WEIGHTS)
    fitted = LinearClassifier(reg, tol=1e-11).fit(X, SIDES, sample_weight=WEIGHTS)
    assert fitted.dual_gap_ <= 1e-10
    np.testing.assert_allclose(fitted.coef_, expected.coef_, atol=1e-5)
    np.testing.assert_allclose(fitted.intercept_, expected.intercept_, atol=1e-5)
    np.testing.assert_allclose(fitted.predict_proba(X), expected.predict_proba(X), atol=1e-5)
    np.testing.assert_allclose(fitted.predict_log_proba(X), np.log(fitted.predict_proba(X)))


@by_l1_ratio
def test_the_optimum_of_softmax() -> None:
    expected = LogisticRegression(C=2.0, tol=1e-10, max_iter=10_000).fit(X, THREE)
    fitted = LinearClassifier(Ridge(l2=0.25), multiclass="softmax", tol=1e-11).fit(X, THREE)
    assert fitted.dual_gap_ <= 1e-11
    np.testing.assert_allclose(fitted.coef_, expected.coef_, atol=1e-5)
    np.testing.assert_allclose(fitted.predict_proba(X), expected.predict_proba(X), atol=1e-5)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(
    ("reg", "other"),
    [
        (Ridge(l2=3.0 / 2), SklearnRidge(alpha=3.0)),
        (Lasso(l1=80 * 0.05), SklearnLasso(alpha=0.05)),
        (
            Elastic(l1=80 * 0.1 * 0.3, l2=80 * 0.1 * 0.7 / 2),
            ElasticNet(alpha=0.1, l1_ratio=0.3),
        ),
    ],
    ids=["ridge", "lasso", "elastic"],
)
def test_the_optimum_of_least_squares(reg: Any, other: Any, fit_intercept: bool) -> None:
    other.set_params(tol=1e-12, fit_intercept=fit_intercept)
    expected = other.fit(X, NUMBERS)
    fitted = LinearRegressor(reg, tol=1e-12, fit_intercept=fit_intercept).fit(X, NUMBERS)
    assert fitted.dual_gap_ <= 1e-12
    np.testing.assert_allclose(fitted.coef_, expected.coef_, atol=1e-6)
    assert fitted.intercept_ == pytest.approx(expected.intercept_, abs=1e-6)
    assert (fitted.intercept_ != 0.0) == fit_intercept
    np.testing.assert_allclose(fitted.predict(X), expected.predict(X), atol=1e-6)


@pytest.mark.parametrize("tol", [1e-1, 1e-3, 1e-6])
def test_the_gap_bounds_the_distance_to_the_minimum(tol: float) -> None:
    def objective(w: Any, b: float) -> float:
        margins = np.where(SIDES == 1, 1.0, -1.0) * (X @ w + b)
        return float(np.logaddexp(0.0, -margins).sum() + 0.8 * np.abs(w).sum())

    rough = LinearClassifier(Lasso(l1=0.8), tol=tol).fit(X, SIDES)
    fine = LinearClassifier(Lasso(l1=0.8), tol=1e-12).fit(X, SIDES)
    reached, least = (objective(it.coef_[0], it.intercept_[0]) for it in (rough, fine))
    assert rough.dual_gap_ <= tol
    assert -1e-9 <= reached - least <= rough.dual_gap_ * reached + 1e-9


# Any matrix, any y


@pytest.mark.parametrize("kind", [csr_array, csc_array, csr_matrix, np.asfortranarray, list])
def test_any_kind_of_matrix_is_the_same(kind: Any) -> None:
    given = X.tolist() if kind is list else kind(X)
    plain = LinearClassifier(Lasso(l1=0.5)).fit(X, THREE)
    fitted = LinearClassifier(Lasso(l1=0.5)).fit(given, THREE)
    assert np.array_equal(fitted.coef_, plain.coef_)
    np.testing.assert_allclose(fitted.decision_function(given), plain.decision_function(X))


@pytest.mark.parametrize("y", [SIDES, SIDES == 1, np.array(["no", "yes"])[SIDES], SIDES + 9.0])
def test_classes_of_any_type(y: Any) -> None:
    fitted = LinearClassifier(Ridge(l2=0.1)).fit(X, y)
    assert fitted.classes_.tolist() == np.unique(y).tolist()
    assert fitted.predict(X).dtype == y.dtype
    assert (fitted.predict(X) == y).mean() > 0.85
    assert ((fitted.decision_function(X) > 0) == (fitted.predict(X) == fitted.classes_[1])).all()
    assert fitted.coef_.shape == (1, 10)


def test_columns_of_data_frames_as_y() -> None:
    pd, pl, pa = map(pytest.importorskip, ("pandas", "polars", "pyarrow"))
    truth, words = (SIDES == 1).tolist(), np.array(["no", "yes"])[SIDES].tolist()
    for y, kind in (
        (pd.Series(SIDES, dtype="Int64"), "i"),
        (pd.Series(truth, dtype="boolean"), "b"),
        (pd.Series(words, dtype="category"), "O"),
        (pl.Series(truth), "b"),
        (pl.Series(words), "U"),
        (pa.array(SIDES), "i"),
        (pa.chunked_array([words]), "U"),
    ):
        fitted = LinearClassifier(Ridge(l2=0.1)).fit(X, y)
        assert fitted.classes_.dtype.kind == kind, y
        assert fitted.classes_.tolist() == sorted(set(np.asarray(y).tolist()))
    with pytest.raises(DataError, match=r"y\[0\] is missing"):
        LinearClassifier(Ridge(l2=0.1)).fit(X, pd.Series([None, *SIDES[1:]], dtype="Int64"))


def test_several_labels_are_fitted_one_by_one() -> None:
    fitted = LinearClassifier(Ridge(l2=0.1), tol=1e-9).fit(X, LABELS)
    assert fitted.classes_.tolist() == [0, 1, 2]
    assert fitted.coef_.shape == (3, 10)
    for column in range(3):
        alone = LinearClassifier(Ridge(l2=0.1), tol=1e-9).fit(X, LABELS[:, column])
        np.testing.assert_allclose(fitted.coef_[column], alone.coef_[0], atol=1e-6)
    assert np.array_equal(fitted.predict(X), fitted.decision_function(X) > 0)
    sparse = LinearClassifier(Ridge(l2=0.1), tol=1e-9).fit(X, csr_array(LABELS))
    assert np.array_equal(sparse.coef_, fitted.coef_)
    searched = LinearClassifier("lasso", cv=3).fit(X, LABELS)
    assert "log-loss" in searched.cv_results_
    assert searched.score(X, LABELS) > 0.5


def test_names_of_the_columns() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=[f"column {j}" for j in range(10)])
    grouped = LinearClassifier(
        Group(group=0.5, l1=0, l2=0.1), groups=[["column 0", "column 1"], ["column 4"]]
    ).fit(frame, pd.Series(SIDES))
    by_number = clone(grouped).set_params(groups=[[1, 0, 0], [4]]).fit(X, SIDES)
    assert grouped.feature_names_in_[1] == "column 1"
    assert np.array_equal(grouped.coef_, by_number.coef_)
    with pytest.raises(UsageError, match=r"names the column 'colum 4'.* Did you mean 'column 4'"):
        clone(grouped).set_params(groups=[["colum 4"]]).fit(frame, SIDES)
    with pytest.raises(UsageError, match="X has no names: fit on a data frame"):
        clone(grouped).fit(X, SIDES)


# Groups and graphs


def test_groups_in_every_form_are_the_same() -> None:
    matrix = np.zeros((3, 10))
    matrix[0, :2] = matrix[1, 1:5] = matrix[2, 5:] = 1.0
    record = Groups([0, 2, 6, 11], [0, 1, 1, 2, 3, 4, *range(5, 10)], np.ones(3), 10)
    lists = [[0, 1], [1, 2, 3, 4], slice(5, 10)]
    reg = Group(group=1.0, l1=0.1, l2=0.1)
    fits = [
        LinearClassifier(reg, groups=groups).fit(X, SIDES)
        for groups in (record, lists, matrix, csr_array(matrix), matrix.astype(bool))
    ]
    assert fits[0].coef_.any()
    for fit in fits[1:]:
        assert np.array_equal(fit.coef_, fits[0].coef_)


def test_groups_of_one_column_are_the_lasso() -> None:
    groups = LinearRegressor(Group(group=2.0, l1=0, l2=0), groups=np.eye(10), tol=1e-10)
    lasso = LinearRegressor(Lasso(l1=2.0), tol=1e-10)
    np.testing.assert_allclose(groups.fit(X, NUMBERS).coef_, lasso.fit(X, NUMBERS).coef_, atol=1e-6)


def test_a_group_leaves_as_a_whole() -> None:
    groups = [range(2), range(2, 10)]
    reg = Group(group=16.0, l1=0, l2=0)
    fitted = LinearClassifier(reg, groups=groups, tol=1e-7).fit(X, SIDES)
    assert fitted.coef_[0, :2].all()
    assert not fitted.coef_[0, 2:].any()


def test_linked_columns_have_similar_weights() -> None:
    links = np.zeros((10, 10))
    links[0, 5] = links[5, 0] = 1.0
    for graph in (links, csr_array(links), Graph(links)):
        fitted = LinearClassifier("laplacian", graph=graph).set_params(
            reg__alpha=1e4, reg__beta=0.1
        )
        weights = fitted.fit(X, SIDES).coef_[0]
        assert weights[0] == pytest.approx(weights[5], rel=1e-2)
        assert abs(weights[0] - weights[1]) > 0.1


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"reg": "group"}, "group needs groups of the columns: give lists of columns"),
        ({"reg": "laplacian"}, "takes its graph from texts .cooccurrence"),
        ({"reg": "sentence"}, "takes its groups from texts .sentences.*TextVectorizer"),
        ({"reg": "group", "groups": "windows"}, "takes its groups from texts .windows"),
        ({"reg": "network", "graph": "cooccurrence"}, "takes its graph from texts"),
        ({"reg": "lasso", "groups": [[0]]}, "lasso makes no use of groups: leave out groups"),
        (
            {"reg": "group", "groups": [[0, 10]]},
            r"groups\[0\] has the column 10: name col.* 9",
        ),
        ({"reg": "group", "groups": [[0], 3]}, r"groups\[1\] is 3, .*write \[3\]"),
        ({"reg": "group", "groups": [[0.5]]}, r"groups\[0\] must hold the numbers or names"),
        ({"reg": "group", "groups": 7}, "groups must be Groups, lists of columns, or a matrix"),
        ({"reg": "group", "groups": np.eye(10, 3)}, "shape .10, 3.* needs a column .* transpose"),
        ({"reg": "group", "groups": np.full((2, 10), 0.5)}, "other values than 0 and 1"),
        ({"reg": "laplacian", "graph": np.zeros((3, 3))}, "graph is over 3 columns, and X has 10"),
        ({"reg": "laso"}, "no regularizer 'laso'.*lasso"),
        ({"reg": "lasso", "fit_intercept": 1}, "fit_intercept must be True or False, not 1"),
        ({"reg": "lasso", "metric": "r3"}, "metric must be one of"),
        ({"reg": Lasso(l1=1.0), "select": "1se"}, "all parameters of lasso are given"),
        ({"reg": "none", "path": True}, "none has no path"),
        ({"reg": "lasso", "jobs": 0}, "jobs must be 1 or more"),
        ({"reg": "lasso", "jobs": 10**9}, "jobs must be 1 or more, up to 1024, .*, not 1000000000"),
        ({"reg": "lasso", "tol": 0}, "tol must lie between 0 and 1"),
        ({"reg": "lasso", "class_weight": {7: 2.0}}, "class_weight names the label '7'"),
        ({"reg": "lasso", "loss": "hinge", "metric": "log-loss"}, "gives no probabilities"),
    ],
)
def test_what_cannot_be_fitted(params: dict[str, Any], message: str) -> None:
    with (
        pytest.raises(ValueError, match=f"(?s){message}")
        if params["reg"] != "laso"
        else (pytest.raises(Exception, match=message))
    ):
        LinearClassifier(**params).fit(X, SIDES)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["a"] * 80, "nothing to tell apart"),
        (SIDES[:3], "80 rows but 3 labels"),
        ([["a"], ["b"]] * 40, "MultiLabelBinarizer"),
        (NUMBERS, "y cannot be used"),
        (None, "requires y to be passed"),
    ],
)
def test_what_are_no_classes(y: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LinearClassifier(Ridge(l2=1.0)).fit(X, y)


def test_what_are_no_numbers() -> None:
    with pytest.raises(DataError, match=r"y must hold numbers.*LinearClassifier"):
        LinearRegressor(Ridge(l2=1.0)).fit(X, ["good", "bad"] * 40)
    with pytest.raises(RecordError, match="sample_weight"):
        LinearRegressor(Ridge(l2=1.0)).fit(X, NUMBERS, sample_weight=-WEIGHTS)
    for estimator, y in ((LinearRegressor, NUMBERS), (LinearClassifier, SIDES)):
        with pytest.raises(DataError, match="every row has the weight 0"):
            estimator(Ridge(l2=1.0)).fit(X, y, sample_weight=0 * WEIGHTS)
        with pytest.raises(RecordError, match=r"sample_weight\[0\] is nan"):
            estimator(Ridge(l2=1.0)).fit(X, y, sample_weight=np.nan * WEIGHTS)


# Strengths


def test_a_searched_strength_is_as_if_it_had_been_given() -> None:
    searched = LinearClassifier("lasso", cv=4).fit(X, SIDES)
    assert searched.reg_ == Lasso(l1=searched.reg_.l1)
    results = searched.cv_results_
    best = int(np.argmin(results["calibrated-log-loss"].round(12)))
    assert results["params"][best] == searched.reg_.params()
    assert len(results["params"]) == len(results["nonzero"]) == len(results["accuracy"]) >= 5
    given = clone(searched).fit(X, SIDES).set_params(reg=searched.reg_, tol=1e-8).fit(X, SIDES)
    assert not hasattr(given, "cv_results_")  # of the fit before
    np.testing.assert_allclose(searched.coef_, given.coef_, atol=1e-2)


def test_the_search_follows_its_splits() -> None:
    # What a splitter of scikit-learn holds out is measured, and nothing else.
    groups = np.arange(80) % 4
    by_group = LinearRegressor("lasso", cv=GroupKFold(4)).fit(X, NUMBERS, group_of=groups)
    splits = list(GroupKFold(4).split(X, NUMBERS, groups))
    listed = LinearRegressor("lasso", cv=splits).fit(X, NUMBERS)
    masks = [
        (np.isin(np.arange(80), train), np.isin(np.arange(80), held)) for train, held in splits
    ]
    masked = LinearRegressor("lasso", cv=masks).fit(X, NUMBERS)
    other = LinearRegressor("lasso", cv=KFold(4)).fit(X, NUMBERS)
    expected = by_group.cv_results_["mse"]
    assert np.array_equal(listed.cv_results_["mse"], expected)
    assert np.array_equal(masked.cv_results_["mse"], expected)
    assert not np.array_equal(other.cv_results_["mse"], expected)
    by_number = LinearRegressor("lasso", cv=4).fit(X, NUMBERS, group_of=groups)
    assert np.array_equal(by_number.cv_results_["mse"], expected)
    with pytest.raises(UsageError, match="group_of says what to hold out, but nothing is held"):
        LinearRegressor(Lasso(l1=1.0)).fit(X, NUMBERS, group_of=groups)
    strength = by_group.cv_results_["params"][0]["l1"]
    errors = []
    for train, held in splits:
        fitted = LinearRegressor(Lasso(l1=strength)).fit(X[train], NUMBERS[train])
        errors.append((fitted.predict(X[held]) - NUMBERS[held]) ** 2)
    assert expected[0] == pytest.approx(np.concatenate(errors).mean(), rel=1e-2)


def test_groups_of_rows_may_be_of_any_type_and_none_is_missing() -> None:
    pairs = [(at % 4, "b") for at in range(80)]
    by_pair = LinearClassifier("ridge", cv=2).fit(X, SIDES, group_of=pairs)
    by_name = LinearClassifier("ridge", cv=2).fit(X, SIDES, group_of=list(map(str, pairs)))
    assert np.array_equal(by_pair.coef_, by_name.coef_)
    for missing in (None, np.nan):
        with pytest.raises(DataError, match="the group is missing"):
            LinearClassifier("ridge").fit(X, SIDES, group_of=[missing, *range(79)])


def test_groups_of_rows_are_held_out_as_a_whole() -> None:
    # Each row twice: what is held out would be known, if the two were not of one group.
    twice, sides = np.vstack([X, X]), np.tile(RANDOM.integers(0, 2, 80), 2)
    apart = LinearClassifier("ridge", metric="accuracy").fit(
        twice, sides, group_of=np.tile(np.arange(80), 2)
    )
    mixed = LinearClassifier("ridge", metric="accuracy").fit(twice, sides)
    assert apart.cv_results_["accuracy"].max() < mixed.cv_results_["accuracy"].max()


def test_smaller_models_are_chosen() -> None:
    best = LinearRegressor("lasso").fit(X, NUMBERS)
    small = LinearRegressor("lasso", select="1se").fit(X, NUMBERS)
    few = LinearRegressor("lasso", max_nonzero=2).fit(X, NUMBERS)
    assert np.count_nonzero(few.coef_) <= 2
    assert np.count_nonzero(small.coef_) <= np.count_nonzero(best.coef_)


def test_classes_of_few_rows() -> None:
    few = [0, 1, 2, 3, *np.flatnonzero(SIDES)[:2]]
    y = np.array([0, 0, 0, 0, 1, 1])
    assert LinearClassifier("ridge").fit(X[few], y).predict(X[few]).shape == (6,)
    with pytest.raises(DataError, match="split 1 of cv has no row to fit of one of the 3 classes"):
        LinearClassifier("ridge", multiclass="softmax", cv=[([0, 1, 2], [3, 4, 5])]).fit(
            X[few], [0, 0, 1, 1, 2, 2]
        )


@pytest.mark.parametrize("nothing", [[], np.zeros(0, dtype=int), np.zeros(80, dtype=bool)])
def test_a_split_has_rows_on_both_sides(nothing: Any) -> None:
    every = np.arange(80)
    for estimator, y in ((LinearClassifier, SIDES), (LinearRegressor, NUMBERS)):
        with pytest.raises(DataError, match="split 2 of cv holds out no row: give other splits"):
            estimator("lasso", cv=[(every[:60], every[60:]), (every, nothing)]).fit(X, y)
        with pytest.raises(DataError, match="split 1 of cv fits no row with a weight above 0"):
            estimator("lasso", cv=[(nothing, every)]).fit(X, y)


def test_the_path() -> None:
    fitted = LinearClassifier(Lasso(l1=1.0), path=True, cv=3).fit(X, SIDES)
    path = fitted.path_
    assert path.parameter == "l1"
    assert path.values[path.chosen] == 1.0
    assert path.points[0].nonzero == 0
    assert path.values == sorted(path.values, reverse=True)
    own = path.at(path.chosen)
    assert own.keys() == {f"x{j}" for j in np.flatnonzero(fitted.coef_[0])}
    assert own["x1"] == pytest.approx(fitted.coef_[0, 1], rel=1e-6)


# An estimator


@pytest.mark.parametrize("estimator", [LinearClassifier, LinearRegressor])
def test_parameters_are_told_as_for_texts(estimator: type[LinearEstimator]) -> None:
    declared, given = declared_settings(), inspect.signature(estimator).parameters
    documented = inspect.getdoc(estimator) or ""
    assert [name for name in given if f"\n{name} : " not in documented] == []
    for name in given.keys() & declared.keys() - {"reg", "loss", "metric"}:
        assert given[name].default == declared[name].default, name


def test_weights_as_a_sparse_matrix() -> None:
    for fitted in (
        LinearClassifier(Lasso(l1=1.0)).fit(X, THREE),
        LinearRegressor(Lasso(l1=3.0)).fit(X, NUMBERS),
    ):
        weights, predicted = fitted.coef_, fitted.predict(X)
        assert fitted.sparsify() is fitted
        assert fitted.coef_.nnz == np.count_nonzero(weights)
        for given in (X, csr_array(X)):
            # BLAS adds the products of arrays in an order of its own.
            np.testing.assert_allclose(fitted.predict(given), predicted, rtol=1e-12)
        again = pickle.loads(pickle.dumps(fitted)).densify()
        assert np.array_equal(again.coef_, weights)
        assert again.coef_.shape == weights.shape


def test_parameters_of_a_part() -> None:
    estimator = LinearClassifier("elastic").set_params(reg__l1=0.5, reg__l2=0.25)
    assert estimator.reg == Elastic(l1=0.5, l2=0.25)
    assert clone(estimator).get_params()["reg__l1"] == 0.5
    with pytest.raises(UsageError, match="no parameter 'l3'"):
        estimator.set_params(reg__l3=1.0)
    with pytest.raises(ValueError, match="tokenizer"):
        estimator.set_params(tokenizer__lowercase=True)
    assert is_classifier(estimator)
    assert not is_classifier(LinearRegressor())


def test_probabilities_are_there_if_the_loss_gives_them() -> None:
    assert hasattr(LinearClassifier(), "predict_proba")
    fitted = LinearClassifier(Ridge(l2=0.1), loss="squared-hinge").fit(X, SIDES)
    assert not hasattr(fitted, "predict_proba")
    assert fitted.score(X, SIDES) > 0.85


def test_a_fit_that_ends_early_says_so() -> None:
    hard, y = make_classification(200, 50, n_informative=30, random_state=0)
    with pytest.warns(ConvergenceWarning, match="lasso stopped before its tolerance"):
        fitted = LinearClassifier(Lasso(l1=1e-3), tol=1e-9, max_iter=1).fit(hard * 50, y)
    assert fitted.dual_gap_ > 1e-9


def test_more_jobs_change_nothing() -> None:
    one, two = (LinearClassifier("lasso", cv=2, jobs=jobs).fit(X, THREE) for jobs in (1, 2))
    assert np.array_equal(one.coef_, two.coef_)


def test_sixteen_threads_answer_as_one() -> None:
    fitted = LinearClassifier(Lasso(l1=0.5)).fit(X, THREE)
    rows = [csr_array(X[at : at + 5]) for at in range(0, 80, 5)] * 8
    alone = [fitted.predict_proba(some) for some in rows]
    with ThreadPoolExecutor(16) as pool:
        together = list(pool.map(fitted.predict_proba, rows))
    assert all(np.array_equal(a, b) for a, b in zip(alone, together, strict=True))


def test_a_wide_matrix_stays_sparse() -> None:
    wide = diags(np.ones(200), shape=(200, 2_000_000), format="csr")
    fitted = LinearClassifier(Lasso(l1=0.1)).fit(wide, np.arange(200) % 2)
    assert fitted.sparsify().predict(wide).tolist() == (np.arange(200) % 2).tolist()


def test_a_regularizer_of_a_program() -> None:
    class OneSided(Penalized):
        """A penalty on weights above zero alone."""

        name = "one-sided"
        l1: float = param(default=AUTO, min=0, search=LogGrid(1e-2, 1.0, 4), help="strength")

        def penalty(self, problem: Problem) -> Any:
            return Ceiling(self.l1)

    class Ceiling:
        def __init__(self, strength: float) -> None:
            self.strength = strength

        def value(self, w: Any) -> float:
            return float(self.strength * np.maximum(w, 0.0).sum())

        def prox(self, w: Any, step: float) -> Any:
            return np.where(w > 0.0, np.maximum(w - step * self.strength, 0.0), w)

    fitted = LinearClassifier(OneSided(l1=100.0)).fit(X, SIDES)
    assert (fitted.coef_ <= 0.0).all()
    assert fitted.coef_[0, 1] < -1.0
    searched = LinearClassifier(OneSided, cv=2).fit(X, SIDES)
    assert isinstance(searched.reg_, OneSided)
    assert clone(fitted).set_params(reg__l1=1.0).reg == OneSided(l1=1.0)


@pytest.mark.parametrize("texts", [["good", "bad"], np.array(["good", "bad"])])
def test_texts_are_for_another_estimator(texts: Any) -> None:
    with pytest.raises(UsageError, match=r"X holds texts: take TextClassifier, or make_pipeline"):
        LinearClassifier("ridge").fit(texts, [0, 1])


def test_rows_of_other_columns_are_refused_again_and_again() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 5)), rng.integers(2, size=40)
    model = LinearClassifier(reg=Ridge(l2=1.0)).fit(X, y)
    for _ in range(2):
        with pytest.raises(ValueError, match=r"X has 4 features, but .* is expecting 5"):
            model.predict(X[:, :4])
