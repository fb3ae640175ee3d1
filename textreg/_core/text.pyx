"""Texts to word ids, which number the words in order of name: pieces of texts in threads."""

from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memmove

from textreg._core.text_scan cimport Output, Rules, View, rules_of, scan_all, view_all
from textreg._core.text_spelling cimport absorb
from textreg._core.text_table cimport Table, close_table, open_table, words_by_name

import numpy as np

from textreg._core.threads import allowed, cuts_of, pieces_of, share

cdef extern from "Python.h":
    bint PyUnicode_Check(object)
    int PyUnicode_READY(object) except -1
    int PyUnicode_KIND(object)


def is_latin(text):
    """Whether all characters are below 256, which a string knows; TypeError if it is no str."""
    if not PyUnicode_Check(text):
        raise TypeError(f"text is not a str but {type(text).__name__}")
    PyUnicode_READY(text)
    return PyUnicode_KIND(text) == 1


def encode(
    texts, bint lowercase, Py_ssize_t min_length, str sentences, bint punctuation, bint emoji,
    bint spans,
):
    """The words of all texts as ids, which number the words in order of name.

    Returns ``ids`` int32; ``sentence_ptr``, ``paragraph_ptr`` and ``document_ptr`` int64, the last
    two as offsets of sentences; ``names``, a list of str; and, if ``spans``, the character offsets
    of every word and of every sentence, int32 (n, 2), else None twice. Sentences and paragraphs
    without a token are dropped. Raises TypeError for a text that is not a str.
    """
    cdef _Scan scan = _Scan(list(texts), spans, allowed())
    scan.rules = rules_of(lowercase, min_length, sentences, punctuation, emoji)
    scan.open()
    share(scan, scan.n_pieces)
    return scan.result()


cdef class _Scan:
    """Texts in pieces, each to be scanned by one worker, which has a table of its own.

    A piece has its place in the arrays, large enough for whatever it holds: pages that are never
    written take no memory.
    """

    cdef View* views
    cdef Table* tables  # of the workers
    cdef Output* outputs  # of the pieces
    cdef Rules rules
    cdef Py_ssize_t n_views, n_workers, n_tables
    cdef readonly Py_ssize_t n_pieces
    cdef int64_t[::1] cuts  # of the texts
    cdef int64_t[::1] document_view
    cdef object given, owners, arrays, document_ptr, word_spans, sentence_spans
    cdef bint spans

    def __cinit__(self, list given, bint spans, Py_ssize_t n_tables):
        self.n_views = len(given)
        self.views = <View*> malloc((self.n_views + 1) * sizeof(View))
        self.tables = <Table*> malloc(n_tables * sizeof(Table))
        if self.views == NULL or self.tables == NULL:
            raise MemoryError

    def __init__(self, list given, bint spans, Py_ssize_t n_tables):
        self.given = given  # referenced until the end: the views point into them
        self.spans = spans
        self.n_workers = n_tables

    cdef void open(self) except *:
        """Look at the texts, cut them into pieces, and allocate what the scan writes."""
        cdef Py_ssize_t k
        cdef int64_t[::1] rooms = np.empty(self.n_views + 1, dtype=np.int64)
        cdef int64_t total = view_all(self.given, &self.rules, self.views, &rooms[0])
        for k in range(self.n_workers):
            self.n_tables = k + 1
            if not open_table(&self.tables[k], total // 2):
                raise MemoryError
        self.n_pieces = pieces_of(total)
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
                &self.document_view[start],
            )
        if not fine:
            raise MemoryError

    cdef tuple result(self):
        """What ``encode`` returns: the pieces one after the other, under the names of all."""
        cdef Py_ssize_t p, d
        cdef int64_t ids = 0, sentences = 0, paragraphs = 0
        cdef Output* out
        cdef int32_t[::1] rank
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
