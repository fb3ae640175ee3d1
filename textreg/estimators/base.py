"""Base of the scikit-learn estimators: their parameters, and checks of their input."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from textreg._core.threads import allowing
from textreg.errors import DataError, UsageError
from textreg.jobs import threads_of
from textreg.params import Parametrized
from textreg.records.columns import as_column, first_missing
from textreg.records.convert import as_array
from textreg.records.documents import is_tokenized, tokenized
from textreg.records.fields import as_fields, fielded
from textreg.training.settings import PREFIXES, create_part, declared_settings
from textreg.training.train import train

if TYPE_CHECKING:
    import os

    from numpy.typing import ArrayLike, NDArray
    from typing_extensions import Self

    from textreg.records import Documents, Floats
    from textreg.records.documents import Document


class PartsEstimator(BaseEstimator):  # type: ignore[misc]
    """A scikit-learn estimator with parts, such as a regularizer, that have parameters."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name.

        Parameters
        ----------
        deep : bool, default True
            Whether to add the parameters of parts that are instances, such as ``reg__l1``.

        Returns
        -------
        dict
        """
        params: dict[str, Any] = super().get_params(deep=deep)
        if deep:
            for prefix in PREFIXES:
                if isinstance(part := params.get(prefix), Parametrized):
                    params |= {f"{prefix}__{key}": it for key, it in part.params().items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Change parameters.

        Parameters
        ----------
        **params
            Parameters by name. A name such as ``reg__l1`` is a parameter of a part; the part is
            then stored as an instance.

        Returns
        -------
        self
            The estimator itself.

        Raises
        ------
        UsageError
            For a parameter that a part does not have.
        """
        nested: dict[str, dict[str, Any]] = {}
        plain = {}
        for key, value in params.items():
            prefix, separator, name = key.partition("__")
            if separator and prefix in PREFIXES and prefix in self._get_param_names():
                nested.setdefault(prefix, {})[name] = value
            else:
                plain[key] = value
        super().set_params(**plain)
        for prefix, values in nested.items():
            setattr(self, prefix, create_part(prefix, getattr(self, prefix), values))
        return self

    def _checked(
        self, n: int, y: ArrayLike, sample_weight: ArrayLike | None, rows: str
    ) -> tuple[NDArray[Any], Floats | None]:
        """Check targets and weights, n of each: as many as X has ``rows``, such as texts."""
        if y is None:
            name = type(self).__name__
            raise UsageError(f"{name} requires y to be passed, but the target y is None.")
        try:
            y = _as_declared(y)
            refuse_missing(y)
            targets = column_or_1d(y, warn=True)
            assert_all_finite(targets, input_name="y")
        except (TypeError, ValueError) as error:  # in the words of scikit-learn
            raise DataError(f"y cannot be used: {error}") from error
        if len(targets) != n:
            raise DataError(f"{n:,} {rows} but {len(targets):,} labels: give one for each.")
        return targets, checked_weights(sample_weight, n)


def _as_declared(y: Any) -> Any:
    """``y`` in the type that its column declares, where scikit-learn would make floats of it.

    Those are columns of pandas that may have missing values. ValueError if there are some.
    """
    kind = getattr(getattr(y, "dtype", None), "numpy_dtype", None)
    if kind is not None and np.dtype(kind).kind in "iub":
        refuse_missing(y)
        return y.astype(kind)
    return as_known(y)


def as_known(y: Any) -> Any:
    """``y`` as scikit-learn knows it: columns of packages other than pandas and NumPy as lists."""
    if hasattr(y, "iloc") or hasattr(y, "tocsr") or hasattr(y, "__array_interface__"):
        return y
    names = ("to_pylist", "to_list", "column_names", "__arrow_c_stream__")
    return as_column(y, "y") if any(hasattr(y, name) for name in names) else y


def refuse_missing(y: Any) -> None:
    """DataError that names the first missing label of a column."""
    kind = getattr(y, "dtype", None)
    if getattr(y, "ndim", 1) != 1 or (isinstance(kind, np.dtype) and kind.kind not in "Of"):
        return
    values = y if isinstance(y, (list, tuple)) else as_column(y, "y")
    if not isinstance(values, (list, tuple)):
        return
    if (row := first_missing(values)) is not None:
        raise DataError(
            f"y[{row}] is missing ({values[row]!r}): Input y contains NaN. Give it a label, or "
            "leave its row out."
        )


