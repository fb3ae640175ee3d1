"""Imports one plugin, or runs its file, calls its hooks and checks its classes.

Whatever is wrong becomes a BrokenPluginError that names the distribution.
"""

from __future__ import annotations

import copyreg
import hashlib
import os
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from inspect import getattr_static
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from textreg import errors
from textreg.files import refuse_special
from textreg.isolation import blaming, cause_of, contained, message_of, shown
from textreg.plugins.distributions import PART_NAME, Entry

if TYPE_CHECKING:
    from pluggy import PluginManager

# What a part has from its base class, so that all others know what they get.
_FIXED = ("kind", "label", "params", "declared", "replace", "undecided", "__eq__", "__hash__")

# What an entry point names.
_POINT = re.compile(r"[\w.]+(:[\w.]+)?")

# Characters of a name at most.
_LONGEST = 100

# Plugin classes, and commands, by (kind, name).
Parts = dict[tuple[str, str], Any]

_TITLES = {"groups": "group builder", "graph": "graph builder"}
_REQUIREMENT = re.compile(r"[\w.-]+")


def title(kind: str) -> str:
    """The name of a kind in messages."""
    return _TITLES.get(kind, kind)


def import_plugin(entry: Entry) -> Any:
    """The module or object that an entry point names.

    Raises BrokenPluginError if the import raises anything. Warns with PluginWarning, naming the
    distribution, where it uses what will go away.
    """
    who = entry.provider
    if not _POINT.fullmatch(entry.value):
        cause = f"its entry point '{entry.point}' names no module: '{entry.value}'"
        raise errors.BrokenPluginError(
            f"{who} cannot be loaded: {cause}. Its author must fix it.", cause
        )
    try:
        with naming(who):
            return entry.load()
    except ImportError as error:
        cause, remedy = _what_is_missing(error, entry)
        message = f"{who} cannot be loaded: {cause}. Run: {remedy}"
        raise errors.BrokenPluginError(message, cause, remedy) from error
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # plugins may raise anything
        cause, remedy = cause_of(error), f"pip install -U {entry.distribution}"
        message = f"{who} cannot be loaded: {cause}. Update it ({remedy}), or do not use it."
        raise errors.BrokenPluginError(message, cause, remedy) from error


def _what_is_missing(error: ImportError, entry: Entry) -> tuple[str, str]:
    """Why an import failed, and the command that may fix it."""
    missing, own = (str(name).partition(".")[0] for name in (error.name or "", entry.module))
    distribution = entry.distribution
    if missing == "textreg" and own != "textreg":
        what = message_of(error).partition(" (")[0]  # without the path of our file
        remedy = f"pip install -U textreg {distribution}"
        return f"it is made for another version of textreg, {what}", remedy
    if not isinstance(error, ModuleNotFoundError):
        return cause_of(error), f"pip install -U {distribution}"
    if missing == own:
        cause = f"its module {error.name} is missing"
        return cause, f"pip install --force-reinstall {distribution}"
    cause = f"it needs '{missing}', which is not installed"
    return cause, f"pip install {_requirement(distribution, missing)}"


def _requirement(distribution: str, module: str) -> str:
    """The distribution to install for a missing module: a declared one, or one of its name.

    Names differ, as those of sklearn and scikit-learn do, so a requirement that is declared without
    a condition and not installed is what is meant, if there is just one.
    """
    from importlib import metadata

    missing = []
    for line in metadata.requires(distribution) or ():
        match = _REQUIREMENT.match(line)
        if match and ";" not in line:
            try:
                metadata.distribution(match[0])
            except metadata.PackageNotFoundError:
                missing.append(line)
    return f"'{missing[0]}'" if len(missing) == 1 else module


