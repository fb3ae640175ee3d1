"""Rules for the ends of sentences, shared by the scanner and its NumPy twin."""

from __future__ import annotations

STOP = "."
ELLIPSIS = "…"
STRONG = "!?‼⁇⁈⁉‽؟।॥۔"
"""Ends a sentence before white space."""
FULL = "。！？｡．"
"""Ends a sentence everywhere: East Asian text has no spaces."""
CLOSERS = "\"'”’)]}»›*`"
"""Allowed between the end mark and the white space."""

TITLES = frozenset(
    """
    adm asst assoc approx attn bros ca capt cf cmdr co col corp cpl dept dr ed eds est gen
    gov hon inc jr lt ltd maj messrs mfg mr mrs ms mt pres prof rep resp rev sen sgt sr st
    univ viz vs
    """.split()
)
"""Abbreviations that never end a sentence (lower case, up to 8 ASCII letters)."""

NUMBERED = frozenset(
    """
    apr art aug ch chap dec eq eqs feb fig figs jan jul jun mar no nos nov nr oct p para pg pp
    pt sec sect sep sept tab vol vols
    """.split()
)
"""Abbreviations that do not end a sentence when a digit follows."""

HEADER_LENGTH = 32
"""Maximum number of characters of the name in a ``Name: value`` line."""
NUMBER_LENGTH = 3
"""Maximum number of digits in an enumeration: ``12. Next point``."""


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
