"""Text to runs of characters: what stands between white space, each distinct run spelled once.

A distinct run is its code points, in lower case if that is wanted, so what depends on them alone
is computed once for each. Positions in texts count characters, as Python does.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcmp, memcpy, memset

from textreg._core.text_letters cimport (
    BMP, EXPANDED, MARK, SPACELESS, Char, Letters, begins_word, letter, letters_for,
)
from textreg._core.text_sentences cimport (
    LINES, NONE, PARAGRAPHS, PUNCT, Gap, attached, ends_sentence, read_gap,
)

import numpy as np

from textreg._core.text_rules import with_final_sigmas

cdef extern from "Python.h":
    bint PyUnicode_Check(object)
    int PyUnicode_READY(object) except -1
    int PyUnicode_KIND(object)
    void* PyUnicode_DATA(object)
    bint Py_UNICODE_ISSPACE(Py_UCS4) nogil
    Py_UCS4 Py_UNICODE_TOLOWER(Py_UCS4) nogil

RULES = {"none": NONE, "lines": LINES, "paragraphs": PARAGRAPHS, "punct": PUNCT}

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

cdef struct Slot:
    uint32_t hash
    int32_t id  # below 0: free

cdef struct Table:  # of the distinct runs
    Slot* slots
    int bits  # there are 2**bits slots
    int64_t size
    uint32_t* spelled  # one after another, then the one being read
    int64_t used
    int64_t room
    int64_t* starts  # run r is spelled[starts[r]:starts[r + 1]]

cdef struct Output:
    int32_t* runs
    int64_t n_runs
    int64_t* sentence_ptr
    int64_t n_sentences
    int64_t* paragraph_ptr
    int64_t n_paragraphs
    int32_t* begins  # NULL, as the next two: not wanted
    int32_t* ends
    int32_t* sentence_spans
    int64_t n_places

cdef struct How:
    const Letters* letters
    const uint16_t* fold
    bint lowercase
    bint across
    int rule

cdef struct Reader:  # finds where sentences end
    Py_ssize_t at  # where the word begins that comes next
    Py_ssize_t start  # of the word before it
    Py_ssize_t end
    int64_t words  # of this sentence
    bint paragraph  # whether a paragraph ends with the sentence


def runs(texts, bint lowercase, bint across, str sentences, bint spans):
    """The runs of all texts, and the sentences that they make.

    A run is what stands between white space, with a blank on both sides; with ``across`` it is a
    whole sentence, with one blank between what stands between white space. The end of a sentence
    in the middle of a run cuts it, without blanks there.

    Returns ``spelled`` uint32 and ``run_ptr`` int64, the code points of distinct runs in order of
    first occurrence; ``ids`` int32, the run of every occurrence; ``sentence_ptr`` (offsets of
    occurrences), ``paragraph_ptr`` and ``document_ptr`` (of sentences) int64; and, if ``spans``,
    for every code point of every occurrence where a piece of text begins that begins with it, and
    where one ends that ends with it, int32 both, and the spans of sentences, int32 (n, 2); else
    None three times. Raises TypeError for a text that is not a str.
    """
    cdef Table table
    cdef Output out
    cdef How how
    cdef Py_ssize_t d, n = len(texts), length, most = 1, longest = 1
    cdef bint fine
    cdef const void* data
    cdef int width
    cdef int64_t[::1] sentence_view, paragraph_view, document_view, ptr_view
    cdef int32_t[::1] ids_view, begins_view, ends_view
    cdef int32_t[:, ::1] sentence_spans_view
    cdef uint32_t[::1] spelled_view
    how.letters = letters_for(lowercase)
    how.fold = &LOWERED[0] if lowercase else &AS_GIVEN[0]
    how.lowercase = lowercase
    how.across = across
    how.rule = RULES[sentences]
    # Referenced until the end: the views point into them.
    given = [with_final_sigmas(text) if lowercase and "Σ" in text else text for text in texts]
    for d in range(n):
        text = given[d]
        if not PyUnicode_Check(text):
            raise TypeError(f"text {d} is not a str but {type(text).__name__}")
        length = len(text)
        most += length // 2 + 1  # runs: white space, or an end of a sentence, is between
        longest += 3 * length + 2  # code points: two of 'İ', and two blanks
    # Allocate for the largest possible result: pages that are never written take no memory.
    ids = np.empty(most, dtype=np.int32)
    sentence_ptr = np.zeros(most, dtype=np.int64)
    paragraph_ptr = np.zeros(most, dtype=np.int64)
    document_ptr = np.zeros(n + 1, dtype=np.int64)
    begins = np.empty(longest if spans else 1, dtype=np.int32)
    ends = np.empty(longest if spans else 1, dtype=np.int32)
    sentence_spans = np.empty((most if spans else 1, 2), dtype=np.int32)
    ids_view = ids
    sentence_view = sentence_ptr
    paragraph_view = paragraph_ptr
    document_view = document_ptr
    begins_view = begins
    ends_view = ends
    sentence_spans_view = sentence_spans
    memset(&out, 0, sizeof(Output))
    out.runs = &ids_view[0]
    out.sentence_ptr = &sentence_view[0]
    out.paragraph_ptr = &paragraph_view[0]
    if spans:
        out.begins = &begins_view[0]
        out.ends = &ends_view[0]
        out.sentence_spans = &sentence_spans_view[0, 0]
    fine = open_table(&table, longest // 8)
    try:
        for d in range(n):
            text = given[d]
            PyUnicode_READY(text)
            data = PyUnicode_DATA(text)
            length = len(text)
            width = PyUnicode_KIND(text)
            with nogil:
                if not fine:
                    pass
                elif width == 1:
                    fine = scan(<const uint8_t*> data, length, &how, &table, &out)
                elif width == 2:
                    fine = scan(<const uint16_t*> data, length, &how, &table, &out)
                else:
                    fine = scan(<const uint32_t*> data, length, &how, &table, &out)
            if not fine:
                raise MemoryError
            document_view[d + 1] = out.n_sentences
        spelled = np.empty(table.used, dtype=np.uint32)
        run_ptr = np.zeros(table.size + 1, dtype=np.int64)
        ptr_view = run_ptr
        memcpy(&ptr_view[0], table.starts, (table.size + 1) * sizeof(int64_t))
        if table.used:
            spelled_view = spelled
            memcpy(&spelled_view[0], table.spelled, table.used * sizeof(uint32_t))
    finally:
        close_table(&table)
    # The views are not used again.
    ids.resize(out.n_runs, refcheck=False)
    sentence_ptr.resize(out.n_sentences + 1, refcheck=False)
    paragraph_ptr.resize(out.n_paragraphs + 1, refcheck=False)
    found = spelled, run_ptr, ids, sentence_ptr, paragraph_ptr, document_ptr
    if not spans:
        return *found, None, None, None
    begins.resize(out.n_places, refcheck=False)
    ends.resize(out.n_places, refcheck=False)
    sentence_spans.resize((out.n_sentences, 2), refcheck=False)
    return *found, begins, ends, sentence_spans


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
