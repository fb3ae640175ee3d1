"""Imports one plugin and takes its classes through the hooks, checking all that a stranger may get
wrong: whatever it is, it becomes a PluginError that names the distribution.
"""

from __future__ import annotations

import re
from importlib.metadata import EntryPoint
from typing import Any

from textreg.errors import PluginError, did_you_mean
from textreg.guard import cause_of

Parts = dict[tuple[str, str], type[Any]]
"""Plugin classes by (kind, name)."""

_TITLES = {"groups": "group builder", "graph": "graph builder"}
_NAME = re.compile(r"\w[\w.+-]*")


def title(kind: str) -> str:
    """What to call a plugin of this kind in a message."""
    return _TITLES.get(kind, kind)


def import_plugin(point: EntryPoint, distribution: str, version: str) -> Any:
    """The module or object that an entry point names. PluginError if the import raises anything."""
    who = f"{distribution} {version}"
    try:
        return point.load()
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing == point.module.partition(".")[0]:
            cause = f"its module {error.name} is missing"
            remedy = f"pip install --force-reinstall {distribution}"
        else:
            cause = f"it needs '{missing}', which is not installed"
            remedy = f"pip install {missing}"
        raise PluginError(f"{who} cannot be loaded: {cause}. Run: {remedy}") from error
    except (Exception, SystemExit) as error:  # a stranger's module may raise anything
        raise PluginError(
            f"{who} cannot be loaded: {cause_of(error)}. Update it (pip install -U {distribution}), "
            f"or go without it."
        ) from error


def parts_of(plugin: Any, provider: str) -> Parts:
    """All classes that the hooks of a module or object give.

    Raises PluginError, naming ``provider``, for a misspelt hook, a hook that fails or gives
    something else than a list of classes of its kind, and a plugin without any class.
    """
    import pluggy

    from textreg import hookspecs

    # A manager for each plugin: what is wrong with one cannot touch another.
    manager = pluggy.PluginManager("textreg")
    manager.add_hookspecs(hookspecs)
    try:
        manager.register(plugin, provider)
        manager.check_pending()
    except pluggy.PluginValidationError as error:
        callers = manager.get_hookcallers(plugin) or ()
        unknown = [caller.name for caller in callers if not caller.has_spec()]
        if not unknown:
            why = " ".join(str(error).split())
            raise PluginError(f"{provider} has a hook that does not fit: {why}.") from error
        hint = did_you_mean(unknown[0], hookspecs.HOOK_OF_KIND.values())
        raise PluginError(f"unknown hook '{unknown[0]}' in plugin {provider}.{hint}") from error
    parts: Parts = {}
    for kind, hook in hookspecs.HOOK_OF_KIND.items():
        try:
            results = getattr(manager.hook, hook)()
        except Exception as error:  # a stranger's hook may raise anything
            raise PluginError(f"the hook {hook} of {provider} fails: {cause_of(error)}.") from error
        for classes in results:
            if not isinstance(classes, (list, tuple)):
                raise PluginError(
                    f"the hook {hook} of {provider} must give a list of classes, not {classes!r}."
                )
            for part in classes:
                add_part(parts, kind, part, provider)
    if not parts:
        raise PluginError(
            f"{provider} provides nothing: its module needs a function marked @hookimpl, called "
            f"{' or '.join(hookspecs.HOOK_OF_KIND.values())}, that gives a list of classes."
        )
    return parts


def add_part(parts: Parts, kind: str, part: Any, provider: str) -> None:
    """Check one class and put it into ``parts``. PluginError if it breaks the interface."""
    from textreg.kinds import API, KINDS

    base = KINDS[kind]
    if not (isinstance(part, type) and issubclass(part, base)):
        raise PluginError(f"{provider} gives {part!r}, which is not a subclass of {base.__name__}.")
    cls: Any = part
    if cls.api != API:
        raise PluginError(
            f"{cls.__name__} of {provider} is made for version {cls.api} of textreg's plugin "
            f"interface; this textreg has version {API}. Update the older of the two."
        )
    if missing := ", ".join(sorted(cls.__abstractmethods__)):
        raise PluginError(f"{cls.__name__} of {provider} does not define {missing}.")
    if not isinstance(cls.name, str) or not _NAME.fullmatch(cls.name):
        raise PluginError(
            f"{cls.__name__} of {provider} is called {cls.name!r}: a name is made of letters, "
            f"digits, '_', '.', '+' and '-', and starts with a letter or digit."
        )
    if parts.setdefault((kind, cls.name), cls) is not cls:
        raise PluginError(f"{provider} gives two {title(kind)}s called '{cls.name}'.")
