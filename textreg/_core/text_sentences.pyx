"""Where sentences end, decided at every gap between two words.

``textreg._core.reference.text.ends_sentence`` says the same in regular expressions.
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memset

import numpy as np

from textreg._core import text_rules as rules

cdef extern from "Python.h" nogil:
    bint Py_UNICODE_ISALPHA(Py_UCS4)
    bint Py_UNICODE_ISDECIMAL(Py_UCS4)
    bint Py_UNICODE_ISLOWER(Py_UCS4)
    bint Py_UNICODE_ISSPACE(Py_UCS4)
    bint Py_UNICODE_ISUPPER(Py_UCS4)

# What a character between words can mean.
cdef enum:
    OTHER, SPACE, LINE_FEED, RETURN, STOP, ELLIPSIS, STRONG, FULL, CLOSER, COLON, TAG

cdef Letters AS_GIVEN
cdef Letters LOWERED
cdef uint8_t MARKS[BMP]


cdef void fill_tables() noexcept:
    cdef int c
    LOWERED.lowered = True
    for c in range(BMP):
        AS_GIVEN.of[c] = c if Py_UNICODE_ISALNUM(c) or c == c"_" else 0
        LOWERED.of[c] = Py_UNICODE_TOLOWER(c) if AS_GIVEN.of[c] else 0
        MARKS[c] = SPACE if Py_UNICODE_ISSPACE(c) else OTHER


fill_tables()
for _mark, _characters in (
    (STOP, rules.STOP), (ELLIPSIS, rules.ELLIPSIS), (STRONG, rules.STRONG), (FULL, rules.FULL),
    (CLOSER, rules.CLOSERS), (COLON, ":"), (TAG, "<"), (LINE_FEED, "\n"), (RETURN, "\r"),
):
    for _character in _characters:
        MARKS[<int> ord(_character)] = _mark


def _packed(words):
    """Words of up to eight ASCII letters as numbers, the first letter in the lowest byte."""
    return np.array([int.from_bytes(word.encode(), "little") for word in words], dtype=np.uint64)


cdef const uint64_t[::1] TITLES = _packed(rules.TITLES)
cdef const uint64_t[::1] NUMBERED = _packed(rules.NUMBERED)
cdef int HEADER_LENGTH = rules.HEADER_LENGTH
cdef int NUMBER_LENGTH = rules.NUMBER_LENGTH


cdef const Letters* letters_for(bint lowercase) noexcept nogil:
    return &LOWERED if lowercase else &AS_GIVEN


cdef inline uint8_t mark(uint32_t c) noexcept nogil:
    return MARKS[c] if c < BMP else <uint8_t> OTHER


cdef inline bint is_space(uint8_t mark) noexcept nogil:
    return mark == SPACE or mark == LINE_FEED or mark == RETURN


cdef Py_ssize_t read_gap(
    const Char* text, Py_ssize_t i, Py_ssize_t length, const Letters* letters, Gap* gap
) noexcept nogil:
    """Skip from i to the next word character, or to length, and note what was met on the way."""
    cdef uint8_t now, before = OTHER
    cdef bint armed = False  # an end mark, and only closers since
    cdef bint lonely = False  # that end mark came after white space
    cdef bint colon = False  # a colon, and only white space since
    memset(gap, 0, sizeof(Gap))
    gap.single_stop = mark(text[i]) == STOP
    while i < length and letter(letters, text[i]) == 0:
        now = mark(text[i])
        if is_space(now):
            if now != SPACE:
                gap.lines += now == RETURN or before != RETURN  # CR LF is one
                gap.lead_in |= colon
            gap.ended |= armed
            gap.alone |= armed and lonely
            armed = False
        elif now == STOP or now == ELLIPSIS or now == STRONG:
            if armed:
                lonely &= now == STRONG
                gap.single_stop &= gap.ended
            else:
                lonely = now != ELLIPSIS and is_space(before)
            armed = True
            colon = False
        elif now == CLOSER:
            colon = False
        else:
            gap.everywhere |= now == FULL or (armed and now == TAG)
            gap.single_stop &= gap.ended
            armed = False
            colon = now == COLON
        before = now
        i += 1
    return i


cdef bint ends_sentence(
    const Char* text, Py_ssize_t start, Py_ssize_t end, Py_ssize_t after, Py_ssize_t length,
    const Gap* gap, int rule, int64_t words,
) noexcept nogil:
    """Whether a sentence ends between the word at start:end and the one that begins at after.

    words: how many the sentence has so far.
    """
    cdef bint new_line
    if rule == NONE:
        return False
    if gap.lines >= (1 if rule == LINES else 2):  # between two ends is a line without a word
        return True
    if rule != PUNCT:
        return False
    if gap.lines == 1:
        if gap.lead_in:
            return True
        new_line = text[after - 1] == c"\n" or text[after - 1] == c"\r"
        if new_line and is_header(text, after, length):
            return True
    if gap.everywhere or gap.alone:
        return True
    if not gap.ended or Py_UNICODE_ISLOWER(text[after]):
        return False
    return not (gap.single_stop and abbreviates(text, start, end, text[after], words))


cdef bint is_header(const Char* text, Py_ssize_t i, Py_ssize_t length) noexcept nogil:
    """Whether ``Name: value`` begins at i."""
    cdef Py_ssize_t end = min(length, i + HEADER_LENGTH + 1)
    if not c"A" <= text[i] <= c"Z":
        return False
    i += 1
    while i < end and (
        c"a" <= text[i] <= c"z" or c"A" <= text[i] <= c"Z" or c"0" <= text[i] <= c"9"
        or text[i] == c"-"
    ):
        i += 1
    return i < end and text[i] == c":" and (i + 1 == length or Py_UNICODE_ISSPACE(text[i + 1]))


cdef bint abbreviates(
    const Char* text, Py_ssize_t start, Py_ssize_t end, uint32_t following, int64_t words
) noexcept nogil:
    """Whether the full stop after the word belongs to it: an abbreviation or an enumeration."""
    cdef Py_ssize_t i
    cdef uint64_t packed = 0
    cdef uint32_t c = text[start]
    cdef bint inner, number = end - start <= NUMBER_LENGTH
    if end - start == 1 and Py_UNICODE_ISALPHA(c):
        inner = start > 0 and text[start - 1] == c"."  # "e.g.", "U.S."
        if inner or words == 1 or (Py_UNICODE_ISUPPER(c) and c != c"I"):
            return True
    if end - start > 8:
        return False
    for i in range(start, end):
        number &= Py_UNICODE_ISDECIMAL(text[i])
        c = letter(&LOWERED, text[i])
        # A character that no abbreviation holds, here made one.
        c = 0xFF if c >= 0x80 or text[i] == DOTTED_I else c
        packed |= <uint64_t> c << (8 * (i - start))
    for i in range(TITLES.shape[0]):
        if TITLES[i] == packed:
            return True
    if Py_UNICODE_ISDECIMAL(following):
        for i in range(NUMBERED.shape[0]):
            if NUMBERED[i] == packed:
                return True
    return number and words == 1


cdef Py_ssize_t attached(const Char* text, Py_ssize_t end, Py_ssize_t length) noexcept nogil:
    """Where the punctuation right after the word that ends at end ends in its turn."""
    while end < length and not (
        is_space(mark(text[end])) or letter(&AS_GIVEN, text[end]) or text[end] == c"<"
    ):
        end += 1
    return end
