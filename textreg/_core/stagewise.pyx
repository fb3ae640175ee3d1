"""Forward stagewise: the derivatives c_k = A_k + offset B_k, kept in blocks with bounds.

Features stand in the order of B, so that those of one block have nearly the same. A step changes A
where the chosen feature shares rows with others, and the one number ``offset`` for all the rest.
``top[b]`` and ``bottom[b]`` are at least A_k and -A_k for every k of block b; a block is 2^shift
features. A change can raise them at once, but lowers them only when the block is looked at again.
"""

from libc.math cimport INFINITY, fabs


cdef inline double _larger(double a, double b) noexcept nogil:
    return a if a > b else b


def gram_column(const long long[::1] indptr, const int[::1] indices, const double[::1] data,
                const long long[::1] row_ptr, const int[::1] places, const double[::1] values,
                const double[::1] c, const double[::1] gamma, int j, double[::1] sums,
                unsigned char[::1] seen, int[::1] out_places, double[::1] out_values):
    """Write gamma_k sum_i c_i x_ij x_ik for every k that shares a row with feature j; how many.

    indptr, indices, data: X by columns. row_ptr, places, values: X by rows, its features as places.
    c: (n,) weights. gamma, sums, seen, out_places, out_values: (p,); sums and seen are room to
    work in, zeros before and after. Places come in ascending order where they are many.
    """
    cdef Py_ssize_t p = gamma.shape[0], count
    if not (sums.shape[0] == seen.shape[0] == out_places.shape[0] == out_values.shape[0] == p):
        raise ValueError("all but c must have one entry a column")
    if c.shape[0] != row_ptr.shape[0] - 1:
        raise ValueError("c must have one entry a row")
    if not 0 <= j < indptr.shape[0] - 1:
        raise ValueError("j must be the number of a column")
    with nogil:
        count = _gram(indptr, indices, data, row_ptr, places, values, c, gamma, j, sums, seen,
                      out_places, out_values)
    return count


cdef Py_ssize_t _gram(const long long[::1] indptr, const int[::1] indices, const double[::1] data,
                      const long long[::1] row_ptr, const int[::1] places,
                      const double[::1] values, const double[::1] c, const double[::1] gamma,
                      int j, double[::1] sums, unsigned char[::1] seen, int[::1] out_places,
                      double[::1] out_values) noexcept nogil:
    cdef Py_ssize_t e, f, t, p = gamma.shape[0], count = 0
    cdef int i, k
    cdef double x
    for e in range(indptr[j], indptr[j + 1]):
        i = indices[e]
        x = c[i] * data[e]
        for f in range(row_ptr[i], row_ptr[i + 1]):
            k = places[f]
            sums[k] += x * values[f]
            if not seen[k]:
                seen[k] = 1
                out_places[count] = k
                count += 1
    if 16 * count > p:
        # In order they are read and written in order at every later step.
        count = 0
        for t in range(p):
            if seen[t]:
                out_places[count] = <int> t
                count += 1
    for t in range(count):
        k = out_places[t]
        out_values[t] = gamma[k] * sums[k]
        sums[k] = 0.0
        seen[k] = 0
    return count


def add_entries(const int[::1] places, const double[::1] values, double t, double[::1] A,
                double[::1] top, double[::1] bottom, int shift):
    """A_k += t values for the given places, and bounds that hold for them."""
    if places.shape[0] != values.shape[0]:
        raise ValueError("places and values must have the same length")
    _check_blocks(A.shape[0], top.shape[0], bottom.shape[0], shift)
    with nogil:
        _add_entries(places, values, t, A, top, bottom, shift)


cdef void _add_entries(const int[::1] places, const double[::1] values, double t, double[::1] A,
                       double[::1] top, double[::1] bottom, int shift) noexcept nogil:
    cdef Py_ssize_t e
    cdef int k, b
    cdef double a
    for e in range(places.shape[0]):
        k = places[e]
        a = A[k] + t * values[e]
        A[k] = a
        b = k >> shift
        if a > top[b]:
            top[b] = a
        if -a > bottom[b]:
            bottom[b] = -a


def add_rows(const long long[::1] row_ptr, const int[::1] places, const double[::1] values,
             const int[::1] rows, const double[::1] change, double[::1] A, double[::1] top,
             double[::1] bottom, int shift):
    """A += the given rows, each times its ``change``, and bounds that hold for the sums.

    row_ptr, places, values: a matrix by rows, its features as places. change: one a row given.
    """
    if rows.shape[0] != change.shape[0]:
        raise ValueError("rows and change must have the same length")
    _check_blocks(A.shape[0], top.shape[0], bottom.shape[0], shift)
    with nogil:
        _add_rows(row_ptr, places, values, rows, change, A, top, bottom, shift)


