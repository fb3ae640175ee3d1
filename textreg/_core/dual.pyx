"""Dual coordinate ascent for ridges of several labels at once, in one pass over the matrix.

The matrix is three arrays by rows, as in ``rows``: the entries of document i are
``indptr[i]:indptr[i + 1]``. What a label gets does not depend on the others.
"""

from libc.math cimport copysignf, fabs, fabsf, log, log1p

from textreg._core.compilers cimport PREFETCH, wide
from textreg._core.vectors cimport LANES, exp_of_negative, log1p_of_unit

ctypedef fused real:
    float
    double

cdef enum:
    AHEAD = 8  # entries between the one that is read and the one that is sent for
    LINE = 16  # entries in a line of the cache
    BEGINNING = 128  # entries of a document that are sent for; the processor sees what follows
    TRIES = 8  # Newton steps on the score of a document, at most

cdef double NEAR = 1e-3  # a smaller step ends them, as the next one is about its square
cdef double LEAST = 1e-8  # of the rate times c, where l1 leaves no weight to any word of a document


def dual_sweep(const long long[::1] indptr, const int[::1] indices, const float[::1] data,
               const int[::1] order, const double[::1] squares, const double[:, ::1] cy, double q,
               double lag, double[:, ::1] alpha, real[:, ::1] W, double[::1] b,
               double[:, ::1] moved, const double[::1] least, double curvature=0.0,
               double largest=1.0, Py_ssize_t first=0, Py_ssize_t last=-1):
    """Moves the dual variable of every document in turn to where the dual value is largest.

    The dual of sum_i c_i l(y_i z_i) + q/2 ||w||^2 + (b - b')^2 / (2 lag), at any b': with a step d
    of alpha_i, w moves by d x_i / q and b by d lag. A lag of 0 holds b where it is. order: the
    documents in their turn. squares: ||x_i||^2. cy: (n, B) the weight of a document times its
    target, 1 or -1. alpha: (n, B), y_i times a number between 0 and largest c_i. W: (columns, B),
    b: (B,). These three are changed in place. moved: (n, B), how far each has moved when it last
    did, written. Where that was less than ``least`` (B,) it stays: sweeps over the documents that
    still move are quick. curvature: 0 for the logistic loss. Else l is a hinge: its slope at a
    margin m is -min(largest, max(0, curvature (1 - m))). first, last: labels of this call, all by
    default; several threads may each have some.
    """
    cdef Py_ssize_t width = W.shape[1]
    if (squares.shape[0] != indptr.shape[0] - 1 or cy.shape[0] != squares.shape[0]
            or alpha.shape[0] != squares.shape[0]):
        raise ValueError("squares, cy and alpha must have one entry per document")
    if (cy.shape[1] != width or alpha.shape[1] != width or b.shape[0] != width
            or least.shape[0] != width):
        raise ValueError("cy, alpha, W, b and least must have one entry per label")
    if moved.shape[0] != alpha.shape[0] or moved.shape[1] != width:
        raise ValueError("moved must have one entry per document and label")
    last = width if last < 0 else last
    if first < 0 or first > last or last > width:
        raise ValueError("first and last must be within the labels")
    with nogil:
        _all_labels(indptr, indices, data, order, squares, cy, q, lag, alpha, W, b, moved, least,
                    curvature, largest, first, last)


cdef wide _all_labels(const long long[::1] indptr, const int[::1] indices, const float[::1] data,
                      const int[::1] order, const double[::1] squares, const double[:, ::1] cy,
                      double q, double lag, double[:, ::1] alpha, real[:, ::1] W, double[::1] b,
                      double[:, ::1] moved, const double[::1] least, double curvature,
                      double largest, Py_ssize_t at, Py_ssize_t width) noexcept nogil:
    """The same, for blocks of labels from ``at`` to ``width``."""
    while at + 16 <= width:
        _sweep(indptr, indices, data, order, squares, cy, q, lag, alpha, W, b, moved, least,
               curvature, largest, at, 16)
        at += 16
    if at + 8 <= width:
        _sweep(indptr, indices, data, order, squares, cy, q, lag, alpha, W, b, moved, least,
               curvature, largest, at, 8)
        at += 8
    if at + 4 <= width:
        _sweep(indptr, indices, data, order, squares, cy, q, lag, alpha, W, b, moved, least,
               curvature, largest, at, 4)
        at += 4
    while at < width:
        _sweep(indptr, indices, data, order, squares, cy, q, lag, alpha, W, b, moved, least,
               curvature, largest, at, 1)
        at += 1


