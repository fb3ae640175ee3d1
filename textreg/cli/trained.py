"""What ``textreg train`` says of the model it made."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import click

from textreg.cli.output import measures, percent, size
from textreg.measure.metrics import SMALLER
from textreg.terminal import single_line
from textreg.training.search.choice import WITHIN


def tell(result: Mapping[str, Any], target: str) -> None:
    """The result for people."""
    title = "labels"
    labels = [f"{single_line(label)} {_number(count)}" for label, count in result["labels"].items()]
    if result["task"] == "regression":
        title, labels = "numbers", [label.replace("_", " ") for label in labels]
    more = f" and {len(labels) - 8} more" if len(labels) > 8 else ""
    click.echo(f"{title}: {', '.join(labels[:8])}{more}")
    click.echo(f"features: {result['features']:,} ({result['seconds']['features']:.1f} s)")
    if groups := result["groups"]:
        click.echo(f"groups: {groups['before']:,} {groups['name']}, {groups['after']:,} differ")
    if graph := result["graph"]:
        click.echo(f"graph: {graph['links']:,} links of {graph['name']}")
    if result["search"]:
        _tell_search(result)
    if result["calibration"]:
        click.echo(f"calibration: {result['calibration']}, on the documents held out")
    for label, chosen in result["thresholds"].items():
        click.echo(
            f"threshold of {single_line(label)}: {chosen['value']:+.3f} ({chosen['rule']}; there "
            f"precision {chosen['precision']:.3f}, recall {chosen['recall']:.3f})"
        )
    bound = "no bound on the gap" if result["gap"] is None else f"gap {result['gap']:.1e}"
    end = "converged" if result["converged"] else "NOT converged"
    click.echo(
        f"model: {result['nonzero']:,} features "
        f"({percent(result['nonzero'], result['features'])}) from {result['documents']:,} "
        f"documents, {bound}, {end} ({result['seconds']['fit']:.1f} s)"
    )
    if path := result.get("path"):
        click.echo(
            f"path: {path['points']} values of {path['parameter']} "
            f"({result['seconds']['path']:.1f} s); see it: textreg show {target} --path"
        )
    click.echo(f"saved {target} ({size(result['bytes'])})")
    if "report" in result:
        click.echo(f"report: {result['report']} ({size(os.path.getsize(result['report']))})")
    click.echo(f"next: textreg evaluate {target} TEST_FILE, or textreg show {target}")


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"


def _tell_search(result: Mapping[str, Any]) -> None:
    kind = {"dev": "--dev", "holdout": "documents held out", "cv": "cross-validation"}
    dev, split = result["dev"], result["split"]
    name = kind[split["kind"]] + (f", {split['parts']} parts" if split["kind"] == "cv" else "")
    name += f", by {split['by']}" if split["by"] else ""
    if len(result["search"]) > 1:
        click.echo(
            f"search: {len(result['search'])} settings of {result['reg']['name']} on "
            f"{dev['documents']:,} documents ({name}) by {result['metric']} "
            f"({result['seconds']['search']:.1f} s)"
        )
    chosen = {key.replace("_", "-"): value for key, value in result["chosen"].items()}
    prices = result["reg"]["params"]
    chosen |= {key: prices[key] for key in prices if key in result["reg"]["searched"]}
    if chosen:
        shown = (
            f"{key} {it:g}" if isinstance(it, float) else f"{key} {it}"
            for key, it in chosen.items()
        )
        click.echo(f"chosen: {', '.join(shown)}")
    _tell_choice(result)
    click.echo(f"{split['kind']}: {measures(dev)}")


def _tell_choice(result: Mapping[str, Any]) -> None:
    """What another than the plain rule cost and saved."""
    select, key = result["select"], result["metric"].replace("-", "_")
    if select["rule"] == "best":
        return
    points = result["search"]
    sign = -1 if result["metric"] in SMALLER else 1
    best = max(points, key=lambda point: (sign * point[key], -point["nonzero"]))
    if select["rule"] == "1se":
        over = "parts" if result["split"]["parts"] > 1 else "documents"
        slack = f"one standard error, {best['error']:.3f} over the {over}"
    else:
        slack = f"{WITHIN if select['within'] is None else select['within']:g}"
    click.echo(
        f"select {select['rule']}: {result['metric']} {result['dev'][key]:.3f} where "
        f"{best['nonzero']:,.0f} features reach {best[key]:.3f}; within {slack}"
    )
