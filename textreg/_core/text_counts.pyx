"""Feature ids to counts by document and sets by sentence, and what becomes of counts.

``ptr`` cuts the flat array before it: piece s is ``ids[ptr[s]:ptr[s + 1]]``.
"""

from libc.math cimport log, sqrt
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memmove, memset

import numpy as np

from textreg._core.threads import allowed, cuts_of, pieces_of, share, share_range

cdef extern from *:
    """
    #define TEXTREG_EMPTY 0xFFFFFFFFFFFFFFFFULL
    """
    const uint64_t EMPTY "TEXTREG_EMPTY"  # a slot without a key; no word is 0xFFFFFFFF


def renumber(const int32_t[::1] ids, const int64_t[::1] ptr, const int32_t[::1] new):
    """Replace every id by ``new[id]`` and drop it where that is below 0 or missing; ptr follows.

    ids: from 0 up.
    Returns ids int32 and ptr int64.
    """
    out = np.empty(ids.shape[0], dtype=np.int32)
    out_ptr = np.zeros(ptr.shape[0], dtype=np.int64)
    cdef int32_t[::1] out_view = out
    cdef int64_t[::1] out_ptr_view = out_ptr
    if ids.shape[0]:
        with nogil:
            renumber_ids(
                &ids[0], &ptr[0], ptr.shape[0] - 1, &new[0] if new.shape[0] else NULL,
                new.shape[0], &out_view[0], &out_ptr_view[0],
            )
    return out[:out_ptr_view[ptr.shape[0] - 1]], out_ptr


cdef void renumber_ids(
    const int32_t* ids, const int64_t* ptr, Py_ssize_t n, const int32_t* new, int64_t n_new,
    int32_t* out, int64_t* out_ptr,
) noexcept nogil:
    """See :func:`renumber`; n pieces. out: may be where the ids are."""
    cdef Py_ssize_t s, i
    cdef int64_t used = 0
    cdef int32_t id
    out_ptr[0] = 0
    for s in range(n):
        for i in range(ptr[s], ptr[s + 1]):
            id = new[ids[i]] if ids[i] < n_new else -1
            out[used] = id  # overwritten by the next where it is dropped
            used += id >= 0
        out_ptr[s + 1] = used


def document_frequencies(
    const int32_t[::1] ids, const int64_t[::1] ptr, Py_ssize_t n_features,
    const int64_t[::1] documents=None,
):
    """In how many documents, all or some, every feature occurs, int64; ids below 0 are passed over.

    Threads share the features; each reads all ids.
    """
    frequencies = np.zeros(n_features, dtype=np.int64)
    last = np.full(n_features, -1, dtype=np.int32)

    def some(begin, end):
        _frequencies(ids, ptr, documents, begin, end, last, frequencies)

    share_range(some, n_features, ids.shape[0], 1)
    return frequencies


cdef void _frequencies(
    const int32_t[::1] ids, const int64_t[::1] ptr, const int64_t[::1] documents, Py_ssize_t begin,
    Py_ssize_t end, int32_t[::1] last, int64_t[::1] frequencies,
):
    """See above, for the features from ``begin`` to ``end``."""
    cdef bint every = documents is None
    cdef Py_ssize_t i, row
    cdef int32_t d, id
    with nogil:
        for d in range(<int32_t> (ptr.shape[0] - 1 if every else documents.shape[0])):
            row = d if every else documents[d]
            for i in range(ptr[row], ptr[row + 1]):
                id = ids[i]
                if begin <= id < end and last[id] != d:
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
    cdef _Pieces rows = _Pieces()
    rows.ids, rows.ptr, rows.cuts = ids, ptr, cuts_view
    rows.indptr, rows.indices, rows.data = indptr_view, indices_view, data
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


