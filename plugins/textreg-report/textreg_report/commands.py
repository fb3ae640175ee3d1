"""The commands that report, compare and draw learning curves."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import click

from textreg.cli import shared
from textreg.cli.corpora import CHECKING, checked
from textreg.cli.explain import load_by_name
from textreg.cli.inputs import TRAINING, Reading, check_named, reading
from textreg.cli.options import PartsCommand, setting, settings
from textreg.cli.output import check_page, check_target, print_json, print_table, progress_bar, size
from textreg.cli.show import PATH_TABLES, path_or_table
from textreg.errors import UsageError, did_you_mean, first_few, shortened
from textreg.explain.sentences import require_alike
from textreg.files import write_atomically
from textreg.hookspecs import hookimpl
from textreg.model.container import is_container
from textreg.model.model import Model
from textreg.model.storage import load_model
from textreg.reading.corpus import records_of
from textreg.records.documents import check_texts
from textreg.tasks import Classification, Multilabel
from textreg.terminal import json_line, printable, single_line
from textreg.training.settings import declared_settings
from textreg_report.agreement import TITLES, MarkedDocument
from textreg_report.benchmark import Benchmark, Candidate, compare
from textreg_report.build import evidence_of, report
from textreg_report.charts import check_picture, plot_path
from textreg_report.comparison import Comparison
from textreg_report.learning_curve import Draws, LearningCurve, learn_curve
from textreg_report.page import CheckPage, Page
from textreg_report.verdict import corpus_advice


def _files(flag: str, description: str) -> Callable[[shared.F], shared.F]:
    """An option of one file for each corpus."""
    return shared.option(flag, "FILE", description, multiple=True)


def page_option(usual: str | None = None) -> Callable[[shared.F], shared.F]:
    """The option of the page to write. usual: its name without the option, in words."""
    description = "The HTML file." if usual is None else f"The HTML file.  [default: {usual}]"
    return shared.option("-o", "FILE", description, "--output", required=usual is None)


def save_page(page: Page, target: Path, *, tell: bool = True) -> None:
    """Write a page, and say so."""
    page.save(target)
    if tell:
        click.echo(f"wrote {target} ({size(target.stat().st_size)})")


def command_words() -> tuple[str, ...]:
    """The words of the command line, for a page to show."""
    return ("textreg", *click.get_current_context().obj.words)


def marked_columns(*, required: bool) -> Callable[[shared.F], shared.F]:
    """The options that name the columns of marked passages and of sentences."""
    return shared.options(
        shared.option(
            "--evidence-col",
            "NAME",
            "Column of the passages that people marked, lists of [start, end] offsets of "
            "characters: measure the agreement with them.",
            required=required,
        ),
        shared.option(
            "--sentences-col",
            "NAME",
            "Column of the sentences, as offsets.  [default: those of the tokenizer]",
        ),
    )


@click.command(cls=shared.Command, name="report")
@click.argument("model")
@click.argument("files", nargs=-1)
@reading("label", *TRAINING, trained=True)
@shared.training_corpus("The corpus that the model was trained on.")
@shared.repeated(
    "--against", "MODEL", "Another model, such as the previous one, to compare with on FILES."
)
@shared.option(
    "--text",
    "TEXT",
    "Show what each sentence of this text adds to the score of each model. May be repeated.  "
    "[default: of some documents, with --against]",
    "texts",
    multiple=True,
)
@marked_columns(required=False)
@page_option("name of the model + .html")
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
    Columns of weights, groups and times are read from the training corpus only; by default they are
    those of the training.

    The page opens with a verdict in plain words. With --against it says whether the model is better
    than another one, and shows what sentences add to the score of each; with --evidence-col
    whether its reasons are those that people marked.
    """
    train, unlabeled = training
    # Passages are of the documents to measure on, and not of the training corpus.
    columns, how = [how.evidence_col, options["sentences_col"]], how._replace(evidence_col=None)
    against = options["against"]
    if not files and not train:
        raise UsageError("name labeled documents to measure on, or the training corpus (--train).")
    flags = {f"--{name}-col": getattr(how, f"{name}_col") for name in TRAINING}
    for flag, value in {"--unlabeled": unlabeled, **flags}.items():
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
    named = options["output"]
    target = Path(Path(model).stem + ".html" if named is None else named)
    check_target(target, [model, *files, *train, *unlabeled, *against])
    check_page(target)
    loaded, others = load_model(model), load_by_name(against)
    how = how.like(loaded)
    require_fields(how, others)

    corpus = how.labeled(files, tell=not quiet) if files else None
    if loaded.summary and loaded.summary.source and not any(flags.values()):
        stored = loaded.summary.source.reading  # fits without a part are as the training's were
        how = how._replace(**{f"{name}_col": stored.get(f"{name}_col") for name in TRAINING})
    learned = how.training(train, tell=not quiet) if train else None
    more = how.unlabeled(unlabeled, tell=not quiet) if unlabeled else None
    with progress_bar(quiet=quiet) as progress:
        page = report(
            loaded,
            corpus,
            train=learned,
            unlabeled=more,
            against=others,
            texts=how._replace(text_col=None).given(options["texts"]),
            marked=read_marked(files, how, *columns) if columns[0] else [],
            advice=corpus_advice(loaded.task, corpus, learned),
            title=Path(model).name,
            command=command_words(),
            jobs=options["jobs"],
            progress=progress,
        )
    save_page(page, target, tell=not quiet)


