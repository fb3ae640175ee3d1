"""How well groups of columns explain a vector: exactly, and by bounds.

A matrix is three arrays, as in ``columns``, of columns of norm one or less; ``race`` says which of
them there are, no two of them parallel. A group is ``kinds[ptr[g]:ptr[g + 1]]``, places in the
race, those of columns with most entries first; ``squares`` holds the square of the norm that each
is to have there, 0 for those that have left the group. Products of columns are weighted by the
``weights`` (n,) of the rows. ``place``: (race,), the row in ``common`` (some, n), where the fullest
columns stand times the weights with all their zeros, and in ``shared``, their products with each
other; -1 for the others. ``dense``: (n,), zero.
"""

from libc.math cimport fabs, isnan, sqrt


def span_scores(const long long[::1] indptr, const int[::1] indices, const double[::1] data,
                const double[::1] weights, const double[::1] r, const int[::1] race,
                const long long[::1] ptr, const int[::1] kinds, const double[::1] squares,
                const int[::1] groups, bint projected, double smoothing, double rank,
                const int[::1] place, const double[:, ::1] common, const double[:, ::1] shared,
                double[::1] dots, double[::1] dense, double[:, ::1] gram, double[::1] products,
                double[::1] sizes, int[::1] left, double[::1] out):
    """out[k] = ||A'r||, or where ``projected`` the root of r'A (A'A + smoothing I)^-1 A'r.

    A: the columns of group ``groups[k]``. A column whose part beyond the span of those before it
    has less than ``rank`` of its square adds nothing.

    ``dots``: (race,), the products of columns with r, NaN where they are not known yet; those
    that are needed are written there. ``gram``: (m, m), ``products``, ``sizes``, ``left``: (m,),
    room to work in for groups of m columns; without ``projected``, gram is not used.
    """
    if not dense.shape[0] == weights.shape[0] == r.shape[0]:
        raise ValueError("dense, weights and r must have one entry a row")
    if not place.shape[0] == dots.shape[0] == race.shape[0]:
        raise ValueError("race, place and dots must have the same length")
    if squares.shape[0] != kinds.shape[0]:
        raise ValueError("kinds and squares must have the same length")
    if out.shape[0] != groups.shape[0]:
        raise ValueError("out must have one entry a group")
    if not products.shape[0] == sizes.shape[0] == left.shape[0]:
        raise ValueError("products, sizes and left must have the same length")
    if projected and not gram.shape[0] == gram.shape[1] == left.shape[0]:
        raise ValueError("gram must be square and of the same length as left")
    with nogil:
        _scores(indptr, indices, data, weights, r, race, ptr, kinds, squares, groups, projected,
                smoothing, rank, place, common, shared, dots, dense, gram, products, sizes, left,
                out)


cdef void _scores(const long long[::1] indptr, const int[::1] indices, const double[::1] data,
                  const double[::1] weights, const double[::1] r, const int[::1] race,
                  const long long[::1] ptr, const int[::1] kinds, const double[::1] squares,
                  const int[::1] groups, bint projected, double smoothing, double rank,
                  const int[::1] place, const double[:, ::1] common, const double[:, ::1] shared,
                  double[::1] dots, double[::1] dense, double[:, ::1] gram, double[::1] products,
                  double[::1] sizes, int[::1] left, double[::1] out) noexcept nogil:
    cdef Py_ssize_t t, e, k, m
    cdef int j
    cdef double total
    for t in range(groups.shape[0]):
        m = _members(ptr, kinds, squares, groups[t], sizes, left)
        for k in range(m):
            if isnan(dots[left[k]]):
                j = race[left[k]]
                total = 0.0
                for e in range(indptr[j], indptr[j + 1]):
                    total += data[e] * r[indices[e]]
                dots[left[k]] = total
            products[k] = sizes[k] * dots[left[k]]
        if projected:
            _gram(indptr, indices, data, weights, race, m, place, common, shared, dense, sizes,
                  left, gram)
            _cholesky(gram, m, smoothing, rank, sizes)
            for k in range(m):
                products[k] = products[k] / gram[k, k] if gram[k, k] > 0.0 else 0.0
                for e in range(k + 1, m):
                    products[e] -= products[k] * gram[k, e]
        total = 0.0
        for k in range(m):
            total += products[k] * products[k]
        out[t] = sqrt(total)


