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
               const real[:, ::1] V, real[:, ::1] out, const int[::1] lines=None):
    """out[k] = sum of data[e] V[indices[e]] over the entries e of line ``lines[k]``, or of line k.

    That is X V for a matrix by rows, X'V for one by columns. V: (columns, B), out: (rows, B), or
    as many rows as there are ``lines``.
    """
    cdef const int* chosen = NULL
    _check(indptr, lines, out.shape[0], out.shape[1] == V.shape[1])
    if indices.shape[0] == 0 or out.shape[0] == 0:
        out[:, :] = 0
        return
    if lines is not None:
        chosen = &lines[0]
    with nogil:
        _dots(&indptr[0], &indices[0], &data[0], chosen, V, out)


def _check(const long long[::1] indptr, const int[::1] lines, Py_ssize_t count, bint as_wide):
    """Refuse arrays that the loops would read beyond their end."""
    if not as_wide or count != (indptr.shape[0] - 1 if lines is None else lines.shape[0]):
        raise ValueError("V and out must have one entry per line and vector")


cdef void _dots(const long long* indptr, const int* indices, const value* data, const int* lines,
                const real[:, ::1] V, real[:, ::1] out) noexcept nogil:
    cdef Py_ssize_t k, at, width = V.shape[1]
    cdef long long begin, end
    for k in range(out.shape[0]):
        at = k if lines == NULL else lines[k]
        begin, end = indptr[at], indptr[at + 1]
        at = 0
        while at + 16 <= width:
            _line(begin, end, indices, data, &V[0, at], width, &out[k, at], 16)
            at += 16
        if at + 8 <= width:
            _line(begin, end, indices, data, &V[0, at], width, &out[k, at], 8)
            at += 8
        if at + 4 <= width:
            _line(begin, end, indices, data, &V[0, at], width, &out[k, at], 4)
            at += 4
        while at < width:
            _line(begin, end, indices, data, &V[0, at], width, &out[k, at], 1)
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
        if count > 1 and e + AHEAD < end:
            PREFETCH(V + indices[e + AHEAD] * width)
        x = <real> data[e]
        row = V + indices[e] * width
        for c in range(count):
            sums[c] += x * row[c]
    for c in range(count):
        out[c] = sums[c]


def block_sums(const long long[::1] indptr, const int[::1] indices, const value[::1] data,
               const double[:, ::1] V, double[:, ::1] out, const int[::1] lines=None):
    """out[indices[e]] += data[e] V[k] for the entries e of line ``lines[k]``, or of line k.

    That is X'V for a matrix by rows, X V for one by columns. V: (rows, B), or as many rows as there
    are ``lines``, out: (columns, B), changed in place.
    """
    cdef Py_ssize_t k, line, c, width = V.shape[1]
    cdef bint every = lines is None
    cdef long long e
    cdef const double* row
    cdef double* sums
    cdef double x
    _check(indptr, lines, V.shape[0], out.shape[1] == width)
    if width == 0:
        return
    with nogil:
        for k in range(V.shape[0]):
            line = k if every else lines[k]
            row = &V[k, 0]
            for e in range(indptr[line], indptr[line + 1]):
                x, sums = data[e], &out[indices[e], 0]
                for c in range(width):
                    sums[c] += x * row[c]
