"""Text from documents on a page: escaped, and nothing in it invisible or able to act."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

LONGEST = 200
"""Characters of a name; what a document or a file calls itself has no limit of its own."""

# Characters that move others or are not seen: control, format, line and paragraph separators, lone
# halves of surrogate pairs, noncharacters, fillers. Joiners are left alone between letters of the
# scripts and the emoji that need them.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b"
    "\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufdd0-\ufdef\ufeff\uffa0"
    "\ufff0-\ufffb\ufffe\uffff\U000e0000-\U000e0fff]"
    "|(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])"
)


def shown(text: str) -> str:
    """The same with every character that is not seen written as its number, such as [U+202E]."""
    return _UNSEEN.sub(lambda match: f"[U+{ord(match[0]):04X}]", text)


def clip(text: str, length: int = LONGEST) -> str:
    """The start of a text, with dots where something is missing."""
    return text if len(text) <= length else text[: length - 1] + "…"


def safe(value: Any) -> Any:
    """What a template writes for a value: the one door through which text comes onto a page."""
    from markupsafe import Markup, escape  # comes with jinja2, which only pages need

    return (
        escape(shown(value)) if isinstance(value, str) and not isinstance(value, Markup) else value
    )


def thirds(values: Sequence[float]) -> tuple[float, float] | None:
    """The ends of the first and of the second third of some numbers; None if they are not two."""
    ordered = sorted(values)
    if not ordered:
        return None
    first, second = (ordered[(len(ordered) - 1) * part // 3] for part in (1, 2))
    return (first, second) if first < second < ordered[-1] else None
