"""Text to runs of characters: what stands between white space, each distinct run spelled once."""

from libc.stdint cimport int32_t, int64_t, uint32_t
from libc.string cimport memcpy, memset

from textreg._core.text_run_scan cimport (
    How, Output, Table, as_read, close_table, how_of, open_table, scan_text,
)

import numpy as np

cdef extern from "Python.h":
    bint PyUnicode_Check(object)
    int PyUnicode_READY(object) except -1
    int PyUnicode_KIND(object)
    void* PyUnicode_DATA(object)


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
    cdef How how = how_of(lowercase, across, sentences)
    cdef Py_ssize_t d, n = len(texts), length, most = 1, longest = 1
    cdef bint fine
    cdef const void* data
    cdef int width
    cdef int64_t[::1] sentence_view, paragraph_view, document_view, ptr_view
    cdef int32_t[::1] ids_view, begins_view, ends_view
    cdef int32_t[:, ::1] sentence_spans_view
    cdef uint32_t[::1] spelled_view
    # Referenced until the end: the scan points into them.
    given = [as_read(text, lowercase) for text in texts]
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
                fine = fine and scan_text(data, length, width, &how, &table, &out)
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
