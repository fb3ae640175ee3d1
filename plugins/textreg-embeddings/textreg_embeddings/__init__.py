"""Groups of words that are used alike: ``clusters`` of word vectors, and ``brown`` clusters."""

from __future__ import annotations

from textreg.hookspecs import hookimpl
from textreg.kinds import GroupBuilder
from textreg_embeddings.clusters import Brown, Clusters

__all__ = ["Brown", "Clusters"]


@hookimpl
def textreg_group_builders() -> list[type[GroupBuilder]]:
    """The two of them."""
    return [Clusters, Brown]
