"""The tokens and sentences of texts, in one pass over the characters of Python strings.

Words are hashed and compared as blocks of eight UTF-8 bytes (see ``text_table``). Most words are
one block, which takes a dozen instructions to read from ASCII text. Of runs, the words only tell
where sentences end; each sentence is then cut into runs. A run is its code points, in lower case if
that is wanted, so what depends on them alone is computed once for all that are the same.

Positions in texts count characters, as Python does.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from textreg._core.text_characters cimport (
    BLANK, BMP, DOT_ABOVE, DOTTED_I, EMOJI, EXPANDED, LOOKS, MARK, NONE, POINT, PUNCTUATION,
    SPACELESS, Char, Gap, Letters, attached, begins_word, ends_sentence, expansion, is_blank,
    letter, letters_for, read_gap, read_mark, rule_of,
)
from textreg._core.text_table cimport (
    NO_POINT, Spelling, Table, add, append, end_block, end_spelling,
)

from textreg._core.text_rules import with_final_sigmas

cdef extern from "Python.h":
    bint PyUnicode_Check(object)
    int PyUnicode_READY(object) except -1
    int PyUnicode_KIND(object)
    void* PyUnicode_DATA(object)
    Py_UCS4 Py_UNICODE_TOLOWER(Py_UCS4) nogil

cdef extern from *:
    """
    #define TEXTREG_ONES 0x0101010101010101ULL
    #define TEXTREG_TOP 0x8080808080808080ULL
    """
    const uint64_t ONES "TEXTREG_ONES"  # a one in every byte
    const uint64_t TOP "TEXTREG_TOP"  # the top bit of every byte


cdef Rules word_rules(
    bint lowercase, Py_ssize_t min_length, str sentences, bint punctuation, bint emoji
) except *:
    """The options of a scan for words."""
    cdef int marks = (PUNCTUATION if punctuation else 0) + (EMOJI if emoji else 0)
    return Rules(letters_for(lowercase), WORDS, rule_of(sentences), min_length, marks, NULL)


cdef Rules run_rules(bint lowercase, bint across, str sentences) except *:
    """The options of a scan for runs."""
    return Rules(
        letters_for(lowercase), LONG_RUNS if across else RUNS, rule_of(sentences), 0, 0, NULL
    )


cdef list as_runs(texts, bint lowercase):
    """The texts whose characters are scanned for runs, one by one."""
    return [with_final_sigmas(text) if lowercase and "Σ" in text else text for text in texts]


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
        # Tokens and gaps alternate, but in wide text every character may be a word.
        if views[d].width == 1 and not rules.marks:
            total += views[d].length // 2 + 1
        else:
            total += views[d].length + 1
        rooms[d + 1] = total
    return total


cdef bint scan_all(
    const View* views, Py_ssize_t n, const Rules* rules, Table* table, Found* found,
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
            fine = scan(<const uint8_t*> text, length, rules, table, found)
        elif views[d].width == 2:
            fine = scan(<const uint16_t*> text, length, rules, table, found)
        else:
            fine = scan(<const uint32_t*> text, length, rules, table, found)
        if not fine:
            return False
        document_ptr[d + 1] = found.n_sentences
    return True


cdef bint scan(
    const Char* text, Py_ssize_t length, const Rules* rules, Table* table, Found* found
) noexcept nogil:
    """Append the tokens and sentences of one text, which a NUL follows, as in Python's strings."""
    cdef Gap gap
    cdef Spelling word
    cdef const Letters* letters = rules.letters
    cdef uint64_t chunk, stops
    cdef uint64_t fold = ONES * 0x20 if letters.folded else 0
    cdef uint32_t entry
    cdef const uint32_t* more
    cdef bint complete, alone, fine = True
    cdef int64_t words = 0  # of this sentence
    cdef Py_ssize_t i = 0, start = 0, end = 0  # of a word
    cdef Py_ssize_t cut, since = 0  # where the sentence begins, of runs
    cdef bint of_words = rules.kind == WORDS

    found.begin = -1
    found.end = 0
    while of_words or rules.sentences != NONE:
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
                    if not add_marks(text, end, cut, rules, table, found):
                        return False
                if of_words:
                    end_sentence(gap.tail or attached(text, end, length), found)
                else:
                    cut = after_gap(text, end, i, length, &gap, letters)
                    if not add_runs(text, since, cut, length, rules, table, found):
                        return False
                    since = cut
                words = 0
                if gap.lines >= 2:  # between two ends is a line without a word
                    end_paragraph(found)
            if rules.marks and not add_marks(text, cut, i, rules, table, found):
                return False
        found.begin = i if found.begin < 0 else found.begin
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
                more = expansion(entry)
                while fine and more[0]:
                    fine = add(table, &word, more[0])
                    more += 1
            if not fine:
                return False
            i += 1
        end = i
        if of_words and (end - start >= rules.min_length or alone):
            if not add_token(&word, start, end, rules, table, found):
                return False
    if rules.marks and not add_marks(text, end, length, rules, table, found):
        return False
    if of_words:
        end_sentence(gap.tail or attached(text, end, length), found)
    elif not add_runs(text, since, length, length, rules, table, found):
        return False
    end_paragraph(found)
    return True


