"""TextClassifier: the whole way from texts to a model as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from textreg import registry
from textreg.errors import DataError, UsageError
from textreg.params import Parametrized
from textreg.settings import PREFIXES
from textreg.training import train

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray
    from typing_extensions import Self

    from textreg.kinds import GraphBuilder, GroupBuilder, Regularizer, Tokenizer
    from textreg.records import Floats


class TextClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Classify texts with a linear model whose regularizer knows the structure of text.

    ``X`` is a one-dimensional sequence of texts, ``y`` one label a text, of any type that
    scikit-learn takes; predictions have the same type. The parameters are those of
    :class:`textreg.settings.TrainingSettings`, :class:`textreg.tuning.Tuning` and
    :class:`textreg.vectorize.Vectorizer`.

    ``reg``, ``tokenizer``, ``groups`` and ``graph`` take a name or an instance:
    ``reg="sentence"`` or ``reg=Sentence(l1=0.1)``. ``set_params(reg__l1=0.1)`` sets a parameter
    of such a part, so a GridSearchCV may run over them. Prices that are left open are chosen in
    ``fit`` on documents that it holds out.

    After ``fit``: ``classes_``, the sorted labels; ``model_``, the
    :class:`~textreg.model.Model`, whose labels are those of ``y`` as texts; ``n_iter_``,
    iterations of the final fit.

    >>> from sklearn.model_selection import GridSearchCV
    >>> search = GridSearchCV(TextClassifier(reg="lasso"), {"reg__l1": [0.1, 1.0]})
    """

    def __init__(
        self,
        reg: str | Regularizer = "sentence",
        *,
        tokenizer: str | Tokenizer = "words",
        groups: str | GroupBuilder | None = None,
        graph: str | GraphBuilder | None = None,
        ngrams: int = 2,
        min_df: int = 1,
        max_df: float = 1.0,
        max_features: int | None = None,
        stop_words: str | None = None,
        weighting: str = "tfidf",
        holdout: float | None = None,
        cv: int | None = None,
        metric: str = "accuracy",
        loss: str = "logistic",
        multiclass: str = "ovr",
        refit: bool = True,
        class_weight: str | Mapping[Any, float] | None = None,
        calibrate: str | None = None,
        threshold: Mapping[Any, str] | None = None,
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
        self.tokenizer = tokenizer
        self.groups = groups
        self.graph = graph
        self.ngrams = ngrams
        self.min_df = min_df
        self.max_df = max_df
        self.max_features = max_features
        self.stop_words = stop_words
        self.weighting = weighting
        self.holdout = holdout
        self.cv = cv
        self.metric = metric
        self.loss = loss
        self.multiclass = multiclass
        self.refit = refit
        self.class_weight = class_weight
        self.calibrate = calibrate
        self.threshold = threshold
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
        """Train on texts ``X`` (n,) with labels ``y`` (n,) and, if given, their importance (n,).

        unlabeled: further texts, for regularizers with a graph. group_of: (n,) the group of every
        text, such as its author; groups are held out as a whole. time_of: (n,) when each was
        written, a number or a date; the latest are held out.

        Raises DataError for data that no model can be learned from and UsageError for wrong
        settings, both ValueErrors; warns with ConvergenceWarning when the fit misses ``tol``.
        """
        texts = self._texts(X)
        if y is None:
            raise UsageError("TextClassifier requires y to be passed, but the target y is None.")
        labels = column_or_1d(y, warn=True)
        assert_all_finite(labels, input_name="y")
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        for name, values in (("labels", labels), ("weights", weights)):
            if values is not None and values.shape != (len(texts),):
                raise DataError(
                    f"{len(texts):,} texts but {name} of the shape {values.shape}: "
                    "give one for each text."
                )
        try:
            check_classification_targets(labels)
            classes, codes = np.unique(labels, return_inverse=True)
        except TypeError as error:
            raise DataError(
                "the labels in y are of types that have no common order: make them all texts, "
                "[str(label) for label in y]."
            ) from error
        heard = classes if weights is None else np.unique(labels[weights > 0])
        if len(heard) < 2:
            raise DataError(
                f"y has only {len(heard)} class(es), {heard.tolist()}, with a weight above zero: "
                "there is nothing to tell apart. Add texts with other labels."
            )
        names = [str(label) for label in classes.tolist()]
        options = self.get_params(deep=False)
        if isinstance(self.class_weight, Mapping):
            options["class_weight"] = {str(key): it for key, it in self.class_weight.items()}
        if self.threshold is not None:
            options["threshold"] = {str(key): it for key, it in self.threshold.items()}
        more = None if unlabeled is None else self._texts(unlabeled)
        self.model_ = train(
            texts,
            [names[c] for c in codes],
            sample_weight=weights,
            unlabeled=more,
            group_of=None if group_of is None else list(group_of),
            time_of=None if time_of is None else list(time_of),
            **options,
        )
        self.classes_ = classes
        self.n_iter_ = int(self.model_.summary["iterations"])
        # The model sorts its labels as texts: "10" comes before "9".
        self._order = np.array([self.model_.labels.index(name) for name in names])
        return self

    def decision_function(self, X: Iterable[str]) -> Floats:
        """Scores: (n,) for two classes, positive for ``classes_[1]``; else (n, classes)."""
        check_is_fitted(self)
        return _arranged(self.model_.decision_function(self._texts(X)), self._order)

    def predict(self, X: Iterable[str]) -> NDArray[Any]:
        """(n,) labels, in the type of the ``y`` that was fitted."""
        scores = self.decision_function(X)
        class_of = np.argsort(self._order)  # the class of each of the model's labels
        return np.asarray(self.classes_[class_of[self.model_.codes(_arranged(scores, class_of))]])

    def predict_proba(self, X: Iterable[str]) -> Floats:
        """(n, classes) probabilities, columns in the order of ``classes_``."""
        check_is_fitted(self)
        return self.model_.predict_proba(self._texts(X))[:, self._order]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name; ``deep`` adds those of parts given as instances, as ``reg__l1``."""
        params: dict[str, Any] = super().get_params(deep=deep)
        if deep:
            for prefix in PREFIXES:
                if isinstance(part := params[prefix], Parametrized):
                    params |= {f"{prefix}__{key}": it for key, it in part.params().items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Change parameters by name. One of a part is ``reg__l1``: the part becomes an instance.

        Raises UsageError for a parameter that the part does not have.
        """
        nested: dict[str, dict[str, Any]] = {}
        plain = {}
        for key, value in params.items():
            prefix, separator, name = key.partition("__")
            if separator and prefix in PREFIXES:
                nested.setdefault(prefix, {})[name] = value
            else:
                plain[key] = value
        super().set_params(**plain)
        for prefix, values in nested.items():
            part = registry.resolve(PREFIXES[prefix], getattr(self, prefix), values)
            setattr(self, prefix, part)
        return self

    @staticmethod
    def _texts(X: Any) -> list[str]:
        """``X`` as a list, made sure to hold texts only."""
        if isinstance(X, (str, bytes)):
            raise UsageError("X must be a sequence of texts, such as [text], not one text.")
        if getattr(X, "ndim", 1) != 1:
            raise UsageError(
                f"X must be a one-dimensional sequence of texts, not of the shape {np.shape(X)}: "
                "choose the column that holds the text, such as frame['text'] or array[:, 0]."
            )
        texts = X.tolist() if isinstance(X, np.ndarray) else list(X)
        for row, text in enumerate(texts):
            if not isinstance(text, str):
                raise DataError(
                    f"X[{row}] is {text!r:.40}, which is no text. Leave it out, or put an empty "
                    "text in its place."
                )
        return texts

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        return tags


def _arranged(scores: Floats, order: NDArray[Any]) -> Floats:
    """Scores of the labels ``order``; with two labels their sign says which one they are for."""
    if scores.ndim == 2:
        return scores[:, order]
    return scores if order[0] == 0 else -scores
