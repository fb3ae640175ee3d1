"""The options that several commands have alike."""

from __future__ import annotations

import click

as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document only.")
quiet = click.option("--quiet", is_flag=True, help="Print warnings and errors only.")
tokenizer = click.option(
    "--tokenizer", metavar="NAME", default="words", show_default=True, help="Tokenizer."
)
cross_validation = click.option(
    "--cv", type=int, metavar="K", help="Choose the prices by K-fold cross-validation."
)
jobs = click.option(
    "--jobs", type=int, metavar="N", default=-1, help="Fits side by side.  [default: one a core]"
)
unlabeled_of_training = click.option(
    "--unlabeled",
    metavar="FILE",
    multiple=True,
    help="With --train, the documents without labels that training had; may be repeated.",
)
