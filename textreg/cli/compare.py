"""``textreg compare``: regularizers and models beside each other on the same documents."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import click

from textreg.cli import shared
from textreg.cli.inputs import Reading, reading
from textreg.cli.options import PartsCommand
from textreg.cli.output import check_target, print_table, progress_bar
from textreg.cli.settings import setting, settings
from textreg.comparing.benchmarks import Benchmark
from textreg.comparing.candidates import Candidate
from textreg.comparing.compare import TEST_SHARE, compare
from textreg.comparing.comparison import Comparison
from textreg.errors import UsageError
from textreg.files import write_atomically
from textreg.model.container import is_container
from textreg.model.model import Model
from textreg.model.storage import load_model
from textreg.plotting.drawing import check_picture
from textreg.records import Corpus
from textreg.tasks import Classification
from textreg.training.settings import declared_settings


class Output(NamedTuple):
    """What is made of the result, and where it goes."""

    form: str
    as_json: bool
    output: str | None
    plot: str | None
    report: str | None

    def check(self, inputs: Sequence[str], *, pair: bool) -> None:
        """Refuse what cannot be written before anything is read.

        inputs: files not to overwrite. pair: whether two models are compared on one corpus.
        """
        targets = {"-o": self.output, "--plot": self.plot, "--report": self.report}
        for option, target in targets.items():
            if target is not None:
                check_target(Path(target), inputs, option)
        if self.report is not None:
            from textreg.report.page import check_report

            check_report()
            if not pair:
                raise UsageError(
                    "--report tells two saved models apart: name two model files and one corpus, "
                    "and leave out --reg."
                )
        if self.plot is not None:
            check_picture(self.plot)

    def write(self, comparison: Comparison) -> None:
        """Print the result, or write it to the file."""
        form = "json" if self.as_json else self.form
        if self.output is not None:
            write_atomically(Path(self.output), _document(comparison, form).encode())
        elif form == "text":
            _tell(comparison)
        else:
            click.echo(_document(comparison, form), nl=False)


class _CompareCommand(PartsCommand):
    defaults = {"tokenizer": "words"}


@click.command(cls=_CompareCommand, name="compare")
@click.argument("files", nargs=-1, required=True)
@reading("label")
@click.option(
    "--reg",
    metavar="NAMES",
    multiple=True,
    help="Regularizers with commas between them; one with options of its own stands alone: "
    "--reg 'group groups=lda reg-l1=0.1'. May be repeated.",
)
@click.option(
    "--test",
    metavar="FILE",
    multiple=True,
    help="Documents to measure on, one file for each corpus.  [default: a part is held out]",
)
@click.option(
    "--dev",
    metavar="FILE",
    multiple=True,
    help="Documents to choose the prices by, one file for each corpus.",
)
@click.option(
    "--test-share",
    type=float,
    metavar="SHARE",
    default=TEST_SHARE,
    show_default=True,
    help="Share of the documents to measure on where no file is given.",
)
@click.option(
    "--baseline",
    metavar="NAME",
    help="What the others are held against.  [default: elastic, or the first]",
)
@settings("tokenizer", "holdout", "cv")
@setting("metric", replace(declared_settings()["metric"], choices=Classification.metrics))
@settings("loss", "multiclass", "refit", "select", "within", "max_nonzero", "budget")
@settings("jobs", "seed", jobs=-1)
@shared.gathered(
    Output,
    "out",
    click.option(
        "--format",
        "form",
        type=click.Choice(["text", "markdown", "csv", "json"]),
        default="text",
        show_default=True,
        help="How the result is printed.",
    ),
    click.option("--json", "as_json", is_flag=True, help="The same as --format json."),
    click.option("-o", "--output", metavar="FILE", help="Write the result there instead."),
    click.option("--plot", metavar="FILE", help="Draw accuracy against features, .svg or .png."),
    click.option(
        "--report", metavar="FILE", help="Of two models: write what changed, a page of HTML."
    ),
)
def command(
    files: tuple[str, ...],
    how: Reading,
    reg: tuple[str, ...],
    test: tuple[str, ...],
    dev: tuple[str, ...],
    out: Output,
    **options: Any,
) -> None:
    """Train several regularizers, or take saved models, and measure them on the same documents.

    FILES are model files and corpora. A corpus is of the kinds that textreg train reads, or a
    folder with files train.*, test.* and perhaps dev.*. With --reg, candidates are trained on it
    and measured on --test, or on a part held out; without, models are measured on all of it.

    All have the same split and the same features. Differences come with the exact McNemar test and
    95 % bootstrap intervals; over several corpora with the sign test.
    """
    models = [path for path in files if is_container(Path(path))]
    corpora = [path for path in files if path not in models]
    if not corpora:
        raise UsageError("name a corpus to measure on, behind the models.")
    for given, option in ((test, "--test"), (dev, "--dev")):
        if given and len(given) != len(corpora):
            raise UsageError(
                f"{len(corpora)} corpora but {len(given)} times {option}: give one file for each, "
                "in the same order."
            )
    out.check([*files, *test, *dev], pair=not reg and (len(models), len(corpora)) == (2, 1))
    candidates = _candidates(reg, models)
    chosen = {key: value for key, value in options.items() if value is not None}
    none = [None] * len(corpora)
    benchmarks: Iterable[Benchmark] = (
        Benchmark.read(path, *parts, **how._asdict())
        for path, *parts in zip(corpora, test or none, dev or none, strict=True)
    )
    if out.report is not None:
        benchmarks = list(benchmarks)  # read once, needed twice
    with progress_bar(quiet=False) as progress:
        found = compare(candidates, benchmarks, progress=progress, **chosen)
    if out.plot is not None:
        found.plot(out.plot)
        click.echo(f"drawn: {out.plot}", err=True)
    if out.report is not None:
        _write_report(candidates, next(iter(benchmarks)), out.report)
    out.write(found)


def _write_report(candidates: Mapping[str, Candidate], benchmark: Benchmark, path: str) -> None:
    """The page on two models, measured on the documents that they were compared on."""
    from textreg.report import report_pair

    (first, one), (second, two) = candidates.items()
    corpus = benchmark.train if benchmark.test is None else benchmark.test
    assert isinstance(one, Model)
    assert isinstance(two, Model)
    assert isinstance(corpus, Corpus)
    command = ["textreg", *click.get_current_context().obj.words]
    report_pair(one, two, corpus, names=(first, second), command=command).save(path)
    click.echo(f"report: {path}", err=True)


def _candidates(regs: Sequence[str], models: Sequence[str]) -> dict[str, Candidate]:
    """Names and what they stand for; UsageError where two are the same."""
    found: dict[str, Candidate] = {}
    for text in regs:
        for one in [text] if " " in text.strip() else text.split(","):
            name = " ".join(one.split())
            if not name:
                raise UsageError(
                    f"--reg '{text}' has an empty name: name regularizers, such as elastic."
                )
            if name in found:
                raise UsageError(f"--reg names '{name}' twice: leave one out.")
            found[name] = name
    stems = [Path(path).stem for path in models]
    for path, stem in zip(models, stems, strict=True):
        name = path if stems.count(stem) > 1 or stem in found else stem
        if name in found:
            raise UsageError(f"the model {path} is named twice: leave one out.")
        found[name] = load_model(path)
    return found


def _document(found: Comparison, form: str) -> str:
    """The result as a text of one of the formats."""
    if form == "json":
        return json.dumps(found.to_dict(), ensure_ascii=False, allow_nan=False) + "\n"
    if form == "csv":
        return found.to_csv()
    return found.to_markdown()


def _tell(found: Comparison) -> None:
    """The result for people."""
    for title, rows in found.tables():
        click.echo(title)
        print_table(rows, indent="  ", right=[False] + [True] * (len(rows[0]) - 1))
        click.echo()
    for verdict in found.verdicts():
        click.echo(f"{verdict}.")
