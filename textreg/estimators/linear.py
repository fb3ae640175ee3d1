"""What the linear estimators share: matrices in, a fit with its certificate, coefficients out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold, check_cv
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from textreg.errors import DataError, UsageError
from textreg.estimators.base import PartsEstimator
from textreg.estimators.structure import (
    ColumnNames,
    GivenGraph,
    GivenGroups,
    graph_builder,
    groups_builder,
)
from textreg.estimators.textmatrix import TextMatrix
from textreg.records import Design
from textreg.records.columns import as_column
from textreg.training.path import path_parameter
from textreg.training.prepare import SplitMatrix
from textreg.training.running import Work
from textreg.training.search import SearchContext
from textreg.training.settings import TrainingSettings, create_part
from textreg.training.splits import Split
from textreg.training.train import Learned, learn

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array
    from typing_extensions import Self

    from textreg.records import Floats, Tokens
    from textreg.tasks import Target, Task
    from textreg.training.fit import FinalFit

NOT_SETTINGS = ("cv", "fit_intercept")
"""Parameters of the estimators that are no settings of a training."""


class Rows(NamedTuple):
    """Rows to fit: X (n, p), the names of its columns, and its tokens if it comes from texts."""

    X: csr_array
    names: Sequence[str]
    tokens: Tokens | None


class LinearEstimator(PartsEstimator):
    """A linear model of any matrix. A subclass poses the task that its targets are."""

    groups: Any
    graph: Any
    cv: Any
    path: bool
    jobs: int
    fit_intercept: bool
    coef_: Any
    intercept_: Any

    def _rows(self, X: Any) -> Rows:
        """The rows to fit, checked; their columns are counted and named."""
        matrix = Design(validated(self, X, reset=True)).X
        if isinstance(X, TextMatrix) and X.tokens is not None and X.names is not None:
            if X.shape != (X.tokens.n_documents, len(X.names)):
                raise UsageError(
                    f"X has the shape {X.shape}, which is not that of its texts: it was changed "
                    "after TextVectorizer.fit_transform returned it. Fit on what that returns."
                )
            return Rows(matrix, X.names, X.tokens)
        names = getattr(self, "feature_names_in_", None)
        return Rows(matrix, ColumnNames(matrix.shape[1]) if names is None else names.tolist(), None)

    def _fit(
        self,
        rows: Rows,
        target: Target,
        weights: Floats | None,
        group_of: Iterable[Any] | None,
        **changes: Any,
    ) -> FinalFit:
        """Search what is to be searched, and fit; the attributes of the fit are set."""
        settings = self._settings(target.task, rows.names, changes)
        _check_tokens(settings, rows)
        weights = np.ones(rows.X.shape[0]) if weights is None else weights
        if not weights.any():
            raise DataError(
                "every row has the weight 0, so there is nothing to learn from: give some a weight "
                "above zero, or leave sample_weight out."
            )
        if settings.path:
            path_parameter(settings.reg)  # refused before long work
        measures = settings.searches or settings.path
        if group_of is not None and not measures:
            raise UsageError(
                "group_of says what to hold out, but nothing is held out: all strengths are given. "
                "Leave out group_of, or one of the strengths."
            )
        documents = SplitMatrix(
            target,
            self._splits(rows.X, target, weights, group_of) if measures else [],
            X=rows.X,
            names=rows.names,
            sample_weight=weights,
            tokens=rows.tokens,
            fit_intercept=self.fit_intercept,
        )
        learned = learn(SearchContext(documents, settings), Work(self.jobs, partial=False))
        self._keep(learned)
        return learned.fit

    def _keep(self, learned: Learned) -> None:
        """Set the attributes of a fit, in place of those of the last one."""
        fit = learned.fit
        for name in ("cv_results_", "path_"):
            self.__dict__.pop(name, None)
        self.reg_ = fit.regularizer
        self.n_iter_ = fit.fitted.iterations
        self.dual_gap_ = fit.fitted.gap
        if learned.path is not None:
            self.path_ = learned.path
        if every := learned.result.measured:
            self.cv_results_ = {
                "params": [one.regularizer.params() for one in every],
                "nonzero": np.array([one.nonzero for one in every]),
                **{
                    name: np.array([one.metrics[name] for one in every])
                    for name in every[0].metrics
                },
            }

    def _settings(
        self, task: Task, names: Sequence[str], changes: dict[str, Any]
    ) -> TrainingSettings:
        """The parameters as settings of a training, checked."""
        params = {**self.get_params(deep=False), **changes}
        params["groups"] = groups_builder(self.groups, names)
        params["graph"] = graph_builder(self.graph, len(names))
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
        settings = TrainingSettings.from_options(**params, task=task.name, prune=0.0)
        task.check_options(settings)
        return settings

    def _splits(
        self, X: csr_array, target: Target, weights: Floats, group_of: Iterable[Any] | None
    ) -> list[Split]:
        """The splits of ``cv``; DataError where there is nothing to fit in one."""
        cv = _fitting_folds(target) if self.cv is None else self.cv
        groups = None if group_of is None else np.asarray(as_column(group_of, "group_of"))
        if groups is not None and isinstance(cv, Integral):
            one_label = is_classifier(self) and target.y.ndim == 1
            cv = (StratifiedGroupKFold if one_label else GroupKFold)(int(cv))
        splitter = check_cv(cv, target.y, classifier=is_classifier(self))
        splits = [
            Split(_ascending(train), _ascending(held))
            for train, held in splitter.split(X, target.y, groups)
        ]
        for number, (train, _) in enumerate(splits, 1):
            some = weights[train] > 0.0
            if not some.any():
                raise DataError(
                    f"split {number} of cv fits no row with a weight above 0: give other splits."
                )
            labels = target.task.labels
            if target.task.joint and len(np.unique(target.y[train][some])) < len(labels):
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
            self.coef_ = self.coef_.toarray()
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
        if builder is None or isinstance(builder, (GivenGroups, GivenGraph)):
            continue
        if rows.tokens is None:
            raise UsageError(
                f"{settings.reg.label()} takes its {name} from texts ({builder.label()}), and X "
                "has numbers alone: fit on what TextVectorizer.fit_transform returns, with no step "
                f"between that changes it, or give the {name} of the columns of X ({name}=)."
            )


def _fitting_folds(target: Target) -> int:
    """How many parts to cut rows into: 5, or as many as each class has rows, but 2 at least."""
    y = target.y
    least = np.bincount(y.astype(np.int64)).min() if target.task.labels and y.ndim == 1 else len(y)
    return max(2, min(5, int(least)))


def _ascending(given: Any) -> NDArray[np.intp]:
    """The rows of one side of a split, ascending."""
    rows = np.asarray(given)
    return np.flatnonzero(rows) if rows.dtype.kind == "b" else np.sort(rows)
