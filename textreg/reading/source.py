"""Bytes of files as lines of text: packed or not, in their encoding."""

from __future__ import annotations

import codecs
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from itertools import chain
from pathlib import PurePath
from tempfile import TemporaryFile
from typing import IO

from textreg.errors import DataError
from textreg.files import MAX_LINE, PACKINGS, limit, packing_of, too_long, unpacked
from textreg.reading.encodings import GUESS, GUESSED_FROM, guessed_encoding, keeps_ascii
from textreg.reading.faults import NotDecodable, UnusableRow


class Lines:
    """The lines of a text, without their ``\\n``.

    A line that cannot be decoded is given with its bytes escaped, and one that is too long as an
    empty one; :meth:`damage` returns what is wrong with it.

    Attributes
    ----------
    number : int
        The number of the line given last, from 1.
    first : str
        The first line that is not blank, to recognize the format by; empty if there is none.
    empty : bool
        Whether the text is empty.
    waiting : int
        Number of lines that have arrived and have not been given yet.
    """

    def __init__(self, name: str, chunks: Iterator[bytes], encoding: str) -> None:
        self.name = name
        self.number = 0
        self.waiting = 0
        self._damaged: UnusableRow | None = None
        self._encoding = encoding
        # UTF-16 and its like cannot be cut into lines before they are decoded.
        if not keeps_ascii(encoding):
            chunks = _as_utf8(name, chunks, encoding)
            self._encoding = "utf-8"
        blocks = _blocks(chunks, limit(MAX_LINE))
        block: list[bytes | None] = []
        self.first = ""
        for lines in blocks:
            block += lines
            if filled := next((line for line in lines if line and not line.isspace()), b""):
                self.first = filled[:65536].decode(self._encoding, "replace")
                break
        if block and block[0] is not None and self._encoding == "utf-8":
            block[0] = block[0].removeprefix(codecs.BOM_UTF8)
            self.first = self.first.removeprefix("\ufeff")
        self._blocks = chain([block], blocks)
        self.empty = not block

    def __iter__(self) -> Iterator[str]:
        for block in self._blocks:
            self.waiting = len(block)
            for line in block:
                self.waiting -= 1
                self.number += 1
                if line is None:
                    self._damaged = self._damaged or _too_long()
                    yield ""
                    continue
                try:
                    text = line.decode(self._encoding)
                except UnicodeDecodeError as error:
                    self._damaged = self._damaged or NotDecodable(
                        self._encoding, self.number, block, error
                    )
                    text = line.decode(self._encoding, "backslashreplace")
                yield text

    def at(self, line: int) -> str:
        """``file:line``."""
        return f"{self.name}:{line}"

    def damage(self) -> UnusableRow | None:
        """What is wrong with the bytes of the lines given since the last call."""
        damaged, self._damaged = self._damaged, None
        return damaged


def _too_long() -> UnusableRow:
    problem, fix = too_long("the line")
    return UnusableRow(problem, fix)


def _as_utf8(name: str, chunks: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)()
    seen = 0
    try:
        for chunk in chunks:
            seen += len(chunk)
            yield decoder.decode(chunk).encode()
        yield decoder.decode(b"", final=True).encode()
    except UnicodeError as error:
        offset = 1  # UTF-16 was asked for, and there is no byte order mark
        if isinstance(error, UnicodeDecodeError):
            offset = seen - len(error.object) + error.start + 1
        raise DataError(
            f"{name}: byte {offset:,} of the file is not valid {encoding.upper()}. "
            "Save the file as UTF-8, or name its encoding with --encoding."
        ) from None


def _blocks(chunks: Iterator[bytes], most: int) -> Iterator[list[bytes | None]]:
    """Complete lines without their ends, as many at a time as have arrived.

    None for a line of more than ``most`` bytes, as soon as that is known.
    """
    unfinished: list[bytes] = []  # joined once, so that a long line takes linear time
    size = 0
    dropping = False
    for chunk in chunks:
        *lines, rest = chunk.split(b"\n")
        if lines:
            if dropping:
                del lines[0]  # the end of a line that was too long
            else:
                lines[0] = b"".join([*unfinished, lines[0]])
            unfinished.clear()
            if size + len(chunk) > most:
                yield [None if len(line) > most else line for line in lines]
            elif lines:
                yield [*lines]
            size, dropping = 0, False
        if dropping:
            continue
        unfinished.append(rest)
        size += len(rest)
        if size > most:
            unfinished.clear()
            dropping = True
            yield [None]
    last = b"".join(unfinished)
    if last:
        yield [last]


