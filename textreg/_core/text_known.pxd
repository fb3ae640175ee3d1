"""Known words: names as UTF-8 bytes, and slots that find them without a Python object."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from textreg._core.text_table cimport Table

cdef void find_words(
    const Table* table, const uint64_t[::1] slots, const uint8_t[::1] names,
    const int64_t[::1] ptr, int32_t* numbers,
) noexcept nogil
