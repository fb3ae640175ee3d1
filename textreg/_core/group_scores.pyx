"""How much of a vector r groups of columns explain: exactly, and by bounds that cost less.

The scores of Skianis et al. (2018), eq. (9) to (11); docs/pursuit.md, G1 and G3.
"""

from libc.math cimport fabs, isnan, sqrt

import numpy as np


cdef class GroupArrays:
    """Groups of columns as the kernels of this module take them, and working memory for a thread.

    matrix: (indptr, indices, data) of a CSC matrix, its columns of norm one or less. weights: (n,)
    of the rows, by which all products of columns are weighted. columns: (m,) indices of the columns
    that groups consist of, no two of them parallel. dense: (row, values, products) of the columns
    with the most entries, written out with their zeros: row (m,), where a column stands in values
    (k, n), which is multiplied by the weights, or -1; products (k, k) of these columns with each
    other. Group g consists of ``members[group_offsets[g]:group_offsets[g + 1]]``, positions in
    ``columns``, those of columns with the most entries first. width: most columns of a group whose
    correlations are asked for. gram_width: the same where the columns' products are needed.
    """

    cdef const long long[::1] indptr
    cdef const int[::1] indices
    cdef const double[::1] data
    cdef const double[::1] weights
    cdef const int[::1] columns
    cdef const int[::1] dense_row
    cdef const double[:, ::1] dense_values
    cdef const double[:, ::1] dense_products
    cdef const long long[::1] offsets
    cdef const int[::1] members
    # Of the present group: its columns, their norms, u = A'r and A'A; and one dense column.
    cdef int[::1] active
    cdef double[::1] norms
    cdef double[::1] vector
    cdef double[:, ::1] gram
    cdef double[::1] column

    def __init__(self, matrix, const double[::1] weights, const int[::1] columns, dense,
                 const long long[::1] group_offsets, const int[::1] members, Py_ssize_t width,
                 Py_ssize_t gram_width):
        self.indptr, self.indices, self.data = matrix
        self.weights, self.columns = weights, columns
        self.dense_row, self.dense_values, self.dense_products = dense
        self.offsets, self.members = group_offsets, members
        if self.dense_row.shape[0] != columns.shape[0]:
            raise ValueError("columns and the rows of dense must have the same length")
        if self.dense_values.shape[1] != weights.shape[0]:
            raise ValueError("dense values and weights must have one entry a row")
        if group_offsets[group_offsets.shape[0] - 1] != members.shape[0]:
            raise ValueError("group_offsets must end at the number of entries of members")
        self.active = np.empty(width, dtype=np.int32)
        self.norms = np.empty(width)
        self.vector = np.empty(width)
        self.gram = np.empty((gram_width, gram_width))
        self.column = np.zeros(weights.shape[0])


def group_correlations(GroupArrays groups, const int[::1] selected, const double[::1] squares,
                       const double[::1] r, double[::1] dots, double[::1] out):
    """out[k] = ||A'r||, A being the columns of group ``selected[k]``: eq. (9) and (11).

    ``squares``: (entries of members,), the square of the norm that each column has in its group, 0
    where it has left the group. ``dots``: (m,), the products of ``columns`` with r, NaN where they
    are not computed yet; those that are needed are written there.
    """
    cdef Py_ssize_t t, k, m
    cdef double total
    _check(groups, selected, squares, r, dots, out, groups.norms.shape[0])
    with nogil:
        for t in range(selected.shape[0]):
            m = _load(groups, selected[t], squares)
            _correlate(groups, m, r, dots)
            total = 0.0
            for k in range(m):
                total += groups.vector[k] * groups.vector[k]
            out[t] = sqrt(total)


def group_projections(GroupArrays groups, const int[::1] selected, const double[::1] squares,
                      const double[::1] r, double[::1] dots, double smoothing, double rank,
                      double[::1] out):
    """out[k] = sqrt(r'A (A'A + smoothing I)^-1 A'r): with smoothing 0 the length of r in span(A).

    Arguments as in :func:`group_correlations`. A column whose part beyond the span of those before
    it has less than ``rank`` of its square adds nothing.
    """
    cdef Py_ssize_t t, e, k, m
    cdef double total
    _check(groups, selected, squares, r, dots, out, groups.gram.shape[0])
    with nogil:
        for t in range(selected.shape[0]):
            m = _load(groups, selected[t], squares)
            _correlate(groups, m, r, dots)
            _gram(groups, m)
            _cholesky(groups.gram, m, smoothing, rank, groups.norms)
            # With A'A + smoothing I = L L' and u = A'r, the score is the length of L^-1 u.
            total = 0.0
            for k in range(m):
                if groups.gram[k, k] > 0.0:
                    groups.vector[k] = groups.vector[k] / groups.gram[k, k]
                else:
                    groups.vector[k] = 0.0
                for e in range(k + 1, m):
                    groups.vector[e] -= groups.vector[k] * groups.gram[k, e]
            for k in range(m):
                total += groups.vector[k] * groups.vector[k]
            out[t] = sqrt(total)


