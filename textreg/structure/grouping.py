"""What builders of groups share: prices, names, segments of text, and sets of words."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, ClassVar, overload

import numpy as np

from textreg.errors import DataError
from textreg.kinds import GroupBuilder
from textreg.params import param
from textreg.records import Groups, Tokens
from textreg.text import feature_sets, only_words

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from textreg.records import Int32s, Int64s

NGRAMS = ("all", "any", "none")
"""When an n-gram belongs to a set of words: with all its words in it, with any of them, never."""


class WeightedBuilder(GroupBuilder):
    """A builder whose groups have the same price, or one that grows with their size."""

    weight: str = param(
        default="one",
        choices=("one", "sqrt"),
        help="price of a group: the same for all, or the square root of its size",
    )

    def weighted(
        self, indptr: Int64s, indices: Int32s, n_features: int, names: Sequence[str]
    ) -> Groups:
        """Groups ``indices[indptr[g]:indptr[g + 1]]`` with the prices that ``weight`` asks for."""
        sizes = np.diff(indptr)
        return Groups(
            indptr=indptr,
            indices=indices,
            weights=np.sqrt(sizes) if self.weight == "sqrt" else np.ones(len(sizes)),
            n_features=n_features,
            names=names,
        )


class SegmentBuilder(WeightedBuilder):
    """A builder of one group for every segment of the text; write :meth:`segments`.

    A group holds the distinct features of its segment, an n-gram being where it begins. A segment
    that lost all its features gives an empty group, so that segments and groups have the same
    numbers.
    """

    segment: ClassVar[str] = ""
    """What to call one in its name; empty where a document is one."""

    @abstractmethod
    def segments(self, tokens: Tokens) -> tuple[Int32s, Int64s, Int64s]:
        """Feature ids, where they are cut into segments, and where segments into documents.

        Segment s is ``ids[ptr[s]:ptr[s + 1]]``, and document d has the segments ``document_ptr[d]``
        to ``document_ptr[d + 1]``. Without overlap the ids are those of ``tokens``.
        """

    def build(self, tokens: Tokens) -> Groups:
        """One group for every segment of ``tokens``."""
        ids, ptr, document_ptr = self.segments(tokens)
        n_features = len(tokens.vocabulary)
        names = SegmentNames(document_ptr, self.segment)
        return self.weighted(*feature_sets(ids, ptr, n_features), n_features, names)


class LazyNames(Sequence[str]):
    """Names of groups, each made when it is asked for; write :meth:`name` and ``__len__``."""

    @abstractmethod
    def name(self, group: int) -> str:
        """That of a group, which is numbered from 0."""

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self.name(group) for group in range(*index.indices(len(self)))]
        return self.name(range(len(self))[index])


class SegmentNames(LazyNames):
    """``document 12, sentence 3`` for every segment, counted from one.

    With no word for a segment it is ``document 12``.
    """

    def __init__(self, document_ptr: Int64s, segment: str) -> None:
        self.document_ptr = document_ptr
        self.segment = segment

    def __len__(self) -> int:
        return int(self.document_ptr[-1])

    def name(self, group: int) -> str:
        document = int(np.searchsorted(self.document_ptr, group, side="right")) - 1
        name = f"document {document + 1}"
        if not self.segment:
            return name
        return f"{name}, {self.segment} {group - int(self.document_ptr[document]) + 1}"


class WordGroupBuilder(WeightedBuilder):
    """A builder whose groups are sets of words; write :meth:`sets`.

    Features that are in no group have no price but the regularizer's own for single weights.
    """

    ngrams: str = param(
        default="all",
        choices=NGRAMS,
        help="n-grams in a group: those with all their words in it, those with any, or none",
    )

    @abstractmethod
    def sets(self, tokens: Tokens) -> Mapping[str, Collection[str]]:
        """The words of every group by its name. ``tokens`` is without n-grams.

        A word that is no feature is passed over, but for n-grams that it is part of; a name with
        spaces means that n-gram.
        """

    def build(self, tokens: Tokens) -> Groups:
        """One group for every set of words, with n-grams as ``ngrams`` says.

        DataError where no feature is in any of them.
        """
        sets = self.sets(only_words(tokens))
        indptr, indices = features_of(list(sets.values()), tokens.vocabulary, self.ngrams)
        if not len(indices):
            raise DataError(
                f"{self.label()}: there is no group with a word of these texts in it. Take other "
                "parameters, or other groups."
            )
        return self.weighted(indptr, indices, len(tokens.vocabulary), list(sets))


def features_of(
    sets: Sequence[Collection[str]], vocabulary: Sequence[str], ngrams: str = "all"
) -> tuple[Int64s, Int32s]:
    """Sets of names as sorted sets of features: ``indptr`` and ``indices`` as in CSR.

    ngrams: one of :data:`NGRAMS`. A name that is a feature is in its set whatever that says.
    """
    from scipy.sparse import csr_array

    number = {name: feature for feature, name in enumerate(vocabulary)}
    named = [[number[name] for name in names if name in number] for names in sets]
    members = _rows(named, len(vocabulary))
    if ngrams != "none":
        wanted = {name: place for place, name in enumerate(dict.fromkeys(chain(*sets)))}
        groups = _rows([[wanted[name] for name in names] for names in sets], len(wanted))
        grams = [(feature, set(name.split(" "))) for name, feature in number.items() if " " in name]
        parts: list[list[int]] = [[] for _ in vocabulary]
        sizes = np.zeros(len(vocabulary))
        for feature, words in grams:
            parts[feature] = [wanted[word] for word in words if word in wanted]
            sizes[feature] = len(words)
        hits = csr_array(groups @ _rows(parts, len(wanted)).T)
        if ngrams == "all":
            hits.data[hits.data < sizes[hits.indices]] = 0
            hits.eliminate_zeros()
        members = csr_array(members + hits)
    members.sort_indices()
    return members.indptr.astype(np.int64), members.indices.astype(np.int32)


def _rows(sets: Sequence[Collection[int]], n_columns: int) -> csr_array:
    """A matrix of ones: row g has them in the columns ``sets[g]``, each once."""
    from scipy.sparse import csr_array

    distinct = [sorted(set(columns)) for columns in sets]
    indptr = np.concatenate([[0], np.cumsum([len(columns) for columns in distinct])])
    indices = np.array(list(chain(*distinct)), dtype=np.int64)
    return csr_array((np.ones(len(indices)), indices, indptr), shape=(len(sets), n_columns))
