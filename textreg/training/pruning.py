"""After the fit: weights that hardly count are left out, so that a dense model is a small file."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from textreg.kinds import Regularizer
from textreg.plugins import calls
from textreg.records import MultiSolution
from textreg.solvers.certificate import relative_gap
from textreg.training.search.trials import Problems

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from textreg.records import Floats

LEAST = 20_000
"""Weights that a model keeps in any case; one with no more of them is not pruned."""

BLOCK = 1 << 20
"""Variances that are summed up at a time."""

BITS = 12
"""Significant bits of the weights of a pruned model: 3 bytes each instead of 8."""


class Pruned(NamedTuple):
    """What :func:`prune` did.

    before, after: how many weights there were, and are. gap: how far the objective lies above its
    minimum now, as a share of it, at most; NaN without a bound, or if the regularizer does not
    allow such weights.
    """

    before: int
    after: int
    gap: float


def prune(
    fitted: MultiSolution, regularizer: Regularizer, problems: Problems, share: float
) -> tuple[MultiSolution, Pruned | None]:
    """Leave out the smallest weights, and shorten the others.

    A weight w_j adds a variance of about w_j^2 mean_i(x_ij^2) to the scores. Those that add least
    are left out, as many as together add no more than a share of the sum over all weights; of equal
    ones none or all.

    Parameters
    ----------
    fitted : MultiSolution
        The fit; its objective and gap stay what they were. Weights of separate fits are changed in
        place.
    regularizer : Regularizer
        What was fitted.
    problems : Problems
        The documents that were fitted.
    share : float
        Share of the sum that may be left out; 0 changes nothing.

    Returns
    -------
    tuple of MultiSolution and Pruned
        None instead of the latter if nothing was changed.
    """
    before = int(np.count_nonzero(fitted.w))
    if share == 0.0 or before <= LEAST:
        return fitted, None
    design = problems.problem.design
    squares = np.zeros(design.shape[1], dtype=np.float32)
    chosen = np.flatnonzero(fitted.w.any(axis=0)).astype(np.int32)
    squares[chosen] = design.curvature(np.ones(design.shape[0]), chosen) / design.shape[0]
    # Weights of separate fits are nobody else's, and where labels are many the largest table.
    w = fitted.w.copy() if problems.task.joint else fitted.w
    leave_out(w, squares, share)
    pruned = replace(fitted, w=w)
    return pruned, Pruned(before, int(np.count_nonzero(w)), _gap(pruned, regularizer, problems))


def leave_out(w: Floats, squares: NDArray[np.float32], share: float) -> None:
    """Leave out the smallest weights of a table (k, p), in place, and shorten the others.

    squares: (p,) the mean square of each feature. share: that of the variance that may be left out.
    """
    before = int(np.count_nonzero(w))
    ascending = np.empty(before, dtype=np.float32)
    end, total = 0, 0.0
    for weights in w:
        own = _variance(weights, squares)
        first, end = end, end + int(np.count_nonzero(weights))
        ascending[first:end] = own[weights != 0.0]
        total += float(own.sum(dtype=np.float64))
    ascending.sort()
    out = _first_above(ascending, share * total)
    least = ascending[min(out, before - LEAST)]
    del ascending
    for weights in w:
        there = weights != 0.0  # what is zero is not written: it takes no memory
        kept = (_variance(weights, squares) >= least) & there
        weights[there & ~kept] = 0.0
        weights[kept] = _shortened(weights[kept])


def _variance(weights: Floats, squares: NDArray[np.float32]) -> NDArray[np.float32]:
    """(p,) What the weights of a label add to its scores, in single precision: it ranks them."""
    variance: NDArray[np.float32] = np.square(weights, dtype=np.float32, casting="same_kind")
    variance *= squares
    return variance


def _first_above(values: NDArray[np.float32], limit: float) -> int:
    """How many of the first values have a sum that is not above a limit."""
    total = 0.0
    for first in range(0, len(values), BLOCK):
        sums = np.cumsum(np.append(total, values[first : first + BLOCK]))[1:]
        if sums[-1] > limit:
            return first + int(np.searchsorted(sums, limit, side="right"))
        total = float(sums[-1])
    return len(values)


def _gap(pruned: MultiSolution, regularizer: Regularizer, problems: Problems) -> float:
    """The gap at the weights that are left, by the bound of the fit."""
    if np.isnan(pruned.gap) or problems.task.joint:
        return float("nan")
    objective = sum(
        calls.objective(regularizer, problems.of(row), w, float(b))
        for row, w, b in zip(problems.rows, pruned.w, pruned.b, strict=True)
    )
    if np.isinf(objective):
        return float("nan")
    return relative_gap(objective, pruned.objective * (1.0 - pruned.gap))


def _shortened(values: Floats) -> Floats:
    """The nearest numbers with BITS significant bits."""
    fractions, exponents = np.frexp(values)
    shortened: Floats = np.ldexp(np.round(np.ldexp(fractions, BITS)), exponents - BITS)
    return shortened
