"""Curvature and damping of chosen columns of a CSC matrix.

A matrix is three arrays: ``indptr`` int64 (p + 1), ``indices`` int32, ``data`` float64.
"""


def column_curvature(const long long[::1] indptr, const int[::1] indices, const double[::1] data,
                     const double[::1] h, const int[::1] features, double[::1] out):
    """out[k] = sum_i h_i x_ij^2 for j = features[k]. h: (n,), out: (len(features),)."""
    cdef Py_ssize_t k, e
    cdef int j
    cdef double total
    if out.shape[0] != features.shape[0]:
        raise ValueError("out must have one entry per feature")
    with nogil:
        for k in range(features.shape[0]):
            j = features[k]
            total = 0.0
            for e in range(indptr[j], indptr[j + 1]):
                total += data[e] * data[e] * h[indices[e]]
            out[k] = total


def column_damping(const long long[::1] indptr, const int[::1] indices, const double[::1] data,
                   const double[::1] alpha, const int[::1] features, const double[::1] excess,
                   double[::1] factor):
    """Lower factor_i so that every |x_j . (factor alpha)| falls by about |excess[k]|.

    j = features[k]. For each feature only the rows whose term has the sign of ``excess[k]`` are
    damped, all by the same share; a row keeps the smallest of its factors. alpha, factor: (n,),
    factor changed in place. For the certificate (docs/maths.md, damping).
    """
    cdef Py_ssize_t k, e
    cdef int j
    cdef double term, total, share
    if excess.shape[0] != features.shape[0]:
        raise ValueError("excess must have one entry per feature")
    with nogil:
        for k in range(features.shape[0]):
            j = features[k]
            total = 0.0
            for e in range(indptr[j], indptr[j + 1]):
                term = data[e] * alpha[indices[e]]
                if term * excess[k] > 0.0:
                    total += term
            if total == 0.0:
                continue
            share = 1.0 - excess[k] / total
            if share < 0.0:
                share = 0.0
            for e in range(indptr[j], indptr[j + 1]):
                if data[e] * alpha[indices[e]] * excess[k] > 0.0 and factor[indices[e]] > share:
                    factor[indices[e]] = share
