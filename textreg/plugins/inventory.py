"""The plugins of a process: installed, loaded, registered and broken ones.

Modules are imported here and nowhere else; which, is for :mod:`textreg.plugins.registry` to say.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from textreg.errors import BrokenPluginError, PluginError
from textreg.plugins.blocking import Blocks
from textreg.plugins.entries import Entry, Scan, aliases, normal, scan, scan_one
from textreg.plugins.loading import (
    Parts,
    add_part,
    import_plugin,
    other_interface,
    parts_of,
    title,
)
from textreg.plugins.onefile import PluginFile, read_file, run_file


@dataclass(frozen=True)
class PluginInfo:
    """One row of the list of plugins.

    kind is empty for a module of many parts that is not loaded yet. distribution and version are
    empty for what was registered by hand. status: ``not loaded``, ``ok``, or one of ``blocked``,
    ``clash`` and ``broken`` with more after a colon. api: the interface it was made for, None if
    its distribution declares none and it is not loaded. seconds: that its import took, None if
    there was none. file, sha256: of a plugin that is one file, its path as it was given and the
    digest of its content.
    """

    name: str
    kind: str
    distribution: str
    version: str
    module: str
    status: str
    api: int | None = None
    seconds: float | None = None
    file: str = ""
    sha256: str = ""

    @property
    def home(self) -> str:
        """Its source, for messages: distribution and version, a file, or a class."""
        return f"{self.distribution} {self.version}".strip() or self.file or self.module


class Added(NamedTuple):
    """A registered class, and its file if it comes from one."""

    part: Any
    file: PluginFile | None = None


def class_of(part: Any) -> type[Any]:
    """The class of an instance; a class itself."""
    return part if isinstance(part, type) else type(part)


def ours(part: Any) -> bool:
    """Whether a part comes with textreg, whose own tests replace some of the checks."""
    return str(class_of(part).__module__).partition(".")[0] == "textreg"


class Inventory:
    """Entry points with their modules, and registered classes; safe for threads."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.blocks = Blocks()
        self.added: dict[tuple[str, str], Added] = {}
        self.waiting: list[PluginFile] = []
        self._scanned: Scan | None = None
        self._loaded: dict[tuple[str, str], Parts] = {}
        self._seconds: dict[tuple[str, str], float] = {}
        self._failures: dict[tuple[str, str, str], BrokenPluginError] = {}

    def entries(self) -> list[Entry]:
        """All entry points, read once."""
        if self._scanned is None:
            self._scanned = scan()
            for entry in self._scanned.entries:
                if not entry.fits:
                    self._failures[entry.part] = other_interface(entry)
        return self._scanned.entries

    def entries_of(self, distribution: str) -> list[Entry]:
        """Those of one distribution, of which alone the metadata is read where that is enough."""
        name = normal(distribution)
        if self._scanned is None and (own := scan_one(name)):
            return own
        return [entry for entry in self.entries() if entry.distribution == name]

    def damaged(self) -> list[str]:
        """Descriptions of distributions with damaged metadata."""
        self.entries()
        return [] if self._scanned is None else self._scanned.damaged

    def undeclared(self) -> list[str]:
        """The providers that declare no version of the interface in their metadata, each once."""
        return sorted({entry.provider for entry in self.entries() if not entry.apis})

    def load_entry(self, entry: Entry) -> Parts:
        """The parts of an entry's module. A failure is stored, and raised."""
        from textreg import hookspecs  # noqa: F401  # what all plugins import is not their time

        if not entry.fits:
            raise other_interface(entry)
        try:
            if entry.source not in self._loaded:
                begin = time.perf_counter()
                plugin = import_plugin(entry.point, entry.distribution, entry.version)
                self._seconds[entry.source] = round(time.perf_counter() - begin, 4)
                self._loaded[entry.source] = parts_of(plugin, entry.provider)
            parts = self._loaded[entry.source]
            if entry.kind and (entry.kind, entry.name) not in parts:
                given = ", ".join(f"{title(kind)} '{name}'" for kind, name in parts)
                raise BrokenPluginError(
                    f"{entry.provider} declares '{entry.point.name}', but {entry.point.value} "
                    f"gives: {given}. Its author must make the two names the same."
                )
        except BrokenPluginError as error:
            error.remedy = error.remedy or f"pip install -U {entry.distribution}"
            self._failures[entry.part] = error
            raise
        self._failures.pop(entry.part, None)
        return parts

    def register(self, plugin: Any) -> None:
        """Add a plugin class, or a module or object with hooks, for this process.

        Its name then stands for it, even if an installed plugin has the same one. It may be
        registered again, as when a notebook cell is run twice.

        Parameters
        ----------
        plugin : class, module or object
            A subclass of a class of :mod:`textreg.kinds`, or something with hooks.

        Raises
        ------
        PluginError
            If it is neither, or breaks the rules of its kind.

        Examples
        --------
        >>> import textreg
        >>> class Half(textreg.Ridge):
        ...     "Half a ridge."
        ...     name = "half"
        >>> textreg.register(Half)
        >>> textreg.regularizer("half", l2=0.5)
        Half(l2=0.5)
        """
        from textreg.kinds import KINDS

        label = getattr(plugin, "__name__", type(plugin).__name__)
        parts: Parts = {}
        if isinstance(plugin, type) and issubclass(plugin, tuple(KINDS.values())):
            kind = next(kind for kind, base in KINDS.items() if issubclass(plugin, base))
            add_part(parts, kind, plugin, label)
        else:
            parts = parts_of(plugin, label)
        self.add(parts, None)

    def register_file(self, path: str | os.PathLike[str]) -> None:
        """Add a plugin that is one Python file with hooks, for this process; runs the file.

        Its names then stand for its parts, even if installed plugins have the same ones. A file
        that was changed may be given again.

        Parameters
        ----------
        path : path-like
            The file.

        Raises
        ------
        UsageError
            If it cannot be read.
        PluginError
            If it is broken, or has a name that one from another file has.

        Examples
        --------
        >>> import tempfile, textreg
        >>> code = (
        ...     "from textreg import Ridge\\n"
        ...     "from textreg.hookspecs import hookimpl\\n"
        ...     "class Third(Ridge):\\n"
        ...     "    name = 'third'\\n"
        ...     "@hookimpl\\n"
        ...     "def textreg_regularizers(): return [Third]\\n"
        ... )
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with open(f"{folder}/third.py", "w") as file:
        ...         written = file.write(code)
        ...     textreg.register_file(f"{folder}/third.py")
        >>> textreg.regularizer("third", l2=1.0)
        Third(l2=1.0)
        """
        file = read_file(path)
        self.add(run_file(file), file)

    def name_file(self, path: str | os.PathLike[str]) -> None:
        """The same, but the file is run when a part is first looked for, and maybe never.

        So a model or a journal that needs other content can refuse the file before it runs.
        """
        self.waiting.append(read_file(path))

    def add(self, parts: Parts, file: PluginFile | None) -> None:
        """Register classes for this process; PluginError if another file gives one of the names."""
        with self.lock:
            for kind, name in parts if file is not None else ():
                other = self.added.get((kind, name), Added(object)).file
                if other is None or file is None or other.sha256 == file.sha256:
                    continue
                if os.path.abspath(other.path) != os.path.abspath(file.path):
                    raise PluginError(
                        f"{other.path} and {file.path} both give a {title(kind)} called '{name}': "
                        "leave one of the files out, or give its part another name."
                    )
            self.added.update({key: Added(part, file) for key, part in parts.items()})

    def run_waiting(self) -> None:
        """Run the files that were named and not run yet, and register what they give."""
        with self.lock:
            while self.waiting:
                file = self.waiting.pop(0)
                self.add(run_file(file), file)

    def files(self) -> list[PluginFile]:
        """The files that were named or registered; runs none."""
        registered = [added.file for added in self.added.values() if added.file is not None]
        return list(dict.fromkeys([*registered, *self.waiting]))

    def listing(self, *, load: bool = False) -> list[PluginInfo]:
        """All plugins, by kind and name; imports nothing unless ``load`` asks for everything.

        Files that the user named are run, as nothing else tells what they give.
        """
        self.run_waiting()
        with self.lock:
            rows = []
            for entry in self.entries():
                if load and not self.blocks.reason(*entry.part):
                    with suppress(PluginError):  # kept, and told by its status
                        self.load_entry(entry)
                parts: Iterable[tuple[str, str]] = [(entry.kind, entry.name)]
                if not entry.kind:
                    parts = self._loaded.get(entry.source, parts)
                rows += [self._info(entry, *part) for part in parts]
            rows += [self._info_of_added(*key) for key in self.added]
        return sorted(rows, key=lambda row: (row.kind, row.name, row.distribution))

    def load(self, row: PluginInfo) -> list[PluginInfo]:
        """Import the module of a row of the list; one row for each of its parts."""
        with self.lock:
            for entry in self.entries():
                if entry.part == (row.kind, row.name, row.distribution):
                    parts = self.load_entry(entry)
                    keys = [(entry.kind, entry.name)] if entry.kind else list(parts)
                    return [self._info(entry, *key) for key in keys]
        return [row]

    def provider(self, part: Any) -> PluginInfo | None:
        """The plugin that a class or instance comes from, if any. Imports nothing."""
        cls = class_of(part)
        with self.lock:
            for key, added in self.added.items():
                if added.part is cls:
                    return self._info_of_added(*key)
            for entry in self.entries():
                named = cls.name == entry.name or not entry.kind
                allowed = not self.blocks.reason(*entry.part)
                if named and allowed and entry.point.value.partition(":")[0] in sys.modules:
                    with suppress(PluginError):  # somebody imported it past us
                        self.load_entry(entry)
                for key, loaded in self._loaded.get(entry.source, {}).items():
                    if loaded is cls:
                        return self._info(entry, *key)
        return None

    def failure(self, info: PluginInfo) -> BrokenPluginError | None:
        """Why a plugin is broken, with the traceback in ``__cause__``; None if it is not known."""
        with self.lock:
            return self._failures.get((info.kind, info.name, info.distribution))

    def aliases(self) -> set[str]:
        """All names that users may write to block or diagnose a plugin."""
        with self.lock:
            parts = [entry.part for entry in self.entries()]
            parts += [(row.kind, row.name, row.distribution) for row in self.listing()]
        return {alias for part in parts for alias in aliases(*part)}

    def _info(self, entry: Entry, kind: str, name: str) -> PluginInfo:
        """The row of one part of an entry's module."""
        same = [other for other in self.entries() if other.kind and other[:2] == (kind, name)]
        free = [other for other in same if not self.blocks.reason(*other.part)]
        reason = self.blocks.reason(*entry.part)
        reason = reason or self.blocks.reason(kind, name, entry.distribution)
        part = self._loaded.get(entry.source, {}).get((kind, name))
        if reason:
            status = f"blocked: by {reason}"
        elif entry.part in self._failures:
            status = f"broken: {self._failures[entry.part]}"
        elif (kind, name) in self.added:
            status = f"hidden: write {entry.distribution}:{name}"
        elif len(free) > 1:
            status = f"clash: write {entry.distribution}:{name}"
        else:
            status = "not loaded" if part is None else "ok"
        return PluginInfo(
            name=name,
            kind=kind,
            distribution=entry.distribution,
            version=entry.version,
            module=entry.point.value,
            status=status,
            api=getattr(part, "api", entry.api),  # a command has none of its own
            seconds=self._seconds.get(entry.source),
        )

    def _info_of_added(self, kind: str, name: str) -> PluginInfo:
        """The row of a part that was registered."""
        part, file = self.added[kind, name]
        reason = self.blocks.reason(kind, name, "")
        status = f"blocked: by {reason}" if reason else "ok"
        path, digest = ("", "") if file is None else (file.path, file.sha256)
        api, module = getattr(part, "api", None), type(part).__module__
        if isinstance(part, type):
            module = part.__module__
        return PluginInfo(name, kind, "", "", module, status, api, None, path, digest)
