"""``textreg update``: new documents on top of those of a model."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import click

from textreg.cli import shared
from textreg.cli.config import read_as
from textreg.cli.inputs import TRAINING, Reading, reading
from textreg.cli.options import settings
from textreg.cli.output import check_target, print_json, progress_bar
from textreg.errors import UsageError
from textreg.model.container import is_container
from textreg.model.model import Model
from textreg.model.origin import SourceSummary
from textreg.model.storage import load_model
from textreg.training.update import Added, as_date, holds_out, summary_of, update_corpus


class UpdateOutput(NamedTuple):
    """What to write, print and note."""

    output: str
    date: str | None
    as_json: bool
    quiet: bool


@click.command(cls=shared.Command, name="update")
@click.argument("model")
@click.argument("new", nargs=-1, required=True)
@click.option(
    "--old",
    metavar="FILE",
    multiple=True,
    help="The documents that the model was trained on, those of --dev included. May be repeated. "
    "Without them the update is approximate.",
)
@click.option(
    "--unlabeled",
    metavar="FILE",
    multiple=True,
    help="The unlabeled documents of the training, where there were some. May be repeated.",
)
@reading("label", *TRAINING, trained=True)
@settings("jobs", jobs=-1)
@shared.gathered(
    UpdateOutput,
    "out",
    click.option(
        "-o",
        "--output",
        metavar="FILE",
        required=True,
        help="Model file to write; it may be MODEL.",
    ),
    click.option(
        "--date",
        metavar="DATE",
        help="The day to note in the model, such as 2026-01-31.  [default: today (UTC)]",
    ),
    shared.as_json,
    shared.quiet,
)
def command(  # noqa: PLR0913  # its options are its interface
    model: str,
    new: tuple[str, ...],
    old: tuple[str, ...],
    unlabeled: tuple[str, ...],
    how: Reading,
    out: UpdateOutput,
    jobs: int | None,
) -> None:
    """Add new documents to a model, in less time than training takes.

    NEW are {formats} files (each also as .gz), folders with one folder for each label, or - for
    standard input, with columns of the same names as those of the training.

    With --old the result is the model of a training on the old and the new documents with the same
    settings and penalty strengths, up to the tolerance. Nothing is searched. New documents may
    have new labels and features. Without --old the weights of MODEL stand for the old documents,
    and there are no new labels. textreg show tells what was added when.
    """
    target = Path(out.output)
    check_target(target, [*new, *old, *unlabeled])
    if target.exists() and target.stat().st_size and not is_container(target):
        raise UsageError(
            f"{target} exists and is not a model: name another file with -o FILE, or remove it "
            "first."
        )
    added = Added(as_date(out.date), new)
    loaded = load_model(model)
    summary_of(loaded)  # refused before anything is read
    talk = not (out.quiet or out.as_json)
    started = time.monotonic()
    how, theirs = _columns(how, loaded)
    how = how.like(loaded)
    of_old = read_as(how, theirs, model, old, tell=talk) if old else None
    of_new = read_as(how, theirs, model, new, tell=talk)
    more = how.unlabeled(unlabeled, tell=talk) if unlabeled else None
    seconds = round(time.monotonic() - started, 3)
    with progress_bar(quiet=out.quiet) as progress:
        newer = update_corpus(
            loaded, of_new, of_old, added, jobs=jobs or 1, unlabeled=more, progress=progress
        )
    assert newer.summary is not None
    before = summary_of(loaded).source
    trained = old if old or before is None else before.files
    source = SourceSummary((*trained, *new), (), unlabeled, how.kept(of_new))
    newer.summary = replace(newer.summary, source=source)
    newer.seconds = {"read": seconds, **newer.seconds}
    newer.save(target)
    skipped = sum(len(corpus.skipped) for corpus in (of_old, of_new) if corpus is not None)
    _tell(newer, target, skipped, out, talk)


def _columns(how: Reading, model: Model) -> tuple[Reading, set[str]]:
    """How to read documents as those of the training were read, and which options say so.

    Groups and times only where documents are held out.
    """
    source = summary_of(model).source
    kept = {} if source is None else dict(source.reading)
    names = ["text_col", "label_col", "weight_col", "label_sep", "encoding"]
    names += ["group_col", "time_col"] if holds_out(model) else []
    own = {
        key: kept[key]
        for key in names
        if key in kept
        and getattr(how, key) is None
        and not (key == "text_col" and model.encoder.fields)
    }
    return how._replace(**own), {key for key in own if key.endswith("_col")}


def _tell(model: Model, target: Path, skipped: int, out: UpdateOutput, talk: bool) -> None:
    from textreg.cli.trained import added_text, print_summary

    assert model.summary is not None
    if out.as_json:
        result = {**model.summary.to_json(), "seconds": model.seconds, "skipped": skipped}
        print_json({**result, "model": str(target), "bytes": target.stat().st_size})
    elif talk:
        click.echo(f"added {added_text(model.summary.updates[-1])}")
        print_summary(model, target)
