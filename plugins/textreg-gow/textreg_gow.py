"""Groups of words that keep company: ``communities`` in the graph of words of the training text."""

from __future__ import annotations

import random
import threading
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textreg.errors import DataError
from textreg.hookspecs import hookimpl
from textreg.kinds import GroupBuilder
from textreg.params import param
from textreg.records import Tokens
from textreg.structure.grouping import WordGroupBuilder
from textreg.text import cooccurrences, count

# Held by the thread whose generator igraph draws from.
_DRAWING = threading.Lock()


class Communities(WordGroupBuilder):
    """Communities in the graph of words (Rousseau & Vazirgiannis 2013; Skianis et al. 2016).

    Two words have an edge if they stand within ``window`` words of each other somewhere, with the
    number of such places as its weight. The graph is one for all training documents, undirected,
    and is cut into communities of high modularity, which do not overlap. Communities of one word
    are left out.
    """

    name = "communities"
    order_matters = True  # numbers are drawn in it
    window: int = param(default=4, min=2, help="words that the sliding window shows at once")
    algorithm: str = param(
        default="louvain",
        choices=("louvain", "leiden"),
        help="how communities are found: Blondel et al. (2008) or Traag et al. (2019)",
    )
    resolution: float = param(
        default=1.0, min=0, help="more gives more and smaller communities; 1 is modularity"
    )
    min_df: int = param(default=3, min=1, help="fewest documents of a word in the graph")
    max_df: float = param(
        default=0.2, min=0, max=1, help="most documents of a word there, as a fraction of all"
    )
    seed: int = param(default=0, min=0, help="seed of the algorithm; the same gives the same")

    def sets(self, tokens: Tokens) -> Mapping[str, Collection[str]]:
        """The words of every community; DataError where no two words have an edge."""
        counts = count(tokens)
        frequencies = np.bincount(counts.indices, minlength=counts.shape[1])
        selected = np.flatnonzero(
            (frequencies >= self.min_df) & (frequencies <= self.max_df * tokens.n_documents)
        )
        # Windows slide over the whole text: pruned words keep the others apart.
        graph = cooccurrences(tokens, self.window)[selected][:, selected]
        if not graph.nnz:
            raise DataError(
                f"communities: no two words within {self.window} of each other are in at least "
                f"{self.min_df} documents and in at most {100 * self.max_df:g} % of "
                f"{tokens.n_documents:,}. Lower --groups-min-df, or raise --groups-max-df."
            )
        labels = self._communities(graph)
        degrees = np.asarray(graph.sum(axis=1))
        sets: dict[str, list[str]] = {}
        for label in range(labels.max() + 1):
            members = np.flatnonzero(labels == label)
            if len(members) > 1:
                members = members[np.argsort(-degrees[members], kind="stable")]
                names = [tokens.vocabulary[selected[word]] for word in members]
                sets[f"community {len(sets) + 1} ({', '.join(names[:3])})"] = names
        return sets

    def _communities(self, graph: Any) -> NDArray[np.intp]:
        """The community of every node of a symmetric graph, numbered from the largest."""
        import igraph

        upper = np.asarray(graph.nonzero())
        upper = upper[:, upper[0] < upper[1]]
        network = igraph.Graph(n=graph.shape[0], edges=upper.T.tolist())
        weights = np.asarray(graph[upper[0], upper[1]]).tolist()
        # igraph draws from one generator for the whole process: it is lent one for this call, in
        # which no other thread may draw from it.
        with _DRAWING:
            igraph.set_random_number_generator(random.Random(self.seed))
            try:
                if self.algorithm == "louvain":
                    clustering = network.community_multilevel(weights, resolution=self.resolution)
                else:
                    clustering = network.community_leiden(
                        "modularity", weights, resolution=self.resolution, n_iterations=-1
                    )
            finally:
                igraph.set_random_number_generator(random)
        labels = np.asarray(clustering.membership)
        sizes = np.bincount(labels)
        rank = np.empty(len(sizes), dtype=np.intp)
        rank[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
        return np.asarray(rank[labels])


@hookimpl
def textreg_group_builders() -> list[type[GroupBuilder]]:
    """The one."""
    return [Communities]
