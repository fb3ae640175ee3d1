"""Plain twins of ``textreg._core.group_scores``."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from textreg._core.arrays import Floats, Int32s, Int64s


@dataclass(frozen=True, eq=False)
class GroupArrays:
    """Twin of :class:`textreg._core.group_scores.GroupArrays`."""

    matrix: tuple[Int64s, Int32s, Floats]
    weights: Floats
    columns: Int32s
    dense: tuple[Int32s, Floats, Floats]
    group_offsets: Int64s
    members: Int32s
    width: int
    gram_width: int

    def entries(self, g: int) -> slice:
        """Where group g stands in ``members``."""
        return slice(self.group_offsets[g], self.group_offsets[g + 1])

    def A(self, g: int, squares: Floats) -> tuple[Int32s, Floats]:
        """The columns that are left in a group: positions (m,), and values (n, m)."""
        indptr, indices, data = self.matrix
        left = squares[self.entries(g)] > 0.0
        positions = self.members[self.entries(g)][left]
        A = np.zeros((len(self.weights), len(positions)))
        for a, position in enumerate(positions):
            here = slice(indptr[self.columns[position]], indptr[self.columns[position] + 1])
            A[indices[here], a] = data[here]
        return positions, A * np.sqrt(squares[self.entries(g)][left])

    def dot(self, position: int, r: Floats) -> float:
        """x_j . r of one of the columns."""
        indptr, indices, data = self.matrix
        here = slice(indptr[self.columns[position]], indptr[self.columns[position] + 1])
        return float(data[here] @ r[indices[here]])


def group_correlations(
    groups: GroupArrays, selected: Int32s, squares: Floats, r: Floats, dots: Floats, out: Floats
) -> None:
    """Twin of :func:`textreg._core.group_scores.group_correlations`."""
    for k, g in enumerate(selected.tolist()):
        positions, A = groups.A(g, squares)
        for position in positions:
            dots[position] = groups.dot(position, r)
        out[k] = math.sqrt((A.T @ r) @ (A.T @ r))


def group_projections(
    groups: GroupArrays,
    selected: Int32s,
    squares: Floats,
    r: Floats,
    dots: Floats,
    smoothing: float,
    rank: float,
    out: Floats,
) -> None:
    """Twin of :func:`textreg._core.group_scores.group_projections`."""
    for k, g in enumerate(selected.tolist()):
        positions, A = groups.A(g, squares)
        for position in positions:
            dots[position] = groups.dot(position, r)
        u, gram = A.T @ r, (A.T * groups.weights) @ A + smoothing * np.eye(A.shape[1])
        basis: list[int] = []
        for a in range(len(u)):
            inside = gram[a, basis] @ np.linalg.solve(gram[np.ix_(basis, basis)], gram[basis, a])
            if gram[a, a] - inside > rank * gram[a, a]:
                basis.append(a)
        out[k] = math.sqrt(u[basis] @ np.linalg.solve(gram[np.ix_(basis, basis)], u[basis]))


def projection_bounds(
    groups: GroupArrays, selected: Int32s, squares: Floats, smoothing: float, out: Floats
) -> None:
    """Twin of :func:`textreg._core.group_scores.projection_bounds`."""
    for g in selected.tolist():
        _, A = groups.A(g, squares)
        inverse = np.linalg.inv((A.T * groups.weights) @ A + smoothing * np.eye(A.shape[1]))
        here = groups.entries(g)
        out[here] = squares[here] * np.abs(inverse).sum(axis=1)


@dataclass(frozen=True, eq=False)
class GroupBounds:
    """Twin of :class:`textreg._core.group_scores.GroupBounds`."""

    value: Floats
    origin: Int32s
    lipschitz: Floats
    divisor: Floats


def candidate_groups(
    groups: GroupArrays,
    bounds: GroupBounds,
    factors: Floats,
    dots: Floats,
    error: float,
    distances: Floats,
    length: float,
    reach: float,
    radius: float,
    top: float,
    candidates: Int32s,
    upper: Floats,
) -> int:
    """Twin of :func:`textreg._core.group_scores.candidate_groups`."""
    count = 0
    for g in np.flatnonzero(bounds.divisor).tolist():
        lipschitz, divisor = float(bounds.lipschitz[g]), float(bounds.divisor[g])
        more = (lipschitz / divisor + reach) * radius
        most = min(bounds.value[g] + lipschitz * distances[bounds.origin[g]], lipschitz * length)
        if most / divisor + more < top:
            continue
        here = groups.entries(g)
        total = math.sqrt(factors[here] @ dots[groups.members[here]] ** 2) + lipschitz * error
        if total < most:
            bounds.value[g], bounds.origin[g], most = total, len(distances) - 1, total
        if most / divisor + more >= top:
            candidates[count], upper[count] = g, most / divisor + more
            count += 1
    return count
