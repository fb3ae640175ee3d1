"""``textreg plugins``: list, check, diagnose and write plugins."""

from __future__ import annotations

from dataclasses import asdict

import click

from textreg.cli import output, shared
from textreg.cli.shared import OpenGroup
from textreg.plugins import registry
from textreg.plugins.registry import PluginInfo
from textreg.terminal import shell_line


class _PluginsGroup(OpenGroup):
    prefix = "plugins."


@click.group(name="plugins", cls=_PluginsGroup, invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """List, check or write plugins: parts of trainings, exporters and commands."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_plugins)


@command.command(name="list", short_help="List all plugins (the default).")
@shared.switch("--load", "Import all of them: which are broken, and how slow.")
@shared.as_json
def list_plugins(load: bool = False, as_json: bool = False) -> None:
    """List all plugins, without importing any of them.

    The version of the interface that a plugin is made for (API) is in its metadata, or known once
    it is loaded. A plugin for another version is never imported. The exit code is always 0; that of
    textreg plugins doctor is 1 if a plugin is broken.
    """
    listing = registry.listing(load=load)
    if as_json:
        output.print_json([asdict(info) for info in listing])
        return
    rows = [["NAME", "KIND", "FROM", "API", "IMPORT", "STATUS"]]
    for info in listing:
        api = "" if info.api is None else str(info.api)
        seconds = "" if info.seconds is None else f"{info.seconds:.3f} s"
        source = f"{info.distribution} {info.version}".strip() or info.file or "this process"
        rows.append([info.name, info.kind, source, api, seconds, _status(info)])
    if not load:
        for row in rows:
            del row[4]  # what was not imported took no time
    output.print_table(rows)
    if broken := [info.name for info in listing if info.status.startswith("broken")]:
        what = "plugin is" if len(broken) == 1 else "plugins are"
        click.echo()
        click.echo(
            f"{len(broken)} {what} broken; all else works. See: "
            + shell_line(["textreg", "plugins", "doctor", broken[0]])
        )


def _status(info: PluginInfo) -> str:
    """The status in a few words."""
    failure = registry.failure(info)
    if failure is None or not info.status.startswith("broken"):
        return info.status
    return f"BROKEN: {failure.cause}" + (f" -> {failure.remedy}" if failure.remedy else "")
