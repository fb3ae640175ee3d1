"""Runs of punctuation, and emoji, in the gaps between words.

``tests/twins/text.py`` says the same in regular expressions.
"""

from libc.stdint cimport uint32_t

from textreg._core.text_letters cimport IGNORED, Char, letter, letters_for
from textreg._core.text_sentences cimport FLAG, PICTURE, is_space, meaning

cdef extern from "Python.h" nogil:
    bint Py_UNICODE_ISPRINTABLE(Py_UCS4)

cdef enum:
    JOINER = 0x200D
    LIGHTEST = 0x1F3FB  # colors of skin
    DARKEST = 0x1F3FF
    FIRST_TAG = 0xE0020  # letters of flags of regions
    LAST_TAG = 0xE007F


cdef Py_ssize_t read_mark(
    const Char* text, Py_ssize_t i, Py_ssize_t end, int wanted, Py_ssize_t* start
) noexcept nogil:
    """Where the next token in the gap i:end ends, and at ``start`` where it starts; 0 if none."""
    cdef Py_ssize_t after
    while i < end:
        start[0] = i
        after = after_emoji(text, i, end)
        if after > i:
            if wanted & EMOJI:
                return after
            i = after
            continue
        while i < end and is_punctuation(text[i]):
            i += 1
        if i == start[0]:
            i += 1
        elif wanted & PUNCTUATION:
            return i
    return 0


cdef inline bint is_punctuation(uint32_t c) noexcept nogil:
    """Whether a character between words is seen, and no part of an emoji."""
    return not (
        is_space(meaning(c)) or is_emoji(c) or letter(letters_for(False), c) == IGNORED
        or not Py_UNICODE_ISPRINTABLE(c)
    )


cdef inline bint is_emoji(uint32_t c) noexcept nogil:
    return meaning(c) == PICTURE or meaning(c) == FLAG


cdef Py_ssize_t after_emoji(const Char* text, Py_ssize_t i, Py_ssize_t end) noexcept nogil:
    """Where the emoji ends that begins at i (Unicode Technical Standard #51); i if none does."""
    cdef uint32_t c
    if not is_emoji(text[i]):
        return i
    i += 2 if meaning(text[i]) == FLAG and i + 1 < end and meaning(text[i + 1]) == FLAG else 1
    while i < end:
        c = text[i]
        if c == LOOKS or LIGHTEST <= c <= DARKEST or FIRST_TAG <= c <= LAST_TAG:
            i += 1
        elif c == JOINER and i + 1 < end and is_emoji(text[i + 1]):
            i += 2
        else:
            break
    return i
