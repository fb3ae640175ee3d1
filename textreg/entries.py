"""What is installed: the entry points of all distributions, read without importing any of them."""

from __future__ import annotations

import re
from importlib import metadata
from typing import NamedTuple

GROUP = "textreg"
# The keys of kinds.KINDS, which is not imported here: a list of names needs no numpy.
KIND_NAMES = ("tokenizer", "groups", "graph", "regularizer")


class Entry(NamedTuple):
    """An entry point; ``kind`` is empty where its name has none."""

    kind: str
    name: str
    distribution: str
    version: str
    point: metadata.EntryPoint

    @property
    def part(self) -> tuple[str, str, str]:
        """Kind, name and distribution: what it is blocked and remembered by."""
        return self.kind, self.name, self.distribution

    @property
    def provider(self) -> str:
        """Whose it is, in words."""
        return f"{self.distribution} {self.version}".strip()

    @property
    def source(self) -> tuple[str, str]:
        """What is imported; entries with the same module share it."""
        return self.distribution, self.point.value


def scan() -> list[Entry]:
    """All entry points of the group, in the order in which they are found."""
    entries = []
    for point in metadata.entry_points(group=GROUP):
        kind, _, name = point.name.partition(".")
        if kind not in KIND_NAMES or not name:
            kind, name = "", point.name
        # Of what was half removed there may be neither name nor version.
        distribution = normal((point.dist and point.dist.name) or "unknown")
        version = (point.dist and point.dist.version) or ""
        entries.append(Entry(kind, name, distribution, version, point))
    return entries


def normal(distribution: str) -> str:
    """The one spelling of a distribution's name (PEP 503)."""
    return re.sub(r"[-_.]+", "-", distribution).lower()


def aliases(kind: str, name: str, distribution: str) -> set[str]:
    """All by which a part may be blocked, or asked after."""
    names = {name}
    if kind:
        names.add(f"{kind}.{name}")
    if distribution:
        names |= {distribution, f"{distribution}:{name}"}
    return names
