"""Folders with a folder for each class, and a file for each document."""

from __future__ import annotations

import os
from collections.abc import Sequence

from textreg.errors import DataError
from textreg.files import kind_of_special
from textreg.limits import MAX_LINE, limit, too_long
from textreg.reading.columns import Row
from textreg.reading.encodings import GUESSED_FROM
from textreg.reading.faults import UnusableRow
from textreg.reading.formats import refuse_binary
from textreg.reading.paths import FileChangedError, opened
from textreg.reading.source import Source


def files_under(folder: str) -> list[str]:
    """All files in a folder and its subfolders, sorted by name, without hidden ones.

    A link to a folder above is not followed. Raises DataError for a folder that cannot be listed,
    or that is linked twice.
    """
    files: list[str] = []
    visited: dict[str, str] = {}
    for parent, folders, names in os.walk(folder, followlinks=True, onerror=_unlisted):
        real = os.path.realpath(parent)
        if real in visited:
            folders.clear()
            above = os.path.realpath(os.path.dirname(parent))
            if os.path.commonpath([above, real]) == real:
                continue
            raise DataError(
                f"{parent}: this is the same folder as {visited[real]}; its documents would count "
                "double. Remove the link."
            )
        visited[real] = parent
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        files.extend(os.path.join(parent, name) for name in names if not name.startswith("."))
    return sorted(files, key=lambda file: file.split(os.sep))


def read_document(
    file: str, label: str | None, encoding: str | None, otherwise: str = "utf-8"
) -> Row | UnusableRow:
    """The document that a file holds, without its last line end, or what is wrong with it.

    encoding, otherwise: as for :class:`Source`.
    """
    try:
        if kind := kind_of_special(file):  # reading it might wait for ever
            raise UnusableRow(f"this is {kind}, not a file.", "Remove it", f"{kind}, not a file")
        return Row(_text(file, encoding, otherwise), label and _printable(label), 1.0, 0)
    except UnusableRow as problem:
        return problem
    except FileChangedError:
        raise
    except DataError as error:
        what = str(error).removeprefix(f"{file}: ")
        row = UnusableRow(what, reason="not a text file")
        row.error = error
        return row


def first_bytes(files: Sequence[str]) -> bytes:
    """The bytes of files that a guess at their encoding looks at, each on lines of its own."""
    seen, size = list[bytes](), 0
    for file in files:
        if size > GUESSED_FROM or kind_of_special(file):
            continue
        with opened(file) as stream:
            source = Source(file, stream)
            for chunk in source.chunks() if source.encoding == "utf-8" else ():  # no other mark
                seen.append(chunk)
                size += len(chunk)
        seen.append(b"\n")
    return b"".join(seen)


def _text(file: str, encoding: str | None, otherwise: str) -> str:
    with opened(file) as stream:
        source = Source(file, stream, encoding, otherwise=otherwise)
        refuse_binary(source)
        most, size = limit(MAX_LINE), 0
        lines = []
        for line in source.lines:
            if damage := source.lines.damage():
                raise damage
            size += len(line) + 1
            if size > most:
                raise UnusableRow(*too_long("the document"))
            lines.append(line)
        return "\n".join(lines)


def _printable(label: str) -> str:
    """U+FFFD for bytes of the folder's name that are not UTF-8, as no UTF-8 file can hold them."""
    return label.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _unlisted(error: OSError) -> None:
    raise DataError(
        f"{error.filename}: this folder cannot be listed: {error.strerror}. Get permission to read "
        "it, or remove it."
    )
