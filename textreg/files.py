"""Files: found, opened, unpacked within limits, read by lines, and written at once."""

from __future__ import annotations

import csv
import errno
import io
import os
import re
import stat
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any, NamedTuple, TypeAlias

from textreg.errors import DataError, ModelError, UsageError
from textreg.interrupts import tidying
from textreg.terminal import shell_line

#: Names the longest line, or document that has more than one; 64 MB is twenty long novels.
MAX_LINE = "TEXTREG_MAX_LINE"
#: Names what a compressed file may hold if that is more than `RATIO` times its own size.
MAX_UNPACKED = "TEXTREG_MAX_UNPACKED"
DEFAULT = 64_000_000
#: Texts shrink to a tenth; gzip can shrink what repeats itself to a thousandth.
RATIO = 100

_UNITS = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_PIECE = 1 << 20


def needed(module: str, what: str, extra: str) -> Any:
    """A module of an extra; UsageError where it is not installed and ``what`` needs it."""
    try:
        return import_module(module)
    except ImportError:
        install = shell_line(["pip", "install", f"textreg[{extra}]"])
        raise UsageError(f"{what} needs {module}, which is not installed: {install}") from None


def limit(variable: str) -> int:
    """The bytes that an environment variable allows, such as 500MB; UsageError if it is no size."""
    value = os.environ.get(variable, "").strip()
    if not value:
        return DEFAULT
    match = re.fullmatch(r"([0-9]{1,15})\s*([KMGT]B)?", value.upper())
    if match is None:
        raise UsageError(f"{variable}={value} is not a size: write it as 500MB or 2GB.")
    return int(match[1]) * _UNITS[match[2] or ""]


def too_long(what: str) -> tuple[str, str]:
    """What is wrong with a line or document beyond the limit, and how to raise that."""
    most = f"{limit(MAX_LINE) / 1e6:,.6g} MB"
    return f"{what} is longer than {most}.", f"Set {MAX_LINE}, as in {MAX_LINE}=1GB, to allow it"


def check_unpacked(unpacked: int, packed: int, where: Callable[[], str]) -> None:
    """Raise DataError if ``packed`` bytes hold more than is allowed."""
    most = limit(MAX_UNPACKED)
    if unpacked > max(most, RATIO * packed):
        raise DataError(
            f"{where()}: the file unpacks to more than {most / 1e6:,.6g} MB and {RATIO} times its "
            f"size. If that is as it should be, set {MAX_UNPACKED}, as in {MAX_UNPACKED}=4GB, to "
            "allow it."
        )


class _Inflate:
    """A gzip stream, with the methods of ``bz2.BZ2Decompressor`` and its like."""

    def __init__(self) -> None:
        self._inflate = zlib.decompressobj(wbits=31)

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return self._inflate.decompress(self._inflate.unconsumed_tail + data, max_length)

    @property
    def needs_input(self) -> bool:
        return not self._inflate.unconsumed_tail

    @property
    def eof(self) -> bool:
        return self._inflate.eof

    @property
    def unused_data(self) -> bytes:
        return self._inflate.unused_data


# A new decompressor, and what it raises for damaged data.
_Stream: TypeAlias = tuple[Any, type[Exception]]


def _gzip() -> _Stream:
    return _Inflate(), zlib.error


def _bz2() -> _Stream:
    from bz2 import BZ2Decompressor

    return BZ2Decompressor(), OSError


def _xz() -> _Stream:
    from lzma import FORMAT_XZ, LZMADecompressor, LZMAError

    return LZMADecompressor(FORMAT_XZ, memlimit=1 << 28), LZMAError  # four times that of xz -9


def _zstd() -> _Stream:
    module = zstd()
    return module.ZstdDecompressor(), module.ZstdError


def zstd() -> Any:
    """The module of Python 3.14 that reads zstd, or the same for older ones.

    Raises UsageError where that is not installed.
    """
    for name in ("compression.zstd", "backports.zstd"):
        with suppress(ImportError):
            return import_module(name)
    raise UsageError(
        "zstd needs backports.zstd, which is not installed: "
        + shell_line(["pip", "install", "textreg[zstd]"])
    )


class Packing(NamedTuple):
    """A compression of files: its first bytes, the ending of names, and how to unpack it."""

    name: str
    magic: bytes
    ending: str
    stream: Callable[[], _Stream]


PACKINGS = (
    Packing("gzip", b"\x1f\x8b", ".gz", _gzip),
    Packing("bzip2", b"BZh", ".bz2", _bz2),
    Packing("xz", b"\xfd7zXZ\0", ".xz", _xz),
    Packing("zstd", b"\x28\xb5\x2f\xfd", ".zst", _zstd),
)


def packing_of(head: bytes) -> Packing | None:
    """How data is compressed that begins with ``head``; None if it is not."""
    packing = next((known for known in PACKINGS if head.startswith(known.magic)), None)
    if packing is not None and packing.name == "bzip2" and head[4:8] != b"1AY&":
        return None  # a text may begin with BZh; then come the size of blocks and digits of pi
    return packing