def require_fields(how: Reading, models: Mapping[str, Candidate]) -> None:
    """UsageError unless documents that are read so have the fields of all of these models."""
    read = [f"{field.name} {field.kind}" for field in how.fields or ()]
    for name, model in models.items():
        if not isinstance(model, Model):
            continue
        fields = [f"{field.name} {field.kind}" for field in model.encoder.fields]
        if fields != read:
            raise UsageError(
                f"the documents of {name} have the fields {', '.join(fields) or 'of one text'}, "
                "and those of the others do not: compare models of the same columns."
            )


# Documents of which a bootstrap says little.
FEW = 10


@click.command(cls=shared.Command, name="agreement")
@click.argument("model")
@click.argument("file")
@reading("label", trained=True)
@marked_columns(required=True)
@shared.option("--against", "MODEL", "Another model to compare with by a paired test.")
@shared.of_label
@shared.as_json
def agreement_command(  # noqa: PLR0913  # what a command line gives
    model: str,
    file: str,
    how: Reading,
    sentences_col: str | None,
    against: str | None,
    of: str | None,
    as_json: bool,
) -> None:
    """Measure how well the evidence of a model agrees with passages that people marked.

    FILE has documents with marked passages; - is standard input. The measures are those of the
    ERASER benchmark, of agreement and of how faithful the evidence is to the model.
    """
    how.refuse_labels()
    check_named([file], "agreement")
    loaded = load_model(model)
    others = {} if against is None else {against: load_model(against)}
    if others:
        require_alike({model: loaded, **others})
    for each in (loaded, *others.values()):
        how.like(each)
    documents = read_marked([file], how, str(how.evidence_col), sentences_col)
    evidence = evidence_of(loaded, documents, others, of)
    if as_json:
        facts = dict(vars(evidence))
        measures, beside = facts.pop("means"), facts.pop("beside")
        result = {"model": model, **facts, "measures": _plain(measures)}
        for other in beside:
            result |= {"against": against, "measures_against": _plain(other.means)}
            result["differences"] = _plain(other.differences)
        print_json(result)
        return
    click.echo(
        f"{single_line(file)}: marked passages in {evidence.documents:,} of {len(documents):,} "
        f"documents\nmarked: {evidence.marked_sentences:.1%} of the sentences, "
        f"{evidence.marked_tokens:.1%} of the tokens; the rationale\n"
        f"is the {evidence.rationale_share:.1%} of the tokens with the most evidence\n"
    )
    rows: list[Sequence[Any]] = [("", "mean", "95 % CI")]
    for key, mean in evidence.means.items():
        rows.append((TITLES[key], mean.value, f"{mean.low:.3f}..{mean.high:.3f}"))
    print_table(rows, right=[False, True, True])
    if evidence.documents < FEW:
        click.echo("\nintervals of so few documents are too narrow")
    for other in evidence.beside:
        click.echo(f"\nless those of {single_line(other.name)}")
        rows = [("", "mean there", "difference", "95 % CI", "p")]
        for key, change in other.differences.items():
            ends = f"{change.low:+.3f}..{change.high:+.3f}"
            mean = other.means[key].value
            rows.append((TITLES[key], mean, f"{change.value:+.3f}", ends, f"{change.p:.4f}"))
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
        rows = records_of(corpus, batch.records)
        for number, (text, row) in enumerate(zip(check_texts(corpus.texts), rows, strict=True)):
            where = corpus.where(number)
            documents.append(MarkedDocument.of_row(text, row, evidence, sentences, where))
    return documents


