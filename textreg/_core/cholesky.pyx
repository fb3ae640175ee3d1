"""Solutions of T'T x = b for an upper triangular T, such as an incomplete Cholesky factor.

T is three arrays, row by row: ``indptr`` int64 (n + 1), ``indices`` int32, ``data`` float64. The
first entry of every row is on the diagonal, the others are to the right of it.
"""


def solve_normal(const long long[::1] indptr, const int[::1] indices, const double[::1] data,
                 double[::1] x):
    """x = (T'T)^-1 x, in place. x: (n,)."""
    cdef Py_ssize_t c, e, first
    cdef double value
    if x.shape[0] != indptr.shape[0] - 1:
        raise ValueError("x must have one entry per row")
    with nogil:
        # T'y = b, column by column of T'.
        for c in range(x.shape[0]):
            first = indptr[c]
            value = x[c] / data[first]
            x[c] = value
            for e in range(first + 1, indptr[c + 1]):
                x[indices[e]] -= value * data[e]
        # T x = y, row by row from the last.
        for c in range(x.shape[0] - 1, -1, -1):
            first = indptr[c]
            value = x[c]
            for e in range(first + 1, indptr[c + 1]):
                value -= data[e] * x[indices[e]]
            x[c] = value / data[first]
