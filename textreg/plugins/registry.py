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

from collections.abc import Iterable
from typing import Any

from textreg.errors import PluginError, UsageError, did_you_mean, first_few
from textreg.plugins.entries import KIND_NAMES, Entry, is_among
from textreg.plugins.guard import blaming, shown
from textreg.plugins.inventory import class_of, ours
from textreg.plugins.loading import title
from textreg.plugins.satellites import how_to_install, satellite_of
from textreg.plugins.spelling import Spelling

_JOINING = {"groups": "lda,sentences", "tokenizer": "words,chars"}
"""The kinds of parts that can be joined, each with an example."""

_MOST = 4
"""Distributions that a message names at most."""


class Registry(Spelling):
    """The plugins of a process. The functions of this module are those of one shared registry."""

    def find(self, kind: str, name: str) -> type[Any]:
        """The class of a plugin, imported if need be.

        Parameters
        ----------
        kind : str
            One of :data:`~textreg.plugins.entries.KIND_NAMES`.
        name : str
            ``name``, ``distribution:name``, or ``file:name`` for one of a file. Names of group
            builders or tokenizers with commas between them give one class that joins them.

        Raises
        ------
        PluginError
            If there is no such plugin, if two distributions provide it, if it is blocked, or if its
            module cannot be loaded or does not keep to the interface.
        """
        _check_kind(kind)
        if kind in _JOINING and "," in name:
            return self._joined(kind, name)
        owner, _, short = name.rpartition(":")
        with self.lock:
            # A file of the user takes the place of an installed part, but not of a command: the
            # command may refuse the file before it is run.
            of_file = kind != "command" or not self.is_installed(kind, short)
            added = self.added_part(kind, short, owner) if of_file else None
            if added is not None:
                self._refuse_blocked(kind, short, "")
                return added
            faults: list[PluginError] = []
            entries = self._providers(kind, short, owner, faults)
            if not entries:
                raise self._unknown(kind, name, faults)
            if len(entries) > 1:
                entries.sort(
                    key=lambda entry: (entry.distribution != "textreg", entry.distribution)
                )
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
            One of :data:`~textreg.plugins.entries.KIND_NAMES`.
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
        from textreg.plugins.callables import CallableTokenizer, is_function

        _check_kind(kind)
        base = KINDS[kind]
        if kind in _JOINING and isinstance(part, (list, tuple)):
            from textreg.plugins.joining import joined

            part = joined(kind, [self.create(kind, one) for one in part])
        if isinstance(part, base) and not params:
            return part
        made = isinstance(part, base) or (isinstance(part, type) and issubclass(part, base))
        if not (made or isinstance(part, str)):
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

    def is_installed(self, kind: str, name: str) -> bool:
        """Whether an entry point has this part, blocked or not; runs no file."""
        return any(entry.part[:2] == (kind, name) for entry in self.entries())

    def commands(self) -> dict[str, str]:
        """Commands that are not blocked, sorted, each with one line of help; imports nothing.

        Files that the user named are run, as nothing else tells what they give.
        """
        self.run_waiting()
        lines = {entry.name: entry.help for entry in self.entries() if entry.kind == "command"}
        for (kind, name), added in self.added.items():
            if kind == "command":
                lines[name] = added.part.get_short_help_str(100)
        return {name: lines[name] for name in self.names("command")}

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

    def _joined(self, kind: str, names: str) -> type[Any]:
        """One class for several parts of a kind, from their names with commas between them."""
        from textreg.plugins.joining import join

        parts = [part.strip() for part in names.split(",")]
        if not all(parts):
            raise UsageError(
                f"{kind}: '{names}' has a comma with no name beside it: name one, such as "
                f"{_JOINING[kind].partition(',')[0]}, or several with commas between them, such as "
                f"{_JOINING[kind]}."
            )
        return join(kind, tuple(self.find(kind, part) for part in parts))

    def _providers(
        self, kind: str, name: str, owner: str, faults: list[PluginError]
    ) -> list[Entry]:
        """Entry points that provide a part and are not blocked.

        owner: the distribution to look in, empty for all. PluginError if all of them are blocked.
        Only where no entry point has the name are modules of many parts imported; the errors of
        those that fail go to ``faults``.
        """
        entries = self.entries_of(owner) if owner else self.entries()
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
        owner, _, short = name.rpartition(":")
        satellite = satellite_of(kind, short)
        if satellite and owner in ("", satellite) and not self.entries_of(satellite):
            remedy = how_to_install(satellite)
            return PluginError(
                f"the {title(kind)} '{short}' is in {satellite}, which is not installed. Run: "
                f"{remedy}"
            )
        known = self.names(kind)
        if ":" in name:
            rows = [row for row in self.listing() if row.kind == kind]
            known = [f"{row.distribution}:{row.name}".lstrip(":") for row in rows]
        message = f"no {title(kind)} '{name}'.{did_you_mean(name, known)}"
        message += f" Installed: {', '.join(known) or 'none'}."
        if damaged := self.damaged():
            message += f" Left out as damaged: {first_few(damaged, _MOST, '; ')}."
        for fault in faults[:_MOST]:
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
