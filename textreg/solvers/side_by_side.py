"""Fits of several labels side by side, which share their passes over the matrix.

The fits are generators that yield what they ask for (see :mod:`.requests`). All that ask for the
same are answered together: a pass reads more than it computes, so one for sixteen labels takes
little longer than one for a single label. Sums of a label are taken in the same order whatever
other labels are beside it, so its fit has the same bits with all of them and with none.

The inner products of Newton steps are float32. A step need not be exact, as the loss, its gradient
and the gap are computed in float64 where it has led.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from textreg._core.blocks import block_dots
from textreg.records import Floats
from textreg.solvers.compact_rows import CompactRows
from textreg.solvers.dual_ascent import sweep
from textreg.solvers.feature_ascent import sweep_by_feature
from textreg.solvers.requests import (
    FeatureSweep,
    Fit,
    Gradient,
    HessianProduct,
    Products,
    Request,
    Restart,
    Sweeps,
    WeightedSum,
)
from textreg.solvers.widths import width

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Singles = NDArray[np.float32]

T = TypeVar("T")


def side_by_side(fits: Sequence[Fit[T]]) -> list[T]:
    """What the fits return, all of which are over the same matrix."""
    found: dict[int, T] = {}
    wanted: dict[int, Request] = {}
    answers: dict[int, Any] = dict.fromkeys(range(len(fits)))
    while answers or wanted:
        for at, answer in answers.items():
            try:
                wanted[at] = fits[at].send(answer)
            except StopIteration as end:
                found[at] = end.value
        # What most of them ask for; the others wait until more have come to the same.
        kinds = {at: _kind(request) for at, request in sorted(wanted.items())}
        counts = Counter(kinds.values())
        answers = {}
        if counts:
            kind = counts.most_common(1)[0][0]
            places = [at for at in kinds if kinds[at] == kind]
            made = _ANSWERS[kind[0]]([wanted.pop(at) for at in places])
            answers = dict(zip(places, made, strict=True))
    return [found[at] for at in range(len(fits))]


def _kind(request: Request) -> tuple[type, int]:
    """What can be answered together.

    That is requests of a class, exact gradients or not, and fits that have had as many sweeps.
    """
    if isinstance(request, Sweeps | FeatureSweep):
        return type(request), request.ascent.sweeps
    return type(request), isinstance(request, Gradient) and request.rows is None


def _gradients(wanted: Sequence[Gradient]) -> list[Floats]:
    if wanted[0].rows is None:
        r = np.stack([one.engine.r for one in wanted], axis=1)
        return _columns(wanted[0].engine.design.transposed_product(r))
    rows = _compact(wanted[0].rows)
    return [rows.expand(sums) for sums in _sums(rows, [one.engine.r for one in wanted])]


def _products(wanted: Sequence[Products]) -> list[Floats]:
    v = np.stack([one.v for one in wanted], axis=1)
    return _columns(wanted[0].design.transposed_product(v))


def _restarts(wanted: Sequence[Restart]) -> list[None]:
    scores = wanted[0].engine.design.product(np.stack([one.w for one in wanted], axis=1))
    for one, z in zip(wanted, _columns(scores), strict=True):
        one.engine.move_to(one.w, one.b, z + one.b)
    return [None] * len(wanted)


def _weighted_sums(wanted: Sequence[WeightedSum]) -> list[Floats]:
    rows = _compact(wanted[0].rows)
    dense = np.zeros((len(wanted), len(rows.every)))
    for v, one in zip(dense, wanted, strict=True):
        v[one.documents] = one.v
    return _sums(rows, list(dense))


def _sums(rows: CompactRows, vectors: Sequence[Floats]) -> list[Floats]:
    """(size,) sum_i v_i x_i for every v (n,)."""
    sums = np.empty((rows.size, len(vectors)))
    block_dots(*rows.columns, np.stack(vectors, axis=1), sums)
    return _columns(sums)


def _hessian_products(wanted: Sequence[HessianProduct]) -> list[float]:
    """All in float32, of numbers that are 1 at most; so they do not leave its range."""
    rows, count = _compact(wanted[0].rows), len(wanted)
    n = len(rows.every)
    units = [max(float(np.abs(one.w).max(initial=0.0)), abs(one.b)) or 1.0 for one in wanted]
    breadth = width(count)
    directions = np.zeros((rows.size, breadth), dtype=np.float32)
    scores = np.empty((n, breadth), dtype=np.float32)
    for at, (one, unit) in enumerate(zip(wanted, units, strict=True)):
        directions[:, at] = one.w / unit
    indptr, indices, data = rows.arrays
    block_dots(indptr, indices, data.astype(np.float32, copy=False), directions, scores)
    totals: list[float] = []
    heights: list[float] = []
    for at, (one, unit) in enumerate(zip(wanted, units, strict=True)):
        z, h = scores[:, at] + one.b / unit, np.zeros(n)
        h[one.documents] = one.h[one.documents]
        one.scores[:] = unit * z
        heights.append(float(h.max(initial=0.0)) or 1.0)
        weighted = h * z
        totals.append(unit * float(weighted.sum()))
        scores[:, at] = weighted / heights[-1]
    indptr, indices, data = rows.columns
    block_dots(indptr, indices, data.astype(np.float32, copy=False), scores, directions)
    for at, (one, unit) in enumerate(zip(wanted, units, strict=True)):
        image = directions[:, at].astype(np.float64)
        image *= unit * heights[at]
        one.out[:] += image
    return totals


def _sweeps(wanted: Sequence[Sweeps]) -> list[Floats]:
    return sweep(_compact(wanted[0].rows), [one.ascent for one in wanted])


def _feature_sweeps(wanted: Sequence[FeatureSweep]) -> list[None]:
    sweep_by_feature(_compact(wanted[0].rows), [one.ascent for one in wanted])
    return [None] * len(wanted)


def _columns(block: Floats) -> list[Floats]:
    """The columns, each by itself in memory."""
    return [np.ascontiguousarray(column) for column in block.T]


def _compact(rows: CompactRows | None) -> CompactRows:
    """The rows, which are not in blocks."""
    assert isinstance(rows, CompactRows)
    return rows


_ANSWERS: dict[type, Callable[[Any], Sequence[Any]]] = {
    Gradient: _gradients,
    Products: _products,
    Restart: _restarts,
    WeightedSum: _weighted_sums,
    HessianProduct: _hessian_products,
    Sweeps: _sweeps,
    FeatureSweep: _feature_sweeps,
}
