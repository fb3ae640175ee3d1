"""Texts that lie on the workers, as a sequence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from textreg.blocks.cutting import blocks_of, starts_of
from textreg.errors import UsageError
from textreg.records.stored_texts import TextsElsewhere

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from textreg.cluster.connection import Connection
    from textreg.records import Int32s, Int64s

FETCHED = 4096
"""Texts that are fetched at a time."""


class ClusterTexts(TextsElsewhere):
    """Texts in pieces on the workers, which are fetched where they are asked for.

    Parameters
    ----------
    connection : Connection
    pieces : sequence of futures
        Of lists of texts.
    lengths : sequence of ndarray of int32
        For every piece the number of characters of each text.
    """

    def __init__(
        self, connection: Connection, pieces: Sequence[Any], lengths: Sequence[Int32s]
    ) -> None:
        self.connection = connection
        self._pieces = list(pieces)
        self._ptr: Int64s = np.cumsum([0, *map(len, lengths)], dtype=np.int64)
        self.lengths: Int32s = np.concatenate([np.zeros(0, np.int32), *lengths])
        self._rows: Int64s | None = None  # all

    @classmethod
    def of(cls, connection: Connection, texts: Sequence[str]) -> ClusterTexts:
        """Texts of this process, sent to the workers."""
        pieces, lengths = [], []
        for block in blocks_of([texts]):
            pieces.append(connection.submit(list, block))
            lengths.append(lengths_of(block))
        return cls(connection, pieces, lengths)

    def select(self, rows: NDArray[np.intp] | Sequence[int]) -> ClusterTexts:
        """Some of the texts, in the order wanted."""
        chosen = np.asarray(rows, dtype=np.int64)
        size = len(self)
        if len(chosen) and not (-size <= chosen.min() and chosen.max() < size):
            raise IndexError(f"there are {size:,} texts, and no text {chosen.max()}")
        chosen = np.where(chosen < 0, chosen + size, chosen)
        made: ClusterTexts = object.__new__(ClusterTexts)
        made.connection, made._pieces, made._ptr = self.connection, self._pieces, self._ptr
        made.lengths = self.lengths[chosen]
        made._rows = chosen if self._rows is None else self._rows[chosen]
        return made

    def blocks(self) -> Iterator[tuple[int, int, list[Any]]]:
        """The texts in blocks: the first one, the one after the last, and futures of their lists.

        Blocks are those of :func:`textreg.blocks.cutting.blocks_of`.
        """
        for start, end in pairwise(starts_of(self.lengths)):
            yield start, end, self._futures(start, end)

    def __len__(self) -> int:
        return len(self.lengths)

    def __iter__(self) -> Iterator[str]:
        start, most = 0, 1  # who wants to know what the first one is does not wait for others
        while start < len(self):
            end = min(start + most, len(self))
            for future in self._futures(start, end):
                yield from self.connection.result(future)
            start, most = end, FETCHED

    def __repr__(self) -> str:
        return f"<ClusterTexts: {len(self):,} texts in {len(self._pieces):,} pieces>"

    def __reduce__(self) -> NoReturn:
        raise UsageError(
            "texts on a cluster cannot be copied: read them into memory first, with list(texts)."
        )

    def _futures(self, start: int, end: int) -> list[Any]:
        """Futures of the texts from ``start`` to ``end``, by piece."""
        rows = np.arange(start, end) if self._rows is None else self._rows[start:end]
        piece = np.searchsorted(self._ptr, rows, "right") - 1
        cuts = np.flatnonzero(np.diff(piece)) + 1
        futures = []
        for first, last in pairwise([0, *cuts.tolist(), len(rows)]):
            number = int(piece[first])
            some = rows[first:last] - self._ptr[number]
            if len(some) == self._ptr[number + 1] - self._ptr[number] and _in_order(some):
                futures.append(self._pieces[number])
            else:
                wanted = slice(int(some[0]), int(some[-1]) + 1) if _in_order(some) else some
                futures.append(self.connection.submit(taken, self._pieces[number], wanted))
        return futures


def taken(texts: Sequence[str], wanted: slice | Int64s) -> list[str]:
    """Some of the texts of a piece."""
    if isinstance(wanted, slice):
        return list(texts[wanted])
    return [texts[row] for row in wanted.tolist()]


def lengths_of(texts: Sequence[str]) -> Int32s:
    """The number of characters of every text."""
    return np.fromiter(map(len, texts), np.int32, len(texts))


def _in_order(rows: Int64s) -> bool:
    """Whether rows follow one another."""
    return bool((np.diff(rows) == 1).all())
