"""``textreg predict``: labels for texts, in constant memory."""

from __future__ import annotations

import itertools
import json
import re
import sys
from collections.abc import Iterator
from typing import Any

import click

from textreg.cli import shared
from textreg.cli.inputs import Reading, reading
from textreg.cli.output import print_json
from textreg.model.model import Model
from textreg.model.storage import load_model
from textreg.records import Corpus


@click.command(name="predict")
@click.argument("model")
@click.argument("files", nargs=-1)
@reading()
@click.option("--proba", is_flag=True, help="Print the probability of every label as well.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["tsv", "jsonl"]),
    default="tsv",
    show_default=True,
    help="One line a text: label and probabilities with tabs between them, or a JSON object.",
)
@shared.as_json
def command(
    model: str,
    files: tuple[str, ...],
    how: Reading,
    proba: bool,
    form: str,
    as_json: bool,
) -> None:
    """Label the texts of FILES, or of standard input.

    FILES are of the kinds that textreg train reads, or plain text with one text a line. Prints one
    label a line, in the order of the texts; --proba adds a first line that names the columns.
    """
    loaded = load_model(model)
    if proba:
        loaded.task.require_probabilities()
    predictions = (_predict(loaded, batch, proba) for batch in how.stream(files or ["-"]))
    if as_json:
        rows = list(itertools.chain.from_iterable(predictions))
        print_json({"model": model, "predictions": rows})
        return
    if proba and form == "tsv":
        click.echo("\t".join(["label", *map(_field, loaded.labels)]))
    line_of = _as_json if form == "jsonl" else _as_tsv
    for batch in predictions:
        sys.stdout.writelines(f"{line_of(row)}\n" for row in batch)
        sys.stdout.flush()  # whoever feeds us through a pipe may wait for the answer


def _predict(model: Model, batch: Corpus, proba: bool) -> Iterator[dict[str, Any]]:
    """What is said of every document, ready for JSON."""
    scores = model.decision_function(batch.texts)
    labels = model.choose(scores)
    lines = itertools.repeat(0) if batch.line_of is None else batch.line_of.tolist()
    chances = model.probabilities(scores).tolist() if proba else itertools.repeat(None)
    for label, line, row in zip(labels, lines, chances, strict=False):
        result: dict[str, Any] = {"label": label}
        if row is not None:
            result["proba"] = dict(zip(model.labels, row, strict=True))
        yield {**result, "line": line}


def _as_json(row: dict[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False)


def _as_tsv(row: dict[str, Any]) -> str:
    chances = row.get("proba", {}).values()
    return "\t".join([_field(str(row["label"])), *(f"{value:.6f}" for value in chances)])


def _field(label: str) -> str:
    """A label without what ends a field or a line; JSON has it as it is."""
    return " ".join(re.split("[\t\r\n]", label))
