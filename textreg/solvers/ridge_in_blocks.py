"""Newton's method for a ridge over documents that lie in blocks, of few passes.

Some sweeps of dual coordinate ascent tell where to begin (:mod:`.block_ascent`). The steps are
those of :mod:`.ridge`, and differ in what is read. One pass at the scores at hand tells the
gradient and the diagonal of the Hessian, and takes the documents of the preconditioner
(:mod:`.sampled_rows`). A product with the Hessian is another one. Scores follow from the products,
but for those of the last point.
"""

from __future__ import annotations

import numpy as np

from textreg.penalties import Separable
from textreg.records import Floats, Problem, Solution, Step
from textreg.records.design import BlockDesign
from textreg.solvers import block_ascent
from textreg.solvers.block_rows import BlockRows, Reading
from textreg.solvers.certificate import relative_gap, ridge_bound
from textreg.solvers.conjugate import Direction, conjugate_gradients
from textreg.solvers.engine import IDLE, NOISE, Engine
from textreg.solvers.line_search import Advance
from textreg.solvers.outcome import checks_overflow
from textreg.solvers.ridge import FAR, share_for, solution_of, use_crossing_curvature
from textreg.solvers.ridge_step import NEGLIGIBLE, ROUNDS, Accuracy, advance
from textreg.solvers.sampled_rows import SampledRows
from textreg.solvers.smooth_step import smooth_step

FALL = 0.1
"""What a step is expected to leave of the gap."""

CLOSE = 0.7
"""Share of the tolerated gap that a step need not go below: larger here, as passes are dear."""


@checks_overflow
def ridge_in_blocks(problem: Problem, l2: float, squares: Floats, norms: Floats) -> Solution:
    """Minimize loss + l2 ||w||^2, for l2 above 0.

    Parameters
    ----------
    problem : Problem
        What to fit; its matrix is a :class:`BlockDesign`. ``tol`` is the relative duality gap to
        stop at, ``max_iter`` the most steps.
    l2 : float
        The strength.
    squares, norms : ndarray, shape (p,) and (n,)
        The sum of the squared values of every column, and of every row.

    Returns
    -------
    Solution

    References
    ----------
    yu2010, for the beginning.
    """
    penalty = Separable.constant(problem.design.shape[1], l2=l2)
    engine = Engine(problem, penalty.value)
    assert isinstance(problem.design, BlockDesign)
    rows, bound = BlockRows(problem.design, norms), -np.inf
    if problem.start is None:
        engine.restart(engine.w, problem.intercept_at_zero())
        if block_ascent.suits(engine, rows, 2.0 * l2):
            bound = block_ascent.ascend(engine, rows, 2.0 * l2, problem)
    history: list[Step] = []
    gap, iteration, idle = np.inf, 0, 0
    while True:
        engine.optimize_intercept()
        expected = FALL * gap
        if expected > FAR:
            use_crossing_curvature(engine)
        reading = rows.read(engine, NEGLIGIBLE * share_for(expected))
        # This holds for any dual variables, and so for those of scores that are rounded.
        bound = max(bound, ridge_bound(engine, penalty.q, reading.gradient))
        objective = engine.value + penalty.value(engine.w)
        gap = relative_gap(objective, bound)
        last = gap <= problem.tol or iteration >= problem.max_iter or idle > IDLE
        if last:
            engine.restart(engine.w, engine.b)
            objective = engine.value + penalty.value(engine.w)
            gap = relative_gap(objective, bound)
        history.append(Step(iteration, objective, gap))
        stopped = bool(problem.callback and problem.callback(history[-1]))
        if last or stopped:
            break
        iteration += 1
        enough = Accuracy(share_for(gap), problem.tol * objective)
        fall = _ridge_step(engine, rows, penalty.q, reading, enough)
        idle = idle + 1 if fall <= NOISE * objective else 0
    slope = reading.gradient + penalty.q * engine.w
    return solution_of(problem, engine, slope, squares, history, stopped)


def _ridge_step(
    engine: Engine, rows: BlockRows, q: Floats, reading: Reading, accuracy: Accuracy
) -> float:
    """One Newton step from where the ``reading`` was made; as :func:`.ridge.ridge_step`."""
    z, h = engine.z, engine.h

    def step() -> Advance:
        here = reading
        if engine.z is not z or engine.h is not h:
            here = rows.read(engine, NEGLIGIBLE * accuracy.share)
        return _step(engine, rows, q, here, accuracy)

    return smooth_step(engine, step)


def _step(
    engine: Engine, rows: BlockRows, q: Floats, reading: Reading, accuracy: Accuracy
) -> Advance:
    """The step for the second derivatives of a reading."""
    slope = reading.gradient + q * engine.w
    slope_b = float(engine.r.sum()) if engine.fit_intercept else 0.0
    model = _Model(engine, rows, q, reading)

    def gap(rest: Floats) -> float:
        """That of a fit whose objective has this gradient."""
        return 0.5 * float((rest / q) @ rest)

    # A gap that is small from the start is due to the intercept: then move at all.
    tolerated = min(CLOSE * accuracy.gap, 0.5 * gap(slope))

    def enough(rest: Floats, rest_b: float) -> bool:
        return gap(rest) <= tolerated and gap(model.without_intercept(rest, rest_b)) <= tolerated

    change, change_b, move = conjugate_gradients(
        model,
        (-slope, -slope_b),
        Direction(np.zeros(len(q)), 0.0, np.zeros(len(engine.z))),
        rounds=ROUNDS,
        accuracy=accuracy.share,
        enough=enough,
    )
    rows.scores(reading.flat, change, change_b, move)
    return advance(engine, q, (slope, slope_b), Direction(change, change_b, move))


class _Model:
    """The Hessian of loss and ridge at the scores of a reading, and its preconditioner.

    Of documents that hold next to no curvature it has the diagonal alone.
    """

    def __init__(self, engine: Engine, rows: BlockRows, q: Floats, reading: Reading) -> None:
        self._rows, self._h, self._reading = rows, engine.h, reading
        self._fit_intercept, self._h_sum = engine.fit_intercept, float(engine.h.sum())
        self._flat_b, self._q = float(engine.h[reading.flat].sum()), q + reading.flat_diagonal
        self._inverse = SampledRows(
            reading.diagonal, self._h_sum if engine.fit_intercept else 0.0, q, reading.sample
        )

    def product(self, w: Floats, b: float) -> tuple[Floats, float, Floats]:
        """The Hessian times (w, b), and the scores, 0 where documents are flat."""
        out, scores = self._q * w, np.zeros(len(self._h))
        total = self._rows.product(self._reading.documents, self._h, w, b, scores, out)
        return out, total + self._flat_b * b if self._fit_intercept else 0.0, scores

    def without_intercept(self, rest: Floats, rest_b: float) -> Floats:
        """What a residual of the weights becomes when the intercept takes its own to zero."""
        return rest - (rest_b / self._h_sum) * self._reading.sums if rest_b else rest

    def precondition(self, w: Floats, b: float) -> tuple[Floats, float]:
        """Times the inverse of the preconditioner."""
        return self._inverse.times(w, b)
