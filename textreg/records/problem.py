"""Problems that regularizers solve, and the solutions and reports that they return."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import isfinite, isinf, isnan, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from textreg._core.arrays import Floats, Int64s
from textreg.errors import RecordError, UsageError, did_you_mean
from textreg.losses import Loss, find_loss
from textreg.records import arrays
from textreg.records.design import Design, as_design
from textreg.records.structure import Graph, Groups

if TYPE_CHECKING:
    from scipy.sparse import csc_array, csr_array


@dataclass(frozen=True, eq=False)
class SolverReport:
    """Figures of one fit beside its weights; the base of what a solver puts in ``Solution.report``.

    A solver that has figures of its own declares them as the fields of a frozen subclass. This base
    has none.
    """


@dataclass(frozen=True, eq=False)
class PartsReport(SolverReport):
    """The groups that have a part, where weights are a sum of parts within groups.

    Attributes
    ----------
    groups : tuple of int
        Their indices in ``Problem.groups``, ascending.
    """

    groups: tuple[int, ...] = ()


class SelectionStep(NamedTuple):
    """One step of a greedy selection.

    Attributes
    ----------
    group : int
        Index of the group that was selected, in ``Problem.groups``; -1 for a single feature.
    active : int
        Number of selected features after the step.
    """

    group: int
    active: int


@dataclass(frozen=True, eq=False)
class SelectionReport(SolverReport):
    """The order in which a greedy solver selected its features; a model keeps it in its summary.

    Attributes
    ----------
    order : tuple of int
        Indices of the selected features, first selected first.
    steps : tuple of SelectionStep
        The steps that selected them. Step k selected
        ``order[steps[k - 1].active:steps[k].active]``. Empty where the solver does not say.
    """

    order: tuple[int, ...] = ()
    steps: tuple[SelectionStep, ...] = ()


# Surely zero at the optimum, not known, and surely not zero.
ZERO, UNDECIDED, NONZERO = -1, 0, 1


@dataclass(frozen=True, eq=False)
class Support:
    """Which features and groups surely have no weight at the optimum, and which surely have one.

    Attributes
    ----------
    features : ndarray of int8, shape (p,)
        ZERO, UNDECIDED or NONZERO for every feature.
    groups : ndarray of int8, shape (groups,), or None
        The same of the groups, where the regularizer has some.
    """

    features: NDArray[np.int8]
    groups: NDArray[np.int8] | None = None


def states(zero: NDArray[np.bool_], nonzero: NDArray[np.bool_]) -> NDArray[np.int8]:
    """The states of what is surely zero, and of what is surely not."""
    state = np.where(nonzero, NONZERO, UNDECIDED)
    return np.where(zero, ZERO, state).astype(np.int8)


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
    >>> from textreg import Lasso
    >>> from textreg.records import Problem
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
        w, b = arrays.as_array("w", self.w, np.float64), arrays.as_number("b", self.b)
        values = {"w": w, "b": b, "residual": arrays.as_number("residual", self.residual)}
        for name in ("group_norms", "alpha"):
            if (array := getattr(self, name)) is not None:
                values[name] = arrays.as_array(name, array, np.float64)
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
    w : array-like or csr_array, shape (classes, p)
        Weights. Kept as float64; sparse ones of training alone, which knows what they are.
    b : array-like, shape (classes,)
        Intercepts, which sum to zero.
    reports : tuple
        The report of each class if every class was fitted on its own, else empty.
    supports : tuple
        In the same way, what is proven of the support of each optimum, or None.
    group_norms : ndarray, shape (groups,), or None
        As in :class:`Solution`, of every group the largest over the classes.
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
    group_norms: Floats | None = None

    def __post_init__(self) -> None:
        w: Any = self.w
        sparse = hasattr(w, "indptr")
        if not sparse:
            w = arrays.as_array("w", w, np.float64, (None, None))
        b = arrays.as_array("b", self.b, np.float64, w.shape[:1])
        rows = (w.data, b) if sparse else (*w, b)
        finite = all(bool(np.isfinite(row).all()) for row in rows)
        _keep(self, {"w": w, "b": b}, finite=finite)

    def __repr__(self) -> str:
        classes, p = self.w.shape
        used = len(arrays.used_columns(self.w))
        return f"<MultiSolution: {classes} classes, {used:,} of {p:,} features, {_end(self)}>"


# A gap that is negative by no more is rounding, and zero.
ROUNDING = 1e-9


def _keep(solution: Solution | MultiSolution, values: dict[str, Any], *, finite: bool) -> None:
    """Set the fields that both kinds of solution have, checked, and the given ``values``.

    finite: whether weights and intercepts are.
    """
    objective, gap = (
        arrays.as_number("objective", solution.objective),
        arrays.as_number("gap", solution.gap),
    )
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
    iterations = arrays.as_whole("iterations", solution.iterations)
    vars(solution).update(values, iterations=iterations, history=tuple(solution.history))


def _end(solution: Solution | MultiSolution) -> str:
    """How a solver ended, in words."""
    gap = "" if np.isnan(solution.gap) else f"gap {solution.gap:.1g}, "
    how = "converged" if solution.converged else "not converged"
    after = f"after {solution.iterations:,} iterations"
    return f"objective {solution.objective:.6g}, {gap}{how} {after}"


@dataclass(frozen=True, eq=False)
class Problem:
    """Everything a regularizer needs to find weights. Frozen, and checked when it is made.

    Training makes one for every split, and for every label against the rest. The loss is a sum over
    documents and never a mean, sum_i sample_weight_i l(y_i, z_i) at the scores z = X w + b.

    Parameters
    ----------
    X : sparse or dense matrix of shape (n, p), or Design
        Documents by features. Kept as float64 CSR with sorted rows and no entry twice; the caller's
        matrix stays as it is. Indices are copied, values may be shared: do not change those. A
        Design is shared, not checked again.
    y : array-like, shape (n,)
        Labels of -1 and +1, or any numbers if the loss is for numbers. Kept as float64.
    sample_weight : array-like of shape (n,), default ones
        Weights of the documents, 0 or more. A weight of 2 is the same as a document twice. Kept as
        float64.
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
    start : tuple of array-like and float, optional
        Finite weights (p,) and intercept to begin from. Solvers begin at zero instead where that is
        much better.
    validation : tuple, optional
        Matrix and labels of held-out documents, for procedures that stop early. The matrix is kept
        as a Design.
    codes : array-like of whole numbers, shape (n,), optional
        The class of every document, from 0, where all classes are to be fitted together. ``y`` is
        then that class against the rest which needs the largest strength to have no weight. It is
        for scales of strengths; ``solve_softmax`` is told by itself.
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
        Shapes or types do not match, numbers are not finite, X has an index or offset out of range,
        or weights, or the squares of X or y, are too large to be summed (above 1e60).
    UsageError
        ``tol`` is not above 0, ``max_iter`` is below 1, or there is no loss of that name.

    Examples
    --------
    >>> import numpy as np
    >>> from textreg import Lasso
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    >>> problem = Problem(X, y=[1.0, -1.0, 1.0, -1.0], sample_weight=[1.0, 2.0, 1.0, 1.0])
    >>> Lasso(l1=0.5).solve(problem).nonzero
    2
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
    codes: Int64s | None = None
    callback: Callable[[Step], bool | None] | None = None
    design: Design = field(init=False, repr=False)

    def __post_init__(self) -> None:
        design = self.X if isinstance(self.X, Design) else as_design(self.X)
        n, p = design.shape
        y = arrays.as_finite("y", self.y)
        if y.shape != (n,):
            raise RecordError(f"X has {n} rows but y has the shape {y.shape}.")
        arrays.check_squares("y", y)
        loss = find_loss(self.loss)
        if loss.binary and not np.isin(y, (-1.0, 1.0)).all():
            raise RecordError(
                f"y must hold -1 and +1 only for the loss '{loss.label()}'; for any numbers take "
                "a loss such as 'squared'."
            )
        weights = np.ones(n) if self.sample_weight is None else self.sample_weight
        c = arrays.as_array("sample_weight", weights, np.float64)
        if c.shape != (n,):
            raise RecordError(f"sample_weight must be {n} finite numbers, 0 or more, not {len(c)}.")
        arrays.check_weights("sample_weight", c)
        for name, kind in (("groups", Groups), ("graph", Graph)):
            part = getattr(self, name)
            if part is not None and not isinstance(part, kind):
                raise RecordError(f"{name} must be a {kind.__name__} record, not {part!r:.60}.")
            if part is not None and part.n_features != p:
                raise RecordError(
                    f"X has {p} features, but the {name} {'are' if name == 'groups' else 'is'} "
                    f"over {part.n_features}."
                )
        values = {"design": design, "y": y, "sample_weight": c, "loss": loss}
        if design.has_rows:
            values["X"] = design.X
        else:
            object.__delattr__(self, "X")
        if self.codes is not None:
            values["codes"] = checked_codes(self.codes, n)
        vars(self).update(values, validation=_checked_validation(self.validation, p))
        self._check_options()
        self._check_start()

    def __getattr__(self, name: str) -> Any:
        if name != "X":
            raise AttributeError(f"a Problem has no attribute '{name}'.")
        object.__setattr__(self, name, self.design.X)  # by rows only where somebody asks
        return self.design.X

    def stops(self, step: Step) -> bool:
        """Whether the callback, told of a step, wants no more.

        Parameters
        ----------
        step : Step
            Of the solver.

        Returns
        -------
        bool
        """
        return bool(self.callback and self.callback(step))

    def __repr__(self) -> str:
        n, p = self.design.shape
        structure = [part for part in (self.groups, self.graph) if part is not None]
        more = "".join(f"; {part!r}" for part in structure)
        return f"<Problem: {n:,} documents, {p:,} features, {self.loss.label()} loss{more}>"

    def _check_options(self) -> None:
        """Check the numbers that say how to fit, and keep them as plain Python numbers."""
        tol = arrays.as_number("tol", self.tol)
        if not 0 < tol < np.inf:
            raise UsageError(f"tol must be above 0 and finite, not {self.tol}.")
        counts = {it: arrays.as_whole(it, getattr(self, it)) for it in ("max_iter", "threads")}
        for name, count in counts.items():
            if count < 1:
                raise UsageError(f"{name} must be at least 1, not {count}.")
        if not isinstance(self.fit_intercept, (bool, np.bool_)):
            raise UsageError(
                f"fit_intercept must be True or False, not {self.fit_intercept!r:.60}."
            )
        vars(self).update(counts, tol=tol)

    def _check_start(self) -> None:
        """Check the start, and keep it as an array and a float."""
        if self.start is None:
            return
        w, b = _pair("start", self.start, "weights and an intercept")
        w = arrays.as_finite("the weights of start", w)
        if w.shape != self.design.shape[1:]:
            p = self.design.shape[1]
            raise RecordError(f"start has {w.shape} weights, X has {p} features.")
        b = arrays.as_number("the intercept of start", b)
        if not isfinite(b):
            raise RecordError(f"the intercept of start is {b}, but must be finite: correct it.")
        vars(self)["start"] = w, b

    @property
    def X_csc(self) -> csc_array:
        """X by columns, made once and shared by all problems with this matrix."""
        return self.design.X_csc

    def intercept_at_zero(self) -> float:
        """The best intercept when every weight is zero."""
        return self.loss.constant(self.y, self.sample_weight) if self.fit_intercept else 0.0

    def slopes_at_zero(self) -> Floats:
        """(n,) Derivatives of the loss in the scores, at w = 0 and the best intercept."""
        z = np.full(len(self.y), self.intercept_at_zero())
        r, h = np.empty_like(z), np.empty_like(z)
        self.loss.derivatives(z, self.y, self.sample_weight, r, h)
        return r

    def gradient_at_zero(self) -> Floats:
        """d loss / d w at w = 0 and the best intercept, (p,)."""
        return self.design.transposed_product(self.slopes_at_zero())

    def gradient_sizes_at_zero(self) -> Floats:
        """(p,) |d loss / d w_j| there; with ``codes`` the norms over the classes under softmax."""
        if self.codes is None:
            return np.abs(self.gradient_at_zero())
        c, codes = self.sample_weight, self.codes
        totals = np.bincount(codes, weights=c)
        shares = totals / c.sum() if self.fit_intercept else np.full(len(totals), 1 / len(totals))
        squares = np.zeros(self.design.shape[1])
        for k, share in enumerate(shares):
            squares += self.design.transposed_product(c * (share - (codes == k))) ** 2
        return np.asarray(np.sqrt(squares))

    def largest_gradient_at_zero(self) -> float:
        """max_j |d loss / d w_j| there: the smallest l1 strength that leaves no weight."""
        return float(np.abs(self.gradient_at_zero()).max(initial=0.0))

    def spread(self) -> float:
        """The root mean square of what the best intercept leaves of numbers; 1 for labels."""
        if not self.has_numbers():
            return 1.0
        off, c = self.y - self.intercept_at_zero(), self.sample_weight
        squares = float(c @ off**2)
        return sqrt(squares / c.sum()) if squares > 0.0 else 1.0

    def has_numbers(self) -> bool:
        """Whether ``y`` are numbers, not labels -1 and 1."""
        return bool((np.abs(self.y) != 1.0).any())

    def over(self, X: Any, start: tuple[Any, float] | None, **changes: Any) -> Problem:
        """The same over other columns, without what belongs to those of this problem.

        Parameters
        ----------
        X, start, **changes
            Fields and their new values.

        Returns
        -------
        Problem
        """
        return self.replace(X=X, start=start, groups=None, graph=None, validation=None, **changes)

    def unsmoothed(self, w: Floats, b: float, objective: float, gap: float) -> Unsmoothed | None:
        """The same fit under the loss that this one smooths.

        Parameters
        ----------
        w, b, objective, gap
            As the fields of :class:`Solution`.

        Returns
        -------
        Unsmoothed or None
            None if the loss smooths no other.
        """
        if not self.loss.smoothed:
            return None
        z = self.design.product(w) + b
        above = self.loss.unsmoothed_value(z, self.y, self.sample_weight)
        above -= self.loss.value(z, self.y, self.sample_weight)
        whole = objective + above
        return Unsmoothed(whole, (above + gap * objective) / whole if whole > 0.0 else 0.0)

    def replace(self, **changes: Any) -> Problem:
        """A copy with some fields changed; it shares the Design unless X is changed.

        Parameters
        ----------
        **changes
            Fields and their new values.

        Returns
        -------
        Problem

        Raises
        ------
        TypeError
            If there is no such field.
        """
        for name in changes:
            if name not in {*vars(self), "X"}:
                raise TypeError(f"a Problem has no field '{name}'.{did_you_mean(name, vars(self))}")
        other = object.__new__(Problem)
        vars(other).update({**vars(self), **changes})
        if changes.keys() - {"fit_intercept", "threads", "start", "callback"}:
            if "X" not in changes:
                object.__setattr__(other, "X", self.design)  # checked already
            other.__post_init__()
        elif "start" in changes:
            other._check_start()
        return other


