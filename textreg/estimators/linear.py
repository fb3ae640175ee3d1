"""LinearClassifier and LinearRegressor: scikit-learn estimators of rows of numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin, is_classifier
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold, check_cv
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from textreg.errors import DataError, UsageError
from textreg.estimators import base
from textreg.estimators.base import PartsEstimator, TextMatrix, declared
from textreg.features.encoder import Encoder
from textreg.features.vectorize import Features, MatrixRows, Vectorizer
from textreg.records import Bools, Design, Floats, Tokens
from textreg.records.design import as_design
from textreg.records.documents import as_column
from textreg.structure.joining import Pretokenized
from textreg.tasks import Multilabel, Regression, Target, Task, classification
from textreg.tasks.base import Held
from textreg.training.fit import FinalFit, Learned, path_parameter
from textreg.training.prepare import Prepared, SplitDocuments, no_tokens, with_targets
from textreg.training.running import Work
from textreg.training.search import SearchContext
from textreg.training.settings import TrainingSettings, create_part
from textreg.training.splits import Split, group_names
from textreg.training.train import learn

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray
    from typing_extensions import Self, Unpack

    from textreg.kinds import Regularizer
    from textreg.training.keywords import LinearClassifierKeywords, LinearKeywords


#: Parameters of the estimators that are no settings of a training.
NOT_SETTINGS = ("cv", "fit_intercept")


#: The parameters of the estimators of rows.
OF_ROWS = (
    *("reg", "groups", "graph", "loss", "multiclass", "class_weight", "fit_intercept", "cv"),
    *("metric", "select", "within", "max_nonzero", "path", "jobs", "tol", "max_iter"),
)

#: Their defaults that are not those of texts.
USUAL = {"reg": "ridge", "fit_intercept": True}


class Rows(NamedTuple):
    """Rows to fit: X (n, p), the names of its columns, and its tokens if it comes from texts."""

    X: Design
    names: Sequence[str]
    tokens: Tokens | None


class LinearEstimator(PartsEstimator):
    """A linear model of any matrix. A subclass poses the task that its targets are."""

    coef_: Any

    def _rows(self, X: Any) -> Rows:
        """The rows to fit, checked; their columns are counted and named."""
        matrix = as_design(validated(self, X, reset=True))
        if isinstance(X, TextMatrix) and X.tokens is not None and X.names is not None:
            # Its texts would be those of other rows or columns.
            if X.shape != (X.tokens.n_documents, len(X.names)):
                raise UsageError(
                    f"X has the shape {X.shape}, which is not that of its texts: it was changed "
                    "after TextVectorizer.fit_transform returned it. Fit on what that returns."
                )
            return Rows(matrix, X.names, X.tokens)
        names = getattr(self, "feature_names_in_", None)
        known = base.ColumnNames(matrix.shape[1]) if names is None else names.tolist()
        return Rows(matrix, known, None)

    def _fit(
        self, rows: Rows, target: Target, weights: Floats | None, group_of: Iterable[Any] | None
    ) -> FinalFit:
        """Search what is to be searched, and fit; the attributes of the fit are set."""
        settings = self._settings(target.task, rows.names)
        _check_tokens(settings, rows)
        weights = np.ones(rows.X.shape[0]) if weights is None else weights
        if settings.path:
            path_parameter(settings.reg)  # refused before long work
        measures = settings.searches or settings.path
        if group_of is not None and not measures:
            raise UsageError(
                "group_of says what to hold out, but nothing is held out: all strengths are given. "
                "Leave out group_of, or one of the strengths."
            )
        splits = self._splits(rows.X, target, weights, group_of) if measures else []
        encoder = Encoder(Pretokenized(), Vectorizer(ngrams=1, weighting="count"), rows.names)
        tokens = no_tokens(rows.X.shape[0], encoder) if rows.tokens is None else rows.tokens
        features = Features(MatrixRows(rows.X), tokens, encoder)

        def prepared(settings: TrainingSettings) -> Prepared:
            # The matrix as it is: nothing of its features can be searched.
            known = features, target, weights, settings
            return with_targets(*known, fit_intercept=self.fit_intercept)

        documents = SplitDocuments(target, splits, settings, prepared)
        learned = learn(SearchContext(documents), Work(self.jobs, partial=False))
        self._keep(learned)
        return learned.fit

    def _keep(self, learned: Learned) -> None:
        """Set the attributes of a fit, in place of those of the last one."""
        fit = learned.fit
        # A fit without a search or a path must not show those of the last one.
        for name in ("cv_results_", "path_"):
            self.__dict__.pop(name, None)
        self.reg_ = fit.regularizer
        self.n_iter_ = fit.fitted.iterations
        self.dual_gap_ = fit.fitted.gap
        if learned.path is not None:
            self.path_ = learned.path
        if every := learned.result.measured:
            self.cv_results_ = {
                "params": [setting.regularizer.params() for setting in every],
                "nonzero": np.array([setting.nonzero for setting in every]),
            }
            for name in every[0].metrics:
                self.cv_results_[name] = np.array([setting.metrics[name] for setting in every])

    def _settings(self, task: Task, names: Sequence[str]) -> TrainingSettings:
        """The parameters as settings of a training, checked."""
        params = self.get_params(deep=False)
        params["groups"] = base.groups_builder(self.groups, names)
        params["graph"] = base.graph_builder(self.graph, len(names))
        reg = create_part("reg", self.reg, {})
        if reg.needs and params[reg.needs] is None and not reg.default_builder:
            forms = "lists of columns, or a matrix" if reg.needs == "groups" else "a matrix"
            raise UsageError(
                f"{reg.label()} needs {reg.needs} of the columns: give {forms} ({reg.needs}=...)."
            )
        for name in NOT_SETTINGS:
            del params[name]
        if not isinstance(self.fit_intercept, (bool, np.bool_)):
            raise UsageError(f"fit_intercept must be True or False, not {self.fit_intercept!r}.")
        params |= {"task": task.name, "prune": 0.0, "calibrate": "none"}
        settings = TrainingSettings.from_options(**params)
        task.check_options(settings)
        return settings

    def _splits(
        self, X: Design, target: Target, weights: Floats, group_of: Iterable[Any] | None
    ) -> list[Split]:
        """The splits of ``cv``; DataError where there is nothing to fit or to measure in one."""
        # As in scikit-learn: a number, a splitter, or the splits themselves.
        cv = _fitting_folds(target) if self.cv is None else self.cv
        groups = None
        if group_of is not None:
            column = as_column(group_of, "group_of")
            names = group_names(column)  # none is missing, and all have an order
            groups = np.asarray(column if all(isinstance(it, Real) for it in column) else names)
        if groups is not None and isinstance(cv, Integral):
            one_label = is_classifier(self) and target.y.ndim == 1
            cv = (StratifiedGroupKFold if one_label else GroupKFold)(int(cv))
        splitter = check_cv(cv, target.y, classifier=is_classifier(self))
        splits = [
            Split(_ascending(train), _ascending(held))
            for train, held in splitter.split(X.given, target.y, groups)
        ]
        for number, (train, held) in enumerate(splits, 1):
            weighted = weights[train] > 0.0
            if not (weighted.any() and len(held)):
                why = "holds out no row" if weighted.any() else "fits no row with a weight above 0"
                raise DataError(f"split {number} of cv {why}: give other splits.")
            labels = target.task.labels
            if target.task.joint and len(np.unique(target.y[train][weighted])) < len(labels):
                raise DataError(
                    f"split {number} of cv has no row to fit of one of the {len(labels)} classes, "
                    "which softmax fits together: give more rows of it, fewer parts (cv), or leave "
                    "out multiclass."
                )
        return splits

    def _table(self, X: Any) -> Floats:
        """(n, k) the scores of rows by every weight vector."""
        check_is_fitted(self)
        X = validated(self, X, reset=False)
        # A regression has one weight vector, of one dimension.
        coef = self.coef_ if self.coef_.ndim == 2 else self.coef_[None]
        table: Floats = safe_sparse_dot(X, coef.T, dense_output=True) + self.intercept_
        return table

    def sparsify(self) -> Self:
        """Keep ``coef_`` as a sparse matrix, which needs less memory where few are not zero.

        Returns
        -------
        self
            The estimator itself.
        """
        from scipy.sparse import csr_array

        check_is_fitted(self)
        self.coef_ = csr_array(self.coef_)
        return self

    def densify(self) -> Self:
        """Keep ``coef_`` as an array again, as ``fit`` leaves it.

        Returns
        -------
        self
            The estimator itself.
        """
        check_is_fitted(self)
        if hasattr(self.coef_, "toarray"):
            # one row for each intercept, and of a regression, with one number, one dimension
            self.coef_ = self.coef_.toarray().reshape(*np.shape(self.intercept_), -1)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def validated(estimator: Any, X: Any, *, reset: bool) -> Any:
    """X as a matrix of finite numbers, its columns counted and named, or compared if not ``reset``.

    Raises UsageError for texts, and ValueError in the words of scikit-learn.
    """
    first = X[0] if isinstance(X, (list, tuple)) and X else X
    # Before scikit-learn would say that a text cannot become a number.
    if isinstance(first, str) or getattr(getattr(X, "dtype", None), "kind", "") == "U":
        name = type(estimator).__name__
        raise UsageError(
            f"{name} takes a matrix of numbers, and X holds texts: take "
            f"{name.replace('Linear', 'Text')}, or make_pipeline(TextVectorizer(), {name}())."
        )
    options = {"accept_sparse": "csr", "dtype": np.float64, "reset": reset}
    try:
        from sklearn.utils.validation import validate_data
    except ImportError:  # before scikit-learn 1.6
        return estimator._validate_data(X, **options)
    return validate_data(estimator, X, **options)


def _check_tokens(settings: TrainingSettings, rows: Rows) -> None:
    """UsageError for groups or links of texts where X knows of none."""
    for name, builder in {"groups": settings.groups, "graph": settings.graph}.items():
        if builder is None or isinstance(builder, (base.GivenGroups, base.GivenGraph)):
            continue
        if rows.tokens is None:
            raise UsageError(
                f"{settings.reg.label()} takes its {name} from texts ({builder.label()}), and X "
                "has numbers alone: fit on what TextVectorizer.fit_transform returns, with no step "
                f"between that changes it, or give the {name} of the columns of X ({name}=)."
            )


def _fitting_folds(target: Target) -> int:
    """How many parts to cut rows into: 5, or as many as each class has rows, but 2 at least."""
    # No more parts than the rarest class has rows.
    y = target.y
    least = np.bincount(y.astype(np.int64)).min() if target.task.labels and y.ndim == 1 else len(y)
    return max(2, min(5, int(least)))


def _ascending(rows_of_side: Any) -> NDArray[np.intp]:
    """The rows of one side of a split, ascending."""
    rows = np.asarray(rows_of_side, None if len(rows_of_side) else np.intp)
    return np.flatnonzero(rows) if rows.dtype.kind == "b" else np.sort(rows)


@dataclass(frozen=True)
class Indicator(Multilabel):
    """Several labels for each row, each where its score is above 0, as in scikit-learn."""

    metrics: ClassVar[tuple[str, ...]] = ("log-loss", *Multilabel.metrics[:-1])
    threshold_rule = ""

    def decide_by_halves(self, held: Held) -> Bools:
        """Nothing is chosen on either half."""
        return self.decide(held.scores)


class LinearClassifier(ClassifierMixin, LinearEstimator):  # type: ignore[misc]
    """Classify rows of numbers with a linear model, by any regularizer and any loss.

    The weights minimize the sum of the losses of all rows, times their sample weights, plus the
    penalty; the intercept is not penalized. So a penalty strength is absolute: with twice the rows
    the same model needs twice the strength. ``Lasso(l1=1 / C)`` is the l1 penalty of scikit-learn's
    LogisticRegression, ``Ridge(l2=1 / (2 * C))`` its l2 penalty.

    A regularizer given by name has its strengths chosen by cross-validation, among fractions of the
    smallest one that leaves no weight. One with strengths, ``Lasso(l1=0.5)``, is fitted as it is.
    ``set_params(reg__l1=0.5)`` sets a strength, so a GridSearchCV can search over it as well.

    Parameters
    ----------
    reg : str or Regularizer, default 'ridge'
        Regularizer; 'textreg plugins' lists those installed.
    groups : Groups, list of lists, matrix, str or GroupBuilder, optional
        Groups of columns, for a regularizer that needs them: lists of the numbers or names of
        columns, or slices; a matrix of groups by columns, 1 where a column belongs to a group; or
        a group builder, where X comes from a TextVectorizer. All groups have the weight 1; give
        Groups for others.
    graph : Graph, matrix, str or GraphBuilder, optional
        Graph of columns, for a regularizer that needs one: the weights of links between columns,
        0 or more; or a graph builder, where X comes from a TextVectorizer.
    loss : str or Loss, default 'logistic'
        Loss: hinge, logistic, squared, squared-hinge, or one of a plugin.
    multiclass : {'ovr', 'softmax'}, default 'ovr'
        For three or more classes: fit each one against the rest (ovr), or all together (softmax).
    class_weight : str or Mapping[Any, float], optional
        Factor for the weights of a class's rows, or 'balanced'.
    fit_intercept : bool, default True
        Whether the model has an intercept.
    cv : int, splitter or iterable of splits, optional
        Splits to choose strengths by, as scikit-learn's ``check_cv`` takes them; unused where all
        strengths are given. By default 5 parts, or as many as the smallest class has rows.
    metric : str, optional
        Metric that strengths are chosen by: calibrated-log-loss, accuracy, macro-f1 or log-loss;
        with several labels log-loss, micro-macro-f1, micro-f1 or macro-f1. The default is the
        first, or the second for losses without probabilities.
    select : {'best', '1se', 'sparsest'}, default 'best'
        Setting to choose: the best, the smallest model within one standard error of the best (1se),
        or the smallest model within a given distance of the best (sparsest).
    within : float, optional
        Distance from the best score that sparsest allows; 0.01 if not given.
    max_nonzero : int, optional
        Largest number of columns with a nonzero weight.
    path : bool, default False
        Keep the whole regularization path.
    jobs : int, default 1
        Number of fits to run in parallel; -1 for one per core.
    tol : float, default 0.0001
        Relative duality gap at which a fit stops.
    max_iter : int, default 1000
        Number of iterations after which a fit stops without converging.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted; with several labels for each row the numbers of their columns.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        The weights; one row for two classes, which speaks for ``classes_[1]``. A csr_array after
        ``sparsify``.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The intercepts.
    reg_ : Regularizer
        The regularizer with the strengths that were fitted.
    n_iter_ : int
        Number of iterations, of all classes together.
    dual_gap_ : float
        Relative duality gap, the widest of all classes: the objective is at most ``dual_gap_`` of
        its value above the minimum. NaN for a regularizer or loss without such a bound.
    cv_results_ : dict
        Of a search: ``params`` of every setting that was measured, its metrics on the rows held
        out, and its number of columns with a weight (``nonzero``), in the order of measuring.
    path_ : textreg.model.regularization_path.SolutionPath
        With ``path``: the models along the path, and the metrics of each on the rows held out.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where ``X`` was a data frame with names that are all strings.

    Examples
    --------
    >>> import numpy as np
    >>> from textreg import Lasso, LinearClassifier
    >>> X, y = np.array([[2.0, 1.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]), ["a", "a", "b", "b"]
    >>> fitted = LinearClassifier(Lasso(l1=0.1)).fit(X, y)
    >>> fitted.predict([[1.5, 0.0]]), bool(fitted.dual_gap_ <= 1e-4)
    (array(['a'], dtype='<U1'), True)
    """

    @declared(OF_ROWS, **USUAL)
    def __init__(
        self, reg: str | Regularizer = "ridge", **settings: Unpack[LinearClassifierKeywords]
    ) -> None:
        """Store the parameters, unchecked as scikit-learn wants them."""

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        group_of: Iterable[Any] | None = None,
    ) -> Self:
        """Fit the weights.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
            The rows.
        y : array-like of shape (n,) or (n, n_classes)
            The classes, of any type that scikit-learn accepts; or an indicator matrix, for rows
            with several labels or none.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows, 0 or more. A weight of 2 is the same as a row twice.
        group_of : array-like of shape (n,), optional
            The group of each row, such as its author. Groups are held out as a whole where
            ``cv`` is a number, and given to a splitter.

        Returns
        -------
        LinearClassifier
            The estimator itself.

        Raises
        ------
        DataError
            If nothing can be learned from the data. It is a ValueError.
        UsageError
            For wrong parameters. It is a ValueError.

        Warns
        -----
        ConvergenceWarning
            If the final fit does not reach ``tol``.
        """
        loss = create_part("loss", self.loss, {})
        rows = self._rows(X)
        n = rows.X.shape[0]
        several = base.label_sets(y)
        if several is None:
            classes, codes, weights = self._checked_classes(n, y, sample_weight, "rows")
            names = [str(label) for label in classes.tolist()]
            target = Target(classification(names, loss, self.multiclass), codes.astype(np.int64))
        elif several.matrix is not None:
            classes = several.classes
            _, weights = self._checked(n, np.zeros(len(several.matrix)), sample_weight, "rows")
            task = Indicator(tuple(map(str, classes)), loss.name, loss.log_odds)
            target = Target(task, several.matrix)
        else:
            raise DataError(
                "y has lists of labels: give an indicator matrix, as scikit-learn's "
                "MultiLabelBinarizer makes of them."
            )
        fit = self._fit(rows, target, weights, group_of)
        self.classes_, self._task = classes, target.task
        self.coef_, self.intercept_ = fit.fitted.w, fit.intercepts
        return self

    def decision_function(self, X: Any) -> Floats:
        """Scores of rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n,) or (n, n_classes)
            With two classes one score, which is positive for ``classes_[1]``; otherwise one for
            each class.
        """
        check_is_fitted(self)
        return self._task.as_scores(self._table(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the classes of rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n,) or (n, n_classes)
            Classes, in the type of the ``y`` of ``fit``; an indicator matrix where that was one.
        """
        check_is_fitted(self)
        decided = self._task.decide(self._table(X))
        if self._task.multilabel:
            return decided.astype(np.int64)
        return np.asarray(self.classes_[decided.astype(np.int64)])

    @available_if(base.gives_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Predict the probabilities of the classes of rows; only with a loss that gives some.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n, n_classes)
            Probabilities, in the order of ``classes_``. They sum to one, unless rows have several
            labels: then each is that of one label by itself.
        """
        check_is_fitted(self)
        return self._task.probabilities(self._table(X))

    @available_if(base.gives_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Floats:
        """Predict the logarithms of the probabilities; exact where these are next to 0.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n, n_classes)
            The natural logarithms of what ``predict_proba`` gives.
        """
        check_is_fitted(self)
        return self._task.log_probabilities(self._table(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = self.multiclass == "ovr"
        return tags


class LinearRegressor(RegressorMixin, LinearEstimator):  # type: ignore[misc]
    """Predict numbers from rows of numbers with a linear model, by default by least squares.

    The weights minimize the sum of half the squared errors of all rows, times their sample weights,
    plus the penalty; the intercept is not penalized. So with n rows ``Lasso(l1=n * alpha)`` is
    scikit-learn's ``Lasso(alpha)``, ``Ridge(l2=alpha / 2)`` its ``Ridge(alpha)``, and
    ``Elastic(l1=n * alpha * r, l2=n * alpha * (1 - r) / 2)`` its ``ElasticNet(alpha, l1_ratio=r)``.

    See :class:`~textreg.estimators.linear.LinearClassifier` on how strengths are given
    and chosen.

    Parameters
    ----------
    reg : str or Regularizer, default 'ridge'
        Regularizer; 'textreg plugins' lists those installed.
    groups : Groups, list of lists, matrix, str or GroupBuilder, optional
        Groups of columns, for a regularizer that needs them: lists of the numbers or names of
        columns, or slices; a matrix of groups by columns, 1 where a column belongs to a group; or
        a group builder, where X comes from a TextVectorizer. All groups have the weight 1; give
        Groups for others.
    graph : Graph, matrix, str or GraphBuilder, optional
        Graph of columns, for a regularizer that needs one: the weights of links between columns,
        0 or more; or a graph builder, where X comes from a TextVectorizer.
    loss : str or Loss, default 'squared'
        Loss for numbers: squared, or one of a plugin.
    fit_intercept : bool, default True
        Whether the model has an intercept.
    cv : int, splitter or iterable of splits, optional
        Splits to choose strengths by, as scikit-learn's ``check_cv`` takes them; unused where all
        strengths are given. By default 5 parts.
    metric : {'r2', 'mse'}, default 'r2'
        Metric that strengths are chosen by.
    select : {'best', '1se', 'sparsest'}, default 'best'
        Setting to choose: the best, the smallest model within one standard error of the best (1se),
        or the smallest model within a given distance of the best (sparsest).
    within : float, optional
        Distance from the best score that sparsest allows; 0.01 if not given.
    max_nonzero : int, optional
        Largest number of columns with a nonzero weight.
    path : bool, default False
        Keep the whole regularization path.
    jobs : int, default 1
        Number of fits to run in parallel; -1 for one per core.
    tol : float, default 0.0001
        Relative duality gap at which a fit stops.
    max_iter : int, default 1000
        Number of iterations after which a fit stops without converging.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        The weights. A csr_array of shape (1, n_features) after ``sparsify``.
    intercept_ : float
        The intercept.
    reg_ : Regularizer
        The regularizer with the strengths that were fitted.
    n_iter_ : int
        Number of iterations.
    dual_gap_ : float
        Relative duality gap: the objective is at most ``dual_gap_`` of its value above the minimum.
        NaN for a regularizer or loss without such a bound.
    cv_results_ : dict
        Of a search: ``params`` of every setting that was measured, its metrics on the rows held
        out, and its number of columns with a weight (``nonzero``), in the order of measuring.
    path_ : textreg.model.regularization_path.SolutionPath
        With ``path``: the models along the path, and the metrics of each on the rows held out.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where ``X`` was a data frame with names that are all strings.

    Examples
    --------
    >>> from textreg import LinearRegressor, Ridge
    >>> LinearRegressor(Ridge(l2=0.5)).fit([[0.0], [1.0], [2.0]], [0.0, 2.0, 4.0]).coef_.round(3)
    array([1.333])
    """

    @declared(
        [name for name in OF_ROWS if name not in ("multiclass", "class_weight")],
        **USUAL,
        metric="r2",
        loss=Regression.default_loss,
    )
    def __init__(
        self, reg: str | Regularizer = "ridge", **settings: Unpack[LinearKeywords]
    ) -> None:
        """Store the parameters, unchecked as scikit-learn wants them."""

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        group_of: Iterable[Any] | None = None,
    ) -> Self:
        """Fit the weights.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
            The rows.
        y : array-like of shape (n,)
            The numbers to predict.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows, 0 or more. A weight of 2 is the same as a row twice.
        group_of : array-like of shape (n,), optional
            The group of each row, such as its author. Groups are held out as a whole where
            ``cv`` is a number, and given to a splitter.

        Returns
        -------
        LinearRegressor
            The estimator itself.

        Raises
        ------
        DataError
            If nothing can be learned from the data. It is a ValueError.
        UsageError
            For wrong parameters. It is a ValueError.

        Warns
        -----
        ConvergenceWarning
            If the final fit does not reach ``tol``.
        """
        rows = self._rows(X)
        targets, weights = self._checked(rows.X.shape[0], y, sample_weight, "rows")
        task = Regression(loss=create_part("loss", self.loss, {}).name)
        target = Target(task, base.as_numbers(targets, "LinearClassifier"))
        fitted = self._fit(rows, target, weights, group_of).fitted
        self.coef_, self.intercept_ = fitted.w[0], float(fitted.b[0])
        return self

    def predict(self, X: Any) -> Floats:
        """Predict the numbers of rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n,)
            The predicted numbers.
        """
        return self._table(X)[:, 0]
