"""Options that name the columns a document consists of, where these are several."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple, cast

import click

from textreg.cli.shared import F, gathered


class _FieldOptions(NamedTuple):
    """The columns that a document consists of, where these are several."""

    text_col: tuple[str, ...]
    category_col: tuple[str, ...]
    number_col: tuple[str, ...]
    field: tuple[str, ...]

    def chosen(self) -> dict[str, Any]:
        """What they say of :class:`textreg.cli.inputs.Reading`: its column of texts, or fields."""
        from textreg.training.fields import parse_fields

        fields = parse_fields(*self)
        text_col = self.text_col[0] if self.text_col and not fields else None
        return {"text_col": text_col, "fields": fields}


_OPTIONS = [
    click.option(
        "--text-col",
        metavar="NAME",
        multiple=True,
        help="Column of the texts. May be repeated: each is then a field with features of its own."
        "  [default: guessed]",
    ),
    click.option(
        "--category-col",
        metavar="NAME",
        multiple=True,
        help="Column of categories, each a feature. May be repeated.",
    ),
    click.option(
        "--number-col",
        metavar="NAME",
        multiple=True,
        help="Column of numbers, a feature. May be repeated.",
    ),
    click.option(
        "--field",
        metavar="COLUMN:SETTING=VALUE",
        multiple=True,
        help="Setting of one column of texts, such as subject:tokenizer=chars. May be repeated.",
    ),
]


def of_fields(command: F) -> F:
    """A command that takes ``how`` alone, given the columns of fields as well."""

    @functools.wraps(command)
    def called(*args: Any, how: Any, columns: _FieldOptions, **given: Any) -> Any:
        return command(*args, how=how._replace(**columns.chosen()), **given)

    return cast(F, called)


with_fields = gathered(_FieldOptions, "columns", *_OPTIONS)
"""Give a command these options; it takes them together, as ``columns``."""
