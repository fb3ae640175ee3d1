"""Rules for words and for the ends of sentences, shared by the scanner and its NumPy twin."""

from __future__ import annotations

import unicodedata

from textreg._core.text_ranges import CLOSERS as PAIRED
from textreg._core.text_ranges import TERMINALS


def runs(ranges: str) -> list[tuple[int, int]]:
    """First and last code point of every run in one of the strings of ``text_ranges``."""
    ends = [[int(end, 16) for end in run.split("-")] for run in ranges.split()]
    return [(run[0], run[-1]) for run in ends]


def characters(ranges: str) -> str:
    """The characters of one of the strings of ``text_ranges``."""
    return "".join(chr(c) for first, last in runs(ranges) for c in range(first, last + 1))


def folded(letter: str) -> str:
    """A character with its case folded, which is 1 to 3 characters; those in normal form NFC."""
    made = letter.casefold()
    return made if len(made) == 1 else unicodedata.normalize("NFC", made)


STOP = "."
ELLIPSIS = "…"
_TERMINALS = characters(TERMINALS).replace(STOP, "")
# Ends a sentence everywhere: most scripts from Devanagari on may do without a space after it.
FULL = "".join(end for end in _TERMINALS if "\u0900" <= end < "\u2000" or end > "\u2fff")
# Ends a sentence before white space: Latin, Greek, Cyrillic, Armenian, Hebrew and Arabic.
STRONG = "".join(end for end in _TERMINALS if end not in FULL)
# Quotation marks that open in one language and close in another: „so“, »so«.
OPENERS = "“‘‛‟«‹"
# Closes a bracket or a quotation; allowed, as `OPENERS` are, between the end mark and the white
# space.
CLOSERS = "\"'*`" + characters(PAIRED)
COLONS = ":："

# Abbreviations that never end a sentence (lower case, up to 8 ASCII letters).
TITLES = frozenset(
    """
    adm asst assoc approx attn bros ca capt cf cmdr co col corp cpl dept dr ed eds est gen
    gov hon inc jr lt ltd maj messrs mfg mr mrs ms mt pres prof rep resp rev sen sgt sr st
    univ viz vs
    """.split()
)

# Abbreviations that do not end a sentence when a digit follows.
NUMBERED = frozenset(
    """
    apr art aug ch chap dec eq eqs feb fig figs jan jul jun mar no nos nov nr oct p para pg pp
    pt sec sect sep sept tab vol vols
    """.split()
)

# Maximum number of characters of the name in a `Name: value` line.
HEADER_LENGTH = 32
# Maximum number of digits in an enumeration: `12. Next point`.
NUMBER_LENGTH = 3


def with_final_sigmas(text: str) -> str:
    """``text`` with 'Σ' replaced by 'ς' where :meth:`str.lower` does that.

    It is the only letter whose lower case depends on its neighbors; after this, characters can be
    converted one by one. Nothing else changes, and no character moves.
    """
    # Only 'İ' has a lower case of two characters; 'I' instead of it keeps all offsets.
    lowered = text.replace("İ", "I").lower()
    return "".join(
        "ς" if small == "ς" else given for given, small in zip(text, lowered, strict=True)
    )
