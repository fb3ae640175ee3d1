"""Texts to rows of known features in one call, for which somebody may wait: of words and of
character n-grams.

What a model knows is looked at once, when the rows of the first text are wanted; what a call
needs beside it is a few blocks of memory, and no Python object for a word.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

cimport textreg._core.text_run_scan as runs
from textreg._core.text_bits cimport Bits, bits_in, words_for
from textreg._core.text_counts cimport count_rows, scale_rows, weigh
from textreg._core.text_grams cimport MOST_LEVELS, Level, find_level, interleave, norms_of
from textreg._core.text_known cimport find_words
from textreg._core.text_known_grams cimport KnownGrams, bits_of, find_grams
from textreg._core.text_scan cimport Output, Rules, View, rules_of, scan_all, view_all
from textreg._core.text_table cimport Table, close_table, open_table
from textreg._core.text_tree cimport Child, n_grams

import numpy as np

cdef extern from "Python.h":
    bint PyUnicode_Check(object)
    int PyUnicode_READY(object) except -1
    int PyUnicode_KIND(object)
    void* PyUnicode_DATA(object)

cdef enum:
    BLOCKS = 16

cdef struct Room:  # memory of one call
    void* blocks[BLOCKS]
    int n


cdef void* take(Room* room, size_t size) except NULL:
    """Memory until the call ends."""
    cdef void* block = malloc(size + 8)
    if block == NULL:
        raise MemoryError
    room.blocks[room.n] = block
    room.n += 1
    return block


cdef void leave(Room* room) noexcept:
    while room.n:
        room.n -= 1
        free(room.blocks[room.n])


cdef class _Rows:
    """What becomes of the features of texts, counted by row.

    size: the number of features. values: of counts from 0 up, as far as it says when it is called
    with the largest one; None leaves counts as they are. idf: a factor for every feature, or None.
    norm: n if rows are divided by their lengths over all n-grams of 1 to n words, else 0. unit:
    whether they are divided by their own lengths.
    """

    cdef Py_ssize_t size, norm
    cdef bint unit
    cdef object values_to
    cdef const double[::1] values
    cdef const double[::1] idf

    def __init__(self, Py_ssize_t size, values, idf, Py_ssize_t norm, bint unit):
        self.size = size
        self.norm = norm
        self.unit = unit
        self.values_to = values
        self.values = np.empty(0) if values is None else values(0)
        self.idf = np.empty(0) if idf is None else idf

    cdef tuple counted(
        self, const int32_t* ids, const int64_t* ptr, Py_ssize_t n, const double* norms
    ):
        """The rows of n streams of features: indptr int64, indices int32 and data float64."""
        cdef Py_ssize_t i
        cdef double most = 0.0
        cdef const double[::1] values = self.values
        indptr = np.zeros(n + 1, dtype=np.int64)
        indices = np.empty(ptr[n] + 1, dtype=np.int32)
        data = np.empty(ptr[n] + 1)
        cdef int64_t[::1] indptr_view = indptr
        cdef int32_t[::1] indices_view = indices
        cdef double[::1] data_view = data
        # Counts are read only where a bit says that there is one.
        cdef int32_t* counts = <int32_t*> malloc(self.size * sizeof(int32_t) + 8)
        cdef uint64_t* room = <uint64_t*> calloc(words_for(self.size), sizeof(uint64_t))
        cdef bint fine = counts != NULL and room != NULL
        cdef Bits bits
        if fine:
            with nogil:
                bits = bits_in(room, self.size)
                count_rows(
                    ids, ptr, n, counts, &bits, &indptr_view[0], &indices_view[0], &data_view[0]
                )
                for i in range(indptr_view[n]):
                    most = max(most, data_view[i])
        free(counts)
        free(room)
        if not fine:
            raise MemoryError
        if self.values_to is not None and most >= values.shape[0]:
            values = self.values_to(int(most))
        with nogil:
            weigh(
                &data_view[0], &indices_view[0], &indptr_view[0], n,
                &values[0] if values.shape[0] else NULL,
                &self.idf[0] if self.idf.shape[0] else NULL, norms,
            )
            if self.unit:
                scale_rows(&data_view[0], &indptr_view[0], n)
        # The views are not used again.
        indices.resize(indptr_view[n], refcheck=False)
        data.resize(indptr_view[n], refcheck=False)
        return indptr, indices, data


cdef class WordRows(_Rows):
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


cdef class CharRows(_Rows):
    """Rows of known character n-grams.

    known: what ``text_known_grams.index_grams`` gives; names are features. lengths: the fewest and
    the most characters. rules: those of ``text_runs.runs``, from ``lowercase`` to ``sentences``.
    The others are those of all rows.

    Called with a list of str, it gives indptr int64, indices int32 and data float64.
    """

    cdef const uint8_t[::1] classes
    cdef const uint64_t[:, ::1] nodes
    cdef const uint64_t[:, ::1] rest
    cdef const int32_t[::1] name_of
    cdef Py_ssize_t shortest, longest
    cdef KnownGrams known
    cdef runs.How how
    cdef bint lowercase

    def __init__(self, known, lengths, rules, *how):
        super().__init__(*how)
        self.classes, self.nodes, self.rest, self.name_of = known
        self.shortest, self.longest = lengths
        self.lowercase, across, sentences = rules
        self.how = runs.how_of(self.lowercase, across, sentences)
        self.known = KnownGrams(
            NULL, self.classes.shape[0], NULL, self.nodes.shape[0], self.name_of.shape[0],
            <const Child*> &self.rest[0, 0], bits_of(self.rest.shape[0]),
        )
        if self.classes.shape[0]:
            self.known.classes = &self.classes[0]
            self.known.nodes = &self.nodes[0, 0]

    def __call__(self, list texts):
        cdef Room room
        cdef runs.Table table
        room.n = 0
        memset(&table, 0, sizeof(runs.Table))
        try:
            # Referenced until the end: the scan points into them.
            given = [runs.as_read(text, self.lowercase) for text in texts]
            return self.rows(given, &room, &table)
        finally:
            runs.close_table(&table)
            leave(&room)

    cdef tuple rows(self, list texts, Room* room, runs.Table* table):
        cdef Py_ssize_t d, n = len(texts)
        cdef View* views = <View*> take(room, n * sizeof(View))
        cdef int64_t most = 0, longest = 0, total = 0, r
        cdef int64_t* ptr = <int64_t*> take(room, (n + 1) * sizeof(int64_t))
        cdef int64_t* ends = <int64_t*> take(room, (n + 1) * sizeof(int64_t))
        cdef int64_t* documents = <int64_t*> take(room, (n + 1) * sizeof(int64_t))
        for d in range(n):
            text = texts[d]
            if not PyUnicode_Check(text):
                raise TypeError(f"text {d} is not a str but {type(text).__name__}")
            PyUnicode_READY(text)
            views[d] = View(PyUnicode_DATA(text), len(text), PyUnicode_KIND(text))
            most += views[d].length // 2 + 1  # as in ``text_runs``
            longest += views[d].length
        cdef runs.Output out
        memset(&out, 0, sizeof(runs.Output))
        out.runs = <int32_t*> take(room, most * sizeof(int32_t))
        out.sentence_ptr = <int64_t*> take(room, (most + 1) * sizeof(int64_t))
        out.paragraph_ptr = <int64_t*> take(room, (most + 1) * sizeof(int64_t))
        out.sentence_ptr[0] = out.paragraph_ptr[0] = documents[0] = 0
        cdef bint fine = runs.open_table(table, longest // 4)
        if fine:
            with nogil:
                for d in range(n):
                    fine = runs.scan_text(
                        views[d].text, views[d].length, views[d].width, &self.how, table, &out
                    )
                    if not fine:
                        break
                    documents[d + 1] = out.n_sentences
        if not fine:
            raise MemoryError
        cdef int64_t* starts = <int64_t*> take(room, (table.size + 1) * sizeof(int64_t))
        starts[0] = 0
        for r in range(table.size):
            starts[r + 1] = starts[r] + n_grams(
                table.starts[r + 1] - table.starts[r], self.shortest, self.longest
            )
        for r in range(out.n_runs):
            total += starts[out.runs[r] + 1] - starts[out.runs[r]]
        cdef int32_t* ids = <int32_t*> take(room, starts[table.size] * sizeof(int32_t))
        cdef int32_t* every = <int32_t*> take(room, total * sizeof(int32_t))
        cdef int32_t* features = <int32_t*> take(room, total * sizeof(int32_t))
        cdef double* norms = <double*> take(room, n * sizeof(double)) if self.norm else NULL
        cdef int bits = 6
        while bits < 12 and <int64_t> 8 << bits < starts[table.size]:
            bits += 1
        with nogil:
            fine = find_grams(
                &self.known, table.spelled, table.starts, table.size, self.shortest, self.longest,
                bits, ids,
            )
            if fine:
                self.expand(&out, documents, n, starts, ids, every, ends, features, ptr)
            if fine and norms != NULL:
                for d in range(n + 1):
                    documents[d] = d
                fine = norms_of(every, ends, documents, n, 1, norms)
        if not fine:
            raise MemoryError
        return self.counted(features, ptr, n, norms)

    cdef void expand(
        self, const runs.Output* out, const int64_t* documents, Py_ssize_t n,
        const int64_t* starts, const int32_t* ids, int32_t* every, int64_t* ends,
        int32_t* features, int64_t* ptr,
    ) noexcept nogil:
        """The n-grams of every document, and the features among them."""
        cdef Py_ssize_t d
        cdef int64_t r, i, size, run, end, used = 0, named = 0
        cdef int32_t feature
        r = 0
        ends[0] = ptr[0] = 0
        for d in range(n):
            end = out.sentence_ptr[documents[d + 1]]
            while r < end:
                run = out.runs[r]
                size = starts[run + 1] - starts[run]
                memcpy(every + used, ids + starts[run], size * sizeof(int32_t))
                for i in range(used, used + size):
                    feature = -1
                    if every[i] < self.known.n_nodes:
                        feature = self.name_of[every[i]]
                    features[named] = feature  # overwritten by the next where it is none
                    named += feature >= 0
                used += size
                r += 1
            ends[d + 1] = used
            ptr[d + 1] = named
