"""``textreg demo``: something to try everything on."""

from __future__ import annotations

import click

from textreg.cli import shared
from textreg.cli.output import print_json
from textreg.demo.corpus import write_demo


@click.command(name="demo")
@click.argument("folder", default="textreg-demo")
@click.option(
    "--seed", type=int, metavar="N", default=0, show_default=True, help="Seed of the reviews."
)
@shared.as_json
def command(folder: str, seed: int, as_json: bool) -> None:
    """Write a small corpus of product reviews, made up by textreg, into FOLDER.

    FOLDER is textreg-demo unless another is named.
    """
    written = write_demo(folder, seed=seed)
    if as_json:
        print_json({name: str(path) for name, path in written._asdict().items()})
        return
    for path in written:
        click.echo(f"wrote {path}")
    click.echo(f"next: textreg train {written.train} --reg sentence -o demo.textreg")
