"""Which plugins the user does not want: asked before any of them is imported.

A name is ``sentence``, ``regularizer.sentence``, ``textreg:sentence`` for that of one distribution,
or the name of a distribution for all that it has. Plugins are blocked by ``--no-plugin`` and
:func:`textreg.plugins.registry.block`, by the variable ``TEXTREG_DISABLE`` (names with commas
between them), and by ``textreg.toml``, in the working folder and in the user's folder for settings:

.. code-block:: toml

    [plugins]
    disable = ["acme-slope", "regularizer.shrink"]  # never imported
    allow = ["textreg-topics"]                      # nothing else is, but what comes with textreg

Where there are two such files, both hold. Nothing that is written there makes textreg run code.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from textreg.errors import UsageError, did_you_mean
from textreg.files import read_toml
from textreg.plugins.distributions import DISABLE, config_files, is_among, spellings


class Blocks:
    """The plugins that are blocked: names that were ``added``, and those of files and variable.

    The files are read once, the variable at every question.
    """

    def __init__(self) -> None:
        self.added: set[str] = set()

    def reason(self, kind: str, name: str, distribution: str) -> str:
        """What blocks this part, in words that follow "blocked by"; empty if nothing does."""
        parts = spellings(kind, name, distribution)
        disabled = [item.strip() for item in os.environ.get(DISABLE, "").split(",")]
        if _names_one(disabled, parts):
            return DISABLE
        if _names_one(self.added, parts):
            return "--no-plugin or block()"
        for config in self.configs:
            if _names_one(config.disable, parts):
                return f"disable in {config.path}"
            # A part without a distribution was registered or named by the user.
            allowed = config.allow is None or distribution in ("", "textreg")
            if not allowed and not _names_one(config.allow or (), parts):
                return f"allow in {config.path}, which does not name it"
        return ""

    @cached_property
    def configs(self) -> list[Config]:
        """The files ``textreg.toml``, that of the working folder first; UsageError for others."""
        return [read_config(path) for path in config_files()]


def _names_one(names: Iterable[str], parts: set[str]) -> bool:
    return any(is_among(name, parts) for name in names)


@dataclass(frozen=True)
class Config:
    """The contents of one file. allow: None if the file has no such list."""

    path: Path
    disable: tuple[str, ...] = ()
    allow: tuple[str, ...] | None = None


def read_config(path: Path) -> Config:
    """The contents of a file; UsageError, with its path, if it cannot be read or understood."""
    document = read_toml(path)
    _refuse_unknown(path, "table", document, ("plugins",))
    plugins = document.get("plugins", {})
    if not isinstance(plugins, dict):
        raise UsageError(f"{path}: plugins must be a table, [plugins], not {plugins!r:.40}.")
    _refuse_unknown(path, "key of [plugins]", plugins, ("disable", "allow"))
    allow = _names(path, "allow", plugins["allow"]) if "allow" in plugins else None
    return Config(path, _names(path, "disable", plugins.get("disable", [])), allow)


def _refuse_unknown(path: Path, what: str, given: Iterable[str], known: tuple[str, ...]) -> None:
    for key in given:
        if key not in known:
            raise UsageError(
                f"{path}: there is no {what} '{key}'.{did_you_mean(key, known)} Known: "
                f"{', '.join(known)}."
            )


def _names(path: Path, key: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise UsageError(
            f'{path}: {key} must be a list of names, such as ["acme-slope"], not {value!r:.40}.'
        )
    return tuple(value)
