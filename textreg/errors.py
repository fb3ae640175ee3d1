"""The errors a user may meet; every message says what is wrong, where, and what to do next."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches


class TextregError(Exception):
    """Base of all errors that textreg raises on purpose.

    ``exit_code`` is what the command line returns: 2 for wrong use, 1 for a failure.
    """

    exit_code = 1


class UsageError(TextregError, ValueError):
    """The call itself is wrong: an unknown name, a value out of range, options that contradict."""

    exit_code = 2


class DataError(TextregError, ValueError):
    """The data cannot be used as it is: an unreadable row, one class only, no feature left."""


class RecordError(DataError):
    """The fields of a record contradict each other: whoever made it must mend that."""


class ModelError(TextregError, ValueError):
    """A model file is damaged, too new, or needs something that is not installed."""


class PluginError(TextregError):
    """A plugin is missing, broken, blocked, or two of them claim one name."""

    exit_code = 2


class BrokenPluginError(PluginError):
    """A plugin cannot be loaded, fails, or does something else than its kind promises.

    cause: what is wrong, on one line. remedy: the command that may mend it, empty where none is
    known. The plugin's own traceback is that of ``__cause__``, where it raised something.
    """

    exit_code = 1

    def __init__(self, message: str, cause: str = "", remedy: str = "") -> None:
        super().__init__(message)
        self.cause = cause or message
        self.remedy = remedy


class PluginWarning(UserWarning):
    """A plugin works, but not for long, or not as before; the message names it."""


class ConvergenceWarning(UserWarning):
    """A solver stopped before it reached its tolerance; the solution says by how much."""


class DataWarning(UserWarning):
    """Something in the data is left out, or is hardly what was meant; the message says what."""


def did_you_mean(wrong: str, known: Iterable[str]) -> str:
    """Return `` Did you mean 'x'?`` for the closest known name, or an empty string."""
    close = get_close_matches(wrong, list(known), n=1, cutoff=0.6)
    return f" Did you mean '{close[0]}'?" if close else ""


def first_few(items: Sequence[str], most: int, between: str = ", ") -> str:
    """The items as one text; of more than ``most`` the first so many, and ``...``."""
    return between.join([*items[:most], *(["..."] if len(items) > most else [])])
