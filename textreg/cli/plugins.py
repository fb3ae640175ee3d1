"""``textreg plugins``: the parts that are installed."""

from __future__ import annotations

import click

from textreg.cli.plugins_check import check_plugin
from textreg.cli.plugins_doctor import doctor
from textreg.cli.plugins_list import list_plugins
from textreg.cli.plugins_new import new_plugin
from textreg.cli.shared import NamingGroup


@click.group(name="plugins", cls=NamingGroup, invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """List, check or write plugins: tokenizers, group and graph builders, regularizers, losses."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_plugins)


command.add_command(list_plugins)
command.add_command(doctor)
command.add_command(check_plugin)
command.add_command(new_plugin)
