"""Distributions with plugins: what they declare, which are textreg's own, and what is blocked.

Entry points are read without importing them. The parts of our own distributions are found so, too;
a table of them answers a user who names a part of one that is not installed.

Blocked plugins are never imported. A name is ``sentence``, ``regularizer.sentence``,
``textreg:sentence`` for that of one distribution, or the name of a distribution for all that it
has. Plugins are blocked by ``--no-plugin`` and :func:`textreg.plugins.registry.block`, by the
variable ``TEXTREG_DISABLE`` (names with commas between them), and by ``textreg.toml``, in the
working folder and in the user's folder for settings:

.. code-block:: toml

    [plugins]
    disable = ["acme-slope", "regularizer.shrink"]  # never imported
    allow = ["textreg-topics"]                      # nothing else is, but what comes with textreg

Where there are two such files, both hold. Nothing that is written there makes textreg run code.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Set
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, reduce
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from textreg.errors import UsageError, did_you_mean
from textreg.terminal import shell_line

if TYPE_CHECKING:
    from importlib import metadata


GROUP = "textreg"
# Entry points whose names are the versions of the interface that a distribution is made for.
API_GROUP = "textreg.api"
# Entry points whose names are those of commands, each followed by one line of help.
HELP_GROUP = "textreg.help"
# kinds.API and the keys of kinds.KINDS, which is not imported here: a list needs no numpy.
API = 1
KIND_NAMES = tuple(
    "tokenizer groups graph regularizer loss exporter backend vectors command".split()
)
# Pattern for the names of parts.
PART_NAME = re.compile(r"\w[\w.+-]*")


class Entry(NamedTuple):
    """An entry point, whose name is its kind and the name of the part with a dot between them.

    point: its whole name. value: the module, or ``module:object``, that it names. apis: versions of
    the interface that its distribution declares; empty if it declares none.
    """

    kind: str
    name: str
    distribution: str
    version: str
    point: str
    value: str
    apis: tuple[str, ...] = ()

    @property
    def module(self) -> str:
        """The module."""
        return self.value.partition(":")[0]

    def load(self) -> Any:
        """What it names, imported."""
        attributes = self.value.partition(":")[2].split(".")
        return reduce(getattr, filter(None, attributes), import_module(self.module))

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
        return self.distribution, self.value


# Names and values of entry points, by group.
Points = defaultdict[str, list[tuple[str, str]]]


def scan(damaged: list[str]) -> list[Entry]:
    """All entry points of the group, in the order of discovery; of two of one name the first.

    Distributions whose metadata is damaged are described in ``damaged``.
    """
    entries, names = list[Entry](), {""}
    for dist in _declaring(damaged):
        if (name := _name_of(dist)) not in names:
            names.add(name)
            points = Points(list)
            for point in dist.entry_points:
                points[point.group].append((point.name, point.value))
            entries.extend(_entries(points, name, dist.version or ""))
        elif not name:
            damaged.extend(
                f"what is left in {dist.locate_file('')} of a distribution with '{point.name}'"
                for point in dist.entry_points.select(group=GROUP)
            )
    return entries


def scan_one(distribution: str) -> list[Entry]:
    """Those of one distribution, which takes a fraction of the time; none where it is damaged."""
    stem = distribution.replace("-", "_")
    for path in _found(f"{stem}-*.dist-info/entry_points.txt"):
        points, version = _points(path), path.parent.name.split("-")[1].removesuffix(".dist")
        return list(_entries(points, distribution, version))
    return []


def own_version() -> str:
    """The version of textreg."""
    for entry in scan_one("textreg"):
        return entry.version
    from importlib import metadata

    return metadata.version("textreg")


def commands_of_all() -> dict[str, str]:
    """Names of commands of all distributions, each with its line of help."""
    names: set[str] = set()
    described: dict[str, str] = {}
    for path in _found("*-info/entry_points.txt"):
        points = _points(path)
        every = (point.partition(".") for point, _ in points[GROUP])
        names |= {name for kind, _, name in every if kind == "command"}
        split = (point.partition(" ") for point, _ in points[HELP_GROUP])
        described |= {command: line.strip() for command, _, line in split}
    return {name: described.get(name, "") for name in sorted(names)}


def _found(pattern: str) -> Iterator[Path]:
    """Files in folders that modules are imported from, in their order."""
    for folder in sys.path:
        with suppress(OSError):  # one that may not be read
            yield from Path(folder).glob(pattern)


def _points(path: Path) -> Points:
    """The entry points in a file; none where textreg is not named.

    It is read here: importlib.metadata alone takes longer to import than a text to be predicted.
    """
    by_group = Points(list)
    text = path.read_text("utf-8", "replace")
    for line in text.splitlines() if f"[{GROUP}" in text else ():
        name, _, value = map(str.strip, line.partition("="))
        if line.startswith("["):
            section = by_group[line.strip("[] ")]
        elif value:
            section.append((name, value))
    return by_group


def _declaring(damaged: list[str]) -> Iterator[metadata.Distribution]:
    """Distributions with entry points of textreg; what cannot be read is added to ``damaged``."""
    from importlib import metadata

    for dist in metadata.distributions():
        try:
            if f"[{GROUP}" not in (dist.read_text("entry_points.txt") or ""):
                continue
            _ = dist.entry_points
        except Exception as error:  # noqa: BLE001  # whatever its files may hold
            name = _name_of(dist) or f"a distribution in {dist.locate_file('')}"
            damaged.append(f"{name}, whose metadata gives {type(error).__name__}: {error}")
        else:
            yield dist


def _entries(points: Points, distribution: str, version: str) -> Iterator[Entry]:
    """Those of a distribution."""
    apis = tuple(sorted(api for api, _ in points[API_GROUP]))
    for point, value in points[GROUP]:
        kind, dot, part = point.partition(".")
        kind, part = (kind, part) if dot else ("", kind)
        yield Entry(kind, part, distribution, version, point, value, apis)


def _name_of(dist: metadata.Distribution) -> str:
    """The normalized name of a distribution; empty for one that was partly removed."""
    try:
        return normal(dist.name or "")
    except Exception:  # noqa: BLE001  # by which newer versions of Python say that there is none
        return ""


# The variable that names plugins to block.
DISABLE = "TEXTREG_DISABLE"


def config_files() -> list[Path]:
    """The files ``textreg.toml`` that there are, that of the working folder first."""
    import click

    folders = [Path.cwd(), Path(click.get_app_dir("textreg"))]
    return [path for path in (folder / "textreg.toml" for folder in folders) if path.is_file()]


def may_be_blocked() -> bool:
    """Whether the variable or a file may name a plugin to block."""
    return bool(os.environ.get(DISABLE) or config_files())


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


# Names of entry points, as in the metadata of each distribution.
SATELLITES = {
    "textreg-dask": ("backend.dask",),
    "textreg-embeddings": ("groups.clusters", "groups.brown", "vectors.file", "vectors.glove"),
    "textreg-export": (
        "command.export",
        *(f"exporter.{name}" for name in ("json", "python", "javascript", "sklearn")),
    ),
    "textreg-fused": ("regularizer.fused",),
    "textreg-gow": ("groups.communities",),
    "textreg-latent": ("regularizer.latent",),
    "textreg-papers": ("regularizer.pcr", "regularizer.lle"),
    "textreg-report": tuple(
        f"command.{name}"
        for name in ("agreement", "check-page", "compare", "learn-curve", "plot", "report")
    ),
    "textreg-testing": ("command.plugins.check", "command.plugins.doctor", "command.plugins.new"),
    "textreg-topics": ("groups.lda", "groups.lsi"),
}


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
        return shell_line(["pip", "install", f"textreg[{distribution.removeprefix('textreg-')}]"])
    path = f"./plugins/{distribution}" if Path.cwd() == checkout else str(folder)
    return shell_line(["pip", "install", path])


def _checkout() -> Path:
    """The folder that pip installed textreg from, by the record it keeps (PEP 610)."""
    from importlib import metadata
    from urllib.parse import urlsplit
    from urllib.request import url2pathname  # which imports a client of HTTP

    record = metadata.distribution("textreg").read_text("direct_url.json")
    url = urlsplit(json.loads(record)["url"]) if record else None
    if url is None or url.scheme != "file":
        return Path(__file__).parents[2]
    return Path(url2pathname(url.path))


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
    from textreg.files import read_toml

    document = read_toml(path)
    _refuse_unknown(path, "table", document, ("plugins",))
    plugins = document.get("plugins", {})
    if not isinstance(plugins, dict):
        raise UsageError(f"{path}: plugins must be a table, [plugins], not {plugins!r:.40}.")
    _refuse_unknown(path, "key of [plugins]", plugins, ("disable", "allow"))
    allow = _names(path, "allow", plugins["allow"]) if "allow" in plugins else None
    return Config(path, _names(path, "disable", plugins.get("disable", [])), allow)


def _refuse_unknown(path: Path, what: str, keys: Iterable[str], known: tuple[str, ...]) -> None:
    for key in keys:
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
