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

    d and d_b are the changes of w_j, j in features, and of b. The first pass goes through the features
    in the order given, past those whose derivative g is small, g^2 <= slack q_j; the others, at most
    ``passes - 1`` of them, through those that the last one moved. b is moved before every pass and
    after the last. ``v``: (n,), comes in as the loss's derivatives and goes out as those of the model.
    q, w: (columns,), w changed in place. ``bend``: (columns,), becomes the second derivative in every
    w_j that is moved. Of ``features`` nothing is kept but room to work in. Returns b.
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
                const double[::1] r, const double[::1] scale, double reach, double drift,
                double radius, double tie, double floor, double floor_reach, int hint,
                double[::1] score, double[::1] seen, int[::1] fresh):
    """The column with the largest scale_j |x_j . r|, most of them known to be smaller unlooked.

    x_j has norm one at most, so a score rises by at most ``scale[j]`` times the way that r has gone
    since. ``score``, ``seen``: (p,), the score of every column when last computed (-inf for those
    out of the race) and the value of ``drift``, the length of r's way, at that time. ``radius``: r may
    lie this far from where it belongs. ``reach``: the largest of ``scale``. Every score that may be
    the largest, or at that other r, is computed anew.

    ``floor``, ``floor_reach``: score and scale of a rival that is no column; -inf if none. ``tie``:
    scores this much lower, relatively, are equal, and the lowest index has it. ``hint``: a column
    likely to be good, or -1. ``fresh``: (p,), room to work in.

    Returns the column, -1 where the floor is no lower, and the radius below which its lead over every
    column that does not tie is certain.
    """
    cdef int best = -1
    cdef double room = 0.0
    if not (score.shape[0] == seen.shape[0] == scale.shape[0] == fresh.shape[0]
            == indptr.shape[0] - 1):
        raise ValueError("scale, score, seen and fresh must have one entry a column")
    with nogil:
        _best(indptr, indices, data, r, scale, reach, drift, radius, tie, floor, floor_reach, hint,
              score, seen, fresh, &best, &room)
    return best, room


cdef void _best(const long long[::1] indptr, const int[::1] indices, const double[::1] data,
                const double[::1] r, const double[::1] scale, double reach, double drift,
                double radius, double tie, double floor, double floor_reach, int hint,
                double[::1] score, double[::1] seen, int[::1] fresh, int* best,
                double* room) noexcept nogil:
    cdef Py_ssize_t k, e, j, count = 0
    cdef double total, top = floor, lead
    if hint >= 0 and score[hint] > -INFINITY:
        total = 0.0
        for e in range(indptr[hint], indptr[hint + 1]):
            total += data[e] * r[indices[e]]
        score[hint] = scale[hint] * fabs(total)
        seen[hint] = drift
        if score[hint] > top:
            top = score[hint]
    for j in range(score.shape[0]):
        total = score[j] + scale[j] * (drift - seen[j] + radius) + reach * radius
        if total < top * (1.0 - tie) or total == -INFINITY:
            continue
        total = 0.0
        for e in range(indptr[j], indptr[j + 1]):
            total += data[e] * r[indices[e]]
        score[j] = scale[j] * fabs(total)
        seen[j] = drift
        fresh[count] = <int> j
        count += 1
        if score[j] > top:
            top = score[j]
    lead = floor_reach
    if floor < top * (1.0 - tie):
        for k in range(count):
            if score[fresh[k]] >= top * (1.0 - tie):
                best[0] = fresh[k]
                lead = scale[fresh[k]]
                break
    room[0] = INFINITY
    for k in range(count):
        j = fresh[k]
        if score[j] < top * (1.0 - tie):
            total = (top - score[j]) / (lead + scale[j])
            if total < room[0]:
                room[0] = total
