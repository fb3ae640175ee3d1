"""Text to word ids in one pass over the characters of Python strings.

Words are hashed and compared as blocks of eight UTF-8 bytes (see ``text_table``). Most words are
one block, which takes a dozen instructions to read from ASCII text.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc

from textreg._core.text_letters cimport (
    EXPANDED, MARK, POINT, SPACELESS, Char, Letters, begins_word, expansion, letter, letters_for,
)
from textreg._core.text_sentences cimport (
    LINES, NONE, PARAGRAPHS, PUNCT, Gap, attached, ends_sentence, read_gap,
)
from textreg._core.text_table cimport (
    Slot, Table, add_word, close_table, open_table, place, words_by_name, write_block,
)

import numpy as np

cdef extern from "Python.h":
    bint PyUnicode_Check(object)
    int PyUnicode_READY(object) except -1
    int PyUnicode_KIND(object)
    void* PyUnicode_DATA(object)

cdef extern from *:
    """
    #define TEXTREG_ONES 0x0101010101010101ULL
    #define TEXTREG_TOP 0x8080808080808080ULL
    """
    const uint64_t ONES "TEXTREG_ONES"  # a one in every byte
    const uint64_t TOP "TEXTREG_TOP"  # the top bit of every byte

RULES = {"none": NONE, "lines": LINES, "paragraphs": PARAGRAPHS, "punct": PUNCT}

cdef struct View:  # the characters of a Python string
    const void* text
    Py_ssize_t length
    int width

cdef struct Spelling:  # of the word being read
    uint64_t block  # what is not in the table yet
    uint64_t first
    uint32_t rest
    int filled  # bytes of the block
    int64_t n  # blocks in the table

cdef struct Output:
    int32_t* ids
    int32_t* spans  # NULL: not wanted
    int64_t* sentence_ptr
    int32_t* sentence_spans
    int64_t* paragraph_ptr
    int64_t n_ids
    int64_t n_sentences
    int64_t n_paragraphs


def encode(texts, bint lowercase, Py_ssize_t min_length, str sentences, bint spans):
    """The words of all texts as ids, which number the words in order of name.

    Returns ``ids`` int32; ``sentence_ptr``, ``paragraph_ptr`` and ``document_ptr`` int64, the last
    two as offsets of sentences; ``names``, a list of str; and, if ``spans``, the character offsets
    of every word and of every sentence, int32 (n, 2), else None twice. Sentences and paragraphs
    without a word are dropped. Raises TypeError for a text that is not a str.
    """
    cdef Table table
    cdef Output out
    cdef Py_ssize_t d, n = len(texts), most = 1
    cdef int rule = RULES[sentences]
    cdef bint fine
    cdef int64_t i
    cdef int64_t[::1] sentence_view, paragraph_view, document_view
    cdef int32_t[::1] ids_view, rank_view
    cdef int32_t[:, ::1] spans_view, sentence_spans_view
    given = list(texts)  # referenced until the end: the views point into them
    fine = open_table(&table)
    cdef View* views = <View*> malloc((n + 1) * sizeof(View))
    try:
        if views == NULL or not fine:
            raise MemoryError
        for d in range(n):
            text = given[d]
            if not PyUnicode_Check(text):
                raise TypeError(f"text {d} is not a str but {type(text).__name__}")
            PyUnicode_READY(text)
            views[d] = View(PyUnicode_DATA(text), len(text), PyUnicode_KIND(text))
            # Words and gaps alternate, but in wide text every character may be a word.
            most += (views[d].length + 1) // 2 if views[d].width == 1 else views[d].length
        # Allocate for the largest possible result: pages that are never written take no memory.
        ids = np.empty(most, dtype=np.int32)
        sentence_ptr = np.zeros(most, dtype=np.int64)
        paragraph_ptr = np.zeros(most, dtype=np.int64)
        document_ptr = np.zeros(n + 1, dtype=np.int64)
        word_spans = np.empty((most if spans else 1, 2), dtype=np.int32)
        sentence_spans = np.empty((most if spans else 1, 2), dtype=np.int32)
        ids_view = ids
        sentence_view = sentence_ptr
        paragraph_view = paragraph_ptr
        document_view = document_ptr
        spans_view = word_spans
        sentence_spans_view = sentence_spans
        out.ids = &ids_view[0]
        out.sentence_ptr = &sentence_view[0]
        out.paragraph_ptr = &paragraph_view[0]
        out.spans = out.sentence_spans = NULL
        out.n_ids = out.n_sentences = out.n_paragraphs = 0
        if spans:
            out.spans = &spans_view[0, 0]
            out.sentence_spans = &sentence_spans_view[0, 0]
        with nogil:
            fine = scan_all(
                views, n, letters_for(lowercase), min_length, rule, &table, &out, document_view
            )
        if not fine:
            raise MemoryError
        names, rank = words_by_name(&table)
        rank_view = rank
        with nogil:
            for i in range(out.n_ids):
                ids_view[i] = rank_view[ids_view[i]]
    finally:
        close_table(&table)
        free(views)
    # The views are not used again.
    ids.resize(out.n_ids, refcheck=False)
    sentence_ptr.resize(out.n_sentences + 1, refcheck=False)
    paragraph_ptr.resize(out.n_paragraphs + 1, refcheck=False)
    if not spans:
        return ids, sentence_ptr, paragraph_ptr, document_ptr, names, None, None
    word_spans.resize((out.n_ids, 2), refcheck=False)
    sentence_spans.resize((out.n_sentences, 2), refcheck=False)
    return ids, sentence_ptr, paragraph_ptr, document_ptr, names, word_spans, sentence_spans


cdef bint scan_all(
    const View* views, Py_ssize_t n, const Letters* letters, Py_ssize_t min_length, int rule,
    Table* table, Output* out, int64_t[::1] document_ptr,
) noexcept nogil:
    """Append the words and sentences of n texts; False if there is no memory."""
    cdef Py_ssize_t d
    cdef const void* text
    cdef bint fine
    for d in range(n):
        text = views[d].text
        if views[d].width == 1:
            fine = scan(
                <const uint8_t*> text, views[d].length, letters, min_length, rule, table, out
            )
        elif views[d].width == 2:
            fine = scan(
                <const uint16_t*> text, views[d].length, letters, min_length, rule, table, out
            )
        else:
            fine = scan(
                <const uint32_t*> text, views[d].length, letters, min_length, rule, table, out
            )
        if not fine:
            return False
        document_ptr[d + 1] = out.n_sentences
    return True


cdef bint scan(
    const Char* text, Py_ssize_t length, const Letters* letters, Py_ssize_t min_length, int rule,
    Table* table, Output* out,
) noexcept nogil:
    """Append the words and sentences of one text, which a NUL follows, as in Python's strings."""
    cdef Gap gap
    cdef Spelling word
    cdef uint64_t chunk, stops
    cdef uint64_t fold = ONES * 0x20 if letters.folded else 0
    cdef uint32_t entry
    cdef bint complete, alone, fine = True
    cdef int32_t id
    cdef int64_t words = 0  # of this sentence
    cdef Py_ssize_t i = 0, start = 0, end = 0  # of a word
    cdef Py_ssize_t begin = 0  # of a sentence

    while True:
        if text[i] == c" " and begins_word(letter(letters, text[i + 1])):  # the most common gap
            i += 1
        elif not begins_word(letter(letters, text[i])):
            i = read_gap(text, i, length, letters, &gap)
            if i == length:
                break
            if words and ends_sentence(text, start, end, i, length, &gap, rule, words):
                end_sentence(begin, gap.tail or attached(text, end, length), out)
                words = 0
                if gap.lines >= 2:  # between two ends is a line without a word
                    end_paragraph(out)
        begin = i if words == 0 else begin
        words += 1

        start = i
        word = Spelling(0, 0, 0, 0, 0)
        complete = alone = False
        if Char is uint8_t:
            # Eight characters at a time, while they are ASCII and do not reach the end of the text.
            while not complete and i + 8 <= length:
                chunk = load(text + i)
                if chunk & TOP:
                    break
                stops = not_in_word(&chunk, fold)
                if stops:
                    stops = (stops & (0 - stops)) >> 7  # 1 in the byte of the first that stops
                    word.block = chunk & (stops - 1)
                    # Which byte that is.
                    word.filled = <int> ((stops * <uint64_t> 0x0001020304050607) >> 56)
                    i += word.filled
                    complete = True
                else:
                    if not end_block(table, &word, chunk):
                        return False
                    i += 8
        else:
            entry = letter(letters, text[i])
            alone = entry & SPACELESS != 0
            if alone:  # with its marks, which are all that the loop below reads
                if not add(table, &word, entry & POINT):
                    return False
                i += 1
        while not complete:
            entry = letter(letters, text[i])
            if entry < SPACELESS:  # by far the most
                if entry == 0 or alone:
                    break
                fine = add(table, &word, entry)
            elif entry & MARK:
                fine = add(table, &word, entry & POINT)
            elif entry & SPACELESS or (entry & EXPANDED and alone):
                break
            elif entry & EXPANDED:
                fine = add_all(table, &word, expansion(entry))
            if not fine:
                return False
            i += 1
        end = i
        if end - start < min_length and not alone:
            continue
        if word.n == 0:
            word.first = word.block
            word.n = 1
        elif word.filled and not end_block(table, &word, word.block):
            return False
        id = intern(table, word.first, word.rest, word.n)
        if id < 0:
            return False
        out.ids[out.n_ids] = id
        if out.spans != NULL:
            out.spans[2 * out.n_ids] = <int32_t> start
            out.spans[2 * out.n_ids + 1] = <int32_t> end
        out.n_ids += 1
    end_sentence(begin, gap.tail or attached(text, end, length), out)
    end_paragraph(out)
    return True


