"""Texts to rows of known words and their n-grams, in one call."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memset

from textreg._core.text_grams cimport MOST_LEVELS, Level, find_level, interleave, norms_of
from textreg._core.text_known cimport find_words
from textreg._core.text_rows cimport Room, Rows, leave, take
from textreg._core.text_scan cimport Output, Rules, View, rules_of, scan_all, view_all
from textreg._core.text_table cimport Table, close_table, open_table

import numpy as np


cdef class WordRows(Rows):
    """Rows of known n-grams of words.

    known: names, their offsets and slots, as of ``text_known.index_names``. dropped: uint8, whether
    each of these is left out first, or None. children: of every level but the last, where the
    children of its n-grams begin and their last words, as in ``text_grams``. numbers: of every
    level, the features of its n-grams, int32, below 0 for none. rules: those of ``text.encode``,
    from ``lowercase`` to ``emoji``. The others are those of all rows.

    Called with a list of str, it gives indptr int64, indices int32 and data float64.
    """

    cdef const uint8_t[::1] names
    cdef const int64_t[::1] ptr
    cdef const uint64_t[::1] slots
    cdef const uint8_t[::1] dropped
    cdef list arrays  # that the next three point into
    cdef const int64_t* child_ptr[MOST_LEVELS]
    cdef const int32_t* last[MOST_LEVELS]
    cdef const int32_t* numbers[MOST_LEVELS]
    cdef Py_ssize_t n_levels
    cdef Rules rules

    def __init__(self, known, dropped, children, numbers, rules, *how):
        cdef Py_ssize_t k
        cdef const int64_t[::1] longs
        cdef const int32_t[::1] ints
        super().__init__(*how)
        self.names, self.ptr, self.slots = known
        self.dropped = np.empty(0, dtype=np.uint8) if dropped is None else dropped
        self.n_levels = len(numbers)
        if self.n_levels > MOST_LEVELS or len(children) != self.n_levels - 1:
            raise ValueError(f"{self.n_levels} levels, and children of {len(children)}")
        self.arrays = [children, numbers]
        for k in range(self.n_levels):
            ints = numbers[k]
            self.numbers[k] = &ints[0] if ints.shape[0] else NULL
            if k:
                longs, ints = children[k - 1]
                self.child_ptr[k] = &longs[0]
                self.last[k] = &ints[0] if ints.shape[0] else NULL
        lowercase, min_length, sentences, punctuation, emoji = rules
        self.rules = rules_of(lowercase, min_length, sentences, punctuation, emoji)

    def __call__(self, list texts):
        cdef Room room
        cdef Table table
        room.n = 0
        memset(&table, 0, sizeof(Table))
        try:
            return self.rows(texts, &room, &table)
        finally:
            close_table(&table)
            leave(&room)

    cdef tuple rows(self, list texts, Room* room, Table* table):
        cdef Py_ssize_t d, k, n = len(texts)
        cdef View* views = <View*> take(room, n * sizeof(View))
        cdef int64_t* ptr = <int64_t*> take(room, (n + 1) * sizeof(int64_t))
        cdef int64_t* documents = <int64_t*> take(room, (n + 1) * sizeof(int64_t))
        cdef int64_t most = view_all(texts, &self.rules, views, ptr), i, n_ids
        cdef Output out = Output(
            <int32_t*> take(room, most * sizeof(int32_t)), NULL,
            <int64_t*> take(room, most * sizeof(int64_t)), NULL,
            <int64_t*> take(room, most * sizeof(int64_t)), 0, 0, 0, -1, 0,
        )
        cdef bint fine
        out.sentence_ptr[0] = out.paragraph_ptr[0] = documents[0] = ptr[0] = 0
        if not open_table(table, most // 2):
            raise MemoryError
        with nogil:
            fine = scan_all(views, n, &self.rules, table, &out, documents)
        if not fine:
            raise MemoryError
        n_ids = out.n_ids
        cdef int32_t* numbers = <int32_t*> take(room, table.size * sizeof(int32_t))
        cdef int32_t* streams = <int32_t*> take(room, self.n_levels * n_ids * sizeof(int32_t))
        cdef int32_t* features = <int32_t*> take(room, self.n_levels * n_ids * sizeof(int32_t))
        cdef int64_t* ends = <int64_t*> take(room, (out.n_sentences + 1) * sizeof(int64_t))
        cdef double* norms = <double*> take(room, n * sizeof(double)) if self.norm else NULL
        cdef Level levels[MOST_LEVELS]
        with nogil:
            find_words(table, self.slots, self.names, self.ptr, numbers)
            if self.dropped.shape[0]:
                drop(&out, numbers, &self.dropped[0])
            for i in range(out.n_ids):
                streams[i] = numbers[out.ids[i]]
            for k in range(self.n_levels):
                if k:
                    find_level(
                        streams + (k - 1) * n_ids, streams, out.sentence_ptr, out.n_sentences,
                        k + 1, self.child_ptr[k], self.last[k], streams + k * n_ids,
                    )
                levels[k] = Level(streams + k * n_ids, self.numbers[k])
            ends[0] = 0
            interleave(
                levels, self.n_levels, out.sentence_ptr, out.n_sentences, features, ends
            )
            for d in range(n + 1):
                ptr[d] = ends[documents[d]]
            if norms != NULL:
                fine = norms_of(out.ids, out.sentence_ptr, documents, n, self.norm, norms)
        if not fine:
            raise MemoryError
        return self.counted(features, ptr, n, norms)


cdef void drop(Output* out, const int32_t* numbers, const uint8_t* dropped) noexcept nogil:
    """Leave out the words whose known numbers are dropped; sentences may become empty."""
    cdef int64_t s, i, end, start = 0, used = 0
    cdef int32_t number
    for s in range(out.n_sentences):
        end = out.sentence_ptr[s + 1]
        for i in range(start, end):
            number = numbers[out.ids[i]]
            if number < 0 or not dropped[number]:
                out.ids[used] = out.ids[i]
                used += 1
        start = end
        out.sentence_ptr[s + 1] = used
    out.n_ids = used
