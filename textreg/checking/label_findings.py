"""What a check may find about labels and columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from textreg.checking.findings import NAMED, Finding
from textreg.errors import first_few

LEAST = 10
"""Labels of fewer documents are rare."""


@dataclass(frozen=True)
class SingleLabel(Finding):
    """All documents have the same label."""

    label: str

    name = "single-label"
    level = "error"
    todo = "Give documents of another label too, or name the right column with --label-col."

    @property
    def what(self) -> str:
        return f"the same label, '{self.label}', so there is nothing to learn"


@dataclass(frozen=True)
class LabelColumn(Finding):
    """The labels look like ids, numbers or lists. why: what they look like, as a sentence."""

    why: str

    name = "label-column"
    unit = "labels"
    level = "error"

    @property
    def what(self) -> str:
        return "not what labels look like"

    @property
    def advice(self) -> str:
        return self.why


@dataclass(frozen=True)
class MissingLabels(Finding):
    """Documents whose label stands for a missing one. labels: these, each with its number."""

    labels: tuple[tuple[str, int], ...]

    name = "missing-labels"
    todo = "See whether these are labels: a program may have written them where there was none."

    @property
    def what(self) -> str:
        listed = first_few([f"'{label}' {count:,}" for label, count in self.labels], NAMED)
        return f"a label that stands for a missing one: {listed}"


@dataclass(frozen=True)
class SimilarLabels(Finding):
    """Labels that differ in case, spaces and marks only. groups: the labels that are alike."""

    groups: tuple[tuple[str, ...], ...]

    name = "similar-labels"
    unit = "labels"
    level = "error"
    todo = "Write each label in one way."

    @property
    def what(self) -> str:
        alike = [" = ".join(f"'{label}'" for label in group) for group in self.groups]
        return "alike but for case, spaces or marks: " + first_few(alike, NAMED)


@dataclass(frozen=True)
class RareLabels(Finding):
    """Labels of few documents. labels: these, each with its number of documents."""

    labels: tuple[tuple[str, int], ...]

    name = "rare-labels"
    unit = "labels"

    @property
    def what(self) -> str:
        listed = first_few([f"'{label}' {count:,}" for label, count in self.labels], NAMED)
        return f"fewer than {LEAST} documents: {listed}"

    @property
    def advice(self) -> str:
        return (
            f"Add documents, leave such labels out (--min-label {LEAST}), or join them into one "
            f"(--min-label {LEAST}:other)."
        )


@dataclass(frozen=True)
class Imbalance(Finding):
    """One label has many times the documents of another.

    largest, smallest: the two labels, with their numbers of documents.
    """

    largest: tuple[str, int]
    smallest: tuple[str, int]

    name = "imbalance"
    level = "note"
    todo = (
        "Judge models by macro-F1 (--metric macro-f1) rather than accuracy; --class-weight "
        "balanced gives rare labels more weight."
    )

    @property
    def what(self) -> str:
        (most, many), (least, few) = self.largest, self.smallest
        return f"the label '{most}', {many / few:,.0f} times as many as '{least}' ({few:,})"


@dataclass(frozen=True)
class LabelsOfOneFile(Finding):
    """Labels that only one of the two files has. first, second: those of each."""

    first: tuple[str, ...]
    second: tuple[str, ...]

    name = "labels-of-one-file"
    unit = "labels"
    todo = (
        "Write labels in the same way in both files. A label that a model has not been trained on "
        "can only be answered wrongly."
    )

    @property
    def what(self) -> str:
        sides = (("the first file", self.first), ("the second", self.second))
        listed = [
            f"only in {side}: " + first_few([f"'{label}'" for label in labels], NAMED)
            for side, labels in sides
            if labels
        ]
        return "in one of the two files; " + "; ".join(listed)


class Giveaway(NamedTuple):
    """A column that gives the label away: its name, how, and for which share of documents."""

    column: str
    how: str
    share: float


@dataclass(frozen=True)
class GiveawayColumns(Finding):
    """Columns that tell the label. columns: these."""

    columns: tuple[Giveaway, ...]

    name = "giveaway-columns"
    unit = "columns"
    level = "error"
    todo = (
        "Do not train on them, and see that the texts do not repeat them: a model learns to copy, "
        "and fails where the column is not known yet."
    )

    @property
    def what(self) -> str:
        told = [f"'{one.column}' {one.how} ({one.share:.1%})" for one in self.columns]
        return "they give the label away: " + first_few(told, NAMED)


@dataclass(frozen=True)
class SuspectedLabels(Finding):
    """Documents whose labels are contradicted by fits that have not seen them.

    accuracy: share of labels that these fits predict as they are given. places: all such documents,
    the most suspicious first.
    """

    accuracy: float
    places: tuple[str, ...]

    name = "suspected-labels"
    todo = (
        "Read them, from the first on: the lower the probability of its label, the surer a label "
        "is wrong. --json lists all of them."
    )

    @property
    def what(self) -> str:
        return (
            "the other documents speak for another label, the most suspicious first (these fits "
            f"agree with {self.accuracy:.1%} of all labels)"
        )
