"""Bases of group builders, and groups in text files."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from textreg.errors import DataError
from textreg.files import numbered_lines
from textreg.kinds import GroupBuilder
from textreg.params import param
from textreg.records import Groups, Tokens
from textreg.records.arrays import offsets_of
from textreg.records.text import LazyNames
from textreg.text import feature_sets, only_words

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from textreg.records import Int32s, Int64s


#: When a set of words contains an n-gram: if it has all its words, if it has any, never.
NGRAMS = ("all", "any", "none")


class WeightedBuilder(GroupBuilder):
    """A group builder whose groups weigh the same, or more the larger they are.

    Groups of one penalty strength compete by their norms, which grow with the size; weights of the
    square root of the size even that out (yuan2006, section 2).
    """

    weight: str = param(
        default="one",
        choices=("one", "sqrt"),
        help="weight of a group in the penalty: 1, or the square root of its size",
    )

    def weighted(
        self, indptr: Int64s, indices: Int32s, n_features: int, names: Sequence[str]
    ) -> Groups:
        """Groups with the weights that ``weight`` asks for.

        Parameters
        ----------
        indptr : ndarray of int64, shape (groups + 1,)
        indices : ndarray of int32
            Group g has the features ``indices[indptr[g]:indptr[g + 1]]``, sorted and distinct.
        n_features : int
        names : sequence of str
            One for each group.

        Returns
        -------
        Groups
        """
        sizes = np.diff(indptr)
        return Groups(
            indptr=indptr,
            indices=indices,
            weights=np.sqrt(sizes) if self.weight == "sqrt" else np.ones(len(sizes)),
            n_features=n_features,
            names=names,
        )


class SegmentBuilder(WeightedBuilder):
    """Base of builders with one group for every segment of the text; write :meth:`segments`.

    A group has the distinct features of its segment; an n-gram belongs to the segment where it
    begins. A segment without features gives an empty group, so that group g is segment g.

    Attributes
    ----------
    segment : str
        The word for a segment in the groups' names; empty if a segment is a whole document.
    """

    segment: ClassVar[str] = ""
    within_documents: ClassVar[bool] = True

    @abstractmethod
    def segments(self, tokens: Tokens) -> tuple[Int32s, Int64s, Int64s]:
        """The segments of all documents.

        Parameters
        ----------
        tokens : Tokens

        Returns
        -------
        ids : ndarray of int32
            Feature ids; those of ``tokens`` unless segments overlap.
        ptr : ndarray of int64
            Segment s is ``ids[ptr[s]:ptr[s + 1]]``.
        document_ptr : ndarray of int64
            Document d has the segments ``document_ptr[d]`` to ``document_ptr[d + 1]``.
        """

    def build(self, tokens: Tokens) -> Groups:
        """One group for every segment of ``tokens``."""
        ids, ptr, document_ptr = self.segments(tokens)
        n_features = len(tokens.vocabulary)
        names = SegmentNames(document_ptr, self.segment)
        return self.weighted(*feature_sets(ids, ptr, n_features), n_features, names)


class SegmentNames(LazyNames):
    """Names such as ``document 12, sentence 3``, or ``document 12`` if ``segment`` is empty.

    Parameters
    ----------
    document_ptr : ndarray of int64
        Document d has the segments ``document_ptr[d]`` to ``document_ptr[d + 1]``.
    segment : str
        The word for a segment.
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
    """Base of builders whose groups are sets of words; write :meth:`sets`.

    Features outside all groups are penalized as single features only.

    Examples
    --------
    >>> from textreg.structure.grouping import WordGroupBuilder
    >>> class Colors(WordGroupBuilder):
    ...     name = "colors"
    ...     def sets(self, tokens):
    ...         return {"warm": ["red", "orange"], "cold": ["blue", "green"]}
    >>> from textreg.text import scan_words
    >>> groups = Colors(weight="sqrt").build(scan_words(["a red box", "a blue or red lid"]))
    >>> groups.names, groups.weights
    (['warm', 'cold'], array([1., 1.]))
    """

    ngrams: str = param(
        default="all",
        choices=NGRAMS,
        help="n-grams in a group: those with all their words in it, those with any, or none",
    )

    @abstractmethod
    def sets(self, tokens: Tokens) -> Mapping[str, Collection[str]]:
        """The words of every group.

        Parameters
        ----------
        tokens : Tokens
            The training texts, without n-grams.

        Returns
        -------
        mapping of str to collection of str
            The words of each group by the name of the group. A word with spaces is an n-gram.
            Words that are not features are ignored, except as parts of n-grams.
        """

    def build(self, tokens: Tokens) -> Groups:
        """One group for every set of words.

        Raises
        ------
        DataError
            If no feature is in any set.
        """
        sets = self.sets(only_words(tokens))
        indptr, indices = features_of(list(sets.values()), tokens.vocabulary, self.ngrams)
        if not len(indices):
            raise DataError(
                f"{self.label()}: no group has a word of these texts. Choose other parameters or "
                "other groups."
            )
        return self.weighted(indptr, indices, len(tokens.vocabulary), list(sets))


