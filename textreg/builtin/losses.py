"""The losses that come with textreg, announced to it like those of any plugin."""

from __future__ import annotations

from textreg.hookspecs import hookimpl
from textreg.losses import LOSSES, Loss


@hookimpl
def textreg_losses() -> list[type[Loss]]:
    """All of them; their classes are in :mod:`textreg.losses`, where solvers find them."""
    return list(LOSSES.values())
