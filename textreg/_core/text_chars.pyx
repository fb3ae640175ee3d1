"""Character n-grams of runs of code points, as numbers in order of name.

An n-gram is a node of a tree (``text_tree``): no spelling is hashed or compared. The n-grams of a
run, of ``shortest`` to ``longest`` characters, are in order of their first characters, shorter ones
first; a run with fewer characters is its only n-gram.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from textreg._core.text_tree cimport Children, child, close_children, n_grams, open_children, walk

import numpy as np

cdef extern from "Python.h":
    object PyUnicode_FromKindAndData(int kind, const void* data, Py_ssize_t size)
    int PyUnicode_4BYTE_KIND


def sizes(const int64_t[::1] ptr, Py_ssize_t shortest, Py_ssize_t longest):
    """The number of n-grams of every run, int64; runs are not empty."""
    counts = np.empty(ptr.shape[0] - 1, dtype=np.int64)
    cdef int64_t[::1] counts_view = counts
    cdef Py_ssize_t r
    with nogil:
        for r in range(ptr.shape[0] - 1):
            counts_view[r] = n_grams(ptr[r + 1] - ptr[r], shortest, longest)
    return counts


def grams(
    const uint32_t[::1] spelled, const int64_t[::1] ptr, Py_ssize_t shortest, Py_ssize_t longest
):
    """The n-grams of all runs; run r is ``spelled[ptr[r]:ptr[r + 1]]``, not empty.

    Returns ids int32, as many of every run as :func:`sizes` says, and names, a list of str.
    """
    cdef Children tree
    cdef int64_t n
    cdef int32_t[::1] ids_view, rank_view, order_view
    cdef uint8_t[::1] named_view
    cdef bint fine = open_children(&tree, 14, 1)
    cdef int64_t total = sizes(ptr, shortest, longest).sum()
    ids = np.empty(total, dtype=np.int32)
    try:
        if not fine:
            raise MemoryError
        if total:
            ids_view = ids
            with nogil:
                fine = walk(
                    &tree, step, &spelled[0], &ptr[0], ptr.shape[0] - 1, shortest, longest,
                    &ids_view[0],
                )
            if not fine:
                raise MemoryError
        named = np.zeros(tree.next, dtype=np.uint8)
        rank = np.empty(tree.next, dtype=np.int32)
        order = np.empty(tree.next, dtype=np.int32)
        named_view = named
        rank_view = rank
        order_view = order
        with nogil:
            for n in range(total):
                named_view[ids_view[n]] = 1
            fine = number(&tree, named_view, rank_view, order_view)
            for n in range(total):
                ids_view[n] = rank_view[ids_view[n]]
        if not fine:
            raise MemoryError
        names = names_of(&tree, order_view, int(named.sum(dtype=np.int64)))
    finally:
        close_children(&tree)
    return ids, names


cdef int32_t step(void* tree, int32_t parent, uint32_t character) noexcept nogil:
    """The node of a character after another node, which is made if it is new."""
    return child(<Children*> tree, parent, character)


cdef bint number(
    const Children* tree, const uint8_t[::1] named, int32_t[::1] rank, int32_t[::1] order
) noexcept nogil:
    """Number the named nodes in order of name, in which a node precedes its descendants.

    rank: the number of every named node. order: the node of every number. False if there is no
    memory.
    """
    cdef int64_t n, k, size = tree.next
    cdef int32_t parent, next
    cdef uint64_t* keys = <uint64_t*> malloc(size * sizeof(uint64_t))
    cdef uint64_t* spare = <uint64_t*> malloc(size * sizeof(uint64_t))
    cdef int64_t* starts = <int64_t*> malloc((size + 1) * sizeof(int64_t))
    cdef int32_t* inside = <int32_t*> malloc(size * sizeof(int32_t))  # named nodes of a subtree
    cdef bint fine = keys != NULL and spare != NULL and starts != NULL and inside != NULL
    if fine:
        # All nodes by character, then by parent, which keeps the order: counting sorts.
        for n in range(size):
            keys[n] = <uint64_t> tree.nodes[n].character << 32 | <uint64_t> n
            inside[n] = named[n]
        sort_by_character(keys, spare, size)
        memset(starts, 0, (size + 1) * sizeof(int64_t))
        for n in range(1, size):
            starts[tree.nodes[n].parent + 1] += 1
        for n in range(size):
            starts[n + 1] += starts[n]
        for k in range(1, size):  # the root has the lowest key
            n = <uint32_t> keys[k]
            parent = tree.nodes[n].parent
            spare[starts[parent]] = n
            starts[parent] += 1  # in the end where the children of the next node begin
        for n in range(size - 1, 0, -1):
            inside[tree.nodes[n].parent] += inside[n]
        rank[0] = 0
        for n in range(size):
            next = rank[n] + named[n]
            if named[n]:
                order[rank[n]] = <int32_t> n
            for k in range(starts[n - 1] if n else 0, starts[n]):
                rank[spare[k]] = next
                next += inside[spare[k]]
    free(keys)
    free(spare)
    free(starts)
    free(inside)
    return fine


cdef void sort_by_character(uint64_t* keys, uint64_t* spare, int64_t size) noexcept nogil:
    """Sort keys by their upper half, whose top byte is 0, and keep the order of equal ones."""
    cdef int64_t counts[2048]
    cdef int64_t k, before, now
    cdef int shift
    for shift in range(32, 54, 11):  # bits at a time: code points have 21
        memset(counts, 0, sizeof(counts))
        for k in range(size):
            counts[keys[k] >> shift & 2047] += 1
        before = 0
        for k in range(2048):
            now = counts[k]
            counts[k] = before
            before += now
        for k in range(size):
            spare[counts[keys[k] >> shift & 2047]] = keys[k]
            counts[keys[k] >> shift & 2047] += 1
        memcpy(keys, spare, size * sizeof(uint64_t))


cdef list names_of(const Children* tree, const int32_t[::1] order, int64_t n_names):
    """The names of the nodes in the given order."""
    cdef list names = [None] * n_names
    cdef int64_t k
    cdef int32_t node
    cdef Py_ssize_t size, room = 64
    cdef uint32_t* letters = <uint32_t*> malloc(room * sizeof(uint32_t))
    cdef uint32_t* more
    try:
        for k in range(n_names):
            node = order[k]
            size = 0
            while node:  # from the last character to the first
                if letters != NULL and size == room:
                    more = <uint32_t*> malloc(2 * room * sizeof(uint32_t))
                    if more != NULL:
                        memcpy(more + room, letters, room * sizeof(uint32_t))
                    free(letters)
                    letters = more
                    room *= 2
                if letters == NULL:
                    raise MemoryError
                size += 1
                letters[room - size] = tree.nodes[node].character
                node = tree.nodes[node].parent
            names[k] = PyUnicode_FromKindAndData(
                PyUnicode_4BYTE_KIND, letters + room - size, size
            )
    finally:
        free(letters)
    return names


def expand(const int32_t[::1] ids, const int64_t[::1] ptr, const int32_t[::1] runs):
    """The pieces ``ids[ptr[r]:ptr[r + 1]]`` of all runs r in turn: int32, and their offsets."""
    out_ptr = np.zeros(runs.shape[0] + 1, dtype=np.int64)
    cdef int64_t[::1] out_ptr_view = out_ptr
    cdef int64_t r
    cdef int32_t[::1] out_view
    with nogil:
        for r in range(runs.shape[0]):
            out_ptr_view[r + 1] = out_ptr_view[r] + ptr[runs[r] + 1] - ptr[runs[r]]
    out = np.empty(out_ptr_view[runs.shape[0]], dtype=np.int32)
    if len(out):
        out_view = out
        with nogil:
            for r in range(runs.shape[0]):
                memcpy(
                    &out_view[out_ptr_view[r]], &ids[ptr[runs[r]]],
                    (out_ptr_view[r + 1] - out_ptr_view[r]) * sizeof(int32_t),
                )
    return out, out_ptr


def gram_spans(
    const int32_t[::1] begins, const int32_t[::1] ends, const int64_t[::1] ptr,
    Py_ssize_t shortest, Py_ssize_t longest,
):
    """Where in its text every n-gram begins and ends, int32 (n, 2).

    begins, ends: for every code point of runs, cut by ``ptr``, where what begins with it begins,
    and where what ends with it ends. A blank alone has them in the opposite order.
    """
    cdef int64_t total = sizes(ptr, shortest, longest).sum()
    out = np.empty((total, 2), dtype=np.int32)
    cdef int32_t[:, ::1] view = out
    cdef Py_ssize_t r, i, k, end, least
    cdef int64_t n = 0
    cdef int32_t first, last
    with nogil:
        for r in range(ptr.shape[0] - 1):
            end = ptr[r + 1]
            least = min(shortest, end - ptr[r])
            for i in range(ptr[r], end - least + 1):
                for k in range(i + least - 1, min(i + longest, end)):
                    first = begins[i]
                    last = ends[k]
                    view[n, 0] = min(first, last)
                    view[n, 1] = max(first, last)
                    n += 1
    return out
