"""Texts to rows of known features: found, counted and weighed, all in one call.

What a model knows is looked at once, when the rows of the first text are wanted; what a call needs
beside it is a few blocks of memory, and no Python object for a word.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from textreg._core.text_chars cimport (
    Node, Tree, bit_of, child, close_tree, count_grams, expand, find_grams, open_tree, size_of,
)
from textreg._core.text_counts cimport (
    Bits, bits_in, count_rows, norms_of, renumber_ids, scale_rows, weigh, words_for,
)
from textreg._core.text_grams cimport MOST_LEVELS, Level, find_level, interleave
from textreg._core.text_scan cimport (
    Found, Rules, View, as_runs, run_rules, scan_all, view_all, word_rules,
)
from textreg._core.text_table cimport FEW, Table, add_names, close_table, open_table

import numpy as np

cdef enum:
    BLOCKS = 16


cdef class _Call:
    """The memory of one call and what it finds, freed when it ends."""

    cdef void* blocks[BLOCKS]
    cdef int n_blocks
    cdef list texts  # that the scan points into
    cdef Table table
    cdef Found found
    cdef int64_t* documents  # offsets in the sentences found
    cdef int64_t* ptr  # of the documents, in the tokens found

    def __dealloc__(self):
        close_table(&self.table)
        while self.n_blocks:
            self.n_blocks -= 1
            free(self.blocks[self.n_blocks])

    cdef void* take(self, size_t size) except NULL:
        """Memory until the call ends."""
        cdef void* block = malloc(size + 8)
        if block == NULL:
            raise MemoryError
        self.blocks[self.n_blocks] = block
        self.n_blocks += 1
        return block

    cdef void scan(self, list texts, const Rules* rules, const Table* known) except *:
        """Find the tokens and sentences of texts."""
        cdef Py_ssize_t d, n = len(texts)
        cdef Found* found = &self.found
        cdef bint fine
        self.texts = texts
        cdef View* views = <View*> self.take(n * sizeof(View))
        self.ptr = <int64_t*> self.take((n + 1) * sizeof(int64_t))
        self.documents = <int64_t*> self.take((n + 1) * sizeof(int64_t))
        cdef int64_t most = view_all(texts, rules, views, self.ptr) + 1
        found.ids = <int32_t*> self.take(most * sizeof(int32_t))
        found.sentence_ptr = <int64_t*> self.take(most * sizeof(int64_t))
        found.sentence_ptr[0] = self.documents[0] = 0
        if not open_table(&self.table, min(most // 2, FEW), known):
            raise MemoryError
        with nogil:
            fine = scan_all(views, n, rules, &self.table, found, self.documents)
            for d in range(n + 1):
                self.ptr[d] = found.sentence_ptr[self.documents[d]]
        if not fine:
            raise MemoryError


cdef class _Rows:
    """What becomes of the features of texts, counted by row.

    size: the number of features. values: of counts from 0 up, as far as it says when it is called
    with the largest one; None leaves counts as they are. idf: a factor for every feature, or None.
    norm: n if rows are divided by their lengths over all n-grams of 1 to n tokens, else 0. unit:
    whether they are divided by their own lengths.

    Attribute distinct says whether no two names are the same.
    """

    cdef readonly bint distinct
    cdef Py_ssize_t size, norm
    cdef bint unit
    cdef object values_to
    cdef const double[::1] values
    cdef const double[::1] idf
    cdef Rules rules

    def __init__(self, Py_ssize_t size, values, idf, Py_ssize_t norm, bint unit):
        self.size = size
        self.norm = norm
        self.unit = unit
        self.values_to = values
        self.values = np.empty(0) if values is None else values(0)
        self.idf = np.empty(0) if idf is None else idf

    cdef tuple counted(
        self, _Call call, const int32_t* ids, const int64_t* ptr, const double* norms
    ):
        """The rows of streams of features: indptr int64, indices int32 and data float64."""
        cdef Py_ssize_t i, n = len(call.texts)
        cdef double most = 0.0
        cdef const double[::1] values = self.values
        indptr = np.zeros(n + 1, dtype=np.int64)
        indices = np.empty(ptr[n] + 1, dtype=np.int32)
        data = np.empty(ptr[n] + 1)
        cdef int64_t[::1] indptr_view = indptr
        cdef int32_t[::1] indices_view = indices
        cdef double[::1] data_view = data
        # Counts are read only where a bit says that there is one.
        cdef int32_t* counts = <int32_t*> call.take(self.size * sizeof(int32_t))
        cdef uint64_t* room = <uint64_t*> call.take(words_for(self.size) * sizeof(uint64_t))
        cdef Bits bits = bits_in(room, self.size)
        with nogil:
            memset(room, 0, words_for(self.size) * sizeof(uint64_t))
            count_rows(
                ids, ptr, n, counts, &bits, &indptr_view[0], &indices_view[0], &data_view[0]
            )
            for i in range(indptr_view[n]):
                most = max(most, data_view[i])
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

    known: the letters of the names and their offsets. dropped: uint8,
    whether each of these is left out first, or None. children: of every level but the last, where
    the children of its n-grams begin and their last words, as in ``text_grams``. numbers: of every
    level, the features of its n-grams, int32, below 0 for none. rules: those of ``text.encode``,
    from ``lowercase`` to ``emoji``. The others are those of all rows.

    Called with a list of str, it gives indptr int64, indices int32 and data float64.
    """

    cdef Table known
    cdef const uint8_t[::1] dropped
    cdef list arrays  # that the next three point into
    cdef const int64_t* child_ptr[MOST_LEVELS]
    cdef const int32_t* last[MOST_LEVELS]
    cdef const int32_t* numbers[MOST_LEVELS]
    cdef Py_ssize_t n_levels

    def __init__(self, known, dropped, children, numbers, rules, *how):
        cdef Py_ssize_t k
        cdef const uint8_t[::1] names
        cdef const int64_t[::1] longs
        cdef const int32_t[::1] ints
        super().__init__(*how)
        names, longs = known
        cdef bint fine = open_table(&self.known, longs.shape[0], NULL)
        with nogil:
            fine = fine and add_names(&self.known, names, longs)
        if not fine:
            raise MemoryError
        self.distinct = self.known.size == longs.shape[0] - 1
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
        self.rules = word_rules(lowercase, min_length, sentences, punctuation, emoji)
        if dropped is not None:
            self.dropped = dropped
            self.rules.dropped = &self.dropped[0]

    def __dealloc__(self):
        close_table(&self.known)

    def __call__(self, list texts):
        cdef _Call call = _Call()
        cdef const Found* found = &call.found
        cdef Py_ssize_t k, n = len(texts)
        cdef int64_t i
        call.scan(texts, &self.rules, &self.known)
        cdef size_t room = self.n_levels * found.n_ids * sizeof(int32_t)
        cdef int32_t* streams = <int32_t*> call.take(room)
        cdef int32_t* features = <int32_t*> call.take(room)
        cdef int64_t* ends = <int64_t*> call.take((n + 1) * sizeof(int64_t))
        cdef double* norms = <double*> call.take(n * sizeof(double)) if self.norm else NULL
        cdef Level levels[MOST_LEVELS]
        cdef bint fine = True
        with nogil:
            for i in range(found.n_ids):
                streams[i] = found.ids[i] if found.ids[i] < self.known.size else -1
            for k in range(self.n_levels):
                levels[k] = Level(streams + k * found.n_ids, self.numbers[k])
                if k:
                    find_level(
                        levels[k - 1].stream, streams, found.sentence_ptr, found.n_sentences,
                        k + 1, self.child_ptr[k], self.last[k], streams + k * found.n_ids,
                    )
            ends[0] = 0
            interleave(levels, self.n_levels, call.ptr, n, features, ends)
            if norms != NULL:
                fine = norms_of(
                    found.ids, found.sentence_ptr, call.documents, n, self.norm, norms
                )
        if not fine:
            raise MemoryError
        return self.counted(call, features, ends, norms)


