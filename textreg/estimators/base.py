"""Base of the scikit-learn estimators: their parameters, checks of their input, and columns.

Of the columns of a matrix groups and links may be known: given, or of the texts behind it.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Container, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets, is_multilabel
from sklearn.utils.validation import column_or_1d

from textreg.errors import DataError, RecordError, UsageError, did_you_mean
from textreg.kinds import GraphBuilder, GroupBuilder
from textreg.params import Parametrized
from textreg.plugins import calls, registry
from textreg.records import Bools, Floats, Graph, Groups, Int64s, Tokens
from textreg.records.arrays import as_array, check_weights, checked_csr
from textreg.records.documents import as_column, column_names, first_missing, is_missing
from textreg.records.text import LISTS, LazyNames
from textreg.tasks import check_classes
from textreg.training.settings import PREFIXES, create_part, declared_settings

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray
    from typing_extensions import Self


class ColumnNames(LazyNames):
    """``x0``, ``x1`` and so on, which scikit-learn calls the columns of a matrix without names."""

    def __init__(self, count: int) -> None:
        self._count = count

    def __len__(self) -> int:
        return self._count

    def name(self, group: int) -> str:
        return f"x{group}"


class _Given(Parametrized):
    """A structure that is there already: no documents change it."""

    name = "given"

    def __init__(self, structure: Any) -> None:
        super().__init__()
        self.__dict__["structure"] = structure

    def build(self, tokens: Tokens) -> Any:
        """The structure."""
        return self.__dict__["structure"]


class GivenGroups(_Given, GroupBuilder):
    """Groups that are there already."""


class GivenGraph(_Given, GraphBuilder):
    """A graph that is there already."""


def groups_builder(given: Any, names: Sequence[str]) -> Any:
    """What builds the groups that a program gives, over columns of these names.

    given: a builder of groups or its name, which stays as it is; Groups; lists of columns, by their
    numbers, names, or as slices; or a matrix of groups by columns, nonzero where a column belongs
    to a group. Raises UsageError or RecordError for anything else.
    """
    if _is_named(given, GroupBuilder):
        return given
    if isinstance(given, Groups):
        _check_width("groups", given.n_features, len(names))
        return GivenGroups(given)
    if getattr(given, "ndim", 1) == 2:
        return GivenGroups(_groups_of_matrix(given, len(names)))
    if not isinstance(given, Iterable) or isinstance(given, (bytes, dict)):
        raise UsageError(
            f"groups must be Groups, lists of columns, or a matrix of groups by columns, not "
            f"{given!r:.60}."
        )
    listed = list(given)
    if listed and all(isinstance(group, GroupBuilder) for group in listed):
        return listed  # to be joined
    # Names that nobody gave, x0 and so on, are no names to choose columns by.
    number_of = None if isinstance(names, ColumnNames) else {x: j for j, x in enumerate(names)}
    members = [
        _columns(group, f"groups[{at}]", number_of, len(names)) for at, group in enumerate(listed)
    ]
    # group g has the columns indices[indptr[g]:indptr[g + 1]]
    indptr = np.cumsum([0, *map(len, members)])
    indices = np.concatenate([np.zeros(0, dtype=np.int64), *members])
    return GivenGroups(Groups(indptr, indices, np.ones(len(members)), len(names)))


def graph_builder(given: Any, width: int) -> Any:
    """What builds the graph that a program gives, over ``width`` columns.

    given: a builder of graphs or its name, which stays as it is; a Graph; or a square matrix of the
    weights of links. Raises RecordError for another shape, or wrong weights.
    """
    if _is_named(given, GraphBuilder):
        return given
    graph = given if isinstance(given, Graph) else Graph(given)
    _check_width("graph", graph.n_features, width)
    return GivenGraph(graph)


def _is_named(given: Any, kind: type[Any]) -> bool:
    """Whether there is nothing, a name, or a builder of the kind, as such or as its class."""
    if given is None or isinstance(given, (str, kind)):
        return True
    return isinstance(given, type) and issubclass(given, kind)


def _columns(group: Any, what: str, number_of: dict[str, int] | None, width: int) -> Int64s:
    """The numbers of the columns of one group, sorted, each once."""
    if isinstance(group, slice):
        return np.arange(width)[group]
    if isinstance(group, str) or not isinstance(group, Iterable):
        raise UsageError(
            f"{what} is {group!r:.60}, and a group is a list of columns: write [{group!r:.60}]."
        )
    columns = []
    for column in group:
        if not isinstance(column, str):
            columns.append(column)
        elif number_of is None:
            raise UsageError(
                f"{what} names the column '{column}', but X has no names: fit on a data frame, or "
                "give the numbers of columns."
            )
        elif column not in number_of:
            raise UsageError(
                f"{what} names the column '{column}', which X does not have."
                f"{did_you_mean(column, number_of)}"
            )
        else:
            columns.append(number_of[column])
    numbers = np.asarray(columns if columns else np.zeros(0, dtype=np.int64))
    if numbers.dtype.kind not in "iu":
        raise UsageError(f"{what} must hold the numbers or names of columns, not {group!r:.60}.")
    if len(numbers) and not 0 <= numbers.min() <= numbers.max() < width:
        # No counting from the end: -1 is more often a mistake than the last column.
        wrong = numbers.min() if numbers.min() < 0 else numbers.max()
        raise UsageError(f"{what} has the column {wrong}: name columns of X, 0 to {width - 1}.")
    return np.unique(numbers).astype(np.int64)


def _groups_of_matrix(table: Any, width: int) -> Groups:
    """The groups of a matrix of groups by columns."""
    matrix = checked_csr("groups", table)
    if matrix.shape[1] != width:
        # Columns by groups is what many packages have.
        hint = ": transpose it" if matrix.shape[0] == width else ""
        raise RecordError(
            f"groups is a matrix with the shape {matrix.shape}, and needs a column for each of "
            f"the {width} columns of X{hint}."
        )
    if not np.isin(matrix.data, (0.0, 1.0)).all():
        raise RecordError(
            "groups is a matrix with other values than 0 and 1: write 1 where a column belongs to "
            "a group; for weights of groups give Groups(..., weights=...)."
        )
    matrix = matrix.copy()
    matrix.eliminate_zeros()
    return Groups(matrix.indptr, matrix.indices, np.ones(matrix.shape[0]), width)


def _check_width(name: str, columns: int, width: int) -> None:
    if columns != width:
        raise RecordError(
            f"{name} is over {columns:,} columns, and X has {width:,}: they must be of the same "
            "matrix."
        )


class TextMatrix(csr_array):  # type: ignore[misc]
    """A csr_array of documents by features that also knows the sentences of its documents.

    ``TextVectorizer.fit_transform`` makes it. Rows chosen from it, ``X[rows]``, know theirs; the
    result of any other operation knows none, so that no groups of other rows or columns are ever
    taken for its own.

    Attributes
    ----------
    tokens : Tokens or None
        The features of every document in reading order, those of the first tokenizer where there
        are several. None where they are not known.
    names : sequence of str or None
        The names of the columns, where the tokens are known.
    """

    tokens: Tokens | None = None
    names: Sequence[str] | None = None

    @classmethod
    def of(cls, X: csr_array, tokens: Tokens, names: Sequence[str]) -> Self:
        """The matrix with these tokens and names; it shares the arrays of ``X``."""
        matrix: Self = cls(X)
        matrix.tokens, matrix.names = tokens, names
        return matrix

    def __getitem__(self, key: Any) -> Any:
        selected = super().__getitem__(key)
        if isinstance(key, tuple) and len(key) == 2:
            # X[rows, :] and X[rows, ...] ask for all columns.
            every = isinstance(key[1], slice) and key[1] == slice(None)
            key = key[0] if every or key[1] is Ellipsis else key
        rows = isinstance(key, slice) or (isinstance(key, (list, np.ndarray)) and np.ndim(key) == 1)
        if self.tokens is not None and rows:
            # of masks, and of numbers from the end, as well
            selected.tokens = self.tokens.select(np.arange(self.shape[0])[key])
            selected.names = self.names
        return selected

    def groups(self, builder: str | type[GroupBuilder] | GroupBuilder = "sentences") -> Groups:
        """Groups of the columns, from the documents of the rows.

        Parameters
        ----------
        builder : str, GroupBuilder or class, default "sentences"
            A group builder, or several in a list.

        Returns
        -------
        Groups
            For ``LinearClassifier(groups=...)``, say.

        Raises
        ------
        UsageError
            If the matrix has no tokens.
        """
        groups = calls.build_groups(registry.create("groups", builder), self._known())
        return groups.widened(self.shape[1])

    def graph(self, builder: str | type[GraphBuilder] | GraphBuilder = "cooccurrence") -> Graph:
        """A graph of the columns, from the documents of the rows.

        Parameters
        ----------
        builder : str, GraphBuilder or class, default "cooccurrence"
            A graph builder.

        Returns
        -------
        Graph
            For ``LinearClassifier(graph=...)``, say.

        Raises
        ------
        UsageError
            If the matrix has no tokens.
        """
        graph = calls.build_graph(registry.create("graph", builder), self._known())
        return graph.widened(self.shape[1])

    def _known(self) -> Tokens:
        if self.tokens is None:
            raise UsageError(
                "this matrix does not know its texts: take the groups or the graph of what "
                "TextVectorizer.fit_transform returns, before it is changed."
            )
        return self.tokens


P = ParamSpec("P")


def stored(init: Callable[P, None]) -> Callable[P, None]:
    """A constructor that stores its arguments as attributes of the same names, and does no more."""
    signature = inspect.signature(init)

    @functools.wraps(init)
    def store(*args: P.args, **kwargs: P.kwargs) -> None:
        nested = part_options(kwargs, signature.parameters)
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:  # which does not say of what
            raise TypeError(f"{init.__qualname__}() {error}") from None
        bound.apply_defaults()
        (_, estimator), *values = bound.arguments.items()
        vars(estimator).update(values)
        for prefix, options in nested.items():
            setattr(estimator, prefix, create_part(prefix, getattr(estimator, prefix), options))

    return store


def part_options(given: dict[str, Any], known: Container[str]) -> dict[str, dict[str, Any]]:
    """Take the parameters of parts out of those that are given: ``reg_l1``, or ``reg__l1``."""
    nested: dict[str, dict[str, Any]] = {}
    for key in [key for key in given if key not in known]:
        prefix, _, name = key.partition("_")
        if prefix in PREFIXES and prefix in known:
            nested.setdefault(prefix, {})[name.removeprefix("_")] = given.pop(key)
    return nested


def declared(
    names: Iterable[str], **defaults: Any
) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """A constructor whose parameters are settings of a training, as these are declared.

    Type checkers read its keywords in ``textreg.training.keywords``. defaults: those that are
    not the declared ones, or of parameters that are no settings.
    """
    settings, kinds = declared_settings(), inspect.Parameter
    parameters = [kinds("self", kinds.POSITIONAL_OR_KEYWORD)]
    for name in names:
        kind = kinds.POSITIONAL_OR_KEYWORD if name == "reg" else kinds.KEYWORD_ONLY
        default = defaults[name] if name in defaults else settings[name].default
        parameters.append(kinds(name, kind, default=default))

    def decorate(init: Callable[P, None]) -> Callable[P, None]:
        init.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        return stored(init)

    return decorate


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
                # A name has no parameters yet: they come with the instance.
                if isinstance(part := params.get(prefix), Parametrized):
                    params |= {f"{prefix}__{key}": value for key, value in part.params().items()}
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
        nested = part_options(params, self._get_param_names())
        # Parts first: reg="lasso", reg__l1=1 is meant for the new one.
        super().set_params(**params)
        for prefix, options in nested.items():
            setattr(self, prefix, create_part(prefix, getattr(self, prefix), options))
        return self

    def _checked(
        self, n: int, y: ArrayLike, sample_weight: ArrayLike | None, rows: str
    ) -> tuple[NDArray[Any], Floats | None]:
        """Check targets and weights, n of each: as many as X has ``rows``, such as texts."""
        if y is None:
            name = type(self).__name__
            raise UsageError(f"{name} requires y to be passed, but the target y is None.")
        try:
            refuse_missing(y)
            y = _as_declared(y)
            # Warnings and refusals of scikit-learn, which its checks look for.
            targets = column_or_1d(y, warn=True)
            assert_all_finite(targets, input_name="y")
        except (TypeError, ValueError) as error:  # in the words of scikit-learn
            raise DataError(f"y cannot be used: {error}") from error
        if len(targets) != n:
            raise DataError(f"{n:,} {rows} but {len(targets):,} labels: give one for each.")
        if sample_weight is None:
            return targets, None
        weights = as_array("sample_weight", sample_weight, np.float64, (n,))
        check_weights("sample_weight", weights)
        if not weights.any():
            raise DataError(
                f"every {rows[:-1]} has the weight 0, so there is nothing to learn from: give some "
                "a weight above zero, or leave sample_weight out."
            )
        return targets, weights

    def _checked_classes(
        self, n: int, y: ArrayLike, sample_weight: ArrayLike | None, rows: str
    ) -> tuple[NDArray[Any], NDArray[np.intp], Floats | None]:
        """The classes of y, sorted, the number of each label's class, and the weights, checked."""
        labels, weights = self._checked(n, y, sample_weight, rows)
        classes, codes = coded(labels)
        # Labels that have no weight are not learned: two others must be there.
        check_classes((classes if weights is None else np.unique(labels[weights > 0])).tolist())
        return classes, codes, weights


