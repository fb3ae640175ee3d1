"""Protection between textreg and the code of plugins.

Whatever a part raises becomes a :class:`~textreg.errors.BrokenPluginError` that names it, and its
inputs are read-only. Errors that are meant for users are not changed.
"""

from __future__ import annotations

import copy
import dis
import traceback
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import is_dataclass
from types import FrameType
from typing import Any

from textreg.errors import (
    BrokenPluginError,
    ConvergenceWarning,
    DataWarning,
    PluginError,
    PluginWarning,
    RecordError,
    TextregError,
)
from textreg.plugins.inside import Inside, contained
from textreg.terminal import single_line

_OURS = ("textreg", "textreg_testing", "importlib", "pluggy")
"""Packages that never belong to a plugin."""

_MOST = 300
"""Characters of a plugin's own message that are shown."""

_RAISE = dis.opmap["RAISE_VARARGS"]


def cause_of(error: BaseException) -> str:
    """An error in one line, with the innermost line of the plugin, not of a library it calls."""
    lines = message_of(error).strip().splitlines()
    what = type(error).__name__
    if lines:
        more = "..." if len(lines[0]) > _MOST else ""
        what += f": {single_line(lines[0][:_MOST])}{more}"
    if isinstance(error, SyntaxError):  # which states its place itself
        return what
    places: dict[str, str] = {}  # by package, the one last that textreg called
    for frame, line in reversed(list(traceback.walk_tb(error.__traceback__))):
        if not _is_ours(frame):
            places.setdefault(_package(frame), f"{frame.f_code.co_filename}:{line}")
            called = _package(frame)
        elif places:
            break
    return f"{what} ({places[called]})" if places else what


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


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
    except Exception:  # noqa: BLE001  # its __str__, say, may raise anything
        return cause_of(error)
    finally:
        error.with_traceback(begin)


def message_of(error: BaseException) -> str:
    """The message of an exception; empty if it fails to give one."""
    try:
        return str(error)
    except BaseException as other:
        if is_ctrl_c(other):
            raise
        return ""


def shown(value: object) -> str:
    """An object of a plugin as a short text for messages; its type, if its ``repr`` fails."""
    try:
        text = repr(value)
    except BaseException as error:
        if is_ctrl_c(error):
            raise
        return f"an object of the type {type(value).__name__}"
    return single_line(text if len(text) <= _MOST else f"{text[:_MOST]}...")


def is_ctrl_c(error: BaseException) -> bool:
    """Whether a user interrupted the program: no statement ``raise KeyboardInterrupt`` did it."""
    while isinstance(error, KeyboardInterrupt):
        last = error.__traceback__
        while last is not None and last.tb_next is not None:
            last = last.tb_next
        if last is None or _is_ours(last.tb_frame):
            return True
        if last.tb_frame.f_code.co_code[last.tb_lasti] != _RAISE:
            return True
        if error.__context__ is None:  # else it may stand for the one before it
            return False
        error = error.__context__
    return False


def _is_ours(frame: FrameType) -> bool:
    """Whether a frame belongs to textreg or to the import system."""
    return _package(frame) in _OURS or frame.f_code.co_filename.startswith("<frozen")


@contextmanager
def blaming(
    who: Callable[[], str],
    doing: str,
    advice: Callable[[], str],
    *,
    own: bool = False,
    often: bool = False,
) -> Iterator[None]:
    """Turn what a part raises into a BrokenPluginError: ``who``, its fault, ``advice``.

    doing: what it was asked for, such as ``solve``. Errors for the user and Ctrl-C pass as they
    are. who, advice: called only when they are needed. own: it is a part of textreg, whose
    exhausted memory is nobody's fault. often: called in a loop, so only the least is done.
    """
    try:
        if own:
            yield
        else:
            with Inside() if often else contained():
                yield
    except BaseException as error:  # plugins may raise anything
        if _passes(error, own):
            raise
        cause = _cause(error, doing)
        does = "runs out of memory in" if isinstance(error, MemoryError) else "fails in"
        raise BrokenPluginError(f"{who()} {does} {cause}. {advice()}", cause) from error


def _passes(error: BaseException, own: bool) -> bool:
    """Whether an error stays as it is: it is for users, or about another part."""
    if not isinstance(error, Exception):
        ours = type(error).__module__.partition(".")[0] == "textreg"
        return ours or is_ctrl_c(error) or (own and not isinstance(error, SystemExit))
    if isinstance(error, (MemoryError, Warning)):
        return own or isinstance(error, (ConvergenceWarning, DataWarning, PluginWarning))
    if isinstance(error, BrokenPluginError):
        return type(error) is BrokenPluginError
    if isinstance(error, (RecordError, PluginError)) or not isinstance(error, TextregError):
        return False
    return bool(message_of(error)) and error.exit_code in (1, 2)


def _cause(error: BaseException, doing: str) -> str:
    if isinstance(error, (RecordError, PluginError)):
        return f"{doing}: {single_line(message_of(error)[:_MOST]).rstrip('.')}"
    cause = f"{doing}: {cause_of(error)}"
    if isinstance(error, MemoryError):
        cause += "; fewer texts or features (--min-df, --max-features) may do"
    elif "read-only" in cause or "read only" in cause:
        cause += "; what it is given is shared and must not be changed, so copy it first"
    return cause


class Seal:
    """Records for a part, by name: the same arrays, but read-only unless it is our ``own``.

    Read-only arrays stop NumPy, SciPy and Cython. Changes by C code, and arrays that are replaced,
    are found by :meth:`changed` from checksums, at about a second for a gigabyte.
    """

    def __init__(self, own: bool, /, **records: Any) -> None:
        self._own = own
        if not own:
            records = {name: sealed(record) for name, record in records.items()}
        self.records = records
        self._before = self._checksums()

    def changed(self) -> str:
        """The first field that was modified, such as ``problem.X.data``; empty if none was."""
        now = self._checksums()
        return next((key for key, was in self._before.items() if now.get(key) != was), "")

    def _checksums(self) -> dict[str, int]:
        known: dict[tuple[Any, ...], int] = {}
        if self._own:
            return {}
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
