"""What of a gap between words is a token on request."""

from textreg._core.text_letters cimport Char

cdef enum:  # what is wanted, added up
    PUNCTUATION = 1
    EMOJI = 2
    LOOKS = 0xFE0F  # asks for the colored form; no part of a name

cdef Py_ssize_t read_mark(
    const Char* text, Py_ssize_t i, Py_ssize_t end, int wanted, Py_ssize_t* start
) noexcept nogil
