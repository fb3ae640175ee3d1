"""``textreg evaluate``: a model measured on labelled text."""

from __future__ import annotations

import click

from textreg.cli.inputs import describe, reading
from textreg.cli.output import print_json, print_table
from textreg.corpus import read_corpus
from textreg.evaluation import Evaluation, evaluate
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
    scores = loaded.decision_function(corpus.texts)
    result = evaluate(
        corpus.labels or [None] * len(corpus),
        loaded.choose(scores),
        loaded.labels,
        loaded.probabilities(scores),
        where=corpus.where,
    )
    if as_json:
        print_json({**result.to_dict(), "model": model, "skipped": corpus.skipped})
        return
    describe(files, corpus)
    _tell(result)


def _tell(result: Evaluation) -> None:
    low, high = result.accuracy_interval
    click.echo(
        f"accuracy {result.accuracy:.3f} (95 % CI {low:.3f}..{high:.3f})  "
        f"macro-F1 {result.macro_f1:.3f}  log-loss {result.log_loss:.3f}\n"
    )
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
