"""``textreg plugins new``: the beginning of a plugin of one's own."""

from __future__ import annotations

import click

from textreg.cli import shared
from textreg.cli.output import print_json
from textreg.plugins.entries import KIND_NAMES


@click.command(name="new", short_help="Write the beginning of a plugin of your own.")
@click.argument("kind", type=click.Choice(KIND_NAMES), metavar="KIND")
@click.argument("name")
@click.option(
    "--into",
    metavar="DIR",
    default=".",
    help="Folder that gets the new one.  [default: the present one]",
)
@shared.as_json
def new_plugin(kind: str, name: str, into: str, as_json: bool) -> None:
    """Write the distribution textreg-NAME, which can be installed, tested and changed at once.

    KIND is tokenizer, groups (a group builder), graph (a graph builder), regularizer or loss. The
    folder textreg-NAME gets a small working example with its tests.
    """
    from textreg.authoring.scaffold import write_plugin

    written = write_plugin(kind, name, into)
    if as_json:
        files = [str(path) for path in written.files]
        print_json({"folder": str(written.folder), "files": files, "use": written.use})
        return
    for path in written.files:
        click.echo(f"wrote {path}")
    click.echo(f"next: cd {written.folder} && pip install -e . pytest && pytest")
    click.echo(f"then: textreg train FILE {written.use}")
