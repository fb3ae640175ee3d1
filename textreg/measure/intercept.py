"""Intercepts that are right for new texts: shifts by scores of documents that no fit has seen.

Rows that are fitted hold n-grams that no other document has, whose own weights fit them. The
intercept balances those inflated scores, so that new texts, which lack the inflation, lean to the
label of most documents. The condition that makes a fitted intercept optimal,

    sum_i c_i (sigmoid(f_i) - t_i) = 0        over the documents i that are fitted,

is met again by left-out scores f_-i, shifted by delta (:func:`balanced`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from textreg.measure.decisions import row_blocks, row_loss, temperature
from textreg.records import Bools, Floats

# Most steps to a shift: so many halvings of an interval would not change a double.
STEPS, EXACT = 60, 1e-12

# Parts of the left-out documents: a shift is judged on each by what the others say. So many
# documents are enough for halves.
PARTS, MANY = 5, 1_000

# Accuracy of the logarithm of the temperature at which shifts are judged: the loss is flat there.
ROUGH = 0.01

# Standard errors by which a log-loss is clearly lower. Without this bar the choice among shifts
# followed chance: on 40 to 300 documents of 16 corpora .6 points of accuracy were lost.
CLEARLY = 2.0

# Precision of biases that are learned together, as if each were normal around 0 with variance 1:
# with few documents for every label, these would follow chance.
PRIOR = 1.0

# (m,) log-losses of a table of shifted scores (m, k) of the documents that a mask (n,) chooses.
Losses = Callable[["Floats", "Bools"], "Floats"]


class Shift(NamedTuple):
    """What is added to the intercepts of a fit.

    kind: "balanced" (:func:`balanced`), "half" of that, "joint" (:func:`joint`) or "none".
    values: (k,) of every weight vector.
    """

    kind: str
    values: Floats


def balanced(scores: Floats, positive: Bools, weights: Floats) -> Floats:
    """(k,) shifts by which the probabilities of every row sum to its number of documents.

    sum_i c_il sigmoid(f_il + delta_l) = sum_i c_il t_il, by Newton's method within an
    interval: the left side increases with delta_l. A row of which all documents, or none, are
    positive stays where it is.

    Parameters
    ----------
    scores : ndarray of shape (n, k)
        Left-out scores f.
    positive : ndarray of bool, shape (n, k)
        The targets t.
    weights : ndarray of shape (n, k)
        The weights c, 0 or more.
    """
    wanted, total = (weights * positive).sum(axis=0), weights.sum(axis=0)
    # At these bounds all probabilities are on one side of the mean that is wanted.
    with np.errstate(divide="ignore", invalid="ignore"):
        log_odds = np.log(wanted) - np.log(total - wanted)
    varying = np.isfinite(log_odds)
    log_odds[~varying] = 0.0
    low, high = log_odds - scores.max(axis=0), log_odds - scores.min(axis=0)
    delta, blocks = (low + high) / 2, row_blocks(scores)
    for _ in range(STEPS):
        above, slope = -wanted, np.zeros(len(wanted))
        for rows in blocks:
            p = sigmoid(scores[rows] + delta)
            weighted = weights[rows] * p
            above += weighted.sum(axis=0)
            np.subtract(1.0, p, out=p)
            slope += np.einsum("nk,nk->k", weighted, p)
        low, high = np.where(above > 0.0, low, delta), np.where(above > 0.0, delta, high)
        with np.errstate(divide="ignore", invalid="ignore"):
            newton = delta - above / slope
        # Half of the interval where Newton's step leaves it; at its end, there is the root.
        inside = (low <= newton) & (newton <= high)
        last, delta = delta, np.where(inside, newton, (low + high) / 2)
        if (np.abs(delta - last) <= EXACT * (1.0 + np.abs(delta)))[varying].all():
            break
    return np.where(varying, delta, 0.0)


def sigmoid(x: Floats) -> Floats:
    """1 / (1 + exp(-x))."""
    with np.errstate(over="ignore"):
        odds = 1.0 + np.exp(-x)
    return np.reciprocal(odds, out=odds)


def log_sigmoid(x: Floats) -> Floats:
    """log(1 / (1 + exp(-x))), of any size."""
    logarithms = np.log1p(np.exp(-np.abs(x)))
    return np.subtract(np.minimum(x, 0.0), logarithms, out=logarithms)


def shifts_of_rows(scores: Floats, positive: Bools, weights: Floats) -> dict[str, Floats]:
    """The shifts of :func:`balanced` for probabilities, half of them, and none, by kind.

    Probabilities are those of scores divided by a temperature T, which suits the shifted scores.
    Where scores are too small, T < 1, it is these that are balanced: delta = T balanced(f / T). By
    the scores themselves a label that few documents have would be found too rarely. A T > 1, as 20
    documents may ask for, would leave the most frequent label alone.
    """
    shift = balanced(scores, positive, weights)
    heat = min(temperature(row_loss(scores + shift, positive, weights), ROUGH), 1.0)
    shift = heat * balanced(scores / heat, positive, weights)
    return {"balanced": shift, "half": shift / 2, "none": np.zeros_like(shift)}


def joint(
    loss_and_gradient: Callable[[slice, Floats], tuple[float, Floats]],
    scores: Floats,
    counts: Floats,
) -> Floats:
    """(k,) shifts of all labels together, with one temperature T.

    The least of sum_i loss_i(f_i / T + b) + PRIOR |b|^2 / 2; the shifts are T b.

    Parameters
    ----------
    loss_and_gradient : callable
        The sum of the log-losses of some documents with other scores (m, k), and its gradient
        (m, k) by these.
    scores : ndarray of shape (n, k)
        Left-out scores f.
    counts : ndarray of shape (k,)
        The number of documents of every label.
    """
    from scipy.optimize import minimize

    k, blocks = scores.shape[1], row_blocks(scores)
    # By the roots of what curvatures are near to, as steps are then a third as many.
    scales = 1.0 / np.sqrt(np.append(counts + PRIOR, len(scores)))

    def objective(values: Floats) -> tuple[float, Floats]:
        b, slope = (values * scales)[:k], math.exp(values[k] * scales[k])  # slope = 1 / T
        loss, by_b, by_slope = PRIOR * float(b @ b) / 2, PRIOR * b, 0.0
        for rows in blocks:
            part, gradient = loss_and_gradient(rows, slope * scores[rows] + b)
            loss += part
            by_b += gradient.sum(axis=0)
            by_slope += float((gradient * scores[rows]).sum())
        return loss, np.append(by_b, slope * by_slope) * scales

    # A millionth of the loss is far below what tells shifts apart.
    values = minimize(
        objective, np.zeros(k + 1), jac=True, method="L-BFGS-B", options={"ftol": 1e-6}
    ).x
    values *= scales
    return np.asarray(values[:k] / math.exp(values[k]))


# Shifts by the documents that a mask chooses, by kind; the first is the one that is expected.
Candidates = Callable[["Bools"], Mapping[str, "Floats"]]


def choose_shift(candidates: Candidates, losses: Losses, scores: Floats, counts: Floats) -> Shift:
    """The first of the candidates, unless another has a clearly lower log-loss; none for one text.

    Each is learned on all but one of :data:`PARTS` parts of the documents, or of two where there
    are many, with its temperature, and judged on that one.

    Parameters
    ----------
    candidates : callable
        Makes shifts.
    losses : callable
        The log-losses of scores.
    scores : ndarray of shape (n, k)
        Left-out scores.
    counts : ndarray of shape (n,)
        How much each document counts, 1 on the mean.
    """
    n = len(scores)
    if n < 2:  # nothing could be judged by what the others say
        return Shift("none", np.zeros(scores.shape[1]))
    whole = candidates(np.ones(n, dtype=bool))
    judged = {kind: np.zeros(n) for kind in whole}
    parts = 2 if n >= MANY else min(PARTS, n)
    # Every fifth document, say, is in the same part, as files may be sorted by label.
    for held in (np.arange(n) % parts == k for k in range(parts)):
        for kind, shift in candidates(~held).items():
            judged[kind][held] = _judged(scores + shift, losses, held, counts)
    chosen = next(iter(whole))
    for kind in whole:
        # The paired difference of the log-losses, and its standard error
        gain = counts * (judged[chosen] - judged[kind])
        if gain.mean() > CLEARLY * gain.std() / np.sqrt(n):
            chosen = kind
    return Shift(chosen, whole[chosen])


def _judged(shifted: Floats, losses: Losses, held: Bools, counts: Floats) -> Floats:
    """The log-losses of some documents, at the temperature that suits the others."""
    others, weights = shifted[~held], counts[~held]
    heat = temperature(lambda it: float((weights * losses(others / it, ~held)).mean()), ROUGH)
    return losses(shifted[held] / heat, held)