@contextmanager
def naming(provider: str) -> Iterator[None]:
    """Run code of a plugin: every PluginWarning that it causes is prefixed with its name, and the
    state of the process is as before.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", errors.PluginWarning)
        with contained(lambda: provider):
            yield
    for warning in caught:
        if issubclass(warning.category, errors.PluginWarning):
            warnings.warn(errors.PluginWarning(f"{provider}: {warning.message}"), stacklevel=2)
        else:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )


def parts_of(plugin: Any, provider: str) -> Parts:
    """All classes that the hooks of a module or object give.

    Raises BrokenPluginError, naming ``provider``, for a misspelled hook, a hook that fails or gives
    something else than a list of classes of its kind, and a plugin without any class.
    """
    from textreg import hookspecs

    with blaming(lambda: provider, "its hooks", lambda: "--debug shows the traceback."):
        manager = _registered(plugin, provider)
        parts: Parts = {}
        for kind, hook in hookspecs.HOOK_OF_KIND.items():
            try:
                with naming(provider):
                    results = getattr(manager.hook, hook)(**hookspecs.ARGUMENTS)
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # plugins may raise anything
                raise errors.BrokenPluginError(
                    f"the hook {hook} of {provider} fails: {cause_of(error)}."
                ) from error
            for classes in results:
                if not isinstance(classes, (list, tuple)):
                    raise errors.BrokenPluginError(
                        f"the hook {hook} of {provider} must give a list of classes, not "
                        f"{shown(classes)}."
                    )
                for part in classes:
                    add_part(parts, kind, part, provider)
        if not parts:
            raise errors.BrokenPluginError(
                f"{provider} provides nothing: its module needs a function marked @hookimpl, "
                f"called {' or '.join(hookspecs.HOOK_OF_KIND.values())}, that gives a list of "
                "classes."
            )
        return parts


def _registered(plugin: Any, provider: str) -> PluginManager:
    """A plugin manager for this plugin alone, so that a broken one cannot affect others."""
    import pluggy

    from textreg import hookspecs

    manager = pluggy.PluginManager("textreg")
    manager.add_hookspecs(hookspecs)
    try:
        with naming(provider):
            manager.register(plugin, provider)
        manager.check_pending()
    except pluggy.PluginValidationError as error:
        callers = manager.get_hookcallers(plugin) or ()
        unknown = [caller.name for caller in callers if not caller.has_spec()]
        if not unknown:
            why = " ".join(str(error).split())
            raise errors.BrokenPluginError(
                f"{provider} has a hook that does not fit: {why}. If it is made for a newer "
                "textreg, run: pip install -U textreg"
            ) from error
        hint = errors.did_you_mean(unknown[0], hookspecs.HOOK_OF_KIND.values())
        raise errors.BrokenPluginError(
            f"unknown hook '{unknown[0]}' in plugin {provider}.{hint}"
        ) from error
    return manager


def add_part(parts: Parts, kind: str, part: Any, provider: str) -> None:
    """Check one class, or command, and put it into ``parts``.

    Raises BrokenPluginError if it breaks the interface.
    """
    from textreg.kinds import API, KINDS

    if kind == "command":
        import click

        if not isinstance(part, click.Command):
            raise errors.BrokenPluginError(
                f"{provider} gives {shown(part)} as a command, which is no click.Command: decorate "
                "a function with @click.command."
            )
        _add_named(parts, ("command", part.name), part, f"a command of {provider}", provider)
        return
    base = KINDS[kind]
    if not (isinstance(part, type) and issubclass(part, base)):
        hint = ""
        if isinstance(part, base):
            hint = " A hook gives classes: leave out the parentheses."
        raise errors.BrokenPluginError(
            f"{provider} gives {shown(part)}, which is not a subclass of {base.__name__}.{hint}"
        )
    cls: Any = part
    if cls.api != API:
        latest = cls.api if isinstance(cls.api, int) else 0
        raise _other_api(provider, cls.__name__, str(cls.api), latest)
    for name in _FIXED:
        if getattr_static(cls, name) is not getattr_static(base, name):
            raise errors.BrokenPluginError(
                f"{cls.__name__} of {provider} overrides {name}, which textreg relies on: leave it "
                "out, or give it another name."
            )
    cls.declared()  # fails here, and is named, where the declarations were replaced
    if missing := ", ".join(sorted(cls.__abstractmethods__)):
        raise errors.BrokenPluginError(f"{cls.__name__} of {provider} does not define {missing}.")
    if kind == "regularizer" and cls.needs not in ("", "groups", "graph"):
        raise errors.BrokenPluginError(f"{cls.__name__} of {provider} needs {shown(cls.needs)}.")
    _add_named(parts, (kind, cls.name), cls, f"{cls.__name__} of {provider}", provider)


def _add_named(parts: Parts, key: tuple[str, Any], part: Any, who: str, provider: str) -> None:
    """Put a part into ``parts`` by kind and name; BrokenPluginError for a wrong or second name."""
    kind, name = key
    named = isinstance(name, str) and len(name) <= _LONGEST
    if not named or not PART_NAME.fullmatch(name):
        raise errors.BrokenPluginError(
            f"{who} is called {shown(name)}: a name is made of letters, "
            "digits, '_', '.', '+' and '-', starts with a letter or digit, and has at most "
            f"{_LONGEST} of them."
        )
    if parts.setdefault((kind, name), part) is not part:
        raise errors.BrokenPluginError(f"{provider} gives two {title(kind)}s called '{name}'.")


def other_interface(entry: Entry) -> errors.BrokenPluginError:
    """The refusal of a distribution that declares other versions of the interface than this one.

    It is known before anything of the distribution is imported.
    """
    return _other_api(entry.provider, entry.distribution, " or ".join(entry.apis), entry.api or 0)


def _other_api(provider: str, what: str, made_for: str, latest: int) -> errors.BrokenPluginError:
    from textreg.kinds import API

    cause = (
        f"{what} is made for version {made_for} of textreg's plugin interface, and this "
        f"textreg has version {API}"
    )
    newer = latest > API
    remedy = "pip install -U textreg" if newer else ""
    update = f"textreg: {remedy}" if newer else "the plugin."
    return errors.BrokenPluginError(f"{provider}: {cause}. Update {update}", cause, remedy)


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
        raise errors.UsageError(
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
            if isinstance(error, KeyboardInterrupt):
                raise
            cause = cause_of(error)
            raise errors.BrokenPluginError(
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
        reducer = partial(_named, os.path.abspath(path), digest, kind, name)
        copyreg.pickle(part, reducer)


def _named(path: str, digest: str, kind: str, name: str, part: Any) -> tuple[Any, ...]:
    return _again, (path, digest, kind, name, part.params())


def _again(path: str, digest: str, kind: str, name: str, params: dict[str, Any]) -> Any:
    file = PluginFile(path, b"", digest)
    if _module_name(digest) not in sys.modules:
        file = read_file(path)
        if file.sha256 != digest:
            raise errors.PluginError(
                f"the plugin file {path} has the SHA-256 {file.sha256}, and not {digest} as when "
                "its part was pickled. It was not run. Restore that content, or create the part "
                "again."
            )
    return run_file(file)[kind, name](**params)


def _module_name(digest: str) -> str:
    """The name of the module of one content, which tracebacks use."""
    return f"textreg_file_{digest[:16]}"