cdef inline bint end_block(Table* table, Spelling* word, uint64_t block) noexcept nogil:
    """Append a full block, or the last one; False if there is no memory."""
    if not write_block(table, word.n, block):
        return False
    if word.n:
        word.rest = mixed(word.rest, block)
    else:
        word.first = block
    word.n += 1
    return True


cdef inline bint add(Table* table, Spelling* word, uint32_t c) noexcept nogil:
    """Append the UTF-8 bytes of a character; False if there is no memory."""
    cdef int bytes = 1
    if c >= 0x80:
        c = utf8(c, &bytes)
    while bytes:
        bytes -= 1
        word.block |= <uint64_t> (c >> 8 * bytes & 0xFF) << 8 * word.filled
        word.filled += 1
        if word.filled == 8:
            if not end_block(table, word, word.block):
                return False
            word.block = 0
            word.filled = 0
    return True


cdef bint add_all(Table* table, Spelling* word, const uint32_t* characters) noexcept nogil:
    """Append the characters before a 0."""
    while characters[0]:
        if not add(table, word, characters[0]):
            return False
        characters += 1
    return True


cdef inline uint64_t load(const uint8_t* text) noexcept nogil:
    """Eight characters, the first in the lowest byte; compilers make one load of it."""
    return (
        <uint64_t> text[0] | <uint64_t> text[1] << 8 | <uint64_t> text[2] << 16
        | <uint64_t> text[3] << 24 | <uint64_t> text[4] << 32 | <uint64_t> text[5] << 40
        | <uint64_t> text[6] << 48 | <uint64_t> text[7] << 56
    )


