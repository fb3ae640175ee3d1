"""``textreg train`` and ``textreg update``: from files to a model file, and what is told of it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from textreg.cli import output, shared
from textreg.cli.inputs import TRAINING, Reading, read_as, reading
from textreg.cli.options import MODEL, RecipeCommand, given_by, settings
from textreg.errors import UsageError, first_few
from textreg.features.vectorize import Vectorizer
from textreg.measure.metrics import SMALLER
from textreg.model import container, json_records, storage
from textreg.model import summary as summaries
from textreg.model.model import Model
from textreg.reading.source import listed
from textreg.tasks import TASKS, Task
from textreg.terminal import counted, measures, shell_line, single_line
from textreg.training import recipe, space
from textreg.training.settings import TrainingSettings, declared_settings
from textreg.training.update import as_date, holds_out, update_corpus

if TYPE_CHECKING:
    from textreg.blocks.scratch import Scratch
    from textreg.kinds import Workers
    from textreg.records.documents import StoredTexts


class TrainOutput(NamedTuple):
    """What to write and what to print; date: of an update alone."""

    output: str | None
    as_json: bool
    quiet: bool
    date: str | None

    @property
    def talk(self) -> bool:
        """Whether to tell how it goes."""
        return not (self.quiet or self.as_json)


_ELSEWHERE = {
    *Vectorizer.declared(),  # PartsCommand adds them
    *recipe.JOINED.values(),
    *("fields", "scratch"),
}
# The settings that are options of their own.
SETTINGS = [name for name in declared_settings() if name not in _ELSEWHERE]


@click.command(cls=RecipeCommand, name="train")
@click.argument("files", nargs=-1, required=True)
@reading("label", *TRAINING, "evidence", fields=True)
@settings(*SETTINGS, jobs=-1)
@shared.option(
    "--config",
    "FILE",
    'Take options from a TOML file: files = [...], reg = "lasso", reg-l1 = 0.1. Or from a model: '
    "repeat its training, search included, on other documents. Options on the command line "
    "override them.",
    expose_value=False,
)
@shared.gathered(
    TrainOutput,
    "out",
    shared.option(
        "-o", "FILE", "Model file.  [default: name of the corpus + .textreg]", "--output"
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

    Options can come from a file (--config), and the model stores them: textreg show --command
    prints the command that made it, and --config MODEL repeats it on other documents.
    """
    context = click.get_current_context()
    like = context.meta.get(MODEL)
    theirs = given_by(context, like) if like else {}
    target = Path(f"{_stem(files[0])}.textreg" if out.output is None else out.output)
    _check_outputs(target, [*files, *dev, *unlabeled])
    given = {key: value for key, value in options.items() if value is not None}
    training = TrainingSettings.from_options(fields=how.fields or None, **given)
    # Late, so that --help and refusals do not wait for them.
    from textreg.training.train import train_corpus

    how = how.of(None if training.task is None else TASKS[training.task])
    started = time.monotonic()
    with ExitStack() as stack:
        scratch, texts = _scratch(training, stack)
        if like and out.talk:
            click.echo(f"like {like}: {shell_line(recipe.words_of(theirs)) or 'all defaults'}")
        columns = {key for key in theirs if key.endswith("_col")}
        corpus = read_as(how, columns, like or "", files, tell=out.talk, texts=texts)
        readers = {"dev": (dev, how.training), "unlabeled": (unlabeled, how.unlabeled)}
        for key, (paths, read) in readers.items():
            try:
                if paths:
                    listed([*files, *dev])  # what is in both would be learned and measured
                    training = training.replace(**{key: read(paths, tell=out.talk)})
            except UsageError as error:
                if key not in theirs:
                    raise
                message = f"{error} It is named by {like}: name others with --{key} FILE."
                raise UsageError(message) from None
        seconds = round(time.monotonic() - started, 3)
        with output.progress_bar(quiet=out.quiet) as progress:
            model = train_corpus(corpus, training, progress, started=started, scratch=scratch)
    source = summaries.SourceSummary(files, dev, unlabeled, how.kept(corpus))
    _save(model, target, source, seconds, len(corpus.skipped), out)
    if not model.n_features:
        (answer,) = model.predict([""])
        always = single_line(model.task.text(answer))
        click.echo(
            f"Warning: no feature has a weight, so the answer is always '{always}'. Lower penalty "
            "strengths select more features; or the texts may not tell the labels apart.",
            err=True,
        )


