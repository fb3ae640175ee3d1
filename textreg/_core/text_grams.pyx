"""n-grams of a stream of words, without their spellings.

A k-gram is identified by the (k-1)-gram that it begins with, its parent, and its last word. The
k-grams of one parent are numbered together, sorted by last word: parent a has the k-grams
``child_ptr[a]:child_ptr[a + 1]``, and ``last`` holds their last words. So if words are numbered in
order of name, n-grams are too.

``parents`` and ``words`` int32: the (k-1)-gram that begins at every place of the stream, and the
word there, negative where none is wanted. ``ptr`` int64 has the offsets of sentences, which n-grams
do not cross.
"""

from libc.math cimport log, sqrt
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from textreg._core.text_bits cimport Bits, bits_in, put, take_all, words_for

import numpy as np

cdef extern from *:
    """
    #define TEXTREG_EMPTY 0xFFFFFFFFFFFFFFFFULL
    """
    const uint64_t EMPTY "TEXTREG_EMPTY"  # a slot without a key; no word is 0xFFFFFFFF


def grams(
    const int32_t[::1] parents, const int32_t[::1] words, const int64_t[::1] ptr, Py_ssize_t k,
    Py_ssize_t n_parents, Py_ssize_t n_words,
):
    """All k-grams, k from 2, that occur.

    Returns ids int32, the k-gram that begins at every place or -1; child_ptr int64; last int32.
    """
    ids = np.full(words.shape[0], -1, dtype=np.int32)
    starts = np.zeros(n_parents + 1, dtype=np.int64)
    child_ptr = np.zeros(n_parents + 1, dtype=np.int64)
    cdef int32_t[::1] ids_view = ids, last_view
    cdef int64_t[::1] starts_view = starts, child_view = child_ptr
    cdef uint64_t[::1] room = np.zeros(words_for(n_words), dtype=np.uint64)
    cdef Bits bits = bits_in(&room[0], n_words)
    cdef int32_t[::1] number = np.full(n_words, -1, dtype=np.int32)
    cdef int32_t[::1] sorted_words
    cdef int64_t[::1] cursor
    cdef int64_t used
    with nogil:
        _count_children(parents, words, ptr, k, starts_view)
    np.cumsum(starts, out=starts)
    # One more place than there may be, so that there is a first one.
    sorted_words = np.empty(starts_view[n_parents] + 1, dtype=np.int32)
    last = np.empty(starts_view[n_parents] + 1, dtype=np.int32)
    last_view = last
    cursor = starts.copy()
    with nogil:
        _by_parent(parents, words, ptr, k, cursor, sorted_words)
        used = _number_children(
            starts_view, sorted_words, &bits, number, child_view, &last_view[0]
        )
        _number_places(parents, words, ptr, k, starts_view, sorted_words, ids_view)
    return ids, child_ptr, last[:used].copy()


cdef void _count_children(
    const int32_t[::1] parents, const int32_t[::1] words, const int64_t[::1] ptr, Py_ssize_t k,
    int64_t[::1] sizes,
) noexcept nogil:
    """The number of places of every parent, shifted by one entry."""
    cdef Py_ssize_t s, i
    for s in range(ptr.shape[0] - 1):
        for i in range(ptr[s], ptr[s + 1] - k + 1):
            if parents[i] >= 0 and words[i + k - 1] >= 0:
                sizes[parents[i] + 1] += 1


cdef void _by_parent(
    const int32_t[::1] parents, const int32_t[::1] words, const int64_t[::1] ptr, Py_ssize_t k,
    int64_t[::1] cursor, int32_t[::1] sorted_words,
) noexcept nogil:
    """The last words of all places, sorted by the parent there: a counting sort, in linear time."""
    cdef Py_ssize_t s, i
    for s in range(ptr.shape[0] - 1):
        for i in range(ptr[s], ptr[s + 1] - k + 1):
            if parents[i] >= 0 and words[i + k - 1] >= 0:
                sorted_words[cursor[parents[i]]] = words[i + k - 1]
                cursor[parents[i]] += 1


cdef int64_t _number_children(
    const int64_t[::1] starts, int32_t[::1] sorted_words, const Bits* bits, int32_t[::1] number,
    int64_t[::1] child_ptr, int32_t* last,
) noexcept nogil:
    """Number the k-grams of every parent, and put the number in the place of every last word.

    number: of the k-grams of one parent, by last word.
    """
    cdef Py_ssize_t parent
    cdef int64_t i, used = 0
    for parent in range(starts.shape[0] - 1):
        for i in range(starts[parent], starts[parent + 1]):
            put(bits, sorted_words[i])
        used += take_all(bits, last + used)
        child_ptr[parent + 1] = used
        for i in range(child_ptr[parent], used):
            number[last[i]] = <int32_t> i
        for i in range(starts[parent], starts[parent + 1]):
            sorted_words[i] = number[sorted_words[i]]
    return used


