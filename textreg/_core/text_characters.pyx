"""Tables of what every character is, where sentences end, and what of a gap is a token.

A word is spelled as it is given or with its case folded. Whether a sentence ends is decided at
every gap between two words. ``tests/twins/text.py`` says the same in regular expressions.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memset

import numpy as np

from textreg._core import text_ranges as ranges
from textreg._core import text_rules as rules

cdef extern from "Python.h" nogil:
    bint Py_UNICODE_ISALNUM(Py_UCS4)
    bint Py_UNICODE_ISALPHA(Py_UCS4)
    bint Py_UNICODE_ISDECIMAL(Py_UCS4)
    bint Py_UNICODE_ISLOWER(Py_UCS4)
    bint Py_UNICODE_ISPRINTABLE(Py_UCS4)
    bint Py_UNICODE_ISSPACE(Py_UCS4)
    bint Py_UNICODE_ISTITLE(Py_UCS4)
    bint Py_UNICODE_ISUPPER(Py_UCS4)
    Py_UCS4 Py_UNICODE_TOLOWER(Py_UCS4)

cdef enum:
    MOST = 256  # characters that are folded to several; Unicode has 104
    PLANES = 0x20000  # no character above these means anything in a gap
    JOINER = 0x200D
    LIGHTEST = 0x1F3FB  # colors of skin
    DARKEST = 0x1F3FF
    FIRST_TAG = 0xE0020  # letters of flags of regions
    LAST_TAG = 0xE007F

# What a character between words can mean.
cdef enum:
    OTHER, SPACE, LINE_FEED, RETURN, STOP, ELLIPSIS, STRONG, FULL, CLOSER, OPENER, COLON, TAG
    PICTURE, FLAG

cdef Letters AS_GIVEN
cdef Letters FOLDED
cdef uint32_t EXPANSIONS[MOST][LONGEST + 1]
cdef uint8_t MEANINGS[PLANES]

KINDS = (ranges.MARKS, MARK), (ranges.SPACELESS, SPACELESS), (ranges.IGNORED, IGNORED)


cdef void fill_letters() except *:
    cdef uint32_t c, entry
    cdef uint32_t expanded = 0
    FOLDED.folded = True
    for c in range(BMP):
        AS_GIVEN.of[c] = c if Py_UNICODE_ISALNUM(c) or c == c"_" else 0
        AS_GIVEN.in_run[c] = BLANK if Py_UNICODE_ISSPACE(c) else c
        FOLDED.in_run[c] = BLANK if Py_UNICODE_ISSPACE(c) else Py_UNICODE_TOLOWER(c)
    FOLDED.in_run[DOTTED_I] = c"i"
    for of_kind, kind in KINDS:
        for first, last in rules.runs(of_kind):
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


cdef void fill_meanings() except *:
    cdef uint32_t c
    for c in range(PLANES):
        MEANINGS[c] = SPACE if Py_UNICODE_ISSPACE(c) else OTHER
    for mark, characters in (
        (STOP, rules.STOP), (ELLIPSIS, rules.ELLIPSIS), (STRONG, rules.STRONG), (FULL, rules.FULL),
        (CLOSER, rules.CLOSERS), (OPENER, rules.OPENERS), (COLON, rules.COLONS), (TAG, "<"),
        (LINE_FEED, "\n"), (RETURN, "\r"), (PICTURE, rules.characters(ranges.EMOJI)),
        (FLAG, rules.characters(ranges.FLAGS)),
    ):
        for character in characters:
            MEANINGS[<uint32_t> ord(character)] = mark


fill_letters()
fill_meanings()


def _above():
    """Sorted first and last characters, and the kind, of the runs above the tables."""
    found = [(*run, kind) for of_kind, kind in KINDS for run in rules.runs(of_kind)]
    return np.array(sorted(run for run in found if run[0] >= BMP), dtype=np.uint32)


cdef const uint32_t[:, ::1] RARE = _above()


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


RULES = {"none": NONE, "lines": LINES, "paragraphs": PARAGRAPHS, "punct": PUNCT}


cdef int rule_of(str sentences) except -1:
    """The number of a rule, as users name it."""
    return RULES[sentences]


def _packed(words):
    """Words of up to eight ASCII letters as numbers, the first letter in the lowest byte."""
    return np.array([int.from_bytes(word.encode(), "little") for word in words], dtype=np.uint64)


cdef const uint64_t[::1] TITLES = _packed(rules.TITLES)
cdef const uint64_t[::1] NUMBERED = _packed(rules.NUMBERED)
cdef int HEADER_LENGTH = rules.HEADER_LENGTH
cdef int NUMBER_LENGTH = rules.NUMBER_LENGTH


cdef inline uint8_t meaning(uint32_t c) noexcept nogil:
    return MEANINGS[c] if c < PLANES else <uint8_t> OTHER


cdef inline bint is_space(uint8_t now) noexcept nogil:
    return now == SPACE or now == LINE_FEED or now == RETURN


cdef Py_ssize_t read_gap(
    const Char* text, Py_ssize_t i, Py_ssize_t length, const Letters* letters, Gap* gap
) noexcept nogil:
    """Skip from i to the next word character, or to length, and note what was met on the way."""
    cdef uint8_t now, before = OTHER
    cdef bint armed = False  # an end mark, and only closers since
    cdef bint lonely = False  # that end mark came after white space
    cdef bint colon = False  # a colon, and only white space since
    cdef bint tail = False  # an end mark that needs no white space, and only end marks since
    memset(gap, 0, sizeof(Gap))
    gap.single_stop = meaning(text[i]) == STOP
    while i < length and not begins_word(letter(letters, text[i])):
        now = meaning(text[i])
        tail = now == FULL or (tail and (now == CLOSER or STOP <= now <= STRONG))
        if tail and (gap.tail == 0 or gap.tail == i):
            gap.tail = i + 1
        if armed and gap.cut == 0 and (is_space(now) or now == TAG):
            gap.cut = i
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
        elif now == CLOSER or now == OPENER:
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
    cdef const Letters* folded = letters_for(True)
    cdef bint inner, number = end - start <= NUMBER_LENGTH
    if end - start == 1 and Py_UNICODE_ISALPHA(c):
        inner = start > 0 and text[start - 1] == c"."  # "e.g.", "U.S."
        if inner or words == 1 or (Py_UNICODE_ISUPPER(c) and c != c"I"):
            return True
    if end - start > 8:
        return False
    for i in range(start, end):
        number &= Py_UNICODE_ISDECIMAL(text[i])
        c = letter(folded, text[i])
        c = 0xFF if c >= 0x80 else c  # a character that no abbreviation holds, here made one
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
        is_space(meaning(text[end])) or text[end] == c"<"
        or begins_word(letter(letters_for(False), text[end]))
    ):
        end += 1
    return end


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
