"""The curvature of the softmax loss over a matrix by rows: its products and its diagonal.

A matrix is three arrays: ``indptr`` int64 (n + 1), ``indices`` int32, ``data``. All numbers are
float32, or all are float64. The last row of weights (p + 1, classes) holds the intercepts.
"""

from textreg._core.compilers cimport PREFETCH

ctypedef fused real:
    float
    double


def softmax_product(const long long[::1] indptr, const int[::1] indices, const real[::1] data,
                    const real[::1] c, const real[:, ::1] P, const real[:, ::1] V,
                    real[:, ::1] out, real[::1] z):
    """out += sum_i x_i' c_i (p_i z_i - p_i (p_i . z_i)) for z_i = x_i V, with x_i,p+1 = 1.

    c: (n,) weights. P: (n, classes) probabilities. V, out: (p + 1, classes), out changed in place.
    z: (classes,), work space.
    """
    cdef Py_ssize_t i, k, classes = P.shape[1], p = V.shape[0] - 1
    cdef const int* places
    cdef const real* values
    cdef Py_ssize_t size, e
    cdef real mean
    if c.shape[0] != indptr.shape[0] - 1 or P.shape[0] != c.shape[0] or z.shape[0] != P.shape[1]:
        raise ValueError("c and P must have one entry per row, z one entry per class")
    if not P.shape[1] == V.shape[1] == out.shape[1] or V.shape[0] != out.shape[0]:
        raise ValueError("V and out must have one entry per column and class")
    if classes == 0:
        return
    with nogil:
        for i in range(P.shape[0]):
            size = indptr[i + 1] - indptr[i]
            places = &indices[0] + indptr[i] if size else NULL
            values = &data[0] + indptr[i] if size else NULL
            if i + 1 < P.shape[0]:
                for e in range(indptr[i + 1], indptr[i + 2]):
                    PREFETCH(&V[indices[e], 0])
                    PREFETCH(&V[indices[e], classes - 1])
            for k in range(classes):
                z[k] = V[p, k]
            k = 0
            while k + 16 <= classes:
                _gather(size, places, values, &V[0, k], classes, &z[k], 16)
                k += 16
            while k + 4 <= classes:
                _gather(size, places, values, &V[0, k], classes, &z[k], 4)
                k += 4
            while k < classes:
                _gather(size, places, values, &V[0, k], classes, &z[k], 1)
                k += 1
            for e in range(indptr[i], indptr[i + 1]):
                PREFETCH(&out[indices[e], 0])
                PREFETCH(&out[indices[e], classes - 1])
            mean = 0
            for k in range(classes):
                z[k] *= P[i, k]
                mean += z[k]
            for k in range(classes):
                z[k] = c[i] * (z[k] - mean * P[i, k])
                out[p, k] += z[k]
            k = 0
            while k + 16 <= classes:
                _scatter(size, places, values, &z[k], classes, &out[0, k], 16)
                k += 16
            while k + 4 <= classes:
                _scatter(size, places, values, &z[k], classes, &out[0, k], 4)
                k += 4
            while k < classes:
                _scatter(size, places, values, &z[k], classes, &out[0, k], 1)
                k += 1


cdef inline void _gather(Py_ssize_t size, const int* places, const real* values, const real* V,
                         Py_ssize_t width, real* out, int count) noexcept nogil:
    """Add to ``out`` the products of one row with ``count`` vectors; it is a constant."""
    cdef real[16] sums
    cdef Py_ssize_t e
    cdef int k
    cdef const real* row
    cdef real x
    for k in range(count):
        sums[k] = out[k]
    for e in range(size):
        x, row = values[e], V + places[e] * width
        for k in range(count):
            sums[k] += x * row[k]
    for k in range(count):
        out[k] = sums[k]


cdef inline void _scatter(Py_ssize_t size, const int* places, const real* values, const real* z,
                          Py_ssize_t width, real* out, int count) noexcept nogil:
    """Add one row times each of ``count`` numbers to the vectors ``out``."""
    cdef real[16] weights
    cdef Py_ssize_t e
    cdef int k
    cdef real* row
    cdef real x
    for k in range(count):
        weights[k] = z[k]
    for e in range(size):
        x, row = values[e], out + places[e] * width
        for k in range(count):
            row[k] += x * weights[k]
