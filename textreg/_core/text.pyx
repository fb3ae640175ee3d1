"""Text to word ids in one pass over the characters of Python strings.

Words are hashed and compared as blocks of eight UTF-8 bytes (see ``text_table``). Most words are
one block, which takes a dozen instructions to read from ASCII text.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memmove

from textreg._core.text_known cimport find_words
from textreg._core.text_letters cimport (
    EXPANDED, MARK, POINT, SPACELESS, Char, Letters, begins_word, expansion, letter, letters_for,
)
from textreg._core.text_marks cimport EMOJI, LOOKS, PUNCTUATION, read_mark
from textreg._core.text_sentences cimport (
    LINES, NONE, PARAGRAPHS, PUNCT, Gap, attached, ends_sentence, read_gap,
)
from textreg._core.text_spelling cimport Spelling, absorb, add, add_all, end_block, end_word
from textreg._core.text_table cimport Table, close_table, open_table, words_by_name

import numpy as np

from textreg._core.threads import allowed, cuts_of, pieces_of, share

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

cdef struct Rules:
    const Letters* letters
    Py_ssize_t min_length
    int sentences
    int marks  # what else is a token, PUNCTUATION and EMOJI added up

cdef struct Output:
    int32_t* ids
    int32_t* spans  # NULL: not wanted
    int64_t* sentence_ptr
    int32_t* sentence_spans
    int64_t* paragraph_ptr
    int64_t n_ids
    int64_t n_sentences
    int64_t n_paragraphs
    Py_ssize_t begin  # of the sentence; below 0 if it has none yet
    Py_ssize_t end  # of its last mark


def is_latin(text):
    """Whether all characters are below 256, which a string knows; TypeError if it is no str."""
    if not PyUnicode_Check(text):
        raise TypeError(f"text is not a str but {type(text).__name__}")
    PyUnicode_READY(text)
    return PyUnicode_KIND(text) == 1


def encode(
    texts, bint lowercase, Py_ssize_t min_length, str sentences, bint punctuation, bint emoji,
    bint spans, known=None,
):
    """The words of all texts as ids, which number the words in order of name.

    Returns ``ids`` int32; ``sentence_ptr``, ``paragraph_ptr`` and ``document_ptr`` int64, the last
    two as offsets of sentences; ``names``, a list of str; and, if ``spans``, the character offsets
    of every word and of every sentence, int32 (n, 2), else None twice. Sentences and paragraphs
    without a token are dropped. Raises TypeError for a text that is not a str.

    known: names and their offsets, and what ``text_known.index_names`` makes of them. Then ids are
    in order of first occurrence, and instead of names are their numbers in these, int32, or -1.
    """
    given = list(texts)  # referenced until the end: the views point into them
    cdef _Scan scan = _Scan(
        given, lowercase, min_length, sentences,
        (PUNCTUATION if punctuation else 0) + (EMOJI if emoji else 0), spans,
        # Ids in order of first occurrence hang on who scans what.
        1 if known is not None else allowed(),
    )
    share(scan, scan.n_pieces)
    return scan.result(known)


cdef class _Scan:
    """Texts in pieces, each to be scanned by one worker, which has a table of its own.

    A piece has its place in the arrays, large enough for whatever it holds: pages that are never
    written take no memory.
    """

    cdef View* views
    cdef Table* tables  # of the workers
    cdef Output* outputs  # of the pieces
    cdef Rules rules
    cdef Py_ssize_t n_views, n_tables
    cdef readonly Py_ssize_t n_pieces
    cdef int64_t[::1] cuts  # of the texts
    cdef int64_t[::1] document_view
    cdef object given, owners, arrays, document_ptr, word_spans, sentence_spans
    cdef bint spans

    def __cinit__(
        self, list given, bint lowercase, Py_ssize_t min_length, str sentences, int marks,
        bint spans, Py_ssize_t n_tables,
    ):
        self.n_views = len(given)
        self.views = <View*> malloc((self.n_views + 1) * sizeof(View))
        self.tables = <Table*> malloc(n_tables * sizeof(Table))
        if self.views == NULL or self.tables == NULL:
            raise MemoryError

    def __init__(
        self, list given, bint lowercase, Py_ssize_t min_length, str sentences, int marks,
        bint spans, Py_ssize_t n_tables,
    ):
        cdef Py_ssize_t d, k, n = self.n_views
        cdef int64_t total = 0
        cdef bint halved
        cdef int64_t[::1] rooms = np.zeros(n + 1, dtype=np.int64)
        self.given = given
        self.spans = spans
        self.rules = Rules(letters_for(lowercase), min_length, RULES[sentences], marks)
        for d in range(n):
            text = given[d]
            if not PyUnicode_Check(text):
                raise TypeError(f"text {d} is not a str but {type(text).__name__}")
            PyUnicode_READY(text)
            self.views[d] = View(PyUnicode_DATA(text), len(text), PyUnicode_KIND(text))
            # Words and gaps alternate, but in wide text every character may be a word.
            halved = self.views[d].width == 1 and not marks
            total += (self.views[d].length + 1) // 2 if halved else self.views[d].length
            rooms[d + 1] = total
        for k in range(n_tables):
            self.n_tables = k + 1
            if not open_table(&self.tables[k], total // 2):
                raise MemoryError
        self.n_pieces = pieces_of(total) if n_tables > 1 else 1
        self.cuts = cuts_of(np.asarray(rooms), self.n_pieces)
        self.owners = [0] * self.n_pieces
        self.outputs = <Output*> malloc(self.n_pieces * sizeof(Output))
        if self.outputs == NULL:
            raise MemoryError
        self.allocate(rooms)

    cdef void allocate(self, const int64_t[::1] rooms) except *:
        cdef Py_ssize_t p, start
        cdef Py_ssize_t most = rooms[self.n_views] + self.n_pieces
        cdef Py_ssize_t spanned = most if self.spans else 1
        ids = np.empty(most, dtype=np.int32)
        sentence_ptr = np.zeros(most, dtype=np.int64)
        paragraph_ptr = np.zeros(most, dtype=np.int64)
        self.document_ptr = np.zeros(self.n_views + 1, dtype=np.int64)
        self.word_spans = np.empty((spanned, 2), dtype=np.int32)
        self.sentence_spans = np.empty((spanned, 2), dtype=np.int32)
        self.arrays = ids, sentence_ptr, paragraph_ptr
        self.document_view = self.document_ptr
        cdef int32_t[::1] ids_view = ids
        cdef int64_t[::1] sentence_view = sentence_ptr, paragraph_view = paragraph_ptr
        cdef int32_t[:, ::1] spans_view = self.word_spans, sentences_view = self.sentence_spans
        for p in range(self.n_pieces):
            start = rooms[self.cuts[p]] + p
            self.outputs[p] = Output(
                &ids_view[start], NULL, &sentence_view[start], NULL, &paragraph_view[start],
                0, 0, 0, -1, 0,
            )
            if self.spans:
                self.outputs[p].spans = &spans_view[start, 0]
                self.outputs[p].sentence_spans = &sentences_view[start, 0]

    def __dealloc__(self):
        cdef Py_ssize_t k
        for k in range(self.n_tables):
            close_table(&self.tables[k])
        free(self.views)
        free(self.tables)
        free(self.outputs)

    def __call__(self, Py_ssize_t worker, Py_ssize_t piece):
        """Scan a piece."""
        cdef bint fine
        cdef Py_ssize_t start = self.cuts[piece], n = self.cuts[piece + 1] - start
        self.owners[piece] = worker
        with nogil:
            fine = scan_all(
                self.views + start, n, &self.rules, &self.tables[worker], &self.outputs[piece],
                self.document_view[start:],
            )
        if not fine:
            raise MemoryError

    cdef tuple result(self, tuple known):
        """What ``encode`` returns: the pieces one after the other, under the names of all."""
        cdef Py_ssize_t p, d
        cdef int64_t ids = 0, sentences = 0, paragraphs = 0
        cdef Output* out
        cdef int32_t[::1] rank
        if known is not None:
            out = &self.outputs[0]
            return self.sized(
                numbers_of(&self.tables[0], known), out.n_ids, out.n_sentences, out.n_paragraphs
            )
        names, ranks = self.ranked()
        cdef Output joined = self.outputs[0]
        for p in range(self.n_pieces):
            out = &self.outputs[p]
            rank = ranks[self.owners[p]]
            with nogil:
                append(&joined, out, rank, ids, sentences, paragraphs)
                for d in range(self.cuts[p], self.cuts[p + 1]):
                    self.document_view[d + 1] += sentences
            ids += out.n_ids
            sentences += out.n_sentences
            paragraphs += out.n_paragraphs
        return self.sized(names, ids, sentences, paragraphs)

    cdef tuple ranked(self):
        """The words of all tables in order of name, and for every table the places of its ids."""
        cdef Py_ssize_t k
        cdef int32_t[::1] view
        numbers = []
        for k in range(1, self.n_tables):
            number = np.empty(self.tables[k].size, dtype=np.int32)
            view = number
            if len(number) and not absorb(&self.tables[0], &self.tables[k], &view[0]):
                raise MemoryError
            numbers.append(number)
        names, rank = words_by_name(&self.tables[0])
        return names, [rank, *(rank[number] for number in numbers)]

    cdef tuple sized(self, names, int64_t ids, int64_t sentences, int64_t paragraphs):
        """The arrays as large as what they hold; their views are not used again."""
        for array, size in zip(self.arrays, (ids, sentences + 1, paragraphs + 1)):
            array.resize(size, refcheck=False)
        if not self.spans:
            return *self.arrays, self.document_ptr, names, None, None
        self.word_spans.resize((ids, 2), refcheck=False)
        self.sentence_spans.resize((sentences, 2), refcheck=False)
        return *self.arrays, self.document_ptr, names, self.word_spans, self.sentence_spans


cdef void append(
    const Output* joined, const Output* out, const int32_t[::1] rank, int64_t ids,
    int64_t sentences, int64_t paragraphs,
) noexcept nogil:
    """Move what a piece holds to its place, after so many ids, sentences and paragraphs.

    No place is above the one where it was, so what is not read yet is not overwritten.
    """
    cdef int64_t i
    for i in range(out.n_ids):
        joined.ids[ids + i] = rank[out.ids[i]]
    if joined.ids == out.ids:  # the first is there already
        return
    for i in range(1, out.n_sentences + 1):
        joined.sentence_ptr[sentences + i] = out.sentence_ptr[i] + ids
    for i in range(1, out.n_paragraphs + 1):
        joined.paragraph_ptr[paragraphs + i] = out.paragraph_ptr[i] + sentences
    if joined.spans != NULL:
        memmove(joined.spans + 2 * ids, out.spans, 2 * out.n_ids * sizeof(int32_t))
        memmove(
            joined.sentence_spans + 2 * sentences, out.sentence_spans,
            2 * out.n_sentences * sizeof(int32_t),
        )


cdef object numbers_of(const Table* table, tuple known):
    """The number of every word of the table among known ones, -1 for others."""
    if any(array is None for array in known):
        raise TypeError("known words need their names, offsets and slots")
    cdef const uint8_t[::1] names = known[0]
    cdef const int64_t[::1] ptr = known[1]
    cdef const uint64_t[::1] slots = known[2]
    numbers = np.empty(table.size, dtype=np.int32)
    cdef int32_t[::1] view = numbers
    if table.size:
        with nogil:
            find_words(table, slots, names, ptr, &view[0])
    return numbers


cdef bint scan_all(
    const View* views, Py_ssize_t n, const Rules* rules, Table* table, Output* out,
    int64_t[::1] document_ptr,
) noexcept nogil:
    """Append the tokens and sentences of n texts; False if there is no memory."""
    cdef Py_ssize_t d, length
    cdef const void* text
    cdef bint fine
    for d in range(n):
        text = views[d].text
        length = views[d].length
        if views[d].width == 1:
            fine = scan(<const uint8_t*> text, length, rules, table, out)
        elif views[d].width == 2:
            fine = scan(<const uint16_t*> text, length, rules, table, out)
        else:
            fine = scan(<const uint32_t*> text, length, rules, table, out)
        if not fine:
            return False
        document_ptr[d + 1] = out.n_sentences
    return True


cdef bint scan(
    const Char* text, Py_ssize_t length, const Rules* rules, Table* table, Output* out
) noexcept nogil:
    """Append the tokens and sentences of one text, which a NUL follows, as in Python's strings."""
    cdef Gap gap
    cdef Spelling word
    cdef const Letters* letters = rules.letters
    cdef uint64_t chunk, stops
    cdef uint64_t fold = ONES * 0x20 if letters.folded else 0
    cdef uint32_t entry
    cdef bint complete, alone, fine = True
    cdef int64_t words = 0  # of this sentence
    cdef Py_ssize_t i = 0, start = 0, end = 0  # of a word
    cdef Py_ssize_t cut

    out.begin = -1
    out.end = 0
    while True:
        if text[i] == c" " and begins_word(letter(letters, text[i + 1])):  # the most common gap
            i += 1
        elif not begins_word(letter(letters, text[i])):
            i = read_gap(text, i, length, letters, &gap)
            if i == length:
                break
            cut = end
            if words and ends_sentence(
                text, start, end, i, length, &gap, rules.sentences, words
            ):
                if rules.marks:
                    cut = cut_gap(text, end, i, &gap)
                    if not add_marks(text, end, cut, rules.marks, table, out):
                        return False
                end_sentence(gap.tail or attached(text, end, length), out)
                words = 0
                if gap.lines >= 2:  # between two ends is a line without a word
                    end_paragraph(out)
            if rules.marks and not add_marks(text, cut, i, rules.marks, table, out):
                return False
        out.begin = i if out.begin < 0 else out.begin
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
        if (end - start >= rules.min_length or alone) and not add_token(
            table, &word, start, end, out
        ):
            return False
    if rules.marks and not add_marks(text, end, length, rules.marks, table, out):
        return False
    end_sentence(gap.tail or attached(text, end, length), out)
    end_paragraph(out)
    return True


