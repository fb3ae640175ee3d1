"""The curvature of a loss over chosen documents of a CSR matrix: its products, and Gram matrices of
documents and of columns.

A matrix is three arrays: ``indptr`` int64 (n + 1), ``indices`` int32, ``data`` float32 or float64.
Sums are in float64.
"""

ctypedef fused value:
    float
    double


def curvature_product(const long long[::1] indptr, const int[::1] indices,
                      const value[::1] data, const int[::1] rows, const double[::1] h,
                      const double[::1] w, double b, double[::1] scores, double[::1] out):
    """scores_i = x_i . w + b for the documents i of ``rows``, and out += sum_i h_i scores_i x_i;
    returns the sum without x_i.

    One pass over the matrix. w, out: (p,). h, scores: (n,). scores and out are changed in place.
    """
    cdef Py_ssize_t k
    cdef long long e
    cdef int i
    cdef double z, total = 0.0
    if w.shape[0] != out.shape[0]:
        raise ValueError("out must have one entry per weight")
    if scores.shape[0] != h.shape[0]:
        raise ValueError("scores must have one entry per document")
    with nogil:
        for k in range(rows.shape[0]):
            i = rows[k]
            scores[i] = b + _dot(indices, data, indptr[i], indptr[i + 1], w)
            z = h[i] * scores[i]
            total += z
            for e in range(indptr[i], indptr[i + 1]):
                out[indices[e]] += z * data[e]
    return total


cdef inline double _dot(const int[::1] indices, const value[::1] data, long long e, long long end,
                        const double[::1] w) noexcept nogil:
    """The entries from e to end, times w."""
    cdef double z = 0.0, z0 = 0.0, z1 = 0.0, z2 = 0.0, z3 = 0.0
    # Four sums side by side: an addition need not wait for the one before.
    while e + 4 <= end:
        z0 += data[e] * w[indices[e]]
        z1 += data[e + 1] * w[indices[e + 1]]
        z2 += data[e + 2] * w[indices[e + 2]]
        z3 += data[e + 3] * w[indices[e + 3]]
        e += 4
    while e < end:
        z += data[e] * w[indices[e]]
        e += 1
    return z + ((z0 + z1) + (z2 + z3))


def row_scores(const long long[::1] indptr, const int[::1] indices, const value[::1] data,
               const int[::1] rows, const double[::1] w, double b, double[::1] scores):
    """scores_i = x_i . w + b for the documents i of ``rows``. w: (p,), scores: (n,)."""
    if scores.shape[0] != indptr.shape[0] - 1:
        raise ValueError("scores must have one entry per document")
    cdef Py_ssize_t k
    with nogil:
        for k in range(rows.shape[0]):
            scores[rows[k]] = b + _dot(indices, data, indptr[rows[k]], indptr[rows[k] + 1], w)


def row_sums(const long long[::1] indptr, const int[::1] indices, const value[::1] data,
             const int[::1] rows, const double[::1] v, double[::1] out):
    """out += sum_k v_k x_i for i = rows[k]. v: (len(rows),), out: (p,)."""
    if v.shape[0] != rows.shape[0]:
        raise ValueError("v must have one entry per chosen document")
    cdef Py_ssize_t k
    cdef long long e
    with nogil:
        for k in range(rows.shape[0]):
            for e in range(indptr[rows[k]], indptr[rows[k] + 1]):
                out[indices[e]] += v[k] * data[e]


def curvature_diagonal(const long long[::1] indptr, const int[::1] indices,
                       const value[::1] data, const int[::1] rows, const double[::1] h,
                       double[::1] out):
    """out_j += sum_i h_i x_ij^2 over the documents i of ``rows``. h: (n,), out: (p,)."""
    cdef Py_ssize_t k
    cdef long long e
    cdef double x, weight
    if h.shape[0] != indptr.shape[0] - 1:
        raise ValueError("h must have one entry per document")
    with nogil:
        for k in range(rows.shape[0]):
            weight = h[rows[k]]
            for e in range(indptr[rows[k]], indptr[rows[k] + 1]):
                x = data[e]
                out[indices[e]] += weight * (x * x)
