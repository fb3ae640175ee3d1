"""Overlapping groups by reweighted quadratics, over the features that matter.

The rounds are those of :mod:`.reweighting`. Where there is an l1 penalty most features of text have
no weight: l1 alone keeps it at zero. So rounds run over a working set of the other features, and
over what these leave of the groups (docs/maths.md, W1). The certificate is that of all features:
one product with the whole matrix shows which ones were left out wrongly.

Or dual coordinate ascent, of several labels, and under an l1 penalty. Without l1 there may be
several labels side by side. With touching points s fixed a group is a ridge of its features
(docs/maths.md, M2). A sweep of dual coordinate ascent comes as near to the optimum under it as s is
to the norms, so s moves after every sweep (M5); and a row of X that is read for one label is there
for sixteen. That holds where the penalty's own ridge is weak, too: the groups' is stronger. The
certificate is that of :mod:`.reweighting`, whose rounds by Newton steps take over where sweeps are
slow.

Under an l1 penalty, too, with touching points s fixed a group is a ridge of its features, and s
moves after every sweep. Features whose product with the dual variables is below l1 have no weight
(docs/maths.md, M7). A certificate takes as long as a dozen sweeps; so it is asked for when the dual
value of the documents alone has come near to the objective, which is known at once. Rounds of
:mod:`.reweighting` go on where sweeps are slow.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from textreg._core.dual import dual_sweep_by_feature
from textreg.losses import Logistic
from textreg.penalties import GroupNorms, Separable, soft
from textreg.records import Floats, Int32s, Problem, Solution, Step
from textreg.solvers.certificate import (
    Bound,
    EngineDual,
    balance,
    dual_value,
    group_bound,
    relative_gap,
    value_of,
)
from textreg.solvers.dual_ascent import HANDOVER, shuffled, single, sweeps_left, width
from textreg.solvers.reduce import WorkingSet, compact_rows, first_working_set
from textreg.solvers.reweighting import (
    FIRST_CHECK,
    LATER_CHECK,
    S_LEAST,
    S_START,
    UNIT,
    Reweighted,
    VectorFit,
    continued,
    grown,
    reweight,
    rounded,
    touching_points,
)
from textreg.solvers.state import (
    Engine,
    Scales,
    approach_groups,
    checks_overflow,
    finish,
    scales_of,
    watching,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray


# Most working sets; the next one holds all features.
SETS = 12


@checks_overflow
def majorize(problem: Problem, penalty: GroupNorms) -> Solution:
    """Minimize loss + penalty over overlapping groups by majorization-minimization.

    Parameters
    ----------
    problem : Problem
        What to fit; ``tol`` is the relative duality gap to stop at, ``max_iter`` the most rounds.
    penalty : GroupNorms
        The sparse overlapping group lasso.

    Returns
    -------
    Solution
        ``group_norms`` are those of the copies of the groups, exactly zero where a group is not
        selected.

    Notes
    -----
    Equations (M1) to (M4) of docs/maths.md; anderson1965 and walker2011 for the acceleration.
    """

    return watching(
        lambda watched: approach_groups(watched, penalty, _majorize, UNIT), problem, penalty
    )


def _majorize(problem: Problem, penalty: GroupNorms) -> tuple[Solution, bool]:
    """The same from where the problem says; and whether the caller has stopped it."""
    begin, scales = first_working_set(problem, penalty), scales_of(problem)
    if begin is not None:
        reweighted, norms = _over_working_sets(problem, penalty, begin, scales)
    else:
        engine = Engine(problem, penalty.value)
        fit = VectorFit(engine, penalty, scales.weight)
        s = touching_points(penalty, fit, warm=problem.start is not None)
        reweighted = _over_all_features(problem, penalty, fit, s)
        norms = penalty.copies(reweighted.w, reweighted.u, scales.curvature)
    room = penalty.room_of_originals(reweighted.used) if len(reweighted.used) else None
    return reweighted.solution(problem, norms, room), reweighted.ended


def _over_all_features(
    problem: Problem, penalty: GroupNorms, fit: VectorFit, s: Floats
) -> Reweighted:
    """Sweeps, and the rounds where these are slow; from touching points s (groups,)."""
    if not isinstance(problem.loss, Logistic) or not penalty.lam.all():
        return reweight(problem, penalty, fit, s)
    sweeps = SparseAscent(problem, penalty, fit, s)
    after_sweeps = sweeps.run()
    return continued(problem, penalty, fit, after_sweeps) if sweeps.slow else after_sweeps


def _over_working_sets(
    problem: Problem, penalty: GroupNorms, begin: tuple[Int32s, Floats, float], scales: Scales
) -> tuple[Reweighted, Floats]:
    """The rounds over one working set after the other, and the norms of the groups.

    begin: as of :func:`.first_working_set`.
    """
    features, w, b = begin
    s = np.full(len(penalty.strengths), np.nan)  # of groups that no set had yet
    history: list[Step] = []
    rounds, sets, stopped, first = 0, 1, False, problem.start is None

    def callback(step: Step) -> bool:
        nonlocal stopped
        history.append(step._replace(iteration=rounds + step.iteration))
        stopped = problem.stops(history[-1])
        return stopped or (step.gap > problem.tol and len(fit.missing) > 0)

    while True:
        part = WorkingSet(problem, penalty, features, scales)
        fit = part.fit(w, b)
        most = min(problem.max_iter - rounds, FIRST_CHECK if first else problem.max_iter)
        options = part.problem.replace(callback=callback, max_iter=most)
        previous = s[part.kept]
        fresh = touching_points(part.penalty, fit, warm=not first)
        start = np.where(np.isnan(previous), fresh, previous)
        check = FIRST_CHECK if first else LATER_CHECK
        reweighted = reweight(options, part.penalty, fit, start, check)
        s[part.kept] = reweighted.s
        rounds += reweighted.iterations
        ended = reweighted.gap <= problem.tol or stopped or rounds >= problem.max_iter
        if ended or not (first or len(fit.missing)):
            w, norms = part.expand(reweighted.w), part.norms(reweighted.w, reweighted.u)
            steps = tuple(history)
            return reweighted._replace(w=w, iterations=rounds, history=steps, ended=stopped), norms
        w, b = part.expand(fit.w), fit.intercept()
        features, first, sets = fit.shrunk() if first else fit.grown(), False, sets + 1
        del part, fit, options, reweighted  # makes room for the next ones
        if sets > SETS:
            features = problem.design.features


# What the intercept adds to the diagonal of X X' / q, as a share of its mean.
LAG = 0.2

# How often the dual variables to start from are quartered, at most.
QUARTERS = 6


class FeatureAscent:
    """The dual variables of a label, and the weights that belong to them.

    Parameters
    ----------
    engine : Engine
        Where the fit stands, its intercept at its optimum.
    penalty : Separable
        Its strengths; all q above 0, and mu 0.

    Attributes
    ----------
    rows : CompactRows
        Those of the matrix, with float32 values and all of its columns.
    cy, alpha : ndarray, shape (n,)
        The weights of the documents times their targets, and the dual variables.
    sums : float32 ndarray, shape (rows.size,)
        X'alpha.
    lam : float32 ndarray, shape (rows.size,) or (0,)
        Strengths of an l1 penalty, if there is one.
    inverse : float32 ndarray, shape (rows.size,)
        1 / q.
    lag, b : float
        What the intercept adds to the diagonal, 0 without one; and the intercept.
    sweeps : int
        How many there have been.
    """

    def __init__(self, engine: Engine, penalty: Separable) -> None:
        self.rows, self._engine = compact_rows(engine.design), engine
        lam = self.rows.collapse(penalty.lam) if penalty.lam.any() else np.empty(0)
        self.lam: NDArray[np.float32] = lam.astype(np.float32)
        self.cy, self.b, self.lag, self.sweeps = engine.c * engine.y, engine.b, 0.0, 0
        gradient = engine.gradient()
        share = self._best_share(penalty, gradient)
        self.alpha: Floats = -share * engine.r
        self.renew(-share * gradient)
        self.take(penalty.q)

    def _best_share(self, penalty: Separable, gradient: Floats) -> float:
        """The power of 1/4, times -r, where the dual value is largest."""
        engine, share, best = self._engine, 1.0, -np.inf
        for _ in range(QUARTERS):
            value = engine.loss.dual_value(-share * engine.r, engine.y, engine.c)
            value -= penalty.conjugate(share * gradient)
            if not value > best:
                break
            share, best = 0.25 * share, value
        return 4.0 * share

    def renew(self, products: Floats) -> None:
        """Take X'alpha (p,) from where it is exact."""
        self.sums: NDArray[np.float32] = self.rows.collapse(products).astype(np.float32)

    def take(self, q: Floats) -> None:
        """Change the curvature of the penalty to q (p,)."""
        inverse = 1.0 / self.rows.collapse(q)
        self.inverse: NDArray[np.float32] = inverse.astype(np.float32)
        if self._engine.fit_intercept:
            if len(self.lam):
                inverse[np.abs(self.sums) <= self.lam] = 0.0
            self.lag = LAG * (float(self.rows.squares @ inverse) / max(len(self.alpha), 1))

    def weights(self) -> Floats:
        """(p,)"""
        sums = soft(self.sums, self.lam) if len(self.lam) else self.sums
        return self.rows.expand((sums * self.inverse).astype(np.float64))

    def balanced(self) -> Floats:
        """alpha (n,) with a sum of zero where there is an intercept: a point of the dual."""
        alpha: Floats = self.alpha.copy()
        balance(self._engine, alpha)
        return alpha


