"""The selection of a learner in its training corpus, for people: ``textreg explain --train``."""

from __future__ import annotations

from collections.abc import Sequence

import click
import numpy as np

from textreg.cli.output import percent, print_table
from textreg.explain import Kept, KeptGroup
from textreg.screen import visible

SHOWN = 8
"""Features that the line of a group shows."""


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
        _groups(f"typical of {visible(label)}", typical)
    for number, order in enumerate(found.order):
        which = f" of weight vector {number + 1}" if len(found.order) > 1 else ""
        click.echo(f"\norder in which features came{which}\n  {visible(', '.join(order))}")
    if found.pulled:
        click.echo("\nneighbors that pulled a weight (feature, share x weight)")
    for feature, label, weight, neighbors in found.pulled:
        pulls = ", ".join(f"{one.feature} {one.pull:+.3f}" for one in neighbors[:SHOWN])
        click.echo(visible(f"  {feature} {weight:+.3f} for {label}: {pulls or 'none'}"))
    for note in found.notes:
        click.echo(f"\nnote: {note}")


def _groups(title: str, groups: Sequence[KeptGroup]) -> None:
    click.echo(f"\n{title}")
    rows = []
    for group in groups:
        words = ", ".join(f"{name} {weight:+.2f}" for name, weight in group.words[:SHOWN])
        what = words if group.text is None else f"{' '.join(group.text.split())}  [{words}]"
        rows.append((group.norm, visible(group.label), visible(group.name), visible(what)))
    if rows:
        print_table([("NORM", "FOR", "GROUP", "WORDS"), *rows], indent="  ")
    else:
        click.echo("  (none)")
