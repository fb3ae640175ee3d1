"""``textreg show --path`` and what goes with it: the regularization path of a model."""

from __future__ import annotations

from collections.abc import Sequence

import click

from textreg.cli.output import print_json, print_table
from textreg.errors import UsageError
from textreg.explain import path_sentences
from textreg.model.model import Model
from textreg.model.path_table import PathTable, SentencePath
from textreg.model.regularization_path import SolutionPath
from textreg.terminal import visible

MAX_COLUMNS = 8
"""Columns of a printed table of coefficients."""


PATH_TABLES = (
    click.option(
        "--coefficients",
        metavar="NAMES",
        help="The weights of these features along the path, with commas between them; '' for the "
        "strongest.",
    ),
    click.option(
        "--errors", is_flag=True, help="The training error and the held-out error along the path."
    ),
    click.option(
        "--sentences",
        metavar="FILE",
        help="Where along the path each sentence of the one document in FILE is selected; - for "
        "standard input.",
    ),
)
"""Options that ask for one table of a path."""


def path_or_table(
    model: Model, file: str, coefficients: str | None, errors: bool, sentences: str | None
) -> tuple[str, SolutionPath | PathTable]:
    """The path of a model, or the one table of it that is asked for, and what that is called.

    Raises UsageError for several, and where the model has no path.
    """
    given = {
        "--coefficients": coefficients is not None,
        "--errors": errors,
        "--sentences": sentences is not None,
    }
    asked = [option for option, is_given in given.items() if is_given]
    if len(asked) > 1:
        raise UsageError(f"{asked[0]} and {asked[1]} are two tables: ask for one at a time.")
    if model.path is None:
        raise UsageError(
            f"{file} has no regularization path: train with textreg train FILE --path."
        )
    if errors:
        return "errors", model.path.errors()
    if coefficients is not None:
        names = [name for name in coefficients.split(",") if name]
        return "coefficients", model.path.coefficients(names or None, top=MAX_COLUMNS)
    if sentences is not None:
        return "sentences", path_sentences(model, [_document(sentences)])
    return "path", model.path


def show_path(name: str, shown: SolutionPath | PathTable, file: str, as_json: bool) -> None:
    """Print a path, or a table of one, called ``name`` in JSON."""
    if as_json:
        print_json({"model": file, name: shown.to_dict()})
    elif isinstance(shown, SentencePath):
        _print_sentences(shown)
    elif isinstance(shown, PathTable):
        click.echo(f"{shown.quantity} along {shown.parameter} (* is the model)")
        body = [
            [f"{value:.3g}{'*' * (at == shown.chosen)}", *(f"{number:.3f}" for number in row)]
            for at, (value, row) in enumerate(zip(shown.values, shown.array, strict=True))
        ]
        _print([[shown.parameter, *map(visible, shown.names)], *body])
    else:
        _print_points(shown)


def _document(file: str) -> str:
    """The one document in a file, or of standard input."""
    try:
        with click.open_file(file, encoding="utf-8") as opened:
            text: str = opened.read()
            return text
    except OSError as error:
        raise UsageError(
            f"{file}: {error.strerror}: name a file with one document (--sentences FILE)."
        ) from None
    except UnicodeDecodeError:
        raise UsageError(f"{file} is not UTF-8: save the document as UTF-8.") from None


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
