"""The logistic loss c log(1 + exp(-y z)), its derivatives in z, and its conjugate."""

from libc.math cimport fabs, log, log1p

from textreg._core.compilers cimport wide
from textreg._core.vectors cimport LANES, exp_of_negative, log1p_of_unit


def logistic_value(const double[::1] z, const double[::1] y, const double[::1] c):
    """sum_i c_i log(1 + exp(-y_i z_i)); all (n,)."""
    cdef double total = 0.0
    if y.shape[0] != z.shape[0] or c.shape[0] != z.shape[0]:
        raise ValueError("z, y and c must have the same length")
    with nogil:
        _value(z, y, c, &total)
    return total


cdef wide _value(const double[::1] z, const double[::1] y, const double[::1] c,
                 double* total) noexcept nogil:
    cdef double[LANES] e
    cdef Py_ssize_t at = 0, n = z.shape[0]
    while at + LANES <= n:
        total[0] = _add_values(total[0], &z[at], &y[at], &c[at], e, LANES)
        at += LANES
    if at < n:
        total[0] = _add_values(total[0], &z[at], &y[at], &c[at], e, <int> (n - at))


cdef inline double _add_values(double total, const double* z, const double* y, const double* c,
                               double* e, int count) noexcept nogil:
    """total plus the values of ``count`` documents, in their order; e = exp(-|y z|) is written."""
    cdef double[LANES] work
    cdef int j
    for j in range(count):
        work[j] = -fabs(y[j] * z[j])
    exp_of_negative(work, e, count)
    for j in range(count):
        # log(1 + exp(-m)) for either sign of m, without an overflow.
        work[j] = c[j] * (log1p_of_unit(e[j]) + (0.0 if y[j] * z[j] > 0.0 else -(y[j] * z[j])))
    for j in range(count):
        total += work[j]
    return total


def logistic_derivatives(const double[::1] z, const double[::1] y, const double[::1] c,
                         double[::1] r, double[::1] h):
    """First (r) and second (h) derivatives in z; returns the value. All (n,), r and h written."""
    cdef double total = 0.0
    if (y.shape[0] != z.shape[0] or c.shape[0] != z.shape[0] or r.shape[0] != z.shape[0]
            or h.shape[0] != z.shape[0]):
        raise ValueError("z, y, c, r and h must have the same length")
    with nogil:
        _derivatives(z, y, c, r, h, &total)
    return total


cdef wide _derivatives(const double[::1] z, const double[::1] y, const double[::1] c,
                       double[::1] r, double[::1] h, double* total) noexcept nogil:
    cdef Py_ssize_t at = 0, n = z.shape[0]
    while at + LANES <= n:
        total[0] = _add_slopes(total[0], &z[at], &y[at], &c[at], &r[at], &h[at], LANES)
        at += LANES
    if at < n:
        total[0] = _add_slopes(total[0], &z[at], &y[at], &c[at], &r[at], &h[at], <int> (n - at))


cdef inline double _add_slopes(double total, const double* z, const double* y, const double* c,
                               double* r, double* h, int count) noexcept nogil:
    """As ``_add_values``, and both derivatives are written."""
    cdef double[LANES] e
    cdef double inverse
    cdef int j
    total = _add_values(total, z, y, c, e, count)
    for j in range(count):
        inverse = 1.0 / (1.0 + e[j])
        r[j] = -c[j] * y[j] * ((e[j] if y[j] * z[j] > 0.0 else 1.0) * inverse)  # sigmoid(-m)
        h[j] = c[j] * (e[j] * inverse * inverse)
    return total


def logistic_entropy(const double[::1] alpha, const double[::1] y, const double[::1] c):
    """sum_i -c_i (s log s + (1 - s) log(1 - s)), s = alpha_i y_i / c_i: minus the conjugate.

    s is held within [0, 1]; the caller keeps it there but for rounding.
    """
    cdef Py_ssize_t i
    cdef double s, total = 0.0
    if y.shape[0] != alpha.shape[0] or c.shape[0] != alpha.shape[0]:
        raise ValueError("alpha, y and c must have the same length")
    with nogil:
        for i in range(alpha.shape[0]):
            if c[i] > 0.0:
                s = alpha[i] * y[i] / c[i]
                if 0.0 < s < 1.0:
                    total -= c[i] * (s * log(s) + (1.0 - s) * log1p(-s))
    return total
