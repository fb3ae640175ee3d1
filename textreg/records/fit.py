"""What a regularizer is given, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from textreg._core.arrays import Floats
from textreg.errors import RecordError, UsageError, did_you_mean
from textreg.losses import Loss, find_loss
from textreg.records.design import Design
from textreg.records.report import SolverReport
from textreg.records.structure import Graph, Groups

if TYPE_CHECKING:
    from scipy.sparse import csc_array, csr_array


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
class Problem:
    """Everything a regularizer needs to find weights. Frozen, and checked when it is made.

    Parameters
    ----------
    X : sparse or dense matrix of shape (n, p), or Design
        Documents by features. Kept as float64 CSR with sorted rows and no entry twice; the caller's
        matrix stays as it is. A Design is shared, not checked again.
    y : ndarray, shape (n,)
        Labels of -1 and +1, or any numbers if the loss is for numbers.
    sample_weight : ndarray of shape (n,), default ones
        Weights of the documents, 0 or more. A weight of 2 is the same as a document twice.
    loss : Loss or str, default "logistic"
        A loss, or the name of one of textreg's own; kept as a Loss.
    groups : Groups, optional
        Sets of features.
    graph : Graph, optional
        Links between features.
    fit_intercept : bool, default True
        Whether the model has an intercept, which is never penalized.
    tol : float, default 1e-4
        Relative duality gap at which to stop.
    max_iter : int, default 1000
        Most iterations; what one is depends on the solver.
    threads : int, default 1
        Threads that a solver may use.
    start : tuple of ndarray and float, optional
        Weights (p,) and intercept to begin from.
    validation : tuple, optional
        Matrix and labels of held-out documents, for procedures that stop early. The matrix is kept
        as a Design.
    callback : callable, optional
        Called with a :class:`Step` after every check. If it returns True, the solver stops and
        returns its best solution so far.

    Attributes
    ----------
    design : Design
        X with its products and everything derived from it; :meth:`replace` shares it.

    Raises
    ------
    RecordError
        Shapes do not match, numbers are not finite, or X has an index or offset out of range.
    UsageError
        ``tol`` is not above 0, ``max_iter`` is below 1, or there is no loss of that name.
    """

    X: csr_array
    y: Floats
    sample_weight: Floats = None  # type: ignore[assignment]  # ones, once it is made
    loss: Loss = "logistic"  # type: ignore[assignment]  # the object, once it is made
    groups: Groups | None = None
    graph: Graph | None = None
    fit_intercept: bool = True
    tol: float = 1e-4
    max_iter: int = 1000
    threads: int = 1
    start: tuple[Floats, float] | None = None
    validation: tuple[Any, Floats] | None = None
    callback: Callable[[Step], bool | None] | None = None
    design: Design = field(init=False, repr=False)

    def __post_init__(self) -> None:
        design = self.X if isinstance(self.X, Design) else Design(self.X)
        n, p = design.shape
        y = np.ascontiguousarray(self.y, dtype=np.float64)
        if y.shape != (n,):
            raise RecordError(f"X has {n} rows but y has the shape {y.shape}.")
        if not np.isfinite(y).all():
            raise RecordError("y must hold finite numbers only.")
        loss = find_loss(self.loss)
        if loss.binary and not np.isin(y, (-1.0, 1.0)).all():
            raise RecordError(
                f"y must hold -1 and +1 only for the loss '{loss.label()}'; for any numbers take "
                "a loss such as 'squared'."
            )
        given = self.sample_weight
        c = np.ones(n) if given is None else np.array(given, dtype=np.float64)
        if c.shape != (n,) or not np.isfinite(c).all() or (c < 0).any():
            raise RecordError(f"sample_weight must be {n} finite numbers, 0 or more.")
        if not self.tol > 0:
            raise UsageError(f"tol must be above 0, not {self.tol}.")
        if self.max_iter < 1:
            raise UsageError(f"max_iter must be at least 1, not {self.max_iter}.")
        if self.groups is not None and self.groups.n_features != p:
            raise RecordError(
                f"X has {p} features, but the groups are over {self.groups.n_features}."
            )
        if self.graph is not None and self.graph.n_features != p:
            raise RecordError(f"X has {p} features, but the graph is over {self.graph.n_features}.")
        validation = self.validation and _checked_validation(*self.validation, p)
        values = {"X": design.X, "design": design, "y": y, "sample_weight": c, "loss": loss}
        values["validation"] = validation
        for name, value in values.items():
            object.__setattr__(self, name, value)
        self._check_start()

    def __repr__(self) -> str:
        n, p = self.X.shape
        structure = [part for part in (self.groups, self.graph) if part is not None]
        more = "".join(f"; {part!r}" for part in structure)
        return f"<Problem: {n:,} documents, {p:,} features, {self.loss.label()} loss{more}>"

    def _check_start(self) -> None:
        if self.start is not None and np.shape(self.start[0]) != self.X.shape[1:]:
            raise RecordError(
                f"start has {np.shape(self.start[0])} weights, X has {self.X.shape[1]} features."
            )

    @property
    def X_csc(self) -> csc_array:
        """X by columns, made once and shared by all problems with this matrix."""
        return self.design.X_csc

    def intercept_at_zero(self) -> float:
        """The best intercept when every weight is zero."""
        return self.loss.constant(self.y, self.sample_weight) if self.fit_intercept else 0.0

    def gradient_at_zero(self) -> Floats:
        """d loss / d w at w = 0 and the best intercept, (p,)."""
        n = len(self.y)
        r, h = np.empty(n), np.empty(n)
        z = np.full(n, self.intercept_at_zero())
        self.loss.derivatives(z, self.y, self.sample_weight, r, h)
        return self.design.transposed_product(r)

    def largest_gradient_at_zero(self) -> float:
        """max_j |d loss / d w_j| there: the smallest l1 strength that leaves no weight."""
        gradient = self.gradient_at_zero()
        return float(np.abs(gradient).max()) if len(gradient) else 0.0

    def unsmoothed(self, w: Floats, b: float, objective: float, gap: float) -> Unsmoothed | None:
        """The same fit under the loss that this one smooths; None where it smooths none.

        w (p,), b, objective, gap: as a :class:`Solution` has them.
        """
        if not self.loss.smoothed:
            return None
        z = self.design.product(w) + b
        above = self.loss.unsmoothed_value(z, self.y, self.sample_weight)
        above -= self.loss.value(z, self.y, self.sample_weight)
        unsmoothed = objective + above
        distance = above + gap * objective
        return Unsmoothed(unsmoothed, distance / unsmoothed if unsmoothed > 0.0 else 0.0)

    def replace(self, **changes: Any) -> Problem:
        """A copy with some fields changed; it shares the Design unless X is changed."""
        for name in changes:
            if name not in vars(self):
                raise TypeError(f"a Problem has no field '{name}'.{did_you_mean(name, vars(self))}")
        other = object.__new__(Problem)
        for name, value in {**vars(self), **changes}.items():
            object.__setattr__(other, name, value)
        if changes.keys() - {"fit_intercept", "threads", "start", "callback"}:
            if "X" not in changes:
                object.__setattr__(other, "X", self.design)  # checked already
            other.__post_init__()
        elif "start" in changes:
            other._check_start()
        return other


def _checked_validation(X: Any, y: Any, p: int) -> tuple[Design, Floats]:
    """The validation pair, as arrays that fit the ``p`` features and each other."""
    design = X if isinstance(X, Design) else Design(X, "the X of validation")
    y = np.ascontiguousarray(y, dtype=np.float64)
    if y.ndim != 1 or design.shape != (y.size, p):
        raise RecordError(
            f"validation has X of the shape {design.shape} for y of the shape {y.shape}, and the "
            f"problem has {p} features."
        )
    if not np.isfinite(y).all():
        raise RecordError("validation must hold finite numbers only.")
    return design, y


@dataclass(frozen=True, eq=False)
class Solution:
    """What a solver found.

    Attributes
    ----------
    w : ndarray, shape (p,)
        Weights.
    b : float
        Intercept.
    objective : float
        Loss plus penalty at (w, b).
    gap : float
        Relative duality gap: the objective is at most gap * objective above its minimum. NaN for
        procedures without a lower bound.
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
    report : SolverReport or None
        Further figures, in a class that the solver defines.
    unsmoothed : Unsmoothed or None
        Objective and gap under the loss that a smoothed one stands for; None for other losses, and
        for procedures without a gap.
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
    report: SolverReport | None = None
    unsmoothed: Unsmoothed | None = None

    @property
    def nonzero(self) -> int:
        """Number of features with a weight."""
        return int(np.count_nonzero(self.w))

    def __repr__(self) -> str:
        return f"<Solution: {self.nonzero:,} of {len(self.w):,} features, {_end(self)}>"


@dataclass(frozen=True, eq=False)
class MultiSolution:
    """What a solver found that fits all classes together.

    Attributes
    ----------
    w : ndarray, shape (classes, p)
        Weights.
    b : ndarray, shape (classes,)
        Intercepts, which sum to zero.
    reports : tuple
        The report of each class if every class was fitted on its own, else empty.
    objective, gap, iterations, converged, history
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

    def __repr__(self) -> str:
        classes, p = self.w.shape
        used = np.count_nonzero(self.w.any(axis=0))
        return f"<MultiSolution: {classes} classes, {used:,} of {p:,} features, {_end(self)}>"


def _end(solution: Solution | MultiSolution) -> str:
    """How a solver ended, in words."""
    gap = "" if np.isnan(solution.gap) else f"gap {solution.gap:.1g}, "
    how = "converged" if solution.converged else "not converged"
    after = f"after {solution.iterations:,} iterations"
    return f"objective {solution.objective:.6g}, {gap}{how} {after}"