def features_of(
    sets: Sequence[Collection[str]], vocabulary: Sequence[str], ngrams: str = "all"
) -> tuple[Int64s, Int32s]:
    """Sets of names as sets of features.

    Parameters
    ----------
    sets : sequence of collections of str
        A name that is a feature is in its set, whatever ``ngrams`` is.
    vocabulary : sequence of str
        The names of all features.
    ngrams : {"all", "any", "none"}, default "all"
        The n-grams to add: those with all their words in the set, those with any, or none.

    Returns
    -------
    indptr : ndarray of int64
    indices : ndarray of int32
        Set s has the features ``indices[indptr[s]:indptr[s + 1]]``, sorted.
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
        sizes = np.zeros(len(vocabulary))  # number of words of every n-gram
        for feature, words in grams:
            parts[feature] = [wanted[word] for word in words if word in wanted]
            sizes[feature] = len(words)
        # (sets, features): how many words of an n-gram are in a set
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
    indptr = offsets_of([len(columns) for columns in distinct])
    indices = np.array(list(chain(*distinct)), dtype=np.int64)
    return csr_array((np.ones(len(indices)), indices, indptr), shape=(len(sets), n_columns))


class GroupLine(NamedTuple):
    """One group of a file.

    Attributes
    ----------
    number : int
        Its line number, from 1.
    name : str
        Its name.
    weight : float
        Its weight in the penalty, 0 or more.
    features : tuple of str
        The names of its features.
    """

    number: int
    name: str
    weight: float
    features: tuple[str, ...]


def read_groups(path: str) -> list[GroupLine]:
    """The groups of a file, one on each line.

    A line has one of two forms:

    - ``good great excellent``: words with white space between them. The weight is 1.
    - ``praise<TAB>0.5<TAB>good<TAB>very good``: name, weight (1 if empty) and features with tabs
      between them, so that n-grams can be listed.

    Empty lines and lines that begin with ``#`` are ignored.

    Parameters
    ----------
    path : str
        A UTF-8 file, compressed with gzip if its name ends in ``.gz``.

    Returns
    -------
    list of GroupLine

    Raises
    ------
    UsageError
        If the file cannot be opened.
    DataError
        If a weight is not a number from 0 to 1e20, or no group has a feature; the message names
        file and line.
    """
    groups = []
    for number, line in numbered_lines(path):
        if not line.strip() or line.startswith("#"):
            continue
        name, weight, features = "", 1.0, line.split()
        if "\t" in line:
            name, written, *features = (field.strip() for field in line.split("\t"))
            weight = _weight(written, f"{path}:{number}")
        named = tuple(feature for feature in features if feature)
        groups.append(GroupLine(number, name or f"line {number}", weight, named))
    if not groups:
        raise DataError(f"{path}: no groups in it. Write one on each line: good great excellent")
    if not any(group.features for group in groups):
        raise DataError(
            f"{path}: no group has a feature. After name and weight, write the features "
            "of a group, with tabs between them."
        )
    return groups


def _weight(text: str, where: str) -> float:
    try:
        weight = float(text or 1)
    except ValueError:
        weight = math.nan
    if not 0.0 <= weight <= 1e20:  # solvers multiply sums of weights
        raise DataError(
            f"{where}: the weight '{text}' is not a number of 0 or more, up to 1e20. A line with "
            "tabs has a name, a weight (or nothing), and features; one without has words only."
        )
    return weight


def group_lines(groups: Groups, vocabulary: Sequence[str]) -> Iterator[str]:
    """Lines of a file from which :func:`read_groups` reads the same groups.

    Parameters
    ----------
    groups : Groups
    vocabulary : sequence of str
        The names of all features.

    Yields
    ------
    str
        A line with its line end.

    Raises
    ------
    DataError
        If a name contains a tab or a line end.
    """
    yield "# name\tweight\tfeatures\n"
    for g in range(len(groups)):
        name, members = groups.label(g), groups.members(g)
        fields = [name, f"{groups.weights[g]:.17g}", *(vocabulary[j] for j in members)]
        for field in fields:
            if field != field.strip() or "\t" in field or "\n" in field or "\r" in field:
                raise DataError(
                    f"{groups.name(g)}: {field!r} cannot be written to a file of groups, where "
                    "tabs and line ends separate fields."
                )
        if name.startswith("#"):
            raise DataError(f"{groups.name(g)}: a name that is written must not begin with '#'.")
        yield "\t".join(fields) + "\n"