def sweep_by_feature(ascents: Sequence[FeatureAscent]) -> None:
    """The next sweep for labels of one matrix that have had as many, and have the same l1."""
    cy, alpha, sums, inverse, lag, b = (
        _block([getattr(ascent, at) for ascent in ascents])
        for at in ("cy", "alpha", "sums", "inverse", "lag", "b")
    )
    order, lam = shuffled(ascents[0].sweeps, len(cy)), ascents[0].lam
    dual_sweep_by_feature(*ascents[0].rows.arrays, order, cy, lag, lam, inverse, alpha, sums, b)
    for at, ascent in enumerate(ascents):
        ascent.sweeps += 1
        ascent.alpha, ascent.sums = alpha[:, at].copy(), sums[:, at].copy()
        # The point that the intercept is held near moves to it.
        ascent.b = float(b[at]) + ascent.lag * float(ascent.alpha.sum())


def _block(columns: Sequence[Any]) -> NDArray[Any]:
    """Side by side, the last again until there are as many as the kernel takes in one go."""
    columns = [*columns, *[columns[-1]] * (width(len(columns)) - len(columns))]
    return np.ascontiguousarray(np.array(columns).T)


# The next look is after one more sweep for every SPARSE_NEXT before, and LEAST or more.
LEAST, SPARSE_NEXT = 2, 4