def _as_declared(y: Any) -> Any:
    """``y`` in the type that its column declares, where scikit-learn would make floats of it.

    Those are columns of pandas that may have missing values, and here have none.
    """
    kind = getattr(getattr(y, "dtype", None), "numpy_dtype", None)
    if kind is not None and np.dtype(kind).kind in "iub":
        return y.astype(kind)
    return as_known(y)


def as_known(y: Any) -> Any:
    """``y`` as scikit-learn knows it: columns of packages other than pandas and NumPy as lists.

    Tables of several columns become arrays: they may be indicators.
    """
    if hasattr(y, "iloc") or hasattr(y, "tocsr") or hasattr(y, "__array_interface__"):
        return y
    if len(column_names(y) or ()) > 1:
        return np.asarray(y)
    names = ("to_pylist", "to_list", "column_names", "__arrow_c_stream__")
    return as_column(y, "y") if any(hasattr(y, name) for name in names) else y


def refuse_missing(y: Any) -> None:
    """DataError that names the first missing label of a column."""
    kind = getattr(y, "dtype", None)
    if getattr(y, "ndim", 1) != 1 or (isinstance(kind, np.dtype) and kind.kind not in "Of"):
        return
    values = as_column(y, "y")
    if (row := first_missing(values)) is not None:
        raise DataError(
            f"y[{row}] is missing ({values[row]!r}): Input y contains NaN. Give it a label, or "
            "leave its row out."
        )


