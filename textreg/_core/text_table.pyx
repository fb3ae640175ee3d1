"""Tables of spellings: growing, taking in others and names, reading words out in order of name.

Functions that need memory return False or -1 without it.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memset

import numpy as np

cdef extern from "Python.h":
    object PyUnicode_DecodeUTF8(const char* bytes, Py_ssize_t size, const char* errors)


cdef bint open_table(Table* table, int64_t expected, const Table* known) noexcept nogil:
    """Initialize an empty table, which must be closed even if this fails.

    expected: how many spellings it has room for at first.
    known: a table whose spellings are found first, or NULL.
    """
    table.known = known
    table.n_known = 0 if known == NULL else <int32_t> known.size
    table.bits = 6
    while <int64_t> 1 << table.bits < 2 * expected:
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


cdef bint widen(Table* table) noexcept nogil:
    """Double the room for blocks."""
    cdef uint64_t* blocks = <uint64_t*> realloc(table.blocks, 2 * table.room * sizeof(uint64_t))
    if blocks == NULL:
        return False
    table.blocks = blocks
    table.room *= 2
    return True


cdef int32_t add_spelling(
    Table* table, Slot* slot, uint64_t first, uint32_t rest, int64_t n
) noexcept nogil:
    """Give the n blocks being read the free slot and the next number, which is returned."""
    if n == 1 and not write_block(table, 0, first):  # longer ones have been written already
        return -1
    if table.n_known + table.size == 0x7FFFFFFF:
        return -1
    slot.first = first
    slot.rest = rest
    slot.id = table.n_known + <int32_t> table.size
    table.size += 1
    table.used += n
    table.starts[table.size] = table.used
    if table.size > (<int64_t> 1 << table.bits) // 2 and not grow(table):
        return -1
    return table.n_known + <int32_t> (table.size - 1)


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


cdef bint absorb(Table* table, const Table* other, int32_t* ids) noexcept nogil:
    """Add the spellings of another table, and write their numbers here; False without memory."""
    cdef int64_t w, b
    cdef Spelling word
    for w in range(other.size):
        word = Spelling(0, 0, 0, 0, 0)
        for b in range(other.starts[w], other.starts[w + 1]):
            if not end_block(table, &word, other.blocks[b]):
                return False
        ids[w] = end_spelling(table, &word)
        if ids[w] < 0:
            return False
    return True


cdef bint add_names(Table* table, const uint8_t[::1] names, const int64_t[::1] ptr) noexcept nogil:
    """Add names, ``names[ptr[i]:ptr[i + 1]]``; False if there is no memory.

    A name that is empty or ends with a NUL gets one byte more, which is never in UTF-8: no text
    holds such a word, and no zeros after another name make it the same.
    """
    cdef int64_t i, k
    cdef bint fine
    cdef Spelling word
    for i in range(ptr.shape[0] - 1):
        word = Spelling(0, 0, 0, 0, 0)
        fine = True
        for k in range(ptr[i], ptr[i + 1]):
            fine = fine and append(table, &word, names[k], 1)
        if ptr[i] == ptr[i + 1] or names[ptr[i + 1] - 1] == 0:
            fine = fine and append(table, &word, 0xFF, 1)
        if not fine or end_spelling(table, &word) < 0:
            return False
    return True


cdef tuple words_by_name(const Table* table):
    """All words as a list of str in code point order, and the place in it of every id, int32."""
    cdef int64_t w, k, size, n = table.size
    first = np.empty(n, dtype=np.uint64)
    cdef uint64_t[::1] first_view = first
    for w in range(n):
        first_view[w] = table.blocks[table.starts[w]]
    # Bytes compare from the lowest up, numbers from the top down. UTF-8 sorts by code point.
    first.byteswap(inplace=True)
    order = np.argsort(first).astype(np.int64)
    cdef int64_t[::1] order_view = order
    # The letters of all, from the lowest byte of every block to the highest.
    blocks = np.empty(table.used, dtype=np.uint64)
    cdef uint64_t[::1] blocks_view = blocks
    for k in range(table.used):
        blocks_view[k] = table.blocks[k]
    cdef const uint8_t[::1] letters = blocks.astype("<u8", copy=False).view(np.uint8)
    cdef list names = [None] * n
    for k in range(n):
        w = order_view[k]
        size = 8 * (table.starts[w + 1] - table.starts[w])
        while size and letters[8 * table.starts[w] + size - 1] == 0:
            size -= 1
        names[k] = PyUnicode_DecodeUTF8(<const char*> &letters[8 * table.starts[w]], size, NULL)

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
