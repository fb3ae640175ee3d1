"""``textreg predict``: predict labels of texts, in constant memory."""

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
@click.option("--proba", is_flag=True, help="Print the probability of each label, too.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["tsv", "jsonl"]),
    default="tsv",
    show_default=True,
    help="Format of a line: label and probabilities separated by tabs, or a JSON object.",
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
    """Predict the labels of the texts in FILES, or on standard input.

    FILES are files or folders that textreg train reads, or plain text with one text per line. The
    output is one label per line, in the order of the texts; --proba adds a header line.
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
        sys.stdout.flush()  # a program that feeds us through a pipe may wait for the answer


def _predict(model: Model, batch: Corpus, proba: bool) -> Iterator[dict[str, Any]]:
    """The predictions for a batch of documents, as JSON objects."""
    scores = model.decision_function(batch.texts)
    labels = model.choose(scores)
    lines = itertools.repeat(0) if batch.line_of is None else batch.line_of.tolist()
    probabilities = model.probabilities(scores).tolist() if proba else itertools.repeat(None)
    for label, line, row in zip(labels, lines, probabilities, strict=False):
        result: dict[str, Any] = {"label": label}
        if row is not None:
            result["proba"] = dict(zip(model.labels, row, strict=True))
        yield {**result, "line": line}


def _as_json(row: dict[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False)


def _as_tsv(row: dict[str, Any]) -> str:
    probabilities = row.get("proba", {}).values()
    return "\t".join([_field(str(row["label"])), *(f"{value:.6f}" for value in probabilities)])


def _field(label: str) -> str:
    """A label without tabs and line breaks, which separate fields and lines."""
    return " ".join(re.split("[\t\r\n]", label))
