"""Texts in a file, for documents that do not fit into memory."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from array import array
from collections.abc import Iterable, Iterator, Sequence
from operator import index as whole_number
from typing import TYPE_CHECKING, NoReturn, overload

import numpy as np

from textreg.errors import DataError, RecordError, UsageError
from textreg.files import DISK_FULL

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from textreg._core.arrays import Int64s

PIECE = 1 << 20
"""About how many bytes are written or read at a time."""

GAP = 1 << 14
"""So many bytes between two texts wanted are read with them, rather than passed over."""

BLOCK = 1 << 13
"""Places in the file of so many texts are looked up at a time."""


class TextsElsewhere(Sequence[str], ABC):
    """Texts that are not in memory."""

    @abstractmethod
    def select(self, rows: NDArray[np.intp] | Sequence[int]) -> TextsElsewhere:
        """Some of them, by their indices in the order wanted."""

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...

    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return list(self.select(np.arange(len(self))[index]))
        return next(iter(self.select([whole_number(index)])))


class StoredTexts(TextsElsewhere):
    """Texts in a file, as a sequence; in memory are eight bytes for each.

    It is written once, by :meth:`extend`, and then read: one by one, or in the order of the file,
    a piece at a time. Threads may read together. The file stays when it is closed.

    Parameters
    ----------
    path : str or path
        The file to be made, which nobody else may change: the texts in UTF-8 one after the other.

    Raises
    ------
    UsageError
        If there is such a file already, or it cannot be made.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, StoredTexts(f"{folder}/texts") as texts:
    ...     texts.extend(["It broke.", "It works.", "It does."])
    ...     texts[1], texts[:2], list(texts.select([2, 0]))
    ('It works.', ['It broke.', 'It works.'], ['It does.', 'It broke.'])
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._file = _TextFile(os.fspath(path))
        self._rows: Int64s | None = None  # all

    @property
    def path(self) -> str:
        """The file."""
        return self._file.path

    def extend(self, texts: Iterable[str]) -> None:
        """Write further texts at the end.

        Parameters
        ----------
        texts : iterable of str
            Of any characters, also surrogates without their partner.

        Raises
        ------
        UsageError
            If there is no room on the disk, or these are some texts of another.
        """
        if self._rows is not None:
            raise UsageError("these are some of the texts in a file: extend those they are of.")
        pieces, size = list[bytes](), 0
        for text in texts:
            pieces.append(text.encode("utf-8", "surrogatepass"))
            size += len(pieces[-1])
            if size >= PIECE:
                self._file.append(pieces)
                pieces, size = [], 0
        if pieces:
            self._file.append(pieces)

    def select(self, rows: NDArray[np.intp] | Sequence[int]) -> StoredTexts:
        """Some of the texts, in the same file.

        Parameters
        ----------
        rows : array-like of int
            Their indices, in the order wanted.

        Returns
        -------
        StoredTexts
        """
        chosen = np.asarray(rows)
        if chosen.ndim != 1 or (chosen.dtype.kind not in "iu" and len(chosen)):
            raise RecordError(f"rows must be a list of indices, not {rows!r:.60}.")
        made = object.__new__(StoredTexts)
        made._file = self._file
        made._rows = self._numbers(chosen.astype(np.int64))
        return made

    def close(self) -> None:
        """Close the file, also for what was selected; its texts can no longer be read."""
        self._file.close()

    def __enter__(self) -> StoredTexts:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __len__(self) -> int:
        return len(self._file) if self._rows is None else len(self._rows)

    def __iter__(self) -> Iterator[str]:
        size = len(self)
        for at in range(0, size, BLOCK):
            block = np.arange(at, min(at + BLOCK, size))
            yield from self._file.texts(block if self._rows is None else self._rows[block])

    def __repr__(self) -> str:
        return f"<StoredTexts: {len(self):,} texts in {self.path}>"

    def __reduce__(self) -> NoReturn:
        raise UsageError(
            f"the texts in {self.path} cannot be copied or sent to other processes: read them into "
            "memory first, with list(texts)."
        )

    def _numbers(self, rows: Int64s) -> Int64s:
        """The numbers in the file of rows (k,), which count from the end if negative."""
        size = len(self)
        if len(rows) and not (-size <= rows.min() and rows.max() < size):
            raise IndexError(f"there are {size:,} texts, and no text {rows.min()} or {rows.max()}")
        rows = np.where(rows < 0, rows + size, rows)
        return rows if self._rows is None else self._rows[rows]