def packing_of_name(path: str) -> Packing | None:
    """How a file is compressed, by the ending of its name; None if it is not."""
    return next((known for known in PACKINGS if path.lower().endswith(known.ending)), None)


def unpacked(
    packing: Packing, chunks: Iterator[bytes], where: Callable[[], str]
) -> Iterator[bytes]:
    """The contents of compressed data, in pieces of at most a megabyte.

    ``where`` returns the place reached, for messages. Raises DataError where the data is damaged,
    ends too early, or unpacks to more than is allowed.
    """

    def broken(how: str) -> DataError:
        what = f"the {packing.name} data {how}. Copy or download the file again."
        return DataError(f"{where()}: {what}")

    read = produced = 0
    stream, damage = packing.stream()
    for chunk in chunks:
        read += len(chunk)
        rest = chunk
        while rest or not stream.needs_input:
            if stream.eof:  # streams may be concatenated, and padded with zeros
                rest = rest.lstrip(b"\0")
                if not rest:
                    break
                stream, damage = packing.stream()
            try:
                piece = stream.decompress(rest, _PIECE)
            except damage:
                raise broken("is damaged") from None
            produced += len(piece)
            check_unpacked(produced, read, where)
            yield piece
            rest = stream.unused_data if stream.eof else b""
    if not stream.eof:
        raise broken("ends too early")


#: The numbers of errors that say that a file cannot become larger.
DISK_FULL = {
    getattr(errno, name)
    for name in ("ENOSPC", "EDQUOT", "EFBIG")  # no quota on Windows
    if hasattr(errno, name)
}

#: Most bytes of the table of a model file, as safetensors has it.
MAX_TABLE = 100_000_000

_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def has_table(start: bytes) -> bool:
    """Whether the first nine bytes of a file are the length of a table and the ``{`` of its JSON.

    That is how a model begins.
    """
    return start[8:9] == b"{" and int.from_bytes(start[:8], "little") <= MAX_TABLE


def csv_lines(rows: Iterable[Sequence[Any]], delimiter: str = ",", end: str = "\n") -> list[str]:
    """Rows as CSV, a text for each, which may hold zero bytes."""
    lines: list[str] = []
    escape = None
    if sys.version_info < (3, 11):
        # There a zero byte counts as the escape character of a writer without one, which fails. One
        # that occurs nowhere changes nothing.
        rows = list(rows)
        used = {char for row in rows for cell in row if isinstance(cell, str) for char in cell}
        escape = next(char for char in map(chr, range(0xFDD0, 0x110000)) if char not in used)
    out = SimpleNamespace(write=lines.append)
    csv.writer(out, delimiter=delimiter, lineterminator=end, escapechar=escape).writerows(rows)
    return lines


def kind_of_special(path: str | os.PathLike[str]) -> str:
    """``a pipe``, ``a socket`` or ``a device``; empty for a file, a folder, or nothing at all."""
    try:
        return _KINDS.get(stat.S_IFMT(os.stat(path).st_mode), "")
    except (OSError, ValueError):  # ValueError: a zero byte in the name
        return ""


def is_regular(path: str | os.PathLike[str]) -> bool:
    """Whether a path is that of a file, and no name of standard output or error.

    Commands move these: /dev/stdout may then lead to a log, which the output would replace.
    """
    if not os.path.isfile(path):
        return False
    streams = []
    for number in (1, 2):
        with suppress(OSError):  # it is closed
            streams.append(os.fstat(number))
    return not any(os.path.samestat(os.stat(path), stream) for stream in streams)


def refuse_special(path: str | os.PathLike[str]) -> None:
    """Raise UsageError for what is no file: it may never end, and can be read only once."""
    if kind := kind_of_special(path):
        raise UsageError(
            f"{path} is {kind}, and may have to be read several times: write its contents to a "
            "file, and name that."
        )


class _Unpacked(io.RawIOBase):
    """The contents of compressed data as a file."""

    def __init__(self, packing: Packing, packed: IO[bytes], where: Callable[[], str]) -> None:
        self._packed = packed
        self._pieces = unpacked(packing, iter(lambda: packed.read(1 << 16), b""), where)
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._rest:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._rest = memoryview(piece)
        size = min(len(buffer), len(self._rest))
        buffer[:size], self._rest = self._rest[:size], self._rest[size:]
        return size

    def close(self) -> None:
        self._packed.close()
        super().close()


def open_binary(path: str) -> IO[bytes]:
    """Open a file for reading, unpacked if its name ends in ``.gz``, ``.bz2``, ``.xz`` or ``.zst``.

    Parameters
    ----------
    path : str

    Returns
    -------
    file object
        Binary. Reading raises DataError where compressed data is damaged, or unpacks to more than a
        hundred times its size and than the environment variable ``TEXTREG_MAX_UNPACKED`` allows.

    Raises
    ------
    UsageError
        If the file cannot be opened, or is a pipe, a socket or a device.
    """
    return _opened(path, lambda: path)


