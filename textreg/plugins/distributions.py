"""Distributions with plugins: what their metadata declares, and those that belong to textreg.

Entry points are read without importing them. The parts of our own distributions are found so, too;
a table of them answers a user who names a part of one that is not installed.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence, Set
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

GROUP = "textreg"
API_GROUP = "textreg.api"
"""Entry points whose names are the versions of the interface that a distribution is made for."""
HELP_GROUP = "textreg.help"
"""Entry points whose names are those of commands, each followed by one line of help."""
# kinds.API and the keys of kinds.KINDS, which is not imported here: a list needs no numpy.
API = 1
KIND_NAMES = ("tokenizer", "groups", "graph", "regularizer", "loss", "exporter", "command")
PART_NAME = re.compile(r"\w[\w.+-]*")
"""Pattern for the names of parts."""


class Entry(NamedTuple):
    """An entry point; ``kind`` is empty if its name has none.

    apis: versions of the interface that its distribution declares; empty if it declares none.
    help: what a command does, on one line, as its distribution states it.
    """

    kind: str
    name: str
    distribution: str
    version: str
    point: metadata.EntryPoint
    apis: tuple[str, ...] = ()
    help: str = ""

    @property
    def part(self) -> tuple[str, str, str]:
        """Kind, name and distribution, which identify the part."""
        return self.kind, self.name, self.distribution

    @property
    def fits(self) -> bool:
        """Whether this textreg has an interface that it declares, or it declares none."""
        return not self.apis or str(API) in self.apis

    @property
    def api(self) -> int | None:
        """The version of the interface that it declares, this one if it is among several."""
        versions = [int(api) for api in self.apis if api.isdecimal()]
        return None if not versions else API if API in versions else max(versions)

    @property
    def provider(self) -> str:
        """Distribution and version, for messages."""
        return f"{self.distribution} {self.version}".strip()

    @property
    def source(self) -> tuple[str, str]:
        """Distribution and module; entries with the same module share one import."""
        return self.distribution, self.point.value


class Scan(NamedTuple):
    """Entry points, and descriptions of distributions whose metadata is damaged."""

    entries: list[Entry]
    damaged: list[str]


def scan() -> Scan:
    """All entry points of the group, in the order of discovery."""
    found = Scan([], [])
    points: Sequence[metadata.EntryPoint]  # which hold the distributions, so that no id returns
    try:
        points = list(metadata.entry_points(group=GROUP))
    except Exception:  # noqa: BLE001  # one damaged distribution, of whatever, stops them all
        points = _one_by_one(found.damaged)
    return _listed(points, found)


DISABLE = "TEXTREG_DISABLE"
"""The variable that names plugins to block."""


def config_files() -> list[Path]:
    """The files ``textreg.toml`` that there are, that of the working folder first."""
    import click

    folders = [Path.cwd(), Path(click.get_app_dir("textreg"))]
    return [path for path in (folder / "textreg.toml" for folder in folders) if path.is_file()]


def commands_of_all() -> dict[str, str]:
    """Names of commands of all distributions, each with its line of help.

    It needs neither the names nor the versions of the distributions, which take longer to read.
    Where metadata is damaged, :func:`scan` says what is wrong.
    """
    try:
        points = metadata.entry_points()
        named = [point.name for point in points.select(group=GROUP)]
        lines = [point.name for point in points.select(group=HELP_GROUP)]
    except Exception:  # noqa: BLE001  # one damaged distribution, of whatever, stops them all
        return {entry.name: entry.help for entry in scan().entries if entry.kind == "command"}
    described = {name: line.strip() for name, _, line in (each.partition(" ") for each in lines)}
    names = [name.removeprefix("command.") for name in named if name.startswith("command.")]
    return {name: described.get(name, "") for name in sorted(set(names))}


def scan_one(distribution: str) -> list[Entry]:
    """Those of one distribution, which takes a fraction of the time; none where it is damaged."""
    try:
        points = metadata.distribution(distribution).entry_points.select(group=GROUP)
    except Exception:  # noqa: BLE001  # a scan of all says what is wrong
        return []
    return _listed(list(points), Scan([], [])).entries


def _listed(points: Sequence[metadata.EntryPoint], found: Scan) -> Scan:
    """Add entry points to those that were found."""
    owners: dict[int, _Owner | None] = {}
    for point in points:
        kind, _, name = point.name.partition(".")
        if kind not in KIND_NAMES or not name:
            kind, name = "", point.name
        if id(point.dist) not in owners:  # every look at it reads its file again
            owners[id(point.dist)] = _owner(point.dist)
        owner = owners[id(point.dist)]
        if owner is None:
            where = "" if point.dist is None else f" in {point.dist.locate_file('')}"
            found.damaged.append(f"what is left{where} of a distribution with '{point.name}'")
            continue
        described = owner.help.get(name, "") if kind == "command" else ""
        found.entries.append(
            Entry(kind, name, owner.name, owner.version, point, owner.apis, described)
        )
    return found


class _Owner(NamedTuple):
    """A distribution: normalized name and version, declared interfaces, help of its commands."""

    name: str
    version: str
    apis: tuple[str, ...]
    help: dict[str, str]


def _owner(dist: metadata.Distribution | None) -> _Owner | None:
    """What is needed of a distribution; None for one that was partly removed."""
    if dist is None:
        return None
    try:
        if not dist.name:
            return None
        points = dist.entry_points
        apis = tuple(sorted(point.name for point in points.select(group=API_GROUP)))
        lines = (point.name.partition(" ") for point in points.select(group=HELP_GROUP))
        described = {name: line.strip() for name, _, line in lines}
        return _Owner(normal(dist.name), dist.version or "", apis, described)
    except Exception:  # noqa: BLE001  # by which newer versions of Python say that there is none
        return None


def _one_by_one(damaged: list[str]) -> list[metadata.EntryPoint]:
    """Entry points of every distribution with readable metadata, the first of each name only."""
    points: dict[str, list[metadata.EntryPoint]] = {}
    for dist in metadata.distributions():
        name = f"a distribution in {dist.locate_file('')}"
        try:
            name = dist.name or name
            points.setdefault(normal(name), list(dist.entry_points.select(group=GROUP)))
        except Exception as error:  # noqa: BLE001  # whatever its files may hold
            damaged.append(f"{name}, whose metadata gives {type(error).__name__}: {error}")
    return [point for own in points.values() for point in own]


def normal(distribution: str) -> str:
    """The normalized name of a distribution (PEP 503)."""
    return re.sub(r"[-_.]+", "-", distribution).lower()


def is_among(name: str, known: Set[str]) -> bool:
    """Whether a user's spelling of a name, maybe that of a distribution, is in ``known``."""
    return not known.isdisjoint({name, normal(name)})