def _pair(name: str, value: Any, what: str) -> tuple[Any, Any]:
    """Both items of a pair."""
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise RecordError(f"{name} must be a pair, {what}, not {value!r:.60}.")
    return value[0], value[1]


def _checked_validation(validation: Any, p: int) -> tuple[Design, Floats] | None:
    """The validation pair, as arrays that fit the ``p`` features and each other."""
    if validation is None:
        return None
    X, y = _pair("validation", validation, "a matrix and labels")
    design = X if isinstance(X, Design) else Design(X, "the X of validation")
    y = arrays.as_finite("the y of validation", y)
    arrays.check_squares("the y of validation", y)
    if design.shape != (y.size, p):
        raise RecordError(
            f"validation has X of the shape {design.shape} for y of the shape {y.shape}, and the "
            f"problem has {p} features."
        )
    return design, y


def checked_codes(codes: Any, n: int) -> Int64s:
    """The class of every document, all of them occurring; else a RecordError."""
    checked: Int64s = arrays.frozen(arrays.as_array("codes", codes, np.int64, (n,)))
    if not n or checked.min() < 0 or len(np.unique(checked)) <= checked.max():
        raise RecordError(
            "codes must be the class of every document, from 0 to the number of classes - 1, and "
            "every class must occur: number them as numpy.unique(..., return_inverse=True) does."
        )
    return checked
