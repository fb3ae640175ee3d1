"""Feature ids to counts by document and sets by sentence.

``ptr`` cuts the flat array before it: piece s is ``ids[ptr[s]:ptr[s + 1]]``.
"""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.math cimport log, sqrt
from libc.string cimport memmove

from textreg._core.text_bits cimport Bits, bits_in, holds, put, take_all, words_for

import numpy as np

from textreg._core.threads import allowed, cuts_of, pieces_of, share


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
    data = np.empty(ids.shape[0] + 1, dtype=np.float64)
    indptr, indices = rows_of(ids, ptr, n_features, data)
    data.resize(len(indices), refcheck=False)  # its view is not used again
    return indptr, indices, data


cdef tuple rows_of(
    const int32_t[::1] ids, const int64_t[::1] ptr, Py_ssize_t n_features, double[::1] data
):
    """The distinct features of every row, sorted, as indptr int64 and indices int32.

    Their counts are written to data, unless that is empty.
    """
    indptr = np.zeros(ptr.shape[0], dtype=np.int64)
    # Allocate for every occurrence: pages that are never written take no memory.
    indices = np.empty(ids.shape[0] + 1, dtype=np.int32)
    cdef Py_ssize_t p, start, n_pieces = pieces_of(ids.shape[0])
    cdef int64_t[::1] indptr_view = indptr, cuts_view = cuts_of(ptr, n_pieces)
    cdef int32_t[::1] indices_view = indices
    cdef int64_t size, used = 0
    cdef _Rows rows = _Rows(ids, ptr, cuts_view, indptr_view, indices_view, data)
    # Not set to zeros, which would take longer than to count the words of one text.
    rows.counts = np.empty((allowed(), n_features if data.shape[0] else 0), dtype=np.int32)
    rows.room = np.zeros((allowed(), words_for(n_features)), dtype=np.uint64)
    rows.n_features = n_features
    share(rows, n_pieces)
    with nogil:
        for p in range(n_pieces):
            if cuts_view[p] == cuts_view[p + 1]:
                continue
            start = ptr[cuts_view[p]]
            size = indptr_view[cuts_view[p + 1]]
            if start > used:
                memmove(&indices_view[used], &indices_view[start], size * sizeof(int32_t))
                if data.shape[0]:
                    memmove(&data[used], &data[start], size * sizeof(double))
            for start in range(cuts_view[p] + 1, cuts_view[p + 1] + 1):
                indptr_view[start] += used
            used += size
    indices.resize(used, refcheck=False)  # the views are not used again
    return indptr, indices


cdef class _Rows:
    """Rows in pieces: what each gives is put where its occurrences are."""

    cdef const int32_t[::1] ids
    cdef const int64_t[::1] ptr
    cdef const int64_t[::1] cuts
    cdef int64_t[::1] indptr  # of a piece, from 0
    cdef int32_t[::1] indices
    cdef double[::1] data
    cdef int32_t[:, ::1] counts
    cdef uint64_t[:, ::1] room
    cdef Py_ssize_t n_features

    def __init__(self, ids, ptr, cuts, indptr, indices, data):
        self.ids = ids
        self.ptr = ptr
        self.cuts = cuts
        self.indptr = indptr
        self.indices = indices
        self.data = data

    def __call__(self, Py_ssize_t worker, Py_ssize_t piece):
        """The rows of a piece."""
        cdef Bits bits = bits_in(&self.room[worker, 0], self.n_features)
        cdef Py_ssize_t first = self.cuts[piece], last = self.cuts[piece + 1]
        cdef Py_ssize_t start = self.ptr[first]
        cdef const int32_t* ids = NULL
        if self.ids.shape[0]:
            ids = &self.ids[0]
        with nogil:
            if self.data.shape[0]:
                count_rows(
                    ids, &self.ptr[first], last - first, &self.counts[worker, 0], &bits,
                    &self.indptr[first], &self.indices[start], &self.data[start],
                )
            else:
                _sets(
                    self.ids, self.ptr[first:last + 1], &bits, self.indptr[first:],
                    &self.indices[start],
                )


cdef void count_rows(
    const int32_t* ids, const int64_t* ptr, Py_ssize_t n_rows, int32_t* counts, const Bits* bits,
    int64_t* indptr, int32_t* indices, double* data,
) noexcept nogil:
    """The distinct ids of every row, sorted, and how often each occurs; indptr[0] is 0.

    counts: of all features, whatever is in it.
    """
    cdef Py_ssize_t d, i, used = 0
    cdef int64_t before
    cdef int32_t id
    for d in range(n_rows):
        for i in range(ptr[d], ptr[d + 1]):
            id = ids[i]
            if holds(bits, id):
                counts[id] += 1
            else:
                put(bits, id)
                counts[id] = 1
        before = used
        used += take_all(bits, indices + used)
        for i in range(before, used):
            data[i] = counts[indices[i]]
        indptr[d + 1] = used


cdef void _sets(
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


def normalize_rows(double[::1] data, const int64_t[::1] ptr):
    """Scale every row of data to Euclidean length 1, in place; rows of zeros stay."""
    if data.shape[0]:
        with nogil:
            scale_rows(&data[0], &ptr[0], ptr.shape[0] - 1)


cdef void scale_rows(double* data, const int64_t* ptr, Py_ssize_t n_rows) noexcept nogil:
    """See :func:`normalize_rows`."""
    cdef Py_ssize_t d, i
    cdef double length
    for d in range(n_rows):
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
    if data.shape[0]:
        with nogil:
            weigh(
                &data[0], &indices[0], &ptr[0], ptr.shape[0] - 1, &values[0],
                &factors[0] if factors.shape[0] else NULL, &norms[0] if norms.shape[0] else NULL,
            )


cdef void weigh(
    double* data, const int32_t* indices, const int64_t* ptr, Py_ssize_t n_rows,
    const double* values, const double* factors, const double* norms,
) noexcept nogil:
    """See :func:`weigh_rows`; what is NULL is left out, ``values`` too."""
    cdef Py_ssize_t d, i
    cdef double value
    for d in range(n_rows):
        for i in range(ptr[d], ptr[d + 1]):
            value = data[i]
            if values != NULL:
                value = values[<int64_t> value]
            if factors != NULL:
                value *= factors[indices[i]]
            if norms != NULL:
                value /= norms[d]
            data[i] = value


def sentence_sets(const int32_t[::1] ids, const int64_t[::1] ptr, Py_ssize_t n_features):
    """The distinct features of every sentence, sorted: indptr int64 and indices int32."""
    return rows_of(ids, ptr, n_features, np.empty(0))


def place_rows(
    const int64_t[::1] ptr, const int32_t[::1] indices, const double[::1] data, int32_t shift,
    int64_t[::1] place, int32_t[::1] out_indices, double[::1] out_data,
):
    """Copy the rows of a matrix into a larger one, columns moved by shift.

    place: where every row goes; in the end where the next entry of the row does.
    """
    with nogil:
        _place_rows(ptr, indices, data, shift, place, out_indices, out_data)


cdef void _place_rows(
    const int64_t[::1] ptr, const int32_t[::1] indices, const double[::1] data, int32_t shift,
    int64_t[::1] place, int32_t[::1] out_indices, double[::1] out_data,
) noexcept nogil:
    cdef Py_ssize_t d, i
    cdef int64_t to
    for d in range(ptr.shape[0] - 1):
        to = place[d]
        for i in range(ptr[d], ptr[d + 1]):
            out_indices[to] = indices[i] + shift
            out_data[to] = data[i]
            to += 1
        place[d] = to
