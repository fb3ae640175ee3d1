"""``textreg explain``: contributions of words and sentences, and what training selected."""

from __future__ import annotations

import os
import sys
from bisect import bisect
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import count, repeat, tee
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
from click.core import ParameterSource

from textreg import explain as explaining
from textreg.cli import inputs, shared
from textreg.cli.output import SHOWN, percent, print_json, print_table
from textreg.errors import UsageError
from textreg.explain.contributions import headline, strongest, text_parts
from textreg.model import container, storage, summary
from textreg.model.model import Model
from textreg.reading.corpus import RecordBatch, records_of
from textreg.reading.source import meant_as_path
from textreg.records.documents import check_texts
from textreg.terminal import json_line, printable, single_line, visible


def split_sources(sources: Sequence[str]) -> tuple[list[str], str | None]:
    """Further models, and what is to be explained, if it is named."""
    models = [
        path for path in sources if os.path.exists(path) and container.is_container(Path(path))
    ]
    to_explain = [source for source in sources if source not in models]
    if len(to_explain) > 1:
        raise UsageError(
            f"'{single_line(to_explain[1])}' is one text, file or model too many: give several "
            "texts with --text, once for each."
        )
    return models, next(iter(to_explain), None)


def load_by_name(paths: Sequence[str], taken: Collection[str] = ()) -> dict[str, Model]:
    """Models by the names of their files, without the ending where that is enough.

    taken: names that others have.
    """
    stems = [Path(path).stem for path in paths]
    models: dict[str, Model] = {}
    for path, stem in zip(paths, stems, strict=True):
        name = path if stems.count(stem) > 1 or stem in taken else stem
        if name in models or name in taken:
            raise UsageError(f"the model {path} is named twice: leave one out.")
        models[name] = storage.load_model(path)
    return models


def _print(table: explaining.sentences.RemovalTable) -> None:
    click.echo(explaining.sentences.title_of(table))
    rows = [[*(single_line(column.model) for column in table.columns), ""]]
    rows.append([*(single_line(column.predicted) for column in table.columns), "(predicted)"])
    for sentence, numbers in explaining.sentences.marked_rows(table, "  {}", "* {}"):
        rows.append([*numbers, printable(sentence)])
    print_table(rows, indent="  ", right=[True] * len(table.columns) + [False])
    if any(column.selected is not None for column in table.columns):
        click.echo("* selected: a feature of the sentence has a weight")
    for note in explaining.sentences.notes_of(table):
        click.echo(note)


# Points of a path whose weights are printed, besides the chosen one.
MAX_COLUMNS = 7


def print_selection(selection: explaining.Selection) -> None:
    """Print all of it."""
    _print_corpus(selection)
    click.echo(
        f"selected: {selection.selected:,} of {selection.groups:,} {selection.builder} "
        f"({percent(selection.selected, selection.groups)}); {selection.empty:,} have no feature"
    )
    if (proven := selection.proven) is not None:
        for name, counts in (("features", proven.features), (selection.builder, proven.groups)):
            # Over all weight vectors.
            total = summary.SupportCounts.total(counts) if counts else None
            if total is not None:
                click.echo(
                    f"proven of {name} at the optimum: {total.zero:,} surely zero, "
                    f"{total.nonzero:,} surely not, {total.undecided:,} undecided"
                )
    if selection.shares:
        least, median, most = (100 * q for q in np.percentile(selection.shares, (0, 50, 100)))
        click.echo(
            f"share selected in a document: {least:.0f} to {most:.0f} %, median {median:.0f} %"
        )
    _print_groups(f"{selection.builder} of the largest norm", selection.strongest)
    for label, typical in selection.typical.items():
        _print_groups(f"typical of {single_line(label)}", typical)
    _print_order(selection)
    if selection.path is not None:
        _print_path(selection.path)
    _print_linked(selection.linked)
    for note in selection.notes:
        click.echo(f"\nnote: {note}")


