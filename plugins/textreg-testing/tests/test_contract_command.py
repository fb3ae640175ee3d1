"""Every command of ours keeps the contract, and every check of the contract can fail."""

from __future__ import annotations

import itertools
from typing import Any

import click
import pytest
from conftest import Cli
from heavy_plugin import Imports

from textreg.plugins import registry
from textreg_testing import Check, ContractError, command_checks
from textreg_testing.checks import run_checks

ALL = list(itertools.product(registry.names("command"), command_checks()))


@pytest.mark.sampled(30)
@pytest.mark.parametrize(("name", "check"), ALL, ids=[f"{name}-{check}" for name, check in ALL])
def test_every_command_keeps_the_contract(name: str, check: Check) -> None:
    check(name)


def made(module: str = "__main__", **settings: Any) -> click.Command:
    """A command with one option; of no distribution, unless its module has one."""

    def callback(top: int) -> None:
        """Do nothing."""

    callback.__module__ = module
    option = click.Option(["--top"], help=settings.pop("described", "How many."))
    settings = {"name": "mine", "help": "Do nothing.", "params": [option], **settings}
    return click.Command(callback=callback, **settings)


WRONG = {
    "command-help": made(help=None),
    "command-manifest": made("textreg_testing.commands"),
    "command-imports": made(Imports.__module__),
    "command-usage": made(context_settings={"ignore_unknown_options": True}, params=[]),
}


@pytest.mark.parametrize("check", command_checks(), ids=str)
def test_every_check_can_fail(check: Check) -> None:
    if check.name != "command-manifest":  # for which one has to be installed
        check(made())
    wrong = WRONG[check.name]
    if check.name == "command-usage":
        wrong.params = [click.Argument(["rest"], nargs=-1)]
    with pytest.raises(ContractError, match=rf"(?s)^{check.name}: expected .*, but got"):
        check(wrong)


def test_options_are_described() -> None:
    with pytest.raises(ContractError, match="a help text of --top, but got none"):
        run_checks(command_checks(), made(described=None), {})


def test_blanks_are_no_help() -> None:
    with pytest.raises(ContractError, match="a docstring of the command mine, but got none"):
        run_checks(command_checks(), made(help=" "), {})


def test_the_commands_of_a_group_are_described() -> None:
    group = click.Group("mine", help="Several.", commands={"one": made(described=None)})
    with pytest.raises(ContractError, match="a help text of --top, but got none"):
        run_checks(command_checks(), group, {})


def test_from_the_shell(cli: Cli) -> None:
    done = cli("plugins", "check", "command.plugins.new")
    assert (done.code, "4 of 4 checks passed" in done.out) == (0, True)
    refused = cli("plugins", "check", "command.plugins.new", "--text", "none.txt")
    assert (refused.code, "a command is not tried on texts" in refused.err) == (2, True)