cdef class _Pieces:
    """Rows in pieces: what each gives is put where its occurrences are."""

    cdef const int32_t[::1] ids
    cdef const int64_t[::1] ptr
    cdef const int64_t[::1] cuts
    cdef int64_t[::1] indptr  # of a piece, from 0
    cdef int32_t[::1] indices
    cdef double[::1] data  # empty: counts are not wanted
    cdef int32_t[:, ::1] counts
    cdef uint64_t[:, ::1] room
    cdef Py_ssize_t n_features

    def __call__(self, Py_ssize_t worker, Py_ssize_t piece):
        """The rows of a piece."""
        cdef Bits bits = bits_in(&self.room[worker, 0], self.n_features)
        cdef Py_ssize_t first = self.cuts[piece], last = self.cuts[piece + 1]
        cdef Py_ssize_t start = self.ptr[first]
        cdef const int32_t* ids = NULL
        cdef int32_t* counts = NULL
        cdef double* data = NULL
        if self.ids.shape[0]:
            ids = &self.ids[0]
        if self.data.shape[0]:
            counts = &self.counts[worker, 0]
            data = &self.data[start]
        with nogil:
            count_rows(
                ids, &self.ptr[first], last - first, counts, &bits, &self.indptr[first],
                &self.indices[start], data,
            )


cdef void count_rows(
    const int32_t* ids, const int64_t* ptr, Py_ssize_t n_rows, int32_t* counts, const Bits* bits,
    int64_t* indptr, int32_t* indices, double* data,
) noexcept nogil:
    """The distinct ids of every row, sorted, and how often each occurs; indptr[0] is 0.

    counts: of all features, whatever is in it; NULL, as data: not wanted.
    """
    cdef Py_ssize_t d, i, used = 0
    cdef int64_t before
    cdef int32_t id
    for d in range(n_rows):
        for i in range(ptr[d], ptr[d + 1]):
            id = ids[i]
            if counts == NULL:
                put(bits, id)
            elif holds(bits, id):
                counts[id] += 1
            else:
                put(bits, id)
                counts[id] = 1
        before = used
        used += take_all(bits, indices + used)
        if counts != NULL:
            for i in range(before, used):
                data[i] = counts[indices[i]]
        indptr[d + 1] = used


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
    """The length of every row of 1 + ln(count), float64; counts are whole numbers from 1 up."""
    norms = np.zeros(ptr.shape[0] - 1)
    cdef Py_ssize_t d, i, most = 0 if counts.shape[0] == 0 else int(np.max(counts))
    cdef double[::1] norms_view = norms
    cdef int64_t[::1] frequencies = np.zeros(most + 1, dtype=np.int64)
    with nogil:
        for d in range(ptr.shape[0] - 1):
            most = 0
            for i in range(ptr[d], ptr[d + 1]):
                frequencies[<int64_t> counts[i]] += 1
                most = max(most, <Py_ssize_t> counts[i])
            norms_view[d] = length_of(&frequencies[0], most)
    return norms


cdef double length_of(int64_t* frequencies, int64_t most) noexcept nogil:
    """The length of a row of 1 + ln(count) with so many of every count up to most, which are reset.

    Summed over the counts, so that it does not hang on the order of a row.
    """
    cdef int64_t c
    cdef double square = 0.0
    for c in range(1, most + 1):
        if frequencies[c]:
            square += frequencies[c] * (1.0 + log(c)) * (1.0 + log(c))
            frequencies[c] = 0
    return sqrt(square)


def gram_norms(
    const int32_t[::1] words, const int64_t[::1] ptr, const int64_t[::1] document_ptr,
    Py_ssize_t n,
):
    """The length of every document's row of 1 + ln(count), over all its n-grams of 1 to n words.

    words: not negative. document_ptr: int64, offsets of sentences. Returns float64, 0 for a
    document without words. A length depends on its own document only, to the last bit.
    """
    cdef Py_ssize_t n_documents = document_ptr.shape[0] - 1
    norms = np.empty(n_documents)
    cdef double[::1] norms_view = norms
    cdef bint fine
    if n_documents:
        with nogil:
            fine = norms_of(
                &words[0] if words.shape[0] else NULL, &ptr[0], &document_ptr[0], n_documents, n,
                &norms_view[0],
            )
        if not fine:
            raise MemoryError
    return norms


