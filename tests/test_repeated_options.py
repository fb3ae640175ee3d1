"""An option with one value is refused where it is given twice, in every command."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest
from conftest import Cli

from textreg.cli import cli as group
from textreg.cli.shared import Command

PARTS = {"--reg": "lasso", "--tokenizer": "words", "--groups": "sentences", "--graph": "classes"}
PARTS |= {"--loss": "logistic"}
"""Values of options that others depend on."""


def walk(command: click.Command, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The words of every command."""
    yield words
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert isinstance(below, Command), f"give {name} cls=shared.Command"
            yield from walk(below, (*words, name))


def options_of(words: tuple[str, ...]) -> list[click.Option]:
    command: click.Command = group
    for word in words:
        assert isinstance(command, click.Group)
        command = command.get_command(click.Context(command), word)  # type: ignore[assignment]
    return [one for one in command.params if isinstance(one, click.Option)]


@pytest.mark.parametrize("words", list(walk(group)), ids=" ".join)
def test_every_option_of_every_command(cli: Cli, words: tuple[str, ...]) -> None:
    for option in options_of(words):
        if option.multiple or option.count or option.is_eager or option.name == "debug":
            continue
        flag = option.opts[-1]
        once = [flag] if option.is_flag else [flag, PARTS.get(flag, "x")]
        code, out, err = cli(*words, *once, *once)
        assert (code, out) == (2, ""), (words, flag, err)
        assert f"{flag} is given 2 times" in err.replace("/--no-" + flag[2:], "")


@pytest.mark.parametrize(
    ("given", "flags"),
    [
        ("--reg lasso --reg-l1 0.1 --reg-l1 0.2", "--reg-l1"),  # of a part
        ("--reg-l1=0.1 --reg lasso --reg ridge", "--reg"),
        ("--refit --no-refit", "--refit/--no-refit"),
        ("-o a --output b", "-o/--output"),
        ("--seed 1 --seed 1", "--seed"),
    ],
)
def test_how_it_is_said(cli: Cli, given: str, flags: str) -> None:
    code, out, err = cli("train", "missing.csv", *given.split())
    assert (code, out) == (2, "")
    assert err == f"Error: {flags} is given 2 times: give it once. See: textreg train --help\n"


def test_what_may_be_repeated(cli: Cli) -> None:
    lists = ("--dev", "a", "--dev", "b", "--class-weight", "a=1", "--class-weight", "b=2")
    code, _, err = cli("train", "missing.csv", *lists)
    assert code == 2
    assert "missing.csv" in err
    assert cli("train", "--help", "--help").code == 0


def test_a_label_has_one_factor(cli: Cli) -> None:
    code, _, err = cli("train", "x.csv", "--class-weight", "a=1", "--class-weight", "a=2")
    assert (code, err) == (
        2,
        "Error: --class-weight names 'a' twice: give each label one factor.\n",
    )
