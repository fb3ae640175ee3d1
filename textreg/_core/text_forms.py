"""Normal forms of texts, and the way back to the characters that were given."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Literal

import numpy as np

from textreg._core.text import is_latin
from textreg._core.text_ranges import IGNORED, MARKS
from textreg._core.text_rules import runs

if TYPE_CHECKING:
    from textreg._core.arrays import Int32s

FORMS: dict[str, Literal["NFC", "NFKC"] | None] = {"nfc": "NFC", "nfkc": "NFKC", "none": None}

# What a form can join to the character before it: marks, and letters of Hangul and Kirat Rai.
_JOINS = "\u1160-\u11ff\u3131-\u318e\ud7b0-\ud7ff\uff9e-\uffdc\U00016d60-\U00016d6f"
_JOINS += "".join(f"{chr(first)}-{chr(last)}" for first, last in runs(MARKS + IGNORED))


def joining() -> list[str]:
    """The characters that a form can join to the one before them."""
    return re.findall(f"[{_JOINS}]", "".join(map(chr, range(0x110000))))


@cache
def _pattern(pattern: str) -> re.Pattern[str]:
    """A pattern with those characters in place of ``J``, made when a text needs it."""
    return re.compile(pattern.replace("J", _JOINS))


def normal(text: str, form: str) -> str:
    """``text`` in one of ``FORMS``; the very ``text`` if it is so already."""
    standard = FORMS[form]
    # NFC leaves Latin-1 as it is, and a string knows whether it is that.
    if standard is None or (is_latin(text) if form == "nfc" else text.isascii()):
        return text
    made = unicodedata.normalize(standard, text)  # looks first whether there is anything to do
    return text if made == text else made


def places(text: str, form: str) -> tuple[Int32s, Int32s]:
    """Where in ``text`` the parts start and end that the characters of its normal form are from.

    The parts are as short as the form allows: single characters and clusters.
    """
    sizes = [(len(part), len(normal(part, form))) for part in _parts(text, form)]
    given, made = np.array(sizes, dtype=np.int32).reshape(-1, 2).T
    ends = np.cumsum(given, dtype=np.int32)
    return np.repeat(ends - given, made), np.repeat(ends, made)


def move(spans: Int32s, starts: Int32s, ends: Int32s) -> None:
    """Change spans of a normal form, (n, 2), to those of the text, by its :func:`places`."""
    spans[:, 0] = starts[spans[:, 0]]
    spans[:, 1] = ends[spans[:, 1] - 1]


def _parts(text: str, form: str) -> Iterator[str]:
    """Parts of a text whose normal forms, one after another, are that of the text."""
    for match in _pattern("[^J]?[J]+|[^J]+(?![J])").finditer(text):
        part = match[0]
        if normal(part, form) == part or not _pattern("[J]").search(part):
            yield from part
        else:
            yield part
