"""Known n-grams of streams of words, for other kernels."""

from libc.stdint cimport int32_t, int64_t

cdef enum:
    MOST_LEVELS = 100  # that n-grams have; so says the parameter

cdef struct Level:
    const int32_t* stream
    const int32_t* numbers

cdef void find_level(
    const int32_t* parents, const int32_t* words, const int64_t* ptr, Py_ssize_t n_sentences,
    Py_ssize_t k, const int64_t* child_ptr, const int32_t* last, int32_t* ids,
) noexcept nogil
cdef void interleave(
    const Level* levels, Py_ssize_t n_levels, const int64_t* ptr, Py_ssize_t n_sentences,
    int32_t* out, int64_t* out_ptr,
) noexcept nogil