cdef inline void _sweep(const long long[::1] indptr, const int[::1] indices, const float[::1] data,
                        const int[::1] order, const double[::1] squares, const double[:, ::1] cy,
                        double q, double lag, double[:, ::1] alpha, real[:, ::1] W,
                        double[::1] b, double[:, ::1] moved, const double[::1] least,
                        double curvature, double largest, Py_ssize_t at,
                        int count) noexcept nogil:
    """The same for ``count`` labels, a constant, from ``at`` on."""
    cdef real[LANES] sums
    cdef real[LANES] steps
    cdef double[LANES] scores
    cdef double[LANES] rates
    cdef double[LANES] moves
    cdef Py_ssize_t k, i
    cdef long long e, end
    cdef int j
    cdef real x
    cdef real* row
    cdef double rate
    for k in range(order.shape[0]):
        i = order[k]
        _send_for(indptr, indices, data, order, cy, alpha, k, at, count)
        rate = squares[i] / q + lag
        if rate <= 0.0 or not _any_moves(&moved[i, at], &least[at], count):
            continue
        for j in range(count):
            sums[j] = 0
        end = indptr[i + 1]
        for e in range(indptr[i], end):
            if e + AHEAD < end:
                PREFETCH(&W[indices[e + AHEAD], at])
            x = <real> data[e]
            row = &W[indices[e], at]
            for j in range(count):
                sums[j] += x * row[j]
        for j in range(count):
            scores[j] = sums[j] + b[at + j]
            rates[j] = rate
        if curvature > 0.0:
            _hinge_moves(scores, &alpha[i, at], &cy[i, at], rate, curvature, largest, moves, count)
        else:
            _moves(scores, &alpha[i, at], &cy[i, at], rates, moves, count)
        for j in range(count):
            moves[j] = moves[j] if moved[i, at + j] >= least[at + j] else 0.0
            moved[i, at + j] = (fabs(moves[j]) if moved[i, at + j] >= least[at + j]
                                else moved[i, at + j])
            alpha[i, at + j] += moves[j]
            b[at + j] += lag * moves[j]
            steps[j] = <real> (moves[j] / q)
        for e in range(indptr[i], end):
            x = <real> data[e]
            row = &W[indices[e], at]
            for j in range(count):  # in registers, and the next loop is of vectors, too
                sums[j] = row[j] + x * steps[j]
            for j in range(count):
                row[j] = sums[j]


cdef inline bint _any_moves(const double* moved, const double* least, int count) noexcept nogil:
    cdef int j
    for j in range(count):
        if moved[j] >= least[j]:
            return True
    return False


def dual_sweep_by_feature(const long long[::1] indptr, const int[::1] indices,
                          const float[::1] data, const int[::1] order, const double[:, ::1] cy,
                          const double[::1] lag, const float[::1] lam,
                          const float[:, ::1] inverse, double[:, ::1] alpha, float[:, ::1] T,
                          double[::1] b):
    """The same for the penalty sum_j lam_j |w_j| + 1/2 q_j w_j^2, where every label has its own q.

    lam: (columns,), or (0,) without an l1 penalty. inverse: (columns, B), 1 / q_j. T: (columns, B),
    the sums X'alpha, of which w_j = S(T_j, lam_j) / q_j, where S brings a number nearer to zero by
    lam_j; so whoever changes q need not change them. lag: (B,). With l1 a document moves as if
    those features stayed at zero that are there.
    """
    cdef Py_ssize_t width = T.shape[1]
    if cy.shape[0] != indptr.shape[0] - 1 or alpha.shape[0] != cy.shape[0]:
        raise ValueError("cy and alpha must have one entry per document")
    if inverse.shape[0] != T.shape[0] or lam.shape[0] not in (0, T.shape[0]):
        raise ValueError("lam, inverse and T must have one entry per column")
    if (cy.shape[1] != width or alpha.shape[1] != width or b.shape[0] != width
            or lag.shape[0] != width or inverse.shape[1] != width):
        raise ValueError("cy, lag, inverse, alpha, T and b must have one entry per label")
    with nogil:
        _all_labels_by_feature(indptr, indices, data, order, cy, lag, lam, inverse, alpha, T, b)


