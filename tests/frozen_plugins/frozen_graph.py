"""The graph builder frozen-graph, for textreg."""

from textreg.hookspecs import hookimpl
from textreg.kinds import GraphBuilder
from textreg.params import param
from textreg.records import Graph, Tokens
from textreg.text import cooccurrences


class FrozenGraph(GraphBuilder):
    """Features that stand near each other, linked by how often. Put your own links here.

    Examples
    --------
    >>> from textreg import tokenizer
    >>> tokens = tokenizer("words").encode(["blue box", "blue box", "green box"])
    >>> FrozenGraph().build(tokens).similar.toarray().tolist()
    [[0.0, 2.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """

    name = "frozen-graph"
    window: int = param(default=3, min=2, help="features that are near each other")
    least: int = param(default=2, min=1, help="fewest places where two features must be near")

    def build(self, tokens: Tokens) -> Graph:
        """A link of row to column, with its weight, for the features of ``tokens``."""
        links = cooccurrences(tokens, self.window)
        links.data[links.data < self.least] = 0.0
        return Graph(links)


@hookimpl
def textreg_graph_builders() -> list[type[GraphBuilder]]:
    """The graph builders of this module."""
    return [FrozenGraph]
