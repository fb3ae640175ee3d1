"""The contract of commands."""

from __future__ import annotations

import click

from textreg.plugins import registry
from textreg_testing.checks import (
    Checks,
    Skipped,
    contract,
    distribution_checks,
    entries_beside,
    require,
)

checks = Checks("command", "command-")
command_checks = checks.of
check_command = contract(command_checks)


def _module_of(command: click.Command) -> str:
    return str(getattr(command.callback, "__module__", type(command).__module__))


@checks.add("help")
def _help(command: click.Command) -> None:
    """It says what it does and what each of its options is for, and the metadata of its
    distribution, if it has one, has a line for textreg --help."""
    require(bool(command.help), f"a docstring of the command {command.name}", "none")
    for option in command.params:
        described = option.param_type_name != "option" or getattr(option, "help", None)
        require(bool(described), f"a help text of {option.opts[-1]}", "none")
    try:
        entries = entries_beside(_module_of(command))
    except Skipped:
        return
    described = registry.commands()
    declared = ("command", command.name)
    lines = [described[entry.name] for entry in entries if (entry.kind, entry.name) == declared]
    line = f"'{command.name} WHAT IT DOES' in [project.entry-points.\"textreg.help\"]"
    require(all(lines), line, "none")


distribution_checks(checks, _module_of)


@checks.add("usage")
def _usage(command: click.Command) -> None:
    """--help prints its help, and what it does not know is refused with exit code 2; in neither
    case anything is done."""
    from click.testing import CliRunner

    for arguments, code in ((["--help"], 0), (["--no-such-option-of-any-command"], 2)):
        done = CliRunner().invoke(command, arguments)
        told = f"{done.exit_code} {done.exception or done.output!r}"
        require(done.exit_code == code, f"exit code {code} of {arguments[0]}", told)
        said = "Usage:" in done.output or "Usage:" in getattr(done, "stderr", "")
        require(said, f"a line of usage of {arguments[0]}", repr(done.output))
