"""Files: the lines of those that plugins read, and writing whole files or none."""

from __future__ import annotations

import gzip
import os
import secrets
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, cast

from textreg.errors import DataError, ModelError, UsageError


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


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file by way of a temporary one beside it, so that it is never seen half-written.

    Raises UsageError if the folder is missing or the path is not that of a regular file,
    ModelError if the system refuses. Whatever happens, no temporary file stays behind.
    """
    path = Path(os.path.realpath(path))  # through a link, not in its place
    # os.path, for pathlib raises where a name is too long or a folder may not be looked into
    if os.path.exists(path) and not os.path.isfile(path):
        what = "a folder" if os.path.isdir(path) else "not a regular file"
        raise UsageError(f"{path} is {what}: give the name of a file to write.")
    if not os.path.isdir(path.parent):
        raise UsageError(
            f"{path} cannot be written: there is no folder {path.parent}. Make it "
            f"(mkdir -p {path.parent}), or choose another place."
        )
    temporary = path.parent / f".textreg-{secrets.token_hex(8)}.tmp"
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        kept = " The file that was there is unchanged." if os.path.exists(path) else ""
        raise ModelError(
            f"{path} cannot be written: {error.strerror or error}.{kept} Make room, get the right "
            "to write there, or choose another place."
        ) from error
    finally:
        with suppress(OSError):  # it is gone if all went well
            temporary.unlink()
