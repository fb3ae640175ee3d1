"""``textreg evaluate``: a model measured on labelled text."""

from __future__ import annotations

import click

from textreg.cli.inputs import describe, reading
from textreg.cli.output import measures, print_json, print_table
from textreg.corpus import read_corpus
from textreg.evaluation import Evaluation, Fit, evaluate, evaluate_numbers
from textreg.model import Model
from textreg.prepare import numbers
from textreg.records import Corpus
from textreg.storage import load_model

MAX_CONFUSION = 12
"""Labels up to which the confusion matrix fits on a screen."""


@click.command(name="evaluate")
@click.argument("model")
@click.argument("files", nargs=-1, required=True)
@reading(labels=True)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document only.")
def command(
    model: str,
    files: tuple[str, ...],
    text_col: str | None,
    label_col: str | None,
    encoding: str | None,
    on_error: str,
    as_json: bool,
) -> None:
    """Measure a model on labelled text.

    FILES are of the kinds that textreg train reads.
    """
    loaded = load_model(model)
    corpus = read_corpus(
        files, text_col=text_col, label_col=label_col, encoding=encoding, on_error=on_error
    )
    result = _measure(loaded, corpus)
    if as_json:
        print_json({**result.to_dict(), "model": model, "skipped": corpus.skipped})
        return
    describe(files, corpus)
    _tell(result)


def _measure(model: Model, corpus: Corpus) -> Evaluation | Fit:
    """The model's answers beside the truth."""
    scores = model.decision_function(corpus.texts)
    if model.task == "regression":
        return evaluate_numbers(numbers(corpus), scores)
    return evaluate(
        corpus.labels or [None] * len(corpus),
        [str(label) for label in model.choose(scores)],
        model.labels,
        model.probabilities(scores) if model.has_probabilities else None,
        where=corpus.where,
    )


def _tell(result: Evaluation | Fit) -> None:
    click.echo(measures(result.to_dict()))
    if isinstance(result, Fit):
        return
    click.echo()
    print_table(
        [
            ("label", "precision", "recall", "F1", "documents"),
            *(tuple(score) for score in result.classes),
        ]
    )
    if len(result.classes) <= MAX_CONFUSION:
        names = [score.label for score in result.classes]
        click.echo("\ntruth in rows, predictions in columns")
        print_table(
            [
                ("", *names),
                *(
                    (name, *counts)
                    for name, counts in zip(names, result.confusion.tolist(), strict=True)
                ),
            ]
        )