def _opened(path: str, where: Callable[[], str]) -> IO[bytes]:
    """As :func:`open_binary`. ``where`` returns the place reached, for messages."""
    refuse_special(path)
    try:
        file = open(path, "rb")  # noqa: SIM115 - the caller closes it
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the name
        raise UsageError(
            f"{path} cannot be read: {getattr(error, 'strerror', None) or error}. Check the path."
        ) from None
    packing = packing_of_name(path)
    return file if packing is None else io.BufferedReader(_Unpacked(packing, file, where))


def numbered_lines(path: str) -> Iterator[tuple[int, str]]:
    """The lines of a UTF-8 file, unpacked as :func:`open_binary` does it.

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
        If the file is damaged or not in UTF-8, or a line is longer than the environment variable
        ``TEXTREG_MAX_LINE`` allows, 64 MB by default; the message names file and line.
    """
    most = limit(MAX_LINE)
    number = 0
    with _opened(path, lambda: f"{path}:{number + 1}") as file:
        try:
            while line := file.readline(most + 1):
                number += 1
                if len(line) > most:
                    raise DataError(f"{path}:{number}: {' '.join(too_long('the line'))}.")
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
                yield number, text.rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise DataError(
                f"{path}:{number}: byte {error.start + 1} of the line is not valid UTF-8. Save the "
                "file as UTF-8 text."
            ) from None
        except OSError as error:
            raise DataError(
                f"{path}:{number + 1}: the file cannot be read further: {error}. Get a fresh copy."
            ) from None


def private(path: str, flags: int) -> int:
    """Open a new file that nobody else may read; an ``opener`` for ``open``."""
    return os.open(path, flags, 0o600)


def _keep_rights(path: Path, old: os.stat_result) -> None:
    """Give a file the group, owner and mode of the one that it replaces, as far as we may."""
    for owner in ((-1, old.st_gid), (old.st_uid, -1)):
        with suppress(AttributeError, OSError):  # Windows has none; to give files away is for root
            os.chown(path, *owner)
    os.chmod(path, stat.S_IMODE(old.st_mode))


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Write a file so that nobody ever sees a part of it: all of it, or what was there.

    Mode and, where the system allows it, group and owner of a file that was there stay. A symbolic
    link stays as well: its target is written.

    Parameters
    ----------
    path : str or path
        The data goes to a temporary file beside it first, which stays behind only when the process
        is killed without notice (SIGKILL, loss of power): ``.textreg-*.tmp``, which may be removed.

    Yields
    ------
    file object
        Binary. It takes the place of the file when the block ends without an exception.

    Raises
    ------
    UsageError
        If the folder is missing, or the path is not that of a regular file, or that of standard
        output or error.
    ModelError
        If the system refuses to write.
    """
    try:
        path = Path(os.path.realpath(path))  # writes the target of a link
    except ValueError:  # a zero byte, or half a character
        raise UsageError(f"no file can be called {str(path)!r}: choose another.") from None
    # os.path, because pathlib raises where a name is too long or a folder is not readable
    if os.path.exists(path) and not is_regular(path):
        what = "a folder" if os.path.isdir(path) else "not a regular file"
        raise UsageError(f"{path} is {what}: give the name of a file to write.")
    if not os.path.isdir(path.parent):
        raise UsageError(
            f"{path} cannot be written: there is no folder {path.parent}. Make it "
            f"({shell_line(['mkdir', '-p', path.parent])}), or choose another place."
        )
    old = os.stat(path) if os.path.exists(path) else None
    temporary = path.parent / f".textreg-{os.urandom(8).hex()}.tmp"
    with tidying(partial(temporary.unlink, missing_ok=True)):
        try:
            with open(temporary, "xb", opener=None if old is None else private) as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            if old is not None:
                _keep_rights(temporary, old)
            temporary.replace(path)
        except OSError as error:
            unchanged = " The file that was there is unchanged." if os.path.exists(path) else ""
            raise ModelError(
                f"{path} cannot be written: {error.strerror or error}.{unchanged} Free some "
                "space, get permission to write there, or choose another place."
            ) from error


def read_toml(path: Path) -> dict[str, Any]:
    """The contents of a TOML file; UsageError, with its path, if it cannot be read."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    try:
        document: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path} is not TOML: {error}. Correct that place.") from error
    except (OSError, ValueError, RecursionError) as error:
        cause = getattr(error, "strerror", None) or "it is no text in UTF-8"
        if isinstance(error, RecursionError):
            cause = "it is nested too deep"
        raise UsageError(
            f"{path} cannot be read: {cause}. Check the path, and the file."
        ) from error
    return document


def write_atomically(path: Path, data: bytes) -> None:
    """Write all of ``data`` to a file, or nothing: see :func:`replacing`."""
    with replacing(path) as file:
        file.write(data)
