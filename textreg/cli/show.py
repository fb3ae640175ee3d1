"""``textreg show``: what a model file holds."""

from __future__ import annotations

import os
from typing import Any

import click

from textreg.cli.output import print_json, print_table, size
from textreg.encoder import Encoder
from textreg.model import Model
from textreg.storage import load_model


@click.command(name="show")
@click.argument("model")
@click.option(
    "--top",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    help="Strongest features to show for each label.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document only.")
def command(model: str, top: int, as_json: bool) -> None:
    """Show what a model file holds: settings, size, and the strongest features of every label."""
    loaded = load_model(model, tokenizer=False)
    facts = _facts(loaded, model)
    features = loaded.top_features(top)
    if as_json:
        print_json({**facts, "summary": loaded.summary, "top": features})
        return
    print_table([(_title(key), _text(value, key)) for key, value in facts.items()])
    for label, weighted in features.items():
        click.echo(f"\n{label}")
        if weighted:
            print_table([(name, weight) for name, weight in weighted], indent="  ")
        else:
            click.echo("  (no feature speaks for it)")


def _facts(model: Model, path: str) -> dict[str, Any]:
    """What there is to say of the model as a whole."""
    summary, encoder = model.summary, model.encoder
    facts: dict[str, Any] = {
        "model": path,
        "bytes": os.path.getsize(path),
        "task": model.task,
        "loss": model.loss,
        "labels": list(model.labels),
        "features": model.n_features,
        "tokenizer": {"name": encoder.tokenizer.name, **encoder.tokenizer.params()},
        "vectorizer": encoder.vectorizer.params(),
    }
    if model.calibration is not None:
        facts["calibration"] = {"method": model.calibration.method}
        if model.calibration.method == "temperature":
            facts["calibration"]["temperature"] = model.calibration.temperature
    if model.thresholds:
        facts["thresholds"] = model.thresholds
    if encoder.idf is not None:
        facts["known_words"] = _known_words(encoder)
    if reg := summary.get("reg"):
        facts["regularizer"] = {"name": reg["name"], **reg["params"]}
    for key in ("documents", "objective", "gap", "converged", "dev"):
        if key in summary:
            facts[key] = summary[key]
    return facts


def _known_words(encoder: Encoder) -> dict[str, Any]:
    """What a weighting costs that scales rows by all the features they have."""
    used = set(encoder.names)
    unused = [name for name in encoder.vocabulary if name not in used]
    # A name, its end in the table of names, and its inverse document frequency.
    n_bytes = sum(len(name.encode("utf-8", "surrogatepass")) + 16 for name in unused)
    return {"without_weight": len(unused), "bytes": n_bytes}


def _title(key: str) -> str:
    return "size" if key == "bytes" else key.replace("_", " ")


def _text(value: Any, key: str = "") -> str:
    if isinstance(value, dict):
        return ", ".join(f"{_title(key)} {_text(item, key)}" for key, item in value.items())
    if key == "bytes":
        return size(value)
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if type(value) is int else str(value)
