"""What the scanner asks about the gaps between words."""

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t

from textreg._core.text_letters cimport Char, Letters

cdef enum Rule:
    NONE, LINES, PARAGRAPHS, PUNCT

# What a character between words can mean.
cdef enum:
    OTHER, SPACE, LINE_FEED, RETURN, STOP, ELLIPSIS, STRONG, FULL, CLOSER, OPENER, COLON, TAG
    PICTURE, FLAG

cdef struct Gap:
    int lines  # ends of lines
    bint lead_in  # a colon at the end of a line
    bint everywhere  # an end mark that needs no white space after it
    bint alone  # an end mark between white space
    bint ended  # an end mark before white space
    bint single_stop  # the first of these is one full stop right after the word
    Py_ssize_t cut  # where the first mark that ends a sentence otherwise, and its closers, end
    Py_ssize_t tail  # where the first mark that ends a sentence everywhere, and its closers, end

cdef int rule_of(str sentences) except -1
cdef uint8_t meaning(uint32_t c) noexcept nogil
cdef bint is_space(uint8_t now) noexcept nogil
cdef Py_ssize_t read_gap(
    const Char* text, Py_ssize_t i, Py_ssize_t length, const Letters* letters, Gap* gap
) noexcept nogil
cdef bint ends_sentence(
    const Char* text, Py_ssize_t start, Py_ssize_t end, Py_ssize_t after, Py_ssize_t length,
    const Gap* gap, int rule, int64_t words,
) noexcept nogil
cdef Py_ssize_t attached(const Char* text, Py_ssize_t end, Py_ssize_t length) noexcept nogil
