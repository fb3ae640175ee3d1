"""``textreg explain``: contributions of words and sentences, and what training selected."""

from __future__ import annotations

import errno
import itertools
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from click.core import ParameterSource

from textreg.cli import shared
from textreg.cli.inputs import Reading, check_named, reading
from textreg.cli.output import print_json
from textreg.cli.removal_table import load_by_name, split_sources, write_tables
from textreg.cli.selection import print_selection
from textreg.errors import UsageError
from textreg.explain import Explanation, explain, find_selection
from textreg.explain.removal_formats import FORMATS
from textreg.explain.removal_table import removal_tables
from textreg.explain.show import headline, strongest, text_parts
from textreg.model.storage import load_model
from textreg.reading.paths import meant_as_path
from textreg.records.documents import check_texts
from textreg.terminal import json_line, printable, single_line, visible

if TYPE_CHECKING:
    from rich.console import Console


class Asked(NamedTuple):
    """Texts to explain, in place of files, and the label to explain."""

    texts: tuple[str, ...]
    of: str | None


class Output(NamedTuple):
    """How much to print, and in which form."""

    top: int
    form: str
    as_json: bool


@click.command(cls=shared.Command, name="explain")
@click.argument("model")
@click.argument("sources", nargs=-1, metavar="[MODEL ...] [TEXT | FILE | -]")
@reading("label", trained=True)
@shared.training_corpus(
    "Show what training selected in this corpus, which the model was trained on."
)
@shared.gathered(
    Asked,
    "asked",
    click.option(
        "--text",
        "texts",
        metavar="TEXT",
        multiple=True,
        help="Explain this text, in place of a file. May be repeated.",
    ),
    click.option(
        "--of",
        metavar="LABEL",
        help="Label to explain.  [default: the predicted one, of several the strongest]",
    ),
)
@shared.gathered(
    Output,
    "out",
    click.option(
        "--top",
        metavar="N",
        type=click.IntRange(min=1),
        default=10,
        show_default=True,
        help="Number of features to list per text; with --train, of groups and features of each "
        "kind.",
    ),
    click.option(
        "--format",
        "form",
        type=click.Choice(["text", "jsonl", *FORMATS]),
        default="text",
        show_default=True,
        help="Output for people, or one JSON object per document; of several models also a table "
        "as CSV, HTML or LaTeX.",
    ),
    shared.as_json,
)
def command(
    model: str,
    sources: tuple[str, ...],
    how: Reading,
    training: shared.TrainingCorpus,
    asked: Asked,
    out: Output,
) -> None:
    """Explain predictions by the contributions of words and sentences.

    The score of every text is an exact sum: intercept + words = score. For each sentence there are
    three numbers. "evidence" is how strong a reason for the label it is. "words" is the sum of the
    contributions of its words. "without it" is the log-odds of Yogatama and Smith (2014): by how
    much the log-probability falls if the sentence is left out.

    A source that is no file, and does not look like the name of one, is a text itself; --text is
    for any text.

    With several models, show a table of the sentences of each text with a column for each model, as
    Yogatama and Smith (2014, tables 3 and 4): the log-odds lost without the sentence, and of models
    with groups of sentences whether it is selected. The models must have the same labels.

    With --train, show what training selected in its corpus: which sentences or other groups have a
    weight, what is typical of each label, the order of entry of a pursuit, the neighbors of
    features in a network, and the weights along the path that textreg train --path keeps.
    """
    others, source = split_sources(sources)
    if others:
        _compare([model, *others], source, how, training, asked, out)
        return
    if out.form in FORMATS:
        raise UsageError(f"--format {out.form} compares several models: name another model.")
    loaded = load_model(model)
    if training.corpus:
        if source is not None or any(asked) or out.form != "text":
            raise UsageError(
                "--train explains the training, not a text: leave out the text, --of and --format."
            )
        more = how.unlabeled(training.unlabeled) if training.unlabeled else None
        corpus = how.like(loaded).labeled(training.corpus)
        selection = find_selection(loaded, corpus, out.top, unlabeled=more)
        if out.as_json:
            print_json({"model": model, **selection.to_dict()})
        else:
            print_selection(selection)
        return
    _check_texts(source, how, training, asked)
    texts = _texts(source, asked.texts, how.like(loaded))
    explanations = explain(loaded, texts, asked.of)
    if out.as_json:
        print_json({"model": model, "explanations": [each.to_dict() for each in explanations]})
    elif out.form == "jsonl":
        lines = (json_line(each.to_dict()) + "\n" for each in explanations)
        sys.stdout.writelines(lines)
    else:
        _print_explanations(explanations, out.top, has_probabilities=loaded.has_probabilities)


