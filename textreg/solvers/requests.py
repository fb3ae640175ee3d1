"""Labels that share passes over the matrix: what their fits ask for, answered together.

What a fit asks of the matrix, so that fits of several labels can share their passes over it.

A solver written as a generator yields requests, and is sent their answers. Alone it gets each at
once; side by side with the fits of other labels (:func:`side_by_side`) all that ask for the
same are answered together: a pass reads more than it computes, so one for sixteen labels takes
little longer than one for a single label. Sums of a label are taken in the same order whatever
other labels are beside it, so its fit has the same bits with all of them and with none.

The inner products of Newton steps are float32. A step need not be exact, as the loss, its gradient
and the gap are computed in float64 where it has led.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from textreg._core.blocks import block_dots
from textreg.records import Design, Floats, Int32s
from textreg.solvers.compact_rows import CompactRows
from textreg.solvers.dual_ascent import Ascent, FeatureAscent, sweep, sweep_by_feature, width
from textreg.solvers.engine import Engine

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Singles = NDArray[np.float32]


T = TypeVar("T")


class Gradient(NamedTuple):
    """X'r (p,) where the engine stands; by the ``rows`` as exact as their values are."""

    engine: Engine
    rows: CompactRows | None = None


class Products(NamedTuple):
    """X'v (p,) for v (n,), exact."""

    design: Design
    v: Floats


class Restart(NamedTuple):
    """Exact scores and derivatives at weights w (p,) and the intercept b, to which it moves."""

    engine: Engine
    w: Floats
    b: float


class HessianProduct(NamedTuple):
    """As :meth:`.compact_rows.CompactRows.product`, which gives the answer.

    The scores of other documents than those asked for may be written too.
    """

    rows: CompactRows
    documents: Int32s
    h: Floats
    w: Floats
    b: float
    scores: Floats
    out: Floats


class WeightedSum(NamedTuple):
    """sum_k v_k x_i (size,) over the documents i = ``documents[k]`` of the rows."""

    rows: CompactRows
    documents: Int32s
    v: Floats


class Sweeps(NamedTuple):
    """The next sweeps of dual coordinate ascent; the answer is the scores (n,) without b."""

    rows: CompactRows
    ascent: Ascent


class FeatureSweep(NamedTuple):
    """The next sweep where every feature has a ridge of its own; there is no answer."""

    rows: CompactRows
    ascent: FeatureAscent


Request = Gradient | Products | Restart | HessianProduct | WeightedSum | Sweeps | FeatureSweep
# A fit that yields requests, and returns T.
Fit: TypeAlias = Generator[Request, Any, T]


def alone(fit: Fit[T]) -> T:
    """What a fit returns whose requests are answered one by one."""
    answer: Any = None
    while True:
        try:
            request = fit.send(answer)
        except StopIteration as end:
            found: T = end.value
            return found
        answer = answered(request)
        del request  # whose arrays the fit need not keep


def answered(request: Request) -> Any:
    """The answer to a request by itself."""
    if isinstance(request, Gradient):
        rows, engine = request.rows, request.engine
        return engine.gradient() if rows is None else rows.gradient(engine.r)
    if isinstance(request, Products):
        return request.design.transposed_product(request.v)
    if isinstance(request, Restart):
        scores = request.engine.design.product(request.w)  # summed as beside other labels
        request.engine.move_to(request.w, request.b, scores + request.b)
        return None
    if isinstance(request, Sweeps):
        return sweep(request.rows, [request.ascent])[0]
    if isinstance(request, FeatureSweep):
        return sweep_by_feature(request.rows, [request.ascent])
    if isinstance(request, WeightedSum):
        return request.rows.sums(*request[1:])
    return request.rows.product(*request[1:])


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