def _print_corpus(selection: explaining.Selection) -> None:
    click.echo(f"corpus: {selection.documents:,} documents, {selection.features:,} features")
    if selection.trained_on != selection.documents or selection.missing:
        click.echo(
            "this is not the corpus of the training, which had "
            f"{selection.trained_on:,} documents; {selection.missing:,} features of the model are "
            "not in this one"
        )
    if not selection.by_group:
        click.echo(
            f"{selection.regularizer} does not select groups: below are the {selection.builder} "
            "that contain a selected feature"
        )


def _print_groups(title: str, groups: Sequence[explaining.SelectedGroup]) -> None:
    click.echo(f"\n{title}")
    rows = []
    for group in groups:
        words = ", ".join(f"{visible(name)} {weight:+.2f}" for name, weight in group.words[:SHOWN])
        content = words if group.text is None else f"{' '.join(group.text.split())}  [{words}]"
        rows.append((group.norm, group.label, group.name, content))
    if rows:
        print_table([("NORM", "FOR", "GROUP", "WORDS"), *rows], indent="  ")
    else:
        click.echo("  (none)")


def _print_order(selection: explaining.Selection) -> None:
    for number, order in enumerate(selection.order):
        which = f" of weight vector {number + 1}" if len(selection.order) > 1 else ""
        if not selection.order_groups:
            listed = ", ".join(map(visible, order))
            click.echo(f"\norder of entry of features{which}\n  {printable(listed)}")
            continue
        click.echo(f"\norder of entry of {selection.builder} and single features{which}")
        for at, step in enumerate(selection.order_groups[number], start=1):
            line = ", ".join(map(visible, step.features[:SHOWN]))
            more = len(step.features) - SHOWN
            line += f" and {more:,} more" if more > 0 else ""
            if step.group is not None:
                text = "" if step.text is None else f": {' '.join(step.text.split())}"
                line = f"{step.group}{text}  [{line}]"
            click.echo(printable(f"  {at}. {line}"))


def _print_path(path: explaining.PathProfiles) -> None:
    """Weights at some points of the path, the first, the last and the chosen one among them."""
    last = len(path.values) - 1
    evenly = {round(last * k / (MAX_COLUMNS - 1)) for k in range(MAX_COLUMNS)}
    points = sorted(evenly | {path.chosen})
    heads = [f"{path.values[at]:.3g}{'*' if at == path.chosen else ''}" for at in points]
    click.echo(f"\nweights along {path.parameter} (* is the model)")
    rows = [
        (visible(profile.feature), profile.label, *(f"{profile.weights[at]:.2f}" for at in points))
        for profile in path.profiles
    ]
    print_table(
        [("FEATURE", "FOR", *heads), *rows],
        indent="  ",
        right=[False, False] + [True] * len(points),
    )


def _print_linked(linked: Sequence[explaining.LinkedFeature]) -> None:
    if linked:
        click.echo("\nlinked features and their pull on a weight (share of links x weight)")
    for node in linked:
        pulls = ", ".join(
            f"{visible(near.feature)} {near.pull:+.3f}" for near in node.neighbors[:SHOWN]
        )
        line = f"  {visible(node.feature)} {node.weight:+.3f} for {node.label}: {pulls or 'none'}"
        click.echo(printable(line))


# Options as fields of a record: see shared.gathered.
declared: Any = shared


class Request(NamedTuple):
    """Texts to explain in place of files, the label, how much to print, and in which form."""

    texts: tuple[str, ...] = declared.repeated(
        "--text", "TEXT", "Explain this text, in place of a file.", "texts"
    )
    of: str | None = declared.of_label
    top: int = declared.top(
        "Number of features to list per text; with --train, of groups and features of each kind."
    )
    form: str = declared.choice(
        "--format",
        ["text", "jsonl", *explaining.sentences.FORMATS],
        "Output for people, or one JSON object per document; for several models also a table as "
        "CSV, HTML or LaTeX.",
        "form",
        default="text",
        show_default=True,
    )
    as_json: bool = declared.as_json


