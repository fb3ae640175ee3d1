"""What a check may find, a class for every kind of finding, and its result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple

from textreg.errors import first_few

NAMED = 5
"""Labels that a sentence lists."""

LEVELS = ("error", "warning", "note")
"""How bad a finding is: it makes a model or its measured accuracy wrong; it costs accuracy, or
may; it is good to know."""


def _counted(labels: Sequence[tuple[str, int]]) -> str:
    """The first labels with their numbers of documents."""
    return first_few([f"'{label}' {count:,}" for label, count in labels], NAMED)


class Example(NamedTuple):
    """A document that shows a finding.

    Attributes
    ----------
    where : str
        ``file:record``; ``document 3`` where it is not from a file.
    text : str
        The beginning of its text, or the part of it that matters.
    detail : str
        What is particular about it, such as its label, or the place of a copy.
    """

    where: str
    text: str
    detail: str


@dataclass(frozen=True)
class Finding:
    """Something that a check found; the base of all kinds.

    Attributes
    ----------
    count : int
        Number of documents that it is about; of labels or columns where :attr:`unit` says so.
    total : int
        Number of those that were looked at.
    examples : tuple of Example
        Some of them.
    name : str
        Name of the kind, for ``--skip`` and ``--fail-on``.
    level : str
        One of :data:`LEVELS`.
    unit : str
        What is counted.
    """

    count: int
    total: int
    examples: tuple[Example, ...]

    name: ClassVar[str]
    level: ClassVar[str] = "warning"
    unit: ClassVar[str] = "documents"
    about: ClassVar[str] = ""
    todo: ClassVar[str] = ""

    @property
    def share(self) -> float:
        """``count`` as a share of ``total``."""
        return self.count / self.total if self.total else 0.0

    @property
    def what(self) -> str:
        """What was found, in words that follow the number of documents and a colon."""
        return self.about.format(self)

    @property
    def advice(self) -> str:
        """What to do about it, as a sentence."""
        return self.todo

    def to_dict(self) -> dict[str, Any]:
        """The finding as plain values for JSON."""
        own = {one.name: getattr(self, one.name) for one in fields(self)}
        own["examples"] = [example._asdict() for example in self.examples]
        return {
            "name": self.name,
            "level": self.level,
            "unit": self.unit,
            "share": self.share,
            "what": self.what,
            "advice": self.advice,
            **own,
        }


@dataclass(frozen=True)
class UnreadableRows(Finding):
    """Rows of the files that are no documents: damaged, or without a text or a label.

    reasons: what is wrong with them, each with the number of rows. remedy: how to read those in
    another encoding; empty if there are none.
    """

    reasons: tuple[tuple[str, int], ...]
    remedy: str

    name = "unreadable-rows"
    level = "error"
    unit = "rows"

    @property
    def what(self) -> str:
        return "not readable: " + "; ".join(f"{rows:,} {why}" for why, rows in self.reasons)

    @property
    def advice(self) -> str:
        todo = (
            "Correct these rows. textreg train stops at the first one; with --on-error skip it "
            "leaves them out."
        )
        return f"{todo} {self.remedy}".strip()


@dataclass(frozen=True)
class EmptyTexts(Finding):
    """Documents without a character that is seen, or with a word for that, such as ``N/A``."""

    name = "empty-texts"
    about = "nothing in the text, or a word for that, such as N/A"
    todo = "Leave them out: a model can only learn their share of labels."


@dataclass(frozen=True)
class ShortTexts(Finding):
    """Documents of a single word, or of none, such as ``!!!``."""

    name = "one-word-texts"
    level = "note"
    about = "one word, or marks and no word"
    todo = "See whether their labels follow from so little, and leave out those that do not."


@dataclass(frozen=True)
class LongTexts(Finding):
    """Documents that are much longer than others.

    median: number of words in the median document.
    """

    median: int

    name = "long-texts"
    level = "note"
    about = "far longer than the median document, of {0.median:,} words"
    todo = (
        "See whether each is one document: an open quote, or a lost separator, joins many rows "
        "into one."
    )


@dataclass(frozen=True)
class CutTexts(Finding):
    """Documents that end at the same number of characters, the largest there is.

    characters: that number.
    """

    characters: int

    name = "cut-texts"
    about = "exactly {0.characters:,} characters, and none has more"
    todo = "Get the whole texts: a database column, a spreadsheet or a script has cut them."


@dataclass(frozen=True)
class Markup(Finding):
    """Documents with HTML in them."""

    name = "markup"
    about = "HTML tags or character references in the text"
    todo = "Train with --strip-html (strip_html=True): else tags become features like other words."


@dataclass(frozen=True)
class BrokenEncoding(Finding):
    """Documents with signs of a wrong encoding.

    kinds: what signs, each with the number of documents.
    """

    kinds: tuple[tuple[str, int], ...]

    name = "encoding"
    todo = (
        "Export the texts again, in UTF-8, or name the encoding that the file has (--encoding). "
        "ftfy.fix_text mends mojibake; what a replacement character stands for is lost."
    )

    @property
    def what(self) -> str:
        return "signs of a wrong encoding: " + ", ".join(
            f"{kind} {count:,}" for kind, count in self.kinds
        )


@dataclass(frozen=True)
class RareScripts(Finding):
    """Documents mostly in a writing system that few others are in.

    scripts: these, each with the number of documents.
    """

    scripts: tuple[tuple[str, int], ...]

    name = "scripts"
    level = "note"
    todo = (
        "See whether they belong here: a model learns little of a language from few documents "
        "in it."
    )

    @property
    def what(self) -> str:
        listed = first_few([f"{script} {count:,}" for script, count in self.scripts], NAMED)
        return f"in a script that few others are in: {listed}"


@dataclass(frozen=True)
class Duplicates(Finding):
    """Documents whose text, and label, an earlier document has as well.

    texts: number of different texts among them.
    """

    texts: int

    name = "duplicates"
    about = "text and label of an earlier document; different texts: {0.texts:,}"
    todo = (
        "Keep one of each. Copies on both sides of a split make the accuracy look better than it "
        "is; if they have to stay, keep them together with --group-col."
    )


@dataclass(frozen=True)
class ConflictingLabels(Finding):
    """Documents with the same text and different labels.

    texts: number of different texts among them.
    """

    texts: int

    name = "conflicting-labels"
    level = "error"
    about = "the text of another document, and another label; different texts: {0.texts:,}"
    todo = "Decide which label is right. If both are, give such documents several labels."


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
    about = "nearly the same as one of the first (similarity {0.similarity:g} or more)"
    todo = Overlap.todo


LEAST = 10
"""Labels of fewer documents are rare."""


@dataclass(frozen=True)
class SingleLabel(Finding):
    """All documents have the same label."""

    label: str

    name = "single-label"
    level = "error"
    about = "the same label, '{0.label}', so there is nothing to learn"
    todo = "Give documents of another label too, or name the right column with --label-col."


@dataclass(frozen=True)
class LabelColumn(Finding):
    """The labels look like ids, numbers or lists. why: what they look like, as a sentence."""

    why: str

    name = "label-column"
    unit = "labels"
    level = "error"
    about = "not what labels look like"

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
        return f"a label that stands for a missing one: {_counted(self.labels)}"


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
    todo = (
        f"Add documents, leave such labels out (--min-label {LEAST}), or join them into one "
        f"(--min-label {LEAST}:other)."
    )

    @property
    def what(self) -> str:
        return f"fewer than {LEAST} documents: {_counted(self.labels)}"


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
    about = (
        "the other documents speak for another label, the most suspicious first (these fits agree "
        "with {0.accuracy:.1%} of all labels)"
    )
    todo = (
        "Read them, from the first on: the lower the probability of its label, the surer a label "
        "is wrong. --json lists all of them."
    )


class Lengths(NamedTuple):
    """Numbers of words in a document: the least, the median, nine tenths have no more, the most."""

    least: int
    median: int
    most_of_90: int
    most: int


class Unchecked(NamedTuple):
    """A finding that was not looked for, and why."""

    name: str
    why: str


@dataclass(frozen=True, eq=False)
class CheckResult:
    """What a check has found.

    Attributes
    ----------
    title : str
        What was checked.
    documents : int
        Number of documents.
    columns : dict of str to str
        The format and the columns that were read, for people.
    labels : tuple of (label, documents)
        All labels, the most frequent first; none in a regression.
    lengths : Lengths
        Numbers of words in documents.
    scripts : tuple of (script, documents)
        Writing systems that most letters of a document are of, the most frequent first.
    findings : tuple of Finding
        What was found, the worst first.
    unchecked : tuple of Unchecked
        What was not looked for, and why.
    """

    title: str
    documents: int
    columns: dict[str, str]
    labels: tuple[tuple[str, int], ...]
    lengths: Lengths
    scripts: tuple[tuple[str, int], ...]
    findings: tuple[Finding, ...]
    unchecked: tuple[Unchecked, ...]

    @property
    def whys(self) -> dict[str, list[str]]:
        """The names of what was not looked for, by the reason."""
        whys: dict[str, list[str]] = {}
        for one in self.unchecked:
            whys.setdefault(one.why, []).append(one.name)
        return whys

    def __repr__(self) -> str:
        names = ", ".join(finding.name for finding in self.findings)
        return f"<CheckResult: {self.documents:,} documents; {names or 'nothing found'}>"

    def find(self, name: str) -> Finding | None:
        """The finding of this name; None if there is none."""
        return next((one for one in self.findings if one.name == name), None)

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values for JSON."""
        return {
            "title": self.title,
            "documents": self.documents,
            "columns": self.columns,
            "labels": dict(self.labels),
            "words": self.lengths._asdict(),
            "scripts": dict(self.scripts),
            "findings": [finding.to_dict() for finding in self.findings],
            "unchecked": [one._asdict() for one in self.unchecked],
        }


def worst_first(findings: list[Finding]) -> tuple[Finding, ...]:
    """Findings by level, and among those of one level by their share."""
    return tuple(sorted(findings, key=lambda one: (LEVELS.index(one.level), -one.share, one.name)))


KINDS: dict[str, type[Finding]] = {kind.name: kind for kind in Finding.__subclasses__()}
"""Every kind of finding, by its name."""
