"""The options that say how files are read; reading them so, and what is said of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import click

from textreg.cli.shared import F, gathered
from textreg.reading.corpus import read_corpus, stream_documents
from textreg.reading.formats import titles
from textreg.records import Corpus

_COLUMNS = {
    "text": "Column of the texts.  [default: guessed]",
    "label": "Column of the labels.  [default: guessed]",
    "weight": "Column of the documents' weights.",
    "group": "Column of the documents' groups, such as authors; a group is held out as a whole.",
    "time": "Column of the documents' times; the latest are held out.",
}
TRAINING = ("weight", "group", "time")
"""The columns that only a training makes use of."""


class Reading(NamedTuple):
    """How the files of a command are read, as its options say; columns are None by default.

    Where ``tell`` asks for it, a line is printed on what was read.
    """

    text_col: str | None
    label_col: str | None
    weight_col: str | None
    group_col: str | None
    time_col: str | None
    encoding: str | None
    on_error: str

    def training(self, files: Sequence[str], *, tell: bool = False) -> Corpus:
        """Documents to train on, with all that the columns say of them."""
        return _read(files, tell, **self._asdict())

    def labeled(self, files: Sequence[str], *, tell: bool = False) -> Corpus:
        """Documents with labels."""
        how = self._replace(weight_col=None, group_col=None, time_col=None)
        return how.training(files, tell=tell)

    def unlabeled(self, files: Sequence[str], *, tell: bool = False) -> Corpus:
        """Documents whose labels have no part."""
        return _read(
            files,
            tell,
            text_col=self.text_col,
            encoding=self.encoding,
            on_error=self.on_error,
            labeled=False,
        )

    def stream(self, files: Sequence[str]) -> Iterator[Corpus]:
        """The same in constant memory."""
        return stream_documents(
            files, text_col=self.text_col, encoding=self.encoding, on_error=self.on_error
        )


def reading(*columns: str) -> Callable[[F], F]:
    """Give a command the options of reading, with those of more columns than the texts'.

    It takes them together, as ``how``, a :class:`Reading`.
    """
    options = [
        click.option(f"--{name}-col", metavar="NAME", help=_COLUMNS[name])
        for name in ("text", *columns)
    ]
    options += [
        click.option(
            "--encoding",
            metavar="NAME",
            help="Encoding of the files.  [default: UTF-8, or by their marks]",
        ),
        click.option(
            "--on-error",
            type=click.Choice(["stop", "skip"]),
            default="stop",
            show_default=True,
            help="What a row that cannot be used does.",
        ),
    ]

    def decorate(command: F) -> F:
        command.__doc__ = (command.__doc__ or "").replace("{formats}", titles())
        return gathered(Reading, "how", *options)(command)

    return decorate


def _read(files: Sequence[str], tell: bool, **how: Any) -> Corpus:
    corpus = read_corpus(files, **how)
    if tell:
        describe(files, corpus)
    return corpus


def describe(files: Sequence[str], corpus: Corpus) -> None:
    """Say what was read from where, with the guesses."""
    name = files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1} more"
    line = f"{name}: {len(corpus):,} documents"
    if corpus.columns:
        line += "; " + ", ".join(f"{role} = {what}" for role, what in corpus.columns.items())
    if corpus.skipped:
        line += f"; {corpus.skipped:,} rows skipped"
    click.echo(line)
