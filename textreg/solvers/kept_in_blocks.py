"""Features that groups in blocks keep at zero (docs/maths.md, W2 and W5).

As :meth:`textreg.penalties.GroupNorms.keep_at_zero` and ``hold``, but block by block. Where no
feature has a weight, what a feature takes of its groups is one for all blocks; which features the
groups have room for is found in each block by itself, and those that fit into all of them are kept.
"""

from __future__ import annotations

from itertools import pairwise, repeat
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from textreg._core.groups import fill_groups, group_norms, group_spread
from textreg.penalties import shared_out
from textreg.records import Floats, Int32s
from textreg.records.design import BlockGroups, GroupBlock

Bools = NDArray[np.bool_]

MOST = 0.6
"""Largest share of the values of all features that those which are left may hold."""


def left_by_groups(
    groups: BlockGroups, group: float, features: Int32s, excess: Floats, values: Int32s
) -> Bools | None:
    """Which features groups do not keep at zero; None where too many are left to be worth it.

    Parameters
    ----------
    groups : BlockGroups
        All groups.
    group : float
        The strength of their norms.
    features : int32 ndarray
        Ascending.
    excess : ndarray, one for each
        Of their products with the dual variables of the loss, above what l1 takes.
    values : int32 ndarray, one for each
        How many documents have them.
    """
    p, reach = groups.n_features, np.zeros(len(features))
    for part in groups.blocks.map(reach_of, repeat(features), repeat(p)):
        reach += part
    reach *= group
    share = np.divide(excess, reach, out=np.full(len(reach), np.inf), where=reach > 0.0)
    order = np.argsort(share, kind="stable")
    chosen, shares = features[order], share[order]
    left = shares > 1.0  # even alone in its groups
    most = MOST * int(values.sum(dtype=np.int64))
    for rest in groups.blocks.map(without_room, repeat(chosen), repeat(shares), repeat(p)):
        left |= rest
        if values[order][left].sum(dtype=np.int64) > most:
            return None
    found = np.empty(len(features), dtype=bool)
    found[order] = left
    return found


def reach_of(block: GroupBlock, features: Int32s, p: int) -> Floats:
    """For some of p features the weights of the groups of a block that hold them, summed."""
    reach = np.zeros(p)
    group_spread(block.indptr, block.indices, block.weights, reach)
    return reach[features]


def without_room(block: GroupBlock, features: Int32s, share: Floats, p: int) -> Bools:
    """Which of some of p features the groups of a block have no room for, one after the other.

    share: what each takes of its groups, ascending.
    """
    from scipy.sparse import csr_array

    place = np.full(p, -1, dtype=np.int32)
    place[features] = np.arange(len(features), dtype=np.int32)
    indices = place[block.indices]
    kept = indices >= 0
    ends = np.concatenate([[0], np.cumsum(kept, dtype=np.int64)])[block.indptr]
    marks, shape = np.ones(ends[-1], dtype=np.int8), (len(block.weights), len(features))
    holders = csr_array((marks, indices[kept], ends), shape=shape).tocsc()
    room = (block.weights > 0.0).astype(np.float64)
    taken = np.empty(len(features), dtype=np.uint8)
    fill_groups(
        holders.indptr.astype(np.int64), holders.indices.astype(np.int32, copy=False), room,
        np.arange(len(features), dtype=np.int32), share, np.zeros(len(room)), taken,
    )  # fmt: skip
    left: Bools = taken == 0
    return left


class Selected(NamedTuple):
    """The features of a problem in memory, ascending, and what it leaves of its groups.

    room: of every group with any of these features, as in a Solution; None for nothing.
    """

    features: Int32s
    room: Floats | None


def held_by_groups(
    groups: BlockGroups,
    group: float,
    features: Int32s,
    wanted: Floats,
    least: Floats,
    selected: Selected,
) -> Floats:
    """What groups take of features outside of a problem in memory (W5).

    Parameters
    ----------
    groups : BlockGroups
        All groups.
    group : float
        The strength of their norms.
    features : int32 ndarray
        Ascending.
    wanted, least : ndarray, one for each
        What is to be taken of each, and what would do.
    selected : Selected
        The problem in memory.
    """
    p, blocks = groups.n_features, groups.blocks
    counts = list(blocks.map(number_holding, repeat(selected.features), repeat(p)))
    ends = np.cumsum([0, *counts]).tolist()
    room = np.zeros(ends[-1]) if selected.room is None else selected.room
    rooms = [room[start:end] for start, end in pairwise(ends)]

    def taken(y: Floats) -> Floats:
        sums = np.zeros(len(features))
        shares = repeat(features), repeat(y), repeat(selected.features), rooms, repeat(p)
        for part in blocks.map(shared_in_block, *shares):
            sums += part
        sums *= group
        return sums

    return shared_out(wanted, least, taken(np.zeros(len(features))), taken).held


def number_holding(block: GroupBlock, features: Int32s, p: int) -> int:
    """How many groups of a block hold any of some of p features."""
    return int(np.count_nonzero(_lengths(block, features, np.ones(len(features)), p)))


def shared_in_block(
    block: GroupBlock, features: Int32s, y: Floats, selected: Int32s, room: Floats, p: int
) -> Floats:
    """The sum over the groups of each of some of p features of Lambda_g / max(1, ||y_g||).

    y: the shares of the features. selected, room: as in :class:`Selected`, for the groups here.
    """
    free = block.weights.copy()
    free[_lengths(block, selected, np.ones(len(selected)), p) > 0.0] *= np.sqrt(room)
    free /= np.maximum(_lengths(block, features, y, p), 1.0)
    sums = np.zeros(p)
    group_spread(block.indptr, block.indices, free, sums)
    return sums[features]


def _lengths(block: GroupBlock, features: Int32s, values: Floats, p: int) -> Floats:
    """The length over every group of a block of what some of p features have."""
    whole, lengths = np.zeros(p), np.empty(len(block.weights))
    whole[features] = values
    group_norms(block.indptr, block.indices, whole, lengths)
    return lengths
