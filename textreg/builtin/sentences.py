"""One group of features for every training sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

import numpy as np

from textreg.hookspecs import hookimpl
from textreg.kinds import GroupBuilder
from textreg.params import param
from textreg.records import Groups, Int64s, Tokens
from textreg.text import sentence_sets


class Sentences(GroupBuilder):
    """Group s holds the distinct features of sentence s (Yogatama & Smith 2014, section 3).

    A sentence that lost all its features gives an empty group, so that sentences and groups have
    the same numbers.
    """

    name = "sentences"
    weight: str = param(
        default="one",
        choices=("one", "sqrt"),
        help="price of a group: the same for all, or the square root of its size",
    )

    def build(self, tokens: Tokens) -> Groups:
        """One group for every sentence of ``tokens``."""
        indptr, indices = sentence_sets(tokens)
        sizes = np.diff(indptr)
        return Groups(
            indptr=indptr,
            indices=indices,
            weights=np.sqrt(sizes) if self.weight == "sqrt" else np.ones(len(sizes)),
            n_features=len(tokens.vocabulary),
            names=SentenceNames(tokens.document_ptr),
        )


class SentenceNames(Sequence[str]):
    """``document 12, sentence 3`` for every sentence, counted from one, made when asked for."""

    def __init__(self, document_ptr: Int64s) -> None:
        self.document_ptr = document_ptr

    def __len__(self) -> int:
        return int(self.document_ptr[-1])

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[s] for s in range(*index.indices(len(self)))]
        s = range(len(self))[index]
        document = int(np.searchsorted(self.document_ptr, s, side="right")) - 1
        return f"document {document + 1}, sentence {s - int(self.document_ptr[document]) + 1}"


@hookimpl
def textreg_group_builders() -> list[type[GroupBuilder]]:
    """The group builders of this module."""
    return [Sentences]
