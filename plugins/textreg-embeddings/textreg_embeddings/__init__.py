"""Words that are used alike: their vectors, ``clusters`` of these, and ``brown`` clusters."""

from __future__ import annotations

from textreg.hookspecs import hookimpl
from textreg.kinds import GroupBuilder, WordVectors
from textreg_embeddings.clusters import Brown, Clusters
from textreg_embeddings.vectors import File, Glove

__all__ = ["Brown", "Clusters", "File", "Glove"]


@hookimpl
def textreg_group_builders() -> list[type[GroupBuilder]]:
    """The two of them."""
    return [Clusters, Brown]


@hookimpl
def textreg_word_vectors() -> list[type[WordVectors]]:
    """Those of a file, and of a package."""
    return [File, Glove]
