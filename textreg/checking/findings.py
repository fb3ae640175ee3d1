"""What a check may find: a class for every kind of finding."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple

from textreg.errors import first_few

NAMED = 5
"""Labels that a sentence lists."""

LEVELS = ("error", "warning", "note")
"""How bad a finding is: it makes a model or its measured accuracy wrong; it costs accuracy, or
may; it is good to know."""


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
        return self.about

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
    todo = (
        "See whether each is one document: an open quote, or a lost separator, joins many rows "
        "into one."
    )

    @property
    def what(self) -> str:
        return f"far longer than the median document, of {self.median:,} words"


@dataclass(frozen=True)
class CutTexts(Finding):
    """Documents that end at the same number of characters, the largest there is.

    characters: that number.
    """

    characters: int

    name = "cut-texts"
    todo = "Get the whole texts: a database column, a spreadsheet or a script has cut them."

    @property
    def what(self) -> str:
        return f"exactly {self.characters:,} characters, and none has more"


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
