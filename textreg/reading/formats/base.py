"""What a file format is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar

from textreg.reading.columns import Row, TableColumns
from textreg.reading.faults import UnusableRow
from textreg.reading.source import Source


class Format(ABC):
    """A format of files that hold documents; all of them stand in ``formats.FORMATS``.

    A text format reads ``source.lines``; a binary one has a ``magic`` number and reads
    ``source.chunks()``. Help texts, messages and the documentation take what they say about the
    format from the attributes of the class.

    Attributes
    ----------
    name : str
        Short name, shown beside the number of documents read.
    title : str
        Name for help texts and messages.
    example : str
        What a file looks like, for the message about an unknown format.
    endings : tuple of str
        Endings of file names, in lower case and without ``.gz``.
    magic : bytes
        The first bytes of every file; empty for a text format.
    labeled : bool
        Whether documents can have labels.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    example: ClassVar[str] = ""
    endings: ClassVar[tuple[str, ...]] = ()
    magic: ClassVar[bytes] = b""
    labeled: ClassVar[bool] = True

    def begins(self, source: Source) -> bool:
        """Whether a file is in this format by its first bytes, ``source.head``."""
        return bool(self.magic) and source.head.startswith(self.magic)

    def fits(self, source: Source, columns: TableColumns) -> bool:
        """Whether a text whose name does not tell is in this format, by ``source.lines.first``."""
        return False

    @abstractmethod
    def rows(self, source: Source, columns: TableColumns) -> Iterator[Row | UnusableRow]:
        """The documents, one after the other; for each that cannot be used, what is wrong with it.

        A format with columns calls ``columns.find`` with their names, then ``columns.row`` for
        every record; one without calls ``columns.refuse``. Both raise UnusableRow, which is given
        with its line: ``problem.at(line)``. What hides an unknown number of rows is a DataError.
        Texts are not changed; a blank line is no document.
        """
