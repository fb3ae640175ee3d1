"""LinearRegressor: a scikit-learn regressor on rows of numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from sklearn.base import RegressorMixin

from textreg.estimators.base import as_numbers
from textreg.estimators.linear import LinearEstimator
from textreg.tasks import Regression, Target
from textreg.training.settings import create_part

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from typing_extensions import Self

    from textreg.kinds import GraphBuilder, GroupBuilder, Loss, Regularizer
    from textreg.records import Floats, Graph, Groups


class LinearRegressor(RegressorMixin, LinearEstimator):  # type: ignore[misc]
    """Predict numbers from rows of numbers with a linear model, by default by least squares.

    The weights minimize the sum of half the squared errors of all rows, times their sample weights,
    plus the penalty; the intercept is not penalized. So with n rows ``Lasso(l1=n * alpha)`` is
    scikit-learn's ``Lasso(alpha)``, ``Ridge(l2=alpha / 2)`` its ``Ridge(alpha)``, and
    ``Elastic(l1=n * alpha * r, l2=n * alpha * (1 - r) / 2)`` its ``ElasticNet(alpha, l1_ratio=r)``.

    See :class:`~textreg.estimators.linear_classifier.LinearClassifier` on how strengths are given
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

    def __init__(  # noqa: PLR0913  # a public constructor
        self,
        reg: str | Regularizer = "ridge",
        *,
        groups: Groups | Sequence[Any] | str | GroupBuilder | Any = None,
        graph: Graph | str | GraphBuilder | Any = None,
        loss: str | Loss = "squared",
        fit_intercept: bool = True,
        cv: int | Any = None,
        metric: str = "r2",
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
        target = Target(task, as_numbers(targets, "LinearClassifier"))
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

    def densify(self) -> Self:
        """Keep ``coef_`` as an array again, as ``fit`` leaves it.

        Returns
        -------
        self
            The estimator itself.
        """
        super().densify()
        self.coef_ = self.coef_.ravel()
        return self
