"""One scan of the command line before click parses it, for the parts that it names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

_VERBOSE = {"-v": 1, "--verbose": 1, "-vv": 2}
"""Options that are taken anywhere before ``--``, with how much more they tell."""

_WITH_VALUE = ("--plugin", "--no-plugin")
"""Options before the command that take a value."""


class CommandLine(NamedTuple):
    """A command line, scanned once.

    words: as given, without ``--debug`` and ``-v``. debug: whether that was among them. verbosity:
    how often ``-v`` was. command: the name of
    the command, empty if there is none. every: the values of each ``--flag value`` and
    ``--flag=value``. What follows ``--`` is data.
    """

    words: list[str]
    debug: bool
    verbosity: int
    command: str
    every: dict[str, list[str]]

    @property
    def values(self) -> dict[str, str]:
        """The last value of every flag."""
        return {flag: values[-1] for flag, values in self.every.items()}


def scan(given: Sequence[str]) -> CommandLine:
    """Scan a command line."""
    end = given.index("--") if "--" in given else len(given)
    anywhere = {"--debug", *_VERBOSE}
    options = [word for word in given[:end] if word not in anywhere]
    debug, verbosity = "--debug" in given[:end], sum(_VERBOSE.get(word, 0) for word in given[:end])
    every: dict[str, list[str]] = {}
    for at, word in enumerate(options):
        name, equals, value = word.partition("=")
        if name.startswith("--") and (equals or at + 1 < len(options)):
            every.setdefault(name, []).append(value if equals else options[at + 1])
    words = [*options, *given[end:]]
    return CommandLine(words, debug, verbosity, _command(options), every)


def _command(options: Sequence[str]) -> str:
    """The first word that is neither an option nor the value of one."""
    remaining = iter(options)
    for word in remaining:
        if word in _WITH_VALUE:
            next(remaining, None)
        elif not word.startswith("-"):
            return word
    return ""
