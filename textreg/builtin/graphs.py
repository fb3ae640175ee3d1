"""Graphs of features from texts: words that occur together, words that go with the same seeds."""

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
    listed_words,
    mutual,
    nearest_by_cosine,
    nearest_by_distance,
    numbers_of,
    presence,
)

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class Cooccurrence(GraphBuilder):
    """Words that occur in the same documents: cosines of their columns (section 4.1).

    Each feature is linked to those of highest cosine with it, by as much; unlabeled documents
    count as well.
    """

    name = "cooccurrence"
    neighbors: int = param(default=25, min=1, help="most links of a feature")
    threshold: float = param(default=0.1, min=0, max=1, help="links need a cosine above this")
    min_df: int = param(default=5, min=1, help="fewest documents of a feature that is linked")

    def build(self, tokens: Tokens) -> Graph:
        """The graph of the documents of ``tokens``."""
        B = presence(tokens, self.min_df)
        return Graph(nearest_by_cosine(B, self.neighbors, self.threshold))


class Lexicon(GraphBuilder):
    """Words that go with the same seed words (section 4.2).

    Each feature is described by its correlations with all the seeds, over the documents that hold
    them. Two features are linked, with weight 1, if each is among the other's nearest. With seeds
    of strong sentiment this finds words that praise or blame alike.
    """

    name = "lexicon"
    seeds: str | None = param(
        default=None, help="word lists, a word a line; several with commas between them"
    )
    min_seed_df: int = param(default=100, min=1, help="fewest documents of a seed")
    neighbors: int = param(default=100, min=1, help="how many are near")
    min_df: int = param(default=10, min=1, help="fewest documents of a feature that is linked")
    distance: str = param(
        default="cosine",
        choices=("cosine", "euclidean"),
        help="between the correlations of two features; the paper does not say which",
    )

    def build(self, tokens: Tokens) -> Graph:
        """The graph; UsageError without seeds, DataError where no seed is frequent enough."""
        if self.seeds is None:
            raise UsageError("lexicon: name a file of seed words with --graph-seeds FILE.")
        words = list(chain(*listed_words(self.seeds).values()))
        seeds = numbers_of(words, tokens.vocabulary, self.seeds)
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
    """Links between some features as links between all ``size`` of them."""
    from scipy.sparse import csr_array

    pairs = links.tocoo()
    where = features[pairs.row], features[pairs.col]
    return csr_array((pairs.data, where), shape=(size, size))


@hookimpl
def textreg_graph_builders() -> list[type[GraphBuilder]]:
    """Both of them."""
    return [Cooccurrence, Lexicon]
