"""Counts of features by row, and what becomes of them, for other kernels."""

from libc.stdint cimport int32_t, int64_t

from textreg._core.text_bits cimport Bits

cdef void count_rows(
    const int32_t* ids, const int64_t* ptr, Py_ssize_t n_rows, int32_t* counts, const Bits* bits,
    int64_t* indptr, int32_t* indices, double* data,
) noexcept nogil
cdef void scale_rows(double* data, const int64_t* ptr, Py_ssize_t n_rows) noexcept nogil
cdef void weigh(
    double* data, const int32_t* indices, const int64_t* ptr, Py_ssize_t n_rows,
    const double* values, const double* factors, const double* norms,
) noexcept nogil
