"""Sorting of short runs of ids, shared by the kernels that make them."""

from libc.stdint cimport int32_t

cdef void sort_ids(int32_t* ids, Py_ssize_t n) noexcept nogil
