"""Graphs of features from what people know: classes of words, and lists of edges."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from textreg.errors import DataError, DataWarning, UsageError, did_you_mean, first_few
from textreg.files import numbered_lines
from textreg.hookspecs import hookimpl
from textreg.kinds import GraphBuilder
from textreg.params import param
from textreg.records import Graph, Groups, Tokens
from textreg.structure.groupfile import read_groups
from textreg.structure.grouping import features_of
from textreg.structure.linking import listed_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from textreg.records import Floats

SHOWN = 3
"""Edges that a warning names."""

EDGE = "Write two words and, if it is not 1, a weight, with tabs between them."


class Classes(GraphBuilder):
    """Features of a class have weights near a mean that is learned with them (section 3.1).

    Each feature is linked to a virtual feature for its class, whose weight becomes the mean. A
    feature of several classes is linked to all of them, in proportion to their weights (a mixture).
    The classes come from word lists, from a file of groups, or from a group builder (``--groups
    lda``). Features of no class have no link.
    """

    name = "classes"
    takes_groups: ClassVar[bool] = True
    lists: str | None = param(
        default=None, help="word lists, one for each class; several with commas between them"
    )
    path: str | None = param(default=None, help="a file of groups: see --groups file")
    opposite: str | None = param(
        default=None,
        help="classes with opposite means, as good:bad; several with commas between them",
    )

    def build(self, tokens: Tokens) -> Graph:
        """The graph; UsageError unless exactly one of ``lists`` and ``path`` is given."""
        if (self.lists is None) == (self.path is None):
            raise UsageError(
                "classes: name word lists (--graph-lists good.txt,bad.txt), a file of groups "
                "(--graph-path FILE), or a builder of groups (--groups NAME); one of them."
            )
        if self.lists is not None:
            sets, source = listed_words(self.lists), self.lists
            names, words = list(sets), list(sets.values())
            weights = np.ones(len(sets))
        else:
            assert self.path is not None
            lines, source = read_groups(self.path), self.path
            names, words = [line.name for line in lines], [list(line.features) for line in lines]
            weights = np.array([line.weight for line in lines])
        indptr, indices = features_of(words, tokens.vocabulary, "none")
        if not len(indices):
            raise DataError(
                f"{source}: none of the words is a feature of the texts, such as '{words[0][0]}'. "
                "Check that they are written as the tokenizer gives them, such as in small letters."
            )
        groups = Groups(indptr, indices, weights, len(tokens.vocabulary), names)
        return self._graph(groups)

    def build_from(self, tokens: Tokens, groups: Groups) -> Graph:
        """The graph with a class for every group; UsageError where files are named as well."""
        if self.lists is not None or self.path is not None:
            raise UsageError(
                "classes: the classes come from a builder of groups (--groups) or from files "
                "(--graph-lists, --graph-path), not from both."
            )
        return self._graph(groups)

    def _graph(self, groups: Groups) -> Graph:
        from scipy.sparse import csr_array

        p, classes = groups.n_features, len(groups)
        of_class = np.repeat(np.arange(classes), np.diff(groups.indptr))
        shape = (p + classes, p + classes)
        similar = csr_array((groups.weights[of_class], (groups.indices, p + of_class)), shape=shape)
        dissimilar = None
        if self.opposite is not None:
            pairs = np.array([self._pair(text, groups) for text in self.opposite.split(",")])
            one, other = p + np.concatenate([pairs, pairs[:, ::-1]]).T
            dissimilar = csr_array((np.ones(len(one)), (one, other)), shape=shape)
        return Graph(similar, dissimilar, classes)

    def _pair(self, text: str, groups: Groups) -> tuple[int, int]:
        """The numbers of two classes in ``good:bad``."""
        names = list(groups.names or ())
        pair = [name.strip() for name in text.split(":")]
        if len(pair) != 2 or pair[0] == pair[1]:
            raise UsageError(f"classes: opposite must name two classes, as good:bad, not '{text}'.")
        for name in pair:
            if name not in names:
                raise UsageError(
                    f"classes: opposite names '{name}', which is no class."
                    f"{did_you_mean(name, names)} There are: {', '.join(names[:20])}."
                )
        return names.index(pair[0]), names.index(pair[1])


class EdgeFile(GraphBuilder):
    """Links from a file, one a line: two features and a weight, with tabs between them.

    A weight below zero links features of opposite weights (section 3.2); without a third field it
    is 1. Empty lines and lines that begin with ``#`` say nothing. Edges of words that are no
    features are left out, with a warning.
    """

    name = "file"
    path: str | None = param(default=None, help="the file of edges")
    directed: bool = param(default=False, help="an edge draws its first feature only")

    def build(self, tokens: Tokens) -> Graph:
        """The graph; DataError with file and line for a bad edge, or where no edge fits."""
        if self.path is None:
            raise UsageError("file: name the file of edges with --graph-path FILE.")
        row, column, value = _known_edges(self.path, tokens.vocabulary)
        if not self.directed:
            row, column = np.concatenate([row, column]), np.concatenate([column, row])
            value = np.concatenate([value, value])
        size, like = len(tokens.vocabulary), value > 0
        similar = _links(value[like], row[like], column[like], size)
        opposed = _links(-value[~like], row[~like], column[~like], size)
        return Graph(similar, None if like.all() else opposed)


def _known_edges(
    path: str, vocabulary: Sequence[str]
) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
    """First features, second features and weights of edges between features; a warning of others.

    DataError with file and line for a bad edge, or where there is none between features.
    """
    number = {name: feature for feature, name in enumerate(vocabulary)}
    ends: list[tuple[int, int]] = []
    weights: list[float] = []
    unknown: list[str] = []
    for line_number, line in numbered_lines(path):
        if not line.strip() or line.startswith("#"):
            continue
        one, other, weight = _edge(line, f"{path}:{line_number}")
        if one in number and other in number:
            ends.append((number[one], number[other]))
            weights.append(weight)
        else:
            unknown.append(f"line {line_number}: '{one}' and '{other}'")
    if not ends and not unknown:
        raise DataError(f"{path}: there is no edge in it. {EDGE}")
    if not ends:
        raise DataError(
            f"{path}, {unknown[0]} are not both features of the texts, and those of no other edge "
            "are. Check that they are written as the tokenizer gives them, such as in small "
            "letters."
        )
    if unknown:
        warnings.warn(
            f"{path}: {len(unknown):,} of {len(unknown) + len(ends):,} edges link words that are "
            f"not both features of the texts, and are left out: {first_few(unknown, SHOWN, '; ')}",
            DataWarning,
            stacklevel=3,
        )
    row, column = np.array(ends).T
    return row, column, np.array(weights)


def _links(value: Floats, row: np.ndarray, column: np.ndarray, size: int) -> csr_array:
    from scipy.sparse import csr_array

    return csr_array((value, (row, column)), shape=(size, size))


def _edge(line: str, where: str) -> tuple[str, str, float]:
    fields = [field.strip() for field in line.split("\t" if "\t" in line else None)]
    if len(fields) not in (2, 3) or not all(fields):
        raise DataError(f"{where}: this is no edge: {line.strip()!r:.60}. {EDGE}")
    try:
        weight = float(fields[2]) if len(fields) == 3 else 1.0
    except ValueError:
        weight = math.nan
    if not math.isfinite(weight) or weight == 0.0:
        raise DataError(
            f"{where}: the weight '{fields[2]}' is no number, or zero. {EDGE} Below zero it links "
            "opposites."
        )
    if fields[0] == fields[1]:
        raise DataError(f"{where}: '{fields[0]}' is linked to itself. Take the line out.")
    return fields[0], fields[1], weight


@hookimpl
def textreg_graph_builders() -> list[type[GraphBuilder]]:
    """Both of them."""
    return [Classes, EdgeFile]
