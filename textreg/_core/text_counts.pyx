"""Feature ids to counts by document and sets by sentence.

``ptr`` cuts the flat array before it: piece s is ``ids[ptr[s]:ptr[s + 1]]``.
"""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.math cimport sqrt
from libc.stdlib cimport qsort

import numpy as np

cdef extern from *:
    """
    #if defined(_MSC_VER)
    #include <intrin.h>
    static int textreg_lowest(unsigned long long bits) {
        unsigned long place;
        _BitScanForward64(&place, bits);
        return (int) place;
    }
    #else
    #define textreg_lowest(bits) __builtin_ctzll(bits)
    #endif
    """
    int lowest "textreg_lowest"(uint64_t bits) nogil  # place of the lowest bit set


def renumber(const int32_t[::1] ids, const int64_t[::1] ptr, const int32_t[::1] new):
    """Replace every id by ``new[id]`` and drop it where that is below 0; ptr follows.

    ids: from 0 up.
    Returns ids int32 and ptr int64.
    """
    out = np.empty(ids.shape[0], dtype=np.int32)
    out_ptr = np.zeros(ptr.shape[0], dtype=np.int64)
    cdef int32_t[::1] out_view = out
    cdef int64_t[::1] out_ptr_view = out_ptr
    cdef int64_t used
    with nogil:
        used = _renumber(ids, ptr, new, out_view, out_ptr_view)
    return out[:used], out_ptr


cdef int64_t _renumber(
    const int32_t[::1] ids, const int64_t[::1] ptr, const int32_t[::1] new,
    int32_t[::1] out, int64_t[::1] out_ptr,
) noexcept nogil:
    cdef Py_ssize_t s, i
    cdef int64_t used = 0
    cdef int32_t id
    for s in range(ptr.shape[0] - 1):
        for i in range(ptr[s], ptr[s + 1]):
            id = new[ids[i]]
            out[used] = id  # overwritten by the next where it is dropped
            used += id >= 0
        out_ptr[s + 1] = used
    return used


def document_frequencies(
    const int32_t[::1] ids, const int64_t[::1] ptr, Py_ssize_t n_features
):
    """In how many documents every feature occurs, int64; ids below 0 are passed over."""
    frequencies = np.zeros(n_features, dtype=np.int64)
    last = np.full(n_features, -1, dtype=np.int32)
    cdef int64_t[::1] frequencies_view = frequencies
    cdef int32_t[::1] last_view = last
    with nogil:
        _document_frequencies(ids, ptr, last_view, frequencies_view)
    return frequencies


cdef void _document_frequencies(
    const int32_t[::1] ids, const int64_t[::1] ptr, int32_t[::1] last, int64_t[::1] frequencies
) noexcept nogil:
    cdef Py_ssize_t i
    cdef int32_t d, id
    for d in range(<int32_t> (ptr.shape[0] - 1)):
        for i in range(ptr[d], ptr[d + 1]):
            id = ids[i]
            if id >= 0 and last[id] != d:
                last[id] = d
                frequencies[id] += 1


