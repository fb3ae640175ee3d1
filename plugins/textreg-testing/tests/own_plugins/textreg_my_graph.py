"""Links between words that differ by one letter."""

from itertools import permutations

import numpy as np
from scipy.sparse import csr_array

from textreg.errors import DataError
from textreg.hookspecs import hookimpl
from textreg.kinds import GraphBuilder
from textreg.params import param
from textreg.records import Graph, Tokens


class OneLetter(GraphBuilder):
    """Features that differ by one letter more, less or exchanged."""

    name = "my-graph"
    shortest: int = param(default=4, min=1, help="letters of the shorter name at least")

    def build(self, tokens: Tokens) -> Graph:
        """A link in both directions for every such pair."""
        holes: dict[str, list[int]] = {}
        for feature, name in enumerate(tokens.vocabulary):
            if len(name) >= self.shortest:
                cut = {f"{name[:at]}*{name[at + 1 :]}" for at in range(len(name))}
                for key in cut | {f"{name[:at]}*{name[at:]}" for at in range(len(name) + 1)}:
                    holes.setdefault(key, []).append(feature)
        links = {pair for members in holes.values() for pair in permutations(members, 2)}
        if not links:
            raise DataError("my-graph: no two words differ by one letter.")
        rows, columns = np.array(sorted(links)).T
        size = len(tokens.vocabulary)
        return Graph(csr_array((np.ones(len(rows)), (rows, columns)), shape=(size, size)))


@hookimpl
def textreg_graph_builders() -> list[type[GraphBuilder]]:
    return [OneLetter]
