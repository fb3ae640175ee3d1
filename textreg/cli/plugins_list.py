"""``textreg plugins list``: what is installed, without importing it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from textreg.cli import shared
from textreg.cli.output import print_json, print_table
from textreg.plugins import registry
from textreg.plugins.inventory import PluginInfo


@click.command(name="list", short_help="List all plugins (the default).")
@click.option("--load", is_flag=True, help="Import all of them: which are broken, and how slow.")
@shared.as_json
def list_plugins(load: bool = False, as_json: bool = False) -> None:
    """List all plugins, without importing any of them.

    The version of the interface that a plugin is made for (API) is known once it is loaded. The
    exit code is 0 whatever is listed; textreg plugins doctor has one that tells.
    """
    found = registry.listing(load=load)
    if as_json:
        print_json([asdict(info) for info in found])
        return
    head = ("NAME", "KIND", "FROM", "API", "STATUS")
    rows: list[tuple[Any, ...]] = [head]
    for info in found:
        api = "" if info.api is None else str(info.api)
        rows.append((info.name, info.kind or "several", _source(info), api, _status(info)))
    if load:
        seconds = ["" if info.seconds is None else f"{info.seconds:.3f} s" for info in found]
        rows = [
            (*row[:4], more, row[4]) for row, more in zip(rows, ["IMPORT", *seconds], strict=True)
        ]
    print_table(rows)
    if broken := [info.name for info in found if info.status.startswith("broken")]:
        what = "plugin is" if len(broken) == 1 else "plugins are"
        click.echo()
        click.echo(
            f"{len(broken)} {what} broken; all else works. See: textreg plugins doctor {broken[0]}"
        )


def _source(info: PluginInfo) -> str:
    return f"{info.distribution} {info.version}".strip() or info.file or "this process"


def _status(info: PluginInfo) -> str:
    """The status in a few words."""
    failure = registry.failure(info)
    if failure is None or not info.status.startswith("broken"):
        return info.status
    return f"BROKEN: {failure.cause}" + (f" -> {failure.remedy}" if failure.remedy else "")
