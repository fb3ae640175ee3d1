"""Finds plugins by entry-point name, loads the ones asked for, contains the broken ones.

Every part, built in or not, is declared in the metadata of its distribution: group ``textreg``,
name ``kind.name``, value a module with hooks (see :mod:`textreg.hookspecs`). So names are listed
without importing anything. An entry point without a kind (``acme = "acme_textreg"``, one module
with many parts) is imported only when a name is not found otherwise, or by ``listing(load=True)``.

Two providers of one name are an error; ``distribution:name`` picks one. :func:`block` and the
variable ``TEXTREG_DISABLE`` (names with commas between them) keep plugins from being imported; a
name there is ``sentence``, ``regularizer.sentence`` or that of a distribution.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from typing import Any, NamedTuple

from textreg.errors import PluginError, UsageError, did_you_mean
from textreg.loading import Parts, add_part, import_plugin, parts_of, title

GROUP = "textreg"
DISABLE = "TEXTREG_DISABLE"
# The keys of kinds.KINDS, which is not imported here: a list of names needs no numpy.
KIND_NAMES = ("tokenizer", "groups", "graph", "regularizer")


@dataclass(frozen=True)
class PluginInfo:
    """One row of the list of plugins.

    kind is empty for a module of many parts that is not loaded yet. distribution and version are
    empty for what was registered by hand. status: ``not loaded``, ``ok``, or one of ``blocked``,
    ``clash`` and ``broken`` with more after a colon.
    """

    name: str
    kind: str
    distribution: str
    version: str
    module: str
    status: str


class _Entry(NamedTuple):
    """An entry point; ``kind`` is empty where its name has none."""

    kind: str
    name: str
    distribution: str
    version: str
    point: metadata.EntryPoint

    @property
    def provider(self) -> str:
        return f"{self.distribution} {self.version}"

    @property
    def source(self) -> tuple[str, str]:
        """What is imported; entries with the same module share it."""
        return self.distribution, self.point.value


class Registry:
    """The plugins of a process. Applications use the one behind the functions of this module."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._scanned: list[_Entry] | None = None
        self._loaded: dict[tuple[str, str], Parts] = {}
        self._failures: dict[tuple[str, str, str], PluginError] = {}
        self._registered: Parts = {}
        self._blocked: set[str] = set()

    def find(self, kind: str, name: str) -> type[Any]:
        """The class of this ``kind`` called ``name`` or ``distribution:name``, imported if need be.

        Names of group builders with commas between them give one class that joins their groups.
        Raises PluginError when there is none, when two distributions provide it, when it is
        blocked, or when its module cannot be loaded or does not keep to the interface.
        """
        _check_kind(kind)
        if kind == "groups" and "," in name:
            from textreg.joining import join

            return join(tuple(self.find(kind, part.strip()) for part in name.split(",")))
        owner, _, short = name.rpartition(":")
        with self._lock:
            if not owner and (kind, short) in self._registered:
                self._refuse_blocked(kind, short, "")
                return self._registered[kind, short]
            within = [e for e in self._entries() if not owner or e.distribution == _normal(owner)]
            named = [entry for entry in within if (entry.kind, entry.name) == (kind, short)]
            found = [entry for entry in named if not self._blocker(*entry[:3])]
            faults: list[PluginError] = []
            if named and not found:
                self._refuse_blocked(*named[0][:3])
            if not named:
                found = self._search_modules(kind, short, within, faults)
            if not found:
                raise self._unknown(kind, name, faults)
            if len(found) > 1:
                raise PluginError(
                    f"{len(found)} {title(kind)}s are called '{short}': "
                    f"{' and '.join(entry.provider for entry in found)}. "
                    f"Write {' or '.join(f'{entry.distribution}:{short}' for entry in found)}."
                )
            return self._load(found[0])[kind, short]

    def create(self, kind: str, name: str, **params: Any) -> Any:
        """An instance of what :meth:`find` finds. UsageError for a wrong parameter."""
        return self.find(kind, name)(**params)

    def resolve(self, kind: str, spec: Any, params: Mapping[str, Any] | None = None) -> Any:
        """An instance, with ``params`` set, from a name, a class or an instance.

        Raises UsageError when ``spec`` is none of these.
        """
        from textreg.kinds import KINDS

        _check_kind(kind)
        params = params or {}
        if isinstance(spec, str):
            return self.create(kind, spec, **params)
        if isinstance(spec, type) and issubclass(spec, KINDS[kind]):
            return spec(**params)
        if isinstance(spec, KINDS[kind]):
            return spec.replace(**params) if params else spec
        raise UsageError(
            f"{title(kind)}: give a name ({', '.join(self.names(kind))}), a subclass of "
            f"{KINDS[kind].__name__} or an instance of one, not {spec!r}."
        )

    def names(self, kind: str) -> list[str]:
        """Names of this ``kind`` that are not blocked, sorted; imports nothing."""
        _check_kind(kind)
        rows = [row for row in self.listing() if row.kind == kind]
        return sorted({row.name for row in rows if not row.status.startswith("blocked")})

    def listing(self, *, load: bool = False) -> list[PluginInfo]:
        """All plugins, by kind and name; imports nothing unless ``load`` asks for everything."""
        with self._lock:
            rows = []
            for entry in self._entries():
                if load and not self._blocker(*entry[:3]):
                    with suppress(PluginError):  # kept, and told by its status
                        self._load(entry)
                parts: Iterable[tuple[str, str]] = [(entry.kind, entry.name)]
                if not entry.kind:
                    parts = self._loaded.get(entry.source, parts)
                rows += [self._info(entry, *part) for part in parts]
            for (kind, name), part in self._registered.items():
                blocker = self._blocker(kind, name, "")
                status = f"blocked: by {blocker}" if blocker else "ok"
                rows.append(PluginInfo(name, kind, "", "", part.__module__, status))
        return sorted(rows, key=lambda row: (row.kind, row.name, row.distribution))

    def provider(self, part: Any) -> PluginInfo | None:
        """Where a class, or the class of an instance, was found; None if it was passed directly."""
        cls = part if isinstance(part, type) else type(part)
        with self._lock:
            for entry in self._entries():
                for key, loaded in self._loaded.get(entry.source, {}).items():
                    if loaded is cls:
                        return self._info(entry, *key)
        return None

    def failure(self, info: PluginInfo) -> PluginError | None:
        """Why a plugin is broken: its ``__cause__`` has the traceback. None if nothing is known."""
        with self._lock:
            return self._failures.get((info.kind, info.name, info.distribution))

    def register(self, plugin: Any) -> None:
        """Add a plugin class, or a module or object with hooks, for this process.

        The same name may be registered again, as when a notebook cell is run twice. Raises
        PluginError when it is that of an installed plugin, or when the plugin is not a right one.
        """
        from textreg.kinds import KINDS

        label = getattr(plugin, "__name__", type(plugin).__name__)
        parts: Parts = {}
        if isinstance(plugin, type) and issubclass(plugin, tuple(KINDS.values())):
            kind = next(kind for kind, base in KINDS.items() if issubclass(plugin, base))
            add_part(parts, kind, plugin, label)
        else:
            parts = parts_of(plugin, label)
        with self._lock:
            for kind, name in parts:
                for entry in self._entries():
                    if (entry.kind, entry.name) == (kind, name) and not self._blocker(*entry[:3]):
                        raise PluginError(
                            f"a {title(kind)} called '{name}' is installed already, by "
                            f"{entry.provider}. Give yours another name, or block that one first."
                        )
            self._registered.update(parts)

    def block(self, names: Iterable[str]) -> None:
        """Keep plugins from being imported and found: ``name``, ``kind.name`` or a distribution.

        Raises PluginError for a name that no plugin has.
        """
        with self._lock:
            parts = [entry[:3] for entry in self._entries()]
            parts += [(row.kind, row.name, row.distribution) for row in self.listing()]
            known = {alias for part in parts for alias in _aliases(*part)}
            for name in names:
                if not {name, _normal(name)} & known:
                    raise PluginError(
                        f"cannot block '{name}': no plugin is called that."
                        f"{did_you_mean(name, known)} See: textreg plugins list"
                    )
                self._blocked.add(name)

    def _entries(self) -> list[_Entry]:
        if self._scanned is None:
            self._scanned = []
            for point in metadata.entry_points(group=GROUP):
                kind, _, name = point.name.partition(".")
                if kind not in KIND_NAMES or not name:
                    kind, name = "", point.name
                distribution = _normal(point.dist.name) if point.dist else ""
                version = point.dist.version if point.dist else ""
                self._scanned.append(_Entry(kind, name, distribution, version, point))
        return self._scanned

    def _load(self, entry: _Entry) -> Parts:
        """The parts of an entry's module. A failure is kept, and raised."""
        try:
            if entry.source not in self._loaded:
                plugin = import_plugin(entry.point, entry.distribution, entry.version)
                self._loaded[entry.source] = parts_of(plugin, entry.provider)
            parts = self._loaded[entry.source]
            if entry.kind and (entry.kind, entry.name) not in parts:
                given = ", ".join(f"{title(kind)} '{name}'" for kind, name in parts)
                raise PluginError(
                    f"{entry.provider} declares '{entry.point.name}', but {entry.point.value} "
                    f"gives: {given}. Its author must make the two names the same."
                )
        except PluginError as error:
            self._failures[entry[:3]] = error
            raise
        self._failures.pop(entry[:3], None)
        return parts

    def _search_modules(
        self, kind: str, name: str, entries: list[_Entry], faults: list[PluginError]
    ) -> list[_Entry]:
        """Modules of many parts that have this one; why others failed goes to ``faults``."""
        found = []
        for entry in entries:
            if entry.kind or self._blocker(*entry[:3]):
                continue
            try:
                parts = self._load(entry)
            except PluginError as error:
                faults.append(error)
                continue
            if (kind, name) in parts:
                self._refuse_blocked(kind, name, entry.distribution)
                found.append(entry)
        return found

    def _info(self, entry: _Entry, kind: str, name: str) -> PluginInfo:
        """The row of one part of an entry's module."""
        same = [other for other in self._entries() if other.kind and other[:2] == (kind, name)]
        free = [other for other in same if not self._blocker(*other[:3])]
        blocker = self._blocker(*entry[:3]) or self._blocker(kind, name, entry.distribution)
        if blocker:
            status = f"blocked: by {blocker}"
        elif entry[:3] in self._failures:
            status = f"broken: {self._failures[entry[:3]]}"
        elif len(free) > 1:
            status = f"clash: write {entry.distribution}:{name}"
        else:
            status = "ok" if entry.source in self._loaded else "not loaded"
        return PluginInfo(name, kind, entry.distribution, entry.version, entry.point.value, status)

    def _blocker(self, kind: str, name: str, distribution: str) -> str:
        """What blocks this part, in words; empty if nothing does."""
        aliases = _aliases(kind, name, distribution)
        disabled = [item.strip() for item in os.environ.get(DISABLE, "").split(",")]
        for blocked, words in ((disabled, DISABLE), (self._blocked, "--no-plugin or block()")):
            if any({item, _normal(item)} & aliases for item in blocked):
                return words
        return ""

    def _refuse_blocked(self, kind: str, name: str, distribution: str) -> None:
        if blocker := self._blocker(kind, name, distribution):
            others = ", ".join(self.names(kind)) or "none"
            raise PluginError(
                f"the {title(kind)} '{name}' is blocked by {blocker}. Allow it, or take another: "
                f"{others}."
            )

    def _unknown(self, kind: str, name: str, faults: list[PluginError]) -> PluginError:
        known = self.names(kind)
        if ":" in name:
            rows = [row for row in self.listing() if row.kind == kind]
            known = [f"{row.distribution}:{row.name}" for row in rows]
        message = f"no {title(kind)} '{name}'.{did_you_mean(name, known)}"
        message += f" Installed: {', '.join(known) or 'none'}."
        for fault in faults:
            message += f" It may be in a plugin that is broken: {fault}"
        return PluginError(message)


def _check_kind(kind: str) -> None:
    if kind not in KIND_NAMES:
        raise UsageError(
            f"no kind of plugin '{kind}'.{did_you_mean(kind, KIND_NAMES)} "
            f"There are: {', '.join(KIND_NAMES)}."
        )


def _normal(distribution: str) -> str:
    """The one spelling of a distribution's name (PEP 503)."""
    return re.sub(r"[-_.]+", "-", distribution).lower()


def _aliases(kind: str, name: str, distribution: str) -> set[str]:
    """All by which a part may be blocked."""
    return {name, f"{kind}.{name}", distribution} - {""}


_default = Registry()
find = _default.find
create = _default.create
resolve = _default.resolve
names = _default.names
listing = _default.listing
provider = _default.provider
failure = _default.failure
register = _default.register
block = _default.block