# Share of the tolerance that the objective may be above the dual value of the documents for a
# certificate.
READY = 0.6

# Share of the tolerance by which s is above the norms of groups: most that grow from sweep to
# sweep then stay below it, and need no repair in a certificate.
ABOVE = 0.5

# Certificates that do not show it, after which rounds go on.
FAILURES = 3

# Sweeps before the rate counts, and how many may be left at it; else rounds are quicker.
TRIAL, SWEEPS_LEFT = 16, 36

# Above where s starts it grows by this factor at most in a sweep.
GROWTH = 1.6

# Of the l1 strength of a feature in no group a quadratic stands for this share, as sweeps need a
# ridge.
QUADRATIC_SHARE = 0.5


class _Best(NamedTuple):
    """Weights (p,), intercept and objective."""

    w: Floats
    b: float
    objective: float


class _Quadratics:
    """The quadratics that stand for groups, and for a part of l1 where there is none (M1, M7).

    lam: (p,) what is left of the l1 strengths.
    """

    def __init__(self, penalty: GroupNorms, unit: float) -> None:
        self._penalty, self._unit = penalty, unit
        self._alone = np.flatnonzero(penalty.reach == 0.0)
        self._parts = QUADRATIC_SHARE * penalty.lam[self._alone]
        self._s = np.full(len(self._alone), S_START * unit)
        self.lam = penalty.lam.copy()
        self.lam[self._alone] -= self._parts

    def at(self, s: Floats) -> Floats:
        """Their curvature (p,) in the next sweep. s: (groups,) touching points."""
        q = self._penalty.majorizer(s).q
        q[self._alone] += self._parts / self._s
        return q

    def move(self, w: Floats) -> None:
        """Move the touching points of features in no group to their weights. w: (p,)"""
        self._s = _moved(self._s, np.abs(w[self._alone]), self._unit)


