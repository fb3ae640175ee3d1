"""The words and sentences of texts, in one pass over the characters of Python strings.

Words are hashed and compared as blocks of eight UTF-8 bytes (see ``text_table``). Most words are
one block, which takes a dozen instructions to read from ASCII text.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from textreg._core.text_letters cimport (
    EXPANDED, MARK, POINT, SPACELESS, Char, Letters, begins_word, expansion, letter, letters_for,
)
from textreg._core.text_marks cimport EMOJI, LOOKS, PUNCTUATION, read_mark
from textreg._core.text_sentences cimport Gap, attached, ends_sentence, read_gap, rule_of
from textreg._core.text_spelling cimport Spelling, add, add_all, end_block, end_word
from textreg._core.text_table cimport Table

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


cdef Rules rules_of(
    bint lowercase, Py_ssize_t min_length, str sentences, bint punctuation, bint emoji
) except *:
    """The options of a scan."""
    return Rules(
        letters_for(lowercase), min_length, rule_of(sentences),
        (PUNCTUATION if punctuation else 0) + (EMOJI if emoji else 0),
    )


cdef int64_t view_all(list texts, const Rules* rules, View* views, int64_t* rooms) except -1:
    """View texts, which must be referenced as long as the views are used.

    rooms: sums of the most tokens that the texts can have, from 0; the last is returned. TypeError
    for what is no str.
    """
    cdef Py_ssize_t d
    cdef int64_t total = 0
    rooms[0] = 0
    for d in range(len(texts)):
        text = texts[d]
        if not PyUnicode_Check(text):
            raise TypeError(f"text {d} is not a str but {type(text).__name__}")
        PyUnicode_READY(text)
        views[d] = View(PyUnicode_DATA(text), len(text), PyUnicode_KIND(text))
        # Words and gaps alternate, but in wide text every character may be a word.
        if views[d].width == 1 and not rules.marks:
            total += (views[d].length + 1) // 2
        else:
            total += views[d].length
        rooms[d + 1] = total
    return total


cdef bint scan_all(
    const View* views, Py_ssize_t n, const Rules* rules, Table* table, Output* out,
    int64_t* document_ptr,
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
