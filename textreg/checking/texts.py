"""What is wrong with single texts: empty, short, long, cut, with markup, or damaged."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from textreg.checking.documents import Documents, is_missing
from textreg.checking.findings import (
    BrokenEncoding,
    CutTexts,
    EmptyTexts,
    Finding,
    LongTexts,
    Markup,
    RareScripts,
    ShortTexts,
)
from textreg.checking.result import Lengths
from textreg.features.markup import find_html

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
    if wants(EmptyTexts, ShortTexts):
        empty = [row for row, text in enumerate(texts) if is_missing(text)]
        none = set(empty)
        few = [row for row in np.flatnonzero(documents.words < 2).tolist() if row not in none]
        yield EmptyTexts(len(empty), n, documents.examples(empty))
        yield ShortTexts(len(few), n, documents.examples(few))
    if wants(LongTexts):
        yield _long(documents)
    if wants(CutTexts):
        yield _cut(documents)
    if wants(Markup):
        found = [(row, match[0]) for row, text in enumerate(texts) if (match := find_html(text))]
        tags = dict(found)
        yield Markup(len(found), n, documents.examples(tags, lambda row: opening_tag(tags[row])))
    if wants(BrokenEncoding):
        yield _broken(documents)


def opening_tag(tag: str) -> str:
    """The markup of a document, for people."""
    return f"holds {tag:.40}"


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
    return RareScripts(len(rows), len(documents), examples, listed)


def _long(documents: Documents) -> Finding:
    median = lengths_of(documents).median
    words = documents.words
    far = np.flatnonzero((words > FAR * max(1, median)) & (words >= LONG))
    longest = far[np.argsort(-words[far], kind="stable")].tolist()
    examples = documents.examples(longest, lambda row: f"{words[row]:,} words")
    return LongTexts(len(longest), len(documents), examples, median)


def _cut(documents: Documents) -> Finding:
    sizes = np.array([len(text) for text in documents.texts], dtype=np.int64)
    most = int(sizes.max(initial=0))
    rows = np.flatnonzero(sizes == most).tolist()
    if most < CUT or len(rows) < max(5, 0.005 * len(sizes)):
        rows = []
    ends = documents.texts
    examples = documents.examples(rows, lambda row: f"ends ...{ends[row][-20:]}")
    return CutTexts(len(rows), len(documents), examples, most)


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
    return BrokenEncoding(len(shown), len(documents), examples, listed)


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
