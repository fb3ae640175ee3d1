"""``textreg train``: from files to a model file."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from textreg.cli import shared
from textreg.cli.config import MODEL, RecipeCommand, given_by, read_as
from textreg.cli.inputs import TRAINING, Reading, reading
from textreg.cli.options import settings
from textreg.cli.output import check_target, print_json, progress_bar
from textreg.errors import UsageError
from textreg.features.vectorize import Vectorizer
from textreg.model.container import is_container
from textreg.model.origin import SourceSummary
from textreg.records import Corpus
from textreg.tasks import TASKS
from textreg.terminal import shell_line, single_line
from textreg.training.recipe import JOINED, words_of
from textreg.training.settings import TrainingSettings, declared_settings

if TYPE_CHECKING:
    from textreg.blocks.scratch import Scratch
    from textreg.cluster.connection import Connection
    from textreg.records.stored_texts import StoredTexts


class TrainOutput(NamedTuple):
    """What to write and what to print."""

    output: str | None
    as_json: bool
    quiet: bool


_ELSEWHERE = {
    *Vectorizer.declared(),  # PartsCommand adds them
    *JOINED.values(),
    *("fields", "scratch"),
}
SETTINGS = [name for name in declared_settings() if name not in _ELSEWHERE]
"""The settings that are options of their own."""


@click.command(cls=RecipeCommand, name="train")
@click.argument("files", nargs=-1, required=True)
@reading("label", *TRAINING, fields=True)
@settings(*SETTINGS, jobs=-1)
@click.option(
    "--config",
    metavar="FILE",
    expose_value=False,
    help='Take options from this TOML file: files = [...], reg = "lasso", reg-l1 = 0.1. Or from a '
    "model: train as it was trained, its search included, on other documents. Options of the "
    "command line replace them.",
)
@shared.gathered(
    TrainOutput,
    "out",
    click.option(
        "-o",
        "--output",
        metavar="FILE",
        help="Model file.  [default: name of the corpus + .textreg]",
    ),
    shared.as_json,
    shared.quiet,
)
def command(
    files: tuple[str, ...],
    how: Reading,
    dev: tuple[str, ...],
    unlabeled: tuple[str, ...],
    out: TrainOutput,
    **options: Any,
) -> None:
    """Train a model on labeled texts.

    FILES are {formats} files (each also as .gz), folders with one folder for each label, or - for
    standard input. Columns are guessed and the guess is printed.

    Hyperparameters without a value are searched: each setting is measured on held-out documents, or
    on --dev, and the best one is fitted on all documents. Regularizers, tokenizers and other parts
    are plugins (textreg plugins list); the options of the chosen parts are shown below.

    All options may stand in a file (--config), and the model keeps them: textreg show --command
    prints the command that made it, and --config MODEL repeats that on other documents.
    """
    like = click.get_current_context().meta.get(MODEL)
    talk = not (out.quiet or out.as_json)
    target = Path(out.output) if out.output else Path(f"{_stem(files[0])}.textreg")
    _check_outputs(target, [*files, *dev, *unlabeled])
    _check_split(how, dev)
    given = {key: value for key, value in options.items() if value is not None}
    training = TrainingSettings.from_options(fields=how.fields or None, **given)
    if training.memory is not None:
        _check_blocks(training, dev)

    # Late, so that --help and refusals do not wait for them.
    from textreg.cli.trained import print_summary
    from textreg.training.train import train_corpus

    how = how.of(None if training.task is None else TASKS[training.task])
    started = time.monotonic()
    with ExitStack() as stack:
        scratch, texts = _scratch(training, stack)
        if like is None:
            corpus = how.training(files, tell=talk, texts=texts)
        else:
            corpus = _read_like(like, how, files, talk, texts)
        others = {"dev": dev, "unlabeled": unlabeled}
        training = _with_others(training, like, how, others, talk)
        seconds = round(time.monotonic() - started, 3)
        with progress_bar(quiet=out.quiet) as progress:
            model = train_corpus(
                corpus,
                training,
                progress,
                started=started,
                scratch=scratch,
            )
    assert model.summary is not None
    source = SourceSummary(files, dev, unlabeled, how.kept(corpus))
    model.summary = replace(model.summary, source=source)
    model.seconds = {"read": seconds, **model.seconds}
    model.save(target)

    result = {**model.summary.to_json(), "seconds": model.seconds}
    result |= {"skipped": len(corpus.skipped), "model": str(target)}
    result["bytes"] = target.stat().st_size
    if out.as_json:
        print_json(result)
    elif talk:
        print_summary(model, target)
    if not model.n_features:
        (answer,) = model.predict([""])
        always = single_line(model.task.text(answer))
        click.echo(
            f"Warning: no feature has a weight, so the answer is always '{always}'. Lower penalty "
            "strengths select more features; or the texts may not tell the labels apart.",
            err=True,
        )


def _scratch(
    training: TrainingSettings, stack: ExitStack
) -> tuple[Scratch | None, StoredTexts | Connection | None]:
    """A folder for blocks, and where texts go, where not all is to be in memory.

    That is a file there, or the workers of a cluster.
    """
    if training.memory is None:
        return None, None
    from textreg.blocks.scratch import Scratch

    scratch = stack.enter_context(Scratch(training.scratch))
    if (address := training.tuning.address) is not None:
        from textreg.cluster.connection import connected
        from textreg.training.blocks import check_workers

        connection = stack.enter_context(connected(address))
        check_workers(connection, training)
        return scratch, connection
    from textreg.records.stored_texts import StoredTexts

    return scratch, stack.enter_context(StoredTexts(scratch.folder / "texts"))


def _with_others(
    training: TrainingSettings,
    like: str | None,
    how: Reading,
    others: Mapping[str, Sequence[str]],
    tell: bool,
) -> TrainingSettings:
    """The settings with the documents of --dev and --unlabeled."""
    if others["dev"]:
        with _said_by(like, "dev"):
            training = training.replace(dev=how.training(others["dev"], tell=tell))
    if others["unlabeled"]:
        with _said_by(like, "unlabeled"):
            unlabeled = how.unlabeled(others["unlabeled"], tell=tell)
            training = training.replace(unlabeled=unlabeled)
    return training


def _read_like(
    like: str,
    how: Reading,
    files: Sequence[str],
    tell: bool,
    texts: StoredTexts | Connection | None,
) -> Corpus:
    """Read documents for a training like that of a model, from columns of the same names.

    A file without columns is read as it is, unless some were named on the command line. UsageError
    as for :meth:`Reading.training`; it says which columns come from the model.
    """
    given = given_by(click.get_current_context(), like)
    if tell:
        click.echo(f"like {like}: {shell_line(words_of(given)) or 'all defaults'}")
    theirs = {key for key in given if key.endswith("_col")}
    return read_as(how, theirs, like, files, tell=tell, texts=texts)


@contextmanager
def _said_by(like: str | None, key: str) -> Iterator[None]:
    """Say so where files that cannot be read are those of the training of a model."""
    try:
        yield
    except UsageError as error:
        if like is None or key not in given_by(click.get_current_context(), like):
            raise
        message = f"{error} It is named by {like}: name others with --{key} FILE."
        raise UsageError(message) from None


def _check_outputs(target: Path, inputs: Sequence[str]) -> None:
    """UsageError if the model cannot be written or would overwrite another file."""
    for documents in inputs:
        if is_container(Path(documents)):
            raise UsageError(
                f"{documents} is a model, and holds no documents: name files of documents. To "
                f"train as this model was trained, pass --config {documents}."
            )
    check_target(target, inputs)
    if target.exists() and target.stat().st_size and not is_container(target):
        raise UsageError(
            f"{target} exists and is not a model: name another file with -o FILE, or remove it "
            "first."
        )


def _check_blocks(training: TrainingSettings, dev: Sequence[str]) -> None:
    """UsageError, before anything is read, for what needs all documents in memory."""
    from textreg.training.blocks import check_settings

    if dev:
        raise UsageError(
            "--dev needs all documents in memory: leave it out, or leave out --memory."
        )
    check_settings(training)


def _check_split(how: Reading, dev: Sequence[str]) -> None:
    """UsageError for options that contradict each other on which documents to hold out."""
    given = {"--group-col": how.group_col, "--time-col": how.time_col, "--dev": dev}
    named = [flag for flag, value in given.items() if value]
    if len(named) > 1:
        raise UsageError(
            f"{named[0]} and {named[1]} both say which documents to choose hyperparameters on: "
            "give one of them."
        )


def _stem(path: str) -> str:
    """Name of a corpus without folder and endings; ``model`` for standard input."""
    name = "" if path == "-" else os.path.basename(os.path.abspath(path))
    return name.partition(".")[0] or "model"
