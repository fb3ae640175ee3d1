"""Rows that cannot be used: what is wrong with them, and how to fix it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from textreg.errors import TextregError
from textreg.reading.encodings import likely_encoding


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
