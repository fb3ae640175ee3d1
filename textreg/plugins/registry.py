"""Finds plugins by entry-point name, loads those that are used, and isolates broken ones.

Every part, built in or not, is declared in the metadata of its distribution: group ``textreg``,
name ``kind.name``, value a module with hooks (see :mod:`textreg.hookspecs`). So names are listed
without importing anything.

A class, a module or a file that is not installed is added by :func:`register` or
:func:`register_file`, for this process only, and its name then stands for it. Two installed
providers of one name are an error where a user gives that name alone; ``distribution:name`` picks
one, as textreg does for its own defaults. What is blocked (see
:mod:`textreg.plugins.distributions`) is neither imported nor found.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from textreg.errors import BrokenPluginError, PluginError, UsageError, did_you_mean, first_few
from textreg.isolation import blaming, shown
from textreg.plugins import distributions, loading
from textreg.plugins.distributions import KIND_NAMES, Blocks, Entry, is_among, normal
from textreg.plugins.loading import Parts, PluginFile, title
from textreg.terminal import shell_line

if TYPE_CHECKING:
    from textreg.kinds import GraphBuilder, GroupBuilder, Loss, Regularizer, Tokenizer


# The kinds of parts that can be joined, each with an example.
_JOINING = {"groups": "lda,sentences", "tokenizer": "words,chars"}

# What stands before the name of a builder whose structure is shuffled.
PREFIX = "shuffled"

# Distributions that a message names at most.
_MOST = 4


@dataclass(frozen=True)
class PluginInfo:
    """One row of the list of plugins.

    distribution and version are empty for what was registered by hand. status: ``not loaded``,
    ``ok``, or one of ``blocked``, ``clash`` and ``broken`` with more after a colon. api: the
    interface it was made for, None if its distribution declares none and it is not loaded.
    seconds: that its import took, None if there was none. file, sha256: of a plugin that is one
    file, its path as it was given and the digest of its content.
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


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Where a part came from, as model files tell.

    Attributes
    ----------
    name : str
        Its name.
    distribution, version : str
        The installed distribution that it is part of; empty for a class that a program registered.
    api : int
        Version of the plugin interface that it was made for.
    file, sha256 : str
        Path and SHA-256 digest of a plugin that is one file; empty for others.
    """

    name: str
    distribution: str
    version: str
    api: int
    file: str = ""
    sha256: str = ""


class Registry:
    """The plugins of a process: installed, loaded, registered and broken ones; safe for threads.

    Modules are imported here and nowhere else. The functions of this module are those of one
    shared registry.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.blocks = Blocks()
        self.added: dict[tuple[str, str], Added] = {}
        self.waiting: list[PluginFile] = []
        self._scanned: list[Entry] | None = None
        self._damaged: list[str] = []
        self._own: dict[str, list[Entry]] = {}
        self._loaded: dict[tuple[str, str], Parts] = {}
        self._seconds: dict[tuple[str, str], float] = {}
        self._failures: dict[tuple[str, str, str], BrokenPluginError] = {}

    def entries(self) -> list[Entry]:
        """All entry points, read once."""
        if self._scanned is None:
            self._scanned = distributions.scan(self._damaged)
            for entry in self._scanned:
                if not entry.fits:
                    self._failures[entry.part] = loading.other_interface(entry)
        return self._scanned

    def entries_of(self, distribution: str) -> list[Entry]:
        """Those of one distribution, of which alone the metadata is read where that is enough."""
        name = normal(distribution)
        if self._scanned is None:
            if name not in self._own:
                self._own[name] = distributions.scan_one(name)
            if entries := self._own[name]:
                return entries
        return [entry for entry in self.entries() if entry.distribution == name]

    def damaged(self) -> list[str]:
        """Descriptions of distributions with damaged metadata."""
        self.entries()
        return self._damaged

    def undeclared(self) -> list[str]:
        """The providers that declare no version of the interface in their metadata, each once."""
        return sorted({entry.provider for entry in self.entries() if not entry.apis})

    def load_entry(self, entry: Entry) -> Parts:
        """The parts of an entry's module. A failure is stored, and raised."""
        from textreg import hookspecs  # noqa: F401  # what all plugins import is not their time

        if not entry.fits:
            raise loading.other_interface(entry)
        try:
            if entry.source not in self._loaded:
                begin = time.perf_counter()
                plugin = loading.import_plugin(entry)
                self._seconds[entry.source] = round(time.perf_counter() - begin, 4)
                self._loaded[entry.source] = loading.parts_of(plugin, entry.provider)
            parts = self._loaded[entry.source]
            if (entry.kind, entry.name) not in parts:
                offered = ", ".join(f"{title(kind)} '{name}'" for kind, name in parts)
                raise BrokenPluginError(
                    f"{entry.provider} declares '{entry.point}', but {entry.value} "
                    f"gives: {offered}. Its author must make the two names the same."
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
            loading.add_part(parts, kind, plugin, label)
        else:
            parts = loading.parts_of(plugin, label)
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
        file = loading.read_file(path)
        self.add(loading.run_file(file), file)

    def name_file(self, path: str | os.PathLike[str]) -> None:
        """The same, but the file is run when a part is first looked for, and maybe never.

        So a model or a journal that needs other content can refuse the file before it runs.
        """
        self.waiting.append(loading.read_file(path))

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
                self.add(loading.run_file(file), file)

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
                rows.append(self._info(entry))
            rows += [self._info_of_added(*key) for key in self.added]
        return sorted(rows, key=lambda row: (row.kind, row.name, row.distribution))

    def load(self, row: PluginInfo) -> PluginInfo:
        """Import the module of a row of the list; the row afterwards."""
        with self.lock:
            for entry in self.entries():
                if entry.part == (row.kind, row.name, row.distribution):
                    self.load_entry(entry)
                    return self._info(entry)
        return row

    def provider(self, part: Any) -> PluginInfo | None:
        """The plugin that a class or instance comes from, if any. Imports nothing."""
        cls = class_of(part)
        cls = getattr(cls, "original", cls)  # of a shuffled one
        with self.lock:
            for key, added in self.added.items():
                if added.part is cls:
                    return self._info_of_added(*key)
            for entry in self.entries():
                if cls.name != entry.name or self.blocks.reason(*entry.part):
                    continue
                if entry.module in sys.modules:
                    with suppress(PluginError):  # somebody imported it past us
                        self.load_entry(entry)
                if self._part_of(entry) is cls:
                    return self._info(entry)
        return None

    def _part_of(self, entry: Entry) -> Any:
        """The part of an entry; None if it is not loaded."""
        return self._loaded.get(entry.source, {}).get((entry.kind, entry.name))

    def failure(self, info: PluginInfo) -> BrokenPluginError | None:
        """Why a plugin is broken, with the traceback in ``__cause__``; None if it is not known."""
        with self.lock:
            return self._failures.get((info.kind, info.name, info.distribution))

    def aliases(self) -> set[str]:
        """All names that users may write to block or diagnose a plugin."""
        parts = [(row.kind, row.name, row.distribution) for row in self.listing()]
        return {alias for part in parts for alias in distributions.spellings(*part)}

    def _info(self, entry: Entry) -> PluginInfo:
        """The row of an entry."""
        kind, name = entry[:2]
        same = [other for other in self.entries() if other[:2] == (kind, name)]
        free = [other for other in same if not self.blocks.reason(*other.part)]
        part = self._part_of(entry)
        if reason := self.blocks.reason(*entry.part):
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
            module=entry.value,
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
        api, module = getattr(part, "api", None), class_of(part).__module__
        return PluginInfo(name, kind, "", "", module, status, api, None, path, digest)

    def find(self, kind: str, name: str) -> type[Any]:
        """The class of a plugin, imported if need be.

        Parameters
        ----------
        kind : str
            One of :data:`~textreg.plugins.distributions.KIND_NAMES`.
        name : str
            ``name``, ``distribution:name``, or ``file:name`` for one of a file. Names of group
            builders or tokenizers with commas between them give one class that joins them. Of group
            and graph builders ``shuffled:name`` gives the shadow of their structure: see
            :mod:`textreg.structure.shuffling`.

        Raises
        ------
        PluginError
            If there is no such plugin, if two distributions provide it, if it is blocked, or if its
            module cannot be loaded or does not keep to the interface.
        """
        _check_kind(kind)
        if kind in ("groups", "graph") and name.startswith(f"{PREFIX}:"):
            from textreg.structure.shuffling import shuffled

            builder: Any = self.find(kind, name.removeprefix(f"{PREFIX}:"))
            return shuffled(builder)
        if kind in _JOINING and "," in name:
            return self._joined(kind, name)
        owner, _, short = name.rpartition(":")
        with self.lock:
            # A file of the user takes the place of an installed part, but not of a command or a
            # backend: these are asked for before a model may refuse the file, which is not run yet.
            early = kind in ("command", "backend")
            of_file = not (early and (owner == "textreg" or self.is_installed(kind, short)))
            added = self.added_part(kind, short, owner) if of_file else None
            if added is not None:
                self._refuse_blocked(kind, short, "")
                return added
            entries = self._providers(kind, short, owner)
            if not entries:
                raise self._unknown(kind, name)
            if len(entries) > 1:
                entries.sort(key=lambda it: (it.distribution != "textreg", it.distribution))
                providers = [entry.provider for entry in entries]
                names = [f"{entry.distribution}:{short}" for entry in entries]
                raise PluginError(
                    f"{len(entries)} {title(kind)}s are called '{short}': "
                    f"{first_few(providers, _MOST, ' and ')}. "
                    f"Write {first_few(names, _MOST, ' or ')}."
                )
            part: type[Any] = self.load_entry(entries[0])[kind, short]
            return part

    def create(self, kind: str, part: Any, /, **params: Any) -> Any:
        """An instance of a plugin.

        Parameters
        ----------
        kind : str
            One of :data:`~textreg.plugins.distributions.KIND_NAMES`.
        part : str, class, instance or list
            A name as for :meth:`find`, a subclass of the kind, an instance of one, or for group
            builders and tokenizers a list of these, which are joined. A tokenizer may be any other
            callable, too.
        **params
            Parameters by name; an instance is returned with these replaced.

        Raises
        ------
        PluginError
            As for :meth:`find`.
        UsageError
            For a wrong parameter, and for a ``part`` that is none of these.
        """
        from textreg.kinds import KINDS
        from textreg.structure.joining import CallableTokenizer, is_function, joined

        _check_kind(kind)
        base = KINDS[kind]
        if kind in _JOINING and isinstance(part, (list, tuple)):
            part = joined(kind, [self.create(kind, item) for item in part])
        if isinstance(part, base) and not params:
            return part
        is_part = isinstance(part, base) or (isinstance(part, type) and issubclass(part, base))
        if not (is_part or isinstance(part, str)):
            if kind == "tokenizer" and is_function(part):
                return self.create(kind, CallableTokenizer.of(part), **params)
            more = ", or any callable" if kind == "tokenizer" else ""
            raise UsageError(
                f"{title(kind)}: give a name ({', '.join(self.names(kind))}), a subclass of "
                f"{base.__name__} or an instance of one{more}, not {part!r}."
            )
        cls = self.find(kind, part) if isinstance(part, str) else class_of(part)
        advice = "--debug shows its traceback."
        with blaming(lambda: self.who(cls), "its constructor", lambda: advice, own=ours(cls)):
            instance = part.replace(**params) if isinstance(part, base) else cls(**params)
            if not isinstance(instance, cls):
                raise TypeError(f"it gives {shown(instance)}")
            instance.params()  # a constructor that sets none of them fails here, and not later
            return instance

    def names(self, kind: str) -> list[str]:
        """Names of this ``kind`` that are not blocked, sorted; imports nothing."""
        _check_kind(kind)
        rows = [row for row in self.listing() if row.kind == kind]
        return sorted({row.name for row in rows if not row.status.startswith("blocked")})

    def is_installed(self, kind: str, name: str) -> bool:
        """Whether an entry point has this part, blocked or not; runs no file."""
        return any(entry.part[:2] == (kind, name) for entry in self.entries())

    def commands(self) -> dict[str, str]:
        """Commands that are not blocked, sorted, each with one line of help; imports nothing.

        Files that the user named are run, as nothing else tells what they give.
        """
        self.run_waiting()
        lines = distributions.commands_of_all()
        if self.blocks.added or distributions.may_be_blocked():
            lines = {name: lines[name] for name in self.names("command") if name in lines}
        for (kind, name), added in self.added.items():
            if kind == "command":
                lines[name] = added.part.get_short_help_str(100)
        return lines

    def block(self, names: Iterable[str]) -> None:
        """Keep plugins from being imported and found: see :mod:`textreg.plugins.distributions`.

        Raises PluginError for a name that no plugin has.
        """
        known = self.aliases()
        for name in names:
            if not is_among(name, known):
                raise PluginError(
                    f"cannot block '{name}': no plugin is called that."
                    f"{did_you_mean(name, known)} See: textreg plugins list"
                )
            self.blocks.added.add(name)

    def _joined(self, kind: str, names: str) -> type[Any]:
        """One class for several parts of a kind, from their names with commas between them."""
        from textreg.structure.joining import join

        parts = [part.strip() for part in names.split(",")]
        if not all(parts):
            raise UsageError(
                f"{kind}: '{names}' has a comma with no name beside it: name one, such as "
                f"{_JOINING[kind].partition(',')[0]}, or several with commas between them, such as "
                f"{_JOINING[kind]}."
            )
        return join(kind, tuple(self.find(kind, part) for part in parts))

    def _providers(self, kind: str, name: str, owner: str) -> list[Entry]:
        """Entry points that provide a part and are not blocked.

        owner: the distribution to look in, empty for all. PluginError if all of them are blocked.
        """
        entries = self.entries_of(owner) if owner else self.entries()
        named = [entry for entry in entries if (entry.kind, entry.name) == (kind, name)]
        allowed = [entry for entry in named if not self.blocks.reason(*entry.part)]
        if named and not allowed:
            self._refuse_blocked(*named[0].part)
        return allowed

    def _refuse_blocked(self, kind: str, name: str, distribution: str) -> None:
        if reason := self.blocks.reason(kind, name, distribution):
            others = ", ".join(self.names(kind)) or "none"
            raise PluginError(
                f"the {title(kind)} '{name}' is blocked by {reason}. Allow it, or take another: "
                f"{others}."
            )

    def _unknown(self, kind: str, name: str) -> PluginError:
        owner, _, short = name.rpartition(":")
        satellite = distributions.satellite_of(kind, short)
        if satellite and owner in ("", satellite) and not self.entries_of(satellite):
            remedy = distributions.how_to_install(satellite)
            return PluginError(
                f"the {title(kind)} '{short}' is in {satellite}, which is not installed. Run: "
                f"{remedy}"
            )
        known = self.names(kind)
        if ":" in name:
            rows = [row for row in self.listing() if row.kind == kind]
            known = [f"{row.distribution}:{row.name}".lstrip(":") for row in rows]
        message = f"no {title(kind)} '{name}'.{did_you_mean(name, known)}"
        if kind in ("groups", "graph") and os.path.isfile(name):
            path = shell_line([f"--{kind}", "file", f"--{kind}-path", name])
            return PluginError(f"no {title(kind)} '{name}'. To read a file, pass {path}")
        message += f" Installed: {', '.join(known) or 'none'}."
        if damaged := self.damaged():
            message += f" Left out as damaged: {first_few(damaged, _MOST, '; ')}."
        return PluginError(message)

    def who(self, part: Any) -> str:
        """A part for messages: kind, name and source, which is its class where nobody gave it."""
        cls, info = class_of(part), self.provider(part)
        home = f"{cls.__module__}.{cls.__qualname__}" if info is None else info.home
        return f"{title(part.kind)} '{part.label()}' of {home}"

    def origin(self, part: Any) -> Origin:
        """The source of a part for model files."""
        info, source = self.provider(part), {"distribution": "", "version": ""}
        if info is not None:
            source = {key: getattr(info, key) for key in (*source, "file", "sha256")}
        return Origin(name=part.label(), api=part.api, **source)

    def preferred(self, kind: str, name: str, *distributions: str) -> str:
        """A name that a default has, as :meth:`find` takes it, though others may have it as well.

        What was added for this process comes first, then the ``distributions`` in their order.
        """
        if ":" in name or "," in name or self.added_part(kind, name, "") is not None:
            return name
        known = {entry.distribution for entry in self.entries() if entry.part[:2] == (kind, name)}
        first = next((distribution for distribution in distributions if distribution in known), "")
        return f"{first}:{name}" if first else name

    def spelled(self, origin: Origin) -> str:
        """The name by which :meth:`find` gives a part of just that origin, namesakes or not.

        PluginError if it is from a file, and none that was named has its content. Runs no file.
        """
        if not origin.sha256:
            known = f"{origin.distribution}:{origin.name}" if origin.distribution else origin.name
            shuffled = origin.name.startswith(f"{PREFIX}:")
            return origin.name if "," in origin.name or shuffled else known
        if origin.sha256 not in (file.sha256 for file in self.files()):
            raise PluginError(
                f"'{origin.name}' of the plugin file {origin.file} (SHA-256 {origin.sha256}) is "
                f"missing: {self.how_to_add(origin)}"
            )
        return f"{origin.sha256}:{origin.name}"

    def how_to_add(self, origin: Origin) -> str:
        """What to do where the file of an origin is missing; names files of other content."""
        files = [f"{file.path} (SHA-256 {file.sha256})" for file in self.files()]
        remedy = f"write {shell_line(['textreg', '--plugin', origin.file])} and then the command, "
        remedy += f"or in Python call textreg.register_file({origin.file!r}) first"
        if files:
            remedy += f". Given is other content, which was not run for it: {', '.join(files)}"
        return remedy

    def added_part(self, kind: str, name: str, owner: str) -> type[Any] | None:
        """A part that was added for this process; runs files that may have it.

        owner: empty, or what its file is called.
        """
        if not owner or any(file.is_called(owner) for file in self.files()):
            self.run_waiting()
        part, file = self.added.get((kind, name), (None, None))
        theirs = not owner or (file is not None and file.is_called(owner))
        return part if theirs else None


def _check_kind(kind: str) -> None:
    if kind not in KIND_NAMES:
        raise UsageError(
            f"no kind of plugin '{kind}'.{did_you_mean(kind, KIND_NAMES)} "
            f"There are: {', '.join(KIND_NAMES)}."
        )


_default = Registry()
find = _default.find
create = _default.create
names = _default.names
listing = _default.listing
provider = _default.provider
who = _default.who
origin = _default.origin
failure = _default.failure
load = _default.load
aliases = _default.aliases
damaged = _default.damaged
undeclared = _default.undeclared
entries = _default.entries
blocks = _default.blocks
register = _default.register
register_file = _default.register_file
name_file = _default.name_file
files = _default.files
preferred = _default.preferred
spelled = _default.spelled
how_to_add = _default.how_to_add
block = _default.block
commands = _default.commands
is_installed = _default.is_installed


def regularizer(name: str, /, **params: Any) -> Regularizer:
    """A regularizer by name.

    Parameters
    ----------
    name : str
        ``name`` or ``distribution:name``, as ``textreg plugins list`` shows them.
    **params
        Its parameters; training searches those that are left out and have a search grid.

    Returns
    -------
    Regularizer

    Raises
    ------
    PluginError
        If there is no such plugin, or if it is broken.
    UsageError
        For a wrong parameter.

    Examples
    --------
    >>> regularizer("elastic", l2=0.5)
    Elastic(l2=0.5, l1=AUTO)
    """
    return cast("Regularizer", create("regularizer", name, **params))


def tokenizer(name: str, /, **params: Any) -> Tokenizer:
    """A tokenizer by name.

    Several names with commas between them give one tokenizer that joins them.

    Parameters
    ----------
    name, **params
        As for :func:`regularizer`.

    Returns
    -------
    Tokenizer

    Raises
    ------
    PluginError, UsageError
        As for :func:`regularizer`.

    Examples
    --------
    >>> tokenizer("words", min_length=2)("A box.")
    [['box']]
    """
    return cast("Tokenizer", create("tokenizer", name, **params))


def group_builder(name: str, /, **params: Any) -> GroupBuilder:
    """A group builder by name.

    Several names with commas between them give one builder that joins their groups.

    Parameters
    ----------
    name, **params
        As for :func:`regularizer`.

    Returns
    -------
    GroupBuilder

    Raises
    ------
    PluginError, UsageError
        As for :func:`regularizer`.

    Examples
    --------
    >>> import textreg
    >>> tokens = textreg.tokenizer("words").encode(["A red box. It broke."])
    >>> group_builder("sentences").build(tokens)
    <Groups: 2 over 5 features, 5 entries>
    """
    return cast("GroupBuilder", create("groups", name, **params))


def graph_builder(name: str, /, **params: Any) -> GraphBuilder:
    """A graph builder by name.

    Parameters
    ----------
    name, **params
        As for :func:`regularizer`.

    Returns
    -------
    GraphBuilder

    Raises
    ------
    PluginError, UsageError
        As for :func:`regularizer`.

    Examples
    --------
    >>> graph_builder("cooccurrence")
    Cooccurrence()
    """
    return cast("GraphBuilder", create("graph", name, **params))


def loss(name: str, /, **params: Any) -> Loss:
    """A loss by name.

    Parameters
    ----------
    name, **params
        As for :func:`regularizer`.

    Returns
    -------
    Loss

    Raises
    ------
    PluginError, UsageError
        As for :func:`regularizer`.

    Examples
    --------
    >>> loss("hinge", smoothing=0.5)
    SmoothedHinge(smoothing=0.5)
    """
    return cast("Loss", create("loss", name, **params))
