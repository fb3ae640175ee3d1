"""The options that say how prices are searched, and who wins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from textreg.training.search.choice import SELECT
from textreg.training.search.tuning import BACKENDS, SEARCH

F = TypeVar("F", bound=Callable[..., Any])

CHOOSING = (
    click.option(
        "--select",
        type=click.Choice(SELECT),
        default="best",
        show_default=True,
        help="Who wins the search: the best; the smallest within one standard error of it; or the "
        "smallest within --within of it.",
    ),
    click.option(
        "--within",
        type=float,
        metavar="X",
        help="With --select sparsest, how far from the best.  [default: 0.01]",
    ),
    click.option("--max-nonzero", type=int, metavar="N", help="Most features in the model."),
)
SEARCHING = (
    *CHOOSING,
    click.option(
        "--search",
        type=click.Choice(SEARCH),
        default="narrow",
        show_default=True,
        help="Of many settings measure at first a few, then those beside the best; or measure all; "
        "or let Optuna draw them.",
    ),
    click.option("--trials", type=int, metavar="N", help="Settings that tpe draws.  [default: 40]"),
    click.option(
        "--search-space",
        metavar="PARAMETER=VALUES",
        multiple=True,
        help="Values to try of any parameter shown here, such as weighting=log,tfidf. May be "
        "repeated.",
    ),
    click.option(
        "--budget",
        metavar="TIME",
        help="Most time for all of it, the final fit included: 90s, 5m, 2h. The best so far is "
        "taken.",
    ),
    click.option(
        "--resume",
        metavar="FILE",
        help="Keep what the search measures in FILE; where it exists, go on from there.",
    ),
    click.option(
        "--backend",
        type=click.Choice(BACKENDS),
        default="threads",
        show_default=True,
        help="Where the search fits: in threads, or on the workers of a Dask cluster.",
    ),
    click.option("--address", metavar="URL", help="Dask's scheduler, such as tcp://10.0.0.5:8786."),
)


def choosing(command: F) -> F:
    """Give a command the options that say who wins."""
    return _with(CHOOSING, command)


def searching(command: F) -> F:
    """Give a command these and those of the search, in this order."""
    return _with(SEARCHING, command)


def _with(options: Sequence[Callable[[F], F]], command: F) -> F:
    for option in reversed(options):
        command = option(command)
    return command
