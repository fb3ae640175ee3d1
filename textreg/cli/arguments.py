"""One scan of the command line before click parses it, for the plugins and parts it names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from textreg.errors import UsageError

_PLUGINS = ("--plugin", "--no-plugin")


class CommandLine(NamedTuple):
    """A command line, scanned once.

    words: as given. arguments: the same for click, with ``--plugin FILE`` and ``--no-plugin NAME``
    first, because plugins decide which options a command has. values: the value of every
    ``--flag value`` and ``--flag=value``, the last one where a flag is repeated.
    """

    words: list[str]
    arguments: list[str]
    values: dict[str, str]


def scan(words: Sequence[str]) -> CommandLine:
    """Scan a command line; UsageError if ``--plugin`` or ``--no-plugin`` has no value."""
    front: list[str] = []
    rest: list[str] = []
    values: dict[str, str] = {}
    flag, remaining = "", iter(words)
    for word in remaining:
        if word == "--":
            rest += [word, *remaining]
            break
        if flag:
            values[flag] = word
        name, equals, value = word.partition("=")
        flag = name if name.startswith("--") and not equals else ""
        if name.startswith("--") and equals:
            values[name] = value
        if name not in _PLUGINS:
            rest.append(word)
        elif equals:
            front.append(word)
        else:
            following, flag = next(remaining, None), ""
            if following is None:
                raise UsageError(f"{name} is last, and needs a value after it.")
            front += [name, following]
    return CommandLine(list(words), [*front, *rest], values)