def projection_bounds(GroupArrays groups, const int[::1] selected, const double[::1] squares,
                      double smoothing, double[::1] out):
    """Factors t for which sum_e out[e] (x_j . r)^2, j = members[e], bounds what a group explains.

    That is r'A (A'A + smoothing I)^-1 A'r, for any r and A the columns of the group, or some of
    them (docs/pursuit.md, G3). out[e] is ``squares[e]`` times the sum of the absolute entries in
    the row of that inverse. Only the entries of groups ``selected`` are written; no column may have
    left them. smoothing is above 0. ``squares`` as in :func:`group_correlations`.
    """
    cdef Py_ssize_t t, a, b, k, s, m
    cdef long long start
    cdef double share
    if not squares.shape[0] == out.shape[0] == groups.members.shape[0]:
        raise ValueError("squares and out must have the same length as members")
    _check_width(groups, selected, groups.gram.shape[0])
    with nogil:
        for t in range(selected.shape[0]):
            start = groups.offsets[selected[t]]
            m = _load(groups, selected[t], squares)
            _gram(groups, m)
            _cholesky(groups.gram, m, smoothing, 0.0, groups.vector)
            # The inverse of L, by rows, goes into the other half; its diagonal into the vector.
            for k in range(m):
                groups.vector[k] = 1.0 / groups.gram[k, k]
                for a in range(k):
                    groups.gram[k, a] = 0.0
                for s in range(k):
                    share = groups.gram[s, k]
                    for a in range(s):
                        groups.gram[k, a] -= share * groups.gram[s, a]
                    groups.gram[k, s] -= share * groups.vector[s]
                for a in range(k):
                    groups.gram[k, a] *= groups.vector[k]
            # L^-T L^-1, the inverse of A'A + smoothing I, takes the place of L'.
            for k in range(m):
                for a in range(k):
                    share = groups.gram[k, a]
                    for b in range(a, k):
                        groups.gram[a, b] += share * groups.gram[k, b]
                    groups.gram[a, k] = share * groups.vector[k]
                groups.gram[k, k] = groups.vector[k] * groups.vector[k]
            for a in range(m):
                out[start + a] = 0.0
            for a in range(m):
                out[start + a] += fabs(groups.gram[a, a])
                for b in range(a + 1, m):
                    out[start + a] += fabs(groups.gram[a, b])
                    out[start + b] += fabs(groups.gram[a, b])
            for a in range(m):
                out[start + a] *= groups.norms[a] * groups.norms[a]


cdef _check(GroupArrays groups, const int[::1] selected, const double[::1] squares,
            const double[::1] r, const double[::1] dots, const double[::1] out, Py_ssize_t width):
    """Arrays that do not fit together are refused."""
    if r.shape[0] != groups.weights.shape[0]:
        raise ValueError("r must have one entry a row")
    if squares.shape[0] != groups.members.shape[0]:
        raise ValueError("squares and members must have the same length")
    if dots.shape[0] != groups.columns.shape[0]:
        raise ValueError("dots and columns must have the same length")
    if out.shape[0] != selected.shape[0]:
        raise ValueError("out must have one entry a group")
    _check_width(groups, selected, width)


cdef _check_width(GroupArrays groups, const int[::1] selected, Py_ssize_t width):
    """Groups that have more columns than there is memory for are refused."""
    cdef Py_ssize_t t
    for t in range(selected.shape[0]):
        if groups.offsets[selected[t] + 1] - groups.offsets[selected[t]] > width:
            raise ValueError(f"group {selected[t]} has more than {width} entries, the width")


cdef inline Py_ssize_t _load(GroupArrays groups, int g, const double[::1] squares) noexcept nogil:
    """Write the columns that are left in a group, and their norms; returns how many these are."""
    cdef Py_ssize_t e, m = 0
    for e in range(groups.offsets[g], groups.offsets[g + 1]):
        if squares[e] > 0.0:
            groups.active[m] = groups.members[e]
            groups.norms[m] = sqrt(squares[e])
            m += 1
    return m


cdef inline void _correlate(GroupArrays groups, Py_ssize_t m, const double[::1] r,
                            double[::1] dots) noexcept nogil:
    """The vector u = A'r."""
    cdef Py_ssize_t k, e
    cdef int j
    cdef double total
    for k in range(m):
        if isnan(dots[groups.active[k]]):
            j = groups.columns[groups.active[k]]
            total = 0.0
            for e in range(groups.indptr[j], groups.indptr[j + 1]):
                total += groups.data[e] * r[groups.indices[e]]
            dots[groups.active[k]] = total
        groups.vector[k] = groups.norms[k] * dots[groups.active[k]]


