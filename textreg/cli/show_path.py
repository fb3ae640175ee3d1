"""``textreg show --path`` and what goes with it: the regularization path of a model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from textreg.cli.output import check_target, print_json, print_table
from textreg.errors import UsageError
from textreg.explain import path_sentences
from textreg.model.model import Model
from textreg.model.path_table import PathTable, SentencePath
from textreg.model.regularization_path import SolutionPath
from textreg.terminal import visible

MAX_COLUMNS = 8
"""Columns of a printed table of coefficients."""


def show_path(
    model: Model, file: str, which: tuple[str, str] | None, plot: str | None, as_json: bool
) -> None:
    """Show the path of a model, or one table of it.

    which: an option, "coefficients", "errors" or "sentences", and its value.
    """
    path = model.path
    if path is None:
        raise UsageError(
            f"{file} has no regularization path: train with textreg train FILE --path."
        )
    table = None if which is None else _table(model, path, *which)
    if plot is not None:
        check_target(Path(plot), [file], "--plot")
        (path if table is None else table).plot(plot)
        click.echo(f"saved {plot}", err=True)
    if as_json:
        key = "path" if which is None else which[0]
        print_json({"model": file, key: (path if table is None else table).to_dict()})
    elif isinstance(table, SentencePath):
        _print_sentences(table)
    elif table is not None:
        click.echo(f"{table.quantity} along {table.parameter} (* is the model)")
        body = [
            [f"{value:.3g}{'*' * (at == table.chosen)}", *(f"{number:.3f}" for number in row)]
            for at, (value, row) in enumerate(zip(table.values, table.array, strict=True))
        ]
        _print([[table.parameter, *map(visible, table.names)], *body])
    else:
        _print_points(path)


def _table(model: Model, path: SolutionPath, option: str, value: str) -> PathTable:
    if option == "errors":
        return path.errors()
    if option == "coefficients":
        names = [name for name in value.split(",") if name]
        return path.coefficients(names or None, top=MAX_COLUMNS)
    try:
        with click.open_file(value, encoding="utf-8") as file:
            text = file.read()
    except OSError as error:
        raise UsageError(
            f"{value}: {error.strerror}: name a file with one document (--sentences FILE)."
        ) from None
    except UnicodeDecodeError:
        raise UsageError(f"{value} is not UTF-8: save the document as UTF-8.") from None
    return path_sentences(model, [text])


def _print_sentences(table: SentencePath) -> None:
    """Each sentence with the values of the parameter where it is selected."""
    click.echo(f"selected sentences along {table.parameter} (* is the model)")
    rows: list[list[str]] = [["", "SELECTED AT", "SENTENCE"]]
    for column, sentence in zip(table.selected.T.tolist(), table.sentences, strict=True):
        at = [number for number, is_selected in enumerate(column) if is_selected]
        rows.append(["*" * column[table.chosen], _runs(table, at) or "none", sentence])
    print_table(rows, right=[False] * 3)


def _runs(table: SentencePath, points: Sequence[int]) -> str:
    """Ranges of the parameter, such as ``0.7 to 0.08``."""
    runs: list[list[int]] = []
    for at in points:
        if runs and runs[-1][1] == at - 1:
            runs[-1][1] = at
        else:
            runs.append([at, at])
    shown = [(f"{table.values[one]:.3g}", f"{table.values[two]:.3g}") for one, two in runs]
    return ", ".join(one if one == two else f"{one} to {two}" for one, two in shown)


def _print_points(path: SolutionPath) -> None:
    names = list(path.points[0].metrics)
    rows: list[list[str]] = [["", path.parameter, "features", *names, "gap"]]
    for number, point in enumerate(path.points):
        value = point.params[path.parameter]
        shown = f"{value:,}" if isinstance(value, int) else f"{value:g}"
        gap = "none" if point.gap is None else f"{point.gap:.0e}"
        figures = [f"{point.metrics[name]:.3f}" for name in names]
        mark = "chosen" if number == path.chosen else ""
        rows.append([mark, shown, f"{point.nonzero:,}", *figures, gap])
    _print(rows)


def _print(rows: Sequence[Sequence[str]]) -> None:
    print_table(rows, right=[False] + [True] * (len(rows[0]) - 1))
