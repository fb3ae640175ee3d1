"""TextRegressor: numbers from texts, as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from textreg.errors import DataError
from textreg.estimators.base import TextEstimator
from textreg.tasks import Regression

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from typing_extensions import Self

    from textreg.kinds import GraphBuilder, GroupBuilder, Regularizer, Tokenizer
    from textreg.records import Floats


class TextRegressor(RegressorMixin, TextEstimator):  # type: ignore[misc]
    """Predict numbers from texts with a linear model, fitted by squared error.

    ``X`` is a one-dimensional sequence of texts, ``y`` one number a text. The parameters are those
    of :class:`~textreg.estimators.classifier.TextClassifier` that make sense for numbers;
    ``metric``, by which open prices are chosen, is "r2" or "mse". The task of
    ``textreg train --task regression``.

    After ``fit``: ``model_``, the :class:`~textreg.model.model.Model`; ``n_iter_``, iterations of
    the final fit.

    >>> from sklearn.model_selection import GridSearchCV
    >>> search = GridSearchCV(TextRegressor(reg="ridge"), {"reg__l2": [0.1, 1.0]})
    """

    def __init__(
        self,
        reg: str | Regularizer = "sentence",
        *,
        groups: str | GroupBuilder | None = None,
        graph: str | GraphBuilder | None = None,
        tokenizer: str | Tokenizer = "words",
        ngrams: int = 2,
        min_df: int = 1,
        max_df: float = 1.0,
        max_features: int | None = None,
        stop_words: str | None = None,
        weighting: str = "tfidf",
        holdout: float | None = None,
        cv: int | None = None,
        metric: str = "r2",
        refit: bool = True,
        path: bool = False,
        select: str = "best",
        within: float | None = None,
        max_nonzero: int | None = None,
        search: str = "narrow",
        trials: int | None = None,
        search_space: Mapping[str, Sequence[Any]] | None = None,
        budget: float | str | None = None,
        resume: str | None = None,
        backend: str = "threads",
        address: str | None = None,
        jobs: int = 1,
        seed: int = 0,
        tol: float = 1e-4,
        max_iter: int = 1000,
    ) -> None:
        self.reg = reg
        self.groups = groups
        self.graph = graph
        self.tokenizer = tokenizer
        self.ngrams = ngrams
        self.min_df = min_df
        self.max_df = max_df
        self.max_features = max_features
        self.stop_words = stop_words
        self.weighting = weighting
        self.holdout = holdout
        self.cv = cv
        self.metric = metric
        self.refit = refit
        self.path = path
        self.select = select
        self.within = within
        self.max_nonzero = max_nonzero
        self.search = search
        self.trials = trials
        self.search_space = search_space
        self.budget = budget
        self.resume = resume
        self.backend = backend
        self.address = address
        self.jobs = jobs
        self.seed = seed
        self.tol = tol
        self.max_iter = max_iter

    def fit(
        self,
        X: Iterable[str],
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        unlabeled: Iterable[str] | None = None,
        group_of: Iterable[Any] | None = None,
        time_of: Iterable[Any] | None = None,
    ) -> Self:
        """Train on texts ``X`` (n,) with numbers ``y`` (n,) and, if given, their importance (n,).

        unlabeled, group_of, time_of: see :meth:`textreg.estimators.classifier.TextClassifier.fit`.

        Raises DataError for data that no model can be learned from and UsageError for wrong
        settings, both ValueErrors; warns with ConvergenceWarning when the fit misses ``tol``.
        """
        texts, targets, weights = self._checked(X, y, sample_weight)
        try:
            numbers = targets.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise DataError(
                f"y must hold numbers, and {error}. For labels of other kinds use TextClassifier."
            ) from error
        labels = [repr(number) for number in numbers.tolist()]
        self.model_ = self._train(
            texts,
            labels,
            weights,
            unlabeled,
            group_of,
            time_of,
            task=Regression.name,
        )
        assert self.model_.summary is not None  # it was trained
        self.n_iter_ = self.model_.summary.iterations
        return self

    def predict(self, X: Iterable[str]) -> Floats:
        """(n,) numbers."""
        check_is_fitted(self)
        return np.asarray(self.model_.predict(self._texts(X)), dtype=np.float64)
