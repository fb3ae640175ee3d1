"""The kinds of findings of a check, a finding, and the result of a check."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

LEVELS = ("error", "warning", "note")
"""How bad a finding is: it makes a model or its measured accuracy wrong; it costs accuracy, or
may; it is good to know."""
NAMED = 5
"""Labels that a sentence lists."""
LEAST = 10
"""Labels of fewer documents are rare."""


class Kind(NamedTuple):
    """A kind of finding: how bad it is, what to do about it, and what is counted."""

    level: str
    advice: str
    unit: str = "documents"


_REMOVE = "Remove them from one of the files: a model is not tested by what it was trained on."

KINDS = {
    "unreadable-rows": Kind(
        "error",
        "Correct these rows. textreg train stops at the first one; with --on-error skip it "
        "leaves them out.",
        "rows",
    ),
    "empty-texts": Kind("warning", "Leave them out: a model can only learn their share of labels."),
    "one-word-texts": Kind(
        "note", "See whether their labels follow from so little, and leave out those that do not."
    ),
    "long-texts": Kind(
        "note",
        "See whether each is one document: an open quote, or a lost separator, joins many rows "
        "into one.",
    ),
    "cut-texts": Kind(
        "warning", "Get the whole texts: a database column, a spreadsheet or a script has cut them."
    ),
    "markup": Kind(
        "warning",
        "Train with --strip-html (strip_html=True): else tags become features like other words.",
    ),
    "encoding": Kind(
        "warning",
        "Export the texts again, in UTF-8, or name the encoding that the file has (--encoding). "
        "ftfy.fix_text mends mojibake; what a replacement character stands for is lost.",
    ),
    "scripts": Kind(
        "note",
        "See whether they belong here: a model learns little of a language from few documents "
        "in it.",
    ),
    "duplicates": Kind(
        "warning",
        "Keep one of each. Copies on both sides of a split make the accuracy look better than it "
        "is; if they have to stay, keep them together with --group-col.",
    ),
    "conflicting-labels": Kind(
        "error", "Decide which label is right. If both are, give such documents several labels."
    ),
    "near-duplicates": Kind(
        "warning",
        "Keep one of each group, or keep a group together with --group-col: copies on both sides "
        "of a split make the accuracy look better than it is.",
    ),
    "overlap": Kind("error", _REMOVE, "documents of the second file"),
    "near-overlap": Kind("warning", _REMOVE, "documents of the second file"),
    "single-label": Kind(
        "error",
        "Give documents of another label too, or name the right column with --label-col.",
    ),
    "label-column": Kind("error", "", "labels"),  # the finding says why, and what to do
    "missing-labels": Kind(
        "warning",
        "See whether these are labels: a program may have written them where there was none.",
    ),
    "similar-labels": Kind("error", "Write each label in one way.", "labels"),
    "rare-labels": Kind(
        "warning",
        f"Add documents, leave such labels out (--min-label {LEAST}), or join them into one "
        f"(--min-label {LEAST}:other).",
        "labels",
    ),
    "imbalance": Kind(
        "note",
        "Judge models by macro-F1 (--metric macro-f1) rather than accuracy; --class-weight "
        "balanced gives rare labels more weight.",
    ),
    "labels-of-one-file": Kind(
        "warning",
        "Write labels in the same way in both files. A label that a model has not been trained on "
        "can only be answered wrongly.",
        "labels",
    ),
    "giveaway-columns": Kind(
        "error",
        "Do not train on them, and see that the texts do not repeat them: a model learns to copy, "
        "and fails where the column is not known yet.",
        "columns",
    ),
    "suspected-labels": Kind(
        "warning",
        "Read them, from the first on: the lower the probability of its label, the surer a label "
        "is wrong. --json lists all of them.",
    ),
}
"""Every kind of finding, by its name; docs/checking.md says what each means."""


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
    """Something that a check found.

    Attributes
    ----------
    name : str
        Name of its kind, for ``--skip`` and ``--fail-on``.
    count : int
        Number of documents that it is about; of labels or columns where :attr:`unit` says so.
    total : int
        Number of those that were looked at.
    examples : tuple of Example
        Some of them.
    what : str
        What was found, in words that follow the number of documents and a colon.
    details : dict
        More about it, by names that depend on the kind.
    """

    name: str
    count: int
    total: int
    examples: tuple[Example, ...]
    what: str
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def level(self) -> str:
        """One of :data:`LEVELS`."""
        return KINDS[self.name].level

    @property
    def unit(self) -> str:
        """What is counted."""
        return KINDS[self.name].unit

    @property
    def share(self) -> float:
        """``count`` as a share of ``total``."""
        return self.count / self.total if self.total else 0.0

    @property
    def advice(self) -> str:
        """What to do about it, as a sentence."""
        more = self.details.get("why") or self.details.get("remedy", "")
        return f"{KINDS[self.name].advice} {more}".strip()

    def to_dict(self) -> dict[str, Any]:
        """The finding as plain values for JSON."""
        return {
            "name": self.name,
            "level": self.level,
            "unit": self.unit,
            "share": self.share,
            "what": self.what,
            "advice": self.advice,
            "count": self.count,
            "total": self.total,
            "examples": [example._asdict() for example in self.examples],
            **self.details,
        }


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
