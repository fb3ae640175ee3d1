"""``textreg evaluate``: measure a model on labeled texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import click

from textreg.cli import shared
from textreg.cli.inputs import Reading, describe, reading
from textreg.cli.output import measures, print_json, print_table
from textreg.cli.predict import on_cluster, scores_on_workers, workers
from textreg.errors import UsageError, first_few
from textreg.measure.decisions import Reliability, Selective, ThresholdLine
from textreg.measure.evaluation import (
    Evaluation,
    LabelScore,
    MultilabelEvaluation,
    RegressionEvaluation,
)
from textreg.model.storage import load_model
from textreg.terminal import single_line

MAX_CONFUSION = 12
"""Largest number of labels to print a confusion matrix for."""


class Tables(NamedTuple):
    """What to show beside the measures."""

    reliability: bool = shared.option(
        "--reliability",
        is_flag=True,
        help="Compare predicted probabilities with observed frequencies.",
    )
    thresholds: bool = shared.option(
        "--thresholds",
        is_flag=True,
        help="Show precision and recall for decision thresholds of each label.",
    )
    as_json: bool = shared.json_field


@click.command(cls=shared.Command, name="evaluate")
@click.argument("model")
@click.argument("files", nargs=-1, required=True)
@reading("label", trained=True)
@on_cluster
@shared.gathered(Tables, "tables")
def command(
    model: str, files: tuple[str, ...], how: Reading, address: str | None, tables: Tables
) -> None:
    """Measure a model on labeled texts.

    FILES are files or folders that textreg train reads. The output of --json always contains the
    tables of --reliability and --thresholds.
    """
    loaded = load_model(model)
    if tables.reliability:
        loaded.task.require_probabilities()
    with workers(address) as connection:
        corpus = how.like(loaded).labeled(files, texts=connection)
        if connection is None:
            scores = loaded.decision_function(corpus.texts)
        else:
            scores = scores_on_workers(loaded, corpus)
    task = loaded.task
    result = task.evaluate(corpus, scores, loaded.thresholds, loaded.calibration)
    y_true = task.targets(corpus)
    bins = task.reliability(scores, y_true, loaded.calibration)
    table = task.threshold_table(scores, y_true, loaded.thresholds)
    if tables.thresholds and not task.labels:
        raise UsageError(
            f"a {task.name} has no labels, and so no thresholds: leave out --thresholds."
        )
    if tables.as_json:
        print_json(
            {
                **result.to_dict(),
                "reliability": None if bins is None else bins.to_dict(),
                "thresholds": {
                    label: [line._asdict() for line in lines] for label, lines in table.items()
                },
                "model": model,
                "skipped": len(corpus.skipped),
            }
        )
        return
    describe(files, corpus)
    _tell(result)
    if tables.reliability and bins is not None:
        _tell_reliability(bins)
    if tables.thresholds:
        for label, lines in table.items():
            _tell_thresholds(label, lines)


def _tell_reliability(reliability: Reliability) -> None:
    what = f"of {reliability.of}" if reliability.of else "of the predicted label"
    click.echo(f"\nprobability {what} and observed frequency")
    rows: list[Sequence[Any]] = [("probability", "documents", "mean", "observed", "95 % CI")]
    for one in reliability.bins:
        interval = f"{one.low_share:.3f}..{one.high_share:.3f}"
        bounds = f"{one.low:.1f} to {one.high:.1f}"
        rows.append((bounds, one.documents, one.probability, one.share, interval))
    print_table(rows)
    click.echo(f"mean difference (expected calibration error): {reliability.error:.3f}")


def _tell_thresholds(label: str, lines: Sequence[ThresholdLine]) -> None:
    click.echo(f"\nthresholds of {label}")
    rows: list[Sequence[Any]] = [("rule", "threshold", "documents", "precision", "recall", "F1")]
    for line in lines:
        value = "none" if line.threshold is None else f"{line.threshold:+.3f}"
        figures = (line.documents, line.precision, line.recall, line.f1)
        rows.append((line.rule, value, *(figures if line.threshold is not None else ("",) * 4)))
    print_table(rows)


def _tell(result: Evaluation | RegressionEvaluation | MultilabelEvaluation) -> None:
    click.echo(measures(result.to_dict()))
    if isinstance(result, RegressionEvaluation):
        return
    click.echo()
    if isinstance(result, MultilabelEvaluation):
        _tell_labels(result.classes)
    else:
        print_table([("label", "precision", "recall", "F1", "documents"), *result.classes])
    if result.unknown:
        unknown = first_few([single_line(label) for label in result.unknown], MAX_CONFUSION)
        click.echo(f"unknown to the model, so counted as errors: {unknown}")
    if isinstance(result, Evaluation) and result.selective is not None:
        _tell_selective(result.selective)
    if isinstance(result, Evaluation) and len(result.classes) <= MAX_CONFUSION:
        names = [score.label for score in result.classes]
        click.echo("\ntrue labels in rows, predictions in columns")
        rows = zip(names, result.confusion.tolist(), strict=True)
        print_table([("", *names), *((name, *counts) for name, counts in rows)])


def _tell_labels(scores: Sequence[LabelScore]) -> None:
    rows: list[Sequence[Any]] = [
        ("label", "precision", "95 % CI", "recall", "95 % CI", "F1", "95 % CI", "documents")
    ]
    for one in scores:
        intervals = one.precision_interval, one.recall_interval, one.f1_interval
        precision, recall, f1 = (f"{low:.2f}..{high:.2f}" for low, high in intervals)
        figures = (one.precision, precision, one.recall, recall, one.f1, f1, one.support)
        rows.append((one.label, *figures))
    print_table(rows, right=[False] + [True] * 7)


def _tell_selective(selective: Selective) -> None:
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
