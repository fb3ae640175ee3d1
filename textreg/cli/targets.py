"""Files that answers are written to: their format and compression, by their names."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePath
from typing import IO, Any

from textreg.cli.tables import ENDINGS
from textreg.errors import UsageError
from textreg.limits import packing_of_name, zstd


def form_of(form: str | None, out: str | None) -> str:
    """The format to write: as asked for, or by the ending of a file's name, else lines.

    Raises UsageError where they contradict each other, or the ending is no known one.
    """
    if out is None:
        return form or "lines"
    packing = packing_of_name(out)
    name = out.lower() if packing is None else out.lower().removesuffix(packing.ending)
    ending = PurePath(name).suffix
    told = next((known for known, endings in ENDINGS.items() if ending in endings), None)
    if form is None and told is None:
        known = ", ".join(endings[0] for endings in ENDINGS.values())
        raise UsageError(
            f"-o {out}: no format has the ending '{ending}': name one with --format, or end the "
            f"name with one of {known}."
        )
    if form is not None and told not in (None, form):
        raise UsageError(
            f"--format {form} does not fit the name {out}, which has the ending of {told}: leave "
            "out --format, or name another file."
        )
    chosen = form or told or ""
    if chosen == "parquet" and packing is not None:
        raise UsageError(f"-o {out}: Parquet is compressed already: leave out {packing.ending}.")
    return chosen


@contextmanager
def opened_text(file: IO[bytes], name: str) -> Iterator[IO[str]]:
    """A file to write UTF-8 text to, compressed as its name says."""
    packing = packing_of_name(name)
    packed = file if packing is None else _packed(packing.name, file)
    # Halves of surrogate pairs, which JSON can hold and UTF-8 cannot, are written as escapes.
    text = io.TextIOWrapper(packed, "utf-8", errors="backslashreplace", newline="")
    try:
        yield text
        text.flush()
    finally:
        text.detach()
    if packed is not file:
        packed.close()


def _packed(name: str, file: IO[bytes]) -> Any:
    if name == "gzip":
        from gzip import GzipFile

        return GzipFile("", "wb", fileobj=file, mtime=0)  # equal answers make equal files
    if name == "bzip2":
        from bz2 import BZ2File

        return BZ2File(file, "wb")
    if name == "xz":
        from lzma import LZMAFile

        return LZMAFile(file, "wb")
    module = zstd()
    return module.ZstdFile(file, "wb", options={module.CompressionParameter.checksum_flag: 1})
