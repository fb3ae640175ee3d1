"""The command line: one module for each command, imported when that command is used.

Nothing heavy is imported here, so ``textreg --version`` and ``textreg --help`` are fast.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from importlib import import_module
from io import TextIOWrapper
from typing import TYPE_CHECKING

import click

from textreg.cli import shared
from textreg.errors import ConvergenceWarning, DataWarning, TextregError
from textreg.isolation import waited_for
from textreg.plugins.distributions import own_version

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

# The variable that names plugin files, separated as the folders in PATH are.
PLUGIN_FILES = "TEXTREG_PLUGIN"

# The commands, which are modules of this package, and their help, which needs no import.
COMMANDS = {
    "train": "Train a model on labeled texts.",
    "update": "Add new documents to a model, in less time than training takes.",
    "check": "Look for faults in labeled texts before training.",
    "predict": "Predict labels of texts with a model.",
    "evaluate": "Measure a model on labeled texts.",
    "explain": "Show which words and sentences decide a prediction.",
    "show": "Show the contents of a model file.",
    "groups": "Build, show and save groups of features.",
    "plugins": "List, check or create plugins.",
    "demo": "Write a small corpus of reviews to try textreg on.",
}

# Commands in the module of another one, where they have their own names.
_BESIDE = {
    **dict.fromkeys(("check", "demo", "groups"), "corpora"),
    "evaluate": "predict",
    "update": "train",
}


class _Group(shared.OpenGroup):
    """Imports only the command that is used."""

    def own_help(self, ctx: click.Context) -> dict[str, str]:
        return COMMANDS

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return super().get_command(ctx, cmd_name)
        module = import_module(f"textreg.cli.{_BESIDE.get(cmd_name, cmd_name)}")
        command: click.Command = getattr(module, cmd_name if cmd_name in _BESIDE else "command")
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Options and commands, none of which is imported for it."""
        from click.shell_completion import CompletionItem

        commands = self.help_by_name(ctx).items()
        items = [
            CompletionItem(name, help=line)
            for name, line in commands
            if name.startswith(incomplete)
        ]
        return [*items, *click.Command.shell_complete(self, ctx, incomplete)]


def _block(ctx: click.Context, option: click.Parameter, names: tuple[str, ...]) -> None:
    if names and not ctx.resilient_parsing:
        from textreg.plugins import registry

        registry.block(names)


def _add(ctx: click.Context, option: click.Parameter, files: tuple[str, ...]) -> None:
    from_variable = filter(None, os.environ.get(PLUGIN_FILES, "").split(os.pathsep))
    if (named := [*from_variable, *files]) and not ctx.resilient_parsing:
        from textreg.plugins import registry

        for file in named:
            registry.name_file(file)


@click.group(
    cls=_Group,
    invoke_without_command=True,
    context_settings={"max_content_width": 100},
    subcommand_metavar="COMMAND [ARGS]...",
    epilog="The options above come before the command. After -- every word is an argument, and no "
    'option: textreg explain MODEL -- "$TEXT". Exit codes: 0 success, 1 broken data or files, 2 '
    "wrong usage, 3 some rows could not be read, 70 a fault of textreg, 128 + n ended by signal n.",
)
@click.version_option(own_version(), prog_name="textreg")
@shared.option(
    "--plugin",
    "FILE",
    "Run this Python file and use its plugins. May be repeated. The variable TEXTREG_PLUGIN "
    "names further files.",
    multiple=True,
    expose_value=False,
    callback=_add,
)
@shared.repeated(
    "--no-plugin",
    "NAME",
    "Do not import this plugin.",
    expose_value=False,
    is_eager=True,  # before --plugin, which may bring another of that name
    callback=_block,
)
@click.option(
    "-v",
    "--verbose",
    count=True,
    expose_value=False,
    help="Print the progress of a training to standard error, with the reason of each choice; -vv "
    "adds every fit and every row that was left out. Also after the command.",
)
@shared.switch(
    "--debug", "Show the traceback of an error. Also after the command.", expose_value=False
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

    An error is one paragraph on stderr; ``--debug`` shows its traceback.

    Parameters
    ----------
    args : sequence of str, optional
        The words after ``textreg``; by default those of this process.

    Returns
    -------
    int
        0 means success, 1 broken data or files, 2 wrong usage, 3 that some rows could not be read,
        70 a fault of textreg, 128 + n that signal n should end the process: 130 for Ctrl-C, 141
        where nobody reads the output any more.
    """
    line = shared.scan(sys.argv[1:] if args is None else args)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    with shared.results_only(to_the_end=args is None):
        try:
            code = _run(line)
        except BaseException as error:  # noqa: BLE001  # the outermost boundary
            code = shared.tell(error, line, COMMANDS)
        if args is None and (names := waited_for()):
            threads = "; ".join(names)
            with suppress(OSError):  # nobody can be told
                click.echo(f"Waiting for threads of {threads} to end. Ctrl-C ends them.", err=True)
        return code


def _run(line: shared.CommandLine) -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("always", ConvergenceWarning)
        warnings.simplefilter("always", DataWarning)
        warnings.showwarning = shared.ShownOnce()
        with shared.logging_to_stderr(line.verbosity) if line.verbosity else nullcontext():
            if "_TEXTREG_COMPLETE" in os.environ:  # a shell asks for completions
                with suppress(SystemExit, TextregError):  # of which a prompt shows none
                    cli.main(line.words, prog_name="textreg")
                return 0
            # As cli.main, which would take closed pipes and EOFErrors for exits of its own.
            try:
                with cli.make_context("textreg", [*line.words], obj=line) as context:
                    code = cli.invoke(context)
            except click.exceptions.Exit as done:
                code = done.exit_code
    if sys.stdout is not None:
        sys.stdout.flush()
    return code if isinstance(code, int) else 0
