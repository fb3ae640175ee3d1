"""The settings of a training as flat options: what a model keeps of them, and words of a command.

``TrainingSettings.from_options(**options_of(settings))`` gives equal settings,
but for fields, whose options are those of the command line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from textreg.features.vectorize import Vectorizer
from textreg.kinds import Plugin, Tokenizer
from textreg.params import Parametrized
from textreg.plugins import registry
from textreg.records.fields import Field
from textreg.structure.callables import Unnamed
from textreg.structure.joining import parts_of
from textreg.tasks import TASKS, Classification
from textreg.training.auto import AUTO_TOKENIZER, AutoTokenizer
from textreg.training.fields import FIELD_OPTIONS
from textreg.training.search.tuning import Tuning
from textreg.training.settings import PREFIXES, RECORDS, TrainingSettings, default_builder

OF_ONE_RUN = {"jobs", "resume", "backend", "address"}
"""Settings that say where and how fast a model is trained; it is the same with any others."""

_DOCUMENTS = {"dev", "unlabeled"}


def options_of(settings: TrainingSettings) -> dict[str, Any]:
    """The options that make these settings, as JSON values; those with their defaults are left out.

    So are documents, what :data:`OF_ONE_RUN` names, and a tokenizer that no name stands for.
    """
    options: dict[str, Any] = {}
    for key in PREFIXES:
        options |= _part_options(settings, key)
    options |= settings.vectorizer.changed()
    usual = {name: declared.default for name, declared in RECORDS[""].items()}
    left = {*PREFIXES, *_DOCUMENTS, *OF_ONE_RUN, "fields"}
    options |= {
        name: value
        for name, default in usual.items()
        if name not in left and (value := getattr(settings, name)) != default
    }
    options |= field_options(settings.fields or ())
    tuning = settings.tuning.changed()
    options |= {name: value for name, value in tuning.items() if name not in OF_ONE_RUN}
    return {name: _plain(value) for name, value in options.items()}


def field_options(fields: Sequence[Field]) -> dict[str, list[str]]:
    """The options that give these fields to a command: see
    :func:`textreg.training.fields.parse_fields`."""
    options: dict[str, list[str]] = {}
    for field in fields:
        options.setdefault(f"{field.kind}_col", []).append(field.name)
        for key, value in changed_options(field).items():
            options.setdefault("field", []).append(f"{field.name}:{key}={as_text(value)}")
    return {key: options[key] for key in FIELD_OPTIONS if key in options}


def changed_options(field: Field) -> dict[str, Any]:
    """The settings of a field that are not its defaults, its tokenizer by its name."""
    options = dict(field.options)
    tokenizer = options.get("tokenizer")
    if isinstance(tokenizer, Tokenizer):
        options |= named_options("tokenizer", tokenizer)
    usual = Vectorizer.declared()
    return {
        key: value
        for key, value in options.items()
        if key not in usual or value != usual[key].default
    }


def may_be_kept(key: str) -> bool:
    """Whether :func:`options_of` may give an option of this name."""
    prefix, _, name = key.partition("_")
    known = {*RECORDS[""], *FIELD_OPTIONS, *Vectorizer.declared(), *Tuning.declared()}
    known -= {*OF_ONE_RUN, *_DOCUMENTS, "fields"}
    return key in known or (prefix in PREFIXES and bool(name))


def _part_options(settings: TrainingSettings, key: str) -> dict[str, Any]:
    """The options of one part: its name, unless it is the default, and its parameters."""
    part = getattr(settings, key)
    if part is None or any(isinstance(one, Unnamed) for one in parts_of(part)):
        return {}
    auto = isinstance(part, AutoTokenizer)
    options = named_options(key, part.beside if auto else part)
    if auto:
        options[key] = AUTO_TOKENIZER
    if _is_default(settings, key, options[key], part):
        del options[key]
    return options


def named_options(key: str, part: Plugin) -> dict[str, Any]:
    """The options that give a part: its name, and the parameters that are not its defaults."""
    own = {f"{key}_{param}": value for param, value in part.changed().items()}
    return {key: part.label(), **own}


def _is_default(settings: TrainingSettings, key: str, name: str, part: Parametrized) -> bool:
    """Whether :meth:`TrainingSettings.from_options` takes this part where none is named."""
    if key in ("groups", "graph"):
        usual = default_builder(settings.reg) if settings.reg.needs == key else None
        return usual is not None and registry.find(PREFIXES[key], usual) is type(part)
    if key == "tokenizer":
        return name == AUTO_TOKENIZER
    usual = TrainingSettings.declared()[key].default
    if key == "loss":
        usual = TASKS[settings.task or Classification.name].default_loss
    return name == usual and registry.origin(part)["distribution"] == "textreg"


def _plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return value.item() if isinstance(value, np.generic) else value


def words_of(options: Mapping[str, Any]) -> list[str]:
    """Options as words of a command. Those of a mapping or a list are repeated; None is left out.

    Numbers have all their digits, so that they are read back unchanged.
    """
    words: list[str] = []
    for key, value in options.items():
        flag = f"--{key.replace('_', '-')}"
        if isinstance(value, bool):
            words.append(flag if value else f"--no-{flag[2:]}")
        elif isinstance(value, (Mapping, list, tuple)):
            words += [word for item in items_of(value) for word in (flag, item)]
        elif value is not None:
            words += [flag, as_text(value)]
    return words


def items_of(value: Mapping[str, Any] | list[Any] | tuple[Any, ...]) -> list[str]:
    """The texts of an option that may be repeated: ``spam=5.0``, ``reg_l1=0.1,1.0``, or of a
    mapping of mappings ``subject:ngrams=1``."""
    if not isinstance(value, Mapping):
        return [as_text(one) for one in value]
    items: list[str] = []
    for key, one in value.items():
        if isinstance(one, Mapping):
            items += [f"{key}:{item}" for item in items_of(one)]
        else:
            items.append(f"{key}={as_text(one)}")
    return items


def as_text(value: Any) -> str:
    """A value as it is written on the command line."""
    if isinstance(value, (list, tuple)):
        return ",".join(map(as_text, value))
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value) if isinstance(value, float) else str(value)