def coded(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The sorted classes of labels, and the number of each label's class; DataError without."""
    try:
        with np.errstate(invalid="ignore"):  # a float beyond the integers is no class, it finds
            check_classification_targets(labels)
        classes, codes = np.unique(labels, return_inverse=True)
    except (TypeError, ValueError) as error:
        message = f"y cannot be used: {error}"
        if "'<' not supported" in message or "label type: unknown" in message:  # of objects
            message = "Unknown label type: the labels in y have no common order. Make them strings."
        raise DataError(message) from error
    return classes, codes


def as_numbers(targets: NDArray[Any], classifier: str) -> Floats:
    """The numbers that targets are; DataError, which names the ``classifier``, for labels."""
    try:
        return targets.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"y must hold numbers, and {error}. For labels of other kinds use {classifier}."
        ) from error


#: The score of a column of an indicator matrix that no text of the training has.
NEVER = -1000.0


class LabelSets(NamedTuple):
    """The labels of every text.

    Attributes
    ----------
    sets : list of tuple of str
        The labels of every text, as strings.
    classes : ndarray of shape (k,)
        All labels, sorted; of an indicator matrix the numbers of its columns.
    matrix : ndarray of bool or None
        The indicator matrix, if they were one.
    """

    sets: list[tuple[str, ...]]
    classes: NDArray[Any]
    matrix: Bools | None


