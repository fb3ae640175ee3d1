"""Texts to rows of known character n-grams, in one call."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy, memset

cimport textreg._core.text_run_scan as runs
from textreg._core.text_grams cimport norms_of
from textreg._core.text_known_grams cimport KnownGrams, bits_of, find_grams
from textreg._core.text_rows cimport Room, Rows, leave, take
from textreg._core.text_scan cimport View
from textreg._core.text_tree cimport Child, n_grams

cdef extern from "Python.h":
    bint PyUnicode_Check(object)
    int PyUnicode_READY(object) except -1
    int PyUnicode_KIND(object)
    void* PyUnicode_DATA(object)


cdef class CharRows(Rows):
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
