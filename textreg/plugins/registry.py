"""Finds plugins by entry-point name, loads those that are used, and isolates broken ones.

Every part, built in or not, is declared in the metadata of its distribution: group ``textreg``,
name ``kind.name``, value a module with hooks (see :mod:`textreg.hookspecs`). So names are listed
without importing anything. An entry point without a kind (``acme = "acme_textreg"``, one module
with many parts) is imported only when a name is not found otherwise, or by ``listing(load=True)``.

A class, a module or a file that is not installed is added by :func:`register` or
:func:`register_file`, for this process only, and its name then stands for it. Two installed
providers of one name are an error where a user gives that name alone; ``distribution:name`` picks
one, as textreg does for its own defaults. What is blocked (see :mod:`textreg.plugins.blocking`) is
neither imported nor found.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable
from typing import Any, Protocol

from textreg.errors import PluginError, UsageError, did_you_mean
from textreg.plugins.entries import KIND_NAMES, Entry, is_among, normal
from textreg.plugins.guard import blaming, shown
from textreg.plugins.inventory import Inventory, class_of, ours
from textreg.plugins.loading import title


class Origin(Protocol):
    """Where a part came from, as model files tell; see :meth:`Registry.origin`."""

    @property
    def name(self) -> str: ...
    @property
    def distribution(self) -> str: ...
    @property
    def file(self) -> str: ...
    @property
    def sha256(self) -> str: ...


class Registry(Inventory):
    """The plugins of a process. The functions of this module are those of one shared registry."""

    def find(self, kind: str, name: str) -> type[Any]:
        """The class of a plugin, imported if need be.

        Parameters
        ----------
        kind : str
            One of :data:`~textreg.plugins.entries.KIND_NAMES`.
        name : str
            ``name``, ``distribution:name``, or ``file:name`` for one of a file. Names of group
            builders with commas between them give one class that joins their groups.

        Raises
        ------
        PluginError
            If there is no such plugin, if two distributions provide it, if it is blocked, or if its
            module cannot be loaded or does not keep to the interface.
        """
        _check_kind(kind)
        if kind == "groups" and "," in name:
            return self._joined(name)
        owner, _, short = name.rpartition(":")
        with self.lock:
            added = self._added(kind, short, owner)
            if added is not None:
                self._refuse_blocked(kind, short, "")
                return added
            faults: list[PluginError] = []
            entries = self._providers(kind, short, owner, faults)
            if not entries:
                raise self._unknown(kind, name, faults)
            if len(entries) > 1:
                raise PluginError(
                    f"{len(entries)} {title(kind)}s are called '{short}': "
                    f"{' and '.join(entry.provider for entry in entries)}. "
                    f"Write {' or '.join(f'{entry.distribution}:{short}' for entry in entries)}."
                )
            return self.load_entry(entries[0])[kind, short]

    def create(self, kind: str, part: Any, /, **params: Any) -> Any:
        """An instance of a plugin.

        Parameters
        ----------
        kind : str
            One of :data:`~textreg.plugins.entries.KIND_NAMES`.
        part : str, class or instance
            A name as for :meth:`find`, a subclass of the kind, or an instance of one.
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

        _check_kind(kind)
        base = KINDS[kind]
        if isinstance(part, base) and not params:
            return part
        made = isinstance(part, base) or (isinstance(part, type) and issubclass(part, base))
        if not (made or isinstance(part, str)):
            raise UsageError(
                f"{title(kind)}: give a name ({', '.join(self.names(kind))}), a subclass of "
                f"{base.__name__} or an instance of one, not {part!r}."
            )
        cls = self.find(kind, part) if isinstance(part, str) else class_of(part)
        advice = "--debug shows its traceback."
        with blaming(lambda: self.who(cls), "its constructor", lambda: advice, own=ours(cls)):
            made = part.replace(**params) if isinstance(part, base) else cls(**params)
            if not isinstance(made, cls):
                raise TypeError(f"it gives {shown(made)}")
            made.params()  # a constructor that sets none of them fails here, and not later
            return made

    def names(self, kind: str) -> list[str]:
        """Names of this ``kind`` that are not blocked, sorted; imports nothing."""
        _check_kind(kind)
        rows = [row for row in self.listing() if row.kind == kind]
        return sorted({row.name for row in rows if not row.status.startswith("blocked")})

    def meant(self, name: str) -> tuple[str, str]:
        """Kind of the part that a user means without saying it, and its name for :meth:`find`.

        The kind stands in front, as in ``groups.file``, or it is that of a regularizer, else of
        the only plugin of that name. UsageError where it could be several.
        """
        kind, _, short = name.partition(".")
        if kind in KIND_NAMES and short:
            return kind, short
        owner, _, short = name.rpartition(":")
        rows = [row for row in self.listing() if row.name == short]
        if owner:
            rows = [
                row
                for row in rows
                if owner in (row.file, os.path.basename(row.file))
                or normal(owner) == row.distribution
            ]
        kinds = list(dict.fromkeys(row.kind for row in rows))  # names may have dots of their own
        if len(kinds) > 1 and "regularizer" not in kinds:
            several = " and ".join(f"{kind}.{name}" for kind in kinds)
            raise UsageError(f"'{name}' stands for {several}: name one of them.")
        return (kinds[0] if len(kinds) == 1 else "regularizer"), name

    def home(self, part: Any) -> str:
        """The same for messages: distribution and version, a file, or the name of the class."""
        cls, info = class_of(part), self.provider(part)
        return f"{cls.__module__}.{cls.__qualname__}" if info is None else info.home

    def who(self, part: Any) -> str:
        """A part for messages: kind, name, and source."""
        return f"{title(part.kind)} '{part.label()}' of {self.home(part)}"

    def origin(self, part: Any) -> dict[str, Any]:
        """The same for model files: distribution, version, api; path and hash of a file."""
        info = self.provider(part)
        known = {
            "distribution": info.distribution if info else "",
            "version": info.version if info else "",
            "api": part.api,
        }
        if info is not None and info.file:
            known |= {"file": info.file, "sha256": info.sha256}
        return known

    def preferred(self, kind: str, name: str, *distributions: str) -> str:
        """A name that a default has, as :meth:`find` takes it, though others may have it as well.

        What was added for this process comes first, then the ``distributions`` in their order.
        """
        if ":" in name or "," in name or self._added(kind, name, "") is not None:
            return name
        known = {entry.distribution for entry in self.entries() if entry.part[:2] == (kind, name)}
        own = next((one for one in distributions if one in known), "")
        return f"{own}:{name}" if own else name

    def spelled(self, origin: Origin) -> str:
        """The name by which :meth:`find` gives a part of just that origin, namesakes or not.

        PluginError if it is from a file, and none that was named has its content. Runs no file.
        """
        if not origin.sha256:
            known = f"{origin.distribution}:{origin.name}" if origin.distribution else origin.name
            return origin.name if "," in origin.name else known
        if origin.sha256 not in (file.sha256 for file in self.files()):
            raise PluginError(
                f"'{origin.name}' of the plugin file {origin.file} (SHA-256 {origin.sha256}) is "
                f"missing: {self.how_to_add(origin)}"
            )
        return f"{origin.sha256}:{origin.name}"

    def how_to_add(self, origin: Origin) -> str:
        """What to do where the file of an origin is missing; names files of other content."""
        others = [f"{file.path} (SHA-256 {file.sha256})" for file in self.files()]
        told = f"write textreg --plugin {shlex.quote(origin.file)} and then the command, or in "
        told += f"Python call textreg.register_file({origin.file!r}) first"
        if others:
            told += f". Given is other content, which was not run for it: {', '.join(others)}"
        return told

    def block(self, names: Iterable[str]) -> None:
        """Keep plugins from being imported and found: see :mod:`textreg.plugins.blocking`.

        Raises PluginError for a name that no plugin has.
        """
        known = self.aliases()
        for name in names:
            if not is_among(name, known):
                raise PluginError(
                    f"cannot block '{name}': no plugin is called that."
                    f"{did_you_mean(name, known)} See: textreg plugins list"
                )
            self.blocks.add(name)

    def _joined(self, names: str) -> type[Any]:
        """One class for several group builders, from their names with commas between them."""
        from textreg.plugins.joining import join

        parts = [part.strip() for part in names.split(",")]
        if not all(parts):
            raise UsageError(
                f"groups: '{names}' has a comma with no name beside it: name one builder, such "
                "as lda, or several with commas between them, such as lda,sentences."
            )
        return join(tuple(self.find("groups", part) for part in parts))

    def _added(self, kind: str, name: str, owner: str) -> type[Any] | None:
        """A part that was added for this process; runs files that may have it.

        owner: empty, or what its file is called.
        """
        if not owner or any(file.is_called(owner) for file in self.files()):
            self.run_waiting()
        part, file = self.added.get((kind, name), (None, None))
        theirs = not owner or (file is not None and file.is_called(owner))
        return part if theirs else None

    def _providers(
        self, kind: str, name: str, owner: str, faults: list[PluginError]
    ) -> list[Entry]:
        """Entry points that provide a part and are not blocked.

        owner: the distribution to look in, empty for all. PluginError if all of them are blocked.
        Only where no entry point has the name are modules of many parts imported; the errors of
        those that fail go to ``faults``.
        """
        entries = self.entries()
        if owner:
            entries = [entry for entry in entries if entry.distribution == normal(owner)]
        named = [entry for entry in entries if (entry.kind, entry.name) == (kind, name)]
        if not named:
            return self._search_modules(kind, name, entries, faults)
        allowed = [entry for entry in named if not self.blocks.reason(*entry.part)]
        if not allowed:
            self._refuse_blocked(*named[0].part)
        return allowed

    def _search_modules(
        self, kind: str, name: str, entries: list[Entry], faults: list[PluginError]
    ) -> list[Entry]:
        """Entry points of modules of many parts that have this one among them."""
        providers = []
        for entry in entries:
            if entry.kind or self.blocks.reason(*entry.part):
                continue
            try:
                parts = self.load_entry(entry)
            except PluginError as error:
                faults.append(error)
                continue
            if (kind, name) in parts:
                self._refuse_blocked(kind, name, entry.distribution)
                providers.append(entry)
        return providers

    def _refuse_blocked(self, kind: str, name: str, distribution: str) -> None:
        if reason := self.blocks.reason(kind, name, distribution):
            others = ", ".join(self.names(kind)) or "none"
            raise PluginError(
                f"the {title(kind)} '{name}' is blocked by {reason}. Allow it, or take another: "
                f"{others}."
            )

    def _unknown(self, kind: str, name: str, faults: list[PluginError]) -> PluginError:
        known = self.names(kind)
        if ":" in name:
            rows = [row for row in self.listing() if row.kind == kind]
            known = [f"{row.distribution}:{row.name}".lstrip(":") for row in rows]
        message = f"no {title(kind)} '{name}'.{did_you_mean(name, known)}"
        message += f" Installed: {', '.join(known) or 'none'}."
        if damaged := self.damaged():
            message += f" Left out as damaged: {'; '.join(damaged)}."
        for fault in faults:
            message += f" It may be in a plugin that is broken: {fault}"
        return PluginError(message)


def _check_kind(kind: str) -> None:
    if kind not in KIND_NAMES:
        raise UsageError(
            f"no kind of plugin '{kind}'.{did_you_mean(kind, KIND_NAMES)} "
            f"There are: {', '.join(KIND_NAMES)}."
        )


_default = Registry()
find = _default.find
meant = _default.meant
create = _default.create
names = _default.names
listing = _default.listing
provider = _default.provider
home = _default.home
who = _default.who
origin = _default.origin
failure = _default.failure
load = _default.load
aliases = _default.aliases
damaged = _default.damaged
blocks = _default.blocks
register = _default.register
register_file = _default.register_file
name_file = _default.name_file
files = _default.files
preferred = _default.preferred
spelled = _default.spelled
how_to_add = _default.how_to_add
block = _default.block
