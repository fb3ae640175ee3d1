"""What a model file says of its data and settings, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from textreg.plotting.number_format import signed
from textreg.report.again import changed, changed_of
from textreg.report.records import Fact

if TYPE_CHECKING:
    from textreg.model.model import Model
    from textreg.model.summary import GraphSummary, GroupsSummary, RegularizerSummary

LABELS = 12
"""Labels that are listed with their counts."""

STEPS = ("read", "features", "search", "fit", "path")
"""Of a training, in their order."""

SAID = ("ngrams", "weighting")
"""Parameters of the vectorizer that are told apart from the others."""


def number(value: Any) -> str:
    """A value for people: thousands apart, four digits, no quotes."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.4g}"
    return "none" if value is None else str(value)


def prices(params: Mapping[str, Any]) -> list[Fact]:
    """Parameters and their values."""
    return [Fact(name.replace("_", " "), number(value)) for name, value in params.items()]


def _named(name: str, params: Mapping[str, Any]) -> str:
    told = ", ".join(f"{key} {value}" for key, value in prices(params))
    return f"{name} ({told})" if told else name


def _part(kind: str, part: RegularizerSummary | GroupsSummary | GraphSummary) -> str:
    """A part of the summary, with the parameters that are not at their defaults."""
    return _named(part.name, changed(kind, part.name, part.params))


def data_facts(model: Model) -> tuple[Fact, ...]:
    """What the model was trained on."""
    summary = model.summary
    found = []
    if summary is not None:
        found.append(Fact("trained on", f"{summary.documents:,} documents"))
    title, told = model.task.told({} if summary is None else summary.labels)
    if told:
        more = f" and {len(told) - LABELS:,} more" if len(told) > LABELS else ""
        found.append(Fact(title, ", ".join(told[:LABELS]) + more))
    if summary is not None:
        found.append(Fact("features in training", f"{summary.features:,}"))
    found.append(Fact("features with a weight", f"{model.n_features:,}"))
    if summary is not None and (groups := summary.groups):
        text = f"{groups.before:,} {_part('groups', groups)}, {groups.after:,} differ"
        found.append(Fact("groups", text))
    if summary is not None and (graph := summary.graph):
        found.append(Fact("links", f"{graph.links:,} of {_part('graph', graph)}"))
    return tuple(found)


def settings_facts(model: Model) -> tuple[Fact, ...]:
    """How it was trained; of parameters, those that are not at their defaults."""
    summary, encoder = model.summary, model.encoder
    found = []
    if summary is not None:
        found.append(Fact("regularizer", _part("regularizer", summary.reg)))
        searched = [*summary.chosen, *summary.reg.searched]
        told = ", ".join(name.replace("_", " ") for name in searched)
        found.append(Fact("chosen by search", told or "nothing"))
    found.append(Fact("loss", model.loss))
    if summary is not None and summary.multiclass:
        found.append(Fact("several labels", summary.multiclass))
    if summary is not None and (given := summary.class_weight):
        if not isinstance(given, str):
            given = ", ".join(f"{label} {number(factor)}" for label, factor in given.items())
        found.append(Fact("weights of labels", given))
    found.append(Fact("tokenizer", _named(encoder.tokenizer.name, changed_of(encoder.tokenizer))))
    vectorizer = encoder.vectorizer
    named = {key: value for key, value in changed_of(vectorizer).items() if key not in SAID}
    runs = "single words" if vectorizer.ngrams == 1 else f"1 to {vectorizer.ngrams} words in a row"
    found.append(Fact("features", _named(f"{vectorizer.weighting} of {runs}", named)))
    if model.calibration is not None:
        found.append(Fact("calibration", model.calibration.method))
    for label, value in model.thresholds.items():
        chosen = None if summary is None else summary.thresholds.get(label)
        rule = "given" if chosen is None else chosen.rule
        found.append(Fact(f"threshold of {label}", f"{signed(value)} ({rule})"))
    if summary is not None:
        found.append(Fact("tolerance of the gap", number(summary.tol)))
        found.append(Fact("iterations", number(summary.iterations)))
    if summary is not None and (seconds := summary.seconds):
        told = ", ".join(f"{key} {seconds[key]:.1f} s" for key in STEPS if key in seconds)
        found.append(Fact("time", told))
    return tuple(found)
