"""The settings of a training as flat options, as words of a command, and from a trained model.

``TrainingSettings.from_options(**options_of(settings))`` gives equal settings,
but for fields, whose options are those of the command line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from textreg.errors import ModelError, PluginError, UsageError
from textreg.features.fields import AUTO_TOKENIZER, FIELD_OPTIONS, AutoTokenizer, fields_of
from textreg.features.vectorize import Vectorizer
from textreg.kinds import Plugin, Tokenizer
from textreg.model.model import as_model
from textreg.model.saved_encoder import TokenizerOrigin, UnloadedTokenizer
from textreg.model.summary import SourceSummary
from textreg.params import Parametrized
from textreg.plugins import registry
from textreg.records.documents import Field
from textreg.structure.joining import Unnamed, parts_of
from textreg.tasks import TASKS, Classification
from textreg.training.settings import PREFIXES, TrainingSettings, declared_settings, default_builder

if TYPE_CHECKING:
    from textreg.model.model import Model
    from textreg.model.summary import TrainingSummary
    from textreg.records import Corpus


# Settings that one option has, as in `--min-label 5:other`: the first of them, and the other.
JOINED = {
    "min_label": "rare_label",
    "unknown": "unknown_rule",
    "select": "within",
    "backend": "address",
}

# Settings that say where and how fast a model is trained; it is the same with any others.
OF_ONE_RUN = {"jobs", "backend", "address"}

_DOCUMENTS = {"dev", "unlabeled"}


def options_of(settings: TrainingSettings) -> dict[str, Any]:
    """The options that make these settings, as JSON values; those with their defaults are left out.

    So are documents, what :data:`OF_ONE_RUN` names, and a tokenizer that no name stands for.
    """
    options: dict[str, Any] = {}
    for key in PREFIXES:
        options |= _part_options(settings, key)
    # What a user chose, and no more: a command of all settings could not be read.
    changed = settings.vectorizer.changed() | settings.changed() | settings.tuning.changed()
    excluded = {*PREFIXES, *_DOCUMENTS, *OF_ONE_RUN, "fields", "vectorizer", "tuning"}
    options |= {name: value for name, value in changed.items() if name not in excluded}
    options |= field_options(settings.fields or ())
    return {name: _plain(value) for name, value in options.items()}


def field_options(fields: Sequence[Field]) -> dict[str, list[str]]:
    """The options that give these fields to a command, which parses them."""
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
    known = {*declared_settings(), *FIELD_OPTIONS} - {*OF_ONE_RUN, *_DOCUMENTS, "fields"}
    return key in known or (prefix in PREFIXES and bool(name))


def _part_options(settings: TrainingSettings, key: str) -> dict[str, Any]:
    """The options of one part: its name, unless it is the default, and its parameters."""
    part = getattr(settings, key)
    if part is None or any(isinstance(part, Unnamed) for part in parts_of(part)):
        return {}
    auto = isinstance(part, AutoTokenizer)
    options = named_options(key, part.beside if auto else part)
    if auto:
        # Not what it became: on other documents it may become another.
        options[key] = AUTO_TOKENIZER
    if _is_default(settings, key, options[key], part):
        del options[key]
    return options


def named_options(key: str, part: Plugin) -> dict[str, Any]:
    """The options that give a part: its name, and the parameters that are not its defaults."""
    params = {f"{key}_{param}": value for param, value in part.changed().items()}
    return {key: part.label(), **params}


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
    return name == usual and registry.origin(part).distribution == "textreg"


def _plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, Mapping):
        return {str(key): _plain(member) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(member) for member in value]
    return value.item() if isinstance(value, np.generic) else value


def joined(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options by the names of settings as a command has them, two of :data:`JOINED` in one."""
    together = dict(options)
    if together.get("rare_label") is not None and together.get("min_label") is None:
        together["min_label"] = max(2, together.get("cv") or 0)  # what the name alone means
    for name, following in JOINED.items():
        second = together.pop(following, None)
        if second is not None:
            together[name] = f"{together[name]}:{as_text(second)}"
    return together


def words_of(options: Mapping[str, Any]) -> list[str]:
    """Options as words of a command. Those of a mapping or a list are repeated; None is left out.

    Numbers have all their digits, so that they are read back unchanged.
    """
    words: list[str] = []
    for key, value in joined(options).items():
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
        return [as_text(item) for item in value]
    items: list[str] = []
    for key, member in value.items():
        if isinstance(member, Mapping):
            items += [f"{key}:{item}" for item in items_of(member)]
        else:
            items.append(f"{key}={as_text(member)}")
    return items


def as_text(value: Any) -> str:
    """A value as it is written on the command line."""
    if isinstance(value, (list, tuple)):
        return ",".join(map(as_text, value))
    if isinstance(value, bool):
        return str(value).lower()
    # repr has all digits of a float, and no more.
    return repr(value) if isinstance(value, float) else str(value)