def _save(
    model: Model,
    target: Path,
    source: summaries.SourceSummary,
    read: float,
    skipped: int,
    out: TrainOutput,
) -> None:
    """Save a model that was trained or updated, and print its summary.

    read, skipped: the seconds that reading took, and the number of rows left out.
    """
    model.summary = summary = replace(recipe.summary_of(model), source=source)
    model.seconds = {"read": read, **model.seconds}
    model.save(target)
    if out.as_json:
        result = {**summary.to_json(), "seconds": model.seconds, "skipped": skipped}
        output.print_json({**result, "model": str(target), "bytes": target.stat().st_size})
    elif out.talk:
        if summary.updates:
            click.echo(f"added {output.added_text(summary.updates[-1])}")
        print_summary(model, target)


def _scratch(
    training: TrainingSettings, stack: ExitStack
) -> tuple[Scratch | None, StoredTexts | Workers | None]:
    """A folder for blocks, and where texts go, where not all is to be in memory.

    That is a file there, or the workers of a backend that read files themselves. UsageError for
    settings that need all of it in memory.
    """
    if training.memory is None:
        return None, None
    from textreg.blocks.scratch import Scratch
    from textreg.records.documents import StoredTexts
    from textreg.training import blocks

    blocks.check_settings(training)
    scratch = stack.enter_context(Scratch(training.scratch))
    store = blocks.store_in(scratch, training)
    workers = stack.enter_context(blocks.workers_for(training, store))
    if workers.reads:
        return scratch, workers
    return scratch, stack.enter_context(StoredTexts(scratch.folder / "texts"))


def _check_outputs(target: Path, inputs: Sequence[str]) -> None:
    """UsageError if inputs are models, or the model to write would overwrite another file."""
    for documents in inputs:
        if container.is_container(Path(documents)):
            raise UsageError(
                f"{documents} is a model, and holds no documents: name files of documents. To "
                f"train as this model was trained, pass {shell_line(['--config', documents])}."
            )
    _check_model(target, inputs)


def _check_model(target: Path, inputs: Sequence[str]) -> None:
    """UsageError if no model can be written there, or another file would be lost."""
    output.check_target(target, inputs)
    if target.exists() and target.stat().st_size and not container.is_container(target):
        raise UsageError(
            f"{target} exists and is not a model: name another file with -o FILE, or remove it "
            "first."
        )


def _stem(path: str) -> str:
    """Name of a corpus without folder and endings; ``model`` for standard input."""
    name = "" if path == "-" else os.path.basename(os.path.abspath(path))
    return name.partition(".")[0] or "model"


