"""Graph builders from texts: words that occur together, words correlated with the same seeds."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from textreg.errors import DataError, UsageError
from textreg.hookspecs import hookimpl
from textreg.kinds import GraphBuilder
from textreg.params import param
from textreg.records import Graph, Tokens
from textreg.structure.linking import (
    correlations,
    features_among,
    mutual,
    nearest_by_cosine,
    nearest_by_distance,
    presence,
    read_word_lists,
)

if TYPE_CHECKING:
    from scipy.sparse import csr_array


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
        B = presence(tokens, self.min_df)
        return Graph(nearest_by_cosine(B, self.neighbors, self.threshold))


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
        words = list(chain(*read_word_lists(self.seeds).values()))
        seeds = features_among(words, tokens.vocabulary, self.seeds)
        B = presence(tokens, self.min_df)
        frequency = np.bincount(B.indices, minlength=B.shape[1])
        frequent = seeds[frequency[seeds] >= self.min_seed_df]
        if not len(frequent):
            most = seeds[np.argmax(frequency[seeds])]
            raise DataError(
                f"{self.seeds}: no seed is in {self.min_seed_df} documents or more; the most "
                f"frequent, '{tokens.vocabulary[most]}', is in {frequency[most]}. Lower "
                "--graph-min-seed-df, or add unlabeled documents."
            )
        linked = np.flatnonzero(frequency)
        V = correlations(B, frequent)[linked]
        if self.distance == "cosine":
            length = np.linalg.norm(V, axis=1, keepdims=True)
            V = np.divide(V, length, out=np.zeros_like(V), where=length > 0.0)
        links = mutual(nearest_by_distance(V, self.neighbors))
        return Graph(spread(links, linked, len(tokens.vocabulary)))


def spread(links: csr_array, features: np.ndarray, size: int) -> csr_array:
    """Links between the rows ``features`` as links between all ``size`` features."""
    from scipy.sparse import csr_array

    pairs = links.tocoo()
    where = features[pairs.row], features[pairs.col]
    return csr_array((pairs.data, where), shape=(size, size))


@hookimpl
def textreg_graph_builders() -> list[type[GraphBuilder]]:
    """The graph builders of this module."""
    return [Cooccurrence, Lexicon]
