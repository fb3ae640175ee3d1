"""Code of others, as of plugins: its errors get its name, and what it changes is put back.

Whatever it raises becomes a :class:`~textreg.errors.BrokenPluginError`. Errors that are meant for
users, and Ctrl-C, pass. It is not sandboxed: this contains slips, not attacks.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType
from typing import Any
from weakref import WeakKeyDictionary

from textreg.errors import (
    BrokenPluginError,
    ConvergenceWarning,
    DataWarning,
    PluginError,
    PluginWarning,
    RecordError,
    TextregError,
    shortage,
)
from textreg.terminal import single_line

# Packages that never belong to a plugin.
_OURS = ("textreg", "textreg_testing", "importlib", "pluggy")

# Characters of a plugin's own message that are shown.
_MOST = 300

_SIGNALS = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]


class _Depth(threading.local):
    """Calls of plugins that this thread is in."""

    calls = 0


_depth = _Depth()


def is_inside() -> bool:
    """Whether this thread is in the code of a plugin."""
    return _depth.calls > 0


@contextmanager
def inside() -> Iterator[None]:
    """The code of a plugin that a loop calls, after which streams and handlers are put back."""
    streams, handlers = (sys.stdout, sys.stderr), {}
    if threading.current_thread() is threading.main_thread():  # others cannot change them
        handlers = {it: signal.getsignal(it) for it in _SIGNALS}
    _depth.calls += 1
    try:
        yield
    finally:
        _depth.calls -= 1
        sys.stdout, sys.stderr = streams
        for number, handler in handlers.items():
            # None: it was not set by Python, which cannot set it again.
            if handler is not None and signal.getsignal(number) is not handler:
                signal.signal(number, handler)


# Threads that outlive the call that started them, and what tells whose they are.
_left: WeakKeyDictionary[threading.Thread, Callable[[], str]] = WeakKeyDictionary()


def waited_for() -> list[str]:
    """Whose threads the process waits for before it ends."""
    running = [it for it in threading.enumerate() if not it.daemon and it in _left]
    return sorted({_left[thread]() for thread in running})


@contextmanager
def contained(who: Callable[[], str] = lambda: "a plugin") -> Iterator[None]:
    """Code of a plugin, after which the state of the process that matters is as it was before.

    That is the working folder, for relative paths of results; the streams that results and messages
    are written to; what NumPy does about overflows; and in the main thread, as others share them,
    the filters of warnings and the handlers of signals.
    """
    numpy: Any = sys.modules.get("numpy")
    folder, threads = _folder(), {*threading.enumerate()}
    with ExitStack() as stack:
        stack.enter_context(inside())
        if numpy is not None:
            stack.enter_context(numpy.errstate())
        if threading.current_thread() is threading.main_thread():
            stack.enter_context(warnings.catch_warnings())
        try:
            yield
        finally:
            if folder is not None and _folder() != folder:
                os.chdir(folder)
            _left.update(dict.fromkeys({*threading.enumerate()} - threads, who))


def _folder() -> str | None:
    """The working folder; None if it was removed."""
    try:
        return os.getcwd()
    except OSError:
        return None


def raised_by(module: str, error: BaseException) -> bool:
    """Whether a package, that of a module, raised an error, or what it called but for textreg."""
    package = module.partition(".")[0]
    called = (_package(frame) for frame, _ in traceback.walk_tb(error.__traceback__))
    return [it for it in called if it in (package, *_OURS)][-1:] == [package]


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


def _is_ours(frame: FrameType) -> bool:
    """Whether a frame belongs to textreg or to the import system."""
    return _package(frame) in _OURS or frame.f_code.co_filename.startswith("<frozen")


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
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001  # a stranger's code may raise anything
        return ""


def shown(value: object) -> str:
    """An object of a plugin as a short text for messages; its type, if its ``repr`` fails."""
    try:
        text = repr(value)
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001  # a stranger's code may raise anything
        return f"an object of the type {type(value).__name__}"
    return single_line(text if len(text) <= _MOST else f"{text[:_MOST]}...")


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
            with inside() if often else contained(who):
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
        return isinstance(error, KeyboardInterrupt) or (own and not isinstance(error, SystemExit))
    if isinstance(error, Warning) or shortage(error):
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
