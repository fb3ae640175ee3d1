"""Texts to word ids, which number the words in order of name: pieces of texts in threads."""

from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memmove

from textreg._core.text_scan cimport WORDS, Found, Rules, View, scan_all, view_all, word_rules
from textreg._core.text_table cimport FEW, Table, absorb, close_table, open_table, words_by_name

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
    cdef Scan scan = Scan(list(texts), spans)
    scan.run(word_rules(lowercase, min_length, sentences, punctuation, emoji))
    numbers = scan.merged()
    names, rank = words_by_name(&scan.tables[0])
    *found, word_spans, sentence_spans = scan.joined([rank[number] for number in numbers])
    return *found, names, word_spans, sentence_spans


cdef class Scan:
    """Texts in pieces, each to be scanned by one worker, which has a table of its own.

    A piece has its place in the arrays, large enough for whatever it holds: pages that are never
    written take no memory.
    """

    def __init__(self, list given, bint spanned):
        self.given = given  # referenced until the end: the views point into them
        self.spanned = spanned
        self.n_views = len(given)
        self.n_tables = allowed()
        self.views = <View*> calloc(self.n_views + 1, sizeof(View))
        self.tables = <Table*> calloc(self.n_tables, sizeof(Table))
        if self.views == NULL or self.tables == NULL:
            raise MemoryError

    def __dealloc__(self):
        cdef Py_ssize_t k
        if self.tables != NULL:
            for k in range(self.n_tables):
                close_table(&self.tables[k])
        free(self.views)
        free(self.tables)
        free(self.found)

    cdef void run(self, Rules rules) except *:
        """Look at the texts, cut them into pieces, and scan these."""
        cdef Py_ssize_t k
        cdef int64_t[::1] rooms = np.empty(self.n_views + 1, dtype=np.int64)
        self.rules = rules
        cdef int64_t total = view_all(self.given, &self.rules, self.views, &rooms[0])
        for k in range(self.n_tables):
            if not open_table(&self.tables[k], min(total // 2, FEW), NULL):
                raise MemoryError
        self.n_pieces = pieces_of(total)
        self.cuts = cuts_of(np.asarray(rooms), self.n_pieces)
        self.owners = [0] * self.n_pieces
        self.found = <Found*> calloc(self.n_pieces, sizeof(Found))
        if self.found == NULL:
            raise MemoryError
        self.allocate(rooms)
        share(self, self.n_pieces)

    cdef void allocate(self, const int64_t[::1] rooms) except *:
        """Give every piece its place in the arrays.

        A text has at most 6 times as many code points of runs as it has room for tokens: two of
        'İ', and two blanks.
        """
        cdef Py_ssize_t p, start
        cdef Py_ssize_t most = rooms[self.n_views] + self.n_pieces
        cdef Py_ssize_t spans_each = 1 if self.rules.kind == WORDS else 6
        ids = np.empty(most, dtype=np.int32)
        sentence_ptr = np.zeros(most, dtype=np.int64)
        paragraph_ptr = np.zeros(most, dtype=np.int64)
        self.arrays = ids, sentence_ptr, paragraph_ptr
        self.document_ptr = np.zeros(self.n_views + 1, dtype=np.int64)
        self.document_view = self.document_ptr
        cdef int32_t[::1] ids_view = ids
        cdef int64_t[::1] sentence_view = sentence_ptr, paragraph_view = paragraph_ptr
        cdef int32_t[:, ::1] spans_view, sentence_spans_view
        if self.spanned:
            self.spans = np.empty((spans_each * most, 2), dtype=np.int32)
            self.sentence_spans = np.empty((most, 2), dtype=np.int32)
            spans_view = self.spans
            sentence_spans_view = self.sentence_spans
        for p in range(self.n_pieces):
            start = rooms[self.cuts[p]] + p
            self.found[p].ids = &ids_view[start]
            self.found[p].sentence_ptr = &sentence_view[start]
            self.found[p].paragraph_ptr = &paragraph_view[start]
            if self.spanned:
                self.found[p].spans = &spans_view[spans_each * start, 0]
                self.found[p].sentence_spans = &sentence_spans_view[start, 0]

    def __call__(self, Py_ssize_t worker, Py_ssize_t piece):
        """Scan a piece."""
        cdef bint fine
        cdef Py_ssize_t start = self.cuts[piece], n = self.cuts[piece + 1] - start
        self.owners[piece] = worker
        with nogil:
            fine = scan_all(
                self.views + start, n, &self.rules, &self.tables[worker], &self.found[piece],
                &self.document_view[start],
            )
        if not fine:
            raise MemoryError

    cdef list merged(self):
        """For every table, the numbers in the first one of what it holds; that then holds all."""
        cdef Py_ssize_t k
        cdef int32_t[::1] view
        numbers = [np.arange(self.tables[0].size, dtype=np.int32)]
        for k in range(1, self.n_tables):
            number = np.empty(self.tables[k].size, dtype=np.int32)
            view = number
            if len(number) and not absorb(&self.tables[0], &self.tables[k], &view[0]):
                raise MemoryError
            numbers.append(number)
        return numbers

    cdef tuple joined(self, list numbers):
        """The pieces one after the other: ids, and offsets of sentences, paragraphs and documents;
        and, or else None, the spans of tokens or code points and of sentences.

        numbers: for every table, what its ids become.
        """
        cdef Py_ssize_t p, d
        cdef int32_t[::1] number
        cdef Found all = self.found[0]
        all.n_ids = all.n_spans = all.n_sentences = all.n_paragraphs = 0
        for p in range(self.n_pieces):
            number = numbers[self.owners[p]]
            with nogil:
                for d in range(self.cuts[p], self.cuts[p + 1]):
                    self.document_view[d + 1] += all.n_sentences
                append(&all, &self.found[p], number)
        # The views of the arrays are not used again.
        for array, size in zip(
            self.arrays, (all.n_ids, all.n_sentences + 1, all.n_paragraphs + 1)
        ):
            array.resize(size, refcheck=False)
        if self.spanned:
            self.spans.resize((all.n_spans, 2), refcheck=False)
            self.sentence_spans.resize((all.n_sentences, 2), refcheck=False)
        return *self.arrays, self.document_ptr, self.spans, self.sentence_spans


cdef void append(Found* all, const Found* piece, const int32_t[::1] number) noexcept nogil:
    """Move what a piece holds to its place after what is there.

    No place is above the one where it was, so what is not read yet is not overwritten.
    """
    cdef int64_t i
    for i in range(piece.n_ids):
        all.ids[all.n_ids + i] = number[piece.ids[i]]
    if all.ids != piece.ids:  # the first is there already
        for i in range(1, piece.n_sentences + 1):
            all.sentence_ptr[all.n_sentences + i] = piece.sentence_ptr[i] + all.n_ids
        for i in range(1, piece.n_paragraphs + 1):
            all.paragraph_ptr[all.n_paragraphs + i] = piece.paragraph_ptr[i] + all.n_sentences
        if all.spans != NULL:
            memmove(
                all.spans + 2 * all.n_spans, piece.spans, 2 * piece.n_spans * sizeof(int32_t)
            )
            memmove(
                all.sentence_spans + 2 * all.n_sentences, piece.sentence_spans,
                2 * piece.n_sentences * sizeof(int32_t),
            )
    all.n_ids += piece.n_ids
    all.n_spans += piece.n_spans
    all.n_sentences += piece.n_sentences
    all.n_paragraphs += piece.n_paragraphs
