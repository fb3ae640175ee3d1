"""Rows that cannot be used: whether reading stops at the first, and what is said of the others."""

from __future__ import annotations

import math

from textreg.errors import DataError, UsageError
from textreg.logs import logger
from textreg.reading.faults import NotDecodable, UnusableRow
from textreg.records import SkippedRow, SkippedRows, SkippedRowsBuilder

LOG = logger("reading")


def check_max_skipped(max_skipped: float) -> None:
    """Raise UsageError unless this is a share from 0.0 to 1.0, or a number of rows."""
    whole = isinstance(max_skipped, int) and not isinstance(max_skipped, bool)
    share = isinstance(max_skipped, float) and 0 <= max_skipped <= 1
    if not (share or (whole and max_skipped >= 0)):
        raise UsageError(
            f"max_skipped must be a share from 0.0 to 1.0 or a whole number of rows, "
            f"not {max_skipped!r}."
        )


def told_of(skipped: SkippedRows, documents: int, max_skipped: float, remedy: str) -> str:
    """What to tell of rows that were left out beside so many documents, empty if there are none.

    remedy: how to read them, if there is a way. Raises DataError if they are too many.
    """
    left, rows = len(skipped), documents + len(skipped)
    if not left:
        return ""
    share = isinstance(max_skipped, float)
    told, hint = f"{skipped.told()}.", f" {remedy}" if remedy else ""
    if left <= (max_skipped * rows if share else max_skipped):
        return f"{left:,} of {rows:,} rows cannot be read and are left out: {told}{hint}"
    most = f"{100 * max_skipped:g} %" if share else f"{max_skipped:,}"
    enough = f"{math.ceil(100 * left / rows)}%" if share else str(left)
    raise DataError(
        f"{left:,} of {rows:,} rows ({100 * left / rows:.2g} %) cannot be read, and at most {most} "
        f"may be left out: {told}{hint or ' Fix the rows.'} To leave them all out, pass "
        f"--max-skipped {enough}."
    )


class Skipping:
    """What to do with unusable rows: stop at the first, or skip and list them.

    Attributes
    ----------
    offer : str
        What skipping would do, for the message where reading stops.
    """

    def __init__(self, *, skips: bool) -> None:
        self.offer = "to leave such rows out"
        self._skips = skips
        self._rows = SkippedRowsBuilder()
        self._read = 0
        self._all = SkippedRows()
        self._undecodable: NotDecodable | None = None

    def add(self, source: str, problem: UnusableRow, position: int) -> None:
        """Skip a row that stands after ``position`` documents, or raise DataError."""
        row = SkippedRow(source, problem.line, problem.reason, str(problem), position)
        if not self._skips:
            if problem.error is not None:
                raise problem.error
            raise DataError(
                f"{row.where}: {problem} {problem.remedy}, or pass --on-error skip {self.offer}."
            )
        if self._undecodable is None and isinstance(problem, NotDecodable):
            self._undecodable = problem
        LOG.debug("%s: left out: %s", row.where, problem)
        self._rows.add(row)

    def taken(self, documents: int) -> SkippedRows:
        """The rows skipped since the last call, during which ``documents`` were read."""
        self._read += documents
        self._all = self._rows.rows()
        self._rows = SkippedRowsBuilder()
        return self._all

    def check(self, max_skipped: float) -> str:
        """What to tell of the rows last taken, empty if there are none.

        Raises DataError if they are too many.
        """
        return told_of(self._all, self._read, max_skipped, self.remedy)

    def nothing_left(self) -> DataError:
        """The error where no row can be used."""
        skipped = self._rows.rows()
        first = next(iter(skipped))
        all_rows = "It is the only row."
        if len(skipped) > 1:
            all_rows = f"None of the {len(skipped):,} rows can be used, and this is the first."
        return DataError(
            f"{first.where}: {first.problem} {all_rows}{self._hint()} Check that the file is the "
            "right one, and its columns."
        )

    @property
    def remedy(self) -> str:
        """How to read the rows that cannot be decoded, as a sentence; empty if there are none."""
        return "" if self._undecodable is None else f"{self._undecodable.remedy}."

    def _hint(self) -> str:
        return f" {self.remedy}" if self.remedy else ""
