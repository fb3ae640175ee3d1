"""Bytes to lines of text: decoded, numbered, and located where they are damaged."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from itertools import chain

from textreg.errors import DataError
from textreg.limits import MAX_LINE, limit, too_long
from textreg.reading.encodings import keeps_ascii
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