cdef inline bint add_token(
    Spelling* word, Py_ssize_t start, Py_ssize_t end, const Rules* rules, Table* table, Found* found
) noexcept nogil:
    """Append a token, unless it is to be dropped; False if there is no memory."""
    cdef int32_t id = end_spelling(table, word)
    if rules.dropped != NULL and 0 <= id < table.n_known and rules.dropped[id]:
        return True
    found.ids[found.n_ids] = id
    found.n_ids += 1
    add_span(start, end, found)
    return id >= 0


cdef inline void add_span(Py_ssize_t begin, Py_ssize_t end, Found* found) noexcept nogil:
    if found.spans != NULL:
        found.spans[2 * found.n_spans] = <int32_t> begin
        found.spans[2 * found.n_spans + 1] = <int32_t> end
        found.n_spans += 1


cdef Py_ssize_t cut_gap(
    const Char* text, Py_ssize_t start, Py_ssize_t end, const Gap* gap
) noexcept nogil:
    """Where the sentence that ends in the gap start:end does: after its mark or with the line."""
    cdef Py_ssize_t i
    if gap.tail or gap.cut:
        return gap.tail or gap.cut
    i = line_end(text, start, end)
    return i if i < end else attached(text, start, end)


cdef inline Py_ssize_t line_end(
    const Char* text, Py_ssize_t start, Py_ssize_t end
) noexcept nogil:
    """Where the first line in start:end ends; end if it does not."""
    while start < end and text[start] != c"\n" and text[start] != c"\r":
        start += 1
    return start


cdef bint add_marks(
    const Char* text, Py_ssize_t i, Py_ssize_t end, const Rules* rules, Table* table, Found* found
) noexcept nogil:
    """Append the punctuation and emoji of a gap, or of a part of it; False without memory."""
    cdef Spelling word
    cdef Py_ssize_t k, start = i
    while True:
        i = read_mark(text, i, end, rules.marks, &start)
        if i == 0:
            return True
        found.begin = start if found.begin < 0 else found.begin
        found.end = i
        word = Spelling(0, 0, 0, 0, 0)
        for k in range(start, i):
            if text[k] != LOOKS and not add(table, &word, text[k]):
                return False
        if not add_token(&word, start, i, rules, table, found):
            return False


cdef Py_ssize_t after_gap(
    const Char* text, Py_ssize_t start, Py_ssize_t end, Py_ssize_t length, const Gap* gap,
    const Letters* letters,
) noexcept nogil:
    """Where in the gap start:end a sentence of runs ends: after its first line, else after its last
    white space, unless a mark that needs none follows, else after the punctuation of the last word.
    """
    cdef Py_ssize_t i = line_end(text, start, end)
    if i < end:
        return i + 1
    for i in range(end - 1, max(start, gap.tail) - 1, -1):
        if is_blank(letters, text[i]):
            return i + 1
    return gap.tail or attached(text, start, length)


