"""``textreg train``: from files to a model file."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from textreg.cli import shared
from textreg.cli.inputs import TRAINING, Reading, reading
from textreg.cli.options import PartsCommand
from textreg.cli.output import check_target, print_json, progress_bar
from textreg.cli.searching import searching
from textreg.cli.trained import print_summary
from textreg.errors import UsageError
from textreg.measure.calibration import METHODS
from textreg.model.container import is_container
from textreg.tasks import MULTICLASS, TASKS
from textreg.terminal import single_line
from textreg.training.search.spaces import parse_space
from textreg.training.settings import TrainingSettings
from textreg.training.train import train_corpus


@click.command(cls=PartsCommand, name="train")
@click.argument("files", nargs=-1, required=True)
@reading("label", *TRAINING)
@click.option(
    "--reg",
    metavar="NAME",
    default="sentence",
    show_default=True,
    help="Regularizer; textreg plugins lists all there are.",
)
@click.option("--groups", metavar="NAME", help="Builder of groups, if the regularizer needs some.")
@click.option("--graph", metavar="NAME", help="Builder of the graph, if it needs one.")
@shared.tokenizer
@click.option(
    "--dev",
    metavar="FILE",
    multiple=True,
    help="Documents to choose the prices by; may be repeated.",
)
@click.option(
    "--unlabeled",
    metavar="FILE",
    multiple=True,
    help="Documents without labels that a graph learns from as well; may be repeated.",
)
@click.option(
    "--holdout",
    type=float,
    metavar="SHARE",
    help="Share of the documents held out to choose the prices by.  [default: 0.1]",
)
@shared.cross_validation
@click.option(
    "--metric",
    type=click.Choice([metric for task in TASKS.values() for metric in task.metrics]),
    help="What the prices are chosen by; among equals the smaller model wins. "
    " [default: accuracy, or r2 in a regression]",
)
@click.option(
    "--task",
    type=click.Choice(list(TASKS)),
    default="classification",
    show_default=True,
    help="What the labels are: names of classes, or numbers.",
)
@click.option(
    "--loss",
    metavar="NAME",
    help="Loss; textreg plugins lists all there are. "
    " [default: logistic, or squared in a regression]",
)
@click.option(
    "--multiclass",
    type=click.Choice(MULTICLASS),
    default="ovr",
    show_default=True,
    help="Of three labels and more: each against the rest, or all together.",
)
@click.option(
    "--no-refit", is_flag=True, help="Leave out what was held out when fitting the final model."
)
@click.option(
    "--class-weight",
    metavar="LABEL=FACTOR",
    multiple=True,
    help="Weight of a label's documents; or 'balanced'. May be repeated.",
)
@click.option(
    "--calibrate",
    type=click.Choice(METHODS),
    help="Make probabilities come true on the documents held out.  [default: as they are]",
)
@click.option(
    "--threshold",
    metavar="LABEL=RULE",
    multiple=True,
    help="Choose on the documents held out where a label wins: f1, precision:P or costs:FP:FN. "
    "May be repeated.",
)
@click.option(
    "--path", is_flag=True, help="Keep the whole path of the fit in the model: textreg show --path."
)
@searching
@shared.jobs
@click.option(
    "--seed",
    type=int,
    metavar="N",
    default=0,
    show_default=True,
    help="Seed of what is drawn, such as the documents held out.",
)
@click.option(
    "--tol",
    type=float,
    metavar="X",
    default=1e-4,
    show_default=True,
    help="Relative duality gap at which a fit is done.",
)
@click.option(
    "-o", "--output", metavar="FILE", help="Model file.  [default: name of the corpus + .textreg]"
)
@click.option("--report", metavar="FILE", help="Write a report of the model, one page of HTML.")
@shared.as_json
@shared.quiet
def command(
    files: tuple[str, ...],
    how: Reading,
    dev: tuple[str, ...],
    unlabeled: tuple[str, ...],
    no_refit: bool,
    class_weight: tuple[str, ...],
    threshold: tuple[str, ...],
    search_space: tuple[str, ...],
    output: str | None,
    report: str | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Learn a model from labeled text.

    FILES are {formats} files (each also as .gz), folders with one folder for each label, or - for
    standard input. Columns are guessed and the guess is printed.

    Prices that are not given are searched for, on a part of the documents held out, or on --dev;
    the best are then fitted on all documents. Regularizers, tokenizers and so on come from plugins
    (textreg plugins list); the options of those chosen are shown below.
    """
    talk = not (quiet or as_json)
    target = Path(output) if output else Path(f"{_stem(files[0])}.textreg")
    _check_outputs(target, report, options["resume"], [*files, *dev, *unlabeled])
    _check_split(how, dev)
    given = {key: value for key, value in options.items() if value is not None}
    settings = TrainingSettings.from_options(
        refit=not no_refit,
        class_weight=_class_weight(class_weight),
        threshold=_threshold(threshold),
        search_space=parse_space(search_space) or None,
        **given,
    )

    started = time.monotonic()
    corpus = how.training(files, tell=talk)
    if dev:
        settings = replace(settings, dev=how.training(dev, tell=talk))
    if unlabeled:
        settings = replace(settings, unlabeled=how.unlabeled(unlabeled, tell=talk))
    seconds = round(time.monotonic() - started, 3)

    with progress_bar(quiet=quiet) as progress:
        model = train_corpus(corpus, settings, progress, started=started)
    assert model.summary is not None
    summary = replace(model.summary, seconds={"read": seconds, **model.summary.seconds})
    model.summary = summary
    model.save(target)

    result = {**summary.to_json(), "skipped": corpus.skipped, "model": str(target)}
    if report is not None:
        from textreg.cli.report import write_report

        result["report"] = report
        with progress_bar(quiet=quiet) as progress:
            write_report(model, corpus, settings, target, report, progress)
    result["bytes"] = target.stat().st_size
    if as_json:
        print_json(result)
    elif talk:
        print_summary(summary, model.task, target, report)
    if not model.n_features:
        (answer,) = model.predict([""])
        click.echo(
            "Warning: no feature has a weight, so the answer is always "
            f"'{single_line(str(answer))}'. Lower penalty strengths select more features; or the "
            "texts may not tell the labels apart.",
            err=True,
        )


