"""Known character n-grams: what ``index_grams`` makes of them, and how runs are looked up."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

from textreg._core.text_tree cimport Child

cdef enum:
    COMMON = 64  # characters with a bit

cdef struct KnownGrams:
    const uint8_t* classes
    int64_t n_classes
    const uint64_t* nodes  # pairs of a mask and the first child
    int64_t n_parents  # nodes from here on have no child
    int64_t n_nodes
    const Child* rest
    int rest_bits

cdef int bits_of(int64_t size) noexcept nogil
cdef bint find_grams(
    const KnownGrams* known, const uint32_t* spelled, const int64_t* ptr, Py_ssize_t n_runs,
    Py_ssize_t shortest, Py_ssize_t longest, int bits, int32_t* ids,
) noexcept nogil