def _compare(
    paths: Sequence[str],
    source: str | None,
    how: Reading,
    training: shared.TrainingCorpus,
    asked: Asked,
    out: Output,
) -> None:
    """Print what each sentence is worth to several models."""
    if training.corpus:
        raise UsageError("--train works with one model only: leave it out, or name one model.")
    if click.get_current_context().get_parameter_source("top") is ParameterSource.COMMANDLINE:
        raise UsageError("--top works with one model only: leave it out, or name one model.")
    _check_texts(source, how, training, asked)
    models = load_by_name(paths)
    texts = _texts(source, asked.texts, how.like(next(iter(models.values()))))
    tables = removal_tables(models, texts, asked.of)
    write_tables(tables, paths, form=out.form, as_json=out.as_json)


def _check_texts(
    source: str | None, how: Reading, training: shared.TrainingCorpus, asked: Asked
) -> None:
    """UsageError for what does not belong to the explanation of texts."""
    if source is not None and asked.texts:
        raise UsageError(
            f"--text explains a text in place of '{source:.40}', which is no model: leave out one "
            "of them."
        )
    if source == "" or "" in asked.texts:
        raise UsageError("the text is empty: give a text, a file, or - for standard input.")
    if training.unlabeled:
        raise UsageError(
            "--unlabeled needs --train: give the training corpus as well, or leave it out."
        )
    if how.label_col is not None or how.label_sep is not None:
        raise UsageError("texts to explain have no labels: leave out --label-col and --label-sep.")


def _texts(source: str | None, texts: Sequence[str], how: Reading) -> Iterator[str]:
    """The texts to explain: those given, those of a file, or the argument itself."""
    if source is not None and not meant_as_path(source):
        texts = [source]
    if texts:
        how.check_text()
        return iter(texts)
    path = source or "-"
    check_named([path], "explain")
    return itertools.chain.from_iterable(check_texts(batch.texts) for batch in how.stream([path]))


def _print_explanations(
    explanations: Iterable[Explanation], top: int, *, has_probabilities: bool
) -> None:
    """Print explanations for people, with an empty line between them."""
    from rich.console import Console

    class Pages(Console):
        def on_broken_pipe(self) -> None:  # that of rich exits
            raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))

    console = Pages(highlight=False, markup=False, emoji=False, soft_wrap=True)
    for number, each in enumerate(explanations):
        if number:
            console.print()
        _print_explanation(console, each, top, has_probabilities)


def _print_explanation(
    console: Console, explanation: Explanation, top: int, has_probabilities: bool
) -> None:
    from rich.text import Text

    console.print(Text(headline(explanation), style="bold"))
    colored = _colored(explanation)
    if explanation.sentences:
        unit = "log-odds" if has_probabilities else "score"
        console.print(f"evidence     words  without it ({unit})")
    for start, end, value, removal, evidence, field in explanation.sentences:
        line = Text(f"{evidence:8.3f}  {value:+8.3f}  {removal:+8.3f}  ")
        if field:
            line.append(f"{single_line(field)}: ")
        line.append_text(colored[start:end])
        line.plain = line.plain.replace("\n", " ")
        console.print(line)
    if not explanation.words:
        console.print("No word of this text has a weight: the score is the intercept.")
        return
    features = [
        f"{printable(visible(name))} {value:+.3f}" for name, value in strongest(explanation, top)
    ]
    if fields := explanation.fields:
        shown = [f"{single_line(name)} {value:+.3f}" for name, value in fields.items()]
        console.print("  by field: " + ", ".join(shown))
    console.print("  " + ", ".join(features))


def _colored(explanation: Explanation) -> Any:
    """The text: green supports the label, red opposes it, and the strongest parts are bold."""
    from rich.text import Text

    text = Text(printable(explanation.text))
    parts = list(text_parts(explanation))
    most = max((abs(part.value) for part in parts), default=0.0)
    for start, end, value in parts:
        if abs(value) > most / 10:  # weaker parts in color would only be noise
            strong = "bold " if abs(value) > most / 2 else ""
            text.stylize(f"{strong}{'green' if value > 0 else 'red'}", start, end)
    return text
