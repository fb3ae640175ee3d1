"""``textreg explain``: which words and sentences decided."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from textreg.cli import shared
from textreg.cli.inputs import Reading, reading
from textreg.cli.output import print_json
from textreg.cli.selection import print_selection
from textreg.errors import UsageError
from textreg.explain import Explanation, explain, find_selection
from textreg.explain.show import headline, strongest, text_parts
from textreg.model.storage import load_model
from textreg.terminal import printable

if TYPE_CHECKING:
    from rich.console import Console


@click.command(name="explain")
@click.argument("model")
@click.argument("source", required=False, metavar="[TEXT | FILE | -]")
@reading("label")
@click.option(
    "--train",
    "corpus",
    metavar="CORPUS",
    multiple=True,
    help="Show instead what training selected in the corpus it learned from; may be repeated.",
)
@shared.unlabeled_of_training
@click.option(
    "--top",
    metavar="N",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="Features to list of each text; with --train, groups and features of each kind.",
)
@click.option("--of", metavar="LABEL", help="Explain this label's score.  [default: the predicted]")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "jsonl"]),
    default="text",
    show_default=True,
    help="For reading, or one JSON object a document.",
)
@shared.as_json
def command(
    model: str,
    source: str | None,
    how: Reading,
    corpus: tuple[str, ...],
    unlabeled: tuple[str, ...],
    top: int,
    of: str | None,
    form: str,
    as_json: bool,
) -> None:
    """Show which words and sentences decided.

    For every text the score is taken apart without remainder: intercept + words = score. Beside
    each sentence stand two numbers. "words" is the sum of its words' shares. "without it" is the
    paper's log-odds: what the log-probability loses if the sentence is left out and the rest is
    weighed anew.

    A source with a blank in it that is no file is a text itself.

    With --train, show what the learner selected in its training corpus: which sentences or other
    groups have a weight, what is typical of each label, in what order a pursuit took features and
    groups, which neighbors pulled a weight in a network, and the weights along the path that
    textreg train --path keeps.
    """
    loaded = load_model(model)
    if corpus:
        if source is not None or of is not None or form != "text":
            raise UsageError(
                "--train explains the training and no text: leave out the text, --of and --format."
            )
        more = how.unlabeled(unlabeled) if unlabeled else None
        selection = find_selection(loaded, how.labeled(corpus), top, unlabeled=more)
        if as_json:
            print_json({"model": model, **selection.to_dict()})
        else:
            print_selection(selection)
        return
    if source == "":
        raise UsageError("the text is empty: give one, or a file, or - for standard input.")
    if unlabeled:
        raise UsageError(
            "--unlabeled belongs to the training corpus: give --train, or leave it out."
        )
    if how.label_col is not None:
        raise UsageError("the texts to explain need no labels: leave out --label-col.")
    explanations = explain(loaded, _texts(source or "-", how), of)
    if as_json:
        print_json({"model": model, "explanations": [each.to_dict() for each in explanations]})
    elif form == "jsonl":
        lines = (json.dumps(each.to_dict(), ensure_ascii=False) + "\n" for each in explanations)
        sys.stdout.writelines(lines)
    else:
        _tell(explanations, top, chances=loaded.has_probabilities)


def _texts(source: str, how: Reading) -> Iterator[str]:
    """The texts that an argument stands for."""
    if source != "-" and any(map(str.isspace, source)) and not _is_file(source):
        if how.text_col is not None:
            raise UsageError("a text has no columns: leave out --text-col, or name a file.")
        return iter([source])
    return itertools.chain.from_iterable(batch.texts for batch in how.stream([source]))


def _is_file(source: str) -> bool:
    try:
        return Path(source).exists()
    except (OSError, ValueError):  # too long for a path, or with a null character
        return False


def _tell(explanations: Iterable[Explanation], top: int, *, chances: bool) -> None:
    """Explanations for people, with a line between them."""
    from rich.console import Console

    console = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
    for number, each in enumerate(explanations):
        if number:
            console.print()
        _tell_one(console, each, top, chances)


def _tell_one(console: Console, explanation: Explanation, top: int, chances: bool) -> None:
    from rich.text import Text

    console.print(Text(headline(explanation), style="bold"))
    colored = _colored(explanation)
    if explanation.sentences:
        console.print(f"   words  {'without it (log-odds)' if chances else 'without it (score)'}")
    for start, end, value, removal in explanation.sentences:
        line = Text(f"{value:+8.3f}  {removal:+8.3f}  ")
        line.append_text(colored[start:end])
        line.plain = line.plain.replace("\n", " ")
        console.print(line)
    if not explanation.words:
        console.print("No word of this text has a weight: the intercept is all there is.")
        return
    listed = [f"{printable(name)} {value:+.3f}" for name, value in strongest(explanation, top)]
    console.print("  " + ", ".join(listed))


def _colored(explanation: Explanation) -> Any:
    """The text; green speaks for the label and red against it, the strongest pieces in bold."""
    from rich.text import Text

    text = Text(printable(explanation.text))
    parts = list(text_parts(explanation))
    most = max((abs(part.value) for part in parts), default=0.0)
    for start, end, value in parts:
        if abs(value) > most / 10:  # all else would only be noise in color
            strong = "bold " if abs(value) > most / 2 else ""
            text.stylize(f"{strong}{'green' if value > 0 else 'red'}", start, end)
    return text
