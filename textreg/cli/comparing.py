"""What ``textreg compare`` and ``textreg learn-curve`` have in common: candidates and results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import click

from textreg.cli.options import PartsCommand
from textreg.cli.output import print_table
from textreg.comparing.candidates import Candidate
from textreg.comparing.compare import TEST_SHARE
from textreg.errors import UsageError
from textreg.files import write_atomically
from textreg.model.storage import load_model
from textreg.tasks import Classification, Multilabel
from textreg.terminal import json_line

METRICS = tuple(dict.fromkeys((*Classification.metrics, *Multilabel.metrics)))


class ComparingCommand(PartsCommand):
    """A command that trains candidates, by default on words alone."""

    defaults = {"tokenizer": "textreg:words"}


TEST = click.option(
    "--test",
    metavar="FILE",
    multiple=True,
    help="Test documents, one file for each corpus.  [default: a part is held out]",
)
SHARE = click.option(
    "--test-share",
    type=float,
    metavar="FRACTION",
    default=TEST_SHARE,
    show_default=True,
    help="Fraction of the documents to test on, without --test.",
)
FORM = click.option(
    "--format",
    "form",
    type=click.Choice(["text", "markdown", "csv", "json"]),
    default="text",
    show_default=True,
    help="Format of the result.",
)
AS_JSON = click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
OUTPUT = click.option("-o", "--output", metavar="FILE", help="Write the result to a file.")


class Result(Protocol):
    """What both commands print."""

    def tables(self) -> list[tuple[str, list[list[str]]]]:
        """Titles and rows."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values that JSON can hold."""

    def to_csv(self) -> str:
        """Rows of text."""

    def to_markdown(self) -> str:
        """Tables."""


def write_result(result: Result, form: str, output: str | None, notes: Iterable[str]) -> None:
    """Print the result in a format, or write it to a file. notes: told below the tables."""
    if output is not None:
        write_atomically(Path(output), _document(result, form).encode())
    elif form != "text":
        click.echo(_document(result, form), nl=False)
    else:
        for title, rows in result.tables():
            click.echo(title)
            print_table(rows, indent="  ", right=[False] + [True] * (len(rows[0]) - 1))
            click.echo()
        for note in notes:
            click.echo(f"{note}.")


def _document(result: Result, form: str) -> str:
    """The result in one of the formats but text, which in a file is Markdown."""
    if form == "json":
        return json_line(result.to_dict()) + "\n"
    return result.to_csv() if form == "csv" else result.to_markdown()


def check_one_each(corpora: Sequence[str], files: Mapping[str, Sequence[str]]) -> None:
    """UsageError for an option with files, but not with one for each corpus."""
    for option, given in files.items():
        if given and len(given) != len(corpora):
            raise UsageError(
                f"{len(corpora)} corpora but {len(given)} times {option}: give one file for each, "
                "in the same order."
            )


def candidates_of(regs: Sequence[str], models: Sequence[str]) -> dict[str, Candidate]:
    """The candidates by name; UsageError if two have the same name.

    ``NAME: ridge reg-l2=1`` is named as it says, and ``ridge reg-l2=1`` by its options.
    """
    candidates: dict[str, Candidate] = {}
    for text in regs:
        for one in [text] if " " in text.strip() else text.split(","):
            name, named, options = " ".join(one.split()).partition(": ")
            if "=" in name or not named:
                name = options = f"{name}{named}{options}"
            if not name:
                raise UsageError(
                    f"--reg '{text}' has an empty name: name regularizers, such as elastic."
                )
            if name in candidates:
                raise UsageError(
                    f"--reg names '{name}' twice: leave one out, or name it otherwise."
                )
            candidates[name] = options
    stems = [Path(path).stem for path in models]
    for path, stem in zip(models, stems, strict=True):
        name = path if stems.count(stem) > 1 or stem in candidates else stem
        if name in candidates:
            raise UsageError(f"the model {path} is named twice: leave one out.")
        candidates[name] = load_model(path)
    return candidates
