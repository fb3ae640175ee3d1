"""What the scanner asks about characters and about the gaps between words."""

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t

cdef extern from "Python.h" nogil:
    bint Py_UNICODE_ISALNUM(Py_UCS4)
    Py_UCS4 Py_UNICODE_TOLOWER(Py_UCS4)

ctypedef fused Char:  # the three widths of Python's strings
    uint8_t
    uint16_t
    uint32_t

cdef enum:
    BMP = 0x10000  # characters with tables; the few above are asked of Python
    DOTTED_I = 0x130  # 'İ': its lower case, 'i' and a combining dot, ends a word

cdef enum Rule:
    NONE, LINES, PARAGRAPHS, PUNCT

cdef struct Letters:
    bint lowered
    uint16_t of[BMP]  # what a character adds to a word, 0 if it is no word character

cdef struct Gap:
    int lines  # ends of lines
    bint lead_in  # a colon at the end of a line
    bint everywhere  # an end mark that needs no white space after it
    bint alone  # an end mark between white space
    bint ended  # an end mark before white space
    bint single_stop  # the first of these is one full stop right after the word

cdef const Letters* letters_for(bint lowercase) noexcept nogil
cdef Py_ssize_t read_gap(
    const Char* text, Py_ssize_t i, Py_ssize_t length, const Letters* letters, Gap* gap
) noexcept nogil
cdef bint ends_sentence(
    const Char* text, Py_ssize_t start, Py_ssize_t end, Py_ssize_t after, Py_ssize_t length,
    const Gap* gap, int rule, int64_t words,
) noexcept nogil
cdef Py_ssize_t attached(const Char* text, Py_ssize_t end, Py_ssize_t length) noexcept nogil

cdef inline uint32_t letter(const Letters* letters, uint32_t c) noexcept nogil:
    """What the character adds to a word, 0 if it is no word character."""
    if c < BMP:
        return letters.of[c]
    if not Py_UNICODE_ISALNUM(c):
        return 0
    return Py_UNICODE_TOLOWER(c) if letters.lowered else c
