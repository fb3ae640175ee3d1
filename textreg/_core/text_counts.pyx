"""Feature ids to counts by document and sets by sentence.

``ptr`` cuts the flat array before it: piece s is ``ids[ptr[s]:ptr[s + 1]]``.
"""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.math cimport log, sqrt

from textreg._core.text_bits cimport Bits, bits_in, put, take_all, words_for

import numpy as np


def renumber(const int32_t[::1] ids, const int64_t[::1] ptr, const int32_t[::1] new):
    """Replace every id by ``new[id]`` and drop it where that is below 0 or missing; ptr follows.

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
            id = new[ids[i]] if ids[i] < new.shape[0] else -1
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
    indptr = np.zeros(ptr.shape[0], dtype=np.int64)
    # Allocate for every occurrence: pages that are never written take no memory.
    indices = np.empty(ids.shape[0] + 1, dtype=np.int32)
    data = np.empty(ids.shape[0] + 1, dtype=np.float64)
    cdef int64_t[::1] indptr_view = indptr
    cdef int32_t[::1] indices_view = indices, counts = np.zeros(n_features, dtype=np.int32)
    cdef double[::1] data_view = data
    cdef uint64_t[::1] room = np.zeros(words_for(n_features), dtype=np.uint64)
    cdef Bits bits = bits_in(&room[0], n_features)
    cdef int64_t used
    with nogil:
        used = _count(ids, ptr, counts, &bits, indptr_view, &indices_view[0], &data_view[0])
    indices.resize(used, refcheck=False)  # the views are not used again
    data.resize(used, refcheck=False)
    return indptr, indices, data


cdef int64_t _count(
    const int32_t[::1] ids, const int64_t[::1] ptr, int32_t[::1] counts, const Bits* bits,
    int64_t[::1] indptr, int32_t* indices, double* data,
) noexcept nogil:
    cdef Py_ssize_t d, i, used = 0
    cdef int32_t id
    for d in range(ptr.shape[0] - 1):
        for i in range(ptr[d], ptr[d + 1]):
            id = ids[i]
            if counts[id] == 0:
                put(bits, id)
            counts[id] += 1
        used += take_all(bits, indices + used)
        for i in range(indptr[d], used):
            data[i] = counts[indices[i]]
            counts[indices[i]] = 0
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


def row_norms(const double[::1] counts, const int64_t[::1] ptr):
    """The length of every row of 1 + ln(count), float64; counts are whole numbers from 1 up.

    Summed over the frequencies of the counts, so that it does not hang on the order of a row.
    """
    norms = np.zeros(ptr.shape[0] - 1)
    cdef Py_ssize_t most = 0 if counts.shape[0] == 0 else int(np.max(counts))
    cdef double[::1] norms_view = norms
    cdef int64_t[::1] frequencies = np.zeros(most + 1, dtype=np.int64)
    with nogil:
        _row_norms(counts, ptr, frequencies, norms_view)
    return norms


cdef void _row_norms(
    const double[::1] counts, const int64_t[::1] ptr, int64_t[::1] frequencies, double[::1] norms
) noexcept nogil:
    cdef Py_ssize_t d, i
    cdef int64_t c, most
    cdef double square
    for d in range(ptr.shape[0] - 1):
        most = 0
        for i in range(ptr[d], ptr[d + 1]):
            c = <int64_t> counts[i]
            frequencies[c] += 1
            most = max(most, c)
        square = 0.0
        for c in range(1, most + 1):
            if frequencies[c]:
                square += frequencies[c] * (1.0 + log(c)) * (1.0 + log(c))
                frequencies[c] = 0
        norms[d] = sqrt(square)


def weigh_rows(
    double[::1] data, const int32_t[::1] indices, const int64_t[::1] ptr, const double[::1] values,
    const double[::1] factors, const double[::1] norms,
):
    """Replace every count c, in place, by ``values[c]``, times the factor of its column, divided by
    the norm of its row.

    factors, norms: either may be empty, for none.
    """
    with nogil:
        _weigh_rows(data, indices, ptr, values, factors, norms)


cdef void _weigh_rows(
    double[::1] data, const int32_t[::1] indices, const int64_t[::1] ptr, const double[::1] values,
    const double[::1] factors, const double[::1] norms,
) noexcept nogil:
    cdef Py_ssize_t d, i
    cdef double value
    cdef bint scaled = factors.shape[0] > 0, normed = norms.shape[0] > 0
    for d in range(ptr.shape[0] - 1):
        for i in range(ptr[d], ptr[d + 1]):
            value = values[<int64_t> data[i]]
            if scaled:
                value *= factors[indices[i]]
            if normed:
                value /= norms[d]
            data[i] = value


def sentence_sets(const int32_t[::1] ids, const int64_t[::1] ptr, Py_ssize_t n_features):
    """The distinct features of every sentence, sorted: indptr int64 and indices int32."""
    indptr = np.zeros(ptr.shape[0], dtype=np.int64)
    indices = np.empty(ids.shape[0] + 1, dtype=np.int32)
    cdef int64_t[::1] indptr_view = indptr
    cdef int32_t[::1] indices_view = indices
    cdef uint64_t[::1] room = np.zeros(words_for(n_features), dtype=np.uint64)
    cdef Bits bits = bits_in(&room[0], n_features)
    cdef int64_t used
    with nogil:
        used = _sentence_sets(ids, ptr, &bits, indptr_view, &indices_view[0])
    indices.resize(used, refcheck=False)  # the view is not used again
    return indptr, indices


cdef int64_t _sentence_sets(
    const int32_t[::1] ids, const int64_t[::1] ptr, const Bits* bits, int64_t[::1] indptr,
    int32_t* indices,
) noexcept nogil:
    cdef Py_ssize_t s, i
    cdef int64_t used = 0
    for s in range(ptr.shape[0] - 1):
        for i in range(ptr[s], ptr[s + 1]):
            put(bits, ids[i])
        used += take_all(bits, indices + used)
        indptr[s + 1] = used
    return used
