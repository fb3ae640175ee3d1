"""Products of a sparse matrix with several vectors at once, in one pass over the matrix.

A matrix is three arrays, as in ``columns``: the entries of line k, a row or a column, are
``indptr[k]:indptr[k + 1]``. Their values may be float32 or float64, and so may the vectors of
``block_dots``, whose sums are of their type; all else is float64. Every sum runs over the entries
in their order, so the bits of a vector's result do not depend on the others.
"""

from textreg._core.compilers cimport PREFETCH

ctypedef fused value:
    float
    double

ctypedef fused real:
    float
    double

cdef enum:
    AHEAD = 8  # entries between the one that is read and the one that is sent for


def block_dots(const long long[::1] indptr, const int[::1] indices, const value[::1] data,
               const real[:, ::1] V, real[:, ::1] out):
    """out[k] = sum of data[e] V[indices[e]] over the entries e of line k.

    That is X V for a matrix by rows, X'V for one by columns. V: (columns, B), out: (rows, B).
    """
    if out.shape[0] != indptr.shape[0] - 1 or out.shape[1] != V.shape[1]:
        raise ValueError("out must have one entry per line and vector")
    with nogil:
        _dots(indptr, indices, data, V, out)


cdef void _dots(const long long[::1] indptr, const int[::1] indices, const value[::1] data,
                const real[:, ::1] V, real[:, ::1] out) noexcept nogil:
    cdef Py_ssize_t k, at, width = V.shape[1]
    cdef const int* places
    cdef const value* values
    if indices.shape[0] == 0:
        out[:, :] = 0
        return
    places, values = &indices[0], &data[0]
    for k in range(out.shape[0]):
        at = 0
        while at + 16 <= width:
            _line(indptr[k], indptr[k + 1], places, values, &V[0, at], width, &out[k, at], 16)
            at += 16
        if at + 8 <= width:
            _line(indptr[k], indptr[k + 1], places, values, &V[0, at], width, &out[k, at], 8)
            at += 8
        if at + 4 <= width:
            _line(indptr[k], indptr[k + 1], places, values, &V[0, at], width, &out[k, at], 4)
            at += 4
        while at < width:
            _line(indptr[k], indptr[k + 1], places, values, &V[0, at], width, &out[k, at], 1)
            at += 1


cdef inline void _line(long long begin, long long end, const int* indices, const value* data,
                       const real* V, Py_ssize_t width, real* out, int count) noexcept nogil:
    """The products of one line with ``count`` vectors, a constant: their sums are in registers."""
    cdef real[16] sums
    cdef const real* row
    cdef real x
    cdef long long e
    cdef int c
    for c in range(count):
        sums[c] = 0
    for e in range(begin, end):
        if e + AHEAD < end:
            PREFETCH(V + indices[e + AHEAD] * width)
        x = <real> data[e]
        row = V + indices[e] * width
        for c in range(count):
            sums[c] += x * row[c]
    for c in range(count):
        out[c] = sums[c]


def block_sums(const long long[::1] indptr, const int[::1] indices, const value[::1] data,
               const double[:, ::1] V, double[:, ::1] out):
    """out[indices[e]] += data[e] V[k] for the entries e of every line k.

    That is X'V for a matrix by rows, X V for one by columns. V: (rows, B), out: (columns, B),
    changed in place.
    """
    cdef Py_ssize_t k, c, width = V.shape[1]
    cdef long long e
    cdef const double* row
    cdef double* sums
    cdef double x
    if V.shape[0] != indptr.shape[0] - 1 or out.shape[1] != V.shape[1]:
        raise ValueError("V must have one entry per line and vector")
    with nogil:
        for k in range(V.shape[0]):
            for e in range(indptr[k], indptr[k + 1]):
                x, row, sums = data[e], &V[k, 0], &out[indices[e], 0]
                for c in range(width):
                    sums[c] += x * row[c]
