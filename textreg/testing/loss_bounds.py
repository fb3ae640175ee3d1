"""The contract of a loss, its second half: the conjugate, the best constant, extremes, a fit."""

from __future__ import annotations

import itertools
import warnings

import numpy as np

from textreg.kinds import Loss
from textreg.penalties import Separable
from textreg.solvers.newton import newton
from textreg.testing.checks import Checks, near, require
from textreg.testing.loss_points import adder, derivatives, each, labels, points
from textreg.testing.problems import quiet, small

ROUNDING = 1e-9
"""Relative error that is left to floating point."""

EXTREME = (1e3, 1e6, 1e9)
"""Scores far beyond those of any fit."""

TAIL = (0.0, 2.0, 6.0, 10.0, 15.0, 20.0, 25.0, 30.0, 36.0, 40.0, 100.0, 300.0, 700.0, 1e3, 1e6)
"""Scores on the way there, in steps so small that none skips the place where a loss gives up."""

checks = Checks("loss")
add = adder(checks)


@add("loss-conjugate")
def _conjugate(loss: Loss) -> None:
    """By the Fenchel-Young inequality, dual_value(alpha) is at most value(z) + alpha.z at all
    scores, with equality at alpha = -r; it is finite between there and zero."""
    for at in points(loss):
        value = loss.value(at.z, at.y, at.c)
        size = value + float(np.abs(at.r) @ np.abs(at.z)) + 1e-3
        equal = loss.dual_value(-at.r, at.y, at.c)
        gap = abs(value - float(at.r @ at.z) - equal) / size
        require(gap <= 1e-7, "equality at alpha = -r", f"{gap:.2g} apart")
        for share in (0.0, 0.3, 0.9, 1.0):
            alpha = -share * at.r
            dual = loss.dual_value(alpha, at.y, at.c)
            require(bool(np.isfinite(dual)), "a finite dual_value", dual)
            for z in (at.z, at.z[::-1].copy(), np.zeros(len(at.z)), at.z + 1.0, 5.0 * at.z):
                line = loss.value(z, at.y, at.c) + float(alpha @ z)
                slack = 1e-7 * (size + abs(line))
                expected = f"a dual_value of {line:.8g} at most"
                require(dual <= line + slack, expected, f"{dual:.8g}")


@add("loss-balance")
def _balance(loss: Loss) -> None:
    """balance makes alpha sum to zero in place, and dual_value stays a finite lower bound."""
    for at in points(loss):
        alpha = -at.r
        loss.balance(alpha, at.c)
        total, size = float(alpha.sum()), float(np.abs(at.r).sum()) + 1e-3
        require(abs(total) <= ROUNDING * size, "a sum of 0", total)
        dual, line = loss.dual_value(alpha, at.y, at.c), loss.value(at.z, at.y, at.c)
        line += float(alpha @ at.z)
        require(bool(np.isfinite(dual)), "a finite dual_value", dual)
        below = dual <= line + 1e-7 * (size + abs(line))
        require(below, f"a dual_value of {line:.8g} at most", f"{dual:.8g}")


@add("loss-constant")
def _constant(loss: Loss) -> None:
    """constant gives the best score that is the same for all documents, however rare a label is;
    those of weight 0 do not count."""
    rng = np.random.default_rng(1)
    for n, rare in itertools.product((2, 3, 10, 41), (1.0, 1e-3)):
        y, c = labels(loss, n), rng.uniform(0.1, 3.0, n)
        c[y < 0.0] *= rare
        best = loss.constant(y, c)
        require(np.ndim(best) == 0 and bool(np.isfinite(best)), "a finite number", best)
        least = loss.value(np.full(n, best), y, c)
        for move in (-1.0, -1e-2, 1e-2, 1.0):
            value = loss.value(np.full(n, best + move), y, c)
            enough = value >= least - 1e-7 * (least + 1e-3)
            require(enough, f"no value below {least:.8g} nearby", f"{value:.8g}")
        more = loss.constant(np.r_[y, y[:1]], np.r_[c, 0.0])
        near("the same beside a document of weight 0", more, best, 1e-6)
    for label in (-1.0, 1.0):
        alone = loss.constant(np.full(3, label), np.ones(3))
        require(bool(np.isfinite(alone)), f"a finite number where all labels are {label:g}", alone)


