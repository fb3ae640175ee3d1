"""Text from files, as it may be shown on a screen."""

from __future__ import annotations

import re

# What moves a cursor, colors a terminal or turns the direction of writing.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    """The same length, with control characters that could act on a screen shown as U+FFFD."""
    return _UNSAFE.sub("\N{REPLACEMENT CHARACTER}", text)


def single_line(name: str) -> str:
    """The same of a name, such as a label, with blanks for what would break its line."""
    return printable(name).replace("\t", " ").replace("\n", " ")
