"""The two inner loops of a greedy pursuit: refit what is active, look for what comes next.

A matrix is three arrays of a CSC matrix, as in ``columns``.
"""

from libc.math cimport INFINITY, fabs


def ridge_descent(const long long[::1] indptr, const int[::1] indices, const double[::1] data,
                  const double[::1] h, double[::1] v, int[::1] features, const double[::1] q,
                  double[::1] bend, double[::1] w, double b, bint fit_intercept,
                  double slack, int passes):
    """Coordinate descent on the model of Newton's method plus a ridge, which never draws to zero:

        v . (X d + d_b) + 1/2 sum_i h_i (X d + d_b)_i^2 + sum_j 1/2 q_j w_j^2

    d and d_b are the changes of w_j, j in features, and of b. The first pass goes through the
    features in the order given, past those whose derivative g is small, g^2 <= slack q_j; the
    others, at most ``passes - 1`` of them, through those that the last one moved. b is moved before
    every pass and after the last. ``v``: (n,), comes in as the loss's derivatives and goes out as
    those of the model. q, w: (columns,), w changed in place. ``bend``: (columns,), becomes the
    second derivative in every w_j that is moved. Of ``features`` nothing is kept but room to work
    in. Returns b.
    """
    if v.shape[0] != h.shape[0]:
        raise ValueError("h and v must have one entry a row")
    if not q.shape[0] == bend.shape[0] == w.shape[0] == indptr.shape[0] - 1:
        raise ValueError("q, bend and w must have one entry a column")
    with nogil:
        _descend(indptr, indices, data, h, v, features, q, bend, w, &b, fit_intercept, slack,
                 passes)
    return b


cdef void _descend(const long long[::1] indptr, const int[::1] indices, const double[::1] data,
                   const double[::1] h, double[::1] v, int[::1] features,
                   const double[::1] q, double[::1] bend, double[::1] w, double* b,
                   bint fit_intercept, double slack, int passes) noexcept nogil:
    cdef Py_ssize_t k, e, moving = features.shape[0], moved
    cdef int i, j, used
    cdef double g, step
    for used in range(passes):
        if fit_intercept:
            _intercept(h, v, b)
        moved = 0
        for k in range(moving):
            j = features[k]
            g = q[j] * w[j]
            for e in range(indptr[j], indptr[j + 1]):
                g += data[e] * v[indices[e]]
            if g * g <= slack * q[j]:
                continue
            if used == 0:
                bend[j] = q[j]
                for e in range(indptr[j], indptr[j + 1]):
                    bend[j] += data[e] * data[e] * h[indices[e]]
            if bend[j] <= 0.0:  # neither ridge nor curvature: no least value
                continue
            step = -g / bend[j]
            w[j] += step
            for e in range(indptr[j], indptr[j + 1]):
                i = indices[e]
                v[i] += h[i] * data[e] * step
            features[moved] = j
            moved += 1
        moving = moved
        if moved == 0:
            break
    if fit_intercept:
        _intercept(h, v, b)


cdef void _intercept(const double[::1] h, double[::1] v, double* b) noexcept nogil:
    cdef Py_ssize_t i
    cdef double g = 0.0, bend = 0.0
    for i in range(v.shape[0]):
        g += v[i]
        bend += h[i]
    if bend > 0.0:
        g = -g / bend
        b[0] += g
        for i in range(v.shape[0]):
            v[i] += h[i] * g


def best_column(const long long[::1] indptr, const int[::1] indices, const double[::1] data,
                const double[::1] r, const int[::1] race, const double[::1] scale,
                const double[::1] products, double error, double reach, double radius, double tie,
                double floor, double floor_reach, double[::1] score, int[::1] fresh):
    """The column with the largest scale |x_j . r|, most of them known to be smaller unlooked.

    ``race``: the columns to choose from, of norm one at most; for each of them ``scale``, 0 or less
    for those that are out, and in ``products`` what x_j . r is but for ``error``. ``radius``: r may
    lie this far from where it belongs. ``reach``: the largest of ``scale``. Every score that may be
    the largest, here or there, is computed.

    ``floor``, ``floor_reach``: score and scale of a rival that is no column; -inf if none. ``tie``:
    scores this much lower, relatively, are equal, and the lowest index has it. ``score``,
    ``fresh``: (race,), room to work in.

    Returns the place in the race, -1 where the floor is no lower, its score, and the radius below
    which its lead over every column that does not tie is certain.
    """
    cdef Py_ssize_t best = -1
    cdef double top = floor, room = INFINITY
    if not race.shape[0] == scale.shape[0] == products.shape[0]:
        raise ValueError("race, scale and products must have the same length")
    if not race.shape[0] == score.shape[0] == fresh.shape[0]:
        raise ValueError("race, score and fresh must have the same length")
    with nogil:
        _best(indptr, indices, data, r, race, scale, products, error, reach, radius, tie,
              floor, floor_reach, score, fresh, &best, &top, &room)
    return best, top, room


cdef inline double product(const long long[::1] indptr, const int[::1] indices,
                           const double[::1] data, const double[::1] r, int j) noexcept nogil:
    cdef Py_ssize_t e
    cdef double total = 0.0
    for e in range(indptr[j], indptr[j + 1]):
        total += data[e] * r[indices[e]]
    return total


cdef void _best(const long long[::1] indptr, const int[::1] indices, const double[::1] data,
                const double[::1] r, const int[::1] race, const double[::1] scale,
                const double[::1] products, double error, double reach, double radius, double tie,
                double floor, double floor_reach, double[::1] score, int[::1] fresh,
                Py_ssize_t* best, double* result, double* room) noexcept nogil:
    cdef Py_ssize_t k, count = 0, first = -1
    cdef int place
    cdef double value, likely = -1.0, top = floor, lead = floor_reach
    for k in range(race.shape[0]):
        value = scale[k] * fabs(products[k])
        if value > likely and scale[k] > 0.0:
            likely, first = value, k
    if first < 0:
        return
    # Who is likely to lead is a good bar for the others.
    value = scale[first] * fabs(product(indptr, indices, data, r, race[first]))
    if value > top:
        top = value
    for k in range(race.shape[0]):
        value = scale[k] * (fabs(products[k]) + error + radius) + reach * radius
        if value < top * (1.0 - tie) or scale[k] <= 0.0:
            continue
        value = scale[k] * fabs(product(indptr, indices, data, r, race[k]))
        score[count] = value
        fresh[count] = <int>k
        count += 1
        if value > top:
            top = value
    if floor < top * (1.0 - tie):
        for k in range(count):
            place = fresh[k]
            if score[k] >= top * (1.0 - tie) and (best[0] < 0 or race[place] < race[best[0]]):
                best[0] = place
                result[0] = score[k]
                lead = scale[place]
    for k in range(count):
        if score[k] < top * (1.0 - tie):
            value = (top - score[k]) / (lead + scale[fresh[k]])
            if value < room[0]:
                room[0] = value
