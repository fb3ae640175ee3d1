"""The options that say how files are read, and what is said of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from textreg.records import Corpus

F = TypeVar("F", bound=Callable[..., Any])

_TEXT = click.option("--text-col", metavar="NAME", help="Column of the texts.  [default: guessed]")
_LABEL = click.option(
    "--label-col", metavar="NAME", help="Column of the labels.  [default: guessed]"
)
_ENCODING = click.option(
    "--encoding", metavar="NAME", help="Encoding of the files.  [default: UTF-8, or by their marks]"
)
_ON_ERROR = click.option(
    "--on-error",
    type=click.Choice(["stop", "skip"]),
    default="stop",
    show_default=True,
    help="What a row that cannot be used does.",
)


def reading(*, labels: bool) -> Callable[[F], F]:
    """Options ``text_col``, ``encoding`` and ``on_error``, and with ``labels`` ``label_col``."""

    def decorate(command: F) -> F:
        for option in (_ON_ERROR, _ENCODING, *([_LABEL] if labels else []), _TEXT):
            command = option(command)
        return command

    return decorate


def describe(files: Sequence[str], corpus: Corpus) -> None:
    """Say what was read from where, with the guesses."""
    name = files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1} more"
    line = f"{name}: {len(corpus):,} documents"
    if corpus.columns:
        line += "; " + ", ".join(f"{role} = {what}" for role, what in corpus.columns.items())
    if corpus.skipped:
        line += f"; {corpus.skipped:,} rows skipped"
    click.echo(line)
