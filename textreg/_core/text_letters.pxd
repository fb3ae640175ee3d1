"""What every character adds to a word."""

from libc.stdint cimport uint8_t, uint16_t, uint32_t

ctypedef fused Char:  # the three widths of Python's strings
    uint8_t
    uint16_t
    uint32_t

cdef enum:
    BMP = 0x10000  # characters with tables
    # An entry is 0 for what is in no word, else the character that is added, and one of these.
    POINT = 0x1FFFFF
    SPACELESS = 1 << 21  # a word of its own, with the marks after it
    MARK = 1 << 22  # belongs to the character before it
    IGNORED = 1 << 23  # likewise, and adds nothing
    EXPANDED = 1 << 24  # POINT is an index of ``expansion``
    LONGEST = 3  # characters that one is folded to

cdef struct Letters:
    bint folded
    uint32_t of[BMP]

cdef const Letters* letters_for(bint folded) noexcept nogil
cdef uint32_t rare_letter(const Letters* letters, uint32_t c) noexcept nogil
cdef const uint32_t* expansion(uint32_t entry) noexcept nogil

cdef inline uint32_t letter(const Letters* letters, uint32_t c) noexcept nogil:
    """The entry of a character."""
    return letters.of[c] if c < BMP else rare_letter(letters, c)


cdef inline bint begins_word(uint32_t entry) noexcept nogil:
    return entry != 0 and entry != IGNORED
