"""Commands that make and look at corpora: ``check``, ``groups`` and ``demo``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np

from textreg.checking import CheckResult, CheckSettings, check_corpus
from textreg.checking.corrections import HEAD, corrected
from textreg.checking.documents import NAMED, check_names
from textreg.cli import shared
from textreg.cli.inputs import Reading, described, reading, title_of
from textreg.cli.options import PartsCommand, setting, settings
from textreg.cli.output import SHOWN, check_target, percent, print_json, print_table, progress_bar
from textreg.cli.tables import form_of, save_table
from textreg.demo import write_demo
from textreg.errors import UsageError, first_few
from textreg.files import csv_lines, write_atomically
from textreg.plugins import calls
from textreg.reading.source import GUESS, listed
from textreg.records import Groups, Tokens
from textreg.structure.grouping import group_lines
from textreg.tasks import TASKS, Classification
from textreg.terminal import counted, shell_line, single_line, visible
from textreg.training.prepare import for_documents
from textreg.training.recipe import field_options, words_of
from textreg.training.running import Clock
from textreg.training.settings import TrainingSettings

ANY = "any"
# Defaults of the command that Python does not have.
JOBS = {"jobs": -1}
# Exit code where a finding of --fail-on was found.
FOUND = 1


# What is checked, and how, beside FILES.
CHECKING = shared.options(
    shared.repeated(
        "--against",
        "FILE",
        "Other documents, such as those to test on, that should have none in common with FILES.",
    ),
    shared.switch("--no-labels", "Check the texts alone."),
    *(setting(name, param, JOBS.get(name)) for name, param in CheckSettings.declared().items()),
)


@click.command(cls=shared.Command, name="check")
@click.argument("files", nargs=-1, required=True)
@reading("label", stops=False, fields=True)
@CHECKING
@shared.option(
    "--fix",
    "OUT",
    "Write a corrected table in UTF-8: each label in one spelling, no blanks around texts and "
    "labels, no copies, no rows that are empty or cannot be read. A log of all changes and the "
    "labels for textreg train --label-map are written beside it.",
)
@shared.repeated(
    "--fail-on",
    "NAME",
    f"Exit with code {FOUND} if there is a finding of this name, or {ANY} finding.",
)
@shared.as_json
def check(
    files: tuple[str, ...],
    how: Reading,
    fix: str | None,
    fail_on: tuple[str, ...],
    as_json: bool,
    **options: Any,
) -> int:
    """Look for faults in labeled texts before you train on them.

    FILES are files or folders in the formats that textreg train reads: {formats}. Rows that cannot
    be read are reported as a finding. FILES are never changed; --fix writes another table.
    """
    check_names([name for name in fail_on if name != ANY])
    if fix is not None:
        how = _corrected(files, how, Path(fix), options["task"], options["no_labels"], as_json)
    result = checked(files, how, **options)
    if as_json:
        print_json(result.to_dict())
    else:
        _tell(result)
    return FOUND if any({finding.name, ANY} & set(fail_on) for finding in result.findings) else 0


def _corrected(
    files: Sequence[str], how: Reading, target: Path, task: str | None, no_labels: bool, quiet: bool
) -> Reading:
    """Write a table that was set right, with its log and labels; how to read what is checked then.

    UsageError for several files, whose columns may differ.
    """
    if len(files) != 1:
        raise UsageError("--fix writes one table: name one file.")
    log, labels = (target.with_suffix(f".{what}.csv") for what in ("changes", "labels"))
    for path in (target, log, labels):
        check_target(path, files, "--fix")
    kind, sep = TASKS[task or Classification.name], how.label_sep
    how = how.of(kind)._replace(encoding=how.encoding or GUESS, max_skipped=1.0)
    table = how.readable(files, labeled=not no_labels)
    if table.corpus.multilabel and form_of(None, str(target)) != "jsonl":  # a cell holds no list
        sep = sep or min(";|\t", key="".join(table.corpus.label_names()).count)
    records, changes, label_map = corrected(table, sep, how.fields or (), kind.discrete)
    # These are names of labels as they were given, which themselves may be variants.
    label_map |= {old: label_map.get(new, new) for old, new in (how.label_map or {}).items()}
    save_table(target, records)
    kinds = Counter(what for _, what, _, _ in changes)
    if (encoding := table.corpus.columns.get("encoding", "").split(" ")[0]) not in ("", "utf-8"):
        changes.insert(0, (files[0], "encoding", encoding, "utf-8"))
    write_atomically(log, "".join(csv_lines([HEAD, *changes])).encode("utf-8", "backslashreplace"))
    if label_map:
        write_atomically(labels, "".join(csv_lines(label_map.items())).encode())
    if not quiet:
        counts = ", ".join(f"{what} {count:,}" for what, count in kinds.items())
        click.echo(f"saved {target} ({counted(len(records), 'row')}), {log} ({counts or 'none'})")
        # The columns that were named, as others may be guessed; the table is plain otherwise.
        given = how._replace(**dict.fromkeys(("encoding", "sheet", "on_error", "max_skipped")))
        options = {key: it for key, it in given.kept(table.corpus).items() if getattr(given, key)}
        options |= field_options(how.fields or ()) | {"label_map": [str(labels)] * bool(label_map)}
        options |= {"label_sep": sep, "task": task}
        click.echo(f"next: {shell_line(['textreg', 'train', target, *words_of(options)])}\n")
    return how._replace(label_map=label_map)


def checked(
    files: Sequence[str], how: Reading, against: Sequence[str], no_labels: bool, **options: Any
) -> CheckResult:
    """The result of a check of files. options: of :class:`textreg.checking.CheckSettings`."""
    settings = CheckSettings(**{key: it for key, it in options.items() if it not in (None, ())})
    if no_labels and (how.label_col or how.label_sep):
        raise UsageError("--no-labels is for texts alone: leave out --label-col and --label-sep.")
    listed([*files, *against])  # refuses a file that is in both
    how = how.of(None if settings.task is None else TASKS[settings.task])
    first = how.readable(files, labeled=not no_labels)
    other = how.readable(against, labeled=not no_labels) if against else None
    with progress_bar(quiet=False) as progress:
        return check_corpus(
            first.corpus,
            None if other is None else other.corpus,
            settings,
            columns=first.others,
            remedy=first.remedy,
            title=title_of(files),
            progress=progress,
        )


def _tell(result: CheckResult) -> None:
    """Print the result."""
    click.echo(single_line(described(result.title, result.documents, result.columns)))
    if result.labels:
        listed = [f"{label} {count:,}" for label, count in result.labels]
        how_many = f"{len(result.labels):,}: " if len(result.labels) > NAMED else ""
        click.echo(single_line(f"labels: {how_many}{first_few(listed, NAMED)}"))
    lengths = result.lengths
    click.echo(
        f"words in a document: median {lengths.median:,}, nine tenths have up to "
        f"{lengths.most_of_90:,}, the longest {lengths.most:,}"
    )
    if result.scripts:
        total = sum(count for _, count in result.scripts)
        shares = [f"{script} {percent(count, total)}" for script, count in result.scripts]
        click.echo(f"scripts: {first_few(shares, NAMED)}")
    n = len(result.findings)
    click.echo(f"\n{n} findings, the worst first" if n > 1 else f"\n{n or 'no'} finding")
    for finding in result.findings:
        share = percent(finding.count, finding.total)
        count = f"{finding.count:,} of {finding.total:,} {finding.unit} ({share})"
        click.echo("\n" + single_line(f"{finding.name} ({finding.level}), {count}: {finding.what}"))
        for example in finding.examples:
            parts = [example.where, example.text and f'"{example.text}"', example.detail]
            click.echo(f"  {single_line('  '.join(filter(None, parts)))}")
        click.echo(single_line(f"  -> {finding.advice}"))
    if result.unchecked:
        click.echo("\nnot looked for")
        for why, names in result.whys.items():
            click.echo(f"  {', '.join(names)}: {why}")


class _GroupsCommand(PartsCommand):
    defaults = {"groups": "textreg:sentences", "tokenizer": "textreg:words"}


@click.command(cls=_GroupsCommand, name="groups")
@click.argument("files", nargs=-1, required=True)
@reading()
@shared.option(
    "--groups",
    "NAME",
    "Group builder, or several separated by commas.  [default: sentences]",
    default="textreg:sentences",
)
@settings("tokenizer")
@shared.top("Number of groups to show.", least=0)
@shared.option(
    "-o", "FILE", "Save the groups; use them with --groups file --groups-path FILE.", "--output"
)
@shared.as_json
def groups(
    files: tuple[str, ...],
    how: Reading,
    top: int,
    output: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Build, show and save groups of features.

    FILES are read as textreg train reads them; labels are not needed. The options of group builder,
    features and tokenizer are those of textreg train, so the groups are the ones that it would use.
    """
    if output is not None:
        check_target(Path(output), files)
    given = {key: value for key, value in options.items() if value is not None}
    training = TrainingSettings.from_options(reg="textreg:group", **given)
    corpus = how.unlabeled(files, tell=not as_json)
    training = for_documents(training, corpus)
    clock = Clock()
    tokens = training.vectorizer.fit(training.any_tokenizer, corpus.texts).tokens
    clock.stop("features")
    assert training.groups is not None
    groups = calls.build_groups(training.groups, tokens)
    clock.stop("groups")

    sizes = np.diff(groups.indptr)
    facts: dict[str, Any] = {
        "builder": training.groups.label(),
        "params": training.groups.params(),
        "groups": len(groups),
        "distinct": len(groups.merged.groups),
        "empty": int((sizes == 0).sum()),
        "single": int((sizes == 1).sum()),
        "sizes": [int(q) for q in np.percentile(sizes, (0, 50, 100))] if len(sizes) else [],
        "entries": len(groups.indices),
        "features": groups.n_features,
        "covered": len(np.unique(groups.indices)),
        "seconds": clock.seconds,
    }
    shown = [_group_row(groups, tokens, g) for g in range(min(top, len(groups)))]
    if output is not None:
        write_atomically(Path(output), "".join(group_lines(groups, tokens.vocabulary)).encode())
        facts["saved"] = output
    if as_json:
        print_json({**facts, "shown": shown})
    else:
        _tell_facts(facts)
        rows = []
        for row in shown:
            features = first_few(list(map(visible, row["features"])), SHOWN)
            rows.append((row["name"], len(row["features"]), row["weight"], features))
        if rows:
            click.echo()
            print_table([("GROUP", "SIZE", "WEIGHT", "FEATURES"), *rows])


