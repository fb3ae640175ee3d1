"""The inner loops of a greedy pursuit: fit the active features, find the best candidate.

A matrix is the three arrays of a CSC matrix, as in ``columns``.
"""

from libc.math cimport INFINITY, fabs, sqrt


def ridge_descent(const long long[::1] indptr, const int[::1] indices, const double[::1] data,
                  const double[::1] h, double[::1] v, int[::1] features, const double[::1] q,
                  double[::1] curvature, double[::1] w, double b, bint fit_intercept,
                  double slack, int passes):
    """Coordinate descent on the quadratic model of Newton's method plus a ridge:

        v . (X d + d_b) + 1/2 sum_i h_i (X d + d_b)_i^2 + sum_j 1/2 q_j w_j^2

    d and d_b are the changes of w_j, j in features, and of b. The first pass visits the features in
    the order given and skips those whose derivative g is small, g^2 <= slack q_j; the others, at
    most ``passes - 1`` of them, visit those that the last one moved. b is moved before every pass
    and after the last. ``v``: (n,), the derivatives of the loss, becomes those of the model. q, w:
    (columns,), w changed in place. ``curvature``: (columns,), becomes the second derivative in
    every w_j that the first pass visits. ``features`` is overwritten. Returns b.
    """
    cdef Py_ssize_t k, e, moving = features.shape[0], moved
    cdef int i, j, used
    cdef double g, x, bend, step
    if v.shape[0] != h.shape[0]:
        raise ValueError("h and v must have one entry a row")
    if not q.shape[0] == curvature.shape[0] == w.shape[0] == indptr.shape[0] - 1:
        raise ValueError("q, curvature and w must have one entry a column")
    with nogil:
        for used in range(passes):
            if fit_intercept:
                _intercept(h, v, &b)
            moved = 0
            for k in range(moving):
                j = features[k]
                g = q[j] * w[j]
                if used == 0:  # nearly all features are moved: their curvature comes along
                    bend = q[j]
                    for e in range(indptr[j], indptr[j + 1]):
                        i, x = indices[e], data[e]
                        g += x * v[i]
                        bend += x * x * h[i]
                    curvature[j] = bend
                else:
                    bend = curvature[j]
                    for e in range(indptr[j], indptr[j + 1]):
                        g += data[e] * v[indices[e]]
                if g * g <= slack * q[j] or bend <= 0.0:  # neither ridge nor curvature: no minimum
                    continue
                step = -g / bend
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
            _intercept(h, v, &b)
    return b


cdef void _intercept(const double[::1] h, double[::1] v, double* b) noexcept nogil:
    cdef Py_ssize_t i
    cdef double g = 0.0, curvature = 0.0
    for i in range(v.shape[0]):
        g += v[i]
        curvature += h[i]
    if curvature > 0.0:
        g = -g / curvature
        b[0] += g
        for i in range(v.shape[0]):
            v[i] += h[i] * g


cdef inline double column_dot(const long long[::1] indptr, const int[::1] indices,
                              const double[::1] data, const double[::1] r, int j) noexcept nogil:
    cdef Py_ssize_t e
    cdef double total = 0.0
    for e in range(indptr[j], indptr[j + 1]):
        total += data[e] * r[indices[e]]
    return total


def update_dots(const long long[::1] row_indptr, const int[::1] positions,
                const double[::1] values, const double[::1] r, double[::1] last,
                const double[::1] inverse, double tolerance, double[::1] dots):
    """Bring products with ``last`` nearer to those with r, in the rows where it has changed much.

    row_indptr, positions, values: the columns by rows. r, last, inverse: (n,). Row i is followed,
    and ``last`` there becomes r, where n inverse_i (r_i - last_i)^2 > tolerance^2. ``dots``: one
    for each column. Returns the norms of r and of the changes that are left, with the weights
    ``inverse``.
    """
    cdef Py_ssize_t i, e, n = r.shape[0]
    cdef double change, square, length = 0.0, rest = 0.0
    if not n == last.shape[0] == inverse.shape[0] == row_indptr.shape[0] - 1:
        raise ValueError("r, last and inverse must have one entry a row")
    with nogil:
        for i in range(n):
            length += r[i] * r[i] * inverse[i]
            change = r[i] - last[i]
            square = change * change * inverse[i]
            if square * n > tolerance * tolerance:
                for e in range(row_indptr[i], row_indptr[i + 1]):
                    dots[positions[e]] += change * values[e]
                last[i] = r[i]
            else:
                rest += square
    return sqrt(length), sqrt(rest)


def best_column(const long long[::1] indptr, const int[::1] indices, const double[::1] data,
                const double[::1] r, const int[::1] columns, const double[::1] scale,
                const double[::1] dots, double error, double lipschitz, double radius, double tie,
                double rival, double rival_lipschitz, double[::1] score, int[::1] candidates):
    """The column with the largest scale |x_j . r|, without computing all these products.

    ``columns``: (m,) the columns to select from, of norm one at most. ``scale``: (m,), 0 or less
    for columns that are out. ``dots``: (m,), the products x_j . r up to an absolute ``error``.
    ``radius``: r may lie this far from its exact value. ``lipschitz``: the largest of ``scale``.
    The score of every column that may have the largest, here or at the exact r, is computed.

    ``rival``, ``rival_lipschitz``: score and Lipschitz constant of a candidate that is no column;
    -inf if none. ``tie``: scores this much lower, relatively, count as equal, and the lowest index
    is selected. ``score``, ``candidates``: (m,), working memory.

    Returns the position of the best column, -1 where the rival is no lower; its score; and the
    radius below which it is certain to be better than every column that does not tie with it.
    """
    cdef Py_ssize_t k, count = 0, first = -1, best = -1
    cdef int position
    cdef double value, largest = -1.0, top = rival, result = rival, margin = INFINITY
    cdef double lipschitz_of_best = rival_lipschitz
    if not columns.shape[0] == scale.shape[0] == dots.shape[0]:
        raise ValueError("columns, scale and dots must have the same length")
    if not columns.shape[0] == score.shape[0] == candidates.shape[0]:
        raise ValueError("columns, score and candidates must have the same length")
    with nogil:
        for k in range(columns.shape[0]):
            value = scale[k] * fabs(dots[k])
            if value > largest and scale[k] > 0.0:
                largest, first = value, k
    if first < 0:
        return best, result, margin
    with nogil:
        # The score of the likely best excludes most of the others by their bounds.
        value = scale[first] * fabs(column_dot(indptr, indices, data, r, columns[first]))
        top = max(top, value)
        for k in range(columns.shape[0]):
            value = scale[k] * (fabs(dots[k]) + error + radius) + lipschitz * radius
            if value < top * (1.0 - tie) or scale[k] <= 0.0:
                continue
            value = scale[k] * fabs(column_dot(indptr, indices, data, r, columns[k]))
            score[count] = value
            candidates[count] = <int>k
            count += 1
            top = max(top, value)
        if rival < top * (1.0 - tie):
            for k in range(count):
                position = candidates[k]
                if score[k] >= top * (1.0 - tie) and (
                        best < 0 or columns[position] < columns[best]):
                    best = position
                    result = score[k]
                    lipschitz_of_best = scale[position]
        for k in range(count):
            if score[k] < top * (1.0 - tie):
                value = (top - score[k]) / (lipschitz_of_best + scale[candidates[k]])
                margin = min(margin, value)
    return best, result, margin
