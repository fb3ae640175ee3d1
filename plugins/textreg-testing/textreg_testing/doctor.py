"""Diagnosis of plugins: each is imported and tried on a small corpus by itself."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from textreg import train
from textreg.errors import BrokenPluginError, PluginError, TextregError, did_you_mean
from textreg.isolation import traceback_of
from textreg.plugins import calls, registry
from textreg.plugins.blocking import DISABLE
from textreg.plugins.entries import is_among, spellings
from textreg.plugins.registry import PluginInfo
from textreg_testing.exporter import plain_models
from textreg_testing.texts import written

DOCUMENTS = 60
"""Number of documents of the corpus that plugins are tried on."""

# What a part of each kind is tried with; the part itself goes under the keyword that is None.
_TRIALS: dict[str, dict[str, Any]] = {
    "regularizer": {"reg": None},
    "tokenizer": {"tokenizer": None, "reg": "textreg:ridge", "reg_l2": 1.0},
    "groups": {"groups": None, "reg": "textreg:group", "reg_group": 0.1, "reg_l1": 0.1},
    "graph": {"graph": None, "reg": "textreg:network"},
    "loss": {"loss": None, "reg": "textreg:ridge", "reg_l2": 1.0},
}

_BUILDERS = {"groups": "textreg:sentences", "graph": "textreg:cooccurrence"}


@dataclass(frozen=True)
class Diagnosis:
    """The diagnosis of one plugin.

    status: ``ok``; ``not tried``, where it needs what only a user can give, such as a file;
    ``blocked``; ``clash``; or ``broken``. cause: why, on one line. remedy: the command that may
    fix it, or empty. traceback: the plugin's own, or empty.
    """

    info: PluginInfo
    status: str
    cause: str = ""
    remedy: str = ""
    traceback: str = ""


def diagnose(name: str = "") -> list[Diagnosis]:
    """Import and try all plugins, or those that ``name`` stands for, and diagnose each.

    name: ``slope``, ``regularizer.slope``, a distribution, or ``distribution:slope``. Only what it
    means is imported, but for modules of many parts where none is called so. Raises PluginError
    where there is none at all.
    """
    rows = registry.listing()
    if name:
        rows = list(_meant(name, rows)) or list(_meant(name, registry.listing(load=True)))
        if not rows:
            known = registry.aliases()
            damaged = [f" Left out as damaged: {one}." for one in registry.damaged()]
            raise PluginError(
                f"no plugin '{name}'.{did_you_mean(name, known)}{''.join(damaged)} "
                "See: textreg plugins list"
            )
    return [found for row in rows for found in _diagnose(row)]


def notes(found: Iterable[Diagnosis] = ()) -> list[str]:
    """What breaks no plugin, in words.

    Distributions that are damaged, names that are to be blocked or allowed and that no plugin has,
    and, of those in ``found``, distributions that declare no version of the interface.
    """
    known = registry.aliases()
    given = [(f"the variable {DISABLE}", os.environ.get(DISABLE, "").split(","))]
    for config in registry.blocks.configs:
        given.append((f"{config.path}", [*config.disable, *(config.allow or ())]))
    damaged = [f"left out as damaged, so install it again: {one}" for one in registry.damaged()]
    homes = {one.info.home for one in found}
    undeclared = [
        f"{provider} does not declare the version of the interface that it is made for, so it is "
        'imported whatever that is. Its author should add [project.entry-points."textreg.api"] to '
        "its pyproject.toml, as on the page about publishing a plugin."
        for provider in registry.undeclared()
        if provider in homes
    ]
    return [*damaged, *undeclared] + [
        f"{where} names '{name}', and no plugin is called that.{did_you_mean(name, known)}"
        for where, listed in given
        for name in map(str.strip, listed)
        if name and not is_among(name, known)
    ]


def _meant(name: str, rows: Iterable[PluginInfo]) -> Iterator[PluginInfo]:
    for row in rows:
        if is_among(name, spellings(row.kind, row.name, row.distribution)):
            yield row


def _diagnose(row: PluginInfo) -> list[Diagnosis]:
    """One diagnosis for each part of the module, usually one."""
    state, _, reason = row.status.partition(": ")
    if state == "blocked":
        return [Diagnosis(row, state, reason)]
    try:
        rows = registry.load(row)
    except BrokenPluginError as error:
        return [_broken(row, error)]
    return [_loaded(part) if part.kind == "command" else _tried(part) for part in rows]


def _loaded(row: PluginInfo) -> Diagnosis:
    """A command is not called, as nobody knows what it does."""
    state, _, reason = row.status.partition(": ")
    return Diagnosis(row, state, reason)


def _tried(row: PluginInfo) -> Diagnosis:
    name = f"{row.distribution}:{row.name}" if row.distribution else row.name
    settings = dict(_TRIALS.get(row.kind, {}))
    texts = written(DOCUMENTS, 2, 4, 1)  # of two topics in turn
    labels = ["lamps", "kettles"] * (DOCUMENTS // 2)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            part = registry.create(row.kind, name)
            settings = {key: part if it is None else it for key, it in settings.items()}
            if row.kind == "regularizer" and part.needs and not part.default_builder:
                settings[part.needs] = _BUILDERS[part.needs]
            if row.kind == "exporter":
                calls.export(part, plain_models()["two labels"])
            else:
                train(texts, labels, ngrams=1, **settings)
    except BrokenPluginError as error:
        return _broken(row, error)
    except TextregError as error:
        return Diagnosis(row, "not tried", str(error))
    return _loaded(row)


def _broken(row: PluginInfo, error: BrokenPluginError) -> Diagnosis:
    remedy = error.remedy or (f"pip install -U {row.distribution}" if row.distribution else "")
    return Diagnosis(row, "broken", error.cause, remedy, traceback_of(error.__cause__))
