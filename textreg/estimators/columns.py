"""What is known of the columns of a matrix: groups and links, given or of the texts behind it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from textreg.errors import RecordError, UsageError, did_you_mean
from textreg.kinds import GraphBuilder, GroupBuilder
from textreg.plugins import calls, registry
from textreg.records import Graph, Groups
from textreg.structure.grouping import LazyNames

if TYPE_CHECKING:
    from typing_extensions import Self

    from textreg.records import Int64s, Tokens


class ColumnNames(LazyNames):
    """``x0``, ``x1`` and so on, which scikit-learn calls the columns of a matrix without names."""

    def __init__(self, count: int) -> None:
        self._count = count

    def __len__(self) -> int:
        return self._count

    def name(self, group: int) -> str:
        return f"x{group}"


class GivenGroups(GroupBuilder):
    """Groups that are there already: no documents change them."""

    name = "given"

    def __init__(self, groups: Groups) -> None:
        super().__init__()
        self.__dict__["groups"] = groups

    def build(self, tokens: Tokens) -> Groups:
        """The groups."""
        groups: Groups = self.__dict__["groups"]
        return groups


class GivenGraph(GraphBuilder):
    """A graph that is there already: no documents change it."""

    name = "given"

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self.__dict__["graph"] = graph

    def build(self, tokens: Tokens) -> Graph:
        """The graph."""
        graph: Graph = self.__dict__["graph"]
        return graph


def groups_builder(given: Any, names: Sequence[str]) -> Any:
    """What builds the groups that a program gives, over columns of these names.

    given: a builder of groups or its name, which stays as it is; Groups; lists of columns, by their
    numbers, names, or as slices; or a matrix of groups by columns, nonzero where a column belongs
    to a group. Raises UsageError or RecordError for anything else.
    """
    if given is None or isinstance(given, (str, GroupBuilder)):
        return given
    if isinstance(given, type) and issubclass(given, GroupBuilder):
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
    if given is None or isinstance(given, (str, GraphBuilder)):
        return given
    if isinstance(given, type) and issubclass(given, GraphBuilder):
        return given
    graph = given if isinstance(given, Graph) else Graph(given)
    _check_width("graph", graph.n_features, width)
    return GivenGraph(graph)


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


def _groups_of_matrix(given: Any, width: int) -> Groups:
    """The groups of a matrix of groups by columns."""
    from textreg.records.matrix import checked_csr

    matrix = checked_csr("groups", given)
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
        if isinstance(key, tuple) and len(key) == 2 and _is_all(key[1]):
            key = key[0]
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


def _is_all(key: Any) -> bool:
    """Whether a key of columns means all of them."""
    return key is Ellipsis or (isinstance(key, slice) and key == slice(None))
