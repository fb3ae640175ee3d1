"""``textreg check``: look for faults in labeled texts before training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from textreg.checking import CheckResult, CheckSettings, check_corpus
from textreg.checking.documents import NAMED, Example, Finding, check_names
from textreg.cli import shared
from textreg.cli.inputs import Reading, reading
from textreg.cli.options import setting
from textreg.cli.output import percent, print_json, progress_bar
from textreg.errors import UsageError, first_few
from textreg.tasks import TASKS
from textreg.terminal import single_line

ANY = "any"
JOBS = {"jobs": -1}
"""Defaults of the command that Python does not have."""
FOUND = 1
"""Exit code where a finding of --fail-on was found."""


CHECKING = shared.options(
    click.option(
        "--against",
        metavar="FILE",
        multiple=True,
        help="Other documents, such as those to test on, that should have none in common with "
        "FILES. May be repeated.",
    ),
    click.option("--no-labels", is_flag=True, help="Check the texts alone."),
    *(setting(name, one, JOBS.get(name)) for name, one in CheckSettings.declared().items()),
)
"""What is checked, and how, beside FILES."""


@click.command(cls=shared.Command, name="check")
@click.argument("files", nargs=-1, required=True)
@reading("label", stops=False, fields=True)
@CHECKING
@click.option(
    "--fail-on",
    metavar="NAME",
    multiple=True,
    help=f"Exit with code {FOUND} if there is a finding of this name, or {ANY} finding. May be "
    "repeated.",
)
@shared.as_json
def command(
    files: tuple[str, ...], how: Reading, fail_on: tuple[str, ...], as_json: bool, **options: Any
) -> int:
    """Look for faults in labeled texts, before a model is trained on them.

    FILES are files or folders in the formats that textreg train reads: {formats}. Rows that cannot
    be read are told like other findings. Nothing is changed.
    """
    check_names([name for name in fail_on if name != ANY])
    result = checked(files, how, **options)
    if as_json:
        print_json(result.to_dict())
    else:
        _tell(result)
    return FOUND if any({one.name, ANY} & set(fail_on) for one in result.findings) else 0


def checked(
    files: Sequence[str],
    how: Reading,
    against: Sequence[str],
    no_labels: bool,
    **options: Any,
) -> CheckResult:
    """The result of a check of files. options: of :class:`textreg.checking.CheckSettings`."""
    settings = CheckSettings(**{key: it for key, it in options.items() if it not in (None, ())})
    if no_labels and (how.label_col or how.label_sep):
        raise UsageError("--no-labels is for texts alone: leave out --label-col and --label-sep.")
    if shared_file := next((one for one in against if one in files), None):
        raise UsageError(
            f"--against {shared_file} is checked itself: name other documents, such as those to "
            "test on."
        )
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
            title=files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1} more",
            progress=progress,
        )


def _tell(result: CheckResult) -> None:
    """Print the result."""
    line = f"{result.title}: {result.documents:,} documents"
    if result.columns:
        line += "; " + ", ".join(f"{role} = {what}" for role, what in result.columns.items())
    click.echo(single_line(line))
    if result.labels:
        listed = [f"{label} {count:,}" for label, count in result.labels]
        some = f"{len(result.labels):,}: " if len(result.labels) > NAMED else ""
        click.echo(single_line(f"labels: {some}{first_few(listed, NAMED)}"))
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
        _tell_finding(finding)
    if result.unchecked:
        click.echo("\nnot looked for")
        for why, names in result.whys.items():
            click.echo(f"  {', '.join(names)}: {why}")


def _tell_finding(finding: Finding) -> None:
    share = percent(finding.count, finding.total)
    count = f"{finding.count:,} of {finding.total:,} {finding.unit} ({share})"
    click.echo()
    click.echo(single_line(f"{finding.name} ({finding.level}), {count}: {finding.what}"))
    for example in finding.examples:
        click.echo(f"  {single_line(_shown(example))}")
    click.echo(single_line(f"  -> {finding.advice}"))


def _shown(example: Example) -> str:
    quoted = f'"{example.text}"' if example.text else ""
    return "  ".join(filter(None, [example.where, quoted, example.detail]))
