"""Plugins in a single Python file, identified and pickled by the hash of its content."""

from __future__ import annotations

import copyreg
import hashlib
import os
import sys
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from textreg.errors import BrokenPluginError, PluginError, UsageError
from textreg.plugins.guard import cause_of, is_ctrl_c
from textreg.plugins.loading import Parts, naming, parts_of


def load_file(path: str | os.PathLike[str], expected: str = "") -> tuple[ModuleType, str]:
    """A Python file as a module, and the SHA-256 of the bytes that were run.

    A content is run once. expected: the digest it must have. UsageError where there is no such
    file, PluginError where it has another digest, BrokenPluginError if it raises anything.
    """
    try:
        source = Path(path).read_bytes()
    except OSError as error:
        raise UsageError(
            f"the plugin file {path} cannot be read: {error.strerror or error}. Check the path."
        ) from error
    digest = hashlib.sha256(source).hexdigest()
    if expected not in ("", digest):
        raise PluginError(
            f"the plugin file {path} has the SHA-256 {digest}, and not {expected} as when its part "
            "was pickled. Restore that content, or create the part again."
        )
    name = _module_name(digest)
    if name in sys.modules:
        return sys.modules[name], digest
    module = ModuleType(name)
    module.__file__ = os.path.abspath(path)
    sys.modules[name] = module
    try:
        with naming(f"the file {path}"):
            exec(compile(source, module.__file__, "exec"), module.__dict__)
    except BaseException as error:  # plugins may raise anything
        sys.modules.pop(name, None)
        if is_ctrl_c(error):
            raise
        cause = cause_of(error)
        raise BrokenPluginError(
            f"the file {path} cannot be loaded: {cause}. Fix it; --debug shows its traceback.",
            cause,
        ) from error
    return module, digest


def pickle_by_file(parts: Parts, path: str | os.PathLike[str], digest: str) -> None:
    """Have instances of these classes name their file when they are pickled: no process but this
    one has its module. Who unpickles one runs the file, if its content is still the same.
    """
    for (kind, name), part in parts.items():
        made = partial(_named, os.path.abspath(path), digest, kind, name)
        copyreg.pickle(part, made)


def _named(path: str, digest: str, kind: str, name: str, part: Any) -> tuple[Any, ...]:
    return _again, (path, digest, kind, name, part.params())


def _again(path: str, digest: str, kind: str, name: str, params: dict[str, Any]) -> Any:
    module = sys.modules.get(_module_name(digest))
    if module is None:
        module, _ = load_file(path, digest)
    parts = parts_of(module, f"the file {path}")
    pickle_by_file(parts, path, digest)
    return parts[kind, name](**params)


def _module_name(digest: str) -> str:
    """The name of the module of one content, which tracebacks use."""
    return f"textreg_file_{digest[:16]}"
