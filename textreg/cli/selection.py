"""What training selected in its corpus, for people: ``textreg explain --train``."""

from __future__ import annotations

from collections.abc import Sequence

import click
import numpy as np

from textreg.cli.output import SHOWN, percent, print_table
from textreg.explain import EntryStep, LinkedFeature, PathProfiles, SelectedGroup, Selection
from textreg.terminal import printable, single_line, visible

MAX_COLUMNS = 7
"""Points of a path whose weights are printed, besides the chosen one."""


def print_selection(selection: Selection) -> None:
    """Print all of it."""
    _print_corpus(selection)
    click.echo(
        f"selected: {selection.selected:,} of {selection.groups:,} {selection.builder} "
        f"({percent(selection.selected, selection.groups)}); {selection.empty:,} have no feature"
    )
    _print_proven(selection)
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


def _print_corpus(selection: Selection) -> None:
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


def _print_proven(selection: Selection) -> None:
    """What is proven of the optimum, over all weight vectors."""
    if selection.proven is None:
        return
    rows = {"features": selection.proven.features, selection.builder: selection.proven.groups}
    for name, counts in rows.items():
        if counts:
            zero, nonzero, undecided = (
                sum(getattr(one, key) for one in counts) for key in ("zero", "nonzero", "undecided")
            )
            click.echo(
                f"proven of {name} at the optimum: {zero:,} surely zero, {nonzero:,} surely not, "
                f"{undecided:,} undecided"
            )


def _print_groups(title: str, groups: Sequence[SelectedGroup]) -> None:
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


def _print_order(selection: Selection) -> None:
    for number, order in enumerate(selection.order):
        which = f" of weight vector {number + 1}" if len(selection.order) > 1 else ""
        if selection.order_groups:
            click.echo(f"\norder of entry of {selection.builder} and single features{which}")
            _print_steps(selection.order_groups[number])
        else:
            listed = ", ".join(map(visible, order))
            click.echo(f"\norder of entry of features{which}\n  {printable(listed)}")


def _print_steps(steps: Sequence[EntryStep]) -> None:
    for number, step in enumerate(steps, start=1):
        line = ", ".join(map(visible, step.features[:SHOWN]))
        more = len(step.features) - SHOWN
        line += f" and {more:,} more" if more > 0 else ""
        if step.group is not None:
            text = "" if step.text is None else f": {' '.join(step.text.split())}"
            line = f"{step.group}{text}  [{line}]"
        click.echo(printable(f"  {number}. {line}"))


def _print_path(path: PathProfiles) -> None:
    """Weights at some points of the path, the first, the last and the chosen one among them."""
    last = len(path.values) - 1
    evenly = {round(last * k / (MAX_COLUMNS - 1)) for k in range(MAX_COLUMNS)}
    points = sorted(evenly | {path.chosen})
    heads = [f"{path.values[at]:.3g}{'*' if at == path.chosen else ''}" for at in points]
    click.echo(f"\nweights along {path.parameter} (* is the model)")
    rows = [
        (visible(one.feature), one.label, *(f"{one.weights[at]:.2f}" for at in points))
        for one in path.profiles
    ]
    print_table(
        [("FEATURE", "FOR", *heads), *rows],
        indent="  ",
        right=[False, False] + [True] * len(points),
    )


def _print_linked(linked: Sequence[LinkedFeature]) -> None:
    if linked:
        click.echo("\nlinked features and their pull on a weight (share of links x weight)")
    for one in linked:
        pulls = ", ".join(
            f"{visible(near.feature)} {near.pull:+.3f}" for near in one.neighbors[:SHOWN]
        )
        line = f"  {visible(one.feature)} {one.weight:+.3f} for {one.label}: {pulls or 'none'}"
        click.echo(printable(line))
