"""The scan of texts: what it reads, and where it writes what it finds."""

from libc.stdint cimport int32_t, int64_t

from textreg._core.text_letters cimport Letters
from textreg._core.text_table cimport Table

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
    int64_t* sentence_ptr  # begins with 0, as the next one
    int32_t* sentence_spans
    int64_t* paragraph_ptr
    int64_t n_ids
    int64_t n_sentences
    int64_t n_paragraphs
    Py_ssize_t begin  # of the sentence; below 0 if it has none yet
    Py_ssize_t end  # of its last mark

cdef Rules rules_of(
    bint lowercase, Py_ssize_t min_length, str sentences, bint punctuation, bint emoji
) except *
cdef int64_t view_all(list texts, const Rules* rules, View* views, int64_t* rooms) except -1
cdef bint scan_all(
    const View* views, Py_ssize_t n, const Rules* rules, Table* table, Output* out,
    int64_t* document_ptr,
) noexcept nogil