cdef void _number_places(
    const int32_t[::1] parents, const int32_t[::1] words, const int64_t[::1] ptr, Py_ssize_t k,
    int64_t[::1] cursor, const int32_t[::1] numbers, int32_t[::1] ids,
) noexcept nogil:
    """The k-gram of every place: as :func:`_by_parent`, the other way round."""
    cdef Py_ssize_t s, i
    for s in range(ptr.shape[0] - 1):
        for i in range(ptr[s], ptr[s + 1] - k + 1):
            if parents[i] >= 0 and words[i + k - 1] >= 0:
                ids[i] = numbers[cursor[parents[i]]]
                cursor[parents[i]] += 1


def find_grams(
    const int32_t[::1] parents, const int32_t[::1] words, const int64_t[::1] ptr, Py_ssize_t k,
    const int64_t[::1] child_ptr, const int32_t[::1] last,
):
    """The known k-gram that begins at every place of the stream, int32, -1 where there is none."""
    ids = np.empty(words.shape[0], dtype=np.int32)
    cdef int32_t[::1] ids_view = ids
    if words.shape[0]:
        with nogil:
            find_level(
                &parents[0], &words[0], &ptr[0], ptr.shape[0] - 1, k, &child_ptr[0],
                &last[0] if last.shape[0] else NULL, &ids_view[0],
            )
    return ids


cdef void find_level(
    const int32_t* parents, const int32_t* words, const int64_t* ptr, Py_ssize_t n_sentences,
    Py_ssize_t k, const int64_t* child_ptr, const int32_t* last, int32_t* ids,
) noexcept nogil:
    """See :func:`find_grams`."""
    cdef Py_ssize_t s, i
    cdef int64_t low, high, middle, end
    cdef int32_t word
    for i in range(ptr[n_sentences]):
        ids[i] = -1
    for s in range(n_sentences):
        for i in range(ptr[s], ptr[s + 1] - k + 1):
            word = words[i + k - 1]
            if parents[i] < 0 or word < 0:
                continue
            low = child_ptr[parents[i]]
            high = end = child_ptr[parents[i] + 1]
            while low < high:
                middle = (low + high) // 2
                if last[middle] < word:
                    low = middle + 1
                else:
                    high = middle
            if low < end and last[low] == word:
                ids[i] = <int32_t> low


def insert_ngrams(list streams, list numbers, const int64_t[::1] ptr):
    """Interleave the numbered n-grams of all levels, place by place, by length.

    streams: of every level, the n-gram that begins at every place, int32, or below 0. numbers: of
    every level, what its n-grams are called, int32; those below 0 are left out. Returns ids int32
    and the new ptr int64.
    """
    cdef Py_ssize_t k, n_places = ptr[ptr.shape[0] - 1]
    cdef const int32_t[::1] stream, names
    cdef Level levels[MOST_LEVELS]
    if len(streams) > MOST_LEVELS or len(streams) != len(numbers):
        raise ValueError(f"{len(streams)} streams and the numbers of {len(numbers)} levels")
    for k in range(len(streams)):
        stream = streams[k]
        names = numbers[k]
        if stream.shape[0] != n_places:
            raise ValueError(f"stream {k} has {stream.shape[0]} places, not {n_places}")
        levels[k] = Level(NULL, NULL)
        if n_places:
            levels[k].stream = &stream[0]
        if names.shape[0]:
            levels[k].numbers = &names[0]
    out = np.empty(len(streams) * n_places, dtype=np.int32)
    out_ptr = np.zeros(ptr.shape[0], dtype=np.int64)
    cdef int32_t[::1] out_view = out
    cdef int64_t[::1] out_ptr_view = out_ptr
    cdef Py_ssize_t n_levels = len(streams)
    if len(out):
        with nogil:
            interleave(
                levels, n_levels, &ptr[0], ptr.shape[0] - 1, &out_view[0], &out_ptr_view[0]
            )
    out.resize(out_ptr_view[ptr.shape[0] - 1], refcheck=False)  # the view is not used again
    return out, out_ptr


cdef void interleave(
    const Level* levels, Py_ssize_t n_levels, const int64_t* ptr, Py_ssize_t n_sentences,
    int32_t* out, int64_t* out_ptr,
) noexcept nogil:
    """See :func:`insert_ngrams`; out_ptr[0] is 0."""
    cdef Py_ssize_t s, i, k
    cdef int32_t id
    cdef int64_t used = 0
    for s in range(n_sentences):
        for i in range(ptr[s], ptr[s + 1]):
            for k in range(n_levels):
                id = levels[k].stream[i]
                if id >= 0 and levels[k].numbers[id] >= 0:
                    out[used] = levels[k].numbers[id]
                    used += 1
        out_ptr[s + 1] = used


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
    features with each count; summing over these makes the sum independent of the features' order.
    """
    cdef Py_ssize_t d, s, i, k, start, occurrences
    cdef uint64_t key, slot, mask
    cdef int bits
    cdef int32_t c, most
    cdef double square
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
        square = 0.0
        for c in range(1, most + 1):
            if frequencies[c]:
                square += frequencies[c] * (1.0 + log(c)) * (1.0 + log(c))
                frequencies[c] = 0
        norms[d] = sqrt(square)