METRICS = tuple(dict.fromkeys((*Classification.metrics, *Multilabel.metrics)))


class ComparingCommand(PartsCommand):
    """A command that trains candidates, by default on words alone."""

    defaults = {"tokenizer": "textreg:words"}


def naming(usual: str, *, required: bool) -> Callable[[shared.F], shared.F]:
    """The options that name candidates, and what they are measured on. usual: the baseline."""
    return shared.options(
        shared.repeated(
            "--reg",
            "NAMES",
            "Regularizers, separated by commas; or one with options of its own: "
            "--reg 'group groups=lda reg-l1=0.1'. "
            "A name for it may come first: --reg 'topics: group groups=lda'.",
            required=required,
        ),
        _files(
            "--test", "Test documents, one file for each corpus.  [default: a part is held out]"
        ),
        shared.option(
            "--baseline",
            "NAME",
            f"Candidate to compare the others with.  [default: {usual}, or the first]",
        ),
    )


# Settings of the training that all candidates share.
SHARED = shared.options(
    settings("tokenizer", "holdout", "cv"),
    setting("metric", replace(declared_settings()["metric"], choices=METRICS)),
    settings("loss", "multiclass", "min_label"),
    settings("refit", "select", "max_nonzero", "budget"),
    settings("jobs", "seed", jobs=-1),
)


class Output(NamedTuple):
    """What to write of the result, and where."""

    form: str
    as_json: bool
    output: str | None
    plot: str | None

    def check(self, inputs: Sequence[str]) -> None:
        """UsageError for what cannot be written. inputs: files not to overwrite."""
        parts = [f"{name}/{part}.*" for name in inputs for part in ("train", "test", "dev")]
        for option, target in {"-o": self.output, "--plot": self.plot}.items():
            if target is not None:
                check_target(Path(target), [*inputs, *parts], option)
        if self.plot is not None:
            check_picture(self.plot)

    def write(self, result: Comparison | LearningCurve) -> None:
        """Print the result or write it to a file, by its ending or as Markdown; then draw it."""
        form = "json" if self.as_json else self.form
        if form == "text" and self.output is not None:
            form = Path(self.output).suffix.removeprefix(".")
        writers: dict[str, Callable[[], str]] = {"csv": result.to_csv}
        writers["json"] = lambda: json_line(result.to_dict()) + "\n"
        document = writers.get(form, result.to_markdown)  # made where it is wanted
        if self.output is not None:
            write_atomically(Path(self.output), document().encode())
        elif form != "text":
            click.echo(printable(document()) if sys.stdout.isatty() else document(), nl=False)
        else:
            for title, rows in result.tables():
                click.echo(title)
                print_table(rows, indent="  ", right=[False] + [True] * (len(rows[0]) - 1))
                click.echo()
            for note in result.notes():
                click.echo(f"{note}.")
        if self.plot is not None:  # last: where a picture cannot be written, nothing else is lost
            result.plot(self.plot)
            click.echo(f"drawn: {self.plot}", err=True)


