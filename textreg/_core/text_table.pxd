"""The table of words that the scanner fills: open addressing over packed spellings."""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

cdef struct Slot:
    uint64_t first  # the word's first block
    uint32_t rest  # hash of its other blocks, 0 if it has none: then one comparison decides
    int32_t id  # below 0: free

cdef struct Table:
    Slot* slots
    int bits  # there are 2**bits slots
    int64_t size  # words
    uint64_t* blocks  # the words' blocks one after another, then those of the word being read
    int64_t used
    int64_t room
    int64_t* starts  # word w is blocks[starts[w]:starts[w + 1]]

cdef bint open_table(Table* table, int64_t expected) noexcept nogil
cdef void close_table(Table* table) noexcept nogil
cdef bint write_block(Table* table, int64_t n, uint64_t block) noexcept nogil
cdef int32_t add_word(
    Table* table, Slot* slot, uint64_t first, uint32_t rest, int64_t n
) noexcept nogil
cdef tuple words_by_name(const Table* table)

cdef inline uint64_t place(uint64_t first, uint32_t rest, int bits) noexcept nogil:
    """The slot where the search for a word begins."""
    cdef uint64_t key = first ^ (<uint64_t> rest << 16)
    return ((key ^ (key >> 32)) * <uint64_t> 0x9E3779B97F4A7C15) >> (64 - bits)
