"""The page commands.md: every command and its options, from their declarations in textreg.cli."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

import click

from textreg.cli import cli

HEAD = """% Written by docs/reference.py from the declarations in the code: `make reference`.

# Commands

The output of `textreg COMMAND --help`. The options of parts, such as `--reg-l1`, are on the page
[Parameters](reference.md).
"""
ENDS = """## Texts and files from variables

A word that begins with `-` is an option, unless it stands after `--`. So write `--` before anything
that comes from a variable:

```sh
textreg explain demo/model.textreg -- "$TEXT"
```

An option may be given once, unless its help says that it may be repeated. Options that choose
which code runs (`--plugin`, `--no-plugin`) stand before the command.

## Completion in the shell

Run the line for your shell and open a new one. Tab then completes commands, options, names of
regularizers and other parts, choices and files:

```sh
echo 'eval "$(_TEXTREG_COMPLETE=bash_source textreg)"' >> ~/.bashrc  # bash 4.4 or newer
echo 'eval "$(_TEXTREG_COMPLETE=zsh_source textreg)"' >> ~/.zshrc
_TEXTREG_COMPLETE=fish_source textreg > ~/.config/fish/completions/textreg.fish
```

After `--reg group`, Tab offers the options of that regularizer. It does not run plugin files.

## Exit codes

| code | meaning |
|---|---|
| 0 | success |
| 1 | broken data, model or plugin; a full disk, a closed output; a finding of `check --fail-on` |
| 2 | wrong usage: an option, a value, or the name of a plugin |
| 3 | `predict`: some rows could not be read, and have an empty answer |
| 70 | a fault of textreg; the message says how to report it |
| 130 | ended by Ctrl-C (SIGINT) |
| 129, 143 | ended by SIGHUP, SIGTERM |
| 141 | ended by SIGPIPE: nobody reads the output any more, as after `head -1` |

The last four are what a shell shows: the process dies by the signal, so loops in a shell end with
Ctrl-C. However a command ends, each of its files is either complete or as it was before. After
SIGKILL or a loss of power, a file `.textreg-*.tmp`, or a folder `.textreg-new-*` of `plugins new`,
may be left; remove it.

The first Ctrl-C during a training is acknowledged at once: the current fit ends early, and the best
so far becomes the model. The second one ends the command, even in the code of a plugin or in a long
computation in C (unless that holds the interpreter lock; then use SIGQUIT, Ctrl-\\). The third one
ends it even if a plugin catches the second. In `compare`, `report` or `predict`, which have nothing
to keep, the first one ends the command. In Python programs, each Ctrl-C after the first raises
KeyboardInterrupt. Fits on a Dask cluster end by themselves; the cluster stays available.
"""


def page() -> str:
    """The whole page."""
    sections = ["\n".join(_section(command, path)) for path, command in _walk(cli, "textreg")]
    return "\n".join([HEAD, *sections, ENDS])


def _walk(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    """A command and its subcommands, with their names."""
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from _walk(below, f"{path} {name}")


def _section(command: click.Command, path: str) -> Iterator[str]:
    context = click.Context(command)
    yield f"## {path}"
    yield ""
    usage = command.collect_usage_pieces(context)
    if isinstance(command, click.Group):  # which versions of click write differently
        usage = ["[OPTIONS]", "[COMMAND]", "..."]
    yield f"`{' '.join([path, *usage])}`"
    yield ""
    yield _prose(inspect.cleandoc(command.help or ""))
    yield ""
    # Options of parts are not the command's own: they depend on the command line.
    options = [param for param in command.params if isinstance(param, click.Option)]
    if options:
        yield from ["| option | meaning |", "|---|---|"]
    for option in options:
        names = ", ".join(
            f"`{flag}{_value(option)}`" for flag in (*option.opts, *option.secondary_opts)
        )
        yield f"| {names} | {_meaning(option)} |"
    if options:
        yield ""


def _value(option: click.Option) -> str:
    """The placeholder of the value after the flag."""
    if option.is_flag or isinstance(option.type, click.Choice):  # choices are listed beside it
        return ""
    names = {"integer": "N", "integer range": "N", "float": "X", "text": "TEXT"}
    return f" {option.metavar or names[option.type.name]}"


def _meaning(option: click.Option) -> str:
    text, given, default = " ".join((option.help or "").split()).partition("[default: ")
    parts = [_prose(text.strip())]
    if isinstance(option.type, click.Choice):
        parts.append(f"One of {', '.join(f'`{choice}`' for choice in option.type.choices)}.")
    if given or option.show_default is True:
        parts.append(f"Default: {default.rstrip(']') or option.default}.")
    return " ".join(filter(None, parts)).replace("|", "\\|")


def _prose(text: str) -> str:
    """Terminal text as Markdown: flags as code, special characters escaped."""
    text = re.sub(r"([*_<])", r"\\\1", text)
    return re.sub(r"(?<![\w-])(--?[a-z][\w-]*)", r"`\1`", text)
