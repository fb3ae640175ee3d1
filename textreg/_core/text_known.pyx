"""Known words, found in new texts without a Python object for any.

Names are UTF-8 bytes one after another: name i is ``names[ptr[i]:ptr[i + 1]]``. They are found by
open addressing, by the hash of their blocks of eight bytes, as the scanner has read them
(``text_table``).
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

from textreg._core.text_spelling cimport mixed
from textreg._core.text_table cimport Table

import numpy as np

cdef enum:
    LOW = 0xFFFFFFFF


def index_names(const uint8_t[::1] names, const int64_t[::1] ptr):
    """Slots that find names, uint64: half of a hash and the number from 1 up; 0 is free.

    Returns None if two names are the same.
    """
    cdef int64_t n = ptr.shape[0] - 1
    cdef int bits = bits_for(n)
    slots = np.zeros(<int64_t> 1 << bits, dtype=np.uint64)
    cdef uint64_t[::1] view = slots
    cdef bint distinct
    with nogil:
        distinct = fill_slots(names, ptr, view, bits)
    return slots if distinct else None


cdef int bits_for(int64_t n) noexcept nogil:
    """The binary logarithm of a number of slots of which n take half at most."""
    cdef int bits = 2
    while <int64_t> 1 << bits < 2 * n:
        bits += 1
    return bits


cdef bint fill_slots(
    const uint8_t[::1] names, const int64_t[::1] ptr, uint64_t[::1] slots, int bits
) noexcept nogil:
    cdef int64_t i, k, other
    cdef uint64_t hash, where, first, mask = (<uint64_t> 1 << bits) - 1
    cdef uint32_t rest
    for i in range(ptr.shape[0] - 1):
        first = block_at(names, ptr[i], ptr[i + 1])
        rest = 0
        for k in range(ptr[i] + 8, ptr[i + 1], 8):
            rest = mixed(rest, block_at(names, k, ptr[i + 1]))
        hash = hashed(first, rest)
        where = hash >> (64 - bits)
        while slots[where]:
            if slots[where] >> 32 == hash & LOW:
                other = <int64_t> (slots[where] & LOW) - 1
                if ptr[other + 1] - ptr[other] == ptr[i + 1] - ptr[i]:
                    k = 0
                    while k < ptr[i + 1] - ptr[i] and names[ptr[i] + k] == names[ptr[other] + k]:
                        k += 1
                    if k == ptr[i + 1] - ptr[i]:
                        return False
            where = (where + 1) & mask
        slots[where] = (hash & LOW) << 32 | <uint64_t> (i + 1)
    return True


cdef inline uint64_t hashed(uint64_t first, uint32_t rest) noexcept nogil:
    cdef uint64_t key = first ^ (<uint64_t> rest << 16)
    return (key ^ (key >> 32)) * <uint64_t> 0x9E3779B97F4A7C15


cdef inline uint64_t block_at(const uint8_t[::1] names, int64_t at, int64_t end) noexcept nogil:
    """Up to eight bytes of a name that ends at end, the first one lowest, and zeros after it."""
    cdef uint64_t block = 0
    cdef int64_t k
    for k in range(min(8, end - at)):
        block |= <uint64_t> names[at + k] << 8 * k
    return block


cdef void find_words(
    const Table* table, const uint64_t[::1] slots, const uint8_t[::1] names,
    const int64_t[::1] ptr, int32_t* numbers,
) noexcept nogil:
    """Write the number of every word of a table, -1 of those that are not known."""
    cdef int64_t w, k, n, known, at, end
    cdef const uint64_t* blocks
    cdef uint64_t hash, where, mask = slots.shape[0] - 1
    cdef uint32_t rest
    cdef int bits = 0
    while <int64_t> 1 << bits < slots.shape[0]:
        bits += 1
    for w in range(table.size):
        blocks = table.blocks + table.starts[w]
        n = table.starts[w + 1] - table.starts[w]
        rest = 0
        for k in range(1, n):
            rest = mixed(rest, blocks[k])
        hash = hashed(blocks[0], rest)
        where = hash >> (64 - bits)
        numbers[w] = -1
        while slots[where]:
            if slots[where] >> 32 == hash & LOW:
                known = <int64_t> (slots[where] & LOW) - 1
                at = ptr[known]
                end = ptr[known + 1]
                # Words hold no NUL, and names may: with zeros after it a word is no such name.
                if (end - at + 7) // 8 == n and names[end - 1]:
                    k = 0
                    while k < n and blocks[k] == block_at(names, at + 8 * k, end):
                        k += 1
                    if k == n:
                        numbers[w] = <int32_t> known
                        break
            where = (where + 1) & mask