class _TextFile:
    """The file, and where in it the texts begin and end: text i is ``[ptr[i]:ptr[i + 1]]``."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._ptr = array("q", [0])
        try:
            # For nobody else to read, as texts may be private.
            self._writer = open(path, "xb", buffering=0, opener=_private)  # noqa: SIM115 - close()
        except OSError as error:
            raise UsageError(
                f"{path}: this file for texts cannot be made: {error.strerror}. Name a folder "
                "where it can, with TMPDIR (scratch=...)."
            ) from error
        try:
            self._reader = open(path, "rb", buffering=0)  # noqa: SIM115 - close()
        except OSError as error:
            self._writer.close()
            raise self._unreadable(error) from error

    def __len__(self) -> int:
        return len(self._ptr) - 1

    @property
    def size(self) -> int:
        """Bytes written."""
        return self._ptr[-1]

    def append(self, pieces: list[bytes]) -> None:
        """Write the next texts: all of them, or none."""
        rest = memoryview(b"".join(pieces))
        try:
            while rest:
                rest = rest[self._writer.write(rest) :]
        except ValueError:
            raise self._closed() from None
        except OSError as error:
            os.ftruncate(self._writer.fileno(), self.size)
            self._writer.seek(self.size)
            raise self._unwritten(error, sum(map(len, pieces))) from error
        ends = self.size + np.cumsum(np.fromiter(map(len, pieces), np.int64, len(pieces)))
        self._ptr.frombytes(ends.tobytes())

    def texts(self, rows: Int64s) -> Iterator[str]:
        """The texts of these numbers (k,), with one reading for those that are close together."""
        ptr = np.frombuffer(self._ptr, np.int64)
        starts, ends = ptr[rows].tolist(), ptr[rows + 1].tolist()
        del ptr  # while it is there, the array cannot grow
        for first, last in _pieces(starts, ends):
            base = starts[first]
            data = self._bytes(base, ends[last - 1])
            for start, end in zip(starts[first:last], ends[first:last], strict=True):
                yield self._decoded(data[start - base : end - base])

    def close(self) -> None:
        self._reader.close()
        try:
            self._writer.close()
        except OSError as error:  # of a file in a network, only now
            raise self._unwritten(error, 0) from error

    def _bytes(self, start: int, end: int) -> bytes:
        """What is in the file from ``start`` to ``end``; DataError if others changed its size."""
        try:
            descriptor = self._reader.fileno()
            found = os.fstat(descriptor).st_size
            data = os.pread(descriptor, end - start, start)
        except ValueError:
            raise self._closed() from None
        except OSError as error:
            raise self._unreadable(error) from error
        if found != self.size or len(data) != end - start:
            raise self._changed(f"it has {found:,} bytes, and {self.size:,} were written")
        return data

    def _decoded(self, data: bytes) -> str:
        try:
            return data.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            raise self._changed("its bytes are others than were written") from None

    def _changed(self, how: str) -> DataError:
        return DataError(
            f"{self.path}: this file of texts was changed while it was in use: {how}. Start again, "
            "and let no other program write to it."
        )

    def _unwritten(self, error: OSError, size: int) -> UsageError:
        advice = "Check the folder"
        if error.errno in DISK_FULL:
            advice = "Free some space there"
        more = f", and {size:,} more were to be" if size else ""
        return UsageError(
            f"{self.path}: texts cannot be written to this file: {error.strerror}. "
            f"{self.size:,} bytes of texts are in it{more}. {advice}, or name another folder with "
            "TMPDIR (scratch=...)."
        )

    def _unreadable(self, error: OSError) -> DataError:
        return DataError(
            f"{self.path}: this file of texts cannot be read: {error.strerror}. Start again, or "
            "name another folder with TMPDIR (scratch=...)."
        )

    def _closed(self) -> UsageError:
        return UsageError(f"{self.path}: this file of texts is closed: use it before that.")


def _pieces(starts: list[int], ends: list[int]) -> Iterator[tuple[int, int]]:
    """Texts to be read at once: the first of them, and the one after the last.

    Each begins after the one before it, and not far behind; they have a piece in all, or are one.
    """
    first, n = 0, len(starts)
    while first < n:
        most = starts[first] + PIECE
        last = first + 1
        while last < n and ends[last] <= most and 0 <= starts[last] - ends[last - 1] <= GAP:
            last += 1
        yield first, last
        first = last


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