def span_factors(const long long[::1] indptr, const int[::1] indices, const double[::1] data,
                 const double[::1] weights, const int[::1] race, const long long[::1] ptr,
                 const int[::1] kinds, const double[::1] squares, const int[::1] groups,
                 double smoothing, const int[::1] place, const double[:, ::1] common,
                 const double[:, ::1] shared, double[::1] dense, double[:, ::1] gram,
                 double[::1] whole, double[::1] sizes, int[::1] left, double[::1] out):
    """Factors for which sum_e out[e] (x_j . r)^2, j = kinds[e], bounds what a group explains.

    That is r'A (A'A + smoothing I)^-1 A'r, with any r and A the columns of the group, or some of
    them (docs/pursuit.md, G3). out[e] is ``squares[e]`` times the sum of the absolute entries in
    the row of that inverse. Only those of the ``groups`` are written; no column may have left them.
    smoothing is above 0. ``gram``: (m, m), ``whole``, ``sizes``, ``left``: (m,), room to work in.
    """
    if dense.shape[0] != weights.shape[0]:
        raise ValueError("dense and weights must have one entry a row")
    if place.shape[0] != race.shape[0]:
        raise ValueError("race and place must have the same length")
    if not squares.shape[0] == kinds.shape[0] == out.shape[0]:
        raise ValueError("kinds, squares and out must have the same length")
    if not whole.shape[0] == sizes.shape[0] == left.shape[0]:
        raise ValueError("whole, sizes and left must have the same length")
    if not gram.shape[0] == gram.shape[1] == left.shape[0]:
        raise ValueError("gram must be square and of the same length as left")
    with nogil:
        _factors(indptr, indices, data, weights, race, ptr, kinds, squares, groups, smoothing,
                 place, common, shared, dense, gram, whole, sizes, left, out)


cdef void _factors(const long long[::1] indptr, const int[::1] indices, const double[::1] data,
                   const double[::1] weights, const int[::1] race, const long long[::1] ptr,
                   const int[::1] kinds, const double[::1] squares, const int[::1] groups,
                   double smoothing, const int[::1] place, const double[:, ::1] common,
                   const double[:, ::1] shared, double[::1] dense, double[:, ::1] gram,
                   double[::1] whole, double[::1] sizes, int[::1] left,
                   double[::1] out) noexcept nogil:
    cdef Py_ssize_t t, a, b, k, s, m
    cdef long long start
    cdef double share
    for t in range(groups.shape[0]):
        start = ptr[groups[t]]
        m = _members(ptr, kinds, squares, groups[t], sizes, left)
        _gram(indptr, indices, data, weights, race, m, place, common, shared, dense, sizes, left,
              gram)
        _cholesky(gram, m, smoothing, 0.0, whole)
        # The inverse of the triangle, by rows, goes into the other half; its diagonal to whole.
        for k in range(m):
            whole[k] = 1.0 / gram[k, k]
            for a in range(k):
                gram[k, a] = 0.0
            for s in range(k):
                share = gram[s, k]
                for a in range(s):
                    gram[k, a] -= share * gram[s, a]
                gram[k, s] -= share * whole[s]
            for a in range(k):
                gram[k, a] *= whole[k]
        # Its transpose times it, the inverse of A'A + smoothing I, takes the place of the triangle.
        for k in range(m):
            for a in range(k):
                share = gram[k, a]
                for b in range(a, k):
                    gram[a, b] += share * gram[k, b]
                gram[a, k] = share * whole[k]
            gram[k, k] = whole[k] * whole[k]
        for a in range(m):
            out[start + a] = 0.0
        for a in range(m):
            out[start + a] += fabs(gram[a, a])
            for b in range(a + 1, m):
                out[start + a] += fabs(gram[a, b])
                out[start + b] += fabs(gram[a, b])
        for a in range(m):
            out[start + a] *= sizes[a] * sizes[a]


cdef inline Py_ssize_t _members(const long long[::1] ptr, const int[::1] kinds,
                                const double[::1] squares, int g, double[::1] sizes,
                                int[::1] left) noexcept nogil:
    """What is left of a group, and how many these are."""
    cdef Py_ssize_t e, m = 0
    for e in range(ptr[g], ptr[g + 1]):
        if squares[e] > 0.0:
            left[m] = kinds[e]
            sizes[m] = sqrt(squares[e])
            m += 1
    return m