cdef void _add_rows(const long long[::1] row_ptr, const int[::1] places,
                    const double[::1] values, const int[::1] rows, const double[::1] change,
                    double[::1] A, double[::1] top, double[::1] bottom,
                    int shift) noexcept nogil:
    cdef Py_ssize_t e, f
    cdef int k, b
    cdef double a
    for e in range(rows.shape[0]):
        for f in range(row_ptr[rows[e]], row_ptr[rows[e] + 1]):
            k = places[f]
            a = A[k] + values[f] * change[e]
            A[k] = a
            # The sums on the way count as well: too high a bound costs a look, no more.
            b = k >> shift
            if a > top[b]:
                top[b] = a
            if -a > bottom[b]:
                bottom[b] = -a


def settle_offset(double[::1] A, const double[::1] B, double offset, double[::1] top,
                  double[::1] bottom, int shift):
    """A += offset B, and bounds that are met."""
    cdef Py_ssize_t k
    if B.shape[0] != A.shape[0]:
        raise ValueError("A and B must have one entry a column")
    _check_blocks(A.shape[0], top.shape[0], bottom.shape[0], shift)
    with nogil:
        for k in range(A.shape[0]):
            A[k] += offset * B[k]
        for k in range(top.shape[0]):
            _look(A, B, 0.0, top, bottom, shift, k)


cdef double _look(const double[::1] A, const double[::1] B, double offset, double[::1] top,
                  double[::1] bottom, int shift, Py_ssize_t b) noexcept nogil:
    """The largest |c_k| of block b, whose bounds are met from now on."""
    cdef Py_ssize_t k, start = b << shift, stop = (b + 1) << shift
    cdef double up = -INFINITY, down = -INFINITY, best = 0.0
    if stop > A.shape[0]:
        stop = A.shape[0]
    for k in range(start, stop):
        up = A[k] if A[k] > up else up
        down = -A[k] if -A[k] > down else down
        best = _larger(best, fabs(A[k] + offset * B[k]))
    top[b] = up
    bottom[b] = down
    return best


cdef inline double _bound(double offset, double low, double high, double top,
                          double bottom) noexcept nogil:
    """At least |A_k + offset B_k| for k of a block, low <= B_k <= high. Rounding is monotone."""
    cdef double a = offset * low, b = offset * high
    cdef double rise = a if a > b else b, fall = a if a < b else b
    return _larger(top + rise, bottom - fall)


def strongest(const double[::1] A, const double[::1] B, double offset, const double[::1] low,
              const double[::1] high, double[::1] top, double[::1] bottom, const int[::1] order,
              int shift, double tie):
    """The place k of the largest |A_k + offset B_k|, -1 if there is none.

    Among those within the share ``tie`` of the largest, the one with the least ``order``. Only the
    blocks whose bounds reach that far are looked at; their bounds are met from then on. low, high:
    the least and the largest B_k of every block.
    """
    cdef Py_ssize_t place
    if not (A.shape[0] == B.shape[0] == order.shape[0]):
        raise ValueError("A, B and order must have one entry a column")
    _check_blocks(A.shape[0], top.shape[0], bottom.shape[0], shift)
    _check_blocks(A.shape[0], low.shape[0], high.shape[0], shift)
    with nogil:
        place = _strongest(A, B, offset, low, high, top, bottom, order, shift, tie)
    return place


cdef Py_ssize_t _strongest(const double[::1] A, const double[::1] B, double offset,
                           const double[::1] low, const double[::1] high, double[::1] top,
                           double[::1] bottom, const int[::1] order, int shift,
                           double tie) noexcept nogil:
    cdef Py_ssize_t b, k, first = 0, place = -1, blocks = top.shape[0]
    cdef double bound, floor, best = -1.0
    for b in range(blocks):
        bound = _bound(offset, low[b], high[b], top[b], bottom[b])
        if bound > best:
            best, first = bound, b
    if blocks:
        best = _look(A, B, offset, top, bottom, shift, first)
    for b in range(blocks):
        if b != first and _bound(offset, low[b], high[b], top[b], bottom[b]) > best:
            best = _larger(best, _look(A, B, offset, top, bottom, shift, b))
    floor = best - tie * best
    for b in range(blocks):
        if _bound(offset, low[b], high[b], top[b], bottom[b]) >= floor:
            for k in range(b << shift, min((b + 1) << shift, A.shape[0])):
                if (fabs(A[k] + offset * B[k]) >= floor
                        and (place < 0 or order[k] < order[place])):
                    place = k
    return place


cdef int _check_blocks(Py_ssize_t p, Py_ssize_t top, Py_ssize_t bottom, int shift) except -1:
    cdef Py_ssize_t blocks = (p + (1 << shift) - 1) >> shift
    if top != blocks or bottom != blocks:
        raise ValueError("top, bottom, low and high must have one entry a block")
    return 0
