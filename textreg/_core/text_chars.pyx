"""Texts to character n-grams as ids, which number the n-grams in order of name."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

from textreg._core.text cimport Scan
from textreg._core.text_scan cimport as_runs, run_rules
from textreg._core.text_table cimport Table, run_length

import numpy as np

cdef extern from "Python.h":
    object PyUnicode_FromKindAndData(int kind, const void* data, Py_ssize_t size)
    int PyUnicode_4BYTE_KIND


def encode(
    texts, bint lowercase, bint across, str sentences, Py_ssize_t shortest, Py_ssize_t longest,
    bint spans,
):
    """The n-grams of ``shortest`` to ``longest`` characters of all texts, as ids.

    They are those of runs: of what stands between white space, with a blank on both sides; or, with
    ``across``, of whole sentences, with one blank between what stands between white space. The end
    of a sentence in the middle of a run cuts it, without blanks there.

    Returns what ``text.encode`` does, spans too: the blanks of an n-gram are not part of its span,
    unless it is nothing else. Raises TypeError for a text that is not a str.
    """
    cdef Scan scan = Scan(as_runs(texts, lowercase), spans)
    scan.run(run_rules(lowercase, across, sentences))
    runs, ptr, paragraph_ptr, document_ptr, places, sentence_spans = scan.joined(scan.merged())
    cdef const Table* table = &scan.tables[0]
    cdef int64_t[::1] starts = np.empty(table.size + 1, dtype=np.int64), ptr_view = ptr
    cdef int32_t[::1] runs_view = runs, ids_view, grams_view
    cdef int32_t[:, ::1] places_view, spans_view
    cdef int64_t total = 0
    with nogil:
        count_grams(table, shortest, longest, &starts[0])
        if runs_view.shape[0]:
            total = size_of(&runs_view[0], runs_view.shape[0], &starts[0])
    ids = np.empty(total, dtype=np.int32)
    gram_spans = np.empty((total, 2), dtype=np.int32) if spans else None
    grams, names = number_grams(table, starts, shortest, longest)
    if total:
        ids_view = ids
        grams_view = grams
        with nogil:
            expand(
                &runs_view[0], &starts[0], &grams_view[0], ptr_view.shape[0] - 1, &ptr_view[0],
                &ids_view[0],
            )
        if spans:
            places_view = places
            spans_view = gram_spans
            with nogil:
                find_spans(table, runs_view, places_view, shortest, longest, spans_view)
    return ids, ptr, paragraph_ptr, document_ptr, names, gram_spans, sentence_spans


cdef tuple number_grams(
    const Table* runs, const int64_t[::1] starts, Py_ssize_t shortest, Py_ssize_t longest
):
    """The numbers of the n-grams of all runs, int32, and the names in their order."""
    cdef Tree tree
    cdef int64_t n
    ids = np.empty(starts[runs.size], dtype=np.int32)
    cdef int32_t[::1] ids_view = ids, rank, order
    cdef uint8_t[::1] named
    cdef bint fine = open_tree(&tree, 1 << 13, NULL, NULL, 0)
    try:
        with nogil:
            fine = fine and (
                ids_view.shape[0] == 0
                or find_grams(&tree, runs, shortest, longest, &ids_view[0])
            )
        if not fine:
            raise MemoryError
        named = np.zeros(tree.next, dtype=np.uint8)
        rank = np.empty(tree.next, dtype=np.int32)
        order = np.empty(tree.next, dtype=np.int32)
        with nogil:
            for n in range(ids_view.shape[0]):
                named[ids_view[n]] = 1
        number(&tree, named, rank, order)
        with nogil:
            for n in range(ids_view.shape[0]):
                ids_view[n] = rank[ids_view[n]]
        names = names_of(&tree, order, int(np.count_nonzero(named)), longest)
    finally:
        close_tree(&tree)
    return ids, names


cdef void number(
    const Tree* tree, const uint8_t[::1] named, int32_t[::1] rank, int32_t[::1] order
) except *:
    """Number the named nodes in order of name, in which a node precedes its descendants.

    rank: the number of every named node. order: the node of every number.
    """
    cdef int64_t n, k, size = tree.next
    cdef int32_t node, next
    cdef uint64_t[::1] keys = np.empty(size - 1, dtype=np.uint64)
    cdef int64_t[::1] starts = np.zeros(size + 1, dtype=np.int64)  # of the children of every node
    cdef int32_t[::1] inside = np.empty(size, dtype=np.int32)  # named nodes of a subtree
    with nogil:
        inside[0] = 0  # the root has no name
        for n in range(1, size):
            keys[n - 1] = <uint64_t> tree.nodes[n].parent << 32 | tree.nodes[n].character
            starts[tree.nodes[n].parent + 1] += 1
            inside[n] = named[n]
        for n in range(size):
            starts[n + 1] += starts[n]
        for n in range(size - 1, 0, -1):
            inside[tree.nodes[n].parent] += inside[n]
    cdef const int64_t[::1] children = np.argsort(keys).astype(np.int64, copy=False)
    with nogil:
        rank[0] = 0
        for n in range(size):
            next = rank[n] + named[n]
            if named[n]:
                order[rank[n]] = <int32_t> n
            for k in range(starts[n], starts[n + 1]):
                node = <int32_t> (children[k] + 1)
                rank[node] = next
                next += inside[node]


cdef list names_of(
    const Tree* tree, const int32_t[::1] order, int64_t n_names, Py_ssize_t longest
):
    """The names of the nodes in the given order."""
    cdef list names = [None] * n_names
    cdef int64_t k
    cdef int32_t node
    cdef Py_ssize_t at
    cdef uint32_t[::1] letters = np.empty(longest + 1, dtype=np.uint32)
    for k in range(n_names):
        node = order[k]
        at = longest
        while node:  # from the last character to the first
            at -= 1
            letters[at] = tree.nodes[node].character
            node = tree.nodes[node].parent
        names[k] = PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, &letters[at], longest - at)
    return names


cdef void find_spans(
    const Table* table, const int32_t[::1] runs, const int32_t[:, ::1] places, int64_t shortest,
    int64_t longest, int32_t[:, ::1] spans,
) noexcept nogil:
    """Where in its text every n-gram begins and ends.

    places: for every code point of the occurrences of runs, where what begins with it begins, and
    where what ends with it ends. A blank alone has them in the opposite order.
    """
    cdef int64_t r, i, k, least, start, end = 0, n = 0
    cdef int32_t first, last
    for r in range(runs.shape[0]):
        start = end
        end += run_length(table, runs[r])
        least = min(shortest, end - start)
        for i in range(start, end - least + 1):
            for k in range(i + least - 1, min(i + longest, end)):
                first = places[i, 0]
                last = places[k, 1]
                spans[n, 0] = min(first, last)
                spans[n, 1] = max(first, last)
                n += 1
