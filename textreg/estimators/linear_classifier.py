"""LinearClassifier: a scikit-learn classifier of rows of numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from textreg.errors import DataError
from textreg.estimators.base import by_name, coded
from textreg.estimators.labelsets import label_sets
from textreg.estimators.linear import LinearEstimator
from textreg.losses import find_loss
from textreg.tasks import Multilabel, Target, check_classes, classification
from textreg.training.settings import create_part

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray
    from typing_extensions import Self

    from textreg.kinds import GraphBuilder, GroupBuilder, Loss, Regularizer
    from textreg.records import Bools, Floats, Graph, Groups


@dataclass(frozen=True)
class Indicator(Multilabel):
    """Several labels for each row, each where its score is above 0, as in scikit-learn."""

    metrics: ClassVar[tuple[str, ...]] = ("log-loss", *Multilabel.metrics[:-1])
    threshold_rule = ""

    def decide_by_halves(self, scores: Floats, y: Any) -> Bools:
        """Nothing is chosen on either half."""
        return self.decide(scores)


def _gives_probabilities(estimator: LinearClassifier) -> bool:
    """Whether the loss does; AttributeError otherwise, as scikit-learn asks with ``hasattr``."""
    loss = create_part("loss", estimator.loss, {})
    if not loss.log_odds:
        raise AttributeError(
            f"the loss '{loss.label()}' gives no probabilities: use decision_function, or the "
            "logistic loss."
        )
    return True


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

    def __init__(  # noqa: PLR0913  # a public constructor
        self,
        reg: str | Regularizer = "ridge",
        *,
        groups: Groups | Sequence[Any] | str | GroupBuilder | Any = None,
        graph: Graph | str | GraphBuilder | Any = None,
        loss: str | Loss = "logistic",
        multiclass: str = "ovr",
        class_weight: str | Mapping[Any, float] | None = None,
        fit_intercept: bool = True,
        cv: int | Any = None,
        metric: str | None = None,
        select: str = "best",
        within: float | None = None,
        max_nonzero: int | None = None,
        path: bool = False,
        jobs: int = 1,
        tol: float = 1e-4,
        max_iter: int = 1000,
    ) -> None:
        self.reg = reg
        self.groups = groups
        self.graph = graph
        self.loss = loss
        self.multiclass = multiclass
        self.class_weight = class_weight
        self.fit_intercept = fit_intercept
        self.cv = cv
        self.metric = metric
        self.select = select
        self.within = within
        self.max_nonzero = max_nonzero
        self.path = path
        self.jobs = jobs
        self.tol = tol
        self.max_iter = max_iter

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
        several = label_sets(y)
        if several is None:
            labels, weights = self._checked(n, y, sample_weight, "rows")
            classes, codes = coded(labels)
            check_classes((classes if weights is None else np.unique(labels[weights > 0])).tolist())
            names = [str(label) for label in classes.tolist()]
            target = Target(classification(names, loss, self.multiclass), codes.astype(np.int64))
        elif several.indicator:
            classes = several.classes
            matrix = np.asarray(y.toarray() if hasattr(y, "toarray") else y) != 0
            _, weights = self._checked(n, np.zeros(len(matrix)), sample_weight, "rows")
            task = Indicator(tuple(map(str, classes)), loss.name, find_loss(loss).log_odds)
            target = Target(task, matrix)
        else:
            raise DataError(
                "y has lists of labels: give an indicator matrix, as scikit-learn's "
                "MultiLabelBinarizer makes of them."
            )
        changes = {"class_weight": by_name(self.class_weight)}
        fitted = self._fit(rows, target, weights, group_of, **changes).fitted
        self.classes_, self._task = classes, target.task
        self.coef_, self.intercept_ = fitted.w, fitted.b
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

    @available_if(_gives_probabilities)  # type: ignore[untyped-decorator]
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

    @available_if(_gives_probabilities)  # type: ignore[untyped-decorator]
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