def spellings(kind: str, name: str, distribution: str) -> set[str]:
    """All names of a part that users may write to block or diagnose it."""
    names = {name}
    if kind:
        names.add(f"{kind}.{name}")
    if distribution:
        names |= {distribution, f"{distribution}:{name}"}
    return names


SATELLITES = {
    "textreg-embeddings": ("groups.clusters", "groups.brown"),
    "textreg-export": (
        "command.export",
        "exporter.json",
        "exporter.python",
        "exporter.javascript",
        "exporter.sklearn",
    ),
    "textreg-fused": ("regularizer.fused",),
    "textreg-gow": ("groups.communities",),
    "textreg-latent": ("regularizer.latent",),
    "textreg-papers": ("regularizer.pcr", "regularizer.lle"),
    "textreg-report": (
        "command.agreement",
        "command.check-page",
        "command.compare",
        "command.learn-curve",
        "command.plot",
        "command.report",
    ),
    "textreg-testing": ("command.plugins.check", "command.plugins.doctor", "command.plugins.new"),
    "textreg-topics": ("groups.lda", "groups.lsi"),
}
"""Names of entry points, as in the metadata of each distribution."""


def satellite_of(kind: str, name: str) -> str:
    """The distribution that has a part, installed or not; empty for a part of nobody known."""
    part = f"{kind}.{name}"
    return next((owner for owner, parts in SATELLITES.items() if part in parts), "")


def how_to_install(distribution: str) -> str:
    """The command that installs a satellite where textreg was installed from.

    From a checkout it names the folder there, as an index has no such version; else the extra.
    """
    checkout = _checkout()
    folder = checkout / "plugins" / distribution
    if not (folder / "pyproject.toml").is_file():
        return f"pip install 'textreg[{distribution.removeprefix('textreg-')}]'"
    path = f"./plugins/{distribution}" if Path.cwd() == checkout else str(folder)
    return f"pip install {shlex.quote(path)}"


def _checkout() -> Path:
    """The folder that pip installed textreg from, by the record it keeps (PEP 610)."""
    from urllib.parse import urlsplit
    from urllib.request import url2pathname  # which imports a client of HTTP

    record = metadata.distribution("textreg").read_text("direct_url.json")
    url = urlsplit(json.loads(record)["url"]) if record else None
    if url is None or url.scheme != "file":
        return Path(__file__).parents[2]
    return Path(url2pathname(url.path))
