"""What a regularizer gives back."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, isinf, isnan
from typing import Any, NamedTuple

import numpy as np

from textreg._core.arrays import Floats
from textreg.errors import RecordError
from textreg.records.convert import as_array, as_number, as_whole
from textreg.records.report import SolverReport
from textreg.records.support import Support


class Step(NamedTuple):
    """What a solver reports to ``Problem.callback`` and keeps in ``Solution.history``.

    Attributes
    ----------
    iteration : int
        Iterations so far.
    objective : float
        Loss plus penalty.
    gap : float
        Relative duality gap; NaN if it is not known.
    """

    iteration: int
    objective: float
    gap: float


@dataclass(frozen=True)
class Unsmoothed:
    """What a solution is worth under the loss that its own loss smooths.

    Attributes
    ----------
    objective : float
        Objective at the solution, with the loss before it was smoothed.
    gap : float
        How far, at most, that lies above its minimum, relative to it; NaN where the solution has no
        gap. A smoothed loss is nowhere above the other, so a bound on its minimum is one on both.
    """

    objective: float
    gap: float


@dataclass(frozen=True, eq=False)
class Solution:
    """What a solver found: what ``Regularizer.solve`` returns.

    Only finite numbers can be claimed to be good: a solution with a gap, or that has converged, has
    finite weights, intercept and objective, and its gap is 0 or more.

    Attributes
    ----------
    w : array-like, shape (p,)
        Weights. Kept as float64.
    b : float
        Intercept.
    objective : float
        Loss plus penalty at (w, b).
    gap : float
        Relative duality gap: the objective is at most gap * objective above its minimum. NaN where
        no lower bound is known, also if infinity is given.
    residual : float
        Largest violation of the optimality conditions; NaN if the solver does not compute it.
    iterations : int
        Number of iterations.
    converged : bool
        Whether the solver reached its tolerance.
    history : tuple of Step
        One for every check.
    group_norms : ndarray, shape (groups,), or None
        Norm of the solver's copy of every *original* group; exactly 0 where it is not selected.
    alpha : ndarray, shape (n,), or None
        The dual variables of the documents that give the bound of the gap, where a solver has them:
        -sample_weight_i l'(y_i, z_i) at the optimum.
    group_room : ndarray, shape (groups,), or None
        The share of its squared strength that the dual variables of the gap leave of every group.
    report : SolverReport or None
        Further figures, in a class that the solver defines.
    unsmoothed : Unsmoothed or None
        Objective and gap under the loss that a smoothed one stands for; None for other losses, and
        for procedures without a gap.
    support : Support or None
        What is proven of the support of the optimum: see ``Regularizer.support``.

    Raises
    ------
    RecordError
        A field is no such number or array, the gap is negative beyond rounding, or it has a gap or
        has converged with numbers that are not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from textreg import Lasso, Problem
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    >>> problem = Problem(X, y=[1.0, -1.0, 1.0, -1.0])
    >>> solution = Lasso(l1=0.5).solve(problem)
    >>> solution.converged, bool(solution.gap <= problem.tol)
    (True, True)
    """

    w: Floats
    b: float
    objective: float
    gap: float = float("nan")
    residual: float = float("nan")
    iterations: int = 0
    converged: bool = False
    history: tuple[Step, ...] = ()
    group_norms: Floats | None = None
    alpha: Floats | None = None
    group_room: Floats | None = None
    report: SolverReport | None = None
    unsmoothed: Unsmoothed | None = None
    support: Support | None = None

    def __post_init__(self) -> None:
        w, b = as_array("w", self.w, np.float64), as_number("b", self.b)
        values = {"w": w, "b": b, "residual": as_number("residual", self.residual)}
        if self.group_norms is not None:
            values["group_norms"] = as_array("group_norms", self.group_norms, np.float64)
        if self.alpha is not None:
            values["alpha"] = as_array("alpha", self.alpha, np.float64)
        _keep(self, values, finite=bool(np.isfinite(w).all()) and isfinite(b))

    @property
    def nonzero(self) -> int:
        """Number of features with a weight."""
        return int(np.count_nonzero(self.w))

    def __repr__(self) -> str:
        return f"<Solution: {self.nonzero:,} of {len(self.w):,} features, {_end(self)}>"


@dataclass(frozen=True, eq=False)
class MultiSolution:
    """What a solver found that fits all classes together: what ``solve_softmax`` returns.

    Attributes
    ----------
    w : array-like, shape (classes, p)
        Weights. Kept as float64.
    b : array-like, shape (classes,)
        Intercepts, which sum to zero.
    reports : tuple
        The report of each class if every class was fitted on its own, else empty.
    supports : tuple
        In the same way, what is proven of the support of each optimum, or None.
    objective, gap, iterations, converged, history, unsmoothed
        As in :class:`Solution`.
    """

    w: Floats
    b: Floats
    objective: float
    gap: float = float("nan")
    iterations: int = 0
    converged: bool = False
    history: tuple[Step, ...] = ()
    reports: tuple[SolverReport | None, ...] = ()
    unsmoothed: Unsmoothed | None = None
    supports: tuple[Support | None, ...] = ()

    def __post_init__(self) -> None:
        w = as_array("w", self.w, np.float64, (None, None))
        b = as_array("b", self.b, np.float64, (len(w),))
        finite = all(bool(np.isfinite(row).all()) for row in (*w, b))
        _keep(self, {"w": w, "b": b}, finite=finite)

    def __repr__(self) -> str:
        classes, p = self.w.shape
        used = np.count_nonzero(self.w.any(axis=0))
        return f"<MultiSolution: {classes} classes, {used:,} of {p:,} features, {_end(self)}>"


ROUNDING = 1e-9
"""A gap that is negative by no more is rounding, and zero."""


def _keep(solution: Solution | MultiSolution, values: dict[str, Any], *, finite: bool) -> None:
    """Set the fields that both kinds of solution have, checked, and the given ``values``.

    finite: whether weights and intercepts are.
    """
    objective, gap = as_number("objective", solution.objective), as_number("gap", solution.gap)
    if gap < -ROUNDING:
        raise RecordError(
            f"the gap is {gap:.3g}, which says that the objective is below its own minimum. Give "
            "(objective - bound) / objective for a lower bound, or NaN where there is none."
        )
    gap = float("nan") if isinf(gap) else max(gap, 0.0)
    if not isinstance(solution.converged, (bool, np.bool_)):
        raise RecordError(f"converged must be True or False, not {solution.converged!r:.60}.")
    claim = "converged" if solution.converged else "" if isnan(gap) else f"a gap of {gap:.3g}"
    if claim and not (finite and isfinite(objective)):
        what = f"the objective {objective}" if finite else "weights that are not finite"
        raise RecordError(
            f"a solution with {what} cannot be stated with {claim}: give converged=False and a gap "
            "of NaN, or find out where the numbers overflowed."
        )
    values |= {"objective": objective, "gap": gap, "converged": bool(solution.converged)}
    values |= {"iterations": as_whole("iterations", solution.iterations)}
    values |= {"history": tuple(solution.history)}
    for name, value in values.items():
        object.__setattr__(solution, name, value)


def _end(solution: Solution | MultiSolution) -> str:
    """How a solver ended, in words."""
    gap = "" if np.isnan(solution.gap) else f"gap {solution.gap:.1g}, "
    how = "converged" if solution.converged else "not converged"
    after = f"after {solution.iterations:,} iterations"
    return f"objective {solution.objective:.6g}, {gap}{how} {after}"