cdef wide _all_labels_by_feature(const long long[::1] indptr, const int[::1] indices,
                                 const float[::1] data, const int[::1] order,
                                 const double[:, ::1] cy, const double[::1] lag,
                                 const float[::1] lam, const float[:, ::1] inverse,
                                 double[:, ::1] alpha, float[:, ::1] T,
                                 double[::1] b) noexcept nogil:
    """The same, with or without an l1 penalty."""
    if lam.shape[0]:
        _blocks_by_feature(indptr, indices, data, order, cy, lag, lam, inverse, alpha, T, b, True)
    else:
        _blocks_by_feature(indptr, indices, data, order, cy, lag, lam, inverse, alpha, T, b, False)


cdef inline void _blocks_by_feature(const long long[::1] indptr, const int[::1] indices,
                                    const float[::1] data, const int[::1] order,
                                    const double[:, ::1] cy, const double[::1] lag,
                                    const float[::1] lam, const float[:, ::1] inverse,
                                    double[:, ::1] alpha, float[:, ::1] T, double[::1] b,
                                    bint has_l1) noexcept nogil:
    """The same for blocks of labels; ``has_l1`` is a constant."""
    cdef Py_ssize_t at = 0, width = T.shape[1]
    while at + 16 <= width:
        _sweep_by_feature(indptr, indices, data, order, cy, lag, lam, inverse, alpha, T, b, at, 16,
                          has_l1)
        at += 16
    if at + 8 <= width:
        _sweep_by_feature(indptr, indices, data, order, cy, lag, lam, inverse, alpha, T, b, at, 8,
                          has_l1)
        at += 8
    if at + 4 <= width:
        _sweep_by_feature(indptr, indices, data, order, cy, lag, lam, inverse, alpha, T, b, at, 4,
                          has_l1)
        at += 4
    while at < width:
        _sweep_by_feature(indptr, indices, data, order, cy, lag, lam, inverse, alpha, T, b, at, 1,
                          has_l1)
        at += 1


cdef inline void _sweep_by_feature(const long long[::1] indptr, const int[::1] indices,
                                   const float[::1] data, const int[::1] order,
                                   const double[:, ::1] cy, const double[::1] lag,
                                   const float[::1] lam, const float[:, ::1] inverse,
                                   double[:, ::1] alpha, float[:, ::1] T, double[::1] b,
                                   Py_ssize_t at, int count, bint has_l1) noexcept nogil:
    """The same for ``count`` labels, from ``at`` on; this and ``has_l1`` are constants."""
    cdef float[LANES] sums
    cdef float[LANES] squares
    cdef float[LANES] steps
    cdef double[LANES] scores
    cdef double[LANES] rates
    cdef double[LANES] moves
    cdef Py_ssize_t k, i
    cdef long long e, end
    cdef int j
    cdef float x, part, least = 0.0, left
    cdef double c
    cdef float* row
    cdef const float* share
    for k in range(order.shape[0]):
        i = order[k]
        _send_for(indptr, indices, data, order, cy, alpha, k, at, count)
        for j in range(count):
            sums[j] = 0
            squares[j] = 0
        end = indptr[i + 1]
        for e in range(indptr[i], end):
            if e + AHEAD < end:
                PREFETCH(&T[indices[e + AHEAD], at])
                PREFETCH(&inverse[indices[e + AHEAD], at])
            x = data[e]
            row = &T[indices[e], at]
            share = &inverse[indices[e], at]
            if has_l1:
                least = lam[indices[e]]
                for j in range(count):
                    left = fabsf(row[j]) - least
                    part = x * share[j] if left > 0.0 else 0.0
                    sums[j] += part * copysignf(left, row[j])
                    squares[j] += part * x
            else:
                for j in range(count):
                    part = x * share[j]
                    sums[j] += part * row[j]
                    squares[j] += part * x
        for j in range(count):
            scores[j] = sums[j] + b[at + j]
            rates[j] = squares[j] + lag[at + j]
            if has_l1:
                c = fabs(cy[i, at + j])
                rates[j] = LEAST / c if rates[j] * c < LEAST and c > 0.0 else rates[j]
        _moves(scores, &alpha[i, at], &cy[i, at], rates, moves, count)
        for j in range(count):
            alpha[i, at + j] += moves[j]
            b[at + j] += lag[at + j] * moves[j]
            steps[j] = <float> moves[j]
        for e in range(indptr[i], end):
            x = data[e]
            row = &T[indices[e], at]
            for j in range(count):
                sums[j] = row[j] + x * steps[j]
            for j in range(count):
                row[j] = sums[j]


