"""The options that several commands have alike."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

import click

F = TypeVar("F", bound=Callable[..., Any])

as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document only.")
quiet = click.option("--quiet", is_flag=True, help="Print warnings and errors only.")
unlabeled_of_training = click.option(
    "--unlabeled",
    metavar="FILE",
    multiple=True,
    help="With --train, the documents without labels that training had; may be repeated.",
)


def options(*decorators: Callable[[F], F]) -> Callable[[F], F]:
    """One decorator for several, the first one outermost."""

    def decorate(command: F) -> F:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return decorate


def gathered(record: type[Any], name: str, *decorators: Callable[[F], F]) -> Callable[[F], F]:
    """Give a command these options, whose values it takes together, as ``name``.

    record: a NamedTuple class whose fields are named like the options. A field without an option
    is None.
    """

    def decorate(command: F) -> F:
        @functools.wraps(command)
        def called(*args: Any, **given: Any) -> Any:
            values = {field: given.pop(field, None) for field in record._fields}
            return command(*args, **{name: record(**values)}, **given)

        return options(*decorators)(cast(F, called))

    return decorate
