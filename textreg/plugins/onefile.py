"""Plugins in a single Python file, identified and pickled by the hash of its content."""

from __future__ import annotations

import copyreg
import hashlib
import os
import sys
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from textreg.errors import BrokenPluginError, PluginError, UsageError
from textreg.files import refuse_special
from textreg.plugins.guard import cause_of, is_ctrl_c
from textreg.plugins.loading import Parts, naming, parts_of


class PluginFile(NamedTuple):
    """A Python file with plugins: its path as it was given, its content and the SHA-256 of that."""

    path: str
    source: bytes
    sha256: str

    def is_called(self, name: str) -> bool:
        """Whether users may mean it: by its path, its file name or its digest."""
        return name in (self.path, os.path.basename(self.path), self.sha256)


def read_file(path: str | os.PathLike[str]) -> PluginFile:
    """A file, which is not run; UsageError where there is none."""
    refuse_special(path)
    try:
        source = Path(path).read_bytes()
    except OSError as error:
        raise UsageError(
            f"the plugin file {path} cannot be read: {error.strerror or error}. Check the path."
        ) from error
    return PluginFile(os.fspath(path), source, hashlib.sha256(source).hexdigest())


def run_file(file: PluginFile) -> Parts:
    """Run a file, but a content only once, and give its parts.

    Raises BrokenPluginError for whatever it raises, and if its hooks are wrong.
    """
    name = _module_name(file.sha256)
    module = sys.modules.get(name)
    if module is None:
        module = ModuleType(name)
        module.__file__ = os.path.abspath(file.path)
        sys.modules[name] = module
        try:
            with naming(f"the file {file.path}"):
                exec(compile(file.source, module.__file__, "exec"), module.__dict__)
        except BaseException as error:  # plugins may raise anything
            sys.modules.pop(name, None)
            if is_ctrl_c(error):
                raise
            cause = cause_of(error)
            raise BrokenPluginError(
                f"the file {file.path} cannot be loaded: {cause}. Fix it; --debug shows its "
                "traceback.",
                cause,
            ) from error
        sys.modules[name] = module  # whatever it did with that itself
    parts = parts_of(module, f"the file {file.path}")
    pickle_by_file(parts, file.path, file.sha256)
    return parts


def pickle_by_file(parts: Parts, path: str | os.PathLike[str], digest: str) -> None:
    """Have instances of these classes name their file when they are pickled: no process but this
    one has its module. Who unpickles one runs the file, if its content is still the same.
    """
    for (kind, name), part in parts.items():
        if kind == "command":
            continue  # which stays in the process of the program
        made = partial(_named, os.path.abspath(path), digest, kind, name)
        copyreg.pickle(part, made)


def _named(path: str, digest: str, kind: str, name: str, part: Any) -> tuple[Any, ...]:
    return _again, (path, digest, kind, name, part.params())


def _again(path: str, digest: str, kind: str, name: str, params: dict[str, Any]) -> Any:
    file = PluginFile(path, b"", digest)
    if _module_name(digest) not in sys.modules:
        file = read_file(path)
        if file.sha256 != digest:
            raise PluginError(
                f"the plugin file {path} has the SHA-256 {file.sha256}, and not {digest} as when "
                "its part was pickled. It was not run. Restore that content, or create the part "
                "again."
            )
    return run_file(file)[kind, name](**params)


def _module_name(digest: str) -> str:
    """The name of the module of one content, which tracebacks use."""
    return f"textreg_file_{digest[:16]}"
