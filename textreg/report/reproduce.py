"""How a model was trained, from its file: settings, and a command that repeats it."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping
from importlib import metadata
from typing import TYPE_CHECKING, Any

from textreg.errors import ModelError, PluginError, UsageError
from textreg.model.origin_summary import SourceSummary
from textreg.model.saved_tokenizer import TokenizerOrigin
from textreg.plugins import registry
from textreg.report.records import Fact
from textreg.structure.callables import Unnamed
from textreg.training.fields import FIELD_OPTIONS, fields_of
from textreg.training.recipe import field_options, may_be_kept, named_options, words_of
from textreg.training.search.tuning import Tuning
from textreg.training.settings import PREFIXES, TrainingSettings, declared_settings

if TYPE_CHECKING:
    from textreg.features.joined import AnyEncoder
    from textreg.model.fit_summary import GraphSummary, GroupsSummary, RegularizerSummary
    from textreg.model.model import Model
    from textreg.model.summary import TrainingSummary
    from textreg.records import Corpus

LIBRARIES = ("textreg", "numpy", "scipy", "scikit-learn")


def settings_of(model: Model, unlabeled: Corpus | None = None) -> TrainingSettings:
    """The settings that a model was trained with, with the hyperparameters that were chosen.

    unlabeled: unlabeled documents of the training. Raises ModelError if the file does not hold the
    settings, or names a part that is not installed.
    """
    summary = _summary(model)
    try:
        parts = {
            key: _again(summary, PREFIXES[key], part.name, part.params)
            for key, part in _parts(summary).items()
        }
        parts["loss"] = _again(summary, "loss", summary.loss, summary.loss_params)
    except (PluginError, UsageError) as error:
        raise ModelError(f"the model's training cannot be repeated: {error}") from error
    split = summary.split
    return TrainingSettings(
        **_features_of(model.encoder),
        unlabeled=unlabeled,
        cv=split.parts if split is not None and split.kind == "cv" else None,
        metric=summary.metric or model.task.default_metric,
        task=model.task.name,
        multiclass=summary.multiclass or "ovr",
        class_weight=summary.class_weight,
        min_label=None if summary.rare is None else summary.rare.least,
        rare_label=None if summary.rare is None else summary.rare.label,
        unknown=model.task.unknown,
        unknown_rule=None if summary.unknown is None else summary.unknown.rule,
        at_least_one=model.task.to_header().get("at_least_one", False),
        seed=0 if split is None else split.seed,
        tol=summary.tol,
        **parts,
    )


def _again(summary: TrainingSummary, kind: str, name: str, params: Mapping[str, Any]) -> Any:
    return registry.create(kind, summary.spelled(kind, name), **params)


def with_choices(settings: TrainingSettings, model: Model) -> TrainingSettings:
    """The settings of a training with what its search chose for ``model``."""
    summary = _summary(model)
    parts = {
        key: getattr(settings, key).replace(**part.params)
        for key, part in _parts(summary).items()
        if getattr(settings, key) is not None and getattr(settings, key).params() != part.params
    }
    return settings.replace(
        **_features_of(model.encoder),
        tuning=Tuning(),
        **parts,
    )


def _features_of(encoder: AnyEncoder) -> dict[str, Any]:
    """How documents become features, as settings."""
    if encoder.fields:
        return {"fields": fields_of(encoder)}
    return {"tokenizer": encoder.tokenizer, "vectorizer": encoder.vectorizer}


def _parts(
    summary: TrainingSummary,
) -> dict[str, RegularizerSummary | GroupsSummary | GraphSummary]:
    """The regularizer and the builders of a training, by the prefix of their options."""
    parts = {"reg": summary.reg, "groups": summary.groups, "graph": summary.graph}
    return {key: part for key, part in parts.items() if part is not None}


def _summary(model: Model) -> TrainingSummary:
    """The summary of a model's training; ModelError if it has none."""
    if model.summary is None:
        raise ModelError(
            "the model does not hold its settings, so it cannot be fitted again: leave out the "
            "training corpus, or train the model again with textreg train."
        )
    return model.summary