@click.command(cls=shared.Command, name="update")
@click.argument("model")
@click.argument("new", nargs=-1, required=True)
@shared.option(
    "--old",
    "FILE",
    "The documents that the model was trained on, those of --dev included. May be repeated. "
    "Without them the update is approximate.",
    multiple=True,
)
@shared.repeated(
    "--unlabeled", "FILE", "The unlabeled documents of the training, if any; beside --old."
)
@reading("label", *TRAINING, "evidence", trained=True)
@settings("jobs", jobs=-1)
@shared.gathered(
    TrainOutput,
    "out",
    shared.option("-o", "FILE", "Model file to write; it may be MODEL.", "--output", required=True),
    shared.option(
        "--date",
        "DATE",
        "The day to note in the model, such as 2026-01-31.  [default: today (UTC)]",
    ),
    shared.as_json,
    shared.quiet,
)
def update(  # noqa: PLR0913  # its options are its interface
    model: str,
    new: tuple[str, ...],
    old: tuple[str, ...],
    unlabeled: tuple[str, ...],
    how: Reading,
    out: TrainOutput,
    jobs: int | None,
) -> None:
    """Add new documents to a model, in less time than training takes.

    NEW are {formats} files (each also as .gz), folders with one folder for each label, or - for
    standard input, with columns of the same names as those of the training.

    With --old the result is the model of a training on the old and the new documents with the same
    settings and penalty strengths, up to the tolerance. Nothing is searched. New documents may
    have new labels and features. Without --old the weights of MODEL stand for the old documents,
    and there are no new labels. textreg show lists the updates.
    """
    assert out.output is not None  # -o is required
    target = Path(out.output)
    _check_model(target, [*new, *old, *unlabeled])
    listed([*new, *old])  # refuses a file that is in both
    date, loaded = as_date(out.date), storage.load_model(model)
    recipe.summary_of(loaded)  # refused before anything is read
    started = time.monotonic()
    how, theirs = _columns(how, loaded)
    how = how.like(loaded)
    of_old = read_as(how, theirs, model, old, tell=out.talk) if old else None
    of_new = read_as(how, theirs, model, new, tell=out.talk)
    more = how.unlabeled(unlabeled, tell=out.talk) if unlabeled else None
    seconds = round(time.monotonic() - started, 3)
    with output.progress_bar(quiet=out.quiet) as progress:
        newer = update_corpus(
            loaded, of_new, of_old, date, new, jobs=jobs or 1, unlabeled=more, progress=progress
        )
    before = recipe.summary_of(loaded).source
    kept = (old, unlabeled) if old or not before else (before.files, before.unlabeled)
    source = summaries.SourceSummary((*kept[0], *new), (), kept[1], how.kept(of_new))
    skipped = sum(len(corpus.skipped) for corpus in (of_old, of_new) if corpus is not None)
    _save(newer, target, source, seconds, skipped, out)


def _columns(how: Reading, model: Model) -> tuple[Reading, set[str]]:
    """How to read documents as those of the training were read, and which options say so.

    Groups and times only where documents are held out.
    """
    source = recipe.summary_of(model).source
    stored = {} if source is None else dict(source.reading)
    names = ["text_col", "label_col", "weight_col", "label_sep", "encoding"]
    names += ["group_col", "time_col"] if holds_out(model) else []
    names += ["evidence_col"] if model.summary is not None and model.summary.marks else []
    inherited = {
        key: stored[key]
        for key in names
        if key in stored
        and getattr(how, key) is None
        and not (key == "text_col" and model.encoder.fields)
    }
    return how._replace(**inherited), {key for key in inherited if key.endswith("_col")}


SPLIT_TITLES = {"dev": "--dev", "holdout": "documents held out", "cv": "cross-validation"}


def print_summary(model: Model, saved: Path) -> None:
    """Print how a model was trained, and which files were written."""
    summary, seconds = recipe.summary_of(model), model.seconds
    for line in (
        *_data_lines(summary, model.task, seconds),
        *_search_lines(summary, seconds),
        *_left_out_lines(summary),
        *_fit_lines(summary, model.task, seconds, saved),
    ):
        click.echo(line)
    click.echo(f"saved {saved} ({output.size(os.path.getsize(saved))})")
    path = shell_line([saved])
    click.echo(f"next: textreg evaluate {path} TEST_FILE, or textreg show {path}")


