"""Lines of the files that plugins read: word lists, groups, clusters, edges."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from typing import IO, cast

from textreg.errors import DataError, UsageError


def open_binary(path: str) -> IO[bytes]:
    """Open a file, through gzip where its name ends in ``.gz``. UsageError if it cannot be."""
    try:
        if path.endswith(".gz"):
            return cast(IO[bytes], gzip.open(path))
        return open(path, "rb")
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read: {error.strerror or error}. Check the path."
        ) from None


def numbered_lines(path: str) -> Iterator[tuple[int, str]]:
    """Lines of a UTF-8 file, ``.gz`` or not, without their ends, and their numbers from 1.

    Raises UsageError where the file cannot be opened and DataError with file and line where it is
    no UTF-8 text or damaged.
    """
    number = 0
    with open_binary(path) as file:
        try:
            for number, line in enumerate(file, 1):
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
                yield number, text.rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise DataError(
                f"{path}:{number}: byte {error.start + 1} of the line is no UTF-8. Save the file "
                "as UTF-8 text."
            ) from None
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(
                f"{path}:{number + 1}: the file cannot be read further: {error}. Get a fresh copy."
            ) from None
