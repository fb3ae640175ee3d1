"""A table of spellings, which numbers words and runs in order of first occurrence.

A spelling is packed into blocks of eight bytes, the first in the lowest byte of a 64-bit number,
and zeros after the last. A word is its UTF-8 bytes, of which most words take one block; a run of
code points has two of them in a block. What is being read stands after the blocks of the table,
which looks it up by open addressing.

A table may know another one: what that holds keeps its numbers and is not added again. So a text
is read with the vocabulary of a model as in training, and the model's table stays as it is.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

cdef struct Slot:
    uint64_t first  # the first block
    uint32_t rest  # hash of the other blocks, 0 if there are none: then one comparison decides
    int32_t id  # below 0: free

cdef struct Table:
    const Table* known  # NULL: none
    int32_t n_known  # numbers of these come first
    Slot* slots
    int bits  # there are 2**bits slots
    int64_t size  # spellings, without those of ``known``
    uint64_t* blocks  # of one spelling after another, then of the one being read
    int64_t used
    int64_t room
    int64_t* starts  # spelling w is blocks[starts[w]:starts[w + 1]]

cdef struct Spelling:  # being read
    uint64_t block  # what is not in the table yet
    uint64_t first
    uint32_t rest
    int filled  # bytes of the block
    int64_t n  # blocks in the table

cdef enum:
    NO_POINT = 0xFFFFFFFF  # fills the last block of a run
    FEW = 2048  # spellings that a table has room for at first: one text has few

cdef bint open_table(Table* table, int64_t expected, const Table* known) noexcept nogil
cdef void close_table(Table* table) noexcept nogil
cdef bint widen(Table* table) noexcept nogil
cdef int32_t add_spelling(
    Table* table, Slot* slot, uint64_t first, uint32_t rest, int64_t n
) noexcept nogil
cdef bint absorb(Table* table, const Table* other, int32_t* ids) noexcept nogil
cdef bint add_names(Table* table, const uint8_t[::1] names, const int64_t[::1] ptr) noexcept nogil
cdef tuple words_by_name(const Table* table)


cdef inline bint append(Table* table, Spelling* word, uint64_t part, int bytes) noexcept nogil:
    """Append 1 or 4 bytes, always the same number to one spelling; False if there is no memory."""
    word.block |= part << 8 * word.filled
    word.filled += bytes
    if word.filled == 8:
        if not end_block(table, word, word.block):
            return False
        word.block = 0
        word.filled = 0
    return True


cdef inline bint add(Table* table, Spelling* word, uint32_t c) noexcept nogil:
    """Append the UTF-8 bytes of a character; False if there is no memory."""
    cdef int bytes = 1
    if c >= 0x80:
        c = utf8(c, &bytes)
    while bytes:
        bytes -= 1
        if not append(table, word, c >> 8 * bytes & 0xFF, 1):
            return False
    return True


cdef inline uint32_t utf8(uint32_t c, int* bytes) noexcept nogil:
    """The UTF-8 bytes of a character from 0x80 up, the first one highest, and their number."""
    if c < 0x800:
        bytes[0] = 2
        return 0xC080 | c >> 6 << 8 | c & 0x3F
    if c < 0x10000:
        bytes[0] = 3
        return 0xE08080 | c >> 12 << 16 | (c >> 6 & 0x3F) << 8 | c & 0x3F
    bytes[0] = 4
    return (
        <uint32_t> 0xF0808080
        | c >> 18 << 24 | (c >> 12 & 0x3F) << 16 | (c >> 6 & 0x3F) << 8 | c & 0x3F
    )


cdef inline bint write_block(Table* table, int64_t n, uint64_t block) noexcept nogil:
    """Put block n of what is being read in its place; False if there is no memory."""
    if table.used + n == table.room and not widen(table):
        return False
    table.blocks[table.used + n] = block
    return True


cdef inline bint end_block(Table* table, Spelling* word, uint64_t block) noexcept nogil:
    """Append a full block, or the last one; False if there is no memory."""
    if not write_block(table, word.n, block):
        return False
    if word.n:
        # The hash with one more block; never 0.
        word.rest = <uint32_t> (((block ^ word.rest) * <uint64_t> 0xD6E8FEB86659FD93) >> 32) | 1
    else:
        word.first = block
    word.n += 1
    return True


cdef inline int32_t end_spelling(Table* table, Spelling* word) noexcept nogil:
    """The number of what was read, new or known; -1 if there is no memory."""
    cdef Slot* slot
    if word.n == 0:
        word.first = word.block
        word.n = 1
    elif word.filled and not end_block(table, word, word.block):
        return -1
    if table.known != NULL:
        slot = slot_of(table.known, table, word)
        if slot.id >= 0:
            return slot.id
    slot = slot_of(table, table, word)
    if slot.id >= 0:
        return slot.id
    return add_spelling(table, slot, word.first, word.rest, word.n)


cdef inline Slot* slot_of(
    const Table* table, const Table* reading, const Spelling* word
) noexcept nogil:
    """The slot in a table of what another one is reading, or the free one where it belongs."""
    cdef uint64_t mask = (<uint64_t> 1 << table.bits) - 1
    cdef uint64_t where = place(word.first, word.rest, table.bits)
    cdef Slot* slot = &table.slots[where]
    while slot.id >= 0 and not (
        slot.first == word.first and slot.rest == word.rest
        and (word.n == 1 or same(table, slot.id - table.n_known, reading, word.n))
    ):
        where = (where + 1) & mask
        slot = &table.slots[where]
    return slot


cdef inline bint same(
    const Table* table, int32_t w, const Table* reading, int64_t n
) noexcept nogil:
    """Whether spelling w of a table is the one of n blocks that another one is reading."""
    cdef int64_t k, start = table.starts[w]
    if table.starts[w + 1] - start != n:
        return False
    for k in range(n):
        if table.blocks[start + k] != reading.blocks[reading.used + k]:
            return False
    return True


cdef inline uint64_t place(uint64_t first, uint32_t rest, int bits) noexcept nogil:
    """The slot where the search for a spelling begins."""
    cdef uint64_t key = first ^ (<uint64_t> rest << 16)
    return ((key ^ (key >> 32)) * <uint64_t> 0x9E3779B97F4A7C15) >> (64 - bits)


cdef inline uint32_t point_at(const uint64_t* run, int64_t k) noexcept nogil:
    """Code point k of the run whose blocks are given."""
    return <uint32_t> (run[k >> 1] >> ((k & 1) << 5))


cdef inline int64_t run_length(const Table* table, int64_t r) noexcept nogil:
    """The number of code points of run r."""
    cdef int64_t n = 2 * (table.starts[r + 1] - table.starts[r])
    return n - (point_at(table.blocks + table.starts[r], n - 1) == NO_POINT)
