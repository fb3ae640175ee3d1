"""``textreg plugins``: the parts that are installed."""

from __future__ import annotations

from dataclasses import asdict

import click

from textreg import registry
from textreg.cli.output import print_json, print_table
from textreg.cli.plugins_check import check_plugin
from textreg.cli.plugins_new import new_plugin


@click.group(name="plugins", invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """List, check or begin plugins: tokenizers, builders of groups and graphs, regularizers."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_plugins)


command.add_command(check_plugin)
command.add_command(new_plugin)


@command.command(name="list")
@click.option("--load", is_flag=True, help="Import all of them, to see which are broken.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document only.")
def list_plugins(load: bool = False, as_json: bool = False) -> None:
    """List all plugins, without importing any of them."""
    found = registry.listing(load=load)
    if as_json:
        print_json([asdict(info) for info in found])
        return
    rows = [("NAME", "KIND", "FROM", "STATUS")]
    for info in found:
        source = f"{info.distribution} {info.version}".strip() or "this process"
        rows.append((info.name, info.kind or "several", source, info.status))
    print_table(rows)