def _data_lines(
    summary: summaries.TrainingSummary, task: Task, seconds: Mapping[str, float]
) -> Iterator[str]:
    title, shown = task.label_lines(summary.labels)
    labels = [single_line(label) for label in shown]
    more = f" and {len(labels) - output.MAX_LABELS} more" if len(labels) > output.MAX_LABELS else ""
    yield f"{title}: {', '.join(labels[: output.MAX_LABELS])}{more}"
    if (rare := summary.rare) is not None and rare.label is not None:
        joined = [single_line(f"{label} {count:,}") for label, count in rare.labels.items()]
        listed = f"{counted(len(joined), 'label')}, {first_few(joined, output.MAX_LABELS)}"
        yield f"joined into {single_line(rare.label)}: {listed}"
    yield f"features: {summary.features:,} ({seconds['features']:.1f} s)"
    if blocks := summary.blocks:
        yield f"blocks: {blocks.blocks:,}, read {blocks.passes:,} times by the fit"
    if groups := summary.groups:
        differ = "" if groups.after is None else f", {groups.after:,} differ"
        yield f"groups: {groups.before:,} {groups.name}{differ}"
        if groups.name == "sentences" and groups.before <= 1.2 * summary.documents:
            yield (
                f"note: with {groups.before:,} sentences in {summary.documents:,} texts the groups "
                "are whole texts, nearly all: --reg auto is as accurate, and quicker"
            )
    if graph := summary.graph:
        yield f"graph: {graph.links:,} links of {graph.name}"


def _left_out_lines(summary: summaries.TrainingSummary) -> Iterator[str]:
    if summary.vectors is not None:
        yield f"vectors: {output.vectors_text(summary.vectors)}"
    if summary.marks is not None:
        yield f"marks: {output.marks_text(summary.marks)}"
    if summary.shift is not None:
        yield f"intercept: {output.shift_text(summary.shift)}"
    if summary.calibration:
        yield f"calibration: {summary.calibration}, on documents left out of the fit"


def _share(summary: summaries.TrainingSummary) -> str:
    """The features of the model, of those of the texts."""
    if (vectors := summary.vectors) is not None and vectors.inferred:
        return f"{vectors.inferred:,} inferred"
    return output.percent(summary.nonzero, summary.features)


def _fit_lines(
    summary: summaries.TrainingSummary, task: Task, seconds: Mapping[str, float], saved: Path
) -> Iterator[str]:
    chosen_by = summary.thresholds.items()
    joint = {label: it for label, it in chosen_by if it.rule == task.threshold_rule}
    if joint:
        values = [chosen.value for chosen in joint.values()]
        yield (
            f"thresholds: {len(joint)} of {task.threshold_rule}, {min(values):+.3f} to "
            f"{max(values):+.3f}, chosen on the documents held out"
        )
    for label, chosen in chosen_by:
        if label in joint:
            continue
        there = "chosen before the update"
        if chosen.precision is not None and chosen.recall is not None:
            there = f"there precision {chosen.precision:.3f}, recall {chosen.recall:.3f}"
        yield f"threshold of {single_line(label)}: {chosen.value:+.3f} ({chosen.rule}; {there})"
    if (unknown := summary.unknown) is not None:
        there = "chosen before the update"
        if unknown.coverage is not None and unknown.risk is not None:
            there = f"there coverage {unknown.coverage:.3f}, risk {unknown.risk:.3f}"
        if unknown.recall is not None:
            there += f" and {unknown.recall:.3f} of {unknown.documents:,} such documents found"
        yield (
            f"unknown: {single_line(str(task.unknown))} where the highest score is below "
            f"{unknown.value:+.3f} ({unknown.rule}; {there})"
        )
    bound = "no bound on the gap" if summary.gap is None else f"gap {summary.gap:.1e}"
    end = "converged" if summary.converged else "NOT converged"
    yield (
        f"model: {summary.nonzero:,} features ({_share(summary)}) from "
        f"{counted(summary.documents, 'document')}, {bound}, {end} ({seconds['fit']:.1f} s)"
    )
    if (selected := summary.selected) is not None:
        yield f"selected: {selected}"
    if pruned := summary.pruned:
        bound = "" if pruned.gap is None else f", gap {pruned.gap:.1e} with these"
        yield (
            f"pruned: {pruned.after:,} of {pruned.before:,} weights kept, with "
            f"{1 - pruned.share:.1%} of the variance of the scores{bound}"
        )
    if unsmoothed := summary.unsmoothed:
        bound = "no bound" if unsmoothed.gap is None else f"gap {unsmoothed.gap:.1e} at most"
        yield f"{summary.loss} before smoothing: objective {unsmoothed.objective:.6g}, {bound}"
    if path := summary.path:
        yield (
            f"path: {path.points} values of {path.parameter} "
            f"({seconds['path']:.1f} s); see it: {shell_line(['textreg', 'show', saved, '--path'])}"
        )


