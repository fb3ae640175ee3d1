"""The logistic loss c log(1 + exp(-y z)), its derivatives in z, and its conjugate."""

from libc.math cimport exp, fabs, log, log1p


def logistic_value(const double[::1] z, const double[::1] y, const double[::1] c):
    """sum_i c_i log(1 + exp(-y_i z_i)); all (n,)."""
    cdef double total
    if y.shape[0] != z.shape[0] or c.shape[0] != z.shape[0]:
        raise ValueError("z, y and c must have the same length")
    with nogil:
        total = _value(z, y, c)
    return total


cdef double _value(const double[::1] z, const double[::1] y, const double[::1] c) noexcept nogil:
    cdef Py_ssize_t i
    cdef double m, total = 0.0
    for i in range(z.shape[0]):
        m = y[i] * z[i]
        # log(1 + exp(-m)) for either sign of m, without an overflow.
        total += c[i] * (log1p(exp(-fabs(m))) + (0.0 if m > 0.0 else -m))
    return total


def logistic_derivatives(const double[::1] z, const double[::1] y, const double[::1] c,
                         double[::1] r, double[::1] h):
    """First (r) and second (h) derivatives in z; returns the value. All (n,), r and h written."""
    cdef double total
    if (y.shape[0] != z.shape[0] or c.shape[0] != z.shape[0] or r.shape[0] != z.shape[0]
            or h.shape[0] != z.shape[0]):
        raise ValueError("z, y, c, r and h must have the same length")
    with nogil:
        total = _derivatives(z, y, c, r, h)
    return total


cdef double _derivatives(const double[::1] z, const double[::1] y, const double[::1] c,
                         double[::1] r, double[::1] h) noexcept nogil:
    cdef Py_ssize_t i
    cdef double m, e, s, total = 0.0
    for i in range(z.shape[0]):
        m = y[i] * z[i]
        e = exp(-fabs(m))
        total += c[i] * (log1p(e) + (0.0 if m > 0.0 else -m))
        s = (e if m > 0.0 else 1.0) / (1.0 + e)  # sigmoid(-m)
        r[i] = -c[i] * y[i] * s
        h[i] = c[i] * e / ((1.0 + e) * (1.0 + e))
    return total


def logistic_entropy(const double[::1] alpha, const double[::1] y, const double[::1] c):
    """sum_i -c_i (s log s + (1 - s) log(1 - s)), s = alpha_i y_i / c_i: minus the conjugate.

    s is held within [0, 1]; the caller keeps it there but for rounding.
    """
    cdef double total
    if y.shape[0] != alpha.shape[0] or c.shape[0] != alpha.shape[0]:
        raise ValueError("alpha, y and c must have the same length")
    with nogil:
        total = _entropy(alpha, y, c)
    return total


cdef double _entropy(const double[::1] alpha, const double[::1] y,
                     const double[::1] c) noexcept nogil:
    cdef Py_ssize_t i
    cdef double s, total = 0.0
    for i in range(alpha.shape[0]):
        if c[i] > 0.0:
            s = alpha[i] * y[i] / c[i]
            if 0.0 < s < 1.0:
                total -= c[i] * (s * log(s) + (1.0 - s) * log1p(-s))
    return total
