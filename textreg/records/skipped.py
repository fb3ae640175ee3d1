"""Rows of files that could not be read: how many, where, and why."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from textreg._core.arrays import Int32s, Int64s
from textreg.errors import RecordError

PLACES = 4
"""Places of rows that a message names for every reason."""
DETAILED = 1000
"""The problem of so many rows is kept with its details."""


class SkippedRow(NamedTuple):
    """A row that could not be read.

    Attributes
    ----------
    source : str
        Name of its file.
    line : int
        The line where it begins, from 1; 0 for a file of its own.
    reason : str
        What is wrong, without details: rows with the same fault have the same reason.
    problem : str
        The same with its details, as a sentence.
    position : int
        The number of documents that were read before it.
    """

    source: str
    line: int
    reason: str
    problem: str
    position: int

    @property
    def where(self) -> str:
        """``file:line``."""
        return f"{self.source}:{self.line}" if self.line else self.source


class SkippedReason(NamedTuple):
    """How often a reason occurs, and where.

    Parameters
    ----------
    reason : str
        Why the rows could not be read.
    rows : int
        How many there are.
    places : str
        The first of them, such as ``a.csv:3-7, 12``.
    """

    reason: str
    rows: int
    places: str


@dataclass(frozen=True)
class SkippedRows:
    """Rows that could not be read, in the order of the files; iterating gives ``SkippedRow``.

    A row takes 24 bytes, so that millions of them do no harm.

    Parameters
    ----------
    sources, reasons : sequence of str
        Names of files, and reasons.
    source_of, reason_of : ndarray of int32, shape (rows,)
        The indices in ``sources`` and ``reasons`` of every row.
    line_of, position_of : ndarray of int64, shape (rows,)
        ``SkippedRow.line`` and ``SkippedRow.position``.
    problems : sequence of str
        ``SkippedRow.problem`` of the first rows; the others have their reason there.

    Raises
    ------
    RecordError
        If the lengths differ.
    """

    sources: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    source_of: Int32s = field(default_factory=lambda: np.zeros(0, np.int32))
    reason_of: Int32s = field(default_factory=lambda: np.zeros(0, np.int32))
    line_of: Int64s = field(default_factory=lambda: np.zeros(0, np.int64))
    position_of: Int64s = field(default_factory=lambda: np.zeros(0, np.int64))
    problems: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("source_of", "reason_of", "position_of"):
            if len(getattr(self, name)) != len(self.line_of):
                raise RecordError(f"{name} and line_of differ in length.")

    def __len__(self) -> int:
        return len(self.line_of)

    def __iter__(self) -> Iterator[SkippedRow]:
        for row in range(len(self)):
            reason = self.reasons[self.reason_of[row]]
            yield SkippedRow(
                source=self.sources[self.source_of[row]],
                line=int(self.line_of[row]),
                reason=reason,
                problem=self.problems[row] if row < len(self.problems) else f"{reason}.",
                position=int(self.position_of[row]),
            )

    def __repr__(self) -> str:
        return f"<SkippedRows: {self.told() or 'none'}>"

    def by_reason(self) -> list[SkippedReason]:
        """The reasons, the most frequent one first."""
        counts = np.bincount(self.reason_of, minlength=len(self.reasons))
        order = np.argsort(-counts, kind="stable")
        return [
            SkippedReason(self.reasons[which], int(counts[which]), self._places(int(which)))
            for which in order
        ]

    def told(self) -> str:
        """The reasons and places on one line; empty if there is no row."""
        return "; ".join(f"{one.rows:,} {one.reason} ({one.places})" for one in self.by_reason())

    def _places(self, reason: int) -> str:
        """``a.csv:3-7, 12, b.csv:1, ...``: the first rows of a reason."""
        rows = np.flatnonzero(self.reason_of == reason)
        sources, lines = self.source_of[rows], self.line_of[rows]
        # a range begins where the file changes, or where a line is not the one after the last
        begins = np.flatnonzero(
            np.r_[True, (np.diff(sources) != 0) | (np.diff(lines) != 1) | (lines[1:] == 0)]
        )
        shown: list[str] = []
        named = -1
        for at, end in zip(begins[:PLACES], [*begins[1:], len(rows)], strict=False):
            first, last = int(lines[at]), int(lines[end - 1])
            text = f"{first}" if first == last else f"{first}-{last}"
            if sources[at] != named:
                named = int(sources[at])
                text = f"{self.sources[named]}:{text}" if first else self.sources[named]
            shown.append(text)
        return ", ".join([*shown, *(["..."] if len(begins) > PLACES else [])])


class SkippedRowsBuilder:
    """Collects rows for :class:`SkippedRows`, one by one."""

    def __init__(self) -> None:
        self._sources: dict[str, int] = {}
        self._reasons: dict[str, int] = {}
        self._source_of, self._reason_of = array("i"), array("i")
        self._line_of, self._position_of = array("q"), array("q")
        self._problems: list[str] = []

    def add(self, row: SkippedRow) -> None:
        """Add the next row.

        Parameters
        ----------
        row : SkippedRow
            After all those that were added.
        """
        self._source_of.append(self._sources.setdefault(row.source, len(self._sources)))
        self._reason_of.append(self._reasons.setdefault(row.reason, len(self._reasons)))
        self._line_of.append(row.line)
        self._position_of.append(row.position)
        if len(self._problems) < DETAILED:
            self._problems.append(row.problem)

    def rows(self) -> SkippedRows:
        """All rows added so far."""
        return SkippedRows(
            sources=tuple(self._sources),
            reasons=tuple(self._reasons),
            source_of=np.array(self._source_of, dtype=np.int32),
            reason_of=np.array(self._reason_of, dtype=np.int32),
            line_of=np.array(self._line_of, dtype=np.int64),
            position_of=np.array(self._position_of, dtype=np.int64),
            problems=tuple(self._problems),
        )
