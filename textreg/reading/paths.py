"""The files that a command or a call names: patterns, folders, standard input."""

from __future__ import annotations

import glob
import io
import os
import re
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO, TypeAlias

from textreg.errors import DataError, UsageError, did_you_mean
from textreg.files import kind_of_special
from textreg.reading.source import UnusableRow

_TABLE = re.compile(r"\.(csv|tsv|tab|jsonl?|ndjson|txt|parquet|pq|arrow|feather|gz|bz2|xz|zst)$")

Path: TypeAlias = str | os.PathLike[str]
Paths: TypeAlias = Path | Sequence[Path]


def listed(paths: Paths) -> list[str]:
    """The files and folders that ``paths`` name, with patterns replaced by what they match.

    Raises UsageError for one that does not exist or is named twice.
    """
    given = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    files: list[str] = []
    for path in [os.fspath(path) for path in given]:
        if path == "-" or os.path.exists(path):
            files.append(path)
            continue
        matches = sorted(_matches(path)) if glob.has_magic(path) else []
        if not matches:
            raise _not_there(path)
        for match in matches:
            if kind := kind_of_special(match):  # reading it might wait for ever
                raise UsageError(f"{match} is {kind}: name it itself, not by the pattern {path}.")
        files.extend(matches)
    if not files:
        raise UsageError("no file to read was named: name one, or - for standard input.")
    seen: set[str] = set()
    for path in files:
        real = path if path == "-" else os.path.realpath(path)
        if real in seen:
            raise UsageError(
                f"{path} is named twice, so its documents would count twice: leave one out."
            )
        seen.add(real)
    return files


def name_of(path: str) -> str:
    """The name of a file in messages."""
    return "<stdin>" if path == "-" else path


class FileChangedError(DataError):
    """A file was written to or removed while it was read."""


class _OpenFile(io.FileIO):
    """A file as it is now: :meth:`refuse_change` tells whether it still is."""

    def __init__(self, path: str) -> None:
        super().__init__(path, "rb")
        self._path = path
        self._opened = os.fstat(self.fileno())

    def refuse_change(self) -> None:
        """Raise FileChangedError if others wrote to a regular file since, or removed it."""
        before = self._opened
        if not stat.S_ISREG(before.st_mode):
            return
        try:
            now = os.stat(self._path)
        except OSError:
            how = "removed"
        else:
            if (now.st_size, now.st_mtime_ns) == (before.st_size, before.st_mtime_ns):
                return
            sizes = f", from {before.st_size:,} to {now.st_size:,} bytes,"
            how = f"changed{sizes if now.st_size != before.st_size else ''}"
        raise FileChangedError(
            f"{self._path}: this file was {how} while it was read. Read it again when nothing "
            "writes to it."
        )


@contextmanager
def opened(path: str) -> Iterator[IO[bytes]]:
    """The bytes of a file, or of standard input for ``-``.

    Raises DataError if it cannot be opened, and FileChangedError if it changes before the end.
    """
    if path == "-":
        yield sys.stdin.buffer
        return
    try:
        stream = _OpenFile(path)  # unbuffered, because Source asks for large pieces itself
    except OSError as error:
        raise DataError(f"{path}: cannot be opened: {error.strerror}. Check the path.") from None
    with stream:
        try:
            yield stream
        except (DataError, UnusableRow):  # which may come of the change
            stream.refuse_change()
            raise
        stream.refuse_change()


def refuse_change(stream: IO[bytes]) -> None:
    """Raise FileChangedError if a file that was :func:`opened` has changed since."""
    if isinstance(stream, _OpenFile):
        stream.refuse_change()


def meant_as_path(source: str) -> bool:
    """Whether an argument that may be a text or a file is rather the name of one.

    It is if it exists, is a pattern that matches, ends as files do, or, without blanks, has a
    separator of folders or is nearly the name of a file that is there.
    """
    if source == "-" or exists(source):
        return True
    if _TABLE.search(source):
        return True
    if re.search(r"\s", source):
        return False
    if re.search(r"[/\\*]|[^.]\.[A-Za-z]\w{0,7}$", source, re.ASCII):
        return True
    return bool(did_you_mean(source, os.listdir()))


def exists(path: str) -> bool:
    """Whether a file or folder is there; no name is too long, or has zero bytes, to ask."""
    try:
        return os.path.exists(path)
    except ValueError:
        return False


def _matches(pattern: str) -> set[str]:
    """What a pattern matches. ``**`` stands for folders below, and follows no links, which may
    lead in circles."""
    before, deep, after = pattern.partition(f"**{os.sep}")
    if not deep or (before and not before.endswith(os.sep)):
        return set(glob.glob(pattern))
    found: set[str] = set()
    for start in glob.glob(before) if before else [os.curdir]:
        for folder, folders, _ in os.walk(start):
            folders[:] = [name for name in folders if not name.startswith(".")]
            below = os.path.join(glob.escape(folder), after)
            found |= _matches(below if before else below.removeprefix(os.curdir + os.sep))
    return found


def _not_there(path: str) -> UsageError:
    if "://" in path:
        return UsageError(f"{path}: an address, and textreg loads nothing. Name a file.")
    if glob.has_magic(path):
        return UsageError(f"{path}: no file matches this pattern.")
    folder, name = os.path.split(path)
    try:
        beside = os.listdir(folder or ".")
    except OSError:
        return UsageError(f"{path}: there is no folder '{folder}'.")
    close = did_you_mean(name, beside) or " Check the name, and the folder."
    return UsageError(f"{path}: no such file.{close}")