cdef inline void _send_for(const long long[::1] indptr, const int[::1] indices,
                           const float[::1] data, const int[::1] order,
                           const double[:, ::1] cy, const double[:, ::1] alpha, Py_ssize_t k,
                           Py_ssize_t at, int count) noexcept nogil:
    """Send for the next document in turn, and for where the one after that lies.

    Documents in their turn lie anywhere: without it a third of a sweep is spent on waiting.
    """
    cdef Py_ssize_t i
    cdef long long e, end
    if k + 2 < order.shape[0]:
        PREFETCH(&indptr[order[k + 2]])
    if k + 1 < order.shape[0]:
        i = order[k + 1]
        PREFETCH(&cy[i, at])
        PREFETCH(&cy[i, at + count - 1])
        PREFETCH(&alpha[i, at])
        PREFETCH(&alpha[i, at + count - 1])
        end = indptr[i + 1]
        if end > indptr[i] + BEGINNING:
            end = indptr[i] + BEGINNING
        for e from indptr[i] <= e < end by LINE:
            PREFETCH(&indices[e])
            PREFETCH(&data[e])


cdef inline void _moves(const double* scores, const double* alpha, const double* cy,
                        const double* rate, double* moves, int count) noexcept nogil:
    """How far every a moves, to where a = c s(-m) for the logistic function s and the new margin m.

    a is y alpha, and c is y cy. Such an m is a root of m - margin - rate (c s(-m) - a), whose sign
    is known: on either side of zero Newton's method cannot pass it twice. A label's steps end when
    one of its own is small, whatever those beside it do. Where rate is not positive a stays.
    """
    cdef double[LANES] y
    cdef double[LANES] m
    cdef double[LANES] minus
    cdef double[LANES] e
    cdef double[LANES] side
    cdef double[LANES] going
    cdef double margin, a, c, s, inverse, step
    cdef int j, _try
    for j in range(count):
        y[j] = 1.0 if cy[j] > 0.0 else -1.0
        m[j] = y[j] * scores[j]
        side[j] = 1.0 if m[j] + rate[j] * (0.5 * y[j] * cy[j] - y[j] * alpha[j]) > 0.0 else -1.0
        going[j] = 1.0
    for _try in range(TRIES):
        for j in range(count):
            m[j] = m[j] if side[j] * m[j] > 0.0 else 0.0
            minus[j] = -fabs(m[j])
        exp_of_negative(minus, e, count)
        for j in range(count):
            margin = y[j] * scores[j]
            a = y[j] * alpha[j]
            c = y[j] * cy[j]
            inverse = 1.0 / (1.0 + e[j])
            s = inverse * (e[j] if m[j] > 0.0 else 1.0)
            step = ((m[j] - margin - rate[j] * (c * s - a))
                    / (1.0 + rate[j] * c * e[j] * inverse * inverse))
            m[j] -= going[j] * step
            going[j] = going[j] if fabs(step) >= NEAR else 0.0
        if not _any(going, count):
            break
    for j in range(count):
        a = y[j] * alpha[j]
        c = y[j] * cy[j]
        step = a + (m[j] - y[j] * scores[j]) / rate[j]
        step = step if step > 0.0 else 0.0
        step = step if step < c else c
        moves[j] = y[j] * (step - a) if rate[j] > 0.0 else 0.0


cdef inline void _hinge_moves(const double* scores, const double* alpha, const double* cy,
                              double rate, double curvature, double largest, double* moves,
                              int count) noexcept nogil:
    """The same for a hinge, to where a = c min(largest, max(0, curvature (1 - m)))."""
    cdef double y, a, c, to
    cdef int j
    for j in range(count):
        y = 1.0 if cy[j] > 0.0 else -1.0
        a = y * alpha[j]
        c = y * cy[j]
        to = (c * curvature * (1.0 - y * scores[j] + rate * a)) / (1.0 + c * curvature * rate)
        to = to if to > 0.0 else 0.0
        to = c * largest if to > c * largest else to  # also where that is 0 times infinity
        moves[j] = y * (to - a)


cdef inline bint _any(const double* going, int count) noexcept nogil:
    cdef int j
    for j in range(count):
        if going[j] != 0.0:
            return True
    return False


