"""The runs of one text after another, and the sentences that they make.

A distinct run is its code points, in lower case if that is wanted, so what depends on them alone
is computed once for each. Positions in texts count characters, as Python does.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcmp, memset

from textreg._core.text_letters cimport (
    BMP, EXPANDED, MARK, SPACELESS, Char, Letters, begins_word, letter, letters_for,
)
from textreg._core.text_sentences cimport NONE, Gap, attached, ends_sentence, read_gap, rule_of

from textreg._core.text_rules import with_final_sigmas

cdef extern from "Python.h":
    bint Py_UNICODE_ISSPACE(Py_UCS4) nogil
    Py_UCS4 Py_UNICODE_TOLOWER(Py_UCS4) nogil

cdef enum:
    BLANK = 0x20
    DOTTED_I = 0x130
    DOT_ABOVE = 0x307  # follows the 'i' in the lower case of 'İ'

# What a character becomes: a blank for white space, and for nothing else.
cdef uint16_t AS_GIVEN[BMP]
cdef uint16_t LOWERED[BMP]


cdef void fill_tables() noexcept:
    cdef int c
    for c in range(BMP):
        AS_GIVEN[c] = BLANK if Py_UNICODE_ISSPACE(c) else c
        LOWERED[c] = BLANK if Py_UNICODE_ISSPACE(c) else Py_UNICODE_TOLOWER(c)
    LOWERED[DOTTED_I] = c"i"


fill_tables()

cdef struct Reader:  # finds where sentences end
    Py_ssize_t at  # where the word begins that comes next
    Py_ssize_t start  # of the word before it
    Py_ssize_t end
    int64_t words  # of this sentence
    bint paragraph  # whether a paragraph ends with the sentence


cdef How how_of(bint lowercase, bint across, str sentences) except *:
    """The options of a scan."""
    cdef const uint16_t* fold = &AS_GIVEN[0]
    if lowercase:
        fold = &LOWERED[0]
    return How(letters_for(lowercase), fold, lowercase, across, rule_of(sentences))


cdef object as_read(text, bint lowercase):
    """The text whose characters are scanned."""
    return with_final_sigmas(text) if lowercase and "Σ" in text else text


cdef bint open_table(Table* table, int64_t expected) noexcept nogil:
    """Initialize an empty table, which must be closed even if this fails.

    expected: how many runs it has room for at first, within bounds: one text has few.
    """
    table.bits = 6
    while table.bits < 12 and <int64_t> 1 << table.bits < 2 * expected:
        table.bits += 1
    table.size = 0
    table.used = 0
    table.room = <int64_t> 8 << table.bits
    table.slots = <Slot*> malloc(sizeof(Slot) << table.bits)
    table.starts = <int64_t*> malloc(sizeof(int64_t) << table.bits)
    table.spelled = <uint32_t*> malloc(table.room * sizeof(uint32_t))
    if table.slots == NULL or table.spelled == NULL or table.starts == NULL:
        return False
    memset(table.slots, 0xFF, sizeof(Slot) << table.bits)
    table.starts[0] = 0
    return True


cdef void close_table(Table* table) noexcept nogil:
    free(table.slots)
    free(table.starts)
    free(table.spelled)


cdef bint scan_text(
    const void* text, Py_ssize_t length, int width, const How* how, Table* table, Output* out
) noexcept nogil:
    """Append the runs and sentences of one text; False if there is no memory."""
    if width == 1:
        return scan(<const uint8_t*> text, length, how, table, out)
    if width == 2:
        return scan(<const uint16_t*> text, length, how, table, out)
    return scan(<const uint32_t*> text, length, how, table, out)


cdef bint scan(
    const Char* text, Py_ssize_t length, const How* how, Table* table, Output* out
) noexcept nogil:
    """Append the runs and sentences of one text, which a NUL follows, as in Python's strings."""
    cdef Reader reader
    cdef Py_ssize_t i = 0, end
    memset(&reader, 0, sizeof(Reader))
    while i < length:
        end = next_end(text, length, how, &reader)
        if not read_sentence(text, i, end, length, how, table, out):
            return False
        if reader.paragraph or end == length:
            end_paragraph(out)
        i = end
    return True