cdef bint norms_of(
    const int32_t* words, const int64_t* ptr, const int64_t* document_ptr, Py_ssize_t n_documents,
    Py_ssize_t n, double* norms,
) noexcept nogil:
    """See :func:`gram_norms`; False if there is no memory."""
    cdef Py_ssize_t d, room, longest = 0
    for d in range(n_documents):
        longest = max(longest, ptr[document_ptr[d + 1]] - ptr[document_ptr[d]])
    room = <Py_ssize_t> 1 << slot_bits(longest)
    cdef uint32_t* grams = <uint32_t*> malloc((longest + 1) * sizeof(uint32_t))
    cdef int64_t* frequencies = <int64_t*> calloc(longest + 1, sizeof(int64_t))
    cdef uint64_t* keys = <uint64_t*> malloc(room * sizeof(uint64_t))
    cdef int32_t* counts = <int32_t*> malloc(room * sizeof(int32_t))
    cdef bint fine = grams != NULL and frequencies != NULL and keys != NULL and counts != NULL
    if fine:
        count_grams(
            words, ptr, document_ptr, n_documents, n, grams, keys, counts, frequencies, norms
        )
    free(grams)
    free(frequencies)
    free(keys)
    free(counts)
    return fine


cdef inline int slot_bits(Py_ssize_t size) noexcept nogil:
    """The binary logarithm of the number of slots for ``size`` keys, a third of them empty."""
    cdef int bits = 1
    while <Py_ssize_t> 1 << bits < size + size // 2:
        bits += 1
    return bits


cdef void count_grams(
    const int32_t* words, const int64_t* ptr, const int64_t* document_ptr, Py_ssize_t n_documents,
    Py_ssize_t n, uint32_t* grams, uint64_t* keys, int32_t* counts, int64_t* frequencies,
    double* norms,
) noexcept nogil:
    """Count the k-grams of every document in a hash table, whose keys are pairs of the slot of the
    (k-1)-gram that a k-gram begins with and of its last word.

    grams: the slot of the (k-1)-gram that begins at every place. frequencies: the number of
    features with each count.
    """
    cdef Py_ssize_t d, s, i, k, start, occurrences
    cdef uint64_t key, slot, mask
    cdef int bits
    cdef int32_t c, most
    for d in range(n_documents):
        start = ptr[document_ptr[d]]
        occurrences = ptr[document_ptr[d + 1]] - start  # grams of the level before
        bits = slot_bits(occurrences)
        mask = (<uint64_t> 1 << bits) - 1
        for i in range(occurrences):
            grams[i] = 0
        most = 0
        for k in range(1, n + 1):
            if occurrences == 0:
                break
            occurrences = 0
            memset(keys, 0xFF, (mask + 1) * sizeof(uint64_t))
            for s in range(document_ptr[d], document_ptr[d + 1]):
                for i in range(ptr[s], ptr[s + 1] - k + 1):
                    key = <uint64_t> grams[i - start] << 32 | <uint32_t> words[i + k - 1]
                    # Fibonacci hashing (knuth1998, section 6.4): times 2^64 / golden ratio
                    slot = key * <uint64_t> 0x9E3779B97F4A7C15 >> (64 - bits)
                    while keys[slot] != key and keys[slot] != EMPTY:
                        slot = (slot + 1) & mask
                    if keys[slot] == EMPTY:
                        keys[slot] = key
                        counts[slot] = 0
                    c = counts[slot]
                    counts[slot] = c + 1
                    frequencies[c] -= 1  # [0] is never read
                    frequencies[c + 1] += 1
                    most = max(most, c + 1)
                    grams[i - start] = <uint32_t> slot
                    occurrences += 1
        norms[d] = length_of(frequencies, most)


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
    cdef Py_ssize_t d, i
    cdef int64_t to
    with nogil:
        for d in range(ptr.shape[0] - 1):
            to = place[d]
            for i in range(ptr[d], ptr[d + 1]):
                out_indices[to] = indices[i] + shift
                out_data[to] = data[i]
                to += 1
            place[d] = to
