"""The word being read: its letters are packed into blocks, which the table looks up."""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from textreg._core.text_table cimport Slot, Table, add_word, place, write_block

cdef struct Spelling:  # of the word being read
    uint64_t block  # what is not in the table yet
    uint64_t first
    uint32_t rest
    int filled  # bytes of the block
    int64_t n  # blocks in the table


cdef inline int32_t end_word(Table* table, Spelling* word) noexcept nogil:
    """The id of the word, new or known; -1 if there is no memory."""
    if word.n == 0:
        word.first = word.block
        word.n = 1
    elif word.filled and not end_block(table, word, word.block):
        return -1
    return intern(table, word.first, word.rest, word.n)


cdef inline bint end_block(Table* table, Spelling* word, uint64_t block) noexcept nogil:
    """Append a full block, or the last one; False if there is no memory."""
    if not write_block(table, word.n, block):
        return False
    if word.n:
        word.rest = mixed(word.rest, block)
    else:
        word.first = block
    word.n += 1
    return True


cdef inline bint add(Table* table, Spelling* word, uint32_t c) noexcept nogil:
    """Append the UTF-8 bytes of a character; False if there is no memory."""
    cdef int bytes = 1
    if c >= 0x80:
        c = utf8(c, &bytes)
    while bytes:
        bytes -= 1
        word.block |= <uint64_t> (c >> 8 * bytes & 0xFF) << 8 * word.filled
        word.filled += 1
        if word.filled == 8:
            if not end_block(table, word, word.block):
                return False
            word.block = 0
            word.filled = 0
    return True


cdef inline bint add_all(Table* table, Spelling* word, const uint32_t* characters) noexcept nogil:
    """Append the characters before a 0."""
    while characters[0]:
        if not add(table, word, characters[0]):
            return False
        characters += 1
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


cdef inline bint absorb(Table* table, const Table* other, int32_t* ids) noexcept nogil:
    """Add the words of another table, and write their ids here; False if there is no memory."""
    cdef int64_t w, b
    cdef Spelling word
    for w in range(other.size):
        word = Spelling(0, 0, 0, 0, 0)
        b = other.starts[w]
        if other.starts[w + 1] - b == 1:
            word.block = other.blocks[b]
        else:
            for b in range(b, other.starts[w + 1]):
                if not end_block(table, &word, other.blocks[b]):
                    return False
        ids[w] = end_word(table, &word)
        if ids[w] < 0:
            return False
    return True


cdef inline uint32_t mixed(uint32_t rest, uint64_t block) noexcept nogil:
    """The hash with one more block; never 0."""
    return <uint32_t> (((block ^ rest) * <uint64_t> 0xD6E8FEB86659FD93) >> 32) | 1


cdef inline int32_t intern(Table* table, uint64_t first, uint32_t rest, int64_t n) noexcept nogil:
    """The id of the word of n blocks being read, new or known; -1 if there is no memory."""
    cdef uint64_t mask = (<uint64_t> 1 << table.bits) - 1
    cdef uint64_t where = place(first, rest, table.bits)
    cdef Slot* slot = &table.slots[where]
    while slot.id >= 0:
        if slot.first == first and slot.rest == rest and (n == 1 or same(table, slot.id, n)):
            return slot.id
        where = (where + 1) & mask
        slot = &table.slots[where]
    return add_word(table, slot, first, rest, n)


cdef inline bint same(const Table* table, int32_t id, int64_t n) noexcept nogil:
    """Whether word id is the one of n blocks being read."""
    cdef int64_t k, start = table.starts[id]
    if table.starts[id + 1] - start != n:
        return False
    for k in range(n):
        if table.blocks[start + k] != table.blocks[table.used + k]:
            return False
    return True
