"""Results as tables in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def markdown(tables: Iterable[tuple[str, list[list[str]]]], notes: Iterable[str]) -> str:
    """Tables with their titles, columns but the first aligned at the right, and a list of notes.

    Parameters
    ----------
    tables : iterable of (str, list of lists of str)
        Title and rows of each, the first row with the titles of the columns.
    notes : iterable of str
        What follows.

    Returns
    -------
    str
    """
    parts = []
    for title, (head, *body) in tables:
        rows = [head, ["---", *["---:"] * (len(head) - 1)], *body]
        parts += [f"**{_escape(title)}**", "\n".join(map(_line, rows))]
    return "\n\n".join([*parts, *(f"- {_escape(note)}" for note in notes)]) + "\n"


def _escape(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(_escape(cell) for cell in cells) + " |"
