"""What characters are: letters of words, and what stands in the gaps between words."""

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t

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
    BLANK = 0x20
    DOTTED_I = 0x130  # its lower case is an i and DOT_ABOVE
    DOT_ABOVE = 0x307
    # What of a gap is a token on request, added up.
    PUNCTUATION = 1
    EMOJI = 2
    LOOKS = 0xFE0F  # asks for the colored form of an emoji; no part of its name

cdef struct Letters:
    bint folded
    uint32_t of[BMP]  # entries
    uint16_t in_run[BMP]  # what a character becomes in a run: BLANK for white space alone

cdef enum Rule:  # where sentences end
    NONE, LINES, PARAGRAPHS, PUNCT

cdef struct Gap:
    int lines  # ends of lines
    bint lead_in  # a colon at the end of a line
    bint everywhere  # an end mark that needs no white space after it
    bint alone  # an end mark between white space
    bint ended  # an end mark before white space
    bint single_stop  # the first of these is one full stop right after the word
    Py_ssize_t cut  # where the first mark that ends a sentence otherwise, and its closers, end
    Py_ssize_t tail  # where the first mark that ends a sentence everywhere, and its closers, end

cdef const Letters* letters_for(bint folded) noexcept nogil
cdef uint32_t rare_letter(const Letters* letters, uint32_t c) noexcept nogil
cdef const uint32_t* expansion(uint32_t entry) noexcept nogil
cdef int rule_of(str sentences) except -1
cdef Py_ssize_t read_gap(
    const Char* text, Py_ssize_t i, Py_ssize_t length, const Letters* letters, Gap* gap
) noexcept nogil
cdef bint ends_sentence(
    const Char* text, Py_ssize_t start, Py_ssize_t end, Py_ssize_t after, Py_ssize_t length,
    const Gap* gap, int rule, int64_t words,
) noexcept nogil
cdef Py_ssize_t attached(const Char* text, Py_ssize_t end, Py_ssize_t length) noexcept nogil
cdef Py_ssize_t read_mark(
    const Char* text, Py_ssize_t i, Py_ssize_t end, int wanted, Py_ssize_t* start
) noexcept nogil


cdef inline uint32_t letter(const Letters* letters, uint32_t c) noexcept nogil:
    """The entry of a character."""
    return letters.of[c] if c < BMP else rare_letter(letters, c)


cdef inline bint begins_word(uint32_t entry) noexcept nogil:
    return entry != 0 and entry != IGNORED


cdef inline bint is_blank(const Letters* letters, uint32_t c) noexcept nogil:
    """Whether a character is white space."""
    return c < BMP and letters.in_run[c] == BLANK
