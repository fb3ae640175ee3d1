"""``textreg explain`` of several models: the sentences of a text, with a column for each."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from textreg.cli.output import print_json, print_table
from textreg.errors import UsageError
from textreg.explain.removal_formats import FORMATS, is_selected, notes_of, title_of
from textreg.explain.removal_table import RemovalTable
from textreg.model.container import is_container
from textreg.model.model import Model
from textreg.model.storage import load_model
from textreg.reading.paths import exists
from textreg.terminal import json_line, printable, single_line


def split_sources(sources: Sequence[str]) -> tuple[list[str], str | None]:
    """Further models, and what is to be explained, if it is named."""
    models = [path for path in sources if exists(path) and is_container(Path(path))]
    others = [source for source in sources if source not in models]
    if len(others) > 1:
        raise UsageError(
            f"'{single_line(others[1])}' is one text, file or model too many: give several texts "
            "with --text, once for each."
        )
    return models, next(iter(others), None)


def load_by_name(paths: Sequence[str]) -> dict[str, Model]:
    """Models by the names of their files, without the ending where that is enough."""
    stems = [Path(path).stem for path in paths]
    models: dict[str, Model] = {}
    for path, stem in zip(paths, stems, strict=True):
        name = path if stems.count(stem) > 1 else stem
        if name in models:
            raise UsageError(f"the model {path} is named twice: leave one out.")
        models[name] = load_model(path)
    return models


def write_tables(
    tables: Iterable[RemovalTable], models: Sequence[str], *, form: str, as_json: bool
) -> None:
    """Print the tables. models: the files that are named."""
    if as_json:
        print_json({"models": list(models), "tables": [one.to_dict() for one in tables]})
        return
    if form == "jsonl":
        sys.stdout.writelines(json_line(one.to_dict()) + "\n" for one in tables)
        return
    if form in FORMATS:
        sys.stdout.writelines(FORMATS[form](tables))
        return
    for number, table in enumerate(tables):
        if number:
            click.echo()
        _print(table)


def _print(table: RemovalTable) -> None:
    click.echo(title_of(table))
    rows = [[*(single_line(one.model) for one in table.columns), ""]]
    rows.append([*(single_line(one.predicted) for one in table.columns), "(predicted)"])
    for row, sentence in enumerate(table.sentences):
        cells = [
            f"{'*' if is_selected(one, row) else ' '} {one.removals[row]:+.3f}"
            for one in table.columns
        ]
        rows.append([*cells, printable(sentence)])
    print_table(rows, indent="  ", right=[True] * len(table.columns) + [False])
    if any(one.selected is not None for one in table.columns):
        click.echo("* selected: a feature of the sentence has a weight")
    for note in notes_of(table):
        click.echo(note)
