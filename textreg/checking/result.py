"""The result of a check: the findings, and facts about the documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from textreg.checking.findings import LEVELS, Finding


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