def column_losses(const double[:, ::1] Z, const double[:, ::1] cy, const double[::1] b,
                  double[::1] value, double[::1] slope, double[::1] bend,
                  double curvature=0.0, double largest=1.0):
    """sum_i c_i l(y_i (z_i + b)) for every label, and both derivatives in b.

    Z, cy: (n, B). The others: (B,), the last three are written. curvature, largest: as above.
    """
    cdef Py_ssize_t width = cy.shape[1]
    if Z.shape[0] != cy.shape[0]:
        raise ValueError("Z and cy must have one entry per document")
    if (Z.shape[1] != width or b.shape[0] != width or value.shape[0] != width
            or slope.shape[0] != width or bend.shape[0] != width):
        raise ValueError("all must have one entry per label")
    value[:] = 0.0
    slope[:] = 0.0
    bend[:] = 0.0
    with nogil:
        _losses(Z, cy, b, value, slope, bend, curvature, largest)


cdef wide _losses(const double[:, ::1] Z, const double[:, ::1] cy, const double[::1] b,
                  double[::1] value, double[::1] slope, double[::1] bend, double curvature,
                  double largest) noexcept nogil:
    """The same, some labels of a document at a time."""
    cdef Py_ssize_t i, at, width = cy.shape[1]
    for i in range(cy.shape[0]):
        at = 0
        while at + LANES <= width:
            _add_losses(&Z[i, at], &cy[i, at], &b[at], &value[at], &slope[at], &bend[at],
                        curvature, largest, LANES)
            at += LANES
        if at < width:
            _add_losses(&Z[i, at], &cy[i, at], &b[at], &value[at], &slope[at], &bend[at],
                        curvature, largest, <int> (width - at))


cdef inline void _add_losses(const double* z, const double* cy, const double* b, double* value,
                             double* slope, double* bend, double curvature, double largest,
                             int count) noexcept nogil:
    """Add what one document has for ``count`` labels."""
    cdef double[LANES] m
    cdef double[LANES] minus
    cdef double[LANES] e
    cdef double s, inverse, c
    cdef int j
    for j in range(count):
        m[j] = (z[j] + b[j]) * (1.0 if cy[j] > 0.0 else -1.0)
        minus[j] = -fabs(m[j])
    if curvature > 0.0:
        for j in range(count):
            c = fabs(cy[j])
            s = curvature * (1.0 - m[j])
            s = s if s > 0.0 else 0.0
            s = s if s < largest else largest
            value[j] += c * (s * (1.0 - m[j]) - 0.5 * s * s / curvature)
            slope[j] -= cy[j] * s
            bend[j] += c * curvature if 0.0 < s < largest else 0.0
        return
    exp_of_negative(minus, e, count)
    for j in range(count):
        c = fabs(cy[j])
        inverse = 1.0 / (1.0 + e[j])
        # log(1 + exp(-m)) for either sign of m, without an overflow.
        value[j] += c * (log1p_of_unit(e[j]) + (0.0 if m[j] > 0.0 else -m[j]))
        slope[j] -= cy[j] * inverse * (e[j] if m[j] > 0.0 else 1.0)
        bend[j] += c * e[j] * inverse * inverse


def column_conjugates(const double[:, ::1] alpha, const double[:, ::1] cy, double[::1] out,
                      double curvature=0.0, double largest=1.0):
    """sum_i -c_i l*(-alpha_i / c_i) for every label: what the losses add to the dual value.

    With s = alpha y / c, held within [0, largest], it is -c (s log s + (1 - s) log(1 - s)) for the
    logistic loss, and c (s - s^2 / (2 curvature)) for a hinge. alpha, cy: (n, B), out: (B,).
    """
    cdef Py_ssize_t i, j, width = cy.shape[1]
    cdef double s, c
    if alpha.shape[0] != cy.shape[0] or alpha.shape[1] != width or out.shape[0] != width:
        raise ValueError("alpha and cy must have the same shape, and out one entry per label")
    out[:] = 0.0
    with nogil:
        for i in range(cy.shape[0]):
            for j in range(width):
                c = fabs(cy[i, j])
                if c == 0.0:
                    continue
                s = alpha[i, j] / cy[i, j]
                if curvature > 0.0:
                    s = s if s > 0.0 else 0.0
                    s = s if s < largest else largest
                    out[j] += c * (s - 0.5 * s * s / curvature)
                elif 0.0 < s < 1.0:
                    out[j] -= c * (s * log(s) + (1.0 - s) * log1p(-s))
