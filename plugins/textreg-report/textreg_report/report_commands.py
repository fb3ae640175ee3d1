"""``textreg report``: a report on a model, as one HTML page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np

from textreg.cli import shared
from textreg.cli.corpora import CHECKING, checked
from textreg.cli.explain import load_by_name
from textreg.cli.inputs import TRAINING, Reading, check_named, reading
from textreg.cli.options import settings
from textreg.cli.output import check_page, check_target, print_json, print_table, progress_bar, size
from textreg.cli.show import PATH_TABLES, path_or_table
from textreg.errors import UsageError, did_you_mean, first_few, shortened
from textreg.explain.sentences import require_alike
from textreg.hookspecs import hookimpl
from textreg.model.storage import load_model
from textreg.records.documents import check_texts
from textreg.terminal import single_line
from textreg_report.agreement import TITLES, MarkedDocument, marked_document, rationale_scores
from textreg_report.build import report
from textreg_report.charts import plot_path
from textreg_report.page import CheckPage
from textreg_report.verdict import corpus_advice

# Documents of which a bootstrap says little.
FEW = 10


@click.command(cls=shared.Command, name="report")
@click.argument("model")
@click.argument("files", nargs=-1)
@reading("label", *TRAINING, trained=True)
@shared.training_corpus("The corpus that the model was trained on.")
@click.option(
    "--against",
    metavar="MODEL",
    multiple=True,
    help="Another model, such as the last one, to compare with on FILES. May be repeated.",
)
@click.option(
    "--text",
    "texts",
    metavar="TEXT",
    multiple=True,
    help="Show what each sentence of this text is worth to the models. May be repeated.  "
    "[default: of some documents, with --against]",
)
@click.option(
    "--evidence-col",
    metavar="NAME",
    help="Column of FILES with marked passages, lists of [start, end] offsets of characters: "
    "measure the agreement with them.",
)
@click.option(
    "--sentences-col",
    metavar="NAME",
    help="With --evidence-col: column of the sentences, offsets too.  [default: those of the "
    "tokenizer]",
)
@click.option(
    "-o", "--output", metavar="FILE", help="The HTML file.  [default: name of the model + .html]"
)
@settings("jobs", jobs=-1)
@shared.quiet
def report_command(
    model: str,
    files: tuple[str, ...],
    how: Reading,
    training: shared.TrainingCorpus,
    quiet: bool,
    **options: Any,
) -> None:
    """Write a report on a model: one self-contained HTML page, no network requests.

    FILES are labeled documents that were not used in training, in the formats that textreg train
    reads. With --train the report also shows which features and groups training selected, how
    stable the selection is, and how elastic performs on the same documents. With --train and
    without FILES, every document is predicted by a fit that did not use it (cross-validation).
    Columns of weights, groups and times are read from the training corpus only.

    The page opens with a verdict in plain words. With --against it says whether the model is better
    than another one, and shows what sentences are worth to both; with --evidence-col whether its
    reasons are those that people marked.
    """
    train, unlabeled = training
    against, columns = options["against"], [options["evidence_col"], options["sentences_col"]]
    if not files and not train:
        raise UsageError("name labeled documents to measure on, or the training corpus (--train).")
    given = {f"--{name}-col": getattr(how, f"{name}_col") for name in TRAINING}
    for flag, value in {"--unlabeled": unlabeled, **given}.items():
        if value and not train:
            raise UsageError(f"{flag} is for the training corpus: give --train, or leave it out.")
    if against and not files:
        raise UsageError("--against compares on documents that no model has seen: name FILES.")
    if columns[0] is not None and not files:
        raise UsageError("--evidence-col is a column of documents to measure on: name FILES.")
    if columns[1] is not None and columns[0] is None:
        raise UsageError(
            "--sentences-col needs --evidence-col: name the column of the marked passages as "
            "well, or leave out --sentences-col."
        )
    target = Path(options["output"] or Path(model).stem + ".html")
    check_target(target, [model, *files, *train, *unlabeled, *against])
    check_page(target, "-o")
    loaded, others = load_model(model), load_by_name(against)
    fields = [(field.name, field.kind) for field in loaded.encoder.fields]
    for name, other in others.items():
        if [(field.name, field.kind) for field in other.encoder.fields] != fields:
            raise UsageError(
                f"the documents of {name} have other columns than those of the model: compare "
                "models of the same columns."
            )
    how = how.like(loaded)

    corpus = how.labeled(files, tell=not quiet) if files else None
    learned = how.training(train, tell=not quiet) if train else None
    more = how.unlabeled(unlabeled, tell=not quiet) if unlabeled else None
    with progress_bar(quiet=quiet) as progress:
        made = report(
            loaded,
            corpus,
            train=learned,
            unlabeled=more,
            against=others,
            texts=options["texts"],
            marked=read_marked(files, how, *columns) if columns[0] else [],
            advice=corpus_advice(loaded.task, corpus, learned),
            title=Path(model).name,
            command=["textreg", *click.get_current_context().obj.words],
            jobs=options["jobs"],
            progress=progress,
        )
    made.save(target)
    if not quiet:
        click.echo(f"wrote {target} ({size(target.stat().st_size)})")


@click.command(cls=shared.Command, name="agreement")
@click.argument("model")
@click.argument("file")
@reading("label", trained=True)
@click.option(
    "--evidence-col",
    metavar="NAME",
    required=True,
    help="Column of the marked passages, lists of [start, end] offsets of characters.",
)
@click.option(
    "--sentences-col",
    metavar="NAME",
    help="Column of the sentences, offsets too.  [default: those of the tokenizer]",
)
@click.option("--against", metavar="MODEL", help="Another model, to test the differences from it.")
@click.option(
    "--of",
    metavar="LABEL",
    help="Label to explain.  [default: the predicted one, of several the strongest]",
)
@shared.as_json
def agreement_command(  # noqa: PLR0913  # what a command line gives
    model: str,
    file: str,
    how: Reading,
    evidence_col: str,
    sentences_col: str | None,
    against: str | None,
    of: str | None,
    as_json: bool,
) -> None:
    """Measure how well the evidence of a model agrees with passages that people marked.

    FILE has documents with marked passages; - is standard input. The measures are those of the
    ERASER benchmark, of agreement and of how faithful the evidence is to the model.
    """
    if how.label_col is not None or how.label_sep is not None:
        raise UsageError("texts to explain have no labels: leave out --label-col and --label-sep.")
    check_named([file], "agreement")
    loaded = load_model(model)
    other = None if against is None else load_model(against)
    if other is not None:
        require_alike({model: loaded, str(against): other})
    for each in filter(None, (loaded, other)):
        how.like(each)
    documents = read_marked([file], how, evidence_col, sentences_col)
    scores = rationale_scores(loaded, documents, of)
    measures, rows = scores.measures(), list[Sequence[Any]]()
    result: dict[str, Any] = {"model": model, **scores.facts(), "measures": _plain(measures)}
    if other is not None:
        beside = rationale_scores(other, documents, of, share=scores.rationale_share)
        differences, theirs = scores.differences(beside), beside.measures()
        result |= {"against": against, "measures_against": _plain(theirs)}
        result["differences"] = _plain(differences)
        rows.append(("", "mean there", "difference", "95 % CI", "p"))
        for key, change in differences.items():
            ends = f"{change.low:+.3f}..{change.high:+.3f}"
            mean = theirs[key].value
            rows.append((TITLES[key], mean, f"{change.value:+.3f}", ends, f"{change.p:.4f}"))
    if as_json:
        print_json(result)
        return
    click.echo(
        f"{single_line(file)}: marked passages in {len(scores):,} of {len(documents):,} "
        "documents\n"
        f"marked: {scores.marked_sentences:.1%} of the sentences, {scores.marked_tokens:.1%} of "
        "the tokens; the rationale\n"
        f"is the {scores.rationale_share:.1%} of the tokens with the most evidence\n"
    )
    means = [
        (TITLES[key], it.value, f"{it.low:.3f}..{it.high:.3f}") for key, it in measures.items()
    ]
    print_table([("", "mean", "95 % CI"), *means], right=[False, True, True])
    if len(scores) < FEW:
        click.echo("\nintervals of so few documents are too narrow")
    if rows:
        click.echo(f"\nless those of {single_line(str(against))}")
        print_table(rows, right=[False, True, True, True, True])


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value._asdict() for key, value in values.items()}


def read_marked(
    files: Sequence[str], how: Reading, evidence: str, sentences: str | None
) -> list[MarkedDocument]:
    """The documents of files with their passages, which are in these columns."""
    documents: list[MarkedDocument] = []
    for batch in how.records(files, full=False):
        corpus = batch.documents
        for column in filter(None, (evidence, sentences)):
            if column not in batch.columns:
                listed = first_few([shortened(name) for name in batch.columns], 20)
                raise UsageError(
                    f"{', '.join(files)}: no column '{column}'."
                    f"{did_you_mean(column, list(batch.columns))} There are: {listed}."
                )
        # Rows that were left out have a record as well: each stands before a document.
        before = np.searchsorted(
            np.sort(corpus.skipped.position_of), np.arange(len(corpus)), side="right"
        )
        for number, text in enumerate(check_texts(corpus.texts)):
            record: Mapping[str, Any] = batch.records[number + int(before[number])]
            where = corpus.where(number)
            documents.append(marked_document(text, record, evidence, sentences, where))
    return documents


@click.command(cls=shared.Command, name="check-page")
@click.argument("files", nargs=-1, required=True)
@reading("label", stops=False, fields=True)
@CHECKING
@click.option("-o", "--output", metavar="FILE", required=True, help="The HTML file.")
def check_page_command(
    files: tuple[str, ...], how: Reading, output: str, against: tuple[str, ...], **options: Any
) -> None:
    """Look for faults in labeled texts, as textreg check does, and write what is found as a page.

    FILES are files or folders in the formats that textreg train reads: {formats}.
    """
    target = Path(output)
    check_target(target, [*files, *against])
    check_page(target, "-o")
    result = checked(files, how, against, **options)
    CheckPage(result, ("textreg", *click.get_current_context().obj.words)).save(target)
    click.echo(f"wrote {target} ({size(target.stat().st_size)})")


@click.command(cls=shared.Command, name="plot")
@click.argument("model")
@shared.options(*PATH_TABLES)
@click.option("-o", "--output", metavar="FILE", required=True, help="The picture, .svg or .png.")
def plot_command(
    model: str, coefficients: str | None, errors: bool, sentences: str | None, output: str
) -> None:
    """Draw the regularization path that textreg train --path keeps in a model.

    By default the metric over the number of features; with an option, that table of the path.
    """
    check_target(Path(output), [model])
    loaded = load_model(model, tokenizer=sentences is not None)
    _, shown = path_or_table(loaded, model, coefficients, errors, sentences)
    plot_path(shown, output)
    click.echo(f"saved {output}", err=True)


@hookimpl
def textreg_commands() -> list[click.Command]:
    """The commands of this module."""
    return [report_command, agreement_command, check_page_command, plot_command]
