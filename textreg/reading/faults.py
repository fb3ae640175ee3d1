"""Rows that cannot be used: what is wrong with them, and whether reading stops there."""

from __future__ import annotations

from textreg.errors import DataError


class UnusableRow(Exception):  # noqa: N818 - not a failure but a finding
    """What is wrong with a row, and how to fix it."""

    def __init__(self, problem: str, fix: str = "Fix the row") -> None:
        super().__init__(problem)
        self.fix = fix


class Faults:
    """What to do with unusable rows: stop at the first, or skip and count them.

    Attributes
    ----------
    skips : bool
        Whether unusable rows are skipped.
    skipped : int
        Number of rows skipped so far.
    first : str
        The message for the first of them.
    """

    def __init__(self, *, skips: bool) -> None:
        self.skips = skips
        self.skipped = 0
        self.first = ""

    def report(self, where: str, problem: UnusableRow) -> None:
        """Skip the row at ``where`` (``file:line``), or raise DataError with what to do."""
        if not self.skips:
            raise DataError(
                f"{where}: {problem} {problem.fix}, or pass --on-error skip to leave such rows out."
            ) from None
        self.skip(f"{where}: {problem}")

    def skip(self, message: str) -> None:
        """Count a row that cannot be used for the reason given in ``message``."""
        self.first = self.first or message
        self.skipped += 1
