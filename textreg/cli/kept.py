"""The selection of a learner in its training corpus, for people: ``textreg explain --train``."""

from __future__ import annotations

from collections.abc import Sequence

import click
import numpy as np

from textreg.cli.output import SHOWN, percent, print_table
from textreg.explain import Along, Came, Kept, KeptGroup
from textreg.terminal import printable, single_line

COLUMNS = 7
"""Points of a path whose weights are shown, beside the chosen one."""


def tell_kept(found: Kept) -> None:
    """Print all of it."""
    click.echo(f"corpus: {found.documents:,} documents, {found.features:,} features")
    if found.trained_on not in (None, found.documents) or found.missing:
        click.echo(
            "these are not the texts of the training: it had "
            f"{'?' if found.trained_on is None else format(found.trained_on, ',')} documents, "
            f"and {found.missing:,} features of the model are not here"
        )
    if not found.by_group:
        click.echo(
            f"{found.regularizer} has no groups: what follows are the {found.builder} that hold "
            "one of its features"
        )
    click.echo(
        f"kept: {found.kept:,} of {found.groups:,} {found.builder} "
        f"({percent(found.kept, found.groups)}); {found.empty:,} are without a feature"
    )
    if found.shares:
        least, median, most = (100 * q for q in np.percentile(found.shares, (0, 50, 100)))
        click.echo(f"share kept in a document: {least:.0f} to {most:.0f} %, median {median:.0f} %")
    _groups(f"{found.builder} of the largest norm", found.strongest)
    for label, typical in found.typical.items():
        _groups(f"typical of {single_line(label)}", typical)
    for number, order in enumerate(found.order):
        which = f" of weight vector {number + 1}" if len(found.order) > 1 else ""
        if found.order_groups:
            click.echo(f"\norder in which {found.builder} and single features came{which}")
            _steps(found.order_groups[number])
        else:
            click.echo(f"\norder in which features came{which}\n  {printable(', '.join(order))}")
    if found.path is not None:
        _path(found.path)
    if found.pulled:
        click.echo("\nneighbors that pulled a weight (feature, share x weight)")
    for feature, label, weight, neighbors in found.pulled:
        pulls = ", ".join(f"{one.feature} {one.pull:+.3f}" for one in neighbors[:SHOWN])
        click.echo(printable(f"  {feature} {weight:+.3f} for {label}: {pulls or 'none'}"))
    for note in found.notes:
        click.echo(f"\nnote: {note}")


def _steps(steps: Sequence[Came]) -> None:
    for number, step in enumerate(steps, start=1):
        shown = ", ".join(step.features[:SHOWN])
        more = len(step.features) - SHOWN
        told = f"{shown} and {more:,} more" if more > 0 else shown
        if step.group is not None:
            said = "" if step.text is None else f": {' '.join(step.text.split())}"
            told = f"{step.group}{said}  [{told}]"
        click.echo(printable(f"  {number}. {told}"))


def _path(path: Along) -> None:
    """Weights at some points of the path, the first, the last and the chosen one among them."""
    last = len(path.values) - 1
    places = sorted({*(round(last * k / (COLUMNS - 1)) for k in range(COLUMNS)), path.chosen})
    heads = [f"{path.values[at]:.3g}{'*' if at == path.chosen else ''}" for at in places]
    click.echo(f"\nweights along {path.parameter} (* is the model)")
    rows = [
        (one.feature, one.label, *(f"{one.weights[at]:.2f}" for at in places))
        for one in path.profiles
    ]
    print_table(
        [("FEATURE", "FOR", *heads), *rows],
        indent="  ",
        right=[False, False] + [True] * len(places),
    )


def _groups(title: str, groups: Sequence[KeptGroup]) -> None:
    click.echo(f"\n{title}")
    rows = []
    for group in groups:
        words = ", ".join(f"{name} {weight:+.2f}" for name, weight in group.words[:SHOWN])
        what = words if group.text is None else f"{' '.join(group.text.split())}  [{words}]"
        rows.append((group.norm, group.label, group.name, what))
    if rows:
        print_table([("NORM", "FOR", "GROUP", "WORDS"), *rows], indent="  ")
    else:
        click.echo("  (none)")
