"""Forward stagewise (hooker2004): the derivatives c_k = A_k + offset B_k, in blocks with bounds.

Features have positions in the order of B, so that B is nearly the same within a block of 2^shift
features. A step changes A where the selected feature shares rows with others, and the one number
``offset`` for all the rest. ``top[b]`` and ``bottom[b]`` are at least A_k and -A_k for every k of
block b. A change raises them at once; they are lowered only when the whole block is visited.
"""

from libc.math cimport INFINITY, fabs


cdef inline double _larger(double a, double b) noexcept nogil:
    return a if a > b else b


def gram_column(const long long[::1] indptr, const int[::1] indices, const double[::1] data,
                const long long[::1] row_indptr, const int[::1] positions,
                const double[::1] values, const double[::1] c, const double[::1] gamma, int j,
                double[::1] sums, unsigned char[::1] visited, int[::1] out_positions,
                double[::1] out_values):
    """Write gamma_k sum_i c_i x_ij x_ik for every k that shares a row with j; returns how many.

    indptr, indices, data: X by columns. row_indptr, positions, values: X by rows, its features as
    positions. c: (n,) weights. gamma, sums, visited, out_positions, out_values: (p,); sums and
    visited are working memory, zeros before and after. Many positions are written in ascending
    order.
    """
    cdef Py_ssize_t e, f, t, p = gamma.shape[0], count = 0
    cdef int i, k
    cdef double x
    if not (sums.shape[0] == visited.shape[0] == p
            and out_positions.shape[0] == out_values.shape[0] == p):
        raise ValueError("all but c must have one entry a column")
    if c.shape[0] != row_indptr.shape[0] - 1:
        raise ValueError("c must have one entry a row")
    if not 0 <= j < indptr.shape[0] - 1:
        raise ValueError("j must be the number of a column")
    with nogil:
        for e in range(indptr[j], indptr[j + 1]):
            i = indices[e]
            x = c[i] * data[e]
            for f in range(row_indptr[i], row_indptr[i + 1]):
                k = positions[f]
                sums[k] += x * values[f]
                if not visited[k]:
                    visited[k] = 1
                    out_positions[count] = k
                    count += 1
        if 16 * count > p:
            # Sorted, so that every later step reads and writes memory in order.
            count = 0
            for t in range(p):
                if visited[t]:
                    out_positions[count] = <int> t
                    count += 1
        for t in range(count):
            k = out_positions[t]
            out_values[t] = gamma[k] * sums[k]
            sums[k] = 0.0
            visited[k] = 0
    return count


def add_entries(const int[::1] positions, const double[::1] values, double t, double[::1] A,
                double[::1] top, double[::1] bottom, int shift):
    """A_k += t values for the given positions, and bounds that hold for them."""
    cdef Py_ssize_t e
    if positions.shape[0] != values.shape[0]:
        raise ValueError("positions and values must have the same length")
    _check_blocks(A.shape[0], top.shape[0], bottom.shape[0], shift)
    with nogil:
        for e in range(positions.shape[0]):
            _add(positions[e], t * values[e], A, top, bottom, shift)


def add_rows(const long long[::1] row_indptr, const int[::1] positions, const double[::1] values,
             const int[::1] rows, const double[::1] change, double[::1] A, double[::1] top,
             double[::1] bottom, int shift):
    """A += the given rows, each times its ``change``, and bounds that hold for the sums.

    row_indptr, positions, values: a matrix by rows, its features as positions. change: one for
    each given row.
    """
    cdef Py_ssize_t e, f
    if rows.shape[0] != change.shape[0]:
        raise ValueError("rows and change must have the same length")
    _check_blocks(A.shape[0], top.shape[0], bottom.shape[0], shift)
    with nogil:
        for e in range(rows.shape[0]):
            for f in range(row_indptr[rows[e]], row_indptr[rows[e] + 1]):
                _add(positions[f], values[f] * change[e], A, top, bottom, shift)


cdef inline void _add(int k, double change, double[::1] A, double[::1] top, double[::1] bottom,
                      int shift) noexcept nogil:
    """A_k += change, and bounds that hold for it; partial sums raise them, which costs time."""
    cdef int b = k >> shift
    A[k] += change
    if A[k] > top[b]:
        top[b] = A[k]
    if -A[k] > bottom[b]:
        bottom[b] = -A[k]


def apply_offset(double[::1] A, const double[::1] B, double offset, double[::1] top,
                 double[::1] bottom, int shift):
    """A += offset B, and the tightest bounds."""
    cdef Py_ssize_t k
    if B.shape[0] != A.shape[0]:
        raise ValueError("A and B must have one entry a column")
    _check_blocks(A.shape[0], top.shape[0], bottom.shape[0], shift)
    with nogil:
        for k in range(A.shape[0]):
            A[k] += offset * B[k]
        for k in range(top.shape[0]):
            _bound_block(A, B, 0.0, top, bottom, shift, k)


cdef double _bound_block(const double[::1] A, const double[::1] B, double offset,
                         double[::1] top, double[::1] bottom, int shift,
                         Py_ssize_t b) noexcept nogil:
    """The largest |c_k| of block b; its bounds become tight."""
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


def largest_derivative(const double[::1] A, const double[::1] B, double offset,
                       const double[::1] low, const double[::1] high, double[::1] top,
                       double[::1] bottom, const int[::1] order, int shift, double tie,
                       double noise):
    """The position k of the largest |A_k + offset B_k|, -1 if there is none.

    Among those within the share ``tie`` of the largest and ``noise``, the one with the least
    ``order``. Only blocks whose bounds are as large are visited, and their bounds become tight.
    low, high: the least and the largest B_k of every block.
    """
    cdef Py_ssize_t b, k, first = 0, position = -1, blocks = top.shape[0]
    cdef double bound, floor, best = -1.0
    if not (A.shape[0] == B.shape[0] == order.shape[0]):
        raise ValueError("A, B and order must have one entry a column")
    _check_blocks(A.shape[0], top.shape[0], bottom.shape[0], shift)
    _check_blocks(A.shape[0], low.shape[0], high.shape[0], shift)
    with nogil:
        # Start with the block of the largest bound: its maximum excludes most of the others.
        for b in range(blocks):
            bound = _bound(offset, low[b], high[b], top[b], bottom[b])
            if bound > best:
                best, first = bound, b
        if blocks:
            best = _bound_block(A, B, offset, top, bottom, shift, first)
        for b in range(blocks):
            if b != first and _bound(offset, low[b], high[b], top[b], bottom[b]) > best:
                best = _larger(best, _bound_block(A, B, offset, top, bottom, shift, b))
        floor = best - tie * best - noise
        for b in range(blocks):
            if _bound(offset, low[b], high[b], top[b], bottom[b]) >= floor:
                for k in range(b << shift, min((b + 1) << shift, A.shape[0])):
                    if (fabs(A[k] + offset * B[k]) >= floor
                            and (position < 0 or order[k] < order[position])):
                        position = k
    return position


cdef int _check_blocks(Py_ssize_t p, Py_ssize_t top, Py_ssize_t bottom, int shift) except -1:
    cdef Py_ssize_t blocks = (p + (1 << shift) - 1) >> shift
    if top != blocks or bottom != blocks:
        raise ValueError("top, bottom, low and high must have one entry a block")
    return 0