@click.command(cls=shared.Command, name="explain")
@click.argument("model")
@click.argument("sources", nargs=-1, metavar="[MODEL ...] [TEXT | FILE | -]")
@inputs.reading("label", trained=True)
@shared.training_corpus(
    "Show what training selected in this corpus, which the model was trained on."
)
@shared.gathered(Request, "asked")
def command(
    model: str,
    sources: tuple[str, ...],
    how: inputs.Reading,
    training: shared.TrainingCorpus,
    asked: Request,
) -> None:
    """Explain predictions by the contributions of words and sentences.

    The score of every text is an exact sum: intercept + words = score. For each sentence there are
    three numbers. "evidence" is how strong a reason for the label it is. "words" is the sum of the
    contributions of its words. "without it" is the log-odds of Yogatama and Smith (2014): by how
    much the log-probability falls if the sentence is left out.

    An argument that is not a file, and does not look like a file name, is taken as a text; --text
    takes any text.

    With several models, show a table of the sentences of each text with a column for each model, as
    in Yogatama and Smith (2014, tables 3 and 4): the log-odds lost without the sentence and, for
    models with groups of sentences, whether it is selected. The models must have the same labels.

    With --train, show what training selected in its corpus: which sentences or other groups have a
    weight, what is typical of each label, the order of entry of a pursuit, the neighbors of
    features in a network, and the weights along the path that textreg train --path keeps.
    """
    other_models, source = split_sources(sources)
    if other_models:
        _compare([model, *other_models], source, how, training, asked)
        return
    if asked.form in explaining.sentences.FORMATS:
        raise UsageError(f"--format {asked.form} compares several models: name another model.")
    loaded = storage.load_model(model)
    if training.corpus:
        if source is not None or asked.texts or asked.of or asked.form != "text":
            raise UsageError(
                "--train explains the training, not a text: leave out the text, --of and --format."
            )
        more = how.unlabeled(training.unlabeled) if training.unlabeled else None
        corpus = how.like(loaded).labeled(training.corpus)
        selection = explaining.find_selection(loaded, corpus, asked.top, unlabeled=more)
        if asked.as_json:
            print_json({"model": model, **selection.to_dict()})
        else:
            print_selection(selection)
        return
    _check_texts(source, how, training, asked)
    texts, places = _documents(source, asked.texts, how.like(loaded))
    explanations = _placed(explaining.explain(loaded, texts, asked.of), places)
    if asked.as_json:
        rows = [each.to_dict() | place for place, each in explanations]
        print_json({"model": model, "explanations": rows})
    elif asked.form == "jsonl":
        lines = (json_line(each.to_dict() | place) + "\n" for place, each in explanations)
        sys.stdout.writelines(lines)
    else:
        _print_explanations(explanations, asked.top, has_probabilities=loaded.has_probabilities)


def _placed(
    explanations: Iterable[explaining.Explanation], places: Iterator[dict[str, Any]]
) -> Iterator[tuple[dict[str, Any], explaining.Explanation]]:
    """Explanations with where their documents stand; a document may have one for each label."""
    place, text, labels = dict[str, Any](), None, set[str]()
    for explanation in explanations:
        if explanation.text != text or explanation.of in labels:
            place, text, labels = next(places), explanation.text, set()
        labels.add(explanation.of)
        yield place, explanation


def _compare(
    paths: Sequence[str],
    source: str | None,
    how: inputs.Reading,
    training: shared.TrainingCorpus,
    asked: Request,
) -> None:
    """Print what each sentence is worth to several models."""
    if training.corpus:
        raise UsageError("--train works with one model only: leave it out, or name one model.")
    if click.get_current_context().get_parameter_source("top") is ParameterSource.COMMANDLINE:
        raise UsageError("--top works with one model only: leave it out, or name one model.")
    _check_texts(source, how, training, asked)
    models = load_by_name(paths)
    how = how.like(next(iter(models.values())))
    texts = _documents(source, asked.texts, how)[0]
    tables = explaining.sentences.removal_tables(models, texts, asked.of)
    if asked.as_json:
        print_json({"models": list(paths), "tables": [table.to_dict() for table in tables]})
    elif asked.form == "jsonl":
        sys.stdout.writelines(json_line(table.to_dict()) + "\n" for table in tables)
    elif asked.form in explaining.sentences.FORMATS:
        parts = explaining.sentences.FORMATS[asked.form](tables)
        sys.stdout.writelines(map(printable, parts) if sys.stdout.isatty() else parts)
    else:
        for number, table in enumerate(tables):
            if number:
                click.echo()
            _print(table)