def _check_outputs(
    target: Path, report: str | None, journal: str | None, inputs: Sequence[str]
) -> None:
    """Refuse before anything is read what could not be written, or would be written over."""
    check_target(target, inputs)
    if target.exists() and target.stat().st_size and not is_container(target):
        raise UsageError(
            f"{target} is there already and is no model: name another file with -o FILE, or remove "
            "it first."
        )
    if report is not None:
        from textreg.report.page import check_report

        check_report()
        check_target(Path(report), inputs, "--report")
    flags: dict[str, str] = {}
    for flag, path in (("-o", str(target)), ("--report", report), ("--resume", journal)):
        if path is None:
            continue
        other = flags.setdefault(os.path.abspath(path), flag)
        if other != flag:
            raise UsageError(f"{other} and {flag} both name {path}: name two files.")


def _check_split(how: Reading, dev: Sequence[str]) -> None:
    """Refuse ways to split that contradict each other before anything is read."""
    given = {"--group-col": how.group_col, "--time-col": how.time_col, "--dev": dev}
    named = [flag for flag, value in given.items() if value]
    if len(named) > 1:
        raise UsageError(
            f"{named[0]} and {named[1]} both say which documents to choose the prices by: give "
            "one of them."
        )


def _stem(path: str) -> str:
    """Name of a corpus without folder and endings; ``model`` where it has none."""
    name = "" if path == "-" else os.path.basename(os.path.abspath(path))
    return name.partition(".")[0] or "model"


def _class_weight(given: Sequence[str]) -> str | Mapping[str, float] | None:
    if not given:
        return None
    if list(given) == ["balanced"]:
        return "balanced"
    factors = {}
    for item in given:
        label, equals, factor = item.rpartition("=")
        try:
            factors[label] = float(factor)
        except ValueError:
            equals = ""
        if not equals:
            raise UsageError(
                f"--class-weight must be 'balanced' or LABEL=FACTOR, such as spam=5, not '{item}'."
            )
    return factors


def _threshold(given: Sequence[str]) -> Mapping[str, str] | None:
    rules = {}
    for item in given:
        label, equals, rule = item.rpartition("=")
        if not equals or label in rules:
            raise UsageError(
                "--threshold must be LABEL=RULE, such as spam=precision:0.9, once for a label, "
                f"not '{item}'."
            )
        rules[label] = rule
    return rules or None