def fit_command(model: Model) -> list[str] | None:
    """Words of a ``textreg train`` command that fits the same weights up to the tolerance.

    It needs no search. None if the model does not hold its settings, or if its tokenizer is none
    that a command could name.
    """
    summary = model.summary
    if summary is None or any(isinstance(one.tokenizer, Unnamed) for one in model.encoder.parts):
        return None
    options: dict[str, Any] = {}
    for prefix, part in _parts(summary).items():
        options[prefix] = part.name
        own = changed(summary, PREFIXES[prefix], part.name, part.params)
        options |= {f"{prefix}_{key}": value for key, value in own.items()}
    options |= _feature_options(model.encoder)
    usual = TrainingSettings.declared()
    if summary.loss != model.task.default_loss:
        options["loss"] = summary.loss
    own = changed(summary, "loss", summary.loss, summary.loss_params)
    options |= {f"loss_{key}": value for key, value in own.items()}
    if not model.task.discrete:  # else the labels tell it
        options["task"] = summary.task
    if model.task.to_header().get("at_least_one", False):
        options["at_least_one"] = True
    for key in ("multiclass", "tol"):
        value = getattr(summary, key)
        if value is not None and value != usual[key].default:
            options[key] = value
    if summary.rare is not None:
        options |= {"min_label": summary.rare.least, "rare_label": summary.rare.label}
    if summary.unknown is not None:
        options |= {"unknown": model.task.unknown, "unknown_rule": summary.unknown.rule}
    options["class_weight"] = summary.class_weight
    return [*_beginning(summary), "CORPUS", *words_of(options)]


def _feature_options(encoder: AnyEncoder) -> dict[str, Any]:
    """How documents become features, as options."""
    if encoder.fields:
        return field_options(fields_of(encoder))
    return named_options("tokenizer", encoder.tokenizer) | encoder.vectorizer.changed()


def train_command(model: Model, saved: str) -> list[str]:
    """Words of the ``textreg train`` command that made a model, its search included.

    saved: the file of the model. CORPUS stands for the documents of a training in Python. Raises
    ModelError if the model does not hold its settings, or if its tokenizer is none that a command
    could name.
    """
    summary = _summary(model)
    if any(update.old is None for update in summary.updates):
        raise ModelError(
            "no command of train makes this model: documents were added to it without its old ones."
        )
    for part in model.encoder.parts:
        origin = TokenizerOrigin.of(part.tokenizer)
        if origin.source != "plugin":
            what = "on lists of tokens"
            if origin.source == "callable":
                what = f"with the tokenizer '{origin.name}', a callable of its program"
            raise ModelError(f"no command can make this model: it was trained in Python {what}.")
    if wrong := [key for key in summary.options if not may_be_kept(key)]:
        raise ModelError(f"the model holds the option '{wrong[0]}', which no training keeps.")
    source = summary.source or SourceSummary(("CORPUS",), (), (), {})
    # A name that begins with - would be an option.
    files = [f"./{path}" if path[:1] == "-" != path else path for path in source.files]
    more = {"dev": source.dev, "unlabeled": source.unlabeled}
    order = [*FIELD_OPTIONS, *declared_settings()]
    named = sorted(summary.options, key=lambda key: (order.index(_owner(key)), key))
    options = {**source.reading, **more, **{key: summary.options[key] for key in named}}
    return [*_beginning(summary), *files, *words_of(options), "-o", saved]


def _owner(key: str) -> str:
    """The setting that an option is of: of a part's parameter, the one that names the part."""
    known = key in declared_settings() or key in FIELD_OPTIONS
    return key if known else key.partition("_")[0]


def _beginning(summary: TrainingSummary) -> list[str]:
    """The words before the corpus, with the plugins that are files."""
    files = dict.fromkeys(part.file for part in summary.plugins if part.file)
    return ["textreg", *(word for file in files for word in ("--plugin", file)), "train"]


def changed(
    summary: TrainingSummary, kind: str, name: str, params: Mapping[str, Any]
) -> dict[str, Any]:
    """Parameters of a part that differ from their defaults; all if it is not installed."""
    try:
        part = registry.find(kind, summary.spelled(kind, name))
    except PluginError:
        return dict(params)
    defaults = {key: param.default for key, param in part.declared(**params).items()}
    return {key: value for key, value in params.items() if value != defaults.get(key, value)}


def versions() -> tuple[Fact, ...]:
    """Versions of Python and of the numerical libraries."""
    return (
        Fact("Python", platform.python_version()),
        *(Fact(name, metadata.version(name)) for name in LIBRARIES),
    )


def fingerprint(corpus: Corpus) -> str:
    """SHA-256 of the labels and texts in order; it does not depend on the file format."""
    digest = hashlib.sha256()
    labels = corpus.labels or [""] * len(corpus)
    for label, text in zip(labels, corpus.texts, strict=True):
        digest.update(f"{label}\0{text}\0".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