def _check_texts(
    source: str | None, how: inputs.Reading, training: shared.TrainingCorpus, asked: Request
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
    how.refuse_labels()


def _documents(
    source: str | None, texts: Sequence[str], how: inputs.Reading
) -> tuple[Iterator[str], Iterator[dict[str, Any]]]:
    """The texts to explain: those given, those of a file, or the argument itself.

    Beside them row, id and line of every text of a file.
    """
    is_object = how.fields and source is not None and source.lstrip().startswith("{")
    if source is not None and (is_object or not meant_as_path(source)):
        texts = [source]
    if texts:
        return iter(how.given(texts)), repeat({})
    path = source or "-"
    inputs.check_named([path], "explain")
    for_texts, for_places = tee(_placed_texts(how.records([path])))
    return (text for text, _ in for_texts), (place for _, place in for_places)


# Usual names of a column of ids.
_IDS = ("id", "_id", "key", "nr", "no", "number", "ticket")


def _placed_texts(batches: Iterable[RecordBatch]) -> Iterator[tuple[str, dict[str, Any]]]:
    rows = count(1)
    for batch in batches:
        corpus = batch.documents
        column = next((name for name in batch.columns if name.strip().lower() in _IDS), None)
        records = [] if column is None else records_of(corpus, batch.records)
        for at, text in enumerate(check_texts(corpus.texts)):
            named = {} if column is None else {"id": records[at].get(column)}
            yield text, {"row": next(rows), **named, "line": corpus.where(at)}


def _print_explanations(
    explanations: Iterable[tuple[dict[str, Any], explaining.Explanation]],
    top: int,
    *,
    has_probabilities: bool,
) -> None:
    """Print explanations for people, with an empty line between them."""
    # Otherwise there are colors where a terminal shows them.
    color = False if os.environ.get("NO_COLOR") else bool(os.environ.get("FORCE_COLOR")) or None
    for number, (place, explanation) in enumerate(explanations):
        where = ", ".join(f"{key} {single_line(str(it))}" for key, it in place.items())
        heading = [where] if where else []
        lines = ["", *heading, *_lines(explanation, top, has_probabilities)][not number :]
        click.echo("\n".join(lines), color=color)


def _lines(explanation: explaining.Explanation, top: int, has_probabilities: bool) -> Iterator[str]:
    """An explanation for people."""
    yield click.style(headline(explanation), bold=True)
    if explanation.sentences:
        yield f"evidence     words  without it ({'log-odds' if has_probabilities else 'score'})"
    parts = list(text_parts(explanation))
    ends = [last for _, last, _ in parts]
    most = max((abs(value) for _, _, value in parts), default=0.0)
    for start, end, value, removal, evidence, field in explanation.sentences:
        line = f"{evidence:8.3f}  {value:+8.3f}  {removal:+8.3f}  "
        line += f"{single_line(field)}: " if field else ""
        # Green supports the label, red opposes it, and the strongest parts are bold.
        for first, last, sum_of_words in parts[bisect(ends, start) : bisect(ends, end - 1) + 1]:
            text = single_line(explanation.text[max(first, start) : min(last, end)])
            if text and abs(sum_of_words) > most / 10:  # weaker ones would only be noise
                green, bold = sum_of_words > 0, abs(sum_of_words) > most / 2
                text = click.style(text, fg="green" if green else "red", bold=bold or None)
            line += text
        yield line
    if not explanation.words:
        yield "No word of this text has a weight: the score is the intercept."
        return
    if fields := explanation.fields:
        shown = [f"{single_line(name)} {value:+.3f}" for name, value in fields.items()]
        yield f"  by field: {', '.join(shown)}"
    inferred = {word.feature for word in explanation.words if word.inferred}
    yield "  " + ", ".join(
        f"{printable(visible(name))} {value:+.3f}{' (inferred)' if name in inferred else ''}"
        for name, value in strongest(explanation, top)
    )