def checked_weights(sample_weight: ArrayLike | None, n: int) -> Floats | None:
    """The weights as an array (n,); RecordError if they are none."""
    if sample_weight is None:
        return None
    return as_array("sample_weight", sample_weight, np.float64, (n,))


def coded(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The sorted classes of labels, and the number of each label's class; DataError without."""
    try:
        with np.errstate(invalid="ignore"):  # a float beyond the integers is no class, it finds
            check_classification_targets(labels)
        classes, codes = np.unique(labels, return_inverse=True)
    except TypeError as error:
        raise DataError(
            "the labels in y have no common order: convert them to strings, "
            "[str(label) for label in y]."
        ) from error
    except ValueError as error:
        raise DataError(f"y cannot be used: {error}") from error
    return classes, codes


def as_numbers(targets: NDArray[Any], classifier: str) -> Floats:
    """The numbers that targets are; DataError, which names the ``classifier``, for labels."""
    try:
        return targets.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"y must hold numbers, and {error}. For labels of other kinds use {classifier}."
        ) from error


def by_name(given: Any) -> Any:
    """A mapping from labels of any type by the names of these; anything else as it is."""
    return {str(key): it for key, it in given.items()} if isinstance(given, Mapping) else given


def texts_of(X: Any) -> Documents:
    """``X`` as a list; DataError if it contains anything but texts, or lists of tokens.

    A data frame or an array of one column is taken for that column; it may be of any package.
    """
    texts = as_column(X, "X")
    if not isinstance(texts, (list, tuple)):
        what = "one text" if isinstance(X, (str, bytes)) else f"{X!r:.40}"
        raise UsageError(f"X must be a sequence of texts, such as [text], not {what}.")
    if is_tokenized(texts):
        return tokenized(texts, lambda row: f"X[{row}]")
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            raise DataError(
                f"X[{row}] is {text!r:.40}, which is not a text. Leave it out, or replace "
                "it by an empty text."
            )
    return list(texts)


class OfTexts(PartsEstimator):
    """An estimator whose X are texts, lists of tokens, or tables of the columns ``fields``."""

    fields: Any

    def _texts(self, X: Any) -> Documents:
        """``X`` as a list of documents: of texts or tokens, or of the values of ``fields``."""
        if self.fields is None:
            return texts_of(X)
        return fielded(X, as_fields(self.fields), "row {} of X")

    def _scores(self, X: Any) -> Floats:
        """Those of :meth:`Model.decision_function`, in as many threads as there are jobs."""
        with allowing(threads_of(self.jobs)):
            scores: Floats = self.model_.decision_function(self._texts(X))
        return scores

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        return tags


class TextEstimator(OfTexts):
    """A scikit-learn estimator on texts, whose parameters are the settings of a training."""

    tokenizer: Any

    def _train(
        self,
        texts: Documents,
        labels: Sequence[str] | Sequence[Sequence[str]],
        weights: Floats | None,
        unlabeled: Iterable[Document] | None,
        group_of: Iterable[Any] | None,
        time_of: Iterable[Any] | None,
        **changes: Any,
    ) -> None:
        """Train ``model_`` with the estimator's parameters and the ``changes`` to them."""
        settings = {**self.get_params(deep=False), **changes}
        if is_tokenized(texts) and self.tokenizer == declared_settings()["tokenizer"].default:
            del settings["tokenizer"]  # nobody asked for it
        self.model_ = train(
            texts,
            labels,
            sample_weight=weights,
            unlabeled=None if unlabeled is None else self._texts(unlabeled),
            group_of=group_of,  # type: ignore[arg-type]  # any column
            time_of=time_of,  # type: ignore[arg-type]
            **settings,
        )
        assert self.model_.summary is not None  # it was trained
        self.n_iter_ = self.model_.summary.iterations

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the trained model as a file for ``textreg.load`` and the command line.

        Parameters
        ----------
        path : str or path
            The file, such as ``reviews.textreg``. One that is there already is replaced.

        Raises
        ------
        UsageError
            If the file cannot be written.
        """
        check_is_fitted(self)
        self.model_.save(path)
