"""How a model was trained, from its file: settings, and a command that repeats it."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping
from importlib import metadata
from typing import TYPE_CHECKING, Any

from textreg.errors import ModelError, PluginError, UsageError
from textreg.params import Parametrized
from textreg.plugins import registry
from textreg.plugins.callables import Unnamed
from textreg.report.records import Fact
from textreg.training.search.tuning import Tuning
from textreg.training.settings import PREFIXES, TrainingSettings

if TYPE_CHECKING:
    from textreg.model.model import Model
    from textreg.model.summary import (
        GraphSummary,
        GroupsSummary,
        RegularizerSummary,
        TrainingSummary,
    )
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
        tokenizer=model.encoder.tokenizer,
        vectorizer=model.encoder.vectorizer,
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
        tokenizer=model.encoder.tokenizer,
        vectorizer=model.encoder.vectorizer,
        tuning=Tuning(),
        **parts,
    )


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
    files = dict.fromkeys(part.file for part in summary.plugins if part.file)
    words = ["textreg", *(word for file in files for word in ("--plugin", file))]
    words += ["train", "CORPUS"]
    for prefix, part in _parts(summary).items():
        words += [f"--{prefix}", part.name]
        words += _flags(prefix, changed(summary, PREFIXES[prefix], part.name, part.params))
    tokenizer, vectorizer = model.encoder.tokenizer, model.encoder.vectorizer
    words += ["--tokenizer", tokenizer.name]
    words += _flags("tokenizer", changed_of(tokenizer)) + _flags("", changed_of(vectorizer))
    usual = TrainingSettings.declared()
    if summary.loss != model.task.default_loss:
        words += ["--loss", summary.loss]
    words += _flags("loss", changed(summary, "loss", summary.loss, summary.loss_params))
    if not model.task.discrete:  # else the labels tell it
        words += ["--task", summary.task]
    if model.task.to_header().get("at_least_one", False):
        words += ["--at-least-one"]
    for key in ("multiclass", "tol"):
        value = getattr(summary, key)
        if value is not None and value != usual[key].default:
            words += [f"--{key}", _value(value)]
    if summary.rare is not None:
        words += _flags("", {"min_label": summary.rare.least, "rare_label": summary.rare.label})
    if summary.unknown is not None:
        words += _flags("", {"unknown": model.task.unknown, "unknown_rule": summary.unknown.rule})
    return words + _weight_words(summary.class_weight)


def _weight_words(weights: str | Mapping[str, float] | None) -> list[str]:
    """The weights of labels as options."""
    if weights is None:
        return []
    if isinstance(weights, str):
        return ["--class-weight", weights]
    pairs = [f"{label}={factor!r}" for label, factor in weights.items()]
    return [word for pair in pairs for word in ("--class-weight", pair)]


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


def changed_of(part: Parametrized) -> dict[str, Any]:
    """The same of an instance."""
    declared = part.declared(**part.params())
    return {key: value for key, value in part.params().items() if value != declared[key].default}


def _flags(prefix: str, params: Mapping[str, Any]) -> list[str]:
    words = []
    for key, value in params.items():
        name = (f"{prefix}_{key}" if prefix else key).replace("_", "-")
        if isinstance(value, bool):
            words.append(f"--{name}" if value else f"--no-{name}")
        elif value is not None:
            words += [f"--{name}", _value(value)]
    return words


def _value(value: Any) -> str:
    """A value as text; numbers with all digits, so that they are read back unchanged."""
    return repr(value) if isinstance(value, float) else str(value)


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
