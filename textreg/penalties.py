"""Penalties: what is added to the loss so that weights stay small, sparse, or near each other.

Each class knows its value, and what solvers and certificates ask of it. Formulas are numbered as in
docs/maths.md. Norms of overlapping groups are the sparse overlapping group lasso; quadratic
penalties are those by a graph of features.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from textreg._core.groups import (
    ball_sweeps,
    copy_norms,
    fill_groups,
    group_add,
    group_gather,
    group_norms,
    group_scale,
    group_spread,
    group_sums,
    select_groups,
)
from textreg.errors import RecordError, UsageError
from textreg.records import Floats, Groups, Int32s, Int64s, MergedGroups
from textreg.records.arrays import Cache, squared_norms, take_rows

if TYPE_CHECKING:
    from scipy.sparse import csr_array
    from typing_extensions import Self

__all__ = [
    "STRONGEST",
    "GroupNorms",
    "Links",
    "Penalty",
    "Quadratic",
    "Separable",
    "check_strengths",
    "soft",
]


Real = TypeVar("Real", bound=np.floating[Any])

#: Largest penalty strength, beyond any gradient that records allow.
STRONGEST = 1e100


class Penalty(Protocol):
    """What :func:`textreg.solvers.proximal.proximal` needs to know of a penalty.

    A penalty may offer more: ``conjugate(t)``, the supremum of t.w - value(w) over all w, gives
    solutions a duality gap; ``gradient(w)`` where it is smooth; ``convex = False`` where it is not
    convex.
    """

    def value(self, w: Floats) -> float:
        """The penalty.

        Parameters
        ----------
        w : ndarray of shape (p,)
            Weights.

        Returns
        -------
        float
            Infinite where ``w`` is not allowed.
        """

    def prox(self, w: Floats, step: float) -> Floats:
        """The proximal operator, argmin_x 1/2 ||x - w||^2 + step * value(x) (docs/maths.md, P1).

        Parameters
        ----------
        w : ndarray of shape (p,)
            Weights.
        step : float
            Above 0.

        Returns
        -------
        ndarray of shape (p,)
            A new array.
        """


def check_strengths(**strengths: float) -> None:
    """Refuse penalty strengths that cannot be computed with.

    Parameters
    ----------
    **strengths
        The strengths by the names that messages call them.

    Raises
    ------
    UsageError
        If one is not a number between 0 and :data:`STRONGEST`.
    """
    for name, value in strengths.items():
        if not 0.0 <= value <= STRONGEST:
            raise UsageError(f"{name} must be between 0 and {STRONGEST:g}, not {value}.")


def soft(w: NDArray[Real], threshold: NDArray[Real] | float) -> NDArray[Real]:
    """Soft thresholding: move every w toward zero by ``threshold``, and no further.

    Parameters
    ----------
    w : ndarray
        Weights.
    threshold : float or ndarray
        0 or more; one for all weights, or one for each.

    Returns
    -------
    ndarray
        Of the shape of ``w``.
    """
    shrunk: NDArray[Real] = np.sign(w) * np.maximum(np.abs(w) - threshold, 0.0)
    return shrunk


class Separable:
    """A penalty that is a sum over single weights: sum_j 1/2 q_j (w_j - mu_j)^2 + lam_j |w_j|.

    Lasso, ridge and elastic net are of this form, and so is every inner problem of the solvers for
    groups (docs/maths.md, E1).

    Parameters
    ----------
    q : ndarray, shape (p,)
        Curvature of the quadratic part, 0 or more.
    mu : ndarray, shape (p,)
        Center of the quadratic part.
    lam : ndarray, shape (p,)
        l1 strength, 0 or more.
    """

    def __init__(self, q: Floats, mu: Floats, lam: Floats) -> None:
        self.q, self.mu, self.lam = q, mu, lam

    @classmethod
    def constant(cls, p: int, l1: float = 0.0, l2: float = 0.0) -> Self:
        """l1 ||w||_1 + l2 ||w||_2^2 over ``p`` features.

        Parameters
        ----------
        p : int
            Number of features.
        l1, l2 : float, default 0.0
            Penalty strengths.

        Returns
        -------
        Separable
        """
        check_strengths(l1=l1, l2=l2)
        zeros = np.zeros(p)
        return cls(np.full(p, 2.0 * l2), zeros, np.full(p, float(l1)) if l1 else zeros)

    def value(self, w: Floats) -> float:
        """The penalty.

        Parameters
        ----------
        w : ndarray of shape (p,)
            Weights.

        Returns
        -------
        float
        """
        sizes = w - self.mu
        sizes *= sizes
        quadratic = 0.5 * (self.q @ sizes)
        return float(quadratic + self.lam @ np.abs(w, out=sizes))

    def times(self, factor: float) -> Separable:
        """The same with all l1 strengths times ``factor``.

        Parameters
        ----------
        factor : float
            0 or more.

        Returns
        -------
        Separable
        """
        return Separable(self.q, self.mu, factor * self.lam)

    def of(self, features: Int32s, values: Floats) -> float:
        """The part of the penalty due to ``features``, whose weights are ``values``.

        Parameters
        ----------
        features : ndarray of int32
            Indices of features.
        values : ndarray
            Their weights, one for each.

        Returns
        -------
        float
        """
        gap = values - self.mu[features]
        return float(0.5 * (self.q[features] @ (gap * gap)) + self.lam[features] @ np.abs(values))

    def conjugate(self, t: Floats) -> float:
        """The conjugate, sup_w t.w - value(w).

        Parameters
        ----------
        t : ndarray of shape (p,)
            Where to compute it.

        Returns
        -------
        float
            Infinite where |t_j| > lam_j and q_j = 0 for some j.
        """
        over = np.abs(t + self.q * self.mu) - self.lam
        if (over[self.q == 0.0] > 0.0).any():
            return float("inf")
        gain = np.maximum(over, 0.0) ** 2 / np.where(self.q > 0.0, self.q, 1.0)
        return float(0.5 * (gain.sum() - self.q @ (self.mu * self.mu)))

    def prox(self, w: Floats, step: float) -> Floats:
        """Soft thresholding, then shrinking toward mu.

        Parameters
        ----------
        w, step
            As for :meth:`Penalty.prox`.

        Returns
        -------
        ndarray of shape (p,)
        """
        center = w + step * self.q * self.mu
        return soft(center, step * self.lam) / (1.0 + step * self.q)


#: How often the shares of features are made larger or smaller.
ROUNDS = 2

#: By how much at most.
FACTOR = 2.0


def shared_out(
    wanted: Floats, least: Floats, reach: Floats, taken: Callable[[Floats], Floats]
) -> Floats:
    """What groups take of features, by the share that every feature has in its groups.

    Parameters
    ----------
    wanted, least : ndarray
        What groups are to take of each feature, 0 or more; and what would do.
    reach : ndarray
        What they could take of each alone. Features that want more have no share.
    taken : callable
        For shares y, 0 or more, the sum over the groups of each feature of Lambda_g / max(1,
        ||y_g||).

    Returns
    -------
    ndarray
        What they take of each.
    """
    y = np.divide(wanted, reach, out=np.zeros(len(wanted)), where=reach > wanted)
    held = y * taken(y)
    for _ in range(ROUNDS):
        if not np.any(held < least):
            break
        change = np.divide(wanted, held, out=np.ones(len(wanted)), where=held > 0.0)
        y *= np.clip(change, 1.0 / FACTOR, FACTOR, out=change)
        held = y * taken(y)
    return held


class GroupNorms:
    """The sparse overlapping group lasso, sum_g lambda_g ||w_g||_2 + sum_j lam_j |w_j| + l2 w_j^2.

    The penalty of yogatama2014, eq. (1), with an optional ridge (docs/maths.md, O1). Two
    simplifications are exact and made once: identical groups are merged, their strengths added up;
    and the norm of a group of one feature is an absolute value, so it becomes part of lam. Without
    an l1 penalty it stays a norm, as steps without lam are quicker.

    Parameters
    ----------
    groups : Groups
        Sets of features, which may overlap.
    group : float
        Strength of the groups' norms; lambda_g is this times the weight of group g.
    l1 : float
        Strength of the absolute weights.
    l2 : float, default 0
        Strength of the squared weights.
    over_classes : bool, default False
        Whether weights are (classes, p), and ||w_g|| is the norm over the features of the group and
        all classes, as in the multinomial sparse group lasso (vincent2014; docs/maths.md, S3). The
        norm of a group of one feature remains one, that of a row. Methods then take the norms of
        the rows, ||w_j|| over the classes, in the place of w (p,).
    merge : bool, default True
        Whether to make these simplifications. What a solver finds is the same, but the way there is
        not where every group has a copy of its own.

    Attributes
    ----------
    strengths : ndarray, shape (merged groups,)
        lambda_g.
    indptr, indices : int64 and int32 ndarray
        Merged group g has the features ``indices[indptr[g]:indptr[g + 1]]``.
    lam : ndarray, shape (p,)
        l1 and what groups of one feature add to it.
    sizes : ndarray, shape (merged groups,)
        Number of features of every merged group.
    original : Groups
        The groups as they were given.
    origin : ndarray, shape (groups,)
        Where every given group went; see :class:`textreg.records.MergedGroups`.
    p : int
        Number of features.

    Notes
    -----
    An array over all entries of all merged groups, such as the copies of weights or dual variables,
    is called ragged: entry e belongs to the feature ``indices[e]``. M maps weights to their copies.
    """

    def __init__(
        self,
        groups: Groups,
        group: float,
        l1: float,
        l2: float = 0.0,
        *,
        over_classes: bool = False,
        merge: bool = True,
    ) -> None:
        check_strengths(group=group, l1=l1, l2=l2)
        merged = groups.distinct if over_classes or l1 == 0.0 else groups.merged
        if not merge:
            merged = groups.separate
        self.original = groups
        self._merged: MergedGroups | None = merged
        self.origin, self._group = merged.origin, group
        self.indptr, self.indices = merged.groups.indptr, merged.groups.indices
        self.strengths = group * merged.groups.weights
        self.lam = (
            group * merged.l1 if len(merged.singles.features) else np.zeros(groups.n_features)
        )
        if l1:
            self.lam += l1
        self.l2 = float(l2)
        self.sizes = np.diff(self.indptr)
        self.p = groups.n_features

    def times(self, factor: float) -> GroupNorms:
        """The same with all strengths but that of the squared weights times ``factor``.

        Parameters
        ----------
        factor : float
            0 or more.

        Returns
        -------
        GroupNorms
        """
        scaled = copy(self)
        for derived in ("floor", "unpenalized"):  # by the strengths
            vars(scaled).pop(derived, None)
        scaled.strengths, scaled.lam = factor * self.strengths, factor * self.lam
        scaled._group = factor * self._group
        return scaled

    def norms(self, w: Floats) -> Floats:
        """||w_g||_2 of every merged group.

        Parameters
        ----------
        w : ndarray of shape (p,)
            Weights.

        Returns
        -------
        ndarray of shape (merged groups,)
        """
        out = np.empty(len(self.strengths))
        self._check(w)
        group_norms(self.indptr, self.indices, w, out)
        return out

    def value(self, w: Floats, norms: Floats | None = None) -> float:
        """The penalty.

        Parameters
        ----------
        w : ndarray of shape (p,)
            Weights.
        norms : ndarray of shape (merged groups,), optional
            What :meth:`norms` gives, if it is known.

        Returns
        -------
        float
        """
        norms = self.norms(w) if norms is None else norms
        return float(self.strengths @ norms + self.lam @ np.abs(w) + self.l2 * (w @ w))

    def value_over_classes(self, W: Floats) -> float:
        """The penalty of the weights of all classes.

        Parameters
        ----------
        W : ndarray of shape (classes, p)
            Weights.

        Returns
        -------
        float
        """
        return self.value_of_sums((W * W).sum(axis=0), np.abs(W).sum(axis=0))

    def value_of_sums(
        self, squares: Floats, absolutes: Floats, norms: Floats | None = None
    ) -> float:
        """The penalty from sums over the classes.

        Parameters
        ----------
        squares, absolutes : ndarray of shape (p,)
            Sums of the squared and of the absolute weights of every feature.
        norms : ndarray of shape (merged groups,), optional
            Norms of the groups, if they are known.

        Returns
        -------
        float
        """
        norms = self.norms(np.sqrt(squares)) if norms is None else norms
        return float(self.strengths @ norms + self.lam @ absolutes + self.l2 * squares.sum())

    def spread(self, values: Floats) -> Floats:
        """For every feature the sum of values of its groups.

        Parameters
        ----------
        values : ndarray of shape (merged groups,)
            A value of every group.

        Returns
        -------
        ndarray of shape (p,)
        """
        out = np.zeros(self.p)
        group_spread(self.indptr, self.indices, values, out)
        return out

    def duals(self, rates: Floats, w: Floats, out: Floats | None = None) -> Floats:
        """Dual variables u_g = rates_g w_g.

        Parameters
        ----------
        rates : ndarray of shape (merged groups,)
            A factor for every group.
        w : ndarray of shape (p,)
            Weights.
        out : ndarray, optional
            Where to write the result.

        Returns
        -------
        ndarray
            One entry for each feature of each merged group.
        """
        u = np.empty(len(self.indices)) if out is None else out
        self._check(w)
        group_scale(self.indptr, self.indices, rates, w, u)
        return u

    def _check(self, w: Floats) -> None:
        """Refuse weights that compiled code would read beyond the end of."""
        if len(w) != self.p:
            raise RecordError(f"{len(w)} weights, but the groups are over {self.p} features.")

    def gather(self, ragged: Floats) -> Floats:
        """M'u: for every feature the sum of its entries in all groups.

        Parameters
        ----------
        ragged : ndarray
            One entry for each feature of each merged group.

        Returns
        -------
        ndarray of shape (p,)
        """
        out = np.zeros(self.p)
        group_gather(self.indices, ragged, out)
        return out

    def improve_duals(
        self, u: Floats, t: Floats, lam: Floats, sweeps: int, room: Floats | None = None
    ) -> None:
        """Choose dual variables u that bring every |t_j| down toward lam_j (D2).

        Parameters
        ----------
        u : ndarray
            One entry for each feature of each merged group, ||u_g|| <= lambda_g; is changed.
        t : ndarray of shape (p,)
            a - M'u; is changed.
        lam : ndarray of shape (p,)
            What l1 takes of each feature.
        sweeps : int
            Rounds of block coordinate descent.
        room : ndarray of shape (merged groups,), optional
            At most lambda_g, which takes its place.
        """
        ball_sweeps(
            self.indptr, self.indices, self.strengths if room is None else room, lam, u, t,
            np.empty(self.p, dtype=np.uint8), np.empty(len(self.strengths), dtype=np.int32), sweeps,
        )  # fmt: skip

    def majorizer(self, s: Floats) -> Separable:
        """A quadratic above the penalty, up to a constant, that touches it where ||w_g|| = s_g.

        ||w_g|| <= ||w_g||^2 / (2 s_g) + s_g / 2 for every s_g > 0 (M1), by the inequality of
        arithmetic and geometric means.

        Parameters
        ----------
        s : ndarray of shape (merged groups,)
            Above 0.

        Returns
        -------
        Separable
        """
        q = self.spread(self.strengths / s)
        q += 2.0 * self.l2
        # Without an l1 strength one array of zeros does for both.
        return Separable(q, np.zeros(self.p) if self.lam.any() else self.lam, self.lam)

    @cached_property
    def floor(self) -> Floats:
        """(p,) m > 0 with sum_j m_j |w_j| <= value(w), since ||w_g||_2 >= ||w_g||_1 / sqrt(|g|)."""
        if self._merged is None:
            floor = self.spread(self.strengths / np.sqrt(np.maximum(self.sizes, 1)))
        else:
            floor = self._merged.least_reach
            floor *= self._group
        floor += self.lam
        np.maximum(floor, np.finfo(np.float64).tiny, out=floor)
        return floor

    @cached_property
    def unpenalized(self) -> Int32s:
        """The features without l1 and l2 that are in no group of a positive strength."""
        if self.l2 > 0.0 or self.lam.all():
            return np.empty(0, dtype=np.int32)
        return np.flatnonzero(self.lam + self.reach == 0.0).astype(np.int32)

    @property
    def reach(self) -> Floats:
        """(p,) The sum of the strengths of the groups that hold a feature."""
        if self._merged is None:
            return self.spread(self.strengths)
        return self._group * self._merged.reach

    @property
    def with_l1(self) -> Floats:
        """(p,) The floor of features that have an l1 penalty, 0 for others."""
        if not self.lam.any():
            return np.zeros(self.p)
        return self.floor if self.lam.all() else np.where(self.lam > 0.0, self.floor, 0.0)

    def copies(self, w: Floats, u: Floats, rho: float = 1.0) -> Floats:
        """Norms of the copies v_g = prox(w_g + u_g / rho) of the *original* groups.

        These are the copies of ADMM (yogatama2014, eq. (5)). At the optimum v_g = w_g; before, v_g
        is exactly zero as soon as ||rho w_g + u_g|| <= lambda_g, so that the groups of a model are
        known earlier than the last digits of its weights.

        Parameters
        ----------
        w : ndarray of shape (p,)
            Weights.
        u : ndarray
            One entry for each feature of each merged group, ||u_g|| <= lambda_g.
        rho : float, default 1.0
            Above 0; a curvature such as that of the loss.

        Returns
        -------
        ndarray of shape (original groups,)
        """
        merged = np.empty(len(self.strengths))
        self._check(w)
        copy_norms(self.indptr, self.indices, self.strengths, rho * w, u, merged)
        merged /= rho
        return self.original_norms(merged, w)

    def select(self, features: Int32s) -> GroupNorms:
        """The same over some features alone, where all others have no weight (docs/maths.md, W1).

        The merged groups of this penalty are what its ``origin`` tells of. A group of which one
        feature is left is an absolute value, so there must be an l1 penalty.

        Parameters
        ----------
        features : int32 ndarray
            Ascending.

        Returns
        -------
        GroupNorms
        """
        place = np.full(self.p, -1, dtype=np.int32)
        place[features] = np.arange(len(features), dtype=np.int32)
        groups = self.holders(features)
        selected = object.__new__(GroupNorms)
        selected.original, selected.l2, selected.p = self.original, self.l2, len(features)
        selected._merged, selected._group = None, self._group
        selected.lam = self.lam[features]
        selected.origin = np.full(len(self.strengths), -1, dtype=np.int64)
        indptr, strengths = np.empty(len(groups) + 1, dtype=np.int64), np.empty(len(groups))
        indices = np.empty_like(self.indices)
        count = select_groups(
            self.indptr, self.indices, self.strengths, groups, place, selected.lam,
            indptr, indices, strengths, selected.origin,
        )  # fmt: skip
        selected.indptr, selected.strengths = indptr[: count + 1], strengths[:count]
        selected.indices = indices[: indptr[count]].copy()  # not the room for all
        selected.sizes = np.diff(selected.indptr)
        return selected

    def holders(self, features: Int32s) -> Int32s:
        """The merged groups that hold any of these features.

        Parameters
        ----------
        features : int32 ndarray

        Returns
        -------
        int32 ndarray
            Ascending.
        """
        holds = np.zeros(len(self.strengths), dtype=bool)
        holds[take_rows(*self._of_features, features)[1]] = True
        return np.flatnonzero(holds).astype(np.int32)

    def degrees(self, features: Int32s) -> Int64s:
        """How many merged groups hold each of some features.

        Parameters
        ----------
        features : int32 ndarray

        Returns
        -------
        int64 ndarray, one for each feature
        """
        ptr = self._of_features[0]
        return ptr[features + 1] - ptr[features]

    @property
    def _of_features(self) -> tuple[Int64s, Int32s]:
        """See ``MergedGroups.holders``."""
        assert self._merged is not None  # not of what select gives
        return self._merged.holders

    def free_of(self, selected: GroupNorms, u: Floats | None = None) -> Floats:
        """What the merged groups can take of the features that :meth:`select` left out (W5).

        Parameters
        ----------
        selected : GroupNorms
            What it gave.
        u : ndarray, optional
            Its dual variables, one entry for each feature of each of its groups; by default they
            take all that these groups have.

        Returns
        -------
        ndarray of shape (merged groups,)
            The strengths of the groups of which nothing was selected, and what u leaves of the
            others; 0 where one feature was, which has all of the strength.
        """
        free = np.where(selected.origin == -1, self.strengths, 0.0)
        if u is not None:
            several = selected.origin >= 0
            left = selected.room(u)
            free[several] = left[selected.origin[several]]
        return free

    def room(self, u: Floats) -> Floats:
        """What dual variables leave of the strength of every group: sqrt(lambda_g^2 - ||u_g||^2).

        Parameters
        ----------
        u : ndarray
            One entry for each feature of each merged group.

        Returns
        -------
        ndarray of shape (merged groups,)
        """
        room = self.strengths**2
        room -= squared_norms(self.indptr, u)
        np.maximum(room, 0.0, out=room)
        return np.sqrt(room, out=room)

    def room_of_originals(self, used: Floats) -> Floats:
        """The share that is left of the squared strength of every *original* group.

        Parameters
        ----------
        used : ndarray of shape (merged groups,)
            What is taken of that of each.

        Returns
        -------
        ndarray of shape (original groups,)
            0 for groups of one feature, whose strength is all in ``lam``.
        """
        squares = self.strengths**2
        share = np.maximum(squares - used, 0.0)
        np.divide(share, squares, out=share, where=squares > 0.0)
        room = np.where(self.origin == -1, 1.0, 0.0)
        shared = self.origin >= 0
        room[shared] = share[self.origin[shared]]
        return room

    def hold(
        self, features: Int32s, wanted: Floats, least: Floats, free: Floats | None = None
    ) -> tuple[Floats, Floats]:
        """What groups can take of features without a weight, all at once (docs/maths.md, W5).

        Parameters
        ----------
        features : int32 ndarray
        wanted, least : ndarray, one for each
            What is to be taken of each, and what would do.
        free : ndarray of shape (merged groups,), optional
            What each group can take, by default its strength.

        Returns
        -------
        ndarray, one for each feature
            What is taken of it.
        ndarray of shape (merged groups,)
            What each group takes: the length of its dual variables over these features.
        """
        free, holders = self.strengths if free is None else free, self._of_features
        lengths, reach = np.zeros(len(free)), np.empty(len(features))
        group_sums(*holders, free, features, reach)

        def taken(y: Floats) -> Floats:
            lengths[:] = 0.0
            group_add(*holders, y * y, features, lengths)
            np.sqrt(lengths, out=lengths)
            sums = np.empty(len(features))
            group_sums(*holders, free / np.maximum(lengths, 1.0), features, sums)
            return sums

        held = shared_out(wanted, least, reach, taken)
        return held, free * np.minimum(lengths, 1.0)

    def keep_at_zero(
        self, features: Int32s, excess: Floats, free: Floats | None = None
    ) -> NDArray[np.bool_]:
        """Which of these features their groups keep at zero, one after the other (W2).

        Parameters
        ----------
        features : int32 ndarray
        excess : ndarray, one for each
            Of their products with the dual variables of the loss, above what l1 takes.
        free : ndarray of shape (merged groups,), optional
            The strengths, 0 for groups that take no part; by default all do.

        Returns
        -------
        ndarray of bool, one for each
        """
        free, holders = self.strengths if free is None else free, self._of_features
        reach = np.empty(len(features))
        group_sums(*holders, free, features, reach)
        share = np.divide(excess, reach, out=np.full(len(reach), np.inf), where=reach > 0.0)
        order = np.argsort(share)
        room, taken = (free > 0.0).astype(float), np.empty(len(features), dtype=np.uint8)
        fill_groups(*holders, room, features[order], share[order], np.zeros(len(room)), taken)
        mask = np.empty(len(features), dtype=bool)
        mask[order] = taken
        return mask & (reach > 0.0)

    def original_norms(self, merged: Floats, w: Floats) -> Floats:
        """Norms of the original groups.

        Parameters
        ----------
        merged : ndarray of shape (merged groups,)
            What :meth:`norms` gives.
        w : ndarray of shape (p,)
            Weights.

        Returns
        -------
        ndarray of shape (original groups,)
        """
        norms = np.zeros(len(self.origin))
        shared = self.origin >= 0
        norms[shared] = merged[self.origin[shared]]
        single = self.origin <= -2
        norms[single] = np.abs(w[-2 - self.origin[single]])
        return norms


class Links:
    """||R [w; v]||_2^2, minimized over v: the quadratic form of a graph over features.

    A virtual feature stands for a class of features: its weight v is no part of the model, and is
    at its optimum for every w.

    Parameters
    ----------
    rows : csr_array, shape (m, p + classes)
        R; its last ``classes`` columns belong to the virtual features.
    classes : int, default 0
        Number of virtual features.

    Notes
    -----
    Where the links leave virtual features undetermined, a ridge of SLIGHT times their curvature
    decides.
    """

    SLIGHT = 1e-10

    def __init__(self, rows: csr_array, classes: int = 0) -> None:
        self.p = rows.shape[1] - classes
        self.rows, self.cache = rows, Cache()
        self.R = rows[:, : self.p].tocsr() if classes else rows
        self.Rt = self.R.T.tocsr()
        self.diagonal: Floats = np.asarray(self.Rt.power(2).sum(axis=1)).ravel()
        self.S = rows[:, self.p :].tocsr() if classes else None
        if self.S is not None:
            from scipy.sparse import diags
            from scipy.sparse.linalg import splu

            self.St = self.S.T.tocsr()
            curvature = np.asarray(self.St.power(2).sum(axis=1)).ravel()
            slight = np.where(curvature > 0.0, self.SLIGHT * curvature, 1.0)
            self._normal = splu((self.St @ self.S + diags(slight)).tocsc())

    @cached_property
    def coupled(self) -> NDArray[np.bool_]:
        """(p,) Whether some row ties the feature to another one, real or virtual."""
        rows = self.rows[np.diff(self.rows.indptr) > 1]
        coupled: NDArray[np.bool_] = np.bincount(rows.indices, minlength=rows.shape[1]) > 0
        return coupled[: self.p]

    @cached_property
    def floor(self) -> Floats:
        """(p,) m >= 0 with sum_j m_j w_j^2 <= the quadratic form, from rows with one feature."""
        alone = self.rows[np.diff(self.rows.indptr) == 1]
        floor = np.zeros(self.rows.shape[1])
        np.add.at(floor, alone.indices, alone.data**2)
        return floor[: self.p]

    def select(self, features: Int64s) -> Links:
        """The quadratic form of these features alone; the others must not be coupled to any.

        Parameters
        ----------
        features : ndarray of int64
            Indices of features.

        Returns
        -------
        Links
        """
        classes = np.arange(self.p, self.rows.shape[1])
        rows = self.rows[:, np.append(features, classes)]
        return Links(rows[np.flatnonzero(np.diff(rows.indptr))], len(classes))

    def product(self, w: Floats) -> Floats:
        """Half the gradient. It is linear in w, and w.product(w) is the value.

        Parameters
        ----------
        w : ndarray of shape (p,)
            Weights.

        Returns
        -------
        ndarray of shape (p,)
        """
        misfit = self.R @ w
        if self.S is not None:
            # The best v = -(S'S)^-1 S'R w, S being the columns of virtual features.
            misfit = misfit - self.S @ self._normal.solve(self.St @ misfit)
        product: Floats = self.Rt @ misfit
        return product


class Quadratic:
    """strength * links(w) + l2 ||w||_2^2 = w.M w, with M = strength R'R + l2 I.

    Parameters
    ----------
    links : Links
        The quadratic form of the graph.
    strength : float
        What it is multiplied by.
    l2 : float
        Strength of the squared weights.
    """

    def __init__(self, links: Links, strength: float, l2: float) -> None:
        check_strengths(strength=strength, l2=l2)
        self.links, self.strength, self.l2 = links, float(strength), float(l2)

    def product(self, w: Floats) -> Floats:
        """M w, half the gradient.

        Parameters
        ----------
        w : ndarray of shape (p,)
            Weights.

        Returns
        -------
        ndarray of shape (p,)
        """
        return self.strength * self.links.product(w) + self.l2 * w

    def value(self, w: Floats) -> float:
        """w.M w.

        Parameters
        ----------
        w : ndarray of shape (p,)
            Weights.

        Returns
        -------
        float
        """
        return float(w @ self.product(w))

    @cached_property
    def floor(self) -> Floats:
        """(p,) m with sum_j m_j w_j^2 <= value(w)."""
        return self.strength * self.links.floor + self.l2
