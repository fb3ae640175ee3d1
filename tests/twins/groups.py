"""NumPy twins of ``textreg._core.groups``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from textreg._core.arrays import Floats, Int32s, Int64s


def group_norms(indptr: Int64s, indices: Int32s, w: Floats, out: Floats) -> None:
    """Twin of :func:`textreg._core.groups.group_norms`."""
    for g in range(len(out)):
        out[g] = np.linalg.norm(w[indices[indptr[g] : indptr[g + 1]]])


def group_spread(indptr: Int64s, indices: Int32s, values: Floats, out: Floats) -> None:
    """Twin of :func:`textreg._core.groups.group_spread`."""
    np.add.at(out, indices, np.repeat(values, np.diff(indptr)))


def ball_sweeps(
    indptr: Int64s,
    indices: Int32s,
    strengths: Floats,
    lam: Floats,
    u: Floats,
    z: Floats,
    over: NDArray[np.uint8],
    active: Int32s,
    sweeps: int,
) -> int:
    """Twin of :func:`textreg._core.groups.ball_sweeps`."""

    def project(g: int) -> bool:
        here = slice(indptr[g], indptr[g + 1])
        j = indices[here]
        if not over[j].any():
            return False
        new = u[here] + np.copysign(np.maximum(np.abs(z[j]) - lam[j], 0.0), z[j])
        length = float(np.linalg.norm(new))
        if length > strengths[g]:
            new *= strengths[g] / length
        z[j] -= new - u[here]
        u[here] = new
        over[j] = np.abs(z[j]) > lam[j]
        return True

    over[:] = np.abs(z) > lam
    visited = [g for g in range(len(strengths)) if project(g)]
    active[: len(visited)] = visited
    for _ in range(1, sweeps):
        for g in visited:
            project(g)
    return len(visited)


def group_scale(indptr: Int64s, indices: Int32s, rates: Floats, w: Floats, u: Floats) -> None:
    """Twin of :func:`textreg._core.groups.group_scale`."""
    u[:] = np.repeat(rates, np.diff(indptr)) * w[indices]


def copy_norms(
    indptr: Int64s, indices: Int32s, strengths: Floats, w: Floats, u: Floats, out: Floats
) -> None:
    """Twin of :func:`textreg._core.groups.copy_norms`."""
    z = w[indices] + u
    for g in range(len(out)):
        out[g] = max(np.linalg.norm(z[indptr[g] : indptr[g + 1]]) - strengths[g], 0.0)
    out[out <= 1e-9 * strengths] = 0.0


def group_gather(indices: Int32s, u: Floats, out: Floats) -> None:
    """Twin of :func:`textreg._core.groups.group_gather`."""
    np.add.at(out, indices, u)


def admm_copies(
    indptr: Int64s,
    indices: Int32s,
    strengths: Floats,
    w: Floats,
    rho: float,
    relax: float,
    v: Floats,
    u: Floats,
    norms: Floats,
    target: Floats,
) -> tuple[float, float, float, float]:
    """Twin of :func:`textreg._core.groups.admm_copies`."""
    mixed = relax * w[indices] + (1.0 - relax) * v
    new = mixed - u / rho
    for g in range(len(norms)):
        here = slice(indptr[g], indptr[g + 1])
        length = float(np.linalg.norm(new[here]))
        shrink = 0.0 if length * rho <= strengths[g] else 1.0 - strengths[g] / (rho * length)
        new[here] *= shrink
        norms[g] = shrink * length
    moved = new - v
    u += rho * (new - mixed)
    v[:] = new
    np.add.at(target, indices, v + u / rho)
    apart = v - w[indices]
    return float(apart @ apart), float(moved @ moved), float(v @ v), float(u @ u)


def select_groups(
    indptr: Int64s,
    indices: Int32s,
    strengths: Floats,
    groups: Int32s,
    place: Int32s,
    lam: Floats,
    out_indptr: Int64s,
    out_indices: Int32s,
    out_strengths: Floats,
    origin: Int64s,
) -> int:
    """Twin of :func:`textreg._core.groups.select_groups`."""
    count, out_indptr[0] = 0, 0
    for g in groups:
        left = place[indices[indptr[g] : indptr[g + 1]]]
        left = left[left >= 0]
        origin[g] = -1
        if len(left) > 1:
            end = out_indptr[count] + len(left)
            out_indices[out_indptr[count] : end] = left
            out_strengths[count], out_indptr[count + 1] = strengths[g], end
            origin[g] = count
            count += 1
        elif len(left):
            lam[left[0]] += strengths[g]
            origin[g] = -2 - left[0]
    return count


def group_sums(
    indptr: Int64s, indices: Int32s, values: Floats, chosen: Int32s, out: Floats
) -> None:
    """Twin of :func:`textreg._core.groups.group_sums`."""
    for k, g in enumerate(chosen):
        out[k] = values[indices[indptr[g] : indptr[g + 1]]].sum()


def group_add(indptr: Int64s, indices: Int32s, values: Floats, chosen: Int32s, out: Floats) -> None:
    """Twin of :func:`textreg._core.groups.group_add`."""
    for value, g in zip(values, chosen, strict=True):
        np.add.at(out, indices[indptr[g] : indptr[g + 1]], value)


def fill_groups(
    indptr: Int64s,
    indices: Int32s,
    room: Floats,
    features: Int32s,
    share: Floats,
    load: Floats,
    taken: NDArray[np.uint8],
) -> None:
    """Twin of :func:`textreg._core.groups.fill_groups`."""
    for k, j in enumerate(features):
        groups, more = indices[indptr[j] : indptr[j + 1]], share[k] ** 2
        taken[k] = not (room[groups] > 0.0)[~(load[groups] + more <= room[groups])].any()
        if taken[k]:
            np.add.at(load, groups, more)