@add("loss-log-odds", applies=lambda loss: loss.log_odds)
def _log_odds(loss: Loss) -> None:
    """If log_odds is True, the best score of documents that are +1 with a probability q is
    log(q / (1 - q))."""
    require(loss.binary, "binary = True where scores are log odds", "False")
    y = np.array([1.0, -1.0])
    for q in (0.02, 0.3, 0.5, 0.9):
        best = loss.constant(y, np.array([q, 1.0 - q]))
        near(f"the best score for a probability of {q}", best, np.log(q / (1.0 - q)), 1e-5)


@add("loss-extremes")
def _extremes(loss: Loss) -> None:
    """Extreme scores give finite numbers and no warnings, and on the way there the value changes
    as its derivatives say."""
    y, c = labels(loss, 8), np.ones(8)
    last = derivatives(loss, np.zeros(8), y, c).r
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for size in EXTREME:
            for z in (np.full(8, -size), np.full(8, size)):
                value, at = loss.value(z, y, c), derivatives(loss, z, y, c)
                finite = np.isfinite([value, *at.r, *at.h]).all()
                require(finite, f"finite numbers at scores of {size:g}", at)
            require(bool((at.r >= last - ROUNDING).all()), f"{last} at least", at.r)
            last = at.r
    scores = [-score for score in TAIL[:0:-1]] + list(TAIL)
    for one, other in itertools.pairwise(scores):
        before = derivatives(loss, np.full(8, one), y, c)
        after = derivatives(loss, np.full(8, other), y, c)
        rise = each(loss, after) - each(loss, before)
        low, high = (other - one) * before.r, (other - one) * after.r
        slack = 1e-7 * (np.abs(low) + np.abs(high) + each(loss, before)) + 1e-12
        wrong = (rise < low - slack) | (rise > high + slack)
        expected = (
            f"a rise of {low[wrong]} to {high[wrong]} between scores of {one:g} and {other:g}"
        )
        require(not wrong.any(), expected, rise[wrong])


@add("loss-unsmoothed", applies=lambda loss: loss.smoothed)
def _unsmoothed(loss: Loss) -> None:
    """unsmoothed_value is at least the value, so that a lower bound on one holds for the other. It
    is a sum weighted by c, and stays near the value at large scores."""
    above: list[float] = []
    for at in points(loss):
        value, unsmoothed = loss.value(at.z, at.y, at.c), loss.unsmoothed_value(at.z, at.y, at.c)
        enough = unsmoothed >= value - ROUNDING * value
        require(enough, f"{value:.8g} at least", f"{unsmoothed:.8g}")
        for factor in (2.0, 1e-3):
            other = loss.unsmoothed_value(at.z, at.y, factor * at.c)
            near(f"{factor:g} times the weights: the value", other, factor * unsmoothed, ROUNDING)
        above.append((unsmoothed - value) / float(at.c.sum()))
    y, ones = labels(loss, 8), np.ones(8)
    for size in (1e2, 1e4):
        z = np.full(8, size)
        apart = loss.unsmoothed_value(z, y, ones) - loss.value(z, y, ones)
        most = 20.0 * max(above) + 1e-6 * size
        require(apart / 8.0 <= most, f"{most:g} above at scores of {size:g} at most", apart / 8.0)


@checks.add("loss-fit")
def _fit(loss: Loss) -> None:
    """Ridge and lasso with this loss converge to their tolerance, measured by the duality gap."""
    problem = small(loss=loss, tol=1e-6)
    if not loss.binary:
        problem = problem.replace(y=problem.X @ np.linspace(-1.0, 1.0, problem.X.shape[1]) + 0.5)
    for l1, l2 in ((0.0, 1.0), (0.1 * problem.largest_gradient_at_zero(), 0.0)):
        with quiet():
            found = newton(problem, Separable.constant(problem.X.shape[1], l1=l1, l2=l2))
        reached = found.converged and 0.0 <= found.gap <= problem.tol
        require(reached, f"a gap of 0 to {problem.tol:g}", found.gap)
