"""The shadow of a structure: the same groups or links, of features drawn by chance.

What a regularizer gains from a structure shows against this: what does as well with the shadow is
no gain of the structure, but of how often features are in groups.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from textreg.kinds import GraphBuilder, GroupBuilder
from textreg.records import Graph, Groups
from textreg.records.arrays import row_of
from textreg.structure.joining import JoinedBuilder

# Exchanges that are tried for each member of a group.
ROUNDS = 20


def shuffle_groups(groups: Groups, seed: int = 0) -> Groups:
    """Groups of the same sizes, in which each feature is as often as before.

    Two members of two groups change places, wherever neither group has the other's already, many
    times over: the walk among tables of given sums (Strona et al. 2014).
    """
    rng, n = np.random.default_rng(seed), len(groups.indices)
    group = row_of(groups.indptr)
    member, p = groups.indices.astype(np.int64), groups.n_features
    for _ in range(ROUNDS):
        order = rng.permutation(n)
        one, other = order[: n // 2], order[n // 2 : 2 * (n // 2)]
        # key = group * p + member, which no two places share
        moved = np.stack([group[one] * p + member[other], group[other] * p + member[one]])
        known = np.isin(moved, group * p + member).any(axis=0)
        _, at, times = np.unique(moved, return_inverse=True, return_counts=True)
        free = ~known & (times[at.reshape(moved.shape)] == 1).all(axis=0)
        one, other = one[free], other[free]
        member[one], member[other] = member[other], member[one]
    sorted_ = np.lexsort((member, group))
    return Groups(
        groups.indptr, member[sorted_].astype(np.int32), groups.weights, p, names=groups.names
    )


def shuffle_graph(graph: Graph, seed: int = 0) -> Graph:
    """The same links between features whose names have been exchanged."""
    real = graph.similar.shape[0] - graph.classes
    order = np.random.default_rng(seed).permutation(real)
    order = np.append(order, np.arange(real, real + graph.classes))
    links = [
        None if it is None else it[order][:, order] for it in (graph.similar, graph.dissimilar)
    ]
    return Graph(links[0], links[1], graph.classes)


def shadow_of(builder: GroupBuilder | GraphBuilder) -> Any:
    """The shadow of what a builder builds, with its parameters."""
    return shuffled(type(builder))(**builder.params())


@cache
def shuffled(builder: Any) -> type[Any]:
    """The class of builders whose structures are those of ``builder``, shuffled."""
    members: dict[str, Any] = {
        "name": builder.name,
        "original": builder,
        "label": classmethod(lambda cls: f"shuffled:{builder.label()}"),
        "__module__": builder.__module__,
    }
    if issubclass(builder, JoinedBuilder):  # whose parts are built one by one
        members["joined"] = lambda self, *parts: shuffle_groups(builder.joined(self, *parts))
    elif issubclass(builder, GroupBuilder):
        members |= {
            "within_documents": False,
            "build": lambda self, tokens: shuffle_groups(builder.build(self, tokens)),
        }
    else:
        members |= {
            "build": lambda self, tokens: shuffle_graph(builder.build(self, tokens)),
            "build_from": lambda self, tokens, groups: shuffle_graph(
                builder.build_from(self, tokens, groups)
            ),
        }
    return type(builder.__name__, (builder,), members)
