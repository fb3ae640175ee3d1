"""Rows that cannot be read: what is wrong with them, and which are left out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from textreg.errors import DataError, TextregError, UsageError
from textreg.logs import logger
from textreg.reading.encodings import likely_encoding
from textreg.records import SkippedRow, SkippedRows, SkippedRowsBuilder


class UnusableRow(Exception):  # noqa: N818 - not a failure but a finding
    """What is wrong with a row, and how to fix it.

    Parameters
    ----------
    problem : str
        A sentence.
    fix : str, default "Fix the row"
        What to do, without a period.
    reason : str, optional
        The problem without details such as values, to count rows by. By default ``problem``.

    Attributes
    ----------
    line : int
        The line where the row begins, from 1; 0 for a file of its own.
    error : TextregError or None
        What to raise where reading stops at this row, if not DataError.
    record : mapping
        The fields of the row by their columns, as many as could be read.
    """

    def __init__(self, problem: str, fix: str = "Fix the row", reason: str = "") -> None:
        super().__init__(problem)
        self.fix = fix
        self.reason = reason or problem.rstrip(".")
        self.line = 0
        self.error: TextregError | None = None
        self.record: Mapping[str, Any] = {}

    def at(self, line: int) -> UnusableRow:
        """This row, which begins at ``line``."""
        self.line = line
        return self

    @property
    def remedy(self) -> str:
        """What to do, without a period."""
        return self.fix


class NotDecodable(UnusableRow):
    """A row whose bytes are not text in the encoding of the file.

    Parameters
    ----------
    encoding : str
        The encoding of the file.
    line : int
        Its number in the file.
    beside : list of bytes
        Lines of the file, and itself; None for lines that are too long.
    error : UnicodeDecodeError
        What is wrong with it.
    unit : str, default "line"
        What is numbered.
    """

    def __init__(
        self,
        encoding: str,
        line: int,
        beside: Sequence[bytes | None],
        error: UnicodeDecodeError,
        unit: str = "line",
    ) -> None:
        what = f"not valid {encoding.upper()}"
        byte = f"0x{error.object[error.start]:02x}"
        super().__init__(
            f"byte {error.start + 1} of {unit} {line}, {byte}, is {what}.", reason=what
        )
        self._beside = beside
        self._encoding = encoding

    @property
    def remedy(self) -> str:
        """What to do; the guess at the encoding is made only when somebody asks."""
        likely = likely_encoding([line for line in self._beside if line is not None])
        if likely is None or likely == self._encoding:
            return "Save the file as UTF-8, or name its encoding with --encoding (cp1252 is common)"
        return (
            f"The text may be in {likely}: pass --encoding {likely} if it is, or save the file as "
            "UTF-8"
        )


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
