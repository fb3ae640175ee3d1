"""What a check finds: the kinds of findings, the documents, and what is wrong with single texts."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from importlib.util import find_spec
from itertools import islice
from typing import Any, NamedTuple, cast

import numpy as np

from textreg.errors import UsageError, alternatives, first_few
from textreg.features.markup import TELLING
from textreg.jobs import check_jobs
from textreg.params import Parametrized, param
from textreg.records import Corpus, Int64s, Tokens
from textreg.terminal import Displayed, Table, counted
from textreg.text import WordRules, scan_words
from textreg.training.settings import declared_settings

# How bad a finding is: it makes a model or its measured accuracy wrong; it costs accuracy, or
# may; it is good to know.
LEVELS = ("error", "warning", "note")
# What needs a package that the core does without: pip install 'textreg[check]'.
NEEDS = {"encoding": "ftfy", "near-duplicates": "datasketch", "near-overlap": "datasketch"}
# Labels that a sentence lists.
NAMED = 5
# Labels of fewer documents are rare.
LEAST = 10


class Kind(NamedTuple):
    """A kind of finding: how bad it is, what to do about it, and what is counted."""

    level: str
    advice: str
    unit: str = "documents"


_REMOVE = "Remove them from one of the files: a model is not tested by what it was trained on."

# Every kind of finding, by its name; docs/checking.md says what each means.
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
        "error", "Give documents of another label too, or name the right column with --label-col."
    ),
    "label-column": Kind("error", "", "labels"),  # the finding says why, and what to do
    "missing-labels": Kind(
        "warning",
        "See whether these are labels: a program may have written them where there was none.",
    ),
    "similar-labels": Kind(
        "error", "Write each label in one way: --fix OUT writes such a table.", "labels"
    ),
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


@dataclass(frozen=True, eq=False, repr=False)
class CheckResult(Displayed):
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
        for unchecked in self.unchecked:
            whys.setdefault(unchecked.why, []).append(unchecked.name)
        return whys

    def headline(self) -> str:
        """The names of the findings."""
        names = ", ".join(finding.name for finding in self.findings)
        return f"{counted(self.documents, 'document')}; {names or 'nothing found'}"

    def tables(self) -> list[Table]:
        """A row for each finding, and for each reason why something was not looked for."""
        rows = [(it.name, it.level, it.count, it.unit, it.what, it.advice) for it in self.findings]
        whys = [(", ".join(names), why) for why, names in self.whys.items()]
        heads = ("finding", "level", "count", "of", "what was found", "what to do")
        return [
            *([("", [heads, *rows])] if rows else []),
            *([("not looked for", [("findings", "why"), *whys])] if whys else []),
        ]

    def find(self, name: str) -> Finding | None:
        """The finding of this name; None if there is none."""
        return next((finding for finding in self.findings if finding.name == name), None)

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
            "unchecked": [unchecked._asdict() for unchecked in self.unchecked],
        }


def check_names(names: Any) -> frozenset[str]:
    """Names of kinds of findings; UsageError for any other."""
    if isinstance(names, str):
        names = [names]
    for name in names:
        if name not in KINDS:
            raise UsageError(f"no finding is called '{name}'.{alternatives(str(name), KINDS)}")
    return frozenset(names)


# What documents are labeled with is said as for a training.
_TASK: Any = declared_settings()["task"]


class CheckSettings(Parametrized):
    """What to look for."""

    name = "check"
    task: str | None = _TASK
    skip: frozenset[str] | None = param(
        default=None,
        convert=check_names,
        metavar="NAME",
        repeated=True,
        help="do not look for findings of this name",
    )
    similarity: float = param(
        default=0.8,
        min=0.5,
        max=1.0,
        help="smallest share of words and pairs of words that near duplicates have in common "
        "(Jaccard similarity)",
    )
    examples: int = param(default=3, min=0, help="number of examples of every finding")

    jobs: int = param(
        default=1, convert=check_jobs, help="number of fits to run in parallel; -1 for one per core"
    )

    def wants(self, *names: str) -> bool:
        """Whether findings of one of these names are to be looked for."""
        return any(name not in (self.skip or ()) and not lacking(name) for name in names)


def lacking(name: str) -> str:
    """The package that a finding needs and that is not installed; empty if there is none."""
    package = NEEDS.get(name, "")
    return package if package and find_spec(package) is None else ""


# What tables hold where nothing is there, in lower case.
MISSING = frozenset(("", "n/a", "#n/a", "na", "<na>", "nan", "null", "none", "nil", "#null!"))
# Characters of a text in an example.
SHOWN = 80


def is_missing(text: str) -> bool:
    """Whether a text is empty, or stands for nothing, such as ``N/A``."""
    return len(text) < 1000 and text.strip().casefold() in MISSING


def opening(text: str) -> str:
    """The beginning of a text, on one line."""
    line = " ".join(text[: 4 * SHOWN].split())
    return line if len(line) <= SHOWN and len(text) <= 4 * SHOWN else f"{line[: SHOWN - 3]}..."


@dataclass(frozen=True, eq=False)
class Documents:
    """The documents of one corpus that is checked, and how.

    Raises
    ------
    UsageError
        If the documents are lists of tokens.
    """

    corpus: Corpus
    settings: CheckSettings

    def __post_init__(self) -> None:
        if self.corpus.tokenized:
            raise UsageError("a check is of texts, but these documents are tokens: give the texts.")

    def __len__(self) -> int:
        return len(self.corpus)

    @property
    def texts(self) -> Sequence[str]:
        """Their texts."""
        return cast(Sequence[str], self.corpus.texts)

    @cached_property
    def labels(self) -> Sequence[Any] | None:
        """Their labels, lists of labels in sorted order; None if they have none."""
        labels = self.corpus.labels
        return [tuple(sorted(it)) for it in labels] if self.corpus.multilabel and labels else labels

    @cached_property
    def tokens(self) -> Tokens:
        """Their words, as the tokenizer ``words`` finds them."""
        return scan_words(self.texts, WordRules(sentences="none"))

    @cached_property
    def words(self) -> Int64s:
        """(n,) the number of words of each."""
        return np.diff(self.tokens.token_document_ptr)

    @cached_property
    def scripts(self) -> list[str]:
        """The script that most letters of each are of; empty without letters."""
        return [_script(text) for text in self.texts]

    @cached_property
    def script_counts(self) -> Counter[str]:
        """The number of documents in every script."""
        return Counter(filter(None, self.scripts))

    def label(self, row: int) -> str:
        """The label of a document for people; empty without labels."""
        label = "" if self.labels is None else self.labels[row]
        return "; ".join(label) if isinstance(label, tuple) else str(label)

    def example(self, row: int, detail: str) -> Example:
        """A document as an example."""
        return Example(self.corpus.where(row), opening(self.texts[row]), detail)

    def examples(
        self, rows: Iterable[int], detail: Callable[[int], str] | None = None
    ) -> tuple[Example, ...]:
        """The first of these rows as examples, with their labels, or what ``detail`` returns."""
        return tuple(
            self.example(int(row), self._labeled(int(row)) if detail is None else detail(int(row)))
            for row in islice(rows, self.settings.examples)
        )

    def finding(
        self,
        name: str,
        rows: Collection[int],
        what: str,
        detail: Callable[[int], str] | None = None,
        **details: Any,
    ) -> Finding:
        """A finding about some documents, the first of which are its examples."""
        return Finding(name, len(rows), len(self), self.examples(rows, detail), what, details)

    def group_examples(self, groups: Iterable[Sequence[int]]) -> tuple[Example, ...]:
        """The first of these groups as examples: a document, and the places of the others."""
        return tuple(
            self.example(group[0], self.beside(group))
            for group in islice(groups, self.settings.examples)
        )

    def beside(self, group: Sequence[int]) -> str:
        """The label of the first document of a group, and the places and labels of the others."""
        others = self.placed(group[1:])
        return ", ".join(filter(None, [self._labeled(group[0]), f"also {others}"]))

    def placed(self, rows: Sequence[int]) -> str:
        """The places of documents, with their labels."""
        label = "" if self.labels is None else " ({})"
        places = [self.corpus.where(row) + label.format(self.label(row)) for row in rows[:4]]
        return first_few(places, 3)

    def _labeled(self, row: int) -> str:
        return "" if self.labels is None else f"label {self.label(row) or 'none'}"


# Times as long as the median document is long.
FAR = 20
# Words of a document that may be called long.
LONG = 1000
# Characters from which on a common largest length is a cut.
CUT = 50
# Share of documents below which a script is rare.
RARE = 0.05

_CONTROL = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f]")
_ESCAPE = re.compile(r"\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\[nrt](?![a-z])")

_NAMED = """
    Latin Greek Cyrillic Armenian Hebrew Arabic Syriac Thaana Devanagari Bengali Gurmukhi Gujarati
    Oriya Tamil Telugu Kannada Malayalam Sinhala Thai Lao Tibetan Myanmar Georgian Hangul Ethiopic
    Cherokee Khmer Mongolian Bopomofo Yi