def _group_row(groups: Groups, tokens: Tokens, g: int) -> dict[str, Any]:
    return {
        "name": groups.label(g),
        "weight": float(groups.weights[g]),
        "features": [tokens.vocabulary[j] for j in groups.members(g)],
    }


def _tell_facts(facts: dict[str, Any]) -> None:
    """Print the counts."""
    seconds = facts["seconds"]
    click.echo(f"features: {facts['features']:,} ({seconds['features']:.1f} s)")
    click.echo(
        f"groups: {facts['groups']:,} {facts['builder']} ({seconds['groups']:.1f} s); "
        f"{facts['distinct']:,} differ and have two features or more, {facts['single']:,} have "
        f"one, {facts['empty']:,} none"
    )
    if facts["covered"]:
        least, median, most = facts["sizes"]
        click.echo(f"sizes: {least:,} to {most:,} features, the median is {median:,}")
        click.echo(
            f"in groups: {facts['covered']:,} features "
            f"({percent(facts['covered'], facts['features'])}), each in "
            f"{facts['entries'] / facts['covered']:.1f} groups on average"
        )
    if "saved" in facts:
        path = shell_line(["--groups-path", facts["saved"]])
        click.echo(f"saved {facts['saved']}\nnext: textreg train ... --groups file {path}")


@click.command(cls=shared.Command, name="demo")
@click.argument("folder", default="textreg-demo")
@shared.choice("--format", ["jsonl", "csv"], "Of the files.", default="jsonl", show_default=True)
@shared.as_json
def demo(folder: str, format: str, as_json: bool) -> None:
    """Write a small corpus of generated product reviews into FOLDER.

    The default FOLDER is textreg-demo.
    """
    written = write_demo(folder, format=format)
    if as_json:
        print_json({name: str(path) for name, path in written._asdict().items()})
        return
    for path in written:
        click.echo(f"wrote {path}")
    click.echo(f"next: textreg train {shell_line([written.train])} --reg sentence -o demo.textreg")
