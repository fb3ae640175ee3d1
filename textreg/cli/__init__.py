"""The command line: one module for each command, imported when that command is used.

Nothing heavy is imported here, so ``textreg --version`` and ``textreg --help`` are fast.
"""

from __future__ import annotations

import errno
import os
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any, TextIO

import click

from textreg.cli.arguments import scan
from textreg.cli.shared import NamingGroup
from textreg.cli.streams import results_only
from textreg.errors import (
    ConvergenceWarning,
    DataWarning,
    TextregError,
)
from textreg.terminal import single_line

COMMANDS = {
    "train": "Train a model on labeled texts.",
    "predict": "Predict labels of texts with a model.",
    "evaluate": "Measure a model on labeled texts.",
    "compare": "Compare regularizers or models on the same documents.",
    "explain": "Show which words and sentences decide a prediction.",
    "report": "Write a report on a model, as one HTML page.",
    "show": "Show the contents of a model file.",
    "groups": "Build, show and save groups of features.",
    "plugins": "List, check or create plugins.",
    "demo": "Write a small corpus of reviews to try textreg on.",
}
"""The commands, which are modules of this package, and their help, which needs no import."""


class _Group(NamingGroup):
    """Imports only the command that is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"textreg.cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _block(ctx: click.Context, option: click.Parameter, names: tuple[str, ...]) -> None:
    if names and not ctx.resilient_parsing:
        from textreg.plugins import registry

        registry.block(names)


def _add(ctx: click.Context, option: click.Parameter, files: tuple[str, ...]) -> None:
    if files and not ctx.resilient_parsing:
        from textreg.plugins import registry

        for file in files:
            registry.name_file(file)


@click.group(cls=_Group, invoke_without_command=True, context_settings={"max_content_width": 100})
@click.version_option(package_name="textreg", prog_name="textreg")
@click.option(
    "--plugin",
    metavar="FILE",
    multiple=True,
    expose_value=False,
    callback=_add,
    help="Run this Python file and use its plugins. May be repeated, in any position.",
)
@click.option(
    "--no-plugin",
    metavar="NAME",
    multiple=True,
    expose_value=False,
    is_eager=True,  # before --plugin, which may bring another of that name
    callback=_block,
    help="Do not import this plugin. May be repeated, in any position.",
)
@click.option(
    "--debug",
    is_flag=True,
    expose_value=False,
    help="Show the traceback of an error. In any position.",
)
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Text classification with regularizers that know the structure of text.

    Try it: textreg demo
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main(args: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    0 means success, 1 broken data or files, 2 wrong usage, 130 an interrupt. An error is one
    paragraph on stderr; with ``--debug`` it has a traceback.
    """
    with results_only():
        return _run(list(sys.argv[1:] if args is None else args))


def _run(words: list[str]) -> int:
    debug = "--debug" in words
    words = [word for word in words if word != "--debug"]
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", ConvergenceWarning)
            warnings.simplefilter("always", DataWarning)
            warnings.showwarning = _Shown()
            line = scan(words)
            code = cli.main(line.arguments, prog_name="textreg", standalone_mode=False, obj=line)
        sys.stdout.flush()
    except (click.Abort, KeyboardInterrupt):
        if debug:
            raise
        click.echo("Interrupted. No file was left incomplete.", err=True)
        return 130
    except (click.ClickException, TextregError, OSError, MemoryError) as error:
        if debug:
            raise
        _discard(sys.stdout)
        if getattr(error, "errno", None) == errno.EPIPE:
            return 1  # the reader has closed the pipe, as "| head" does: not an error
        message, code = _explain(error)
        click.echo(f"Error: {single_line(message)}", err=True)
    return code if isinstance(code, int) else 0


def _explain(error: Exception) -> tuple[str, int]:
    """An error as one paragraph, and its exit code."""
    if isinstance(error, TextregError):
        return str(error), error.exit_code
    if isinstance(error, click.ClickException):
        message = " ".join(error.format_message().split())
        context = getattr(error, "ctx", None)
        return f"{message} See: {context.command_path} --help" if context else message, 2
    if isinstance(error, MemoryError):
        return ("out of memory. Use fewer features: try --min-df 2 or --max-features 100000."), 1
    assert isinstance(error, OSError)
    where = f"{error.filename}: " if error.filename else ""
    advice = "Check the path and its permissions, or write somewhere else."
    if error.errno == errno.ENOSPC:
        advice = "Free some space, or write somewhere else."
    return f"{where}{error.strerror or error}. {advice}", 1


def _discard(stream: TextIO) -> None:
    """Flush a stream. If it cannot be flushed, keep Python from failing once more at exit."""
    try:
        stream.flush()
    except OSError:
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


class _Shown:
    """Shows each warning once on stderr: every split may give the same one."""

    def __init__(self) -> None:
        self._before: set[str] = set()

    def __call__(self, message: Warning | str, *_: Any, **__: Any) -> None:
        if str(message) not in self._before:
            self._before.add(str(message))
            click.echo(f"Warning: {single_line(str(message))}", err=True)