def _search_lines(
    summary: summaries.TrainingSummary, seconds: Mapping[str, float]
) -> Iterator[str]:
    dev, split, choice, metric = summary.dev, summary.split, summary.select, summary.metric
    if not summary.search or dev is None or split is None or choice is None or metric is None:
        return
    name = SPLIT_TITLES[split.kind] + (f", {split.parts} parts" if split.parts > 1 else "")
    name += f", by {split.by}" if split.by else ""
    settings = len(summary.search) + summary.ruled_out
    best = _best_of_each(summary.search, metric)
    if settings > 1:
        few = ""
        if summary.ruled_out:
            few = f", {summary.ruled_out} of them ruled out"
            few += f" by {summary.ruled_out_by} labels" if summary.ruled_out_by else ""
            few += f" on {summary.ruled_out_on:,} documents" if summary.ruled_out_on else ""
        part = ""
        if summary.blocks and summary.blocks.searched is not None:
            part = f" of {summary.blocks.searched:,}"
        yield (
            f"search: {settings} settings of {'auto' if best else summary.reg.name} on "
            f"{dev.documents:,}{part} documents ({name}) by {metric}{few} "
            f"({seconds['search']:.1f} s)"
        )
    chosen = {key.replace("_", "-"): value for key, value in summary.chosen.items()}
    params = summary.reg.params
    chosen |= {key: params[key] for key in params if key in summary.reg.searched}
    if chosen:
        line = ", ".join(
            f"{key} {it:g}" if isinstance(it, float) else f"{key} {it}"
            for key, it in chosen.items()
        )
        rivals = "; ".join(
            f"{name} at best {point.metrics[metric]:.3f}"
            + (f", accuracy {point.metrics['accuracy']:.3f}" if "accuracy" in point.metrics else "")
            for name, point in best.items()
            if name != summary.reg.name
        )
        yield f"chosen: {line.removeprefix('reg ')}" + (f" ({rivals})" if rivals else "")
    if choice.rule != "best":
        yield _choice_line(choice, metric, summary.search, split, dev)
    yield f"{split.kind}: {measures(json_records.to_json(dev))}"


def _best_of_each(
    points: Sequence[summaries.SearchPoint], metric: str
) -> dict[str, summaries.SearchPoint]:
    """The best setting of each regularizer, by its name; nothing where none compete."""
    sign = 1 if metric in SMALLER else -1
    ranked = sorted(points, key=lambda point: sign * point.metrics[metric], reverse=True)
    best = {point.settings["reg"]: point for point in ranked if "reg" in point.settings}
    return dict(sorted(best.items()))


def _choice_line(
    choice: summaries.ChoiceSummary,
    metric: str,
    points: tuple[summaries.SearchPoint, ...],
    split: summaries.SplitSummary,
    dev: summaries.DevMetrics,
) -> str:
    """What a rule other than "best" costs in the metric, and saves in features."""
    sign = -1 if metric in SMALLER else 1
    best = max(points, key=lambda point: (sign * point.metrics[metric], -point.nonzero))
    if choice.rule == "1se":
        over = "parts" if split.parts > 1 else "documents"
        slack = f"one standard error, {best.error or 0.0:.3f} over the {over}"
    else:
        slack = f"{space.WITHIN if choice.within is None else choice.within:g}"
    return (
        f"select {choice.rule}: {metric} {dev.metrics[metric]:.3f} where "
        f"{best.nonzero:,.0f} features reach {best.metrics[metric]:.3f}; within {slack}"
    )
