"""The graph builders of textreg: co-occurrence, a lexicon, and links and classes in files."""

from __future__ import annotations

import math
import warnings
from itertools import chain
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from textreg.errors import DataError, DataWarning, UsageError, did_you_mean, first_few
from textreg.files import numbered_lines
from textreg.hookspecs import hookimpl
from textreg.kinds import GraphBuilder
from textreg.params import param
from textreg.records import Graph, Groups, Tokens
from textreg.structure import linking
from textreg.structure.grouping import features_of, read_groups

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from textreg.records import Floats


class Cooccurrence(GraphBuilder):
    """Links words that occur in the same documents (sandler2008, section 4.1).

    Each feature is linked to those whose columns have the largest cosines with its own; the cosine
    is the weight. Unlabeled documents count as well.
    """

    name = "cooccurrence"
    neighbors: int = param(default=25, min=1, help="maximum number of links of a feature")
    threshold: float = param(default=0.1, min=0, max=1, help="links have a cosine above this")
    min_df: int = param(default=5, min=1, help="minimum number of documents with a linked feature")

    def build(self, tokens: Tokens) -> Graph:
        """The graph of the documents of ``tokens``."""
        B = linking.presence(tokens, self.min_df)
        return Graph(linking.nearest_by_cosine(B, self.neighbors, self.threshold))


class Lexicon(GraphBuilder):
    """Links words that are correlated with the same seed words (sandler2008, section 4.2).

    The vector of a feature has its correlations with all seeds, over documents. Two features are
    linked, with weight 1, if each is among the other's nearest neighbors. With seeds of strong
    sentiment this links words of the same sentiment.
    """

    name = "lexicon"
    order_matters = True  # of features that are equally near
    seeds: str | None = param(
        default=None, help="files with one word on each line; separate several by commas"
    )
    min_seed_df: int = param(default=100, min=1, help="minimum number of documents with a seed")
    neighbors: int = param(default=100, min=1, help="number of nearest neighbors of a feature")
    min_df: int = param(default=10, min=1, help="minimum number of documents with a linked feature")
    distance: str = param(
        default="cosine",
        choices=("cosine", "euclidean"),
        help="distance between vectors of correlations; the paper does not say which",
    )

    def build(self, tokens: Tokens) -> Graph:
        """The graph; UsageError without seeds, DataError if no seed is frequent enough."""
        if self.seeds is None:
            raise UsageError("lexicon: name a file of seed words with --graph-seeds FILE.")
        words = list(chain(*linking.read_word_lists(self.seeds).values()))
        seeds = linking.features_among(words, tokens.vocabulary, self.seeds)
        B = linking.presence(tokens)
        frequency = np.bincount(B.indices, minlength=B.shape[1])
        frequent = seeds[frequency[seeds] >= max(self.min_seed_df, self.min_df)]
        if not len(frequent):
            most = seeds[np.argmax(frequency[seeds])]
            raise DataError(
                f"{self.seeds}: no seed is in {max(self.min_seed_df, self.min_df)} documents or "
                f"more; the most frequent, '{tokens.vocabulary[most]}', is in {frequency[most]}. "
                "Lower --graph-min-seed-df and --graph-min-df, or add unlabeled documents."
            )
        linked = np.flatnonzero(frequency >= self.min_df)
        V = linking.correlations(B[:, linked], np.searchsorted(linked, frequent))
        if self.distance == "cosine":
            length = np.linalg.norm(V, axis=1, keepdims=True)
            V = np.divide(V, length, out=np.zeros_like(V), where=length > 0.0)
        links = linking.mutual(linking.nearest_by_distance(V, self.neighbors))
        return Graph(spread(links, linked, len(tokens.vocabulary)))


def spread(links: csr_array, features: np.ndarray, size: int) -> csr_array:
    """Links between the rows ``features`` as links between all ``size`` features."""
    from scipy.sparse import csr_array

    pairs = links.tocoo()
    where = features[pairs.row], features[pairs.col]
    return csr_array((pairs.data, where), shape=(size, size))


# Maximum number of edges that a warning lists.
SHOWN = 3

EDGE = "Write two words, and a weight if it is not 1, with tabs between them."


