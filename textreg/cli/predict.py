"""``textreg predict``: predict labels of texts, in constant memory."""

from __future__ import annotations

import itertools
import re
import sys
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import click

from textreg.cli import shared
from textreg.cli.inputs import Reading, reading
from textreg.cli.output import print_json
from textreg.errors import DataError
from textreg.model.model import Model
from textreg.model.storage import load_model
from textreg.records import Corpus
from textreg.terminal import json_line, printable, single_line

SOME_UNREADABLE = 3
"""The exit code if there were rows that could not be read."""


@click.command(cls=shared.Command, name="predict")
@click.argument("model")
@click.argument("files", nargs=-1)
@reading(answers=True)
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
) -> int:
    """Predict the labels of the texts in FILES, or on standard input.

    FILES are files or folders that textreg train reads, or plain text with one text per line. The
    output is one label per line, in the order of the texts; --proba adds a header line. A document
    that may have several labels has them on its line, with --label-sep between them, and in JSON as
    a list.

    With --on-error skip, a row that cannot be read has an empty line as its answer, and the reason
    on standard error; with --proba, the reason is in a last column called error, and in JSON it is
    the member "error". The exit code is 3 if there was any.
    """
    loaded = load_model(model)
    if proba:
        loaded.task.require_probabilities()
    answers = _Answers(loaded, how, proba=proba)
    batches = answers.given(files or ["-"])
    if as_json:
        rows = list(itertools.chain.from_iterable(batches))
        print_json({"model": model, "predictions": rows})
        return answers.end()
    if proba and form == "tsv":
        error = ["error"] if how.on_error == "skip" else []
        click.echo("\t".join([answers.key, *map(_field, loaded.labels), *error]))
    line_of = json_line if form == "jsonl" else answers.as_tsv
    for batch in batches:
        sys.stdout.writelines(f"{line_of(row)}\n" for row in batch)
        sys.stdout.flush()  # a program that feeds us through a pipe may wait for the answer
        answers.written += len(batch)
        for row in batch:
            if "error" in row and form == "tsv" and not proba:
                click.echo(f"Warning: {single_line(row['error'])}", err=True)
    return answers.end()


class _Answers:
    """One answer for every row, in the order of the rows.

    Attributes
    ----------
    written : int
        The number of answers that the reader of our output has.
    key : str
        What an answer is called in JSON and in the header: "label", or "labels" for lists of them.
    """

    def __init__(self, model: Model, how: Reading, *, proba: bool) -> None:
        self._model = model
        self._how = how
        self._proba = proba
        self._rows = self._unreadable = 0
        self.written = 0
        self.key = "labels" if model.task.multilabel else "label"

    def given(self, files: Sequence[str]) -> Iterator[list[dict[str, Any]]]:
        """The answers to batches of rows, as JSON objects.

        DataError where reading stops says how many answers were written before.
        """
        try:
            for batch in self._how.stream(files):
                yield self._batch(batch)
        except DataError as error:
            so_far = "No answer was written."
            if self.written:
                so_far = f"Answers written, for the rows before it: {self.written:,}."
            raise DataError(f"{error} {so_far}") from None

    def end(self) -> int:
        """Say how many rows could not be read; returns the exit code."""
        if not self._unreadable:
            return 0
        click.echo(
            f"Error: {self._unreadable:,} of {self._rows:,} rows cannot be read; their answers "
            "are empty.",
            err=True,
        )
        return SOME_UNREADABLE

    def as_tsv(self, row: dict[str, Any]) -> str:
        """A line of output."""
        label = self._text(row[self.key])
        if not self._proba:
            return label
        proba = row["proba"] or dict.fromkeys(self._model.labels)
        cells = ["" if value is None else f"{value:.6f}" for value in proba.values()]
        error = [row.get("error", "")] if self._how.on_error == "skip" else []
        return "\t".join([label, *cells, *map(_field, error)])

    def _text(self, answer: Any) -> str:
        """An answer as a field; empty where there is none."""
        if answer is None:
            return ""
        if not self._model.task.multilabel:
            return _field(str(answer))
        return (self._how.label_sep or "").join(map(_field, answer))

    def _batch(self, batch: Corpus) -> list[dict[str, Any]]:
        """The answers to the documents, and among them those to rows that cannot be read."""
        answers: list[dict[str, Any]] = []
        predicted = self._predicted(batch)
        before = 0
        for row in batch.skipped:
            answers += itertools.islice(predicted, row.position - before)
            before = row.position
            error = {"error": f"{row.where}: {row.problem}"}
            answers.append(self._answer(None, None) | error | {"line": row.line})
        answers += predicted
        self._rows += len(answers)
        self._unreadable += len(batch.skipped)
        return answers

    def _predicted(self, batch: Corpus) -> Iterator[dict[str, Any]]:
        if not len(batch):
            return
        scores = self._model.decision_function(batch.texts)
        labels = self._model.choose(scores)
        lines = [0] * len(batch) if batch.line_of is None else batch.line_of.tolist()
        rows: Sequence[Any] = [None] * len(batch)
        if self._proba:
            rows = self._model.probabilities(scores).tolist()
        for label, line, row in zip(labels, lines, rows, strict=True):
            yield self._answer(label, row) | {"line": line}

    def _answer(self, label: Any, proba: Sequence[float] | None) -> dict[str, Any]:
        if not self._proba:
            return {self.key: label}
        shares = None if proba is None else dict(zip(self._model.labels, proba, strict=True))
        return {self.key: label, "proba": shares}


@lru_cache(maxsize=1024)  # there are few labels, and many rows
def _field(label: str) -> str:
    """A label without tabs and line breaks, which separate fields and lines, and safe to print."""
    return printable(" ".join(re.split("[\t\r\n]", label)))