# What a user gives that no search changes; seed and cv give the same splits again.
_AS_GIVEN = {
    *("cv", "seed", "metric", "multiclass", "class_weight", "min_label", "rare_label", "unknown"),
    *("at_least_one", "prune", "tol", "max_iter", "vectors", "evidence_words"),
}


def settings_of(model: Model, unlabeled: Corpus | None = None) -> TrainingSettings:
    """The settings that a model was trained with, with the hyperparameters that were chosen.

    unlabeled: unlabeled documents of the training. Raises ModelError if the file does not hold the
    settings, or names a part that is not installed.
    """
    summary, encoder = summary_of(model), model.encoder
    for part in encoder.parts:
        if isinstance(part.tokenizer, UnloadedTokenizer):
            part.tokenizer("")  # raises
    named = {"reg": summary.reg, "groups": summary.groups, "graph": summary.graph}
    specs = {key: (part.name, part.params) for key, part in named.items() if part is not None}
    specs["loss"] = summary.loss, summary.loss_params
    try:
        parts = {
            key: registry.create(PREFIXES[key], summary.spelled(PREFIXES[key], name), **params)
            for key, (name, params) in specs.items()
        }
    except (PluginError, UsageError) as error:
        raise ModelError(f"the model's training cannot be repeated: {error}") from error
    features: dict[str, Any] = {"fields": fields_of(encoder)}
    if not encoder.fields:  # each field has a tokenizer and a vectorizer of its own
        features = {"tokenizer": encoder.tokenizer, "vectorizer": encoder.vectorizer}
    return TrainingSettings(
        **features,
        **{key: value for key, value in summary.options.items() if key in _AS_GIVEN},
        unlabeled=unlabeled,
        task=model.task.name,
        unknown_rule=None if summary.unknown is None else summary.unknown.rule,
        **parts,
    )


def summary_of(model: Model) -> TrainingSummary:
    """The summary of a model's training; ModelError if it has none."""
    summary = as_model(model).summary
    if summary is None:
        raise ModelError(
            "the model does not hold the settings of its training, so it can neither be fitted "
            "again nor updated: train one with textreg train, or leave out the training corpus "
            "where that may be."
        )
    return summary


def unnamed_tokenizer(model: Model) -> str:
    """What a model was trained with where no option names its tokenizer; else empty."""
    for part in model.encoder.parts:
        origin = TokenizerOrigin.of(part.tokenizer)
        if origin.source == "callable":
            return f"with the tokenizer '{origin.name}', a callable of its program"
        if origin.source == "tokens":
            return "on lists of tokens"
    return ""


def fit_command(model: Model) -> list[str] | None:
    """Words of a ``textreg train`` command that fits the same weights up to the tolerance.

    It needs no search. None if the model does not hold its settings, if a part of it is not
    installed, or if its tokenizer is none that a command could name.
    """
    summary = model.summary
    if summary is None or unnamed_tokenizer(model):
        return None
    try:
        options = options_of(settings_of(model))
    except ModelError:
        return None
    # Nothing is held out, and labels that are discrete tell their task.
    for key in ("cv", "metric", "seed", *(["task"] if model.task.discrete else [])):
        options.pop(key, None)
    return [*_beginning(summary), "CORPUS", *words_of(options)]


def train_command(model: Model, saved: str) -> list[str]:
    """Words of the ``textreg train`` command that made a model, its search included.

    saved: the file of the model. CORPUS stands for the documents of a training in Python. Raises
    ModelError if the model does not hold its settings, or if its tokenizer is none that a command
    could name.
    """
    summary = summary_of(model)
    if any(update.old is None for update in summary.updates):
        raise ModelError(
            "no command of train makes this model: documents were added to it without its old ones."
        )
    if what := unnamed_tokenizer(model):
        raise ModelError(f"no command can make this model: it was trained in Python {what}.")
    if wrong := [key for key in summary.options if not may_be_kept(key)]:
        raise ModelError(f"the model holds the option '{wrong[0]}', which no training keeps.")
    source = summary.source or SourceSummary(("CORPUS",), (), (), {})
    # A name that begins with - would be an option.
    files = [f"./{path}" if path[:1] == "-" != path else path for path in source.files]
    more = {"dev": source.dev, "unlabeled": source.unlabeled}
    order = [*FIELD_OPTIONS, *declared_settings()]

    def place(key: str) -> tuple[int, str]:
        """Of a part's parameter that of the setting which names the part."""
        return order.index(key if key in order else key.partition("_")[0]), key

    named = sorted(summary.options, key=place)
    options = {**source.reading, **more, **{key: summary.options[key] for key in named}}
    return [*_beginning(summary), *files, *words_of(options), "-o", saved]


def _beginning(summary: TrainingSummary) -> list[str]:
    """The words before the corpus, with the plugins that are files."""
    files = dict.fromkeys(part.file for part in summary.plugins if part.file)
    return ["textreg", *(word for file in files for word in ("--plugin", file)), "train"]
