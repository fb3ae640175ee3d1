"""What people read: text that is safe to print, tables for notebooks, and logs of what is done.

Python's logging, under the logger ``textreg``: it says nothing unless a program asks it to.

INFO tells what was read, how a search goes, what was chosen and why, and how long it took. DEBUG
adds every fit, and every row that was left out.
"""

from __future__ import annotations

import json
import logging
import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import Any, TypeAlias

logging.getLogger("textreg").addHandler(logging.NullHandler())


def logger(part: str) -> logging.Logger:
    """The logger of a part of textreg, such as ``textreg.training``."""
    return logging.getLogger(f"textreg.{part}")


@contextmanager
def quiet(name: str, least: int) -> Iterator[None]:
    """Let the logger of somebody else tell only what is of a level of at least ``least``."""
    logger = logging.getLogger(name)
    level = logger.level
    logger.setLevel(least)
    try:
        yield
    finally:
        logger.setLevel(level)


# Characters that move a cursor, set colors or change the direction of writing.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")

_HIDDEN = re.compile("^ +| +$|(?<= ) +")


def printable(text: str) -> str:
    """Replace control characters that could act on a terminal by U+FFFD, one by one."""
    return _UNSAFE.sub("\N{REPLACEMENT CHARACTER}", text)


def single_line(name: str) -> str:
    """Make a name, such as a label, printable, with blanks for tabs and line ends."""
    return printable(name).replace("\t", " ").replace("\n", " ")


def visible(feature: str) -> str:
    """The name of a feature with a mark for each blank at its ends, or after another blank.

    So ``" go"`` and ``"go "`` look different, and as words do in ``"new york"``.
    """
    return _HIDDEN.sub(lambda match: "\N{OPEN BOX}" * len(match[0]), feature)


def json_line(document: Any) -> str:
    """A JSON document on one line, in which characters that act on a terminal are escaped."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False)
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def shell_line(words: Sequence[object]) -> str:
    """A command for the shell of the platform, each word quoted if need be.

    Words with characters that act on a terminal are written ``$'\\x1b'``, as bash, zsh and ksh read
    them. On Windows nothing is run by PowerShell or by cmd, whichever reads the line.
    """
    return " ".join(_quoted(_spelled(word)) for word in words)


def _spelled(word: object) -> str:
    # A path that begins with a hyphen would be taken for an option.
    return f"./{word}" if isinstance(word, Path) and str(word).startswith("-") else str(word)


def _quoted(word: str) -> str:
    if os.name == "nt":
        plain = re.fullmatch(r"[\w.+=:/\\-]+", word)
        return word if plain else '"' + re.sub("[$`]", r"`\g<0>", word).replace('"', '""') + '"'
    if word.isprintable():
        return shlex.quote(word)
    parts = (
        char.replace("\\", r"\\").replace("'", r"\'")
        if char.isprintable()
        else "".join(f"\\x{byte:02x}" for byte in char.encode("utf-8", "surrogateescape"))
        for char in word
    )
    return f"$'{''.join(parts)}'"


def counted(number: int, what: str) -> str:
    """A number of things, such as ``1 document`` and ``2 documents``."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def cell(value: Any) -> str:
    """A value in a table, on one line."""
    if isinstance(value, float):
        return f"{value:.3f}"
    return f"{value:,}" if isinstance(value, int) else single_line(str(value))


MEASURES = {
    "accuracy": "accuracy",
    "micro_f1": "micro-F1",
    "macro_f1": "macro-F1",
    "sample_f1": "sample F1",
    "subset_accuracy": "subset accuracy",
    "hamming_loss": "Hamming loss",
    "lrap": "LRAP",
    "log_loss": "log-loss",
    "r2": "R²",
    "mse": "MSE",
    "mae": "MAE",
}


def measures(values: Mapping[str, Any]) -> str:
    """The metrics in ``values`` on one line, with their intervals if they have some."""
    parts = []
    for key, title in MEASURES.items():
        if values.get(key) is None:
            continue
        value = values[key]
        text = f"{title} {value:.3f}" if abs(value) < 1e4 else f"{title} {value:.4g}"
        if (interval := values.get(f"{key}_interval")) is not None:
            text += f" (95 % CI {interval[0]:.3f}..{interval[1]:.3f})"
        parts.append(text)
    return "  ".join(parts)


Table: TypeAlias = tuple[str, Sequence[Sequence[Any]]]
"""A title, which may be empty, and rows, the first with the heads of the columns."""

# Rows of a table that a notebook shows.
MOST_ROWS = 30


class Displayed:
    """A result that shows itself: as a line of text, and in a notebook with tables below."""

    def headline(self) -> str:
        """The line."""
        raise NotImplementedError

    def tables(self) -> Sequence[Table]:
        """Titles and rows of the tables."""
        return []

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {single_line(self.headline())}>"

    def _repr_html_(self) -> str:
        """Elements without scripts and colors of their own, for light and dark notebooks."""
        parts = [f"<p><b>{type(self).__name__}</b>: {escape(single_line(self.headline()))}</p>"]
        for title, (head, *rows) in self.tables():
            sides = ["left" if isinstance(value, str) else "right" for value in (rows or [head])[0]]
            lines = [_row("th", head, sides)]
            lines += [_row("td", row, sides) for row in rows[:MOST_ROWS]]
            parts.append(f"<p>{escape(title)}</p>" if title else "")
            parts.append(f'<table style="color:inherit">{"".join(lines)}</table>')
            if len(rows) > MOST_ROWS:
                parts.append(f"<p>and {len(rows) - MOST_ROWS:,} more rows</p>")
        return f"<div>{''.join(parts)}</div>"


def _row(tag: str, values: Sequence[Any], sides: Sequence[str]) -> str:
    cells = (
        f'<{tag} style="text-align:{side};padding:0 .6em">{escape(cell(value))}</{tag}>'
        for value, side in zip(values, sides, strict=True)
    )
    return f"<tr>{''.join(cells)}</tr>"
