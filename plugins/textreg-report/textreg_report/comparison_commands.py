"""The commands textreg compare and textreg learn-curve."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import click

from textreg.cli import shared
from textreg.cli.inputs import Reading, reading
from textreg.cli.options import PartsCommand, setting, settings
from textreg.cli.output import check_page, check_target, print_table, progress_bar
from textreg.errors import UsageError
from textreg.files import write_atomically
from textreg.hookspecs import hookimpl
from textreg.model.container import is_container
from textreg.model.model import Model
from textreg.model.storage import load_model
from textreg.records import Corpus
from textreg.tasks import Classification, Multilabel
from textreg.terminal import json_line
from textreg.training.settings import declared_settings
from textreg_report.benchmark import TEST_SHARE, Benchmark, Candidate, compare
from textreg_report.charts import check_picture
from textreg_report.comparison import Comparison
from textreg_report.learning_curve import BY, DRAWS, MEASURES, LearningCurve, learn_curve

METRICS = tuple(dict.fromkeys((*Classification.metrics, *Multilabel.metrics)))


class ComparingCommand(PartsCommand):
    """A command that trains candidates, by default on words alone."""

    defaults = {"tokenizer": "textreg:words"}


def naming(*, required: bool) -> Callable[[shared.F], shared.F]:
    """The options that name candidates, and what they are measured on."""
    reg = click.option(
        "--reg",
        metavar="NAMES",
        multiple=True,
        required=required,
        help="Regularizers, separated by commas; or one with options of its own: "
        "--reg 'group groups=lda reg-l1=0.1'. "
        "A name for it may come first: --reg 'topics: group groups=lda'. May be repeated.",
    )
    test = click.option(
        "--test",
        metavar="FILE",
        multiple=True,
        help="Test documents, one file for each corpus.  [default: a part is held out]",
    )
    share = click.option(
        "--test-share",
        type=float,
        metavar="FRACTION",
        default=TEST_SHARE,
        show_default=True,
        help="Fraction of the documents to test on, without --test.",
    )
    return shared.options(reg, test, share)


# Settings of the training that all candidates share.
TRAINING = shared.options(
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
    report: str | None

    def check(self, inputs: Sequence[str], *, pair: bool = False) -> None:
        """UsageError for what cannot be written.

        inputs: files not to overwrite. pair: whether two models are compared on one corpus.
        """
        targets = {"-o": self.output, "--plot": self.plot, "--report": self.report}
        for option, target in targets.items():
            if target is not None:
                check_target(Path(target), inputs, option)
        if self.report is not None:
            check_page(Path(self.report), "--report")
            if not pair:
                raise UsageError(
                    "--report compares two saved models: name two model files and one corpus, and "
                    "leave out --reg."
                )
        if self.plot is not None:
            check_picture(self.plot)

    def draw(self, result: Comparison | LearningCurve) -> None:
        """Draw the result, if that is asked for."""
        if self.plot is not None:
            result.plot(self.plot)
            click.echo(f"drawn: {self.plot}", err=True)

    def write(self, result: Comparison | LearningCurve) -> None:
        """Print the result, or write it to a file, where text is Markdown."""
        form = "json" if self.as_json else self.form
        if form == "text" and self.output is None:
            for title, rows in result.tables():
                click.echo(title)
                print_table(rows, indent="  ", right=[False] + [True] * (len(rows[0]) - 1))
                click.echo()
            for note in result.notes():
                click.echo(f"{note}.")
            return
        if form == "json":
            document = json_line(result.to_dict()) + "\n"
        else:
            document = result.to_csv() if form == "csv" else result.to_markdown()
        if self.output is None:
            click.echo(document, nl=False)
        else:
            write_atomically(Path(self.output), document.encode())


def writing(plot: str, *more: Callable[[Any], Any]) -> Callable[[shared.F], shared.F]:
    """The options of what is written. plot: the help of ``--plot``; more: further ones."""
    return shared.gathered(
        Output,
        "out",
        click.option(
            "--format",
            "form",
            type=click.Choice(["text", "markdown", "csv", "json"]),
            default="text",
            show_default=True,
            help="Format of the result.",
        ),
        click.option("--json", "as_json", is_flag=True, help="The same as --format json."),
        click.option("-o", "--output", metavar="FILE", help="Write the result to a file."),
        click.option("--plot", metavar="FILE", help=f"{plot}, as .svg or .png."),
        *more,
    )


def check_one_each(corpora: Sequence[str], files: Mapping[str, Sequence[str]]) -> None:
    """UsageError for an option with files, but not with one for each corpus."""
    for option, given in files.items():
        if given and len(given) != len(corpora):
            raise UsageError(
                f"{len(corpora)} corpora but {len(given)} times {option}: give one file for each, "
                "in the same order."
            )


def candidates_of(regs: Sequence[str], models: Sequence[str]) -> dict[str, Candidate]:
    """The candidates by name; UsageError if two have the same name.

    ``NAME: ridge reg-l2=1`` is named as it says, and ``ridge reg-l2=1`` by its options.
    """
    candidates: dict[str, Candidate] = {}
    for text in regs:
        for one in [text] if " " in text.strip() else text.split(","):
            name, named, options = " ".join(one.split()).partition(": ")
            if "=" in name or not named:
                name = options = f"{name}{named}{options}"
            if not name:
                raise UsageError(
                    f"--reg '{text}' has an empty name: name regularizers, such as elastic."
                )
            if name in candidates:
                raise UsageError(
                    f"--reg names '{name}' twice: leave one out, or name it otherwise."
                )
            candidates[name] = options
    stems = [Path(path).stem for path in models]
    for path, stem in zip(models, stems, strict=True):
        name = path if stems.count(stem) > 1 or stem in candidates else stem
        if name in candidates:
            raise UsageError(f"the model {path} is named twice: leave one out.")
        candidates[name] = load_model(path)
    return candidates


@click.command(cls=ComparingCommand, name="compare")
@click.argument("files", nargs=-1, required=True)
@reading("label", fields=True)
@naming(required=False)
@click.option(
    "--dev",
    metavar="FILE",
    multiple=True,
    help="Documents to choose hyperparameters on, one file for each corpus.",
)
@click.option(
    "--baseline",
    metavar="NAME",
    help="Candidate to compare the others with.  [default: elastic, or the first]",
)
@click.option(
    "--control",
    is_flag=True,
    help="Compare candidates with groups or a graph with elastic, and with their shadow: the same "
    "groups or links, of features drawn by chance.",
)
@TRAINING
@settings("unknown")
@writing(
    "Plot accuracy against number of features",
    click.option(
        "--report",
        metavar="FILE",
        help="Write a report on the differences of two models, one HTML page.",
    ),
)
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
    check_one_each(corpora, {"--test": test, "--dev": dev})
    out.check([*files, *test, *dev], pair=not reg and (len(models), len(corpora)) == (2, 1))
    candidates = candidates_of(reg, models)
    chosen = {key: value for key, value in options.items() if value is not None}
    how = _as_trained(how, candidates)
    if how.fields and reg:
        chosen["fields"] = how.fields
    none = [None] * len(corpora)
    benchmarks: Iterable[Benchmark] = (
        Benchmark.read(path, *parts, **how.options())
        for path, *parts in zip(corpora, test or none, dev or none, strict=True)
    )
    if out.report is not None:
        benchmarks = list(benchmarks)  # read once, needed twice
    with progress_bar(quiet=False) as progress:
        comparison = compare(candidates, benchmarks, progress=progress, **chosen)
    out.draw(comparison)
    if out.report is not None:
        _write_report(candidates, next(iter(benchmarks)), out.report)
    out.write(comparison)


def _as_trained(how: Reading, candidates: Mapping[str, Candidate]) -> Reading:
    """How to read documents for these models; UsageError if their fields differ."""
    first = next(iter(candidates.values()), None)
    for name, one in candidates.items():
        if not isinstance(one, Model):
            continue
        fields = [(field.name, field.kind) for field in one.encoder.fields]
        if not how.fields and fields and one is first:
            how = how.like(one)
        if fields != [(field.name, field.kind) for field in how.fields or ()]:
            raise UsageError(
                f"the documents of {name} have the fields "
                f"{', '.join(' '.join(field) for field in fields) or 'of one text'}, and those of "
                "the others do not: compare models of the same columns."
            )
    models = [one for one in candidates.values() if isinstance(one, Model)]
    alike = len({tuple(one.columns.items()) for one in models}) == 1
    return how.like(models[0]) if alike and not how.fields else how


def _write_report(candidates: Mapping[str, Candidate], benchmark: Benchmark, path: str) -> None:
    """The page on two models, measured on the documents that they were compared on."""
    from textreg_report import report_pair

    (first, one), (second, two) = candidates.items()
    corpus = benchmark.train if benchmark.test is None else benchmark.test
    assert isinstance(one, Model)
    assert isinstance(two, Model)
    assert isinstance(corpus, Corpus)
    command = ["textreg", *click.get_current_context().obj.words]
    report_pair(one, two, corpus, names=(first, second), command=command).save(path)
    click.echo(f"report: {path}", err=True)


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
@click.option(
    "--sizes",
    metavar="N,N,...",
    callback=_sizes,
    help="Numbers of documents to train on.  [default: all, half of them, and so on]",
)
@click.option(
    "--by",
    type=click.Choice(BY),
    default=BY[0],
    show_default=True,
    help="With labels, the training documents that are not drawn are known without their labels.",
)
@click.option(
    "--draw",
    type=click.Choice(DRAWS),
    default=DRAWS[0],
    show_default=True,
    help="Draw labels in their shares, as many documents of each label, or at random.",
)
@click.option(
    "--draws",
    type=click.IntRange(min=1),
    metavar="N",
    default=5,
    show_default=True,
    help="How often to draw documents.",
)
@naming(required=True)
@click.option(
    "--unlabeled",
    metavar="FILE",
    multiple=True,
    help="Unlabeled documents for regularizers with a graph, one file for each corpus.",
)
@click.option(
    "--baseline",
    metavar="NAME",
    help="Candidate to compare the others with.  [default: ridge, or the first]",
)
@click.option(
    "--measure",
    type=click.Choice(list(MEASURES)),
    default="accuracy",
    show_default=True,
    help="What to show.",
)
@TRAINING
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
    test.*. Samples are drawn several times; of one draw, a smaller sample is part of a larger one,
    and all regularizers have the same. Each chooses its hyperparameters on its sample alone. Shown
    are means over the draws with 95 % t intervals, and paired differences from the baseline.

    The numbers do not depend on --jobs.
    """
    if models := [path for path in files if is_container(Path(path))]:
        raise UsageError(
            f"{models[0]} is a trained model: name corpora, or measure models with textreg compare."
        )
    check_one_each(files, {"--test": test, "--unlabeled": unlabeled})
    inputs = [*files, *test, *unlabeled]
    out.check(inputs)
    candidates = candidates_of(reg, ())
    chosen = {key: value for key, value in options.items() if value is not None}
    if how.fields:
        chosen["fields"] = how.fields
    reader = how.options()
    tests = test or [None] * len(files)
    benchmarks = [
        replace(Benchmark.read(path, of_test, **reader), dev=None)
        for path, of_test in zip(files, tests, strict=True)
    ]
    more = {
        benchmark.name: how.unlabeled([path])
        for benchmark, path in zip(benchmarks, unlabeled, strict=False)
    }
    with progress_bar(quiet=False) as progress:
        curve = learn_curve(candidates, benchmarks, unlabeled=more, progress=progress, **chosen)
    out.draw(curve)
    out.write(curve)


@hookimpl
def textreg_commands() -> list[click.Command]:
    """The commands of this module."""
    return [compare_command, learn_curve_command]
