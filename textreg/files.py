"""Reading lines of files, and writing files atomically."""

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
    """Open a file for reading, unpacked if its name ends in ``.gz``.

    Parameters
    ----------
    path : str

    Returns
    -------
    file object
        Binary.

    Raises
    ------
    UsageError
        If the file cannot be opened.
    """
    try:
        if path.endswith(".gz"):
            return cast(IO[bytes], gzip.open(path))
        return open(path, "rb")
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read: {error.strerror or error}. Check the path."
        ) from None


def numbered_lines(path: str) -> Iterator[tuple[int, str]]:
    """The lines of a UTF-8 file, unpacked if its name ends in ``.gz``.

    Parameters
    ----------
    path : str

    Yields
    ------
    number : int
        The line number, from 1.
    line : str
        The line without its line end.

    Raises
    ------
    UsageError
        If the file cannot be opened.
    DataError
        If the file is damaged or not in UTF-8; the message names file and line.
    """
    number = 0
    with open_binary(path) as file:
        try:
            for number, line in enumerate(file, 1):
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
                yield number, text.rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise DataError(
                f"{path}:{number}: byte {error.start + 1} of the line is not valid UTF-8. Save the "
                "file as UTF-8 text."
            ) from None
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(
                f"{path}:{number + 1}: the file cannot be read further: {error}. Get a fresh copy."
            ) from None


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file so that nobody ever sees a part of it: all of ``data``, or what was there.

    Parameters
    ----------
    path : Path
        The data goes to a temporary file beside it first, which never stays behind.
    data : bytes

    Raises
    ------
    UsageError
        If the folder is missing, or the path is not that of a regular file.
    ModelError
        If the system refuses to write.
    """
    path = Path(os.path.realpath(path))  # writes the target of a link
    # os.path, because pathlib raises where a name is too long or a folder is not readable
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
        unchanged = " The file that was there is unchanged." if os.path.exists(path) else ""
        raise ModelError(
            f"{path} cannot be written: {error.strerror or error}.{unchanged} Free some "
            "space, get permission to write there, or choose another place."
        ) from error
    finally:
        with suppress(OSError):  # already moved if all went well
            temporary.unlink()
