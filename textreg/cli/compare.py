"""``textreg compare``: regularizers and models on the same documents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import click

from textreg.cli import shared
from textreg.cli.comparing import (
    AS_JSON,
    FORM,
    METRICS,
    OUTPUT,
    SHARE,
    TEST,
    ComparingCommand,
    candidates_of,
    check_one_each,
    write_result,
)
from textreg.cli.inputs import Reading, reading
from textreg.cli.output import check_page, check_target, progress_bar
from textreg.cli.settings import setting, settings
from textreg.comparing.benchmarks import Benchmark
from textreg.comparing.candidates import Candidate
from textreg.comparing.compare import compare
from textreg.comparing.comparison import Comparison
from textreg.errors import UsageError
from textreg.model.container import is_container
from textreg.model.model import Model
from textreg.plotting.drawing import check_picture
from textreg.records import Corpus
from textreg.training.settings import declared_settings


class CompareOutput(NamedTuple):
    """What to write of the result, and where."""

    form: str
    as_json: bool
    output: str | None
    plot: str | None
    report: str | None

    def check(self, inputs: Sequence[str], *, pair: bool) -> None:
        """UsageError for what cannot be written.

        inputs: files not to overwrite. pair: whether two models are compared on one corpus.
        """
        targets = {"-o": self.output, "--plot": self.plot, "--report": self.report}
        for option, target in targets.items():
            if target is not None:
                check_target(Path(target), inputs, option)
        if self.report is not None:
            from textreg.report.page import check_report

            check_report()
            check_page(Path(self.report), "--report")
            if not pair:
                raise UsageError(
                    "--report compares two saved models: name two model files and one corpus, and "
                    "leave out --reg."
                )
        if self.plot is not None:
            check_picture(self.plot)

    def write(self, comparison: Comparison) -> None:
        """Print the result, or write it to a file."""
        form = "json" if self.as_json else self.form
        write_result(
            comparison, form, self.output, (*comparison.verdicts(), *comparison.adjustments())
        )


@click.command(cls=ComparingCommand, name="compare")
@click.argument("files", nargs=-1, required=True)
@reading("label", fields=True)
@click.option(
    "--reg",
    metavar="NAMES",
    multiple=True,
    help="Regularizers, separated by commas; or one with options of its own: "
    "--reg 'group groups=lda reg-l1=0.1'. "
    "A name for it may come first: --reg 'topics: group groups=lda'. May be repeated.",
)
@TEST
@click.option(
    "--dev",
    metavar="FILE",
    multiple=True,
    help="Documents to choose hyperparameters on, one file for each corpus.",
)
@SHARE
@click.option(
    "--baseline",
    metavar="NAME",
    help="Candidate to compare the others with.  [default: elastic, or the first]",
)
@settings("tokenizer", "holdout", "cv")
@setting("metric", replace(declared_settings()["metric"], choices=METRICS))
@settings("loss", "multiclass", "min_label", "rare_label", "unknown", "unknown_rule")
@settings("refit", "select", "within", "max_nonzero", "budget")
@settings("jobs", "seed", jobs=-1)
@shared.gathered(
    CompareOutput,
    "out",
    FORM,
    AS_JSON,
    OUTPUT,
    click.option(
        "--plot", metavar="FILE", help="Plot accuracy against number of features, as .svg or .png."
    ),
    click.option(
        "--report",
        metavar="FILE",
        help="Write a report on the differences of two models, one HTML page.",
    ),
)
def command(
    files: tuple[str, ...],
    how: Reading,
    reg: tuple[str, ...],
    test: tuple[str, ...],
    dev: tuple[str, ...],
    out: CompareOutput,
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
    if out.plot is not None:
        comparison.plot(out.plot)
        click.echo(f"drawn: {out.plot}", err=True)
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
    from textreg.report import report_pair

    (first, one), (second, two) = candidates.items()
    corpus = benchmark.train if benchmark.test is None else benchmark.test
    assert isinstance(one, Model)
    assert isinstance(two, Model)
    assert isinstance(corpus, Corpus)
    command = ["textreg", *click.get_current_context().obj.words]
    report_pair(one, two, corpus, names=(first, second), command=command).save(path)
    click.echo(f"report: {path}", err=True)
