"""How a command ends that did not succeed: one paragraph on stderr, and an exit code."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from contextlib import suppress
from typing import Any, TextIO

import click

from textreg.cli.arguments import CommandLine
from textreg.errors import TextregError
from textreg.terminal import single_line

FAULT = 70
"""The exit code for a fault of textreg; EX_SOFTWARE of sysexits.h."""

INTERRUPTED, NOBODY_READS = 130, 141
"""What a shell sees after SIGINT and SIGPIPE: 128 + the number of the signal."""

_FITTING = ("train", "compare", "groups", "report")
"""Commands whose memory is that of features."""


def tell(error: BaseException, line: CommandLine) -> int:
    """Tell of an error on stderr, and return the exit code."""
    if sys.stdout is not None:
        _discard(sys.stdout)
    if isinstance(error, OSError) and error.errno == errno.EPIPE:
        return NOBODY_READS  # as "| head" does: not an error
    message, code = _explain(error, line)
    with suppress(OSError):  # nobody can be told
        if line.debug:
            click.echo("".join(traceback.format_exception(error)), err=True, nl=False)
        click.echo(single_line(message), err=True)
    if sys.stderr is not None:
        _discard(sys.stderr)
    return code


def _explain(error: BaseException, line: CommandLine) -> tuple[str, int]:
    """An error as one paragraph, and its exit code."""
    if isinstance(error, (click.Abort, KeyboardInterrupt)):
        calls = sys.modules.get("textreg.plugins.calls")
        place = calls.interrupted() if calls is not None else ""
        where = f" in {place}" if place else ""
        return f"Interrupted{where}. No file was left incomplete.", INTERRUPTED
    if isinstance(error, TextregError):
        return f"Error: {error}", error.exit_code
    if isinstance(error, click.ClickException):
        return f"Error: {_usage(error, line)}", 2
    if isinstance(error, MemoryError):
        return f"Error: out of memory. {_less_memory(line.command)}", 1
    if isinstance(error, OSError) and error.errno is not None:
        return f"Error: {_system(error)}", 1
    return f"Error: {_fault(error)}", FAULT


def _usage(error: click.ClickException, line: CommandLine) -> str:
    message = " ".join(error.format_message().split())
    name = getattr(error, "option_name", None)
    if isinstance(error, click.NoSuchOption) and name in ("--plugin", "--no-plugin"):
        value = "FILE" if name == "--plugin" else "NAME"
        message = (
            f"No such option here: {name}. Put it before the command: textreg {name} {value} "
            f"{line.command} ... An argument that begins with - goes after --."
        )
    context = getattr(error, "ctx", None)
    return f"{message} See: {context.command_path} --help" if context else message


def _less_memory(command: str) -> str:
    if command in _FITTING:
        return "Use fewer features: try --min-df 2 or --max-features 100000."
    return "Close other programs, give fewer or shorter texts, or use a computer with more."


def _system(error: OSError) -> str:
    """What the operating system refused."""
    where = f"{error.filename}: " if error.filename else ""
    advice = "Check the path and its permissions, or write somewhere else."
    if error.errno == errno.ENOSPC:
        advice = "Free some space, or write somewhere else."
    elif error.errno == errno.EBADF:
        advice = "Standard input or output is closed: leave out <&- or >&-."
    return f"{where}{error.strerror or error}. {advice}"


def _fault(error: BaseException) -> str:
    import platform
    from importlib.metadata import version

    what = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(".: ")
    python = f"Python {platform.python_version()}, {platform.platform(terse=True)}"
    return (
        f"{what}. This is a fault of textreg, and not yours. Please report it with the command, "
        "what it prints with --debug (which shows the traceback), and these versions: textreg "
        f"{version('textreg')}, {python}."
    )


def _discard(stream: TextIO) -> None:
    """Flush a stream. If it cannot be flushed, keep Python from failing once more at exit."""
    try:
        stream.flush()
    except (OSError, ValueError):
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


class ShownOnce:
    """Shows each warning once on stderr: every split may give the same one."""

    def __init__(self) -> None:
        self._before: set[str] = set()

    def __call__(self, message: Warning | str, *_: Any, **__: Any) -> None:
        if str(message) not in self._before:
            self._before.add(str(message))
            with suppress(OSError):
                click.echo(f"Warning: {single_line(str(message))}", err=True)
