"""``textreg plugins doctor``: what is wrong with a plugin, and how to fix it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from textreg.cli import shared
from textreg.cli.output import print_json, print_table

if TYPE_CHECKING:
    from textreg.authoring.doctor import Diagnosis


@click.command(name="doctor", short_help="Try every plugin, and say what is wrong.")
@click.argument("name", default="")
@shared.as_json
@click.pass_context
def doctor(ctx: click.Context, name: str, as_json: bool) -> int:
    """Import and try the plugins called NAME, or all of them, and say what is wrong with each.

    NAME is that of a plugin, as in slope, regularizer.slope or acme-slope:slope, or that of a
    distribution. Each is tried on a small corpus. For one that is broken there are its traceback,
    the cause on one line, and the pip command that may fix it.

    The exit code is 0 if none is broken, 1 if one is, 2 if there is no plugin called NAME.
    """
    from textreg.authoring.doctor import diagnose, notes

    found = diagnose(name)
    strange = notes()
    broken = [one for one in found if one.status == "broken"]
    if as_json:
        print_json({"plugins": [asdict(one) for one in found], "notes": strange})
    else:
        _tell(found, broken, strange)
    return 1 if broken else 0


def _tell(found: Sequence[Diagnosis], broken: Sequence[Diagnosis], strange: Sequence[str]) -> None:
    """The same for people: what is broken at length, last of all."""
    rows = [("NAME", "KIND", "FROM", "STATUS")]
    for one in found:
        info = one.info
        status = one.status
        if one.cause and status != "broken":
            status += f": {one.cause}"
        rows.append((info.name, info.kind or "several", info.home, status))
    print_table(rows)
    for note in strange:
        click.echo(f"note: {note}")
    for one in broken:
        click.echo(f"\n{one.info.name}, {one.info.kind or 'several'}, of {one.info.home}")
        click.echo(f"  cause: {one.cause}")
        if one.remedy:
            click.echo(f"  mend:  {one.remedy}")
        if one.traceback:
            click.echo()
        for line in one.traceback.splitlines():
            click.echo(f"  {line}".rstrip())
    click.echo(f"\n{len(found)} tried, {len(broken)} broken")
