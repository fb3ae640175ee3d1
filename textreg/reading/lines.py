"""Bytes to lines of text: decompressed, decoded, numbered, and located where they are damaged."""

from __future__ import annotations

import codecs
import select
import sys
import zlib
from collections.abc import Iterator
from itertools import chain
from typing import IO

from textreg.errors import DataError, UsageError

CHUNK = 1 << 16

_MARKS = (  # the longer marks first: UTF-32's begins with UTF-16's
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

_BINARY = {
    b"PK\x03\x04": "a zip archive or an Excel workbook. Save the sheet as CSV (UTF-8)",
    b"\xd0\xcf\x11\xe0": "an old Excel or Word file. Save it as CSV (UTF-8)",
    b"PAR1": "a Parquet file. Write it as CSV or JSON lines",
    b"BZh": "compressed with bzip2. Unpack it, or compress it with gzip",
    b"\xfd7zXZ": "compressed with xz. Unpack it, or compress it with gzip",
    b"\x28\xb5\x2f\xfd": "compressed with zstd. Unpack it, or compress it with gzip",
    b"%PDF": "a PDF file. Extract its text first",
}


class UnusableRow(Exception):  # noqa: N818 - not a failure but a finding
    """What is wrong with a row, and what mends it."""

    def __init__(self, what: str, fix: str = "Fix the row") -> None:
        super().__init__(what)
        self.fix = fix


class Faults:
    """What becomes of a row that cannot be read: stop there, or leave it out and count it.

    skipped: rows left out so far. first: the message of the first of them.
    """

    def __init__(self, *, skips: bool) -> None:
        self.skips = skips
        self.skipped = 0
        self.first = ""

    def report(self, where: str, trouble: UnusableRow) -> None:
        """Count the row at ``where`` (``file:line``), or raise DataError with what to do."""
        if not self.skips:
            raise DataError(
                f"{where}: {trouble} {trouble.fix}, or pass --on-error skip to leave such rows out."
            ) from None
        self.leave_out(f"{where}: {trouble}")

    def leave_out(self, message: str) -> None:
        """Count a row that cannot be used for the reason that ``message`` gives."""
        self.first = self.first or message
        self.skipped += 1


def check_encoding(encoding: str | None) -> None:
    """Raise UsageError unless ``encoding`` is None or the name of a text encoding of Python."""
    if encoding is None:
        return
    try:
        "a".encode(encoding)
    except (LookupError, UnicodeError):
        raise UsageError(
            f"no text encoding is called '{encoding}'. Common ones: utf-8, utf-16, cp1252, latin-1."
        ) from None


class Lines:
    """The lines of a binary stream as text, without their ``\\n``.

    ``number`` is that of the line given last, from 1. gzip is recognized by its first bytes, UTF-8,
    UTF-16 and UTF-32 by their marks; other text is UTF-8 unless ``encoding`` says what it is.

    A line that cannot be decoded raises DataError; where ``faults`` skips, it is given with its
    bytes escaped, and :meth:`damage` tells what is wrong with it. Binary data, and a gzip stream
    that is cut off, always raise DataError.
    """

    def __init__(
        self, name: str, stream: IO[bytes], faults: Faults, encoding: str | None = None
    ) -> None:
        self.name = name
        self.number = 0
        self._faults = faults
        self._stream = stream
        self._waiting = 0  # lines at hand that have not been given yet
        self._damaged: UnusableRow | None = None
        head, chunks = _head(self._chunks())
        if head.startswith(b"\x1f\x8b"):
            head, chunks = _head(self._unzipped(chunks))
        marked = next((name for mark, name in _MARKS if head.startswith(mark)), "utf-8")
        self._encoding = codecs.lookup(encoding or marked).name.removesuffix("-sig")
        if "\n".encode(self._encoding) == b"\n":
            self._refuse_binary(head[:8192])
        else:  # UTF-16 and its like cannot be cut into lines before they are decoded
            chunks = self._as_utf8(chunks, self._encoding)
            self._encoding = "utf-8"
        blocks = _blocks(chunks)
        block: list[bytes] = []
        self.first = ""
        """The first line that is not blank, for a look at the format; empty if there is none."""
        for lines in blocks:
            block += lines
            if filled := next((line for line in lines if not line.isspace() and line), b""):
                self.first = filled[:65536].decode(self._encoding, "replace")
                break
        if block and self._encoding == "utf-8":
            block[0] = block[0].removeprefix(codecs.BOM_UTF8)
            self.first = self.first.removeprefix("\ufeff")
        self._blocks = chain([block], blocks)
        self.empty = not block

    def __iter__(self) -> Iterator[str]:
        for block in self._blocks:
            self._waiting = len(block)
            for line in block:
                self._waiting -= 1
                self.number += 1
                try:
                    text = line.decode(self._encoding)
                except UnicodeDecodeError as error:
                    text = self._damage(line, error)
                yield text

    def at(self, line: int) -> str:
        """``file:line``."""
        return f"{self.name}:{line}"

    def damage(self) -> UnusableRow | None:
        """What is wrong with the bytes of the lines given since the last call."""
        damaged, self._damaged = self._damaged, None
        return damaged

    def ready(self) -> bool:
        """Whether more is at hand, or arrives within a twentieth of a second."""
        if self._waiting or sys.platform == "win32":  # where pipes cannot be asked
            return True
        try:
            descriptor = self._stream.fileno()
        except OSError:  # a stream in memory
            return True
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        return bool(poll.poll(50))

    def _chunks(self) -> Iterator[bytes]:
        # read1 gives what has arrived; read would wait until a chunk is full.
        read = getattr(self._stream, "read1", self._stream.read)
        while True:
            try:
                chunk = read(CHUNK)
            except OSError as error:
                raise DataError(f"{self.name}: cannot be read: {error.strerror}.") from None
            if not chunk:
                return
            yield chunk

    def _unzipped(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        inflate = zlib.decompressobj(wbits=31)
        try:
            for chunk in chunks:
                rest = chunk
                while rest:
                    if inflate.eof:  # files may be joined, and padded with zeros
                        rest = rest.lstrip(b"\0")
                        if not rest:
                            break
                        inflate = zlib.decompressobj(wbits=31)
                    yield inflate.decompress(rest)
                    rest = inflate.unused_data
        except zlib.error:
            what = "the gzip data is damaged"
        else:
            if inflate.eof:
                return
            what = "the gzip data ends too early"
        raise DataError(f"{self.at(self.number + 1)}: {what}. Copy or download the file again.")

    def _as_utf8(self, chunks: Iterator[bytes], encoding: str) -> Iterator[bytes]:
        decoder = codecs.getincrementaldecoder(encoding)()
        seen = 0
        try:
            for chunk in chunks:
                seen += len(chunk)
                yield decoder.decode(chunk).encode()
            yield decoder.decode(b"", final=True).encode()
        except UnicodeError as error:
            offset = 1  # where UTF-16 was asked for and there is no mark at all
            if isinstance(error, UnicodeDecodeError):
                offset = seen - len(error.object) + error.start + 1
            raise DataError(
                f"{self.name}: byte {offset:,} of the file is not valid {encoding.upper()}. "
                "Save the file as UTF-8, or name its encoding with --encoding."
            ) from None

    def _refuse_binary(self, head: bytes) -> None:
        for mark, what in _BINARY.items():
            if head.startswith(mark):
                raise DataError(f"{self.name}: this is {what}.")
        if b"\0" in head:
            raise DataError(
                f"{self.name}: this is a binary file (byte {head.index(0) + 1:,} is zero). Give "
                "CSV, TSV, JSON lines or fastText lines. If it is UTF-16 without a byte order "
                "mark, pass --encoding utf-16-le or utf-16-be."
            )

    def _damage(self, line: bytes, error: UnicodeDecodeError) -> str:
        trouble = UnusableRow(
            f"byte {error.start + 1} of the line, 0x{line[error.start]:02x}, is not valid "
            f"{self._encoding.upper()}.",
            "Save the file as UTF-8, or name its encoding with --encoding (cp1252 is common)",
        )
        if not self._faults.skips:
            self._faults.report(self.at(self.number), trouble)
        self._damaged = self._damaged or trouble
        return line.decode(self._encoding, "backslashreplace")


def _head(chunks: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """The first bytes, enough for any mark if there are as many, and all the chunks again."""
    head = b""
    for chunk in chunks:
        head += chunk
        if len(head) >= 8 or head.endswith(b"\n"):  # a short line must not wait for the next one
            break
    return head, chain([head], chunks) if head else chunks


def _blocks(chunks: Iterator[bytes]) -> Iterator[list[bytes]]:
    """Complete lines without their ends, as many at a time as have arrived."""
    begun: list[bytes] = []  # pieces of a line whose end has not come: joined once, however many
    for chunk in chunks:
        *lines, rest = chunk.split(b"\n")
        if lines:
            lines[0] = b"".join([*begun, lines[0]])
            begun.clear()
            yield lines
        begun.append(rest)
    last = b"".join(begun)
    if last:
        yield [last]
