"""What a fit asks of the matrix, so that fits of several labels can share their passes over it.

A solver written as a generator yields requests, and is sent their answers. Alone it gets each at
once; side by side with the fits of other labels (see :mod:`.side_by_side`) all that ask for the
same are answered together.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, NamedTuple, TypeAlias, TypeVar

from textreg.records import Design, Floats, Int32s
from textreg.solvers.compact_rows import CompactRows
from textreg.solvers.dual_ascent import Ascent, sweep
from textreg.solvers.engine import Engine
from textreg.solvers.feature_ascent import FeatureAscent, sweep_by_feature

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
Fit: TypeAlias = Generator[Request, Any, T]
"""A fit that yields requests, and returns T."""


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
