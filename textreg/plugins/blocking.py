"""Which plugins the user does not want: asked before any of them is imported.

A name is ``sentence``, ``regularizer.sentence``, ``textreg:sentence`` for that of one distribution,
or the name of a distribution for all that it has. Plugins are blocked by ``--no-plugin`` and
:meth:`Blocks.add`, by the variable ``TEXTREG_DISABLE`` (names with commas between them), and by
``textreg.toml`` (see :mod:`textreg.plugins.config`), where ``allow`` blocks all plugins that it
does not name; what comes with textreg is always allowed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cached_property

from textreg.plugins.config import Config, find_configs
from textreg.plugins.entries import aliases, is_among

DISABLE = "TEXTREG_DISABLE"


class Blocks:
    """The plugins that are blocked. The files are read once, the variable at every question."""

    def __init__(self) -> None:
        self._added: set[str] = set()

    def add(self, name: str) -> None:
        """Block a name for this process."""
        self._added.add(name)

    def reason(self, kind: str, name: str, distribution: str) -> str:
        """What blocks this part, in words that follow "blocked by"; empty if nothing does."""
        parts = aliases(kind, name, distribution)
        disabled = [item.strip() for item in os.environ.get(DISABLE, "").split(",")]
        if _names_one(disabled, parts):
            return DISABLE
        if _names_one(self._added, parts):
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
        """The files ``textreg.toml``; UsageError if one is wrong."""
        return find_configs()


def _names_one(names: Iterable[str], parts: set[str]) -> bool:
    return any(is_among(name, parts) for name in names)