"""
SCRIPTS = {name.upper(): name for name in _NAMED.split()}
SCRIPTS |= {"CJK": "Han", "HIRAGANA": "kana", "KATAKANA": "kana"}
"""Writing systems by the first word of the names of their letters."""
OTHER = "other"


def text_findings(documents: Documents) -> Iterator[Finding]:
    """What is wrong with single texts."""
    wants, texts = documents.settings.wants, documents.texts
    if wants("empty-texts", "one-word-texts"):
        empty = [row for row, text in enumerate(texts) if is_missing(text)]
        none = set(empty)
        few = [row for row in np.flatnonzero(documents.words < 2).tolist() if row not in none]
        what = "nothing in the text, or a word for that, such as N/A"
        yield documents.finding("empty-texts", empty, what)
        yield documents.finding("one-word-texts", few, "one word, or marks and no word")
    if wants("long-texts"):
        yield _long(documents)
    if wants("cut-texts"):
        yield _cut(documents)
    if wants("markup"):
        tags = {row: match[0] for row, text in enumerate(texts) if (match := TELLING.search(text))}
        what = "HTML tags or character references in the text"
        yield documents.finding("markup", tags, what, lambda row: f"holds {tags[row]:.40}")
    if wants("encoding"):
        yield _broken(documents)
    yield rare_scripts(documents)


def lengths_of(documents: Documents) -> Lengths:
    """How long documents are."""
    if not len(documents):
        return Lengths(0, 0, 0, 0)
    words = np.sort(documents.words)
    at = (0, (len(words) - 1) // 2, max(0, -(-9 * len(words) // 10) - 1), len(words) - 1)
    return Lengths(*(int(words[place]) for place in at))


def rare_scripts(documents: Documents) -> Finding:
    """The documents in a script that few others are in."""
    scripts, counts = documents.scripts, documents.script_counts
    n = sum(counts.values())
    rare = {script: count for script, count in counts.items() if count < RARE * n}
    rows = [row for row, script in enumerate(scripts) if script in rare]
    listed = tuple(sorted(rare.items(), key=lambda item: (-item[1], item[0])))
    shown = first_few([f"{script} {count:,}" for script, count in listed], NAMED)
    what = f"in a script that few others are in: {shown}"
    return documents.finding("scripts", rows, what, scripts.__getitem__, scripts=listed)


def _long(documents: Documents) -> Finding:
    median = lengths_of(documents).median
    words = documents.words
    far = np.flatnonzero((words > FAR * max(1, median)) & (words >= LONG))
    longest = far[np.argsort(-words[far], kind="stable")].tolist()
    what = f"far longer than the median document, of {median:,} words"
    describe = "{:,} words".format
    return documents.finding(
        "long-texts", longest, what, lambda row: describe(words[row]), median=median
    )


def _cut(documents: Documents) -> Finding:
    sizes = np.array([len(text) for text in documents.texts], dtype=np.int64)
    most = int(sizes.max(initial=0))
    rows = np.flatnonzero(sizes == most).tolist()
    if most < CUT or len(rows) < max(5, 0.005 * len(sizes)):
        rows = []
    ends = {row: f"ends ...{documents.texts[row][-20:]}" for row in rows}
    what = f"exactly {most:,} characters, and none has more"
    return documents.finding("cut-texts", rows, what, ends.__getitem__, characters=most)


def _broken(documents: Documents) -> Finding:
    kinds: Counter[str] = Counter()
    shown: dict[int, str] = {}
    for row, text in enumerate(documents.texts):
        if damage := _damage(text):
            kind, place = damage
            kinds[kind] += 1
            shown[row] = f"{kind}: {text[max(0, place - 15) : place + 15]}"
    listed = tuple(kinds.most_common())
    what = "signs of a wrong encoding: " + ", ".join(f"{it} {count:,}" for it, count in listed)
    return documents.finding("encoding", shown, what, shown.__getitem__, kinds=listed)


def _damage(text: str) -> tuple[str, int] | None:
    """The first sign of a wrong encoding, and where it is."""
    if not text.isascii():
        if (at := text.find("\N{REPLACEMENT CHARACTER}")) >= 0:
            return "replacement character", at
        from ftfy.badness import BADNESS_RE

        if match := BADNESS_RE.search(text):
            return "mojibake", match.start()
    if match := _CONTROL.search(text):
        return "control character", match.start()
    if "\\" in text and (match := _ESCAPE.search(text)):
        return "escape sequence", match.start()
    return None


def _script(text: str) -> str:
    if text.isascii():
        return "Latin" if any(map(str.isalpha, text)) else ""
    counts: Counter[str] = Counter()
    for letter, count in Counter(text).items():
        if script := _script_of(letter):
            counts[script] += count
    if not counts:
        return ""
    if "kana" in counts:  # Japanese is written in Han as well
        counts["kana"] += counts.pop("Han", 0)
    return min(counts, key=lambda script: (-counts[script], script))


@lru_cache(maxsize=65_536)
def _script_of(letter: str) -> str:
    """The script of a letter; empty for any other character."""
    if not letter.isalpha():
        return ""
    first, *more = unicodedata.name(letter, "").split()[:2] or [""]
    if first in ("HALFWIDTH", "FULLWIDTH") and more:
        first = more[0]
    return SCRIPTS.get(first, OTHER)
