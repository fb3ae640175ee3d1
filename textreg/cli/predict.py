"""``textreg predict``: labels of texts, one by one or as a table."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import click
import numpy as np

from textreg.cli import shared
from textreg.cli.inputs import Reading, check_named, reading
from textreg.cli.output import check_target, print_json
from textreg.cli.shared import F
from textreg.cli.tables import (
    AnswerBatch,
    AnswerColumns,
    Answers,
    Delimited,
    JsonLines,
    Kept,
    Table,
    form_of,
    opened_text,
)
from textreg.errors import UsageError
from textreg.files import replacing
from textreg.jobs import check_backend, check_jobs
from textreg.model.storage import load_to_predict
from textreg.reading.corpus import RecordBatch
from textreg.reading.paths import listed
from textreg.records import Corpus
from textreg.terminal import printable, single_line

if TYPE_CHECKING:
    from textreg.cli.inputs import Reading
    from textreg.cluster.connection import Connection
    from textreg.model.model import Model
    from textreg.records import Corpus, Floats


class Backend(NamedTuple):
    """Where documents are read and scored: here, or by the workers of a Dask cluster."""

    text: str

    @property
    def address(self) -> str | None:
        """That of a scheduler; None without a cluster. UsageError for what is no backend."""
        name, _, address = self.text.partition(":")
        check_backend(name, address or None)
        return address or None

    @contextmanager
    def connected(self) -> Iterator[Connection | None]:
        """The workers; None without a cluster."""
        address = self.address
        if address is None:
            yield None
            return
        from textreg.cluster.connection import connected

        with connected(address) as connection:
            connection.check([])
            yield connection


def on_cluster(command: F) -> F:
    """Give a command the options; it takes them as ``where``, a :class:`Backend`."""
    return click.option(
        "--backend",
        "where",
        metavar="BACKEND",
        default="threads",
        show_default=True,
        callback=lambda ctx, option, text: Backend(text),
        help="Where files are read and scored: in threads, or by the workers of the Dask cluster "
        "that dask:tcp://10.0.0.5:8786 and the like name.",
    )(command)


def records_on_workers(
    connection: Connection, model: Model, how: Reading, files: Sequence[str], *, records: bool
) -> Iterator[RecordBatch]:
    """The rows of files with their scores, which workers read and compute, a file at a time.

    records: whether the fields of the rows are wanted.
    """
    from textreg.cluster.features import same

    paths = _paths(files)
    sent = connection.submit(same, model)
    columns: dict[str, object] = {}
    made = (connection.submit(scored_file, sent, how, path, name, records) for name, path in paths)
    for batches in connection.results(made):
        for batch, remedy in batches:
            columns |= batch.columns
            yield batch._replace(columns=dict(columns), remedy=lambda remedy=remedy: remedy)


def _paths(files: Sequence[str]) -> list[tuple[str, str]]:
    """The files and folders to read, each with its path on all machines."""
    if "-" in files:
        raise UsageError("workers cannot read standard input: name files that they can read.")
    return [(name, os.path.abspath(name)) for name in listed(files)]


def scored_file(
    model: Model, how: Reading, path: str, name: str, records: bool
) -> list[tuple[RecordBatch, str]]:
    """The rows of a file with their scores, and how to read others, by a worker."""
    from textreg.cluster.files import check_found, skipped_under

    check_found(path, name)
    made = []
    for batch in how.records([path], full=True):
        documents = batch.documents
        scores = model.decision_function(documents.texts) if len(documents) else None
        told = replace(
            documents,
            texts=[""] * len(documents),
            skipped=skipped_under(documents.skipped, path, name),
        )
        rows = batch.records if records else []
        made.append((RecordBatch(told, rows, batch.columns, scores=scores), batch.remedy()))
    return made


def scores_on_workers(model: Model, corpus: Corpus) -> Floats:
    """The scores of documents whose texts lie on workers, (documents, labels)."""
    from textreg.cluster.features import same
    from textreg.cluster.texts import ClusterTexts

    texts = corpus.texts
    assert isinstance(texts, ClusterTexts)
    connection = texts.connection
    sent = connection.submit(same, model)
    parts = connection.results(
        connection.submit(scored_texts, sent, piece)
        for _, _, pieces in texts.blocks()
        for piece in pieces
    )
    return np.concatenate(list(parts))


def scored_texts(model: Model, texts: Sequence[str]) -> Floats:
    """The scores of texts, by a worker."""
    return model.decision_function(texts)


SOME_UNREADABLE = 3
"""The exit code if there were rows that could not be read."""


class Output(NamedTuple):
    """What is written of every row, in which form, and where; and by how many threads."""

    proba: bool
    top: int | None
    form: str | None
    out: str | None
    id_col: tuple[str, ...]
    prefix: str | None
    jobs: int
    as_json: bool

    @property
    def kept(self) -> Kept:
        """What is kept of the input."""
        return Kept(tuple(self.id_col), self.prefix or "")


@click.command(cls=shared.Command, name="predict")
@click.argument("model")
@click.argument("files", nargs=-1)
@click.option(
    "--text",
    "texts",
    metavar="TEXT",
    multiple=True,
    help="Predict the label of this text, in place of files. May be repeated.",
)
@reading(answers=True, trained=True)
@on_cluster
@shared.gathered(
    Output,
    "output",
    click.option("--proba", is_flag=True, help="Write the probability of each label, too."),
    click.option(
        "--top",
        metavar="K",
        type=click.IntRange(min=1),
        help="Write the K best labels with their scores, too; with --proba, with their "
        "probabilities.",
    ),
    click.option(
        "--format",
        "form",
        type=click.Choice(["lines", "csv", "tsv", "jsonl", "parquet"]),
        help="A label per line, or a table with all columns of the input: see above.  [default: by "
        "the ending of FILE, else lines]",
    ),
    click.option(
        "-o", "--output", "out", metavar="FILE", help="File to write, in place of standard output."
    ),
    click.option(
        "--id-col",
        metavar="NAME",
        multiple=True,
        help="Keep only this column of the input in a table. May be repeated.",
    ),
    click.option(
        "--prefix",
        metavar="TEXT",
        help="What the names of the columns of the answers begin with in a table.",
    ),
    click.option(
        "--jobs",
        metavar="N",
        type=int,
        default=-1,
        callback=lambda _context, _option, jobs: check_jobs(jobs),
        help="Number of threads that score texts; -1 for one per core.  [default: -1]",
    ),
    shared.as_json,
)
def command(
    model: str,
    files: tuple[str, ...],
    texts: tuple[str, ...],
    how: Reading,
    where: Backend,
    output: Output,
) -> int:
    """Predict the labels of the texts in FILES, or on standard input.

    FILES are files or folders that textreg train reads, or plain text with one text per line. The
    output is one label per line, in the order of the texts; --proba and --top add columns and a
    header line. A document that may have several labels has them on its line, with --label-sep
    between them, and in JSON as a list.

    With --format csv, tsv, jsonl or parquet, or -o FILE, the output is a table: all columns of the
    input, then "predicted", a column "proba_LABEL" for each label with --proba, and "top_1",
    "score_1" and so on with --top. It has one row for every row of the input, in the same order. A
    row that cannot be read has no answer, and the column "reason" says why. FILE appears when it is
    complete.

    The exit code is 3 if there were rows that could not be read.
    """
    with where.connected() as connection:
        return _predict(model, files, texts, how, output, connection)


def _predict(
    model: str,
    files: tuple[str, ...],
    texts: tuple[str, ...],
    how: Reading,
    output: Output,
    connection: Connection | None,
) -> int:
    """The command, with the workers that read and score files, if there are any."""
    form = form_of(output.form, output.out)
    _check(form, files, texts, output)
    if how.on_error is None:
        tabular = form != "lines" or output.as_json
        how = how._replace(on_error="skip" if tabular else "stop")
    if files:
        check_named(files, "predict")
    loaded = load_to_predict(model)
    answers = Answers(loaded, proba=output.proba, top=output.top or 0, jobs=output.jobs)
    columns = AnswerColumns(answers, reasons=how.on_error == "skip")
    if output.out is not None:
        check_target(Path(output.out), [model, *files])
    how = how.like(loaded)
    if texts:
        how.check_text()
        given: Iterable[RecordBatch] = [_given(texts)]
    elif connection is not None:
        tabular = form != "lines" or output.as_json
        given = records_on_workers(connection, loaded, how, files or ["-"], records=tabular)
    else:
        fixed = form in ("csv", "tsv", "parquet") or output.out is not None
        given = how.records(files or ["-"], full=fixed)
    batches = answers.to(given)
    if output.as_json:
        made = JsonLines(columns, output.kept, sys.stdout)
        rows: list[dict[str, Any]] = []
        for batch in batches:
            made.check(batch)
            rows += made.objects(batch)
        print_json({"model": model, "predictions": rows})
    elif form == "lines":
        _write_lines(batches, answers, how, output)
    else:
        with _table(form, columns, output, how) as table:
            for batch in batches:
                table.add(batch)
                if output.out is None:
                    answers.written += len(batch.answers)
            if output.out is not None:
                answers.require_some()
    return _end(answers, output.out)


def _check(form: str, files: Sequence[str], texts: Sequence[str], output: Output) -> None:
    """UsageError for options that do not go together."""
    if texts and files:
        raise UsageError("--text predicts texts in place of files: leave out one of them.")
    if "" in texts:
        raise UsageError("--text is empty: give a text.")
    if output.as_json and (output.out is not None or output.form is not None):
        raise UsageError(
            "--json prints one document: leave it out, and use --format jsonl for a table in JSON."
        )
    if form == "lines" and not output.as_json:
        for option, value in (("--id-col", output.id_col), ("--prefix", output.prefix)):
            if value:
                raise UsageError(
                    f"{option} is for tables: choose one with --format csv, tsv, jsonl or parquet."
                )
    if form == "parquet" and output.out is None:
        raise UsageError("Parquet is no text: name a file with -o FILE.parquet.")


def _given(texts: Sequence[str]) -> RecordBatch:
    """Texts of the command line as rows."""
    return RecordBatch(Corpus(list(texts)), [{"text": text} for text in texts], {"text": None})


@contextmanager
def _table(form: str, columns: AnswerColumns, output: Output, how: Reading) -> Iterator[Table]:
    """The table to write, which is complete when the block ends."""
    if output.out is None:
        table = _text_table(form, columns, output, how, sys.stdout)
        yield table
        table.end()
        return
    with replacing(output.out) as file:
        if form == "parquet":
            from textreg.cli.tables import Parquet

            table = Parquet(columns, output.kept, file)
            yield table
            table.end()
            return
        with opened_text(file, output.out) as out:
            table = _text_table(form, columns, output, how, out)
            yield table
            table.end()


def _text_table(
    form: str, columns: AnswerColumns, output: Output, how: Reading, out: IO[str]
) -> Table:
    if form == "jsonl":
        return JsonLines(columns, output.kept, out)
    delimiter = "\t" if form == "tsv" else ","
    separator = how.label_sep or ""
    return Delimited(columns, output.kept, out, delimiter=delimiter, label_sep=separator)


class _Lines:
    """A label per line; with more of an answer, tabs between that, and a header."""

    def __init__(self, answers: Answers, how: Reading) -> None:
        model = answers.model
        self._columns = AnswerColumns(answers, reasons=how.on_error == "skip")
        self._plain = not (answers.proba or answers.top)
        self._separator = how.label_sep or ""
        names = list(self._columns.kinds)
        if answers.proba and not answers.top:
            names[1 : 1 + len(model.labels)] = model.labels
        names[0] = "labels" if answers.multilabel else "label"
        self.header = "" if self._plain else "\t".join(map(_field, names)) + "\n"

    def of(self, batch: AnswerBatch) -> Iterator[str]:
        """The lines of a batch."""
        for answer in batch.answers:
            if self._plain:
                yield f"{self._cell(answer.predicted)}\n"
                continue
            predicted, *numbers = self._columns.cells(answer)
            rest = (f"{x:.6f}" if isinstance(x, float) else self._cell(x) for x in numbers)
            yield "\t".join([self._cell(predicted), *rest]) + "\n"

    def warnings(self, batch: AnswerBatch) -> Iterator[str]:
        """What is wrong with rows, where no column says it."""
        for answer in batch.answers:
            if self._plain and (row := answer.skipped) is not None:
                yield f"Warning: {single_line(f'{row.where}: {row.problem}')}"

    def _cell(self, cell: Any) -> str:
        if isinstance(cell, list):
            return self._separator.join(map(_field, cell))
        return "" if cell is None else _field(str(cell))


def _write_lines(
    batches: Iterable[AnswerBatch], answers: Answers, how: Reading, output: Output
) -> None:
    lines = _Lines(answers, how)
    with _lines_out(output.out) as out:
        out.write(lines.header)
        for batch in batches:
            out.writelines(lines.of(batch))
            out.flush()  # a program that feeds us through a pipe may wait for the answer
            if output.out is None:
                answers.written += len(batch.answers)
            for warning in lines.warnings(batch):
                click.echo(warning, err=True)


@contextmanager
def _lines_out(path: str | None) -> Iterator[IO[str]]:
    if path is None:
        yield sys.stdout
        return
    with replacing(path) as file, opened_text(file, path) as out:
        yield out


def _end(answers: Answers, out: str | None) -> int:
    """Say what was written, and how many rows could not be read; returns the exit code."""
    if out is not None:
        click.echo(f"saved {out} ({answers.rows:,} rows)")
    if told := answers.told():
        click.echo(f"Error: {told}", err=True)
        return SOME_UNREADABLE
    return 0


@lru_cache(maxsize=1024)  # there are few labels, and many rows
def _field(label: str) -> str:
    """A label without tabs and line breaks, which separate fields and lines, and safe to print."""
    return printable(" ".join(re.split("[\t\r\n]", label)))
