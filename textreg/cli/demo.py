"""``textreg demo``: a corpus to try textreg on."""

from __future__ import annotations

import click

from textreg.cli import shared
from textreg.cli.output import print_json
from textreg.demo import write_demo


@click.command(cls=shared.Command, name="demo")
@click.argument("folder", default="textreg-demo")
@click.option(
    "--format",
    type=click.Choice(["jsonl", "csv"]),
    default="jsonl",
    show_default=True,
    help="Of the files.",
)
@shared.as_json
def command(folder: str, format: str, as_json: bool) -> None:
    """Write a small corpus of generated product reviews into FOLDER.

    The default FOLDER is textreg-demo.
    """
    written = write_demo(folder, format=format)
    if as_json:
        print_json({name: str(path) for name, path in written._asdict().items()})
        return
    for path in written:
        click.echo(f"wrote {path}")
    click.echo(f"next: textreg train {written.train} --reg sentence -o demo.textreg")
