"""What a check may find about documents with the same text, or nearly the same."""

from __future__ import annotations

from dataclasses import dataclass

from textreg.checking.findings import Finding


@dataclass(frozen=True)
class Duplicates(Finding):
    """Documents whose text, and label, an earlier document has as well.

    texts: number of different texts among them.
    """

    texts: int

    name = "duplicates"
    todo = (
        "Keep one of each. Copies on both sides of a split make the accuracy look better than it "
        "is; if they have to stay, keep them together with --group-col."
    )

    @property
    def what(self) -> str:
        return f"text and label of an earlier document; different texts: {self.texts:,}"


@dataclass(frozen=True)
class ConflictingLabels(Finding):
    """Documents with the same text and different labels.

    texts: number of different texts among them.
    """

    texts: int

    name = "conflicting-labels"
    level = "error"
    todo = "Decide which label is right. If both are, give such documents several labels."

    @property
    def what(self) -> str:
        return f"the text of another document, and another label; different texts: {self.texts:,}"


@dataclass(frozen=True)
class NearDuplicates(Finding):
    """Documents that share most of their words, in order, with another one, but not all.

    groups: number of groups that they form. similarity: the least Jaccard similarity of two.
    conflicting: number of those whose group has different labels.
    """

    groups: int
    similarity: float
    conflicting: int

    name = "near-duplicates"
    todo = (
        "Keep one of each group, or keep a group together with --group-col: copies on both sides "
        "of a split make the accuracy look better than it is."
    )

    @property
    def what(self) -> str:
        differ = f"; with different labels: {self.conflicting:,}" if self.conflicting else ""
        return (
            f"nearly the same as another (similarity {self.similarity:g} or more); groups: "
            f"{self.groups:,}{differ}"
        )


@dataclass(frozen=True)
class Overlap(Finding):
    """Documents of the second file whose text the first one has as well.

    conflicting: number of those with another label there.
    """

    conflicting: int

    name = "overlap"
    level = "error"
    unit = "documents of the second file"
    todo = "Remove them from one of the files: a model is not tested by what it was trained on."

    @property
    def what(self) -> str:
        differ = f"; with another label there: {self.conflicting:,}" if self.conflicting else ""
        return f"the text of a document of the first{differ}"


@dataclass(frozen=True)
class NearOverlap(Finding):
    """Documents of the second file that are nearly the same as one of the first.

    similarity: as of :class:`NearDuplicates`.
    """

    similarity: float

    name = "near-overlap"
    unit = Overlap.unit
    todo = Overlap.todo

    @property
    def what(self) -> str:
        return f"nearly the same as one of the first (similarity {self.similarity:g} or more)"
