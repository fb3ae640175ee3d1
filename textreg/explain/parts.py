"""The parts that the weights of a latent group lasso are the sums of, group by group."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from textreg.records import Floats, Groups
from textreg.solvers.latent_norms import LatentNorms
from textreg.solvers.latent_parts import parts_within


def part_weights(
    weights: Floats, groups: Groups, selected: Sequence[Sequence[int]]
) -> dict[int, Floats]:
    """By group, the weights (k, members) of its part in every weight vector.

    Parameters
    ----------
    weights : ndarray, shape (k, p)
        The weights of the model.
    groups : Groups
        The groups of its training.
    selected : sequence of sequence of int
        For every weight vector, the groups that have a part.

    Returns
    -------
    dict of int to ndarray
        Without groups whose weights are all zero. Equal groups have the same part.
    """
    penalty = LatentNorms(groups, 1.0, 0.0, 1.0)
    found: dict[int, Floats] = {}
    for row, chosen in enumerate(selected):
        merged = penalty.origin[np.array(chosen, dtype=np.int64)]
        eta, t = parts_within(penalty, weights[row], np.unique(merged[merged >= 0]))
        for g, place in zip(chosen, merged.tolist(), strict=True):
            members = groups.members(g)
            # A group of weight 0 has its features for nothing.
            part = eta[place] * t[members] if place >= 0 else weights[row, members]
            if part.any():
                of_group = found.setdefault(g, np.zeros((len(weights), len(members))))
                of_group[row] = part
    return found