def label_sets(y: Any) -> LabelSets | None:
    """What ``y`` says, if its texts may have several labels; None if each has one.

    y: an indicator matrix, dense or sparse, or a list, tuple or set of labels for each text.
    Raises DataError for labels without a common order, and if only some texts have lists.
    """
    y = as_known(y)
    try:
        several = is_multilabel(y)
    except ValueError as error:
        raise DataError(f"y cannot be used: {error}") from error
    if several:
        values = np.asarray(y.toarray() if hasattr(y, "toarray") else y)
        matrix = values != 0
        if not (values == matrix).all():
            return None  # to be refused as any other table
        sets = [tuple(str(column) for column in np.flatnonzero(row)) for row in matrix]
        return LabelSets(sets, np.arange(matrix.shape[1]), matrix)
    rows = y.tolist() if getattr(y, "ndim", 2) == 1 and hasattr(y, "tolist") else y
    if not isinstance(rows, Sequence):
        return None
    # the lists of a column of pandas are arrays
    rows = [row.tolist() if isinstance(row, np.ndarray) and row.ndim else row for row in rows]
    if not any(isinstance(labels, LISTS) for labels in rows):
        return None
    for row, labels in enumerate(rows):
        # One label among lists is a mistake, not a list of one.
        if not isinstance(labels, LISTS) or any(map(is_missing, labels)):
            raise DataError(
                f"y[{row}] is {labels!r:.40}, and others are lists or sets of labels: give one for "
                "each text, none of them missing, and [] for a text without a label."
            )
    try:
        classes = np.array(sorted({label for labels in rows for label in labels}))
    except TypeError as error:
        raise DataError("the labels in y have no common order: convert them to strings.") from error
    return LabelSets(named_as(classes, rows), classes, None)


def named_as(classes: NDArray[Any], sets: Iterable[Iterable[Any]]) -> list[tuple[str, ...]]:
    """Sets of labels as texts: 1 beside 2.5 is the class 1.0, and called so."""
    name_of = {label: str(label) for label in classes.tolist()}
    return [tuple(name_of.get(label, str(label)) for label in labels) for labels in sets]


def gives_probabilities(estimator: Any) -> bool:
    """Whether the loss does; AttributeError otherwise, as scikit-learn asks with ``hasattr``."""
    loss = create_part("loss", estimator.loss, {})
    if not loss.log_odds:
        raise AttributeError(
            f"the loss '{loss.label()}' gives no probabilities: use decision_function, or the "
            "logistic loss."
        )
    return True
