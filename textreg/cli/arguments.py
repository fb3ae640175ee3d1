"""One scan of the command line before click parses it, for the parts that it names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

_WITH_VALUE = ("--plugin", "--no-plugin")
"""Options before the command that take a value."""


class CommandLine(NamedTuple):
    """A command line, scanned once.

    words: as given, without ``--debug``. debug: whether that was among them. command: the name of
    the command, empty if there is none. every: the values of each ``--flag value`` and
    ``--flag=value``. What follows ``--`` is data.
    """

    words: list[str]
    debug: bool
    command: str
    every: dict[str, list[str]]

    @property
    def values(self) -> dict[str, str]:
        """The last value of every flag."""
        return {flag: values[-1] for flag, values in self.every.items()}


def scan(given: Sequence[str]) -> CommandLine:
    """Scan a command line."""
    end = given.index("--") if "--" in given else len(given)
    options = [word for word in given[:end] if word != "--debug"]
    every: dict[str, list[str]] = {}
    for at, word in enumerate(options):
        name, equals, value = word.partition("=")
        if name.startswith("--") and (equals or at + 1 < len(options)):
            every.setdefault(name, []).append(value if equals else options[at + 1])
    words = [*options, *given[end:]]
    return CommandLine(words, len(options) < end, _command(options), every)


def _command(options: Sequence[str]) -> str:
    """The first word that is neither an option nor the value of one."""
    remaining = iter(options)
    for word in remaining:
        if word in _WITH_VALUE:
            next(remaining, None)
        elif not word.startswith("-"):
            return word
    return ""
