"""How much memory a file may take before it has shown that it holds as much."""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from typing import Any, NamedTuple, TypeAlias

from textreg.errors import DataError, UsageError

MAX_LINE = "TEXTREG_MAX_LINE"
"""Names the longest line, or document that has more than one; 64 MB is twenty long novels."""
MAX_UNPACKED = "TEXTREG_MAX_UNPACKED"
"""Names what a compressed file may hold if that is more than ``RATIO`` times its own size."""
DEFAULT = 64_000_000
RATIO = 100
"""Texts shrink to a tenth; gzip can shrink what repeats itself to a thousandth."""

_UNITS = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_PIECE = 1 << 20


def limit(variable: str) -> int:
    """The bytes that an environment variable allows, such as 500MB; UsageError if it is no size."""
    given = os.environ.get(variable, "").strip()
    if not given:
        return DEFAULT
    match = re.fullmatch(r"([0-9]{1,15})\s*([KMGT]B)?", given.upper())
    if match is None:
        raise UsageError(f"{variable}={given} is not a size: write it as 500MB or 2GB.")
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
        self.needs_input = True

    def decompress(self, data: bytes, max_length: int) -> bytes:
        piece = self._inflate.decompress(self._inflate.unconsumed_tail + data, max_length)
        self.needs_input = not self._inflate.unconsumed_tail
        return piece

    @property
    def eof(self) -> bool:
        return self._inflate.eof

    @property
    def unused_data(self) -> bytes:
        return self._inflate.unused_data


_Stream: TypeAlias = tuple[Any, type[Exception]]
"""A new decompressor, and what it raises for damaged data."""


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
        "zstd needs backports.zstd, which is not installed: pip install 'textreg[zstd]'"
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
    found = next((known for known in PACKINGS if head.startswith(known.magic)), None)
    if found is not None and found.name == "bzip2" and head[4:8] != b"1AY&":
        return None  # a text may begin with BZh; then come the size of blocks and digits of pi
    return found


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
    read = given = 0
    stream, damage = packing.stream()
    problem = ""
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
                problem = "is damaged"
                break
            given += len(piece)
            check_unpacked(given, read, where)
            yield piece
            rest = stream.unused_data if stream.eof else b""
        if problem:
            break
    if problem or not stream.eof:
        raise DataError(
            f"{where()}: the {packing.name} data {problem or 'ends too early'}. Copy or download "
            "the file again."
        )
