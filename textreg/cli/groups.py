"""``textreg groups``: build groups of features from a corpus, and show them."""

from __future__ import annotations

import itertools
import time
from pathlib import Path
from typing import Any

import click
import numpy as np

from textreg.cli import shared
from textreg.cli.inputs import Reading, reading
from textreg.cli.options import PartsCommand, settings
from textreg.cli.output import SHOWN, check_target, percent, print_json, print_table
from textreg.errors import DataError, did_you_mean, first_few
from textreg.files import write_atomically
from textreg.plugins import calls
from textreg.records import Groups, Tokens
from textreg.structure.grouping import group_lines
from textreg.terminal import visible
from textreg.training.prepare import for_documents
from textreg.training.settings import TrainingSettings


class _GroupsCommand(PartsCommand):
    defaults = {"groups": "textreg:sentences", "tokenizer": "textreg:words"}


@click.command(cls=_GroupsCommand, name="groups")
@click.argument("files", nargs=-1, required=True)
@reading()
@click.option(
    "--groups",
    metavar="NAME",
    default="textreg:sentences",
    help="Group builder, or several separated by commas.  [default: sentences]",
)
@settings("tokenizer")
@click.option(
    "--top",
    type=click.IntRange(min=0),
    metavar="N",
    default=10,
    show_default=True,
    help="Number of groups to show.",
)
@click.option("--feature", metavar="NAME", help="Show only groups that contain this feature.")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Save the groups; use them with --groups file --groups-path FILE.",
)
@shared.as_json
def command(
    files: tuple[str, ...],
    how: Reading,
    top: int,
    feature: str | None,
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
    clock = [time.perf_counter()]
    tokens = training.vectorizer.fit(training.any_tokenizer, corpus.texts).tokens
    clock.append(time.perf_counter())
    assert training.groups is not None
    groups = calls.build_groups(training.groups, tokens)
    clock.append(time.perf_counter())

    facts = {"builder": training.groups.label(), "params": training.groups.params()}
    facts |= _facts(groups)
    seconds = [round(after - before, 3) for before, after in itertools.pairwise(clock)]
    facts["seconds"] = dict(zip(("features", "groups"), seconds, strict=True))
    shown = _chosen(groups, tokens, feature)[:top]
    if output is not None:
        lines = group_lines(groups, tokens.vocabulary)
        write_atomically(Path(output), "".join(lines).encode())
        facts["saved"] = output
    if as_json:
        rows = [_row(groups, tokens, g) for g in shown]
        print_json({**facts, "shown": rows})
    else:
        _tell(facts)
        _show(groups, tokens, shown)


def _facts(groups: Groups) -> dict[str, Any]:
    """Counts of groups and of their features."""
    sizes = np.diff(groups.indptr)
    covered = len(np.unique(groups.indices))
    return {
        "groups": len(groups),
        "distinct": len(groups.merged.groups),
        "empty": int((sizes == 0).sum()),
        "single": int((sizes == 1).sum()),
        "sizes": [int(q) for q in np.percentile(sizes, (0, 50, 100))] if len(sizes) else [],
        "entries": len(groups.indices),
        "features": groups.n_features,
        "covered": covered,
    }


def _chosen(groups: Groups, tokens: Tokens, feature: str | None) -> list[int]:
    """Indices of the groups to show: all, or those that contain a feature."""
    if feature is None:
        return list(range(len(groups)))
    try:
        number = list(tokens.vocabulary).index(feature)
    except ValueError:
        raise DataError(
            f"--feature: '{feature}' is not a feature of these texts."
            f"{did_you_mean(feature, tokens.vocabulary)} Write it as the tokenizer does, for "
            "example in lower case."
        ) from None
    entries = np.flatnonzero(groups.indices == number)
    numbers: list[int] = (np.searchsorted(groups.indptr, entries, side="right") - 1).tolist()
    return numbers


def _row(groups: Groups, tokens: Tokens, g: int) -> dict[str, Any]:
    return {
        "name": groups.label(g),
        "weight": float(groups.weights[g]),
        "features": [tokens.vocabulary[j] for j in groups.members(g)],
    }


def _tell(facts: dict[str, Any]) -> None:
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
        click.echo(f"saved {facts['saved']}")
        click.echo(f"next: textreg train ... --groups file --groups-path {facts['saved']}")


def _show(groups: Groups, tokens: Tokens, shown: list[int]) -> None:
    """Print the groups, one per line."""
    rows: list[tuple[Any, ...]] = []
    for g in shown:
        row = _row(groups, tokens, g)
        features = first_few(list(map(visible, row["features"])), SHOWN)
        rows.append((row["name"], len(row["features"]), row["weight"], features))
    if rows:
        click.echo()
        print_table([("GROUP", "SIZE", "WEIGHT", "FEATURES"), *rows])
