"""Sums over overlapping groups: group g is ``indices[indptr[g]:indptr[g + 1]]``.

An array over all entries of all groups (a copy of a weight, a dual variable) is called ragged here:
entry e belongs to feature ``indices[e]``.
"""

from libc.math cimport fabs, sqrt


def group_norms(const long long[::1] indptr, const int[::1] indices, const double[::1] w,
                double[::1] out):
    """out[g] = ||w_g||_2. w: (p,), out: (groups,)."""
    if out.shape[0] != indptr.shape[0] - 1:
        raise ValueError("out must have one entry a group")
    with nogil:
        _norms(indptr, indices, w, out)


cdef void _norms(const long long[::1] indptr, const int[::1] indices, const double[::1] w,
                 double[::1] out) noexcept nogil:
    cdef Py_ssize_t g, e
    cdef double total
    for g in range(out.shape[0]):
        total = 0.0
        for e in range(indptr[g], indptr[g + 1]):
            total += w[indices[e]] * w[indices[e]]
        out[g] = sqrt(total)


def group_spread(const long long[::1] indptr, const int[::1] indices, const double[::1] values,
                 double[::1] out):
    """out[j] += sum of values[g] over the groups g that hold j. values: (groups,), out: (p,)."""
    if values.shape[0] != indptr.shape[0] - 1:
        raise ValueError("values must have one entry a group")
    with nogil:
        _spread(indptr, indices, values, out)


cdef void _spread(const long long[::1] indptr, const int[::1] indices, const double[::1] values,
                  double[::1] out) noexcept nogil:
    cdef Py_ssize_t g, e
    cdef double t
    for g in range(values.shape[0]):
        t = values[g]
        for e in range(indptr[g], indptr[g + 1]):
            out[indices[e]] += t


def ball_sweeps(const long long[::1] indptr, const int[::1] indices, const double[::1] prices,
                const double[::1] lam, double[::1] u, double[::1] z, int sweeps, double tol):
    """Choose u, ||u_g|| <= prices_g, to bring every |z_j| down to lam_j, where z = a - sum_g u_g.

    Block coordinate descent on 1/2 sum_j (|z_j| - lam_j)_+^2. u: ragged, z: (p,), both changed.
    Stops when no |z_j| - lam_j met in a sweep exceeds tol. Returns the sweeps used.
    """
    cdef int used
    if u.shape[0] != indices.shape[0]:
        raise ValueError("u must have one entry for every entry of the groups")
    with nogil:
        used = _sweep(indptr, indices, prices, lam, u, z, sweeps, tol)
    return used


cdef int _sweep(const long long[::1] indptr, const int[::1] indices, const double[::1] prices,
                const double[::1] lam, double[::1] u, double[::1] z, int sweeps,
                double tol) noexcept nogil:
    cdef Py_ssize_t g, e
    cdef int j, used = 0
    cdef bint over
    cdef double total, scale, excess, new, worst
    while used < sweeps:
        used += 1
        worst = 0.0
        for g in range(prices.shape[0]):
            over = False
            for e in range(indptr[g], indptr[g + 1]):
                j = indices[e]
                excess = fabs(z[j]) - lam[j]
                if excess > 0.0:
                    over = True
                    if excess > worst:
                        worst = excess
            if not over:
                continue
            total = 0.0
            for e in range(indptr[g], indptr[g + 1]):
                j = indices[e]
                new = u[e]
                if z[j] > lam[j]:
                    new += z[j] - lam[j]
                elif z[j] < -lam[j]:
                    new += z[j] + lam[j]
                total += new * new
            scale = 1.0 if total <= prices[g] * prices[g] else prices[g] / sqrt(total)
            for e in range(indptr[g], indptr[g + 1]):
                j = indices[e]
                new = u[e]
                if z[j] > lam[j]:
                    new += z[j] - lam[j]
                elif z[j] < -lam[j]:
                    new += z[j] + lam[j]
                new *= scale
                z[j] -= new - u[e]
                u[e] = new
        if worst <= tol:
            break
    return used


def group_duals(const long long[::1] indptr, const int[::1] indices, const double[::1] rates,
                const double[::1] w, double[::1] u, double[::1] held):
    """u_g = rates[g] w_g, and held[j] += its sum over groups. u: ragged, written; held: (p,)."""
    if rates.shape[0] != indptr.shape[0] - 1 or u.shape[0] != indices.shape[0]:
        raise ValueError("rates must have one entry a group, u one for every entry of the groups")
    with nogil:
        _duals(indptr, indices, rates, w, u, held)


cdef void _duals(const long long[::1] indptr, const int[::1] indices, const double[::1] rates,
                 const double[::1] w, double[::1] u, double[::1] held) noexcept nogil:
    cdef Py_ssize_t g, e
    cdef double t
    for g in range(rates.shape[0]):
        for e in range(indptr[g], indptr[g + 1]):
            t = rates[g] * w[indices[e]]
            u[e] = t
            held[indices[e]] += t
