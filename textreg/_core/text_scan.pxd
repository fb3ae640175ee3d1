"""The scan of texts: what it reads, and where it writes what it finds."""

from libc.stdint cimport int32_t, int64_t, uint8_t

from textreg._core.text_characters cimport Letters
from textreg._core.text_table cimport Table

cdef struct View:  # the characters of a Python string
    const void* text
    Py_ssize_t length
    int width

cdef enum Kind:  # what is found
    WORDS
    RUNS  # what stands between white space, with a blank on both sides
    LONG_RUNS  # whole sentences, with one blank for white space

cdef struct Rules:
    const Letters* letters
    Kind kind
    int sentences
    Py_ssize_t min_length  # of words
    int marks  # what else is a token, PUNCTUATION and EMOJI added up
    const uint8_t* dropped  # whether each known word is left out; NULL: none is

cdef struct Found:
    int32_t* ids
    int32_t* spans  # of words, or of the code points of runs; NULL, as the next two: not wanted
    int32_t* sentence_spans
    int64_t* paragraph_ptr  # begins with 0, as the next one
    int64_t* sentence_ptr
    int64_t n_ids
    int64_t n_spans
    int64_t n_sentences
    int64_t n_paragraphs
    Py_ssize_t begin  # of the sentence; below 0 if it has none yet
    Py_ssize_t end  # of its last mark

cdef Rules word_rules(
    bint lowercase, Py_ssize_t min_length, str sentences, bint punctuation, bint emoji
) except *
cdef Rules run_rules(bint lowercase, bint across, str sentences) except *
cdef list as_runs(texts, bint lowercase)
cdef int64_t view_all(list texts, const Rules* rules, View* views, int64_t* rooms) except -1
cdef bint scan_all(
    const View* views, Py_ssize_t n, const Rules* rules, Table* table, Found* found,
    int64_t* document_ptr,
) noexcept nogil
