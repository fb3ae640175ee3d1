"""Dual coordinate ascent for a ridge over documents that lie in blocks (yu2010).

    min  sum_i c_i l(y_i, x_i w + b) + q/2 ||w||^2,    w = X'alpha / q

A sweep over all documents (see :mod:`.dual_ascent`) reads each block once, and moves the weights as
it goes. With the logistic loss the first sweeps come as near to the optimum as several Newton steps
of many passes each; then these are quicker. With a hinge, sweeps go on as long as the gap falls.
"""

from __future__ import annotations

import numpy as np

from textreg._core.dual import dual_sweep
from textreg.losses import Logistic
from textreg.records import Floats, Problem, Step
from textreg.records.design import RowBlock
from textreg.solvers.block_rows import BlockRows
from textreg.solvers.certificate import balance, dual_value, relative_gap
from textreg.solvers.dual_ascent import HINGES, LAG, RANGE, Patience, shuffled, slope_of
from textreg.solvers.engine import Engine

SWEEPS, BETWEEN = 2, 5
"""How many there are for the logistic loss, and with a hinge between two looks at the gap."""


def suits(engine: Engine, rows: BlockRows, q: float) -> bool:
    """Whether sweeps are for the loss, and all values have the range of float32."""
    largest = float(rows.norms.max(initial=0.0)), float(engine.c.max(initial=0.0)) / q, q
    return isinstance(engine.loss, Logistic | HINGES) and max(largest) <= RANGE


def ascend(engine: Engine, rows: BlockRows, q: float, problem: Problem) -> float:
    """Move an engine without weights, its intercept at its optimum, to where sweeps lead.

    q: curvature of the penalty. problem: says how small a gap is enough, and how many looks at it
    there may be; each is a step for its caller, who may stop there. Returns a lower bound on the
    objective, -inf if none is known.
    """
    best, least, bound = (engine.w, engine.b), engine.value, -np.inf
    sweeps, patience, looks = _Sweeps(engine, rows, q), Patience(), 0
    hinge = isinstance(engine.loss, HINGES)
    while True:
        sweeps.make(BETWEEN if hinge else SWEEPS)
        engine.restart(sweeps.w.copy(), sweeps.b)
        objective = engine.value + 0.5 * q * float(engine.w @ engine.w)
        if objective <= least:
            best, least = (engine.w, engine.b), objective
        if not hinge:
            break
        alpha = sweeps.alpha.copy()
        balance(engine, alpha)
        products = engine.design.transposed_product(alpha)
        bound = max(bound, dual_value(engine, alpha) - 0.5 / q * float(products @ products))
        looks, gap = looks + 1, relative_gap(least, bound)
        stopped = problem.callback and problem.callback(Step(looks, least, gap))
        if stopped or gap <= problem.tol or patience.ends(gap) or looks >= problem.max_iter:
            break
    if engine.w is not best[0]:
        engine.restart(*best)
    return bound


class _Sweeps:
    """The dual variables ``alpha`` (n,), from zero on, and the weights and intercept ``w``, ``b``.

    The intercept is that of the engine at first.
    """

    def __init__(self, engine: Engine, rows: BlockRows, q: float) -> None:
        self._rows, self._q, self._slope = rows, q, slope_of(engine.loss)
        self._cy, self._number = engine.c * engine.y, 0
        self.alpha, self.w, self.b = np.zeros(len(engine.z)), np.zeros(len(engine.w)), engine.b
        mean = float(rows.norms.sum()) / max(len(rows.norms), 1)
        self._lag = LAG * mean / q if engine.fit_intercept else 0.0

    def make(self, count: int) -> None:
        """So many more. After each the point that the intercept is held near moves to it."""
        rows, alpha, w, b = self._rows, self.alpha, self.w, self.b
        for number in range(self._number, self._number + count):
            for part in rows.each():
                features, here = rows.features(part), part.here
                known = rows.norms[here], self._cy[here], (number, part.number)
                point = alpha[here], w[features], b
                alpha[here], w[features], b = rows.ask(
                    part, swept_block, known, point, self._q, self._lag, self._slope
                )
            b += self._lag * float(alpha.sum())
        self._number, self.b = self._number + count, b


def swept_block(
    block: RowBlock,
    known: tuple[Floats, Floats, tuple[int, int]],
    point: tuple[Floats, Floats, float],
    q: float,
    lag: float,
    slope: tuple[float, float],
) -> tuple[Floats, Floats, float]:
    """The dual variables, the weights and the intercept after a sweep over a block.

    known: of its documents the norms, and their weights times their targets; and a seed. point: the
    dual variables of its documents, the weights of its features, and the intercept. slope: as of
    :func:`.dual_ascent.slope_of`.
    """
    (indptr, indices, data), (norms, cy, seed) = block.rows, known
    alpha, w, b = (np.array(part)[..., None] for part in point)
    values, targets = data.astype(np.float32), np.array(cy)[:, None]
    order = shuffled(seed, len(norms))
    dual_sweep(indptr, indices, values, order, norms, targets, q, lag, alpha, w, b, *slope)
    return alpha[:, 0], w[:, 0], float(b[0])
