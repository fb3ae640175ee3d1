"""Printing: tables, sizes, JSON, and the progress bar."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from textreg.errors import UsageError, first_few
from textreg.files import is_regular
from textreg.terminal import cell, counted, json_line, single_line

if TYPE_CHECKING:
    from textreg.model.summary import MarksSummary, ShiftSummary, UpdateSummary, VectorsSummary
    from textreg.training.running import Progress

# Number of features to show for a group.
SHOWN = 8

# Labels whose numbers of documents are printed.
MAX_LABELS = 8


def print_json(document: Any) -> None:
    """Print a JSON document on one line."""
    click.echo(json_line(document))


def print_table(
    rows: Sequence[Sequence[Any]], *, indent: str = "", right: Sequence[bool] | None = None
) -> None:
    """Print aligned columns, without truncation.

    right: which columns to align to the right; by default those with numbers in the last row.
    """
    cells = [[cell(value) for value in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    if right is None:
        right = [not isinstance(value, str) for value in rows[-1]]
    for row in cells:
        padded = [
            text.rjust(width) if to_right else text.ljust(width)
            for text, width, to_right in zip(row, widths, right, strict=True)
        ]
        click.echo((indent + "  ".join(padded)).rstrip())


def check_target(target: Path, inputs: Sequence[str], option: str = "-o") -> None:
    """UsageError if a file cannot be written; checked before long work. ``option`` names it."""
    if target.is_dir():
        raise UsageError(f"{target} is a folder: name a file with {option} FILE.")
    if target.exists() and not is_regular(target):
        raise UsageError(f"{target} is not a regular file: name one with {option} FILE.")
    if not target.parent.is_dir():
        raise UsageError(
            f"the folder {target.parent} does not exist: create it, or name another with "
            f"{option} FILE."
        )
    if not os.access(target.parent, os.W_OK):
        raise UsageError(
            f"the folder {target.parent.absolute()} is not writable: name another "
            f"with {option} FILE."
        )
    if target.exists() and not os.access(target, os.W_OK):
        raise UsageError(f"{target} is read-only: name another file with {option} FILE.")
    from textreg.reading.source import matching  # plugins are listed without NumPy

    # A pattern names what it matches, and a folder what its folders hold.
    held = (target, *target.resolve().parents[1:]) if target.exists() else ()
    for path in (file for name in inputs if held for file in (name, *matching(name))):
        if os.path.exists(path) and any(map(Path(path).samefile, held)):
            raise UsageError(f"{option} {target} would overwrite an input file: name another file.")


def check_page(target: Path) -> None:
    """UsageError if a file of HTML, which -o names, has the ending of another format."""
    if target.suffix.lower() not in ("", ".html", ".htm"):
        raise UsageError(
            f"-o {target}: the page is HTML, so end its name with .html. For a PDF, print "
            "the page from a browser."
        )


def size(n_bytes: int) -> str:
    """A file size with a unit, such as 1.2 MB."""
    value = float(n_bytes)
    for unit in ("bytes", "KB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


def percent(part: float, whole: float = 1.0) -> str:
    """A percentage, such as 7.7 %."""
    if not whole:
        return "none"
    value = 100 * part / whole
    return f"{value:.0f} %" if value >= 10 else f"{value:.2g} %"


def vectors_text(vectors: VectorsSummary) -> str:
    """The word vectors that weights of words lean on, and how much."""
    known = f"{vectors.known:.0%} of the words known"
    if not vectors.scale:
        return f"{single_line(vectors.name)}, {known}; better without them"
    return (
        f"{single_line(vectors.name)} times {vectors.scale:g}, {known}; weights of "
        f"{vectors.inferred:,} further words are inferred"
    )


def marks_text(marks: MarksSummary) -> str:
    """The marked passages that penalties follow, and how much."""
    how = "better without them"
    if marks.strength:
        how = f"penalties follow them, strength {marks.strength:g}"
    what = f"passages of {marks.documents:,} documents" if marks.documents else "listed words"
    return f"{what}; {how}"


def shift_text(shift: ShiftSummary) -> str:
    """In words."""
    if shift.kind == "none":
        return "not shifted: that of the fit is best for the documents left out of it"
    extremes = sorted({min(shift.values), max(shift.values)})
    values = " to ".join(f"{value:+.2f}" for value in extremes)
    return f"shifted by {values} ({shift.kind}), by scores of documents left out of the fit"


def added_text(update: UpdateSummary) -> str:
    """What an update added, and when."""
    parts = [f"{update.date}: {counted(update.documents, 'document')}"]
    if update.labels:
        parts.append(f"labels {first_few(list(map(single_line, update.labels)), MAX_LABELS)}")
    parts.append(f"{update.added:+,} features to {update.features:,}")
    if update.old is None:
        parts.append("approximately, without the old documents")
    else:
        parts.append(f"{update.old:,} old documents read again")
    return "; ".join(parts)


@contextmanager
def progress_bar(*, quiet: bool) -> Iterator[Progress | None]:
    """A live progress bar on standard error; None if that is not a terminal, or has the log."""
    context = click.get_current_context(silent=True)
    logs = context is not None and context.obj is not None and context.obj.verbosity > 0
    if quiet or logs or not sys.stderr.isatty() or find_spec("rich") is None:
        yield None
        return
    from rich.console import Console

    from textreg.training.running import bars

    with bars(Console(stderr=True)) as report:
        yield report