cdef Py_ssize_t next_end(
    const Char* text, Py_ssize_t length, const How* how, Reader* reader
) noexcept nogil:
    """Where the sentence ends that the reader is in."""
    cdef Gap gap
    cdef Py_ssize_t i = reader.at
    cdef bint first = i > 0  # the gap before the word at i has been read
    reader.paragraph = False
    if how.rule == NONE:
        return length
    while True:
        if first:
            first = False
        elif text[i] == c" " and begins_word(letter(how.letters, text[i + 1])):  # most gaps
            i += 1
        elif not begins_word(letter(how.letters, text[i])):
            i = read_gap(text, i, length, how.letters, &gap)
            if i == length:
                return length
            if reader.words and ends_sentence(
                text, reader.start, reader.end, i, length, &gap, how.rule, reader.words
            ):
                reader.words = 0
                reader.at = i
                reader.paragraph = gap.lines >= 2  # between two ends is a line without a word
                return in_gap(text, reader.end, i, length, gap.tail, how.fold)
        reader.words += 1
        reader.start = i
        i = after_word(text, i, how.letters)
        reader.end = i


cdef inline Py_ssize_t after_word(
    const Char* text, Py_ssize_t i, const Letters* letters
) noexcept nogil:
    """Where the word ends that begins at i, by the rules of ``textreg._core.text``."""
    cdef uint32_t entry = letter(letters, text[i])
    cdef bint alone = entry & SPACELESS != 0
    while True:
        i += 1
        entry = letter(letters, text[i])
        if entry & MARK:
            continue
        if entry == 0 or entry & SPACELESS or (alone and (entry < SPACELESS or entry & EXPANDED)):
            return i


cdef Py_ssize_t in_gap(
    const Char* text, Py_ssize_t start, Py_ssize_t end, Py_ssize_t length, Py_ssize_t tail,
    const uint16_t* fold,
) noexcept nogil:
    """Where in the gap start:end a sentence ends: after its first line, else after its last white
    space, unless a mark that needs none follows, else after the punctuation of the last word.

    tail: where such a mark ends, 0 if there is none.
    """
    cdef Py_ssize_t i
    for i in range(start, end):
        if text[i] == c"\n" or text[i] == c"\r":
            return i + 1
    for i in range(end - 1, max(start, tail) - 1, -1):
        if folded(fold, text[i]) == BLANK:
            return i + 1
    return tail or attached(text, start, length)


cdef inline uint32_t folded(const uint16_t* fold, uint32_t c) noexcept nogil:
    return fold[c] if c < BMP else c


cdef bint read_sentence(
    const Char* text, Py_ssize_t start, Py_ssize_t end, Py_ssize_t length, const How* how,
    Table* table, Output* out,
) noexcept nogil:
    """Append the runs of the sentence in start:end, unless that is blank."""
    cdef Py_ssize_t i = start, begin = start, after = start, stop
    cdef int64_t n = 0  # code points of this run
    cdef bint alone = not how.across
    cdef bint some = False
    while True:
        while i < end and folded(how.fold, text[i]) == BLANK:
            i += 1
        if i == end:
            break
        stop = i + 1
        while stop < end and folded(how.fold, text[stop]) != BLANK:
            stop += 1
        if not reserve(table, n + 2 * (stop - i) + 2):
            return False
        if alone and (i == 0 or folded(how.fold, text[i - 1]) == BLANK):
            put(table, out, &n, BLANK, i, i + 1)
        elif some and not alone:
            put(table, out, &n, BLANK, i, after)
        begin = begin if some else i
        some = True
        after = stop
        while i < stop:
            put_character(table, out, &n, text[i], i, how)
            i += 1
        if alone:
            if stop == length or folded(how.fold, text[stop]) == BLANK:
                put(table, out, &n, BLANK, stop - 1, stop)
            if not end_run(table, out, &n):
                return False
    if not some:
        return True
    if not alone and not end_run(table, out, &n):
        return False
    if out.sentence_spans != NULL:
        out.sentence_spans[2 * out.n_sentences] = <int32_t> begin
        out.sentence_spans[2 * out.n_sentences + 1] = <int32_t> after
    out.n_sentences += 1
    out.sentence_ptr[out.n_sentences] = out.n_runs
    return True