def writing(plot: str) -> Callable[[shared.F], shared.F]:
    """The options of what is written. plot: the help of ``--plot``."""
    return shared.gathered(
        Output,
        "out",
        shared.choice(
            "--format",
            ["text", "markdown", "csv", "json"],
            "Format of the result.",
            "form",
            default="text",
            show_default=True,
        ),
        shared.switch("--json", "The same as --format json.", "as_json"),
        shared.option("-o", "FILE", "Write the result to a file.", "--output"),
        shared.option("--plot", "FILE", f"{plot}, as .svg or .png."),
    )


def read_benchmarks(
    corpora: Sequence[str], how: Reading, **files: Sequence[str]
) -> Iterable[Benchmark]:
    """The benchmarks in order; UsageError for an option with files, but not one for each corpus.

    files: of test documents and so on, by the names of their options.
    """
    for option, given in files.items():
        if given and len(given) != len(corpora):
            raise UsageError(
                f"{len(corpora)} corpora but {len(given)} times --{option}: give one file for "
                "each, in the same order."
            )
    parts: Any = [files.get(part) or [None] * len(corpora) for part in ("test", "dev")]
    return (Benchmark.read(*it, **how.options()) for it in zip(corpora, *parts, strict=True))


def candidates_of(regs: Sequence[str], models: Sequence[str]) -> dict[str, Candidate]:
    """The candidates by name; UsageError if two have the same name.

    ``NAME: ridge reg-l2=1`` is named as it says, and ``ridge reg-l2=1`` by its options.
    """
    candidates: dict[str, Candidate] = {}
    for text in regs:
        for candidate in [text] if " " in text.strip() else text.split(","):
            name, named, options = " ".join(candidate.split()).partition(": ")
            if "=" in name or not named:
                name = options = f"{name}{named}{options}"
            if not name:
                raise UsageError(
                    f"--reg '{text}' has an empty name: name regularizers, such as elastic."
                )
            if name in candidates:
                raise UsageError(f"--reg names '{name}' twice: leave one out, or rename it.")
            candidates[name] = options
    return candidates | load_by_name(models, candidates)


@click.command(cls=ComparingCommand, name="compare")
@click.argument("files", nargs=-1, required=True)
@reading("label", fields=True)
@naming("elastic", required=False)
@_files("--dev", "Documents to choose hyperparameters on, one file for each corpus.")
@shared.switch(
    "--control",
    "Also compare each candidate that has groups or a graph with elastic and with its shadow: the "
    "same groups or links, of randomly drawn features.",
)
@SHARED
@settings("unknown")
@writing("Plot accuracy against number of features")
def compare_command(
    files: tuple[str, ...],
    how: Reading,
    reg: tuple[str, ...],
    test: tuple[str, ...],
    dev: tuple[str, ...],
    out: Output,
    **options: Any,
) -> None:
    """Compare regularizers or saved models on the same documents.

    FILES are model files and corpora. A corpus is a file or folder that textreg train reads, or a
    folder with files train.*, test.* and optionally dev.*. With --reg, candidates are trained on it
    and measured on --test, or on a held-out part. Without, models are measured on all of it.

    All candidates have the same splits and the same features. Differences are shown with 95 %
    bootstrap intervals and the exact McNemar test; over several corpora with the sign test. Of
    several comparisons, p is adjusted by Holm's method. A candidate is better or worse than the
    baseline if the p that is shown is at most 0.05, and level with it otherwise. Where
    documents may have several labels, differences are those of micro-F1, and the test is on the
    documents whose labels have a higher F1.
    """
    models = [path for path in files if is_container(Path(path))]
    corpora = [path for path in files if path not in models]
    if not corpora:
        raise UsageError("name a corpus to measure on, after the models.")
    out.check([*files, *test, *dev])
    candidates = candidates_of(reg, models)
    how = _as_trained(how, candidates)
    options["fields"] = (how.fields or None) if reg else None
    options["dev"] = None if reg else (dev or None)  # each benchmark has its own, where some train
    chosen = {key: value for key, value in options.items() if value is not None}
    benchmarks = read_benchmarks(corpora, how, test=test, dev=dev)
    with progress_bar(quiet=False) as progress:
        comparison = compare(candidates, benchmarks, progress=progress, **chosen)
    out.write(comparison)


