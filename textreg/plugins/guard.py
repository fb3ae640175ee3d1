"""Protection between textreg and the code of plugins.

Whatever a part raises becomes a :class:`~textreg.errors.BrokenPluginError` that names it, and its
inputs are read-only. Errors that are meant for users are not changed.
"""

from __future__ import annotations

import copy
import traceback
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import is_dataclass
from types import FrameType
from typing import Any

from textreg.errors import BrokenPluginError, PluginError, RecordError, TextregError

_OURS = ("textreg", "importlib")
"""Packages that never belong to a plugin."""


def cause_of(error: BaseException) -> str:
    """An error in one line, with the innermost line of code outside of textreg."""
    lines = str(error).strip().splitlines()
    what = f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
    if isinstance(error, SyntaxError):  # which states its place itself
        return what
    for frame, line in reversed(list(traceback.walk_tb(error.__traceback__))):
        if not _is_ours(frame):
            return f"{what} ({frame.f_code.co_filename}:{line})"
    return what


def traceback_of(error: BaseException | None) -> str:
    """A traceback as Python prints it, starting at the first frame outside of textreg."""
    if error is None:
        return ""
    begin = frames = error.__traceback__
    while frames is not None and _is_ours(frames.tb_frame):
        frames = frames.tb_next
    shown = error.with_traceback(frames or begin)
    try:
        return "".join(traceback.format_exception(shown))
    finally:
        error.with_traceback(begin)


def _is_ours(frame: FrameType) -> bool:
    """Whether a frame belongs to textreg or to the import system."""
    package = frame.f_globals.get("__name__", "").partition(".")[0]
    return package in _OURS or frame.f_code.co_filename.startswith("<frozen")


@contextmanager
def blaming(who: Callable[[], str], doing: str, advice: Callable[[], str]) -> Iterator[None]:
    """Turn what a part raises into a BrokenPluginError: ``who``, its fault, ``advice``.

    doing: what it was asked for, such as ``solve``. Errors for the user, warnings that are errors,
    exhausted memory and Ctrl-C pass as they are. who, advice: called only when they are needed.
    """
    try:
        yield
    except (BrokenPluginError, MemoryError, Warning):
        raise
    except (RecordError, PluginError) as error:
        cause = f"{doing}: {str(error).rstrip('.')}"
        raise BrokenPluginError(f"{who()} fails in {cause}. {advice()}", cause) from error
    except TextregError:
        raise
    except (Exception, SystemExit) as error:  # plugins may raise anything
        cause = f"{doing}: {cause_of(error)}"
        if "read-only" in str(error) or "read only" in str(error):
            cause += "; what it is given is shared and must not be changed, so copy it first"
        raise BrokenPluginError(f"{who()} fails in {cause}. {advice()}", cause) from error


class Seal:
    """Records for a third-party part, by name: the same arrays, but read-only.

    Read-only arrays stop NumPy, SciPy and Cython. Changes by C code, and arrays that are replaced,
    are found by :meth:`changed` from checksums, at about a second for a gigabyte.
    """

    def __init__(self, **records: Any) -> None:
        self.records = {name: sealed(record) for name, record in records.items()}
        self._before = self._checksums()

    def changed(self) -> str:
        """The first field that was modified, such as ``problem.X.data``; empty if none was."""
        now = self._checksums()
        return next((key for key, was in self._before.items() if now.get(key) != was), "")

    def _checksums(self) -> dict[str, int]:
        known: dict[tuple[Any, ...], int] = {}
        return {
            key: checksum
            for name, record in self.records.items()
            for key, checksum in _checksums(record, name, known)
        }


def sealed(value: Any) -> Any:
    """An array, or a record with all of its arrays, that cannot be written to; no copy is made."""
    from numpy import ndarray
    from scipy.sparse import issparse

    if isinstance(value, ndarray):
        view = value.view()
        view.flags.writeable = False
        return view
    if type(value) is tuple:
        return tuple(map(sealed, value))
    if isinstance(value, type) or not (issparse(value) or is_dataclass(value)):
        return value
    other = copy.copy(value)
    # Frozen records would refuse; their fields are valid, and cached ones are among them.
    other.__dict__.update({key: sealed(field) for key, field in vars(value).items()})
    return other


def _checksums(
    value: Any, name: str, known: dict[tuple[Any, ...], int]
) -> Iterator[tuple[str, int]]:
    """A checksum for every array and list of names in a record, by the name of its field.

    known: checksums of the arrays so far, by their place in memory. Fields share arrays, as a
    problem does with its Design.
    """
    from numpy import ascontiguousarray, ndarray
    from scipy.sparse import issparse

    if isinstance(value, ndarray):
        place = (value.ctypes.data, value.shape, value.strides, value.dtype.str)
        if place not in known:
            known[place] = zlib.crc32(ascontiguousarray(value).data)
        yield name, known[place]
    elif type(value) is list:
        yield name, hash(tuple(value))
    elif type(value) is tuple:
        for at, field in enumerate(value):
            yield from _checksums(field, f"{name}[{at}]", known)
    elif not isinstance(value, type) and (issparse(value) or is_dataclass(value)):
        for key, field in vars(value).items():
            yield from _checksums(field, f"{name}.{key}", known)
