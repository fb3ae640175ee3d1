"""How much memory a file may take before it has shown that it holds as much."""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Callable, Iterator

from textreg.errors import DataError, UsageError

MAX_LINE = "TEXTREG_MAX_LINE"
"""Names the longest line, or document that has more than one; 64 MB is twenty long novels."""
MAX_UNPACKED = "TEXTREG_MAX_UNPACKED"
"""Names what a gzip file may hold if that is more than ``RATIO`` times its own size."""
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
        raise UsageError(f"{variable}={given} is no size: write it as 500MB or 2GB.")
    return int(match[1]) * _UNITS[match[2] or ""]


def too_long(what: str) -> tuple[str, str]:
    """What is wrong with a line or document beyond the limit, and how to raise that."""
    most = f"{limit(MAX_LINE) / 1e6:,.6g} MB"
    return f"{what} is longer than {most}.", f"Set {MAX_LINE}, as in {MAX_LINE}=1GB, to allow it"


def inflated(chunks: Iterator[bytes], where: Callable[[], str]) -> Iterator[bytes]:
    """The contents of gzip data, in pieces of at most a megabyte.

    ``where`` returns the place reached, for messages. Raises DataError where the data is damaged,
    ends too early, or unpacks to more than is allowed.
    """
    most = limit(MAX_UNPACKED)
    packed = unpacked = 0
    inflate = zlib.decompressobj(wbits=31)
    try:
        for chunk in chunks:
            packed += len(chunk)
            rest = chunk
            while rest:
                if inflate.eof:  # gzip files may be concatenated, and padded with zeros
                    rest = rest.lstrip(b"\0")
                    if not rest:
                        break
                    inflate = zlib.decompressobj(wbits=31)
                piece = inflate.decompress(rest, _PIECE)
                unpacked += len(piece)
                if unpacked > max(most, RATIO * packed):
                    raise DataError(
                        f"{where()}: the file unpacks to more than {most / 1e6:,.6g} MB and "
                        f"{RATIO} times its size. If that is as it should be, set {MAX_UNPACKED}, "
                        f"as in {MAX_UNPACKED}=4GB, to allow it."
                    )
                yield piece
                rest = inflate.unused_data if inflate.eof else inflate.unconsumed_tail
    except zlib.error:
        problem = "the gzip data is damaged"
    else:
        if inflate.eof:
            return
        problem = "the gzip data ends too early"
    raise DataError(f"{where()}: {problem}. Copy or download the file again.")
