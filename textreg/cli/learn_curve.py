"""``textreg learn-curve``: regularizers on more and more documents."""

from __future__ import annotations

from collections.abc import Sequence
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
from textreg.cli.output import check_target, progress_bar
from textreg.cli.settings import setting, settings
from textreg.comparing.benchmarks import Benchmark
from textreg.comparing.curves import BY, learn_curve
from textreg.comparing.draws import DRAWS
from textreg.comparing.learning_curve import MEASURES, LearningCurve
from textreg.errors import UsageError
from textreg.model.container import is_container
from textreg.plotting.drawing import check_picture
from textreg.training.settings import declared_settings


class CurveOutput(NamedTuple):
    """What to write of the result, and where."""

    form: str
    as_json: bool
    output: str | None
    plot: str | None

    def check(self, inputs: Sequence[str]) -> None:
        """UsageError for what cannot be written, or would overwrite an input."""
        for option, target in {"-o": self.output, "--plot": self.plot}.items():
            if target is not None:
                check_target(Path(target), inputs, option)
        if self.plot is not None:
            check_picture(self.plot)

    def write(self, curve: LearningCurve) -> None:
        """Print the result, or write it to a file."""
        if self.plot is not None:
            curve.plot(self.plot)
            click.echo(f"drawn: {self.plot}", err=True)
        form = "json" if self.as_json else self.form
        write_result(curve, form, self.output, curve.notes())


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
@click.option(
    "--reg",
    metavar="NAMES",
    multiple=True,
    required=True,
    help="Regularizers, separated by commas; or one with options of its own: "
    "--reg 'network reg-alpha=10 graph=lexicon'. "
    "A name for it may come first: --reg 'topics: group groups=lda'. May be repeated.",
)
@TEST
@click.option(
    "--unlabeled",
    metavar="FILE",
    multiple=True,
    help="Unlabeled documents for regularizers with a graph, one file for each corpus.",
)
@SHARE
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
@settings("tokenizer", "holdout", "cv")
@setting("metric", replace(declared_settings()["metric"], choices=METRICS))
@settings("loss", "multiclass", "min_label", "rare_label", "refit")
@settings("select", "within", "max_nonzero", "budget")
@settings("jobs", "seed", jobs=-1)
@shared.gathered(
    CurveOutput,
    "out",
    FORM,
    AS_JSON,
    OUTPUT,
    click.option("--plot", metavar="FILE", help="Plot the curves as .svg or .png."),
)
def command(
    files: tuple[str, ...],
    how: Reading,
    reg: tuple[str, ...],
    test: tuple[str, ...],
    unlabeled: tuple[str, ...],
    out: CurveOutput,
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
    out.write(curve)