class Classes(GraphBuilder):
    """Links the features of a class to their mean weight (sandler2008, section 3.1).

    Each feature is linked to a virtual feature for its class, whose weight is learned with the
    others and becomes the mean. A feature of several classes is linked to all of them, in
    proportion to the weights of the groups (a mixture). The classes are word lists, groups from a
    file, or groups from a builder (``--groups lda``). Features of no class have no link.
    """

    name = "classes"
    takes_groups: ClassVar[bool] = True
    lists: str | None = param(
        default=None,
        help="files with one word on each line, one for each class; separate them by commas",
    )
    path: str | None = param(default=None, help="file of groups, as for --groups file")
    opposite: str | None = param(
        default=None,
        help="classes with opposite means, such as good:bad; separate several by commas",
    )

    def build(self, tokens: Tokens) -> Graph:
        """The graph; UsageError unless exactly one of ``lists`` and ``path`` is given."""
        if (self.lists is None) == (self.path is None):
            raise UsageError(
                "classes: give one of word lists (--graph-lists good.txt,bad.txt), a file of "
                "groups (--graph-path FILE) and a group builder (--groups NAME)."
            )
        if self.lists is not None:
            sets, source = linking.read_word_lists(self.lists), self.lists
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
                f"{source}: none of the words is a feature of the texts, for example "
                f"'{next(chain(*words))}'. Write them as the tokenizer does, such as in lower case."
            )
        groups = Groups(indptr, indices, weights, len(tokens.vocabulary), names)
        return self._graph(groups)

    def build_from(self, tokens: Tokens, groups: Groups) -> Graph:
        """The graph with a class for every group; UsageError if files are given as well."""
        if self.lists is not None or self.path is not None:
            raise UsageError(
                "classes: take the classes from a group builder (--groups) or from files "
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
            rows, columns = p + np.concatenate([pairs, pairs[:, ::-1]]).T
            dissimilar = csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)
        return Graph(similar, dissimilar, classes)

    def _pair(self, text: str, groups: Groups) -> tuple[int, int]:
        """The numbers of two classes in ``good:bad``."""
        names = list(groups.names or ())
        pair = [name.strip() for name in text.split(":")]
        if len(pair) != 2 or pair[0] == pair[1]:
            raise UsageError(
                f"classes: opposite must be two classes such as good:bad, not '{text}'."
            )
        for name in pair:
            if name not in names:
                raise UsageError(
                    f"classes: opposite names '{name}', which is not a class."
                    f"{did_you_mean(name, names)} There are: {', '.join(names[:20])}."
                )
        return names.index(pair[0]), names.index(pair[1])


class EdgeFile(GraphBuilder):
    """Links from a file, one on each line: two features and a weight, with tabs between them.

    The default of the weight is 1. A negative weight links features that should have opposite
    weights (sandler2008, section 3.2). Empty lines and lines that begin with ``#`` are ignored, as
    are edges of words that are not features, with a warning.
    """

    name = "file"
    path: str | None = param(default=None, help="file of edges")
    directed: bool = param(
        default=False, help="an edge pulls only its first feature toward the second"
    )

    def build(self, tokens: Tokens) -> Graph:
        """The graph; DataError with file and line for a bad edge, or if no edge has features."""
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
    """First features, second features and weights of all edges between features.

    Warns of the other edges. Raises DataError for a bad edge, or if there is no other.
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
        raise DataError(f"{path}: no edges in it. {EDGE}")
    if not ends:
        raise DataError(
            f"{path}, {unknown[0]} are not both features of the texts, nor are those of any other "
            "edge. Write words as the tokenizer does, for example in lower case."
        )
    if unknown:
        warnings.warn(
            f"{path}: {len(unknown):,} of {len(unknown) + len(ends):,} edges link words that are "
            f"not both features of the texts, and are ignored: {first_few(unknown, SHOWN, '; ')}",
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
        raise DataError(f"{where}: this is not an edge: {line.strip()!r:.60}. {EDGE}")
    try:
        weight = float(fields[2]) if len(fields) == 3 else 1.0
    except ValueError:
        weight = math.nan
    if not 1e-300 <= abs(weight) <= 1e20:  # solvers multiply sums of squares
        raise DataError(
            f"{where}: the weight '{fields[2]}' is zero or not a number from 1e-300 to 1e20. "
            f"{EDGE} A negative weight links opposites."
        )
    if fields[0] == fields[1]:
        raise DataError(f"{where}: '{fields[0]}' is linked to itself. Remove the line.")
    return fields[0], fields[1], weight


class Opposites(GraphBuilder):
    """Links each word with its negated pair, "great" with "not great", as opposites, and with its
    antonyms in a file (sandler2008, section 3.2): their weights should have opposite signs.
    """

    name = "opposites"
    negations: str = param(default="not,no,never", help="words that negate the next, with commas")
    antonyms: str | None = param(
        default=None, help="file of pairs of opposite words, and maybe a weight, with tabs between"
    )

    def build(self, tokens: Tokens) -> Graph:
        """The graph of the features of ``tokens``; DataError if it would have no link."""
        number = {name: feature for feature, name in enumerate(tokens.vocabulary)}
        negations = set(map(str.strip, self.negations.split(",")))
        links = {
            (number[name], number[word]): 1.0
            for name in tokens.vocabulary
            for negation, _, word in [name.partition(" ")]
            if negation in negations and word in number
        }
        if self.antonyms is not None:
            one, other, weights = _known_edges(self.antonyms, tokens.vocabulary)
            pairs = zip(one.tolist(), other.tolist(), strict=True)
            links |= zip(pairs, np.abs(weights).tolist(), strict=True)
        if not links:
            raise DataError(
                f"opposites: no feature is a word after one of {self.negations}. Take pairs of "
                "words as features (--ngrams 2), or name a file of opposites (--graph-antonyms)."
            )
        links = {(b, a): weight for (a, b), weight in links.items()} | links
        row, column = np.array(list(links)).T
        opposed = _links(np.array(list(links.values())), row, column, len(number))
        return Graph(_links(np.zeros(0), row[:0], column[:0], len(number)), opposed)


@hookimpl
def textreg_graph_builders() -> list[type[GraphBuilder]]:
    return [Cooccurrence, Lexicon, Classes, EdgeFile, Opposites]
