"""What names stand for, and which name stands for one part only."""

from __future__ import annotations

import os
import shlex
from typing import Any, Protocol

from textreg.errors import PluginError, UsageError
from textreg.plugins.entries import KIND_NAMES, normal
from textreg.plugins.inventory import Inventory, class_of
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


class Spelling(Inventory):
    """The plugins of a process, and their names."""

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
        """The source of a part for messages: distribution and version, a file, or its class."""
        cls, info = class_of(part), self.provider(part)
        return f"{cls.__module__}.{cls.__qualname__}" if info is None else info.home

    def who(self, part: Any) -> str:
        """A part for messages: kind, name and source."""
        return f"{title(part.kind)} '{part.label()}' of {self.home(part)}"

    def origin(self, part: Any) -> dict[str, Any]:
        """The source of a part for model files: distribution, version, api; a file and its hash."""
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
        if ":" in name or "," in name or self.added_part(kind, name, "") is not None:
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

    def added_part(self, kind: str, name: str, owner: str) -> type[Any] | None:
        """A part that was added for this process; runs files that may have it.

        owner: empty, or what its file is called.
        """
        if not owner or any(file.is_called(owner) for file in self.files()):
            self.run_waiting()
        part, file = self.added.get((kind, name), (None, None))
        theirs = not owner or (file is not None and file.is_called(owner))
        return part if theirs else None
