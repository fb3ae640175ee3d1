"""Figures and texts in sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup, escape

from textreg.measure.metrics import ALPHA, holm, share_test, wilson
from textreg_report.page import Estimate


def minus(number: str) -> str:
    """A number that Python wrote, with the minus sign of print."""
    return number.replace("-", "\N{MINUS SIGN}")


def fixed(value: float, digits: int = 3) -> str:
    """So many digits after the point."""
    return minus(f"{value:.{digits}f}")


def short(value: float) -> str:
    """Four digits in all, thousands apart."""
    return minus(f"{value:,.4g}")


def small(value: float) -> str:
    """A power of ten."""
    return minus(f"{value:.1e}")


def signed(value: float, digits: int = 3) -> str:
    """With its sign; without one where all digits are zeros."""
    if not value:
        return "0"
    text = f"{value:+.{digits}f}"
    return minus(text) if float(text) else text[1:]


def percent(share: float) -> str:
    """7.7 %, 34 %."""
    value = 100 * share
    return f"{value:.0f} %" if value >= 10 or not value else f"{value:.2g} %"


def telling(pairs: Sequence[tuple[str, float]], digits: int = 2) -> list[tuple[str, float]]:
    """The pairs whose number is not all zeros with so many digits."""
    return [pair for pair in pairs if round(pair[1], digits)]


# Characters of a name; what a document or a file calls itself has no limit of its own.
LONGEST = 200

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


# Characters of a label in a sentence.
LONGEST_LABEL = 40


def quoted(label: str) -> str:
    """A label in quotation marks, not too long."""
    return f"“{clip(label, LONGEST_LABEL)}”"


def listed(items: Sequence[str]) -> str:
    """One, two and three."""
    return " and ".join(filter(None, (", ".join(items[:-1]), *items[-1:])))


def documents(count: int) -> str:
    """1 document, 2 documents."""
    return f"{count:,} document{'' if count == 1 else 's'}"


def share(value: float, digits: int = 0) -> str:
    """A share in percent; with another digit where all of them would be 0 or 100."""
    text = fixed(100 * value, digits)
    if 0 < value < 1 and float(text) in (0.0, 100.0) and digits < 3:
        return share(value, digits + 1)
    return f"{text}\N{NO-BREAK SPACE}%"


def share_of(count: int, total: int) -> str:
    """A share of documents with its 95 % interval (Wilson 1927)."""
    low, high = wilson(count, total)
    return f"{share(count / total)} of {total:,} ({fixed(100 * low, 0)} to {fixed(100 * high, 0)})"


def often(counts: Sequence[tuple[int, int]], overall: float) -> list[int]:
    """Places of the counts (some, of) that are measurably above a share of ``overall``.

    By exact binomial tests, adjusted for all of them (Holm 1979).
    """
    # Under the hypothesis, some is Binomial(of, overall).
    p = holm([share_test(some, of, overall) for some, of in counts])
    above = [some > overall * of for some, of in counts]
    return [at for at, value in enumerate(p) if value <= ALPHA and above[at]]


def points(difference: Estimate) -> str:
    """A difference in points of percent with its interval."""
    value = signed(100 * difference.value, 1)
    if difference.low is None or difference.high is None:
        return f"{value} points"
    low, high = (signed(100 * end, 1) for end in (difference.low, difference.high))
    return f"{value} points, 95\N{NO-BREAK SPACE}% interval {low} to {high}"


def number(figure: Estimate) -> str:
    """A number with its interval."""
    if figure.low is None or figure.high is None:
        return _number(figure.value)
    return f"{_number(figure.value)} ({_number(figure.low)} to {_number(figure.high)})"


def _number(value: float) -> str:
    return fixed(value) if abs(value) < 10 else short(value)
