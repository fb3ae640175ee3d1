"""Rows of features that know the texts they were made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from textreg.errors import UsageError
from textreg.plugins import calls, registry

if TYPE_CHECKING:
    from typing_extensions import Self

    from textreg.kinds import GraphBuilder, GroupBuilder
    from textreg.records import Graph, Groups, Tokens


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
        found = super().__getitem__(key)
        if isinstance(key, tuple) and len(key) == 2 and _is_all(key[1]):
            key = key[0]
        rows = isinstance(key, slice) or (isinstance(key, (list, np.ndarray)) and np.ndim(key) == 1)
        if self.tokens is not None and rows:
            # of masks, and of numbers from the end, as well
            found.tokens = self.tokens.select(np.arange(self.shape[0])[key])
            found.names = self.names
        return found

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