CHUNK = 1 << 16

_MARKS = (  # the longer marks first: UTF-32's begins with UTF-16's
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


_PACKED = tuple(packing.ending for packing in PACKINGS)


class Source:
    """A file or pipe that documents are read from.

    Compressed data is unpacked. The data can be read once: as bytes, by :meth:`chunks`, as a file,
    by :meth:`file`, or as text, by :attr:`lines`.

    Parameters
    ----------
    name, stream
        The name of the file, for messages, and its bytes.
    encoding : str, optional
        Its encoding, "guess" for the likely one, or None for what a byte order mark says.
    otherwise : str, default "utf-8"
        The encoding where there is no such mark.

    Attributes
    ----------
    name : str
        The name of the file, for messages.
    head : bytes
        The first bytes: enough for the magic number of a binary format.
    """

    def __init__(
        self,
        name: str,
        stream: IO[bytes],
        encoding: str | None = None,
        *,
        otherwise: str = "utf-8",
    ) -> None:
        self.name = name
        self._stream = stream
        self._lines: Lines | None = None
        self.head, self._chunks = _peek(self._read())
        packing = packing_of(self.head)
        self._packed = packing is not None
        if packing is not None:
            self.head, self._chunks = _peek(unpacked(packing, self._chunks, self._place))
        self._given, self._otherwise = encoding, otherwise

    @property
    def ending(self) -> str:
        """The ending of the file's name in lower case, such as ``.csv``, before a ``.gz``."""
        path = PurePath(self.name.lower())
        return PurePath(path.stem if path.suffix in _PACKED else path).suffix

    @cached_property
    def encoding(self) -> str:
        """The encoding of the text: as given, from a byte order mark, guessed if that is asked for,
        or UTF-8. A guess reads ahead."""
        known = self._given
        if known is None or known == GUESS:
            marked = next((name for mark, name in _MARKS if self.head.startswith(mark)), None)
            usual = self._otherwise if known is None else guessed_encoding(self._ahead())
            known = marked or usual
        return codecs.lookup(known).name.removesuffix("-sig")

    def _ahead(self) -> bytes:
        """The bytes that a guess looks at, which are read again."""
        seen, size = list[bytes](), 0
        for chunk in self._chunks:
            seen.append(chunk)
            size += len(chunk)
            if size > GUESSED_FROM:
                break
        self._chunks = chain(seen, self._chunks)
        return b"".join(seen)

    @property
    def lines(self) -> Lines:
        """The lines of the text."""
        if self._lines is None:
            encoding = self.encoding
            self._lines = Lines(self.name, self._chunks, encoding)
        return self._lines

    def chunks(self) -> Iterator[bytes]:
        """All the bytes, piece by piece as they arrive."""
        return self._chunks

    @contextmanager
    def file(self) -> Iterator[IO[bytes]]:
        """All the bytes as a file with places to go to; a temporary one for a pipe."""
        if (
            not self._packed
            and self._stream is not getattr(sys.stdin, "buffer", None)
            and self._stream.seekable()
        ):
            self._stream.seek(0)
            yield self._stream
            return
        with TemporaryFile() as whole:
            for chunk in self._chunks:
                whole.write(chunk)
            whole.seek(0)
            yield whole

    def ready(self) -> bool:
        """Whether more is at hand, or arrives within a twentieth of a second."""
        if self._lines is not None and self._lines.waiting:
            return True
        if sys.platform == "win32":  # pipes cannot be polled there
            return True
        try:
            descriptor = self._stream.fileno()
        except OSError:  # a stream in memory
            return True
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        return bool(poll.poll(50))

    def _read(self) -> Iterator[bytes]:
        # read1 returns what has arrived; read would wait until a chunk is full.
        read = getattr(self._stream, "read1", self._stream.read)
        while True:
            try:
                chunk = read(CHUNK)
            except OSError as error:
                raise DataError(f"{self.name}: cannot be read: {error.strerror}.") from None
            if not chunk:
                return
            yield chunk

    def _place(self) -> str:
        """The file, and the line that is read, for messages."""
        return self.name if self._lines is None else self._lines.at(self._lines.number + 1)


def _peek(chunks: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """The first bytes, enough for any mark if there are as many, and all the chunks again."""
    head = b""
    for chunk in chunks:
        head += chunk
        if len(head) >= 8 or head.endswith(b"\n"):  # do not wait for more than a short line
            break
    return head, chain([head], chunks) if head else chunks