cdef void _gram(const long long[::1] indptr, const int[::1] indices, const double[::1] data,
                const double[::1] weights, const int[::1] race, Py_ssize_t m, const int[::1] place,
                const double[:, ::1] common, const double[:, ::1] shared, double[::1] dense,
                const double[::1] sizes, const int[::1] left, double[:, ::1] gram) noexcept nogil:
    """The upper half of A'A; products go through the emptier one of each pair."""
    cdef Py_ssize_t a, k, e
    cdef int i, j, at, other
    cdef double total
    for a in range(m):
        j, at = race[left[a]], place[left[a]]
        if at < 0:
            for e in range(indptr[j], indptr[j + 1]):
                dense[indices[e]] = weights[indices[e]] * data[e]
        for k in range(a, m):
            i, other = race[left[k]], place[left[k]]
            total = 0.0
            if at >= 0 and other >= 0:
                total = shared[at, other]
            elif at >= 0:
                for e in range(indptr[i], indptr[i + 1]):
                    total += data[e] * common[at, indices[e]]
            else:
                for e in range(indptr[i], indptr[i + 1]):
                    total += data[e] * dense[indices[e]]
            gram[a, k] = sizes[k] * sizes[a] * total
        if at < 0:
            for e in range(indptr[j], indptr[j + 1]):
                dense[indices[e]] = 0.0


cdef void _cholesky(double[:, ::1] gram, Py_ssize_t m, double smoothing, double rank,
                    double[::1] whole) noexcept nogil:
    """L', row by row, with L L' = gram + smoothing I, in the place of its upper half.

    ``whole``: (m,), becomes the diagonal as it was.
    """
    cdef Py_ssize_t a, b, s
    cdef double share
    for a in range(m):
        gram[a, a] += smoothing
        whole[a] = gram[a, a]
    for s in range(m):
        if gram[s, s] <= rank * whole[s]:
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


def near_groups(const long long[::1] ptr, const int[::1] kinds, const double[::1] factors,
                const double[::1] products, double error, const double[::1] lipschitz,
                const double[::1] divisor, const double[::1] gone, double length, double reach,
                double radius, double top, int now, double[::1] value, int[::1] where,
                int[::1] near, double[::1] bound):
    """The groups whose score may be ``top`` or more, and bounds on their scores.

    The score of a group over its ``divisor`` is Lipschitz in r with the constant ``lipschitz``,
    and 0 where r is. ``value`` bounds it at the place number ``where``, from which r has gone
    ``gone[where]``; ``length``: of r. Where that is too much, sum_e ``factors[e]``
    ``products[kinds[e]]``^2 bounds the square, at an r as far from this one as ``error``; value and
    where are changed then, ``now`` being the number of this place. ``radius``: r may lie this far
    from where it belongs. ``reach``: the largest constant of any rival. A group with a divisor of
    0 is empty.

    Writes the groups to ``near`` and the bounds to ``bound`` (groups,); returns how many.
    """
    cdef Py_ssize_t count = 0
    if factors.shape[0] != kinds.shape[0]:
        raise ValueError("kinds and factors must have the same length")
    if not lipschitz.shape[0] == divisor.shape[0] == value.shape[0] == ptr.shape[0] - 1:
        raise ValueError("lipschitz, divisor and value must have one entry a group")
    if not where.shape[0] == near.shape[0] == bound.shape[0] == ptr.shape[0] - 1:
        raise ValueError("where, near and bound must have one entry a group")
    with nogil:
        count = _near(ptr, kinds, factors, products, error, lipschitz, divisor, gone, length, reach,
                      radius, top, now, value, where, near, bound)
    return count


cdef Py_ssize_t _near(const long long[::1] ptr, const int[::1] kinds, const double[::1] factors,
                      const double[::1] products, double error, const double[::1] lipschitz,
                      const double[::1] divisor, const double[::1] gone, double length,
                      double reach, double radius, double top, int now, double[::1] value,
                      int[::1] where, int[::1] near, double[::1] bound) noexcept nogil:
    cdef Py_ssize_t g, e, count = 0
    cdef double most, total, share, more
    for g in range(ptr.shape[0] - 1):
        if divisor[g] == 0.0:
            continue
        share = lipschitz[g] / divisor[g]
        more = (share + reach) * radius
        most = value[g] + lipschitz[g] * gone[where[g]]
        if most > lipschitz[g] * length:
            most = lipschitz[g] * length
        if most / divisor[g] + more < top:
            continue
        total = 0.0
        for e in range(ptr[g], ptr[g + 1]):
            total += factors[e] * products[kinds[e]] * products[kinds[e]]
        total = sqrt(total) + lipschitz[g] * error
        if total < most:
            value[g], where[g] = total, now
            most = total
        if most / divisor[g] + more >= top:
            near[count] = <int>g
            bound[count] = most / divisor[g] + more
            count += 1
    return count