cdef inline bint add_token(
    Table* table, Spelling* word, Py_ssize_t start, Py_ssize_t end, Output* out
) noexcept nogil:
    """Append a token; False if there is no memory."""
    cdef int32_t id = end_word(table, word)
    out.ids[out.n_ids] = id
    if out.spans != NULL:
        out.spans[2 * out.n_ids] = <int32_t> start
        out.spans[2 * out.n_ids + 1] = <int32_t> end
    out.n_ids += 1
    return id >= 0


cdef Py_ssize_t cut_gap(
    const Char* text, Py_ssize_t start, Py_ssize_t end, const Gap* gap
) noexcept nogil:
    """Where the sentence that ends in the gap start:end does: after its mark or with the line."""
    cdef Py_ssize_t i
    if gap.tail or gap.cut:
        return gap.tail or gap.cut
    for i in range(start, end):
        if text[i] == c"\n" or text[i] == c"\r":
            return i
    return attached(text, start, end)


cdef bint add_marks(
    const Char* text, Py_ssize_t i, Py_ssize_t end, int wanted, Table* table, Output* out
) noexcept nogil:
    """Append the punctuation and emoji of a gap, or of a part of it; False without memory."""
    cdef Spelling word
    cdef Py_ssize_t k, start = i
    while True:
        i = read_mark(text, i, end, wanted, &start)
        if i == 0:
            return True
        out.begin = start if out.begin < 0 else out.begin
        out.end = i
        word = Spelling(0, 0, 0, 0, 0)
        for k in range(start, i):
            if text[k] != LOOKS and not add(table, &word, text[k]):
                return False
        if not add_token(table, &word, start, i, out):
            return False


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


cdef void end_sentence(Py_ssize_t end, Output* out) noexcept nogil:
    """Close the sentence, whose words end at end, if it has a token."""
    if out.n_ids > out.sentence_ptr[out.n_sentences]:
        if out.sentence_spans != NULL:
            out.sentence_spans[2 * out.n_sentences] = <int32_t> out.begin
            out.sentence_spans[2 * out.n_sentences + 1] = <int32_t> max(end, out.end)
        out.n_sentences += 1
        out.sentence_ptr[out.n_sentences] = out.n_ids
    out.begin = -1
    out.end = 0


cdef void end_paragraph(Output* out) noexcept nogil:
    """Close the paragraph of the sentences since the last one, unless there are none."""
    if out.n_sentences > out.paragraph_ptr[out.n_paragraphs]:
        out.n_paragraphs += 1
        out.paragraph_ptr[out.n_paragraphs] = out.n_sentences
