"""``textreg show``: what a model file holds."""

from __future__ import annotations

import os
from typing import Any

import click

from textreg.cli.output import print_json, print_table, size
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
    print_table([(key.replace("_", " "), _text(value)) for key, value in facts.items()])
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
        "size": size(os.path.getsize(path)),
        "labels": list(model.labels),
        "features": model.n_features,
        "tokenizer": {"name": encoder.tokenizer.name, **encoder.tokenizer.params()},
        "vectorizer": encoder.vectorizer.params(),
    }
    if reg := summary.get("reg"):
        facts["regularizer"] = {"name": reg["name"], **reg["params"]}
    for key in ("documents", "objective", "gap", "converged", "dev"):
        if key in summary:
            facts[key] = summary[key]
    return facts


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_text(item)}" for key, item in value.items())
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if type(value) is int else str(value)
