"""Explanations for people: a text in parts, each colored by its contribution."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import NamedTuple

from textreg.explain.records import Explanation
from textreg.terminal import printable, single_line


class TextPart(NamedTuple):
    """A part of a text, and the sum of the values of the words that cover it."""

    start: int
    end: int
    value: float


def text_parts(explanation: Explanation) -> Iterator[TextPart]:
    """The whole text in consecutive parts, split wherever a word begins or ends.

    Where n-grams overlap, each counts in full for every part that it covers.
    """
    change: dict[int, float] = {0: 0.0, len(explanation.text): 0.0}
    open_at: dict[int, int] = {}
    for start, end, _, value in explanation.words:
        for place, sign in ((start, 1), (end, -1)):
            change[place] = change.get(place, 0.0) + sign * value
            open_at[place] = open_at.get(place, 0) + sign
    value, n_open, before = 0.0, 0, 0
    for place in sorted(change):
        if place > before:
            yield TextPart(before, place, value if n_open else 0.0)
        value, n_open, before = value + change[place], n_open + open_at.get(place, 0), place


def strongest(explanation: Explanation, top: int = 10) -> list[tuple[str, float]]:
    """The ``top`` features with the largest contributions, over all occurrences, and these."""
    sums: dict[str, float] = {}
    for word in explanation.words:
        sums[word.feature] = sums.get(word.feature, 0.0) + word.value
    return sorted(sums.items(), key=lambda item: (-abs(item[1]), item[0]))[:top]


def headline(explanation: Explanation) -> str:
    """Label or number, probability, and the score as a sum, on one line."""
    label = single_line(explanation.label) if explanation.of else f"{explanation.score:.4g}"
    if explanation.label in explanation.probabilities:
        label += f" ({explanation.probabilities[explanation.label]:.3f})"
    words = sum(word.value for word in explanation.words)
    what = f"score of {single_line(explanation.of)}" if explanation.of else "prediction"
    return (
        f"{label}   {what} {explanation.score:+.3f} = intercept {explanation.intercept:+.3f} "
        f"{'+' if words >= 0 else '-'} words {abs(words):.3f}"
    )


def as_html(explanation: Explanation) -> str:
    """One self-contained HTML element, without scripts or style sheets; the text is escaped."""
    parts = list(text_parts(explanation))
    most = max((abs(part.value) for part in parts), default=0.0) or 1.0
    shown = []
    for start, end, value in parts:
        text = escape(printable(explanation.text[start:end]))
        if value:
            color = (
                "0,114,178" if value > 0 else "213,94,0"
            )  # distinct for color-blind readers: okabe2008
            strength = 0.1 + 0.5 * abs(value) / most
            text = (
                f'<span style="background:rgba({color},{strength:.2f})" '
                f'title="{value:+.4f}">{text}</span>'
            )
        shown.append(text)
    return (
        f"<div><p><b>{escape(headline(explanation))}</b></p>"
        f'<p dir="auto" style="white-space:pre-wrap">{"".join(shown)}</p></div>'
    )