cdef inline void put_character(
    Table* table, Output* out, int64_t* n, uint32_t c, Py_ssize_t i, const How* how
) noexcept nogil:
    """Append what the character at i becomes to the run being read, which has n code points."""
    if c >= BMP:
        put(table, out, n, Py_UNICODE_TOLOWER(c) if how.lowercase else c, i, i + 1)
        return
    put(table, out, n, how.fold[c], i, i + 1)
    if c == DOTTED_I and how.lowercase:
        put(table, out, n, DOT_ABOVE, i, i + 1)


cdef inline void put(
    Table* table, Output* out, int64_t* n, uint32_t c, Py_ssize_t begin, Py_ssize_t end
) noexcept nogil:
    """Append a code point to the run being read, for which there is room."""
    table.spelled[table.used + n[0]] = c
    n[0] += 1
    if out.begins != NULL:
        out.begins[out.n_places] = <int32_t> begin
        out.ends[out.n_places] = <int32_t> end
        out.n_places += 1


cdef inline bint reserve(Table* table, int64_t n) noexcept nogil:
    """Make room for n code points of the run being read."""
    cdef uint32_t* spelled
    cdef int64_t room = 2 * (table.used + n)
    if table.used + n <= table.room:
        return True
    spelled = <uint32_t*> realloc(table.spelled, room * sizeof(uint32_t))
    if spelled == NULL:
        return False
    table.spelled = spelled
    table.room = room
    return True


cdef bint end_run(Table* table, Output* out, int64_t* n) noexcept nogil:
    """Append the run being read, new or known; False if there is no memory."""
    cdef const uint32_t* read = table.spelled + table.used
    cdef uint64_t hash = 0, where, mask = (<uint64_t> 1 << table.bits) - 1
    cdef uint32_t short
    cdef int64_t k, start
    cdef Slot* slot
    for k in range(n[0]):
        hash = (hash ^ read[k]) * <uint64_t> 0x9E3779B97F4A7C15
        hash ^= hash >> 32
    short = <uint32_t> hash
    where = short & mask
    slot = &table.slots[where]
    while slot.id >= 0:
        if slot.hash == short:
            start = table.starts[slot.id]
            if table.starts[slot.id + 1] - start == n[0] and memcmp(
                table.spelled + start, read, n[0] * sizeof(uint32_t)
            ) == 0:
                break
        where = (where + 1) & mask
        slot = &table.slots[where]
    if slot.id < 0:
        if table.size == 0x7FFFFFFF:
            return False
        slot.hash = short
        slot.id = <int32_t> table.size
        table.size += 1
        table.used += n[0]
        table.starts[table.size] = table.used
    out.runs[out.n_runs] = slot.id
    out.n_runs += 1
    n[0] = 0
    return table.size <= (<int64_t> 1 << table.bits) // 2 or grow(table)


cdef bint grow(Table* table) noexcept nogil:
    """Double the slots; no run need be read for that."""
    cdef int bits = table.bits + 1
    cdef uint64_t s, where, mask = (<uint64_t> 1 << bits) - 1
    cdef Slot* slots
    cdef int64_t* starts = <int64_t*> realloc(table.starts, sizeof(int64_t) << bits)
    if starts == NULL:
        return False
    table.starts = starts
    slots = <Slot*> malloc(sizeof(Slot) << bits)
    if slots == NULL:
        return False
    memset(slots, 0xFF, sizeof(Slot) << bits)
    for s in range(<uint64_t> 1 << table.bits):
        if table.slots[s].id >= 0:
            where = table.slots[s].hash & mask
            while slots[where].id >= 0:
                where = (where + 1) & mask
            slots[where] = table.slots[s]
    free(table.slots)
    table.slots = slots
    table.bits = bits
    return True


cdef void end_paragraph(Output* out) noexcept nogil:
    """Close the paragraph of the sentences since the last one, unless there are none."""
    if out.n_sentences > out.paragraph_ptr[out.n_paragraphs]:
        out.n_paragraphs += 1
        out.paragraph_ptr[out.n_paragraphs] = out.n_sentences