def _moved(s: Floats, norms: Floats, unit: float) -> Floats:
    """The touching points of the next sweep."""
    most = np.maximum(GROWTH * s, S_START * unit)
    moved: Floats = np.minimum(grown(s, norms, S_LEAST * unit), most)
    return moved


class _Sweeps:
    """The best point of a run of sweeps, its bound, and what it has reported.

    problem, penalty: of the fit. fit: where it stands. s: (groups,) touching points to begin at.
    """

    def __init__(self, problem: Problem, penalty: GroupNorms, fit: VectorFit, s: Floats) -> None:
        self._problem, self._penalty, self._fit, self._s = problem, penalty, fit, s
        self._best, self._best_s = _Best(fit.w, fit.intercept(), np.inf), s
        self._bound, self._gap = Bound(-np.inf, np.empty(0)), np.inf
        self._history, self._stopped = list[Step](), False

    def _report(self, sweeps: int) -> None:
        """Tell the caller the gap of the best point after so many sweeps."""
        problem, objective = self._problem, self._best.objective
        self._gap = relative_gap(objective, self._bound.value)
        self._history.append(Step(sweeps, objective, self._gap))
        self._stopped = problem.stops(self._history[-1])

    def _result(self, sweeps: int, u: Floats) -> Reweighted:
        """The best point. u: ragged, the dual variables of the groups."""
        best, bound = self._best, self._bound
        return Reweighted(
            w=best.w,
            b=best.b,
            objective=best.objective,
            gap=self._gap,
            iterations=sweeps,
            history=tuple(self._history),
            u=u,
            s=self._s,
            alpha=bound.alpha,
            used=bound.used,
            ended=self._stopped,
        )


