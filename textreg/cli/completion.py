"""What a shell may offer for a word of the command line; imported only where it asks."""

from __future__ import annotations

from collections.abc import Sequence

import click
from click.shell_completion import CompletionItem

from textreg.plugins import registry

_FILES = {"files", "model", "source", "sources"}
_FILE_VALUES = {"FILE", "CORPUS", "MODEL"}
_KINDS = {
    "reg": "regularizer",
    "baseline": "regularizer",
    "tokenizer": "tokenizer",
    "groups": "groups",
    "graph": "graph",
    "loss": "loss",
    "to": "exporter",
}
"""The kinds of the parts that options name."""


class _Path(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic since 8.4
    """A path, which the shell completes by itself."""

    def __init__(self, kind: str) -> None:
        self.name = kind

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        return [CompletionItem(incomplete, type=self.name)]


class _Names(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """One of some names, or several with commas between them."""

    name = "text"

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        before, comma, begun = incomplete.rpartition(",")
        found = [name for name in self.names if name.startswith(begun)]
        return [CompletionItem(f"{before}{comma}{name}") for name in found]


def prepare(params: Sequence[click.Parameter]) -> None:
    """Let parameters that take a file, or the name of a plugin, offer those."""
    for param in params:
        argument = isinstance(param, click.Argument)
        key = param.opts[-1].lstrip("-").replace("-", "_")
        if (argument and key in _FILES) or param.metavar in _FILE_VALUES:
            param.type = _Path("file")
        elif param.metavar == "DIR" or (argument and key == "folder"):
            param.type = _Path("dir")
        elif not argument and key in _KINDS:
            param.type = _Names(registry.names(_KINDS[key]))
        elif key == "no_plugin":
            param.type = _Names(sorted({row.name for row in registry.listing()}))
