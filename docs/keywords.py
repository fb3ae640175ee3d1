"""textreg/training/keywords.pyi: the keywords of ``train`` and ``compare``, from declarations.

A type checker reads them there; they are nowhere when a program runs.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from textreg.estimators.linear import OF_ROWS
from textreg.estimators.text import OF_LABELS
from textreg.params import Param, Parametrized
from textreg.plugins import registry
from textreg.structure.joining import join
from textreg.training import settings
from textreg.training.settings import PREFIXES, RECORDS, declared_settings

PATH = Path(settings.__file__).with_name("keywords.pyi")
KINDS = {
    "reg": "Regularizer",
    "tokenizer": "Tokenizer",
    "groups": "GroupBuilder",
    "graph": "GraphBuilder",
    "loss": "Loss",
}
JOINED = ("groups", "tokenizer")
CONVERTED = {"fields": "Sequence[str | Field] | Mapping[str, Any] | None"}
"""What settings are given as that are something else once they are checked."""

NAMED = ("reg", "dev", "unlabeled")
"""Parameters that ``train`` names itself."""

HEAD = '''# ruff: noqa: E501
# fmt: off
"""The keywords of ``train`` and ``compare``, for type checkers: written by ``make reference``.

Parameters of built-in parts are here. A part of a plugin is given as an object with its parameters:
``reg=Slope(rate=0.1)``, or by its name, ``reg=textreg.regularizer("slope", rate=0.1)``.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypedDict

from textreg.kinds import GraphBuilder, GroupBuilder, Loss, Tokenizer
from textreg.records.documents import Field

class FitSettings(TypedDict, total=False):
    """The settings of every fit."""

'''
TEXTS = '''

class TextSettings(FitSettings, total=False):
    """The same with those that every training of texts has."""

'''
OF_CLASSES = '''

class LabelSettings(TextSettings, total=False):
    """The same with those of a classification."""

'''
ALL = '''

class SettingsKeywords(LabelSettings, total=False):
    """The settings of a training that ``compare`` takes as well."""

'''
TAIL = '''

class TrainKeywords(SettingsKeywords, total=False):
    """The settings of a training that ``train`` does not name itself."""

    seed: int


class RegressorKeywords(TextSettings, total=False):
    """The parameters of ``TextRegressor``."""

    seed: int


class ClassifierKeywords(LabelSettings, total=False):
    """The parameters of ``TextClassifier``, whose labels may be of any type."""

    class_weight: str | Mapping[Any, float] | None
    threshold: Mapping[Any, str] | None
    seed: int


class LinearKeywords(FitSettings, total=False):
    """The parameters of ``LinearRegressor``."""

    groups: Any
    graph: Any
    fit_intercept: bool
    cv: Any
'''
LAST = '''

class LinearClassifierKeywords(LinearKeywords, total=False):
    """The parameters of ``LinearClassifier``, whose labels may be of any type."""

    class_weight: str | Mapping[Any, float] | None
'''

OF_MATRICES = ("groups", "graph", "fit_intercept", "cv")
"""Parameters that estimators of rows take in other forms."""

BY_LABEL = ("class_weight", "threshold")
"""Settings with a value for each label, which estimators take of any type."""


def source() -> str:
    """The whole module."""
    fits, texts, labels, others = [], [], [], []
    for key, declared in declared_settings().items():
        if key not in (*NAMED, "seed"):
            own = key == "task" or key in BY_LABEL
            where = others if own else labels if key in OF_LABELS else texts
            if key in OF_ROWS and key not in (*OF_MATRICES, *OF_LABELS):
                where = fits
            where.append(f"    {key}: {setting_type(key, declared)}\n")
        if key in PREFIXES:
            others += [f"    {name}: {kind}\n" for name, kind in sorted(of_parts(key).items())]
    multiclass = setting_type("multiclass", declared_settings()["multiclass"])
    parts = [HEAD, *fits, TEXTS, *texts, OF_CLASSES, *labels, ALL, *others, TAIL, LAST]
    return "".join([*parts, f"    multiclass: {multiclass}\n"])


def setting_type(key: str, declared: Param) -> str:
    """The type of a setting: of a part, of its choices, or as its class is annotated."""
    if key in KINDS:
        kind = KINDS[key]
        one = f"str | type[{kind}] | {kind}"
        more = f" | Sequence[{one}]" if key in JOINED else ""
        more += " | Callable[[str], Any]" if key == "tokenizer" else ""
        return one + more + (" | None" if declared.optional else "")
    if declared.choices is not None:
        return plain_type(declared)
    if key in CONVERTED:
        return CONVERTED[key]
    noted = [vars(owner).get("__annotations__", {}) for owner in owners_of(key)]
    return str(next(own[key] for own in noted if key in own))


def owners_of(key: str) -> Iterator[type[Any]]:
    """The classes that may declare a setting."""
    (record,) = [name for name, declared in RECORDS.items() if key in declared]
    usual = getattr(settings.TrainingSettings, record) if record else None
    yield from settings.TrainingSettings.__mro__ if usual is None else type(usual).__mro__


def plain_type(declared: Param) -> str:
    """The type of a parameter of a part."""
    kind = declared.type.__name__ if declared.type is not object else "Any"
    if declared.choices is not None:
        kind = f"Literal[{', '.join(map(quoted, declared.choices))}]"
    return kind + (" | None" if declared.optional else "")


def quoted(value: Any) -> str:
    """A choice as ruff writes it."""
    return f'"{value}"' if isinstance(value, str) else repr(value)


def of_parts(prefix: str) -> dict[str, str]:
    """The types of the parameters of all built-in parts of a kind, by their keywords."""
    kind = PREFIXES[prefix]
    rows = [row for row in registry.listing() if row.kind == kind and row.distribution == "textreg"]
    parts: list[type[Parametrized]] = [registry.find(kind, f"textreg:{row.name}") for row in rows]
    if prefix in JOINED:
        # Two together have names such as chars_lowercase, too.
        parts += [join(kind, pair) for pair in itertools.combinations(tuple(parts), 2)]
    found: dict[str, list[str]] = {}
    for part in parts:
        for key, declared in every_param(part):
            found.setdefault(f"{prefix}_{key}", []).extend(plain_type(declared).split(" | "))
    return {key: " | ".join(dict.fromkeys(kinds)) for key, kinds in found.items()}


def every_param(part: type[Parametrized]) -> Iterator[tuple[str, Param]]:
    """The parameters of a part, those that a choice brings included."""
    for key, declared in part.declared().items():
        yield key, declared
        for options in (declared.options or {}).values():
            yield from options.declared().items()