class SparseAscent(_Sweeps):
    """Sweeps for a problem, from where ``fit`` stands and from touching points s (groups,).

    Attributes
    ----------
    slow : bool
        Whether rounds had better go on, from where the fit then stands.
    """

    def __init__(self, problem: Problem, penalty: GroupNorms, fit: VectorFit, s: Floats) -> None:
        super().__init__(problem, penalty, fit, s)
        self._u, self._failures = np.empty(0), 0
        self._looks = [(0, np.inf)]  # the sweeps before each, and the distance that it found
        self.slow = False

    def run(self) -> Reweighted:
        """Sweep until the gap is closed, or the caller stops it, or sweeps are ``slow``."""
        problem, fit, begin = self._problem, self._fit, (self._fit.w, self._fit.intercept())
        engine = fit.engine
        quadratics = _Quadratics(self._penalty, fit.unit)
        q = quadratics.at(self._s)
        self.slow = not single(problem, float(q.min(initial=1.0)))
        sweeps, next_look = 0, FIRST_CHECK
        if not self.slow:
            engine.optimize_intercept()
            self._take(_Best(fit.w, fit.intercept(), fit.value(self._penalty.norms(fit.w))))
            inner = Separable(q, np.zeros(len(q)), quadratics.lam)
            ascent = FeatureAscent(engine, inner)
        while not self.slow and sweeps < problem.max_iter:
            sweep_by_feature([ascent])
            sweeps += 1
            look = sweeps >= min(next_look, problem.max_iter)
            if look:
                ascent.renew(problem.design.transposed_product(ascent.alpha))
            w = ascent.weights()
            norms = self._penalty.norms(w)
            if look:
                engine.restart(w, ascent.b)
                engine.optimize_intercept()
                self._look(sweeps, norms, ascent.balanced())
                if self._ended or self.slow:
                    break
                next_look = sweeps + max(LEAST, sweeps // SPARSE_NEXT)
            self._s = _moved(self._s, (1.0 + ABOVE * problem.tol) * norms, fit.unit)
            quadratics.move(w)
            ascent.take(quadratics.at(self._s))
        if self.slow and sweeps:
            near = self._looks[-1][1] <= HANDOVER
            w, b = (self._best.w, self._best.b) if near else begin
            engine.restart(w.copy(), b)
            warm = near or problem.start is not None
            self._s = touching_points(self._penalty, fit, warm=warm)
        return self._result(sweeps, self._u)

    @property
    def _ended(self) -> bool:
        return self._stopped or self._gap <= self._problem.tol

    def _look(self, sweeps: int, norms: Floats, alpha: Floats) -> None:
        """Find how far the fit is from the optimum: for certain, where that seems to be enough.

        norms: of the groups. alpha: the dual variables, balanced.
        """
        fit, penalty, tol = self._fit, self._penalty, self._problem.tol
        objective = fit.value(norms)
        self._take(_Best(fit.w, fit.intercept(), objective))
        # What groups above s take from the dual value, at most to the first order.
        above = float(penalty.strengths @ np.maximum(norms - self._s, 0.0))
        distance = relative_gap(self._best.objective, dual_value(fit.engine, alpha) - above)
        self._looks.append((sweeps, distance))
        last = sweeps >= self._problem.max_iter
        if distance <= READY * tol or last:
            self._certify(sweeps, objective, np.maximum(self._s, norms), alpha)
            self._failures += 1
            self.slow = not (self._ended or last) and self._failures >= FAILURES
        elif sweeps > TRIAL:
            before, farther = self._looks[-3]
            self.slow = sweeps_left(distance, farther, sweeps - before, READY * tol) > SWEEPS_LEFT

    def _certify(self, sweeps: int, objective: float, closer: Floats, alpha: Floats) -> None:
        """Bound the optimum by these dual variables.

        objective: at the fit. closer: (groups,) touching points, at least the norms.
        """
        fit, penalty, tol = self._fit, self._penalty, self._problem.tol
        w, objective = rounded(fit, objective, tol)
        self._take(_Best(w, fit.intercept(), objective))
        self._u = penalty.duals(penalty.strengths / closer, fit.w)
        dual = EngineDual(fit.engine, penalty.lam, alpha)
        latest = group_bound(dual, penalty, fit.size(), self._u, self._best.objective, tol)
        self._bound = max(self._bound, latest, key=value_of)
        self._report(sweeps)

    def _take(self, point: _Best) -> None:
        """Keep it if it is no worse than the best before."""
        if point.objective <= self._best.objective:
            self._best = point


# Sweeps before the first look at the gap, from a given start and without.
WARM, COLD = 5, 7

# The next look comes after one more sweep for every NEXT of all before, rounded up: it takes as
# long as a sweep.
NEXT = 6

# Looks at the gap before the rate counts, and the largest share of it that a sweep may leave; else
# Newton steps are quicker, though each takes as long as six sweeps or more.
LOOKS, RATE = 2, 0.95


@checks_overflow
def group_ascents(problems: Sequence[Problem], penalty: GroupNorms) -> list[Solution]:
    """Minimize loss + penalty for several problems that share their matrix and groups.

    Parameters
    ----------
    problems : sequence of Problem
        What to fit; ``tol`` is the relative duality gap to stop at, ``max_iter`` the most rounds.
    penalty : GroupNorms
        Without l1, with l2.

    Returns
    -------
    list of Solution
        One for each; ``group_norms`` are those of the copies of the groups, as of
        :func:`majorize`.
    """
    # Sweeps over all labels, as long as each is quick, and then rounds of Newton steps.
    fits = [GroupFit(problem, penalty) for problem in problems]
    while left := [fit for fit in fits if fit.sweeps_on]:
        sweep_by_feature([fit.ascent for fit in left])
        if due := [fit for fit in left if fit.moved()]:
            alphas = np.stack([fit.ascent.balanced() for fit in due], axis=1)
            products = due[0].engine.design.transposed_product(alphas)
            for fit, alpha, sums in zip(due, alphas.T, products.T, strict=True):
                fit.look(np.ascontiguousarray(alpha), np.ascontiguousarray(sums))
        for fit in left:
            fit.next()
    return [fit.solution() for fit in fits]


class GroupFit(_Sweeps):
    """The fit of one label by sweeps.

    sweeps_on: whether another one is next.
    """

    def __init__(self, problem: Problem, penalty: GroupNorms) -> None:
        self._scales = scales_of(problem)
        engine = self.engine = Engine.begun(problem, penalty.value)
        engine.optimize_intercept()
        fit = VectorFit(engine, penalty, self._scales.weight)
        s = touching_points(penalty, fit, warm=problem.start is not None)
        super().__init__(problem, penalty, fit, s)
        self._next_look = COLD if problem.start is None else WARM
        self.sweeps_on = single(problem, 2.0 * penalty.l2)
        if self.sweeps_on:
            self.ascent = FeatureAscent(engine, penalty.majorizer(self._s))

    def moved(self) -> bool:
        """Take the weights after a sweep; whether a look at the gap is due."""
        self._w = self.ascent.weights()
        self._norms = self._penalty.norms(self._w)
        return self.ascent.sweeps >= min(self._next_look, self._problem.max_iter)

    def look(self, alpha: Floats, products: Floats) -> None:
        """Find the gap. alpha: (n,), the dual variables, balanced. products: X'alpha, changed."""
        problem, penalty, engine = self._problem, self._penalty, self.engine
        sweeps = self.ascent.sweeps
        w, closer = self._w, np.maximum(self._s, self._norms)
        engine.restart(w, self.ascent.b)
        engine.optimize_intercept()
        objective = self._fit.value(self._norms)
        # What the groups leave of X'alpha the ridge pays for (M5).
        products -= w * penalty.spread(penalty.strengths / closer)
        value = dual_value(engine, alpha) - float(products @ products) / (4.0 * penalty.l2)
        self._bound, last = max(self._bound, Bound(value, alpha), key=value_of), self._gap
        if relative_gap(objective, self._bound.value) <= problem.tol:
            w, objective = rounded(self._fit, objective, problem.tol)
        if objective < self._best.objective:
            self._best, self._best_s = _Best(w, engine.b, objective), closer
        since = sweeps - (self._history[-1].iteration if self._history else 0)
        self._next_look = sweeps + -(-sweeps // NEXT)
        self._report(sweeps)
        quick = len(self._history) < LOOKS or self._gap <= RATE**since * last
        ended = self._stopped or self._gap <= problem.tol or sweeps >= problem.max_iter
        self.sweeps_on = quick and not ended

    def next(self) -> None:
        """Move the touching points for the next sweep."""
        self._s = grown(self._s, self._norms, S_LEAST * self._fit.unit)
        self.ascent.take(self._penalty.majorizer(self._s).q)

    def solution(self) -> Solution:
        """What the sweeps have come to, or the rounds that go on where they were slow."""
        problem, penalty = self._problem, self._penalty
        u = penalty.duals(penalty.strengths / self._best_s, self._best.w)
        point = self._result(self.ascent.sweeps if self._history else 0, u)
        if not (point.gap <= problem.tol or point.ended or point.iterations >= problem.max_iter):
            point = continued(problem, penalty, self._fit, point)
        norms = penalty.copies(point.w, point.u, self._scales.curvature)
        return finish(problem, point.solution(problem, norms), UNIT, stopped=point.ended)
