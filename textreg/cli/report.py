"""``textreg report``: a report on a model, as one HTML page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from textreg.checking import corpus_advice
from textreg.cli import shared
from textreg.cli.inputs import TRAINING, Reading, reading
from textreg.cli.marks import read_marked
from textreg.cli.output import check_page, check_target, progress_bar, size
from textreg.cli.removal_table import load_by_name
from textreg.cli.settings import settings
from textreg.errors import TextregError, UsageError
from textreg.explain import MarkedDocument
from textreg.explain.marks import Columns
from textreg.model.storage import load_model
from textreg.report import report
from textreg.report.page import check_report

if TYPE_CHECKING:
    from textreg.model.model import Model
    from textreg.records import Corpus
    from textreg.training.running import Progress
    from textreg.training.settings import TrainingSettings


class Beside(NamedTuple):
    """Other models, texts whose sentences are shown for all of them, and marked passages."""

    against: tuple[str, ...]
    texts: tuple[str, ...]
    evidence_col: str | None
    sentences_col: str | None

    def check(self, files: Sequence[str]) -> None:
        """UsageError for options that need files, or each other."""
        if self.against and not files:
            raise UsageError("--against compares on documents that no model has seen: name FILES.")
        if self.evidence_col is not None and not files:
            raise UsageError("--evidence-col is a column of documents to measure on: name FILES.")
        if self.sentences_col is not None and self.evidence_col is None:
            raise UsageError(
                "--sentences-col needs --evidence-col: name the column of the marked passages as "
                "well, or leave out --sentences-col."
            )

    def marked(self, files: Sequence[str], how: Reading) -> list[MarkedDocument]:
        """The documents with their marked passages; none without a column of them."""
        if self.evidence_col is None:
            return []
        return read_marked(files, how, Columns(self.evidence_col, self.sentences_col))

    def load(self, own: Model) -> dict[str, Model]:
        """The models by name; UsageError if they read other columns."""
        models = load_by_name(self.against)
        fields = [(field.name, field.kind) for field in own.encoder.fields]
        for name, one in models.items():
            if [(field.name, field.kind) for field in one.encoder.fields] != fields:
                raise UsageError(
                    f"the documents of {name} have other columns than those of the model: compare "
                    "models of the same columns."
                )
        return models


class ReportOutput(NamedTuple):
    """Where to write the report, and how."""

    output: str | None
    jobs: int
    quiet: bool


@click.command(cls=shared.Command, name="report")
@click.argument("model")
@click.argument("files", nargs=-1)
@reading("label", *TRAINING, trained=True)
@shared.training_corpus("The corpus that the model was trained on.")
@shared.gathered(
    Beside,
    "beside",
    click.option(
        "--against",
        metavar="MODEL",
        multiple=True,
        help="Another model, such as the last one, to compare with on FILES. May be repeated.",
    ),
    click.option(
        "--text",
        "texts",
        metavar="TEXT",
        multiple=True,
        help="Show what each sentence of this text is worth to the models. May be repeated.  "
        "[default: of some documents, with --against]",
    ),
    click.option(
        "--evidence-col",
        metavar="NAME",
        help="Column of FILES with marked passages, lists of [start, end] offsets of characters: "
        "measure the agreement with them.",
    ),
    click.option(
        "--sentences-col",
        metavar="NAME",
        help="With --evidence-col: column of the sentences, offsets too.  [default: those of the "
        "tokenizer]",
    ),
)
@shared.gathered(
    ReportOutput,
    "out",
    click.option(
        "-o",
        "--output",
        metavar="FILE",
        help="The HTML file.  [default: name of the model + .html]",
    ),
    settings("jobs", jobs=-1),
    shared.quiet,
)
def command(
    model: str,
    files: tuple[str, ...],
    how: Reading,
    training: shared.TrainingCorpus,
    beside: Beside,
    out: ReportOutput,
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
    check_report()
    train, unlabeled = training
    if not files and not train:
        raise UsageError("name labeled documents to measure on, or the training corpus (--train).")
    columns = {f"--{name}-col": getattr(how, f"{name}_col") for name in TRAINING}
    for flag, value in {"--unlabeled": unlabeled, **columns}.items():
        if value and not train:
            raise UsageError(f"{flag} is for the training corpus: give --train, or leave it out.")
    beside.check(files)
    target = Path(out.output) if out.output else Path(Path(model).stem + ".html")
    check_target(target, [model, *files, *train, *unlabeled, *beside.against])
    check_page(target, "-o")
    loaded = load_model(model)
    others = beside.load(loaded)
    how = how.like(loaded)

    corpus = how.labeled(files, tell=not out.quiet) if files else None
    learned = how.training(train, tell=not out.quiet) if train else None
    more = how.unlabeled(unlabeled, tell=not out.quiet) if unlabeled else None
    with progress_bar(quiet=out.quiet) as progress:
        made = report(
            loaded,
            corpus,
            train=learned,
            unlabeled=more,
            against=others,
            texts=beside.texts,
            marked=beside.marked(files, how),
            advice=corpus_advice(loaded.task, corpus, learned),
            title=Path(model).name,
            command=["textreg", *click.get_current_context().obj.words],
            jobs=out.jobs,
            progress=progress,
        )
    made.save(target)
    if not out.quiet:
        click.echo(f"wrote {target} ({size(target.stat().st_size)})")


def write_report(
    model: Model,
    corpus: Corpus,
    training: TrainingSettings,
    target: Path,
    path: str,
    progress: Progress | None,
) -> None:
    """Write the report of ``textreg train --report``; on failure say that the model is saved."""
    try:
        made = report(
            model,
            train=corpus,
            settings=training,
            advice=corpus_advice(model.task, None, corpus),
            title=target.name,
            command=["textreg", *click.get_current_context().obj.words],
            jobs=training.jobs,
            progress=progress,
        )
    except (KeyboardInterrupt, TextregError):
        click.echo(f"{target} is saved; the report is not.", err=True)
        raise
    made.save(path)
