"""Products with A'diag(h)A for a sparse A in rows, in one pass over A."""


def gram_product(const long long[::1] indptr, const int[::1] indices, const double[::1] data,
                 const double[::1] h, const double[::1] v, double shift, double[::1] out):
    """out += A'(h (A v + shift)); returns the sum of h (A v + shift).

    Row i of A is ``data[indptr[i]:indptr[i + 1]]`` at ``indices``. h: (n,), v, out: (p,).
    """
    cdef double total
    if h.shape[0] != indptr.shape[0] - 1:
        raise ValueError("h must have one entry a row")
    if v.shape[0] != out.shape[0]:
        raise ValueError("v and out must have the same length")
    with nogil:
        total = _gram(indptr, indices, data, h, v, shift, out)
    return total


cdef double _gram(const long long[::1] indptr, const int[::1] indices, const double[::1] data,
                  const double[::1] h, const double[::1] v, double shift,
                  double[::1] out) noexcept nogil:
    cdef Py_ssize_t i, e
    cdef double t, total = 0.0
    for i in range(h.shape[0]):
        t = shift
        for e in range(indptr[i], indptr[i + 1]):
            t += data[e] * v[indices[e]]
        t *= h[i]
        total += t
        if t != 0.0:
            for e in range(indptr[i], indptr[i + 1]):
                out[indices[e]] += t * data[e]
    return total