cdef class CharRows(_Rows):
    """Rows of known character n-grams.

    known: the letters of the names, which are features, and their offsets. lengths: the fewest and
    the most characters. rules: those of ``text_chars.encode``, from ``lowercase`` to ``sentences``.
    The others are those of all rows.

    Called with a list of str, it gives indptr int64, indices int32 and data float64.
    """

    cdef Tree known
    cdef uint64_t[::1] below  # as of a tree that knows this one
    cdef const int32_t[::1] feature_of  # of every node; below 0 if it has none
    cdef Py_ssize_t shortest, longest

    def __init__(self, known, lengths, rules, *how):
        super().__init__(*how)
        names, offsets = known
        self.shortest, self.longest = lengths
        lowercase, across, sentences = rules
        self.rules = run_rules(lowercase, across, sentences)
        # The characters of names from their bytes in UTF-8, of which the first has no 10 on top.
        text = names.tobytes().decode("utf-8", "surrogatepass")
        points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
        cdef const uint32_t[::1] characters = points.astype(np.uint32)
        cdef const int64_t[::1] ptr = np.append(0, np.cumsum(names & 0xC0 != 0x80))[offsets]
        cdef int32_t[::1] nodes = np.empty(ptr.shape[0] - 1, dtype=np.int32)
        cdef int64_t n_parents = 0, k
        cdef Node node
        cdef bint fine = open_tree(&self.known, nodes.shape[0], NULL, NULL, 0)
        with nogil:
            # First what names begin with, so that the nodes without a child come last.
            fine = fine and add_grams(&self.known, characters, ptr, 1, nodes)
            n_parents = self.known.next
            fine = fine and add_grams(&self.known, characters, ptr, 0, nodes)
        if not fine:
            raise MemoryError
        self.below = np.zeros(n_parents, dtype=np.uint64)
        for k in range(1, self.known.next):
            node = self.known.nodes[k]
            self.below[node.parent] |= bit_of(node.character)
        feature_of = np.full(self.known.next, -1, dtype=np.int32)
        feature_of[np.asarray(nodes)] = np.arange(nodes.shape[0])
        self.feature_of = feature_of
        self.distinct = np.count_nonzero(feature_of >= 0) == nodes.shape[0]

    def __dealloc__(self):
        close_tree(&self.known)

    def __call__(self, list texts):
        cdef _Call call = _Call()
        cdef const Found* found = &call.found
        cdef Py_ssize_t d, n = len(texts)
        call.scan(as_runs(texts, self.rules.letters.folded), &self.rules, NULL)
        cdef int64_t* starts = <int64_t*> call.take((call.table.size + 1) * sizeof(int64_t))
        cdef int64_t distinct = count_grams(&call.table, self.shortest, self.longest, starts)
        cdef int32_t* grams = <int32_t*> call.take(distinct * sizeof(int32_t))
        cdef int64_t* ends = <int64_t*> call.take((n + 1) * sizeof(int64_t))
        cdef double* norms = <double*> call.take(n * sizeof(double)) if self.norm else NULL
        cdef Tree tree
        cdef bint fine
        with nogil:
            fine = open_tree(
                &tree, min(distinct // 2, 4 * FEW), &self.known, &self.below[0],
                self.below.shape[0],
            ) and find_grams(&tree, &call.table, self.shortest, self.longest, grams)
            close_tree(&tree)  # before all that takes as much memory again
        if not fine:
            raise MemoryError
        cdef int64_t total = size_of(found.ids, found.n_ids, starts)
        cdef int32_t* every = <int32_t*> call.take(total * sizeof(int32_t))
        with nogil:
            expand(found.ids, starts, grams, n, call.ptr, every)
            if norms != NULL:
                for d in range(n + 1):  # each with one sentence
                    call.documents[d] = d
                fine = norms_of(every, call.ptr, call.documents, n, 1, norms)
            renumber_ids(
                every, call.ptr, n, &self.feature_of[0], self.feature_of.shape[0], every, ends
            )
        if not fine:
            raise MemoryError
        return self.counted(call, every, ends, norms)


cdef bint add_grams(
    Tree* tree, const uint32_t[::1] characters, const int64_t[::1] ptr, int64_t without,
    int32_t[::1] nodes,
) noexcept nogil:
    """Write the nodes of names without so many characters at the end; False without memory."""
    cdef int64_t i, k
    for i in range(ptr.shape[0] - 1):
        nodes[i] = 0
        for k in range(ptr[i], ptr[i + 1] - without):
            nodes[i] = child(tree, nodes[i], characters[k])
            if nodes[i] < 0:
                return False
    return True
