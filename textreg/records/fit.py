"""What a regularizer is given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from textreg._core.arrays import Floats, Int64s
from textreg.errors import RecordError, UsageError, did_you_mean
from textreg.losses import Loss, find_loss
from textreg.records.convert import (
    as_array,
    as_finite,
    as_number,
    as_whole,
    check_squares,
    check_weights,
)
from textreg.records.design import Design
from textreg.records.solution import Step, Unsmoothed
from textreg.records.structure import Graph, Groups

if TYPE_CHECKING:
    from scipy.sparse import csc_array, csr_array


@dataclass(frozen=True, eq=False)
class Problem:
    """Everything a regularizer needs to find weights. Frozen, and checked when it is made.

    Training makes one for every split, and for every label against the rest. The loss is a sum over
    documents and never a mean, sum_i sample_weight_i l(y_i, z_i) at the scores z = X w + b.

    Parameters
    ----------
    X : sparse or dense matrix of shape (n, p), or Design
        Documents by features. Kept as float64 CSR with sorted rows and no entry twice; the caller's
        matrix stays as it is. A Design is shared, not checked again.
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
        design = self.X if isinstance(self.X, Design) else Design(self.X)
        n, p = design.shape
        y = as_finite("y", self.y)
        if y.shape != (n,):
            raise RecordError(f"X has {n} rows but y has the shape {y.shape}.")
        check_squares("y", y)
        loss = find_loss(self.loss)
        if loss.binary and not np.isin(y, (-1.0, 1.0)).all():
            raise RecordError(
                f"y must hold -1 and +1 only for the loss '{loss.label()}'; for any numbers take "
                "a loss such as 'squared'."
            )
        given = np.ones(n) if self.sample_weight is None else self.sample_weight
        c = as_array("sample_weight", given, np.float64)
        if c.shape != (n,):
            raise RecordError(f"sample_weight must be {n} finite numbers, 0 or more, not {len(c)}.")
        check_weights("sample_weight", c)
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
        values["validation"] = _checked_validation(self.validation, p)
        for name, value in values.items():
            object.__setattr__(self, name, value)
        self._check_options()
        self._check_start()

    def __getattr__(self, name: str) -> Any:
        if name != "X":
            raise AttributeError(f"a Problem has no attribute '{name}'.")
        object.__setattr__(self, name, self.design.X)  # by rows only where somebody asks
        return self.design.X

    def __repr__(self) -> str:
        n, p = self.design.shape
        structure = [part for part in (self.groups, self.graph) if part is not None]
        more = "".join(f"; {part!r}" for part in structure)
        return f"<Problem: {n:,} documents, {p:,} features, {self.loss.label()} loss{more}>"

    def _check_options(self) -> None:
        """Check the numbers that say how to fit, and keep them as plain Python numbers."""
        values = {"tol": as_number("tol", self.tol)}
        values |= {name: as_whole(name, getattr(self, name)) for name in ("max_iter", "threads")}
        if not 0 < values["tol"] < np.inf:
            raise UsageError(f"tol must be above 0 and finite, not {self.tol}.")
        for name in ("max_iter", "threads"):
            if values[name] < 1:
                raise UsageError(f"{name} must be at least 1, not {values[name]}.")
        if not isinstance(self.fit_intercept, (bool, np.bool_)):
            raise UsageError(
                f"fit_intercept must be True or False, not {self.fit_intercept!r:.60}."
            )
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _check_start(self) -> None:
        """Check the start, and keep it as an array and a float."""
        if self.start is None:
            return
        w, b = _pair("start", self.start, "weights and an intercept")
        w = as_finite("the weights of start", w)
        if w.shape != self.design.shape[1:]:
            p = self.design.shape[1]
            raise RecordError(f"start has {w.shape} weights, X has {p} features.")
        b = as_number("the intercept of start", b)
        if not isfinite(b):
            raise RecordError(f"the intercept of start is {b}, but must be finite: correct it.")
        object.__setattr__(self, "start", (w, b))

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
        sizes: Floats = np.sqrt(squares)
        return sizes

    def largest_gradient_at_zero(self) -> float:
        """max_j |d loss / d w_j| there: the smallest l1 strength that leaves no weight."""
        gradient = self.gradient_at_zero()
        return float(np.abs(gradient).max()) if len(gradient) else 0.0

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
        unsmoothed = objective + above
        distance = above + gap * objective
        return Unsmoothed(unsmoothed, distance / unsmoothed if unsmoothed > 0.0 else 0.0)

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
        for name, value in {**vars(self), **changes}.items():
            object.__setattr__(other, name, value)
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
    y = as_finite("the y of validation", y)
    check_squares("the y of validation", y)
    if design.shape != (y.size, p):
        raise RecordError(
            f"validation has X of the shape {design.shape} for y of the shape {y.shape}, and the "
            f"problem has {p} features."
        )
    return design, y


def checked_codes(codes: Any, n: int) -> Int64s:
    """The class of every document, all of them occurring; else a RecordError."""
    checked: Int64s = as_array("codes", codes, np.int64, (n,))
    if not n or checked.min() < 0 or len(np.unique(checked)) <= checked.max():
        raise RecordError(
            "codes must be the class of every document, from 0 to the number of classes - 1, and "
            "every class must occur: number them as numpy.unique(..., return_inverse=True) does."
        )
    return checked
