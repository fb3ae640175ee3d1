"""Dual coordinate ascent for a ridge over documents that lie in blocks (yu2010).

    min  sum_i c_i l(y_i, x_i w + b) + q/2 ||w||^2,    w = X'alpha / q

A sweep over all documents (see :mod:`.dual_ascent`) reads each block once, and moves the weights as
it goes. The first sweeps come as near to the optimum as several Newton steps of many passes each;
then these are quicker.
"""

from __future__ import annotations

import numpy as np

from textreg._core.dual import dual_sweep
from textreg.losses import Logistic
from textreg.records import Floats
from textreg.records.block_operations import RowBlock
from textreg.solvers.block_rows import BlockRows
from textreg.solvers.dual_ascent import LAG, RANGE, shuffled
from textreg.solvers.engine import Engine

SWEEPS = 2
"""How many there are."""


def suits(engine: Engine, rows: BlockRows, q: float) -> bool:
    """Whether the loss is the logistic one, and all values have the range of float32."""
    largest = float(rows.norms.max(initial=0.0)), float(engine.c.max(initial=0.0)) / q, q
    return isinstance(engine.loss, Logistic) and max(largest) <= RANGE


def ascend(engine: Engine, rows: BlockRows, q: float) -> tuple[Floats, float]:
    """The weights and the intercept that some sweeps come to, without any weights before.

    The intercept is that of the engine at first. q: curvature of the penalty.
    """
    norms, cy, alpha = rows.norms, engine.c * engine.y, np.zeros(len(engine.z))
    w, b = np.zeros(len(engine.w)), engine.b
    lag = LAG * float(norms.sum()) / max(len(norms), 1) / q if engine.fit_intercept else 0.0
    for number in range(SWEEPS):
        for part in rows.each():
            features, here = rows.features(part), part.here
            known = norms[here], cy[here], (number, part.number)
            point = alpha[here], w[features], b
            alpha[here], w[features], b = rows.ask(part, swept_block, known, point, q, lag)
        b += lag * float(alpha.sum())
    return w, b


def swept_block(
    block: RowBlock,
    known: tuple[Floats, Floats, tuple[int, int]],
    point: tuple[Floats, Floats, float],
    q: float,
    lag: float,
) -> tuple[Floats, Floats, float]:
    """The dual variables, the weights and the intercept after a sweep over a block.

    known: of its documents the norms, and their weights times their targets; and a seed. point: the
    dual variables of its documents, the weights of its features, and the intercept.
    """
    (indptr, indices, data), (norms, cy, seed) = block.rows, known
    alpha, w, b = (np.array(part)[..., None] for part in point)
    values, targets = data.astype(np.float32), np.array(cy)[:, None]
    order = shuffled(seed, len(norms))
    dual_sweep(indptr, indices, values, order, norms, targets, q, lag, alpha, w, b)
    return alpha[:, 0], w[:, 0], float(b[0])
