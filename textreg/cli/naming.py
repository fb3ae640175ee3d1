"""A group of commands that says which there are when one is not."""

from __future__ import annotations

import click

from textreg.errors import did_you_mean


class NamingGroup(click.Group):
    """A group whose refusal of an unknown command names the others."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, known = args[0], self.list_commands(ctx)
        if name not in known and not name.startswith("-"):
            raise click.UsageError(
                f"no command '{name}'.{did_you_mean(name, known)} There are: {', '.join(known)}.",
                ctx,
            )
        return super().resolve_command(ctx, args)