cdef inline uint64_t not_in_word(uint64_t* chunk, uint64_t fold) noexcept nogil:
    """The top bits of those of eight ASCII characters that are not word characters.

    ``fold``, the bit that makes a letter lower case or 0, is set in the chunk's letters. Ranges
    are tested in all bytes at once: adding 0x80 - "a" sets the top bit from "a" up. No byte
    carries into the next, since each is below 0x80 and gets at most 0x7F.
    """
    cdef uint64_t given = chunk[0], small = given | ONES * 0x20
    cdef uint64_t alpha = (small + ONES * (0x80 - c"a")) & ~(small + ONES * (0x7F - c"z")) & TOP
    cdef uint64_t digit = (given + ONES * (0x80 - c"0")) & ~(given + ONES * (0x7F - c"9"))
    cdef uint64_t underscore = TOP - (given ^ ONES * c"_")
    chunk[0] = given | (alpha >> 2 & fold)
    return ~(alpha | digit | underscore) & TOP


cdef inline uint32_t utf8(uint32_t c, int* bytes) noexcept nogil:
    """The UTF-8 bytes of a character from 0x80 up, the first one highest, and their number."""
    if c < 0x800:
        bytes[0] = 2
        return 0xC080 | c >> 6 << 8 | c & 0x3F
    if c < 0x10000:
        bytes[0] = 3
        return 0xE08080 | c >> 12 << 16 | (c >> 6 & 0x3F) << 8 | c & 0x3F
    bytes[0] = 4
    return (
        <uint32_t> 0xF0808080
        | c >> 18 << 24 | (c >> 12 & 0x3F) << 16 | (c >> 6 & 0x3F) << 8 | c & 0x3F
    )


cdef inline uint32_t mixed(uint32_t rest, uint64_t block) noexcept nogil:
    """The hash with one more block; never 0."""
    return <uint32_t> (((block ^ rest) * <uint64_t> 0xD6E8FEB86659FD93) >> 32) | 1


cdef inline int32_t intern(Table* table, uint64_t first, uint32_t rest, int64_t n) noexcept nogil:
    """The id of the word of n blocks being read, new or known; -1 if there is no memory."""
    cdef uint64_t mask = (<uint64_t> 1 << table.bits) - 1
    cdef uint64_t where = place(first, rest, table.bits)
    cdef Slot* slot = &table.slots[where]
    while slot.id >= 0:
        if slot.first == first and slot.rest == rest and (n == 1 or same(table, slot.id, n)):
            return slot.id
        where = (where + 1) & mask
        slot = &table.slots[where]
    return add_word(table, slot, first, rest, n)


cdef bint same(const Table* table, int32_t id, int64_t n) noexcept nogil:
    """Whether word id is the one of n blocks being read."""
    cdef int64_t k, start = table.starts[id]
    if table.starts[id + 1] - start != n:
        return False
    for k in range(n):
        if table.blocks[start + k] != table.blocks[table.used + k]:
            return False
    return True


cdef void end_sentence(Py_ssize_t begin, Py_ssize_t end, Output* out) noexcept nogil:
    """Close the sentence from begin to end, unless it has no word."""
    if out.n_ids == out.sentence_ptr[out.n_sentences]:
        return
    if out.sentence_spans != NULL:
        out.sentence_spans[2 * out.n_sentences] = <int32_t> begin
        out.sentence_spans[2 * out.n_sentences + 1] = <int32_t> end
    out.n_sentences += 1
    out.sentence_ptr[out.n_sentences] = out.n_ids


cdef void end_paragraph(Output* out) noexcept nogil:
    """Close the paragraph of the sentences since the last one, unless there are none."""
    if out.n_sentences > out.paragraph_ptr[out.n_paragraphs]:
        out.n_paragraphs += 1
        out.paragraph_ptr[out.n_paragraphs] = out.n_sentences