def _as_trained(how: Reading, candidates: Mapping[str, Candidate]) -> Reading:
    """How to read documents for these models; UsageError if their fields differ."""
    models = [model for model in candidates.values() if isinstance(model, Model)]
    first = next(iter(candidates.values()), None)
    if isinstance(first, Model) and first.encoder.fields and not how.fields:
        how = how.like(first)
    require_fields(how, candidates)
    alike = len({tuple(model.columns.items()) for model in models}) == 1
    return how.like(models[0]) if alike and not how.fields else how


def _sizes(ctx: click.Context, option: click.Parameter, text: str | None) -> list[int] | None:
    if text is None:
        return None
    try:
        return [int(size.replace("_", "")) for size in text.split(",")]
    except ValueError:
        raise click.BadParameter(
            f"'{text}' is not a list of numbers of documents, such as 100,200,400.", ctx, option
        ) from None


@click.command(cls=ComparingCommand, name="learn-curve")
@click.argument("files", nargs=-1, required=True)
@reading("label", fields=True)
@shared.option(
    "--sizes",
    "N,N,...",
    "Numbers of documents to train on.  [default: all, half of them, and so on]",
    callback=_sizes,
)
@shared.options(*(setting(name, param) for name, param in Draws.declared().items()))
@naming("ridge", required=True)
@_files(
    "--unlabeled", "Unlabeled documents for regularizers with a graph, one file for each corpus."
)
@SHARED
@writing("Plot the curves")
def learn_curve_command(
    files: tuple[str, ...],
    how: Reading,
    reg: tuple[str, ...],
    test: tuple[str, ...],
    unlabeled: tuple[str, ...],
    out: Output,
    **options: Any,
) -> None:
    """Train regularizers on samples of several sizes, and measure them on the same test documents.

    FILES are corpora: files or folders that textreg train reads, or folders with files train.* and
    test.*. Samples are drawn several times. In a draw, smaller samples are parts of larger ones,
    and all regularizers get the same. Each chooses its hyperparameters on its sample alone. The
    output has means over the draws with 95 % t intervals, and paired differences from the baseline.

    The numbers do not depend on --jobs.
    """
    if models := [path for path in files if is_container(Path(path))]:
        raise UsageError(
            f"{models[0]} is a trained model: name corpora, or measure models with textreg compare."
        )
    out.check([*files, *test, *unlabeled])
    read = read_benchmarks(files, how, test=test, unlabeled=unlabeled)
    candidates = candidates_of(reg, ())
    options["fields"] = how.fields or None
    chosen = {key: value for key, value in options.items() if value is not None}
    benchmarks = [replace(benchmark, dev=None) for benchmark in read]
    more = {
        benchmark.name: how.unlabeled([path])
        for benchmark, path in zip(benchmarks, unlabeled, strict=False)
    }
    with progress_bar(quiet=False) as progress:
        curve = learn_curve(candidates, benchmarks, unlabeled=more, progress=progress, **chosen)
    out.write(curve)


@click.command(cls=shared.Command, name="check-page")
@click.argument("files", nargs=-1, required=True)
@reading("label", stops=False, fields=True)
@CHECKING
@page_option()
def check_page_command(
    files: tuple[str, ...], how: Reading, output: str, against: tuple[str, ...], **options: Any
) -> None:
    """Look for faults in labeled texts, as textreg check does, and write what is found as a page.

    FILES are files or folders in the formats that textreg train reads: {formats}.
    """
    target = Path(output)
    check_target(target, [*files, *against])
    check_page(target)
    save_page(CheckPage(checked(files, how, against, **options), command_words()), target)


@click.command(cls=shared.Command, name="plot")
@click.argument("model")
@shared.options(*PATH_TABLES)
@shared.option("-o", "FILE", "The picture, .svg or .png.", "--output", required=True)
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
    commands = [report_command, agreement_command, check_page_command, plot_command]
    return [*commands, compare_command, learn_curve_command]