def count(const int32_t[::1] ids, const int64_t[::1] ptr, Py_ssize_t n_features):
    """How often every feature occurs in every document, as CSR rows with sorted columns.

    Returns indptr int64, indices int32 and data float64.
    """
    cdef Py_ssize_t n_words = n_features // 64 + 1
    indptr = np.zeros(ptr.shape[0], dtype=np.int64)
    # Allocate for every occurrence: pages that are never written take no memory.
    indices = np.empty(ids.shape[0], dtype=np.int32)
    data = np.empty(ids.shape[0], dtype=np.float64)
    cdef int64_t[::1] indptr_view = indptr
    cdef int32_t[::1] indices_view = indices, counts = np.zeros(n_features, dtype=np.int32)
    cdef double[::1] data_view = data
    cdef uint64_t[::1] present = np.zeros(n_words, dtype=np.uint64)
    cdef uint64_t[::1] summary = np.zeros(n_words // 64 + 1, dtype=np.uint64)
    cdef int64_t used
    with nogil:
        used = _count(ids, ptr, counts, present, summary, indptr_view, indices_view, data_view)
    indices.resize(used, refcheck=False)  # the views are not used again
    data.resize(used, refcheck=False)
    return indptr, indices, data


cdef int64_t _count(
    const int32_t[::1] ids, const int64_t[::1] ptr, int32_t[::1] counts, uint64_t[::1] present,
    uint64_t[::1] summary, int64_t[::1] indptr, int32_t[::1] indices, double[::1] data,
) noexcept nogil:
    """The features of a document are bits in ``present``, which are read in order: this sorts them
    without comparisons. ``summary`` has a bit for every 64 features, to skip empty words."""
    cdef Py_ssize_t d, i, s
    cdef int64_t used = 0
    cdef int32_t id, word
    cdef uint64_t words, bits
    for d in range(ptr.shape[0] - 1):
        for i in range(ptr[d], ptr[d + 1]):
            id = ids[i]
            if counts[id] == 0:
                present[id >> 6] |= <uint64_t> 1 << (id & 63)
                summary[id >> 12] |= <uint64_t> 1 << (id >> 6 & 63)
            counts[id] += 1
        for s in range(summary.shape[0]):
            words = summary[s]
            summary[s] = 0
            while words:
                word = <int32_t> (s << 6) + lowest(words)
                words &= words - 1
                bits = present[word]
                present[word] = 0
                while bits:
                    id = (word << 6) + lowest(bits)
                    bits &= bits - 1
                    indices[used] = id
                    data[used] = counts[id]
                    counts[id] = 0
                    used += 1
        indptr[d + 1] = used
    return used


def normalize_rows(double[::1] data, const int64_t[::1] ptr):
    """Scale every row of data to Euclidean length 1, in place; rows of zeros stay."""
    with nogil:
        _normalize_rows(data, ptr)


cdef void _normalize_rows(double[::1] data, const int64_t[::1] ptr) noexcept nogil:
    cdef Py_ssize_t d, i
    cdef double length
    for d in range(ptr.shape[0] - 1):
        length = 0.0
        for i in range(ptr[d], ptr[d + 1]):
            length += data[i] * data[i]
        if length > 0.0:
            length = sqrt(length)
            for i in range(ptr[d], ptr[d + 1]):
                data[i] /= length


def sentence_sets(const int32_t[::1] ids, const int64_t[::1] ptr, Py_ssize_t n_features):
    """The distinct features of every sentence, sorted: indptr int64 and indices int32."""
    indptr = np.zeros(ptr.shape[0], dtype=np.int64)
    indices = np.empty(ids.shape[0], dtype=np.int32)
    cdef int64_t[::1] indptr_view = indptr, last = np.full(n_features, -1, dtype=np.int64)
    cdef int32_t[::1] indices_view = indices
    cdef int64_t used = 0
    if ids.shape[0]:
        with nogil:
            used = _sentence_sets(ids, ptr, last, indptr_view, &indices_view[0])
    return indptr, indices[:used].copy()


cdef int64_t _sentence_sets(
    const int32_t[::1] ids, const int64_t[::1] ptr, int64_t[::1] last, int64_t[::1] indptr,
    int32_t* indices,
) noexcept nogil:
    cdef Py_ssize_t s, i
    cdef int64_t used = 0
    for s in range(ptr.shape[0] - 1):
        for i in range(ptr[s], ptr[s + 1]):
            if last[ids[i]] != s:
                last[ids[i]] = s
                indices[used] = ids[i]
                used += 1
        indptr[s + 1] = used
        sort_ids(indices + indptr[s], used - indptr[s])
    return used


cdef void sort_ids(int32_t* ids, Py_ssize_t n) noexcept nogil:
    """Sort in place; most runs have a dozen entries."""
    cdef Py_ssize_t i, k
    cdef int32_t id
    if n > 32:
        qsort(ids, n, sizeof(int32_t), compare)
        return
    for i in range(1, n):
        id = ids[i]
        k = i
        while k > 0 and ids[k - 1] > id:
            ids[k] = ids[k - 1]
            k -= 1
        ids[k] = id


cdef int compare(const void* a, const void* b) noexcept nogil:
    return ((<const int32_t*> a)[0] > (<const int32_t*> b)[0]) - (
        (<const int32_t*> a)[0] < (<const int32_t*> b)[0]
    )