cdef bint add_runs(
    const Char* text, Py_ssize_t start, Py_ssize_t end, Py_ssize_t length, const Rules* rules,
    Table* table, Found* found,
) noexcept nogil:
    """Append the runs of the sentence in start:end, unless that is blank; False without memory."""
    cdef const Letters* letters = rules.letters
    cdef Spelling run = Spelling(0, 0, 0, 0, 0)
    cdef Py_ssize_t i = start, after = start
    cdef bint across = rules.kind == LONG_RUNS, fine = True
    found.begin = -1
    while fine:
        while i < end and is_blank(letters, text[i]):
            i += 1
        if i == end:
            break
        if across:
            if found.begin >= 0:
                fine = add_point(&run, BLANK, i, after, table, found)
        elif i == 0 or is_blank(letters, text[i - 1]):
            fine = add_point(&run, BLANK, i, i + 1, table, found)
        found.begin = i if found.begin < 0 else found.begin
        while i < end and not is_blank(letters, text[i]):
            fine = fine and add_character(&run, text[i], i, letters, table, found)
            i += 1
        after = i
        if not across:
            if i == length or is_blank(letters, text[i]):
                fine = fine and add_point(&run, BLANK, i - 1, i, table, found)
            fine = fine and end_run(&run, table, found)
    if found.begin >= 0 and across:
        fine = fine and end_run(&run, table, found)
    end_sentence(after, found)
    return fine


cdef inline bint add_character(
    Spelling* run, uint32_t c, Py_ssize_t i, const Letters* letters, Table* table, Found* found
) noexcept nogil:
    """Append what the character at i becomes to a run; False if there is no memory."""
    if c >= BMP:
        c = Py_UNICODE_TOLOWER(c) if letters.folded else c
        return add_point(run, c, i, i + 1, table, found)
    if not add_point(run, letters.in_run[c], i, i + 1, table, found):
        return False
    if c == DOTTED_I and letters.folded:
        return add_point(run, DOT_ABOVE, i, i + 1, table, found)
    return True


cdef inline bint add_point(
    Spelling* run, uint32_t c, Py_ssize_t begin, Py_ssize_t end, Table* table, Found* found
) noexcept nogil:
    """Append a code point to a run; False if there is no memory."""
    add_span(begin, end, found)
    return append(table, run, c, 4)


cdef inline bint end_run(Spelling* run, Table* table, Found* found) noexcept nogil:
    """Append the run that was read, and begin with another; False if there is no memory."""
    cdef int32_t id
    if run.filled and not append(table, run, NO_POINT, 4):
        return False
    id = end_spelling(table, run)
    found.ids[found.n_ids] = id
    found.n_ids += 1
    run[0] = Spelling(0, 0, 0, 0, 0)
    return id >= 0


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


cdef void end_sentence(Py_ssize_t end, Found* found) noexcept nogil:
    """Close the sentence, whose words end at end, if it has a token."""
    if found.n_ids > found.sentence_ptr[found.n_sentences]:
        if found.sentence_spans != NULL:
            found.sentence_spans[2 * found.n_sentences] = <int32_t> found.begin
            found.sentence_spans[2 * found.n_sentences + 1] = <int32_t> max(end, found.end)
        found.n_sentences += 1
        found.sentence_ptr[found.n_sentences] = found.n_ids
    found.begin = -1
    found.end = 0


cdef void end_paragraph(Found* found) noexcept nogil:
    """Close the paragraph of the sentences since the last one, unless there are none."""
    if found.paragraph_ptr != NULL and (
        found.n_sentences > found.paragraph_ptr[found.n_paragraphs]
    ):
        found.n_paragraphs += 1
        found.paragraph_ptr[found.n_paragraphs] = found.n_sentences
