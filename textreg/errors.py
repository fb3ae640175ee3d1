"""Errors and warnings. Every message says what is wrong, where, and what to do next."""

from __future__ import annotations

import errno
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any


class TextregError(Exception):
    """Base of all errors that textreg raises on purpose.

    Attributes
    ----------
    exit_code : int
        What the command line returns: 2 for wrong use, 1 for a failure.

    Examples
    --------
    >>> import textreg
    >>> try:
    ...     textreg.load("no-such-file.textreg")
    ... except TextregError as error:
    ...     print(error)
    there is no model file no-such-file.textreg. ...
    """

    exit_code = 1


class UsageError(TextregError, ValueError):
    """The call is wrong: an unknown name, a value out of range, contradictory options."""

    exit_code = 2


class DataError(TextregError, ValueError):
    """The data cannot be used: an unreadable row, a single class, no feature left."""


class FaultsError(DataError):
    """Rows of files cannot be read.

    Parameters
    ----------
    message : str
        All that is wrong with them.
    options : dict of str to Any
        Options of reading with which the other rows are read; none where they are too few.
    rare : sequence of str
        The labels that only one document has.
    """

    def __init__(
        self, message: str, options: Mapping[str, Any] | None = None, rare: Sequence[str] = ()
    ) -> None:
        super().__init__(message)
        self.options, self.rare = options or {}, rare


class RecordError(DataError):
    """The fields of a record contradict each other; the code that made it must be fixed."""


class ModelError(TextregError, ValueError):
    """A model file is damaged, too new, or needs something that is not installed."""


class PluginError(TextregError):
    """A plugin is missing, broken or blocked, or two of them have the same name."""

    exit_code = 2


class BrokenPluginError(PluginError):
    """A plugin cannot be loaded, fails, or breaks the contract of its kind.

    The plugin's own traceback, if it raised an exception, is that of ``__cause__``.

    Parameters
    ----------
    message : str
        The whole message.
    cause : str, default ""
        What is wrong, on one line; the message if empty.
    remedy : str, default ""
        The command that may fix it; empty if none is known.
    """

    exit_code = 1

    def __init__(self, message: str, cause: str = "", remedy: str = "") -> None:
        super().__init__(message)
        self.cause = cause or message
        self.remedy = remedy


class PluginWarning(UserWarning):
    """A plugin works, but uses something deprecated or changed; the message names it."""


class ConvergenceWarning(UserWarning):
    """A solver stopped before it reached its tolerance; see ``Solution.gap``."""


class DataWarning(UserWarning):
    """A part of the data is ignored, or is probably not what was meant; the message says what."""


def shortage(error: BaseException) -> str:
    """What the system has too little of for us, where an error says that; empty for other errors.

    Parameters
    ----------
    error : BaseException

    Returns
    -------
    str
        ``out of memory``, ``too many threads`` or ``too many open files``.
    """
    if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
        return "too many open files"
    if isinstance(error, RuntimeError) and str(error) == "can't start new thread":
        return "too many threads"
    unmapped = isinstance(error, ImportError) and "failed to map segment" in str(error)
    return "out of memory" if unmapped or isinstance(error, MemoryError) else ""


def did_you_mean(wrong: str, known: Iterable[str]) -> str:
    """A hint for a misspelled name.

    Parameters
    ----------
    wrong : str
    known : iterable of str

    Returns
    -------
    str
        `` Did you mean 'x'?`` for the most similar known name, or an empty string.

    Examples
    --------
    >>> did_you_mean("laso", ["lasso", "ridge"])
    " Did you mean 'lasso'?"
    """
    from difflib import get_close_matches

    close = get_close_matches(wrong, list(known), n=1, cutoff=0.6)
    return f" Did you mean '{close[0]}'?" if close else ""


def alternatives(wrong: str, known: Collection[str]) -> str:
    """What there is in place of a name that nothing has.

    Parameters
    ----------
    wrong : str
    known : collection of str

    Returns
    -------
    str
        The hint of :func:`did_you_mean`, and all known names.

    Examples
    --------
    >>> alternatives("laso", ["lasso", "ridge"])
    " Did you mean 'lasso'? There are: lasso, ridge."
    """
    return f"{did_you_mean(wrong, known)} There are: {', '.join(known)}."


def first_few(items: Sequence[str], most: int, between: str = ", ") -> str:
    """The items as one text, at most ``most`` of them, with ``...`` in place of the others."""
    return between.join([*items[:most], *(["..."] if len(items) > most else [])])


def shortened(text: str) -> str:
    """A name or value for a message, cut to 40 characters with ``...`` at the end."""
    return text if len(text) <= 40 else f"{text[:37]}..."


@contextmanager
def named_errors(name: str) -> Iterator[None]:
    """Prefix errors with the name of what they are about."""
    try:
        yield
    except TextregError as error:
        raise type(error)(f"{name}: {error}") from error
