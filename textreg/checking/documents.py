"""The documents of a check, what to look for in them, and what is wrong with single texts."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from textreg.checking.findings import KINDS, NAMED, Example, Finding, Lengths
from textreg.errors import UsageError, did_you_mean, first_few
from textreg.features.markup import find_html
from textreg.jobs import check_jobs
from textreg.params import Parametrized, param
from textreg.records import Corpus, Tokens
from textreg.tasks import TASKS
from textreg.text import WordRules, scan_words

if TYPE_CHECKING:
    from textreg.records import Int64s


def check_names(names: Any) -> frozenset[str]:
    """Names of kinds of findings; UsageError for any other."""
    if isinstance(names, str):
        names = [names]
    for name in names:
        if name not in KINDS:
            raise UsageError(
                f"no finding is called '{name}'.{did_you_mean(str(name), KINDS)} There are: "
                f"{', '.join(KINDS)}."
            )
    return frozenset(names)


class CheckSettings(Parametrized):
    """What to look for."""

    name = "check"
    task: str | None = param(
        default=None,
        choices=tuple(TASKS),
        help="whether a document has one label, any number of them (multilabel), or a number; by "
        "default multilabel if labels are lists, else classification",
    )
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
        help="the share of words and pairs of words that near duplicates have in common at least "
        "(Jaccard similarity)",
    )
    examples: int = param(default=3, min=0, help="number of examples of every finding")

    jobs: int = param(
        default=1,
        convert=check_jobs,
        help="number of fits to run in parallel; -1 for one per core",
    )

    def wants(self, *names: str) -> bool:
        """Whether findings of one of these names are to be looked for."""
        return any(name not in (self.skip or ()) for name in names)


MISSING = frozenset(("", "n/a", "#n/a", "na", "<na>", "nan", "null", "none", "nil", "#null!"))
"""What tables hold where nothing is there, in lower case."""
SHOWN = 80
"""Characters of a text in an example."""


def label_text(label: Any) -> str:
    """A label, or a list of labels, for people."""
    return "; ".join(label) if isinstance(label, tuple) else str(label)


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

    def label(self, row: int) -> str:
        """The label of a document for people; empty without labels."""
        return "" if self.labels is None else label_text(self.labels[row])

    def example(self, row: int, detail: str = "", text: str | None = None) -> Example:
        """A document as an example; ``text`` is shown in place of its beginning."""
        shown = opening(self.texts[row] if text is None else text)
        return Example(self.corpus.where(row), shown, detail)

    def examples(
        self, rows: Iterable[int], detail: Callable[[int], str] | None = None
    ) -> tuple[Example, ...]:
        """The first of these rows as examples, with their labels, or what ``detail`` returns."""
        return tuple(
            self.example(int(row), self._labeled(int(row)) if detail is None else detail(int(row)))
            for row in islice(rows, self.settings.examples)
        )

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


FAR = 20
"""Times as long as the median document is long."""
LONG = 1000
"""Words of a document that may be called long."""
CUT = 50
"""Characters from which on a common largest length is a cut."""
RARE = 0.05
"""Share of documents below which a script is rare."""

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
    wants, texts, n = documents.settings.wants, documents.texts, len(documents)
    if wants("empty-texts", "one-word-texts"):
        empty = [row for row, text in enumerate(texts) if is_missing(text)]
        none = set(empty)
        few = [row for row in np.flatnonzero(documents.words < 2).tolist() if row not in none]
        what = "nothing in the text, or a word for that, such as N/A"
        yield Finding("empty-texts", len(empty), n, documents.examples(empty), what)
        what = "one word, or marks and no word"
        yield Finding("one-word-texts", len(few), n, documents.examples(few), what)
    if wants("long-texts"):
        yield _long(documents)
    if wants("cut-texts"):
        yield _cut(documents)
    if wants("markup"):
        found = [(row, match[0]) for row, text in enumerate(texts) if (match := find_html(text))]
        tags = dict(found)
        examples = documents.examples(tags, lambda row: f"holds {tags[row]:.40}")
        what = "HTML tags or character references in the text"
        yield Finding("markup", len(found), n, examples, what)
    if wants("encoding"):
        yield _broken(documents)


def lengths_of(documents: Documents) -> Lengths:
    """How long documents are."""
    if not len(documents):
        return Lengths(0, 0, 0, 0)
    words = np.sort(documents.words)
    at = (0, (len(words) - 1) // 2, max(0, -(-9 * len(words) // 10) - 1), len(words) - 1)
    return Lengths(*(int(words[place]) for place in at))


def scripts_of(documents: Documents) -> tuple[list[str], Counter[str]]:
    """The script that most letters of every document are of, empty without letters; and counts."""
    scripts = [_script(text) for text in documents.texts]
    counts = Counter(scripts)
    del counts[""]
    return scripts, counts


def rare_scripts(documents: Documents, scripts: list[str], counts: Counter[str]) -> Finding:
    """The documents in a script that few others are in."""
    n = sum(counts.values())
    rare = {script: count for script, count in counts.items() if count < RARE * n}
    rows = [row for row, script in enumerate(scripts) if script in rare]
    listed = tuple(sorted(rare.items(), key=lambda item: (-item[1], item[0])))
    examples = documents.examples(rows, lambda row: scripts[row])
    shown = first_few([f"{script} {count:,}" for script, count in listed], NAMED)
    what = f"in a script that few others are in: {shown}"
    return Finding("scripts", len(rows), len(documents), examples, what, {"scripts": listed})


def _long(documents: Documents) -> Finding:
    median = lengths_of(documents).median
    words = documents.words
    far = np.flatnonzero((words > FAR * max(1, median)) & (words >= LONG))
    longest = far[np.argsort(-words[far], kind="stable")].tolist()
    examples = documents.examples(longest, lambda row: f"{words[row]:,} words")
    what = f"far longer than the median document, of {median:,} words"
    n = len(documents)
    return Finding("long-texts", len(longest), n, examples, what, {"median": median})


def _cut(documents: Documents) -> Finding:
    sizes = np.array([len(text) for text in documents.texts], dtype=np.int64)
    most = int(sizes.max(initial=0))
    rows = np.flatnonzero(sizes == most).tolist()
    if most < CUT or len(rows) < max(5, 0.005 * len(sizes)):
        rows = []
    ends = documents.texts
    examples = documents.examples(rows, lambda row: f"ends ...{ends[row][-20:]}")
    what = f"exactly {most:,} characters, and none has more"
    return Finding("cut-texts", len(rows), len(documents), examples, what, {"characters": most})


def _broken(documents: Documents) -> Finding:
    kinds: Counter[str] = Counter()
    shown: dict[int, str] = {}
    for row, text in enumerate(documents.texts):
        if found := _damage(text):
            kind, place = found
            kinds[kind] += 1
            shown[row] = f"{kind}: {text[max(0, place - 15) : place + 15]}"
    listed = tuple(kinds.most_common())
    examples = documents.examples(shown, lambda row: shown[row])
    what = "signs of a wrong encoding: " + ", ".join(f"{it} {count:,}" for it, count in listed)
    return Finding("encoding", len(shown), len(documents), examples, what, {"kinds": listed})


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