cdef void _gram(GroupArrays groups, Py_ssize_t m) noexcept nogil:
    """The upper half of A'A; each product runs over the entries of the emptier column."""
    cdef Py_ssize_t a, k, e
    cdef int i, j, row, other
    cdef double total
    for a in range(m):
        j, row = groups.columns[groups.active[a]], groups.dense_row[groups.active[a]]
        if row < 0:
            for e in range(groups.indptr[j], groups.indptr[j + 1]):
                groups.column[groups.indices[e]] = (
                    groups.weights[groups.indices[e]] * groups.data[e]
                )
        for k in range(a, m):
            i, other = groups.columns[groups.active[k]], groups.dense_row[groups.active[k]]
            total = 0.0
            if row >= 0 and other >= 0:
                total = groups.dense_products[row, other]
            elif row >= 0:
                for e in range(groups.indptr[i], groups.indptr[i + 1]):
                    total += groups.data[e] * groups.dense_values[row, groups.indices[e]]
            else:
                for e in range(groups.indptr[i], groups.indptr[i + 1]):
                    total += groups.data[e] * groups.column[groups.indices[e]]
            groups.gram[a, k] = groups.norms[k] * groups.norms[a] * total
        if row < 0:
            for e in range(groups.indptr[j], groups.indptr[j + 1]):
                groups.column[groups.indices[e]] = 0.0


cdef void _cholesky(double[:, ::1] gram, Py_ssize_t m, double smoothing, double rank,
                    double[::1] diagonal) noexcept nogil:
    """L', row by row, with L L' = gram + smoothing I, in the place of its upper half.

    ``diagonal``: (m,), becomes the diagonal as it was. Rows of L' whose pivot has less than
    ``rank`` of it become zero.
    """
    cdef Py_ssize_t a, b, s
    cdef double share
    for a in range(m):
        gram[a, a] += smoothing
        diagonal[a] = gram[a, a]
    for s in range(m):
        if gram[s, s] <= rank * diagonal[s]:
            for b in range(s, m):
                gram[s, b] = 0.0
            continue
        gram[s, s] = sqrt(gram[s, s])
        for b in range(s + 1, m):
            gram[s, b] /= gram[s, s]
        for a in range(s + 1, m):
            share = gram[s, a]
            for b in range(a, m):
                gram[a, b] -= share * gram[s, b]


cdef class GroupBounds:
    """Bounds on the scores of groups, each at an r where it was computed or bounded.

    value: (groups,) bounds on the score before it is divided by ``divisor``. origin: (groups,)
    number of the r at which value holds. lipschitz: (groups,) constants of these scores, which are
    functions of r. divisor: (groups,), 0 of a group that is empty.
    """

    cdef double[::1] value
    cdef int[::1] origin
    cdef const double[::1] lipschitz
    cdef const double[::1] divisor

    def __init__(self, double[::1] value, int[::1] origin, const double[::1] lipschitz,
                 const double[::1] divisor):
        self.value, self.origin, self.lipschitz, self.divisor = value, origin, lipschitz, divisor
        if not lipschitz.shape[0] == divisor.shape[0] == value.shape[0] == origin.shape[0]:
            raise ValueError("value, origin, lipschitz and divisor must have one entry a group")


def candidate_groups(GroupArrays groups, GroupBounds bounds, const double[::1] factors,
                     const double[::1] dots, double error, const double[::1] distances,
                     double length, double reach, double radius, double top, int[::1] candidates,
                     double[::1] upper):
    """The groups whose divided score may be ``top`` or more, and bounds on these scores.

    A score is a Lipschitz function of r, and 0 at r = 0, so bounds at another r, its origin, hold
    here too: ``distances[origin]`` is the distance of r from it, ``length`` that from 0. Where such
    a bound is not below ``top``, sum_e ``factors[e]`` ``dots[members[e]]``^2 bounds the square at
    an r that is ``error`` away; if it is lower, ``bounds`` get it, with the last of the distances
    as its origin. ``radius``: r may lie this far from its exact value. ``reach``: the largest
    Lipschitz constant of any other candidate.

    Writes the groups to ``candidates`` and the bounds to ``upper`` (groups,); returns how many.
    """
    cdef Py_ssize_t g, e, count = 0, n_groups = groups.offsets.shape[0] - 1
    cdef int now = <int>distances.shape[0] - 1
    cdef double most, total, share, more
    if factors.shape[0] != groups.members.shape[0]:
        raise ValueError("factors and members must have the same length")
    if dots.shape[0] != groups.columns.shape[0]:
        raise ValueError("dots and columns must have the same length")
    if not bounds.value.shape[0] == candidates.shape[0] == upper.shape[0] == n_groups:
        raise ValueError("bounds, candidates and upper must have one entry a group")
    with nogil:
        for g in range(n_groups):
            if bounds.divisor[g] == 0.0:
                continue
            share = bounds.lipschitz[g] / bounds.divisor[g]
            more = (share + reach) * radius
            most = bounds.value[g] + bounds.lipschitz[g] * distances[bounds.origin[g]]
            if most > bounds.lipschitz[g] * length:
                most = bounds.lipschitz[g] * length
            if most / bounds.divisor[g] + more < top:
                continue
            total = 0.0
            for e in range(groups.offsets[g], groups.offsets[g + 1]):
                total += factors[e] * dots[groups.members[e]] * dots[groups.members[e]]
            total = sqrt(total) + bounds.lipschitz[g] * error
            if total < most:
                bounds.value[g], bounds.origin[g] = total, now
                most = total
            if most / bounds.divisor[g] + more >= top:
                candidates[count] = <int>g
                upper[count] = most / bounds.divisor[g] + more
                count += 1
    return count
