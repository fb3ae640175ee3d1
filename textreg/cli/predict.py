"""``textreg predict`` and ``evaluate``: labels of texts, and how good they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import click

from textreg.blocks.backends import DEFAULT, open_workers
from textreg.cli import inputs, shared
from textreg.cli.output import check_target, print_json, print_table
from textreg.cli.tables import BINARY, FORMS, Answers, Document, form_of, opened
from textreg.errors import UsageError, first_few
from textreg.jobs import check_jobs
from textreg.kinds import Workers
from textreg.measure import decisions, evaluation
from textreg.model.storage import load_model
from textreg.reading.corpus import RecordBatch
from textreg.records import Corpus
from textreg.terminal import counted, measures, single_line


def _opened(ctx: click.Context, option: click.Parameter, backend: str) -> Workers | None:
    """The workers of a backend, until the command ends; checked before anything is read."""
    name, _, address = backend.partition(":")
    if ctx.resilient_parsing:
        return None
    return ctx.with_resource(open_workers(name, address or None))


# Give a command the option.
on_workers = shared.option(
    "--backend",
    "BACKEND",
    "Where files are read and scored: in threads, or by the workers of a Dask cluster, such as "
    "dask:tcp://10.0.0.5:8786.",
    "workers",
    default=DEFAULT,
    show_default=True,
    callback=_opened,
)


# The exit code if there were rows that could not be read.
SOME_UNREADABLE = 3


# Options as fields of a record: see shared.gathered.
declared: Any = shared


class Output(NamedTuple):
    """What is written of every row, in which form, and where; and by how many threads."""

    proba: bool = declared.switch("--proba", "Also write the probability of each label.")
    top: int | None = declared.option(
        "--top",
        "K",
        "Also write the K best labels with their scores and, with --proba, their probabilities.",
        type=click.IntRange(min=1),
    )
    form: str | None = declared.choice(
        "--format",
        list(FORMS),
        "A label per line, or a table with all columns of the input: see above.  [default: by the "
        "ending of FILE, else lines]",
        "form",
    )
    out: str | None = declared.option(
        "-o", "FILE", "File to write, in place of standard output.", "--output", "out"
    )
    id_col: tuple[str, ...] = declared.repeated(
        "--id-col", "NAME", "Keep only this column of the input in a table."
    )
    prefix: str | None = declared.option(
        "--prefix", "TEXT", "Prefix of the names of the answer columns in a table."
    )
    excel: bool = declared.switch(
        "--excel",
        "Write CSV that Excel opens as it is: with a byte order mark, the separator of the locale, "
        "four digits, and no cell that is a formula.",
    )
    sep: str | None = declared.option(
        "--sep", "TEXT", "With --excel: the separator of cells, such as ';'."
    )
    jobs: int = declared.option(
        "--jobs",
        "N",
        "Number of threads that score texts; -1 for one per core.  [default: -1]",
        type=int,
        default=-1,
        callback=lambda _context, _option, jobs: check_jobs(jobs),
    )
    as_json: bool = declared.as_json

    @property
    def separator(self) -> str | None:
        """What separates the cells of CSV for Excel: a semicolon where commas are decimal."""
        if not self.excel or self.sep:
            return self.sep
        import locale  # of few answers

        before = locale.setlocale(locale.LC_NUMERIC)
        with suppress(locale.Error):
            locale.setlocale(locale.LC_NUMERIC, "")
        comma = locale.localeconv()["decimal_point"] == ","
        locale.setlocale(locale.LC_NUMERIC, before)
        return ";" if comma else ","

    @property
    def tabular(self) -> bool:
        """Whether it is a table, or a document of JSON, rather than lines."""
        return self.as_json or form_of(self.form, self.out) != "lines"


@click.command(cls=shared.Command, name="predict")
@click.argument("model")
@click.argument("files", nargs=-1)
@shared.repeated("--text", "TEXT", "Predict the label of this text, in place of files.", "texts")
@inputs.reading(answers=True, trained=True)
@on_workers
@shared.gathered(Output, "output")
def command(
    model: str,
    files: tuple[str, ...],
    texts: tuple[str, ...],
    how: inputs.Reading,
    workers: Workers,
    output: Output,
) -> int:
    """Predict the labels of the texts in FILES, or on standard input.

    FILES are files or folders that textreg train reads, or plain text with one text per line. The
    output is one label per line, in the order of the texts; --proba and --top add columns and a
    header line. Several labels of a document are separated by --label-sep; in JSON they are a list.

    With --format csv, tsv, jsonl, parquet or xlsx, or -o FILE, the output is a table: all columns
    of the input, then "predicted", a column "proba_LABEL" for each label with --proba, and "top_1",
    "score_1" and so on with --top. It has one row for every row of the input, in the same order. A
    row that cannot be read has no answer, and the column "reason" says why. FILE appears when it is
    complete.

    The exit code is 3 if there were rows that could not be read.
    """
    form = form_of(output.form, output.out)
    _check(form, files, texts, output)
    if how.on_error is None:
        how = how._replace(on_error="skip" if output.tabular else "stop")
    if files:
        inputs.check_named(files, "predict")
    loaded = load_model(model)
    answers = Answers(loaded, proba=output.proba, top=output.top or 0, jobs=output.jobs)
    if output.out is not None:
        check_target(Path(output.out), [model, *files])
    how = how.like(loaded)
    if texts:
        corpus = Corpus(how.given(texts))
        records: list[Mapping[str, Any]] = [{"text": text} for text in texts]
        batches: Iterable[RecordBatch] = [RecordBatch(corpus, records, {"text": None})]
    elif workers.reads:
        batches = workers.score_files(loaded, how, files or ["-"], records=output.tabular)
    else:
        fixed = form not in ("lines", "jsonl") or output.out is not None
        batches = how.records(files or ["-"], full=fixed)
    kind = Document if output.as_json else FORMS[form]
    options: dict[str, Any] = {"ids": output.id_col, "prefix": output.prefix or ""}
    options |= {"reasons": how.on_error == "skip", "label_sep": how.label_sep or ""}
    options |= {"excel": output.separator}
    with opened(output.out, form) as out:
        table = kind(answers, out, **options)
        for batch in answers.to(batches):
            table.add(batch)
            if output.out is None and not output.as_json:
                answers.written += batch.rows
        if output.out is not None and output.tabular:
            answers.require_some()
        table.end()
    if isinstance(table, Document):
        print_json({"model": model, "predictions": table.document})
    if output.out is not None:
        click.echo(f"saved {output.out} ({counted(answers.rows, 'row')})")
    if message := answers.told():
        click.echo(f"Error: {message}", err=True)
        return SOME_UNREADABLE
    return 0


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
                    f"{option} is for tables: choose one with --format csv, tsv, jsonl or xlsx."
                )
    if form in BINARY and output.out is None:
        raise UsageError(f"{BINARY[form]} is no text: name a file with -o FILE.{form}.")
    if (output.excel and form != "csv") or (output.sep and not output.excel):
        raise UsageError("--excel is for CSV (-o FILE.csv), and --sep for --excel.")


# Labels unknown to the model that are listed.
MAX_UNKNOWN = 12


class Tables(NamedTuple):
    """What to show beside the measures."""

    reliability: bool = declared.switch(
        "--reliability", "Compare predicted probabilities with observed frequencies."
    )
    thresholds: bool = declared.switch(
        "--thresholds", "Show precision and recall for decision thresholds of each label."
    )
    as_json: bool = declared.as_json


@click.command(cls=shared.Command, name="evaluate")
@click.argument("model")
@click.argument("files", nargs=-1, required=True)
@inputs.reading("label", trained=True)
@on_workers
@shared.gathered(Tables, "tables")
def evaluate(
    model: str, files: tuple[str, ...], how: inputs.Reading, workers: Workers, tables: Tables
) -> None:
    """Measure a model on labeled texts.

    FILES are files or folders that textreg train reads. The output of --json always contains the
    tables of --reliability and --thresholds.
    """
    loaded = load_model(model)
    if tables.reliability:
        loaded.task.require_probabilities()
    corpus = how.like(loaded).labeled(files, texts=workers if workers.reads else None)
    scores = workers.scores(loaded, corpus.texts)
    task = loaded.task
    result = task.evaluate(corpus, scores, loaded.thresholds, loaded.calibration)
    y_true = task.targets(corpus)
    bins = task.reliability(scores, y_true, loaded.calibration)
    if tables.thresholds and not task.labels:
        raise UsageError(
            f"a {task.name} has no labels, and so no thresholds: leave out --thresholds."
        )
    if tables.as_json:
        table = task.threshold_table(scores, y_true, loaded.thresholds)
        by_label = {label: [line._asdict() for line in lines] for label, lines in table.items()}
        more = {"reliability": bins and bins.to_dict(), "thresholds": by_label, "model": model}
        print_json({**result.to_dict(), **more, "skipped": len(corpus.skipped)})
        return
    inputs.describe(files, corpus)
    _tell_evaluation(result)
    if tables.reliability and bins is not None:
        _tell_reliability(bins)
    if tables.thresholds:
        for label, lines in task.threshold_table(scores, y_true, loaded.thresholds).items():
            _tell_thresholds(label, lines)


def _tell_reliability(reliability: decisions.Reliability) -> None:
    what = f"of {reliability.of}" if reliability.of else "of the predicted label"
    click.echo(f"\nprobability {what} and observed frequency")
    rows: list[Sequence[Any]] = [("probability", "documents", "mean", "observed", "95 % CI")]
    for one in reliability.bins:
        interval = f"{one.low_share:.3f}..{one.high_share:.3f}"
        bounds = f"{one.low:.1f} to {one.high:.1f}"
        rows.append((bounds, one.documents, one.probability, one.share, interval))
    print_table(rows)
    click.echo(f"mean difference (expected calibration error): {reliability.error:.3f}")


def _tell_thresholds(label: str, lines: Sequence[decisions.ThresholdLine]) -> None:
    click.echo(f"\nthresholds of {label}")
    rows: list[Sequence[Any]] = [("rule", "threshold", "documents", "precision", "recall", "F1")]
    for line in lines:
        value = "none" if line.threshold is None else f"{line.threshold:+.3f}"
        figures = (line.documents, line.precision, line.recall, line.f1)
        rows.append((line.rule, value, *(figures if line.threshold is not None else ("",) * 4)))
    print_table(rows)


def _tell_evaluation(
    result: evaluation.Evaluation
    | evaluation.RegressionEvaluation
    | evaluation.MultilabelEvaluation,
) -> None:
    click.echo(measures(result.to_dict()))
    if isinstance(result, evaluation.RegressionEvaluation):
        return
    click.echo()
    (_, by_label), *tables = result.tables()
    print_table(by_label, right=[False] + [True] * (len(by_label[0]) - 1))
    if result.unknown:
        unknown = first_few([single_line(label) for label in result.unknown], MAX_UNKNOWN)
        click.echo(f"unknown to the model, so counted as errors: {unknown}")
    if isinstance(result, evaluation.Evaluation) and result.selective is not None:
        _tell_selective(result.selective)
    for title, rows in tables:
        click.echo(f"\n{title}")
        print_table(rows)


def _tell_selective(selective: decisions.Selective) -> None:
    click.echo("\ncoverage (share of documents answered) and risk (share of errors among them)")
    heads = ("coverage", "threshold", "risk", "accuracy inside", "recall of unknown")
    rows: list[Sequence[Any]] = [("", *heads)]
    for name, line in [("now", selective.now), *(("", line) for line in selective.lines)]:
        figures = ["none" if value is None else value for value in line[2:]]
        rows.append((name, line.coverage, f"{line.threshold:+.3f}", *figures))
    print_table(rows, right=[False] + [True] * len(heads))
    click.echo(
        f"{selective.documents:,} documents belong to a label, {selective.unknown:,} to none; mean "
        f"risk over all thresholds (AURC): {selective.aurc:.4f}"
    )
