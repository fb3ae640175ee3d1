"""``textreg export``: a model in a format of other programs."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from textreg.cli import shared
from textreg.cli.output import check_target, print_json, size
from textreg.errors import UsageError
from textreg.files import write_atomically
from textreg.hookspecs import hookimpl
from textreg.kinds import Exporter
from textreg.plugins import registry


@click.command(cls=shared.Command, name="export")
@click.argument("model")
@click.option(
    "--to",
    metavar="FORMAT",
    required=True,
    help="Format. json: all that prediction needs, as one document. python: a file that needs "
    "nothing else. javascript: the same for browsers and Node, as an ES module. sklearn: a "
    "pickled pipeline of scikit-learn. Or one of a plugin.",
)
@click.option(
    "-o", "output", metavar="FILE", required=True, help="File to write, or - for standard output."
)
@shared.quiet
@shared.as_json
def export_model(model: str, to: str, output: str, quiet: bool, as_json: bool) -> None:
    """Write a model in a format that other programs can use without textreg.

    The file gives the same answers as the model, also for documents of several fields. A model that
    a format cannot express is refused, with the reason: for example one with the tokenizer of a
    plugin, whose code the file would need.
    """
    from textreg.model.storage import load_model
    from textreg_export.description import export

    if output == "-" and as_json:
        raise UsageError("-o - writes the export itself to standard output: leave out --json.")
    exporter: Exporter = registry.create("exporter", to)
    target = Path(output)
    if output != "-":
        check_target(target, [model])
    content = export(load_model(model), exporter)
    if output == "-":
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    write_atomically(target, content)
    if as_json:
        print_json({"model": model, "to": to, "file": output, "bytes": len(content)})
    elif not quiet:
        click.echo(f"saved {output} ({size(os.path.getsize(target))})")


@hookimpl
def textreg_commands() -> list[click.Command]:
    """The command of this module."""
    return [export_model]
