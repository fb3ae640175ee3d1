"""How groups share what they can take among features without a weight (docs/maths.md, W5)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from textreg.records import Floats

ROUNDS = 2
"""How often the shares of features are made larger or smaller."""

FACTOR = 2.0
"""By how much at most."""


class Shared(NamedTuple):
    """What groups take of features.

    y: the share that every feature has in its groups. held: what they take of each.
    """

    y: Floats
    held: Floats


def shared_out(
    wanted: Floats, least: Floats, reach: Floats, taken: Callable[[Floats], Floats]
) -> Shared:
    """Find shares of features.

    Parameters
    ----------
    wanted, least : ndarray
        What groups are to take of each feature, 0 or more; and what would do.
    reach : ndarray
        What they could take of each alone. Features that want more have no share.
    taken : callable
        For shares y, 0 or more, the sum over the groups of each feature of Lambda_g / max(1,
        ||y_g||).
    """
    y = np.divide(wanted, reach, out=np.zeros(len(wanted)), where=reach > wanted)
    held = y * taken(y)
    for _ in range(ROUNDS):
        if not np.any(held < least):
            break
        change = np.divide(wanted, held, out=np.ones(len(wanted)), where=held > 0.0)
        y *= np.clip(change, 1.0 / FACTOR, FACTOR, out=change)
        held = y * taken(y)
    return Shared(y, held)
