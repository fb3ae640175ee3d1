"""Table of words: growing, and reading the words out in order of name.

A word is its UTF-8 bytes in blocks of eight, the first in the lowest byte of a 64-bit number, zeros
after the last (no word holds a NUL). Functions that need memory return False or -1 without it.
"""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memset

import numpy as np

cdef extern from "Python.h":
    object PyUnicode_DecodeUTF8(const char* bytes, Py_ssize_t size, const char* errors)


cdef bint open_table(Table* table, int64_t expected) noexcept nogil:
    """Initialize an empty table, which must be closed even if this fails.

    expected: how many words it has room for at first, within bounds: one text has few.
    """
    table.bits = 6
    while table.bits < 12 and <int64_t> 1 << table.bits < 2 * expected:
        table.bits += 1
    table.size = 0
    table.used = 0
    table.room = <int64_t> 1 << table.bits
    table.slots = <Slot*> malloc(sizeof(Slot) << table.bits)
    table.starts = <int64_t*> malloc(sizeof(int64_t) << table.bits)
    table.blocks = <uint64_t*> malloc(table.room * sizeof(uint64_t))
    if table.slots == NULL or table.blocks == NULL or table.starts == NULL:
        return False
    memset(table.slots, 0xFF, sizeof(Slot) << table.bits)
    table.starts[0] = 0
    return True


cdef void close_table(Table* table) noexcept nogil:
    free(table.slots)
    free(table.starts)
    free(table.blocks)


cdef bint write_block(Table* table, int64_t n, uint64_t block) noexcept nogil:
    """Put block n of the word being read in its place."""
    cdef uint64_t* blocks
    if table.used + n == table.room:
        blocks = <uint64_t*> realloc(table.blocks, 2 * table.room * sizeof(uint64_t))
        if blocks == NULL:
            return False
        table.blocks = blocks
        table.room *= 2
    table.blocks[table.used + n] = block
    return True


cdef int32_t add_word(
    Table* table, Slot* slot, uint64_t first, uint32_t rest, int64_t n
) noexcept nogil:
    """Give the word of n blocks being read the free slot and the next id, which is returned."""
    if n == 1 and not write_block(table, 0, first):  # longer words have been written already
        return -1
    slot.first = first
    slot.rest = rest
    slot.id = <int32_t> table.size
    table.size += 1
    table.used += n
    table.starts[table.size] = table.used
    if table.size > (<int64_t> 1 << table.bits) // 2 and not grow(table):
        return -1
    return <int32_t> (table.size - 1)


cdef bint grow(Table* table) noexcept nogil:
    """Double the slots; no spelling need be read for that."""
    cdef int bits = table.bits + 1
    cdef uint64_t s, where, mask = (<uint64_t> 1 << bits) - 1
    cdef Slot* slots
    cdef int64_t* starts = <int64_t*> realloc(table.starts, sizeof(int64_t) << bits)
    if starts == NULL:
        return False
    table.starts = starts
    slots = <Slot*> malloc(sizeof(Slot) << bits)
    if slots == NULL:
        return False
    memset(slots, 0xFF, sizeof(Slot) << bits)
    for s in range(<uint64_t> 1 << table.bits):
        if table.slots[s].id >= 0:
            where = place(table.slots[s].first, table.slots[s].rest, bits)
            while slots[where].id >= 0:
                where = (where + 1) & mask
            slots[where] = table.slots[s]
    free(table.slots)
    table.slots = slots
    table.bits = bits
    return True


cdef tuple words_by_name(const Table* table):
    """All words as a list of str in code point order, and the place in it of every id, int32."""
    cdef int64_t w, k, n = table.size
    first = np.empty(n, dtype=np.uint64)
    cdef uint64_t[::1] first_view = first
    for w in range(n):
        first_view[w] = table.blocks[table.starts[w]]
    # Bytes compare from the lowest up, numbers from the top down. UTF-8 sorts by code point.
    first.byteswap(inplace=True)
    order = np.argsort(first).astype(np.int64)
    cdef int64_t[::1] order_view = order
    names = [spelling(table, order_view[k]) for k in range(n)]

    # Words with the same first block stand side by side; their names decide among them.
    equal = np.diff(first[order]) == 0
    tied = np.flatnonzero(np.append(equal, False) | np.append(False, equal))
    pairs = sorted((names[place], word) for place, word in zip(tied.tolist(), order[tied].tolist()))
    for place, (name, word) in zip(tied.tolist(), pairs):
        names[place] = name
        order[place] = word
    rank = np.empty(n, dtype=np.int32)
    rank[order] = np.arange(n, dtype=np.int32)
    return names, rank


cdef object spelling(const Table* table, int64_t word):
    cdef char few[8]
    cdef char* bytes = few
    cdef int64_t b, start = table.starts[word], n = table.starts[word + 1] - start
    cdef Py_ssize_t size = 0
    cdef uint64_t block
    if n > 1:
        bytes = <char*> malloc(8 * n)
        if bytes == NULL:
            raise MemoryError
    try:
        for b in range(n):
            block = table.blocks[start + b]
            while block:
                bytes[size] = <char> (block & 0xFF)
                block >>= 8
                size += 1
        return PyUnicode_DecodeUTF8(bytes, size, NULL)
    finally:
        if n > 1:
            free(bytes)
