"""Tables of what every character adds to a word, as it is given and with its case folded."""

from libc.stdint cimport int32_t, uint32_t

import numpy as np

from textreg._core import text_rules as rules
from textreg._core.text_ranges import IGNORED as IGNORED_RANGES
from textreg._core.text_ranges import MARKS as MARK_RANGES
from textreg._core.text_ranges import SPACELESS as SPACELESS_RANGES

cdef extern from "Python.h" nogil:
    bint Py_UNICODE_ISALNUM(Py_UCS4)
    bint Py_UNICODE_ISLOWER(Py_UCS4)
    bint Py_UNICODE_ISTITLE(Py_UCS4)
    bint Py_UNICODE_ISUPPER(Py_UCS4)
    Py_UCS4 Py_UNICODE_TOLOWER(Py_UCS4)

cdef enum:
    MOST = 256  # characters that are folded to several; Unicode has 104

cdef Letters AS_GIVEN
cdef Letters FOLDED
cdef uint32_t EXPANSIONS[MOST][LONGEST + 1]


cdef void fill_tables() except *:
    cdef uint32_t c, entry
    cdef uint32_t expanded = 0
    FOLDED.folded = True
    for c in range(BMP):
        AS_GIVEN.of[c] = c if Py_UNICODE_ISALNUM(c) or c == c"_" else 0
    for ranges, kind in (
        (MARK_RANGES, MARK), (SPACELESS_RANGES, SPACELESS), (IGNORED_RANGES, IGNORED)
    ):
        for first, last in rules.runs(ranges):
            for c in range(first, min(last + 1, BMP)):
                AS_GIVEN.of[c] = kind if kind == IGNORED else kind | c
    for c in range(BMP):
        entry = AS_GIVEN.of[c]
        if entry & POINT and (
            Py_UNICODE_ISLOWER(c) or Py_UNICODE_ISUPPER(c) or Py_UNICODE_ISTITLE(c)
        ):
            folded = rules.folded(chr(c))
            if len(folded) == 1:
                entry = (entry & ~<uint32_t> POINT) | <uint32_t> ord(folded)
            else:
                for place, part in enumerate(folded):
                    EXPANSIONS[expanded][place] = ord(part)
                entry = EXPANDED | expanded
                expanded += 1
        FOLDED.of[c] = entry


fill_tables()


def _above(kinds):
    """Sorted first and last characters, and the kind, of the runs above the tables."""
    found = [(*run, kind) for ranges, kind in kinds for run in rules.runs(ranges) if run[0] >= BMP]
    return np.array(sorted(found), dtype=np.uint32)


cdef const uint32_t[:, ::1] RARE = _above(
    ((MARK_RANGES, MARK), (SPACELESS_RANGES, SPACELESS), (IGNORED_RANGES, IGNORED))
)


cdef const Letters* letters_for(bint folded) noexcept nogil:
    return &FOLDED if folded else &AS_GIVEN


cdef uint32_t rare_letter(const Letters* letters, uint32_t c) noexcept nogil:
    """The entry of a character above the tables, found by halving."""
    cdef int32_t middle, low = 0, high = <int32_t> RARE.shape[0]
    while low < high:
        middle = (low + high) // 2
        if c > RARE[middle, 1]:
            low = middle + 1
        else:
            high = middle
    if low < RARE.shape[0] and RARE[low, 0] <= c:
        return IGNORED if RARE[low, 2] == IGNORED else RARE[low, 2] | c
    if not Py_UNICODE_ISALNUM(c):
        return 0
    return Py_UNICODE_TOLOWER(c) if letters.folded else c


cdef const uint32_t* expansion(uint32_t entry) noexcept nogil:
    """The characters, with a 0 after them, that an entry with EXPANDED stands for."""
    return EXPANSIONS[entry & POINT]
