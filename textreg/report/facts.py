"""Facts about the training data and the settings, from the model file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from textreg.errors import first_few
from textreg.plotting.number_format import signed
from textreg.report.records import Fact
from textreg.report.reproduce import changed
from textreg.training.fields import fields_of
from textreg.training.recipe import changed_options

if TYPE_CHECKING:
    from textreg.features.joined import AnyEncoder
    from textreg.model.model import Model
    from textreg.model.summary import (
        GraphSummary,
        GroupsSummary,
        RegularizerSummary,
        TrainingSummary,
    )

LABELS = 12
"""Labels listed with their counts."""

STEPS = ("read", "features", "search", "fit", "path")
"""Steps of a training, in order."""

IN_TITLE = ("ngrams", "weighting")
"""Parameters of the vectorizer that are written in words."""


def number(value: Any) -> str:
    """A value for people: thousands separated, four digits, no quotes."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.4g}"
    return "none" if value is None else str(value)


def parameter_facts(params: Mapping[str, Any]) -> list[Fact]:
    """Parameters and their values."""
    return [Fact(name.replace("_", " "), number(value)) for name, value in params.items()]


def _named(name: str, params: Mapping[str, Any]) -> str:
    listed = ", ".join(f"{key} {value}" for key, value in parameter_facts(params))
    return f"{name} ({listed})" if listed else name


def _part(
    summary: TrainingSummary, kind: str, part: RegularizerSummary | GroupsSummary | GraphSummary
) -> str:
    """Name of a part, and its parameters that differ from their defaults."""
    return _named(part.name, changed(summary, kind, part.name, part.params))


def data_facts(model: Model) -> tuple[Fact, ...]:
    """What the model was trained on."""
    summary = model.summary
    facts = []
    if summary is not None:
        facts.append(Fact("trained on", f"{summary.documents:,} documents"))
    title, shown = model.task.label_lines({} if summary is None else summary.labels)
    if shown:
        more = f" and {len(shown) - LABELS:,} more" if len(shown) > LABELS else ""
        facts.append(Fact(title, ", ".join(shown[:LABELS]) + more))
    if summary is not None and (rare := summary.rare):
        listed = [f"{label} {count:,}" for label, count in rare.labels.items()]
        told = first_few(listed, LABELS)
        fate = "left out" if rare.label is None else f"joined into {rare.label}"
        facts.append(Fact(f"labels of fewer than {rare.least:,} documents", f"{fate}: {told}"))
    if summary is not None:
        facts.append(Fact("features in training", f"{summary.features:,}"))
    facts.append(Fact("features with a weight", f"{model.n_features:,}"))
    if summary is not None and (groups := summary.groups):
        text = f"{groups.before:,} {_part(summary, 'groups', groups)}"
        differ = "" if groups.after is None else f", {groups.after:,} differ"
        facts.append(Fact("groups", text + differ))
    if summary is not None and (graph := summary.graph):
        facts.append(Fact("links", f"{graph.links:,} of {_part(summary, 'graph', graph)}"))
    return tuple(facts)


def settings_facts(model: Model) -> tuple[Fact, ...]:
    """How it was trained; parameters only where they differ from their defaults."""
    summary, encoder = model.summary, model.encoder
    facts = []
    if summary is not None:
        facts.append(Fact("regularizer", _part(summary, "regularizer", summary.reg)))
        searched = [*summary.chosen, *summary.reg.searched]
        names = ", ".join(name.replace("_", " ") for name in searched)
        facts.append(Fact("chosen by search", names or "nothing"))
    facts.append(Fact("loss", model.loss))
    if summary is not None and summary.multiclass:
        facts.append(Fact("several labels", summary.multiclass))
    if summary is not None and (given := summary.class_weight):
        if not isinstance(given, str):
            given = ", ".join(f"{label} {number(factor)}" for label, factor in given.items())
        facts.append(Fact("weights of labels", given))
    facts += _feature_facts(encoder)
    if model.calibration is not None:
        facts.append(Fact("calibration", model.calibration.method))
    for label, value in model.thresholds.items():
        chosen = None if summary is None else summary.thresholds.get(label)
        rule = "given" if chosen is None else chosen.rule
        if label == model.task.unknown and summary is not None and summary.unknown is not None:
            rule = summary.unknown.rule
        facts.append(Fact(f"threshold of {label}", f"{signed(value)} ({rule})"))
    if summary is not None:
        facts.append(Fact("tolerance of the gap", number(summary.tol)))
        facts.append(Fact("iterations", number(summary.iterations)))
    if seconds := model.seconds:
        times = ", ".join(f"{key} {seconds[key]:.1f} s" for key in STEPS if key in seconds)
        facts.append(Fact("time", times))
    return tuple(facts)


def _feature_facts(encoder: AnyEncoder) -> list[Fact]:
    """How documents become features; of several fields, each of them."""
    if encoder.fields:
        return [
            Fact(f"field {field.name}", _named(field.kind, changed_options(field)))
            for field in fields_of(encoder)
        ]
    tokenizer, vectorizer = encoder.tokenizer, encoder.vectorizer
    named = {key: it for key, it in vectorizer.changed().items() if key not in IN_TITLE}
    runs = "single words" if vectorizer.ngrams == 1 else f"1 to {vectorizer.ngrams} words in a row"
    return [
        Fact("tokenizer", _named(tokenizer.name, tokenizer.changed())),
        Fact("features", _named(f"{vectorizer.weighting} of {runs}", named)),
    ]
