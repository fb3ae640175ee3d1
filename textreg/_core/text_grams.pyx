"""n-grams of a stream of words, without their spellings.

A k-gram is identified by the (k-1)-gram that it begins with, its parent, and its last word. The
k-grams of one parent are numbered together, sorted by last word: parent a has the k-grams
``child_ptr[a]:child_ptr[a + 1]``, and ``last`` holds their last words. So if words are numbered in
order of name, n-grams are too.

``parents`` and ``words`` int32: the (k-1)-gram that begins at every place of the stream, and the
word there, negative where none is wanted. ``ptr`` int64 has the offsets of sentences, which n-grams
do not cross.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcmp, memcpy

from textreg._core.text_counts cimport Bits, bits_in, put, take_all, words_for

import numpy as np


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
    cdef int32_t[::1] ids_view = ids, last_view, by_parent
    cdef int64_t[::1] starts_view = starts, child_view = child_ptr, cursor
    cdef uint64_t[::1] room = np.zeros(words_for(n_words), dtype=np.uint64)
    cdef Bits bits = bits_in(&room[0], n_words)
    cdef int32_t[::1] number = np.full(n_words, -1, dtype=np.int32)
    cdef Py_ssize_t s, i, n = ids.shape[0]
    cdef int64_t used
    with nogil:
        # At first, ids are the last words; starts, those of every parent, are shifted by one entry.
        for s in range(ptr.shape[0] - 1):
            for i in range(ptr[s], ptr[s + 1] - k + 1):
                if parents[i] >= 0 and words[i + k - 1] >= 0:
                    ids_view[i] = words[i + k - 1]
                    starts_view[parents[i] + 1] += 1
    np.cumsum(starts, out=starts)
    # One more place than there may be, so that there is a first one.
    by_parent = np.empty(starts_view[n_parents] + 1, dtype=np.int32)
    last = np.empty(starts_view[n_parents] + 1, dtype=np.int32)
    last_view = last
    cursor = starts.copy()
    with nogil:
        # Sorted by counting, in linear time; in the end the same the other way round.
        for i in range(n):
            if ids_view[i] >= 0:
                by_parent[cursor[parents[i]]] = ids_view[i]
                cursor[parents[i]] += 1
        used = _number_children(starts_view, by_parent, &bits, number, child_view, &last_view[0])
        for i in range(n):
            if ids_view[i] >= 0:
                ids_view[i] = by_parent[starts_view[parents[i]]]
                starts_view[parents[i]] += 1
    return ids, child_ptr, last[:used].copy()


cdef int64_t _number_children(
    const int64_t[::1] starts, int32_t[::1] words, const Bits* bits, int32_t[::1] number,
    int64_t[::1] child_ptr, int32_t* last,
) noexcept nogil:
    """Number the k-grams of every parent, and put the number in the place of every last word.

    number: of the k-grams of one parent, by last word.
    """
    cdef Py_ssize_t parent
    cdef int64_t i, used = 0
    for parent in range(starts.shape[0] - 1):
        for i in range(starts[parent], starts[parent + 1]):
            put(bits, words[i])
        used += take_all(bits, last + used)
        child_ptr[parent + 1] = used
        for i in range(child_ptr[parent], used):
            number[last[i]] = <int32_t> i
        for i in range(starts[parent], starts[parent + 1]):
            words[i] = number[words[i]]
    return used


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


def gram_names(
    const uint8_t[::1] letters, const int64_t[::1] ptr, const int64_t[::1] children,
    const int32_t[::1] last, const int32_t[::1] numbers,
):
    """The names of the numbered n-grams, in order of their numbers: words with a space between.

    All levels are one after the other: word w, spelled ``letters[ptr[w]:ptr[w + 1]]``, is n-gram w,
    and n-gram g has the children ``children[g]`` to ``children[g + 1]``, which follow it. last: the
    last word of every n-gram that is no word. numbers: of all, below 0 for those without a name.

    Returns uint8 and the offsets int64.
    """
    cdef Py_ssize_t n_words = ptr.shape[0] - 1, total = numbers.shape[0]
    cdef Py_ssize_t n_names = np.count_nonzero(np.asarray(numbers) >= 0)
    cdef int32_t[::1] parents = np.full(total, -1, dtype=np.int32)
    cdef int64_t[::1] sizes = np.zeros(total, dtype=np.int64)
    out_ptr = np.zeros(n_names + 1, dtype=np.int64)
    cdef int64_t[::1] out_ptr_view = out_ptr
    cdef uint8_t[::1] out_view
    cdef Py_ssize_t g, c
    with nogil:
        # The parent of every n-gram, and the sizes of the names, shifted by one entry.
        for g in range(n_words):
            sizes[g] = ptr[g + 1] - ptr[g]
        for g in range(children.shape[0] - 1):
            for c in range(children[g], children[g + 1]):
                parents[c] = <int32_t> g
                sizes[c] = sizes[g] + 1 + ptr[last[c - n_words] + 1] - ptr[last[c - n_words]]
        for g in range(total):
            if numbers[g] >= 0:
                out_ptr_view[numbers[g] + 1] = sizes[g]
    np.cumsum(out_ptr, out=out_ptr)
    out = np.empty(out_ptr_view[n_names], dtype=np.uint8)
    if len(out):
        out_view = out
        with nogil:
            _spell(letters, ptr, last, numbers, parents, n_words, out_ptr_view, &out_view[0])
    return out, out_ptr


cdef void _spell(
    const uint8_t[::1] letters, const int64_t[::1] ptr, const int32_t[::1] last,
    const int32_t[::1] numbers, const int32_t[::1] parents, Py_ssize_t n_words,
    const int64_t[::1] out_ptr, uint8_t* out,
) noexcept nogil:
    """Write the names, each from its last word to its first."""
    cdef Py_ssize_t g, at
    cdef int64_t end, size
    cdef int32_t word
    for g in range(numbers.shape[0]):
        if numbers[g] < 0:
            continue
        end = out_ptr[numbers[g] + 1]
        at = g
        while True:
            word = <int32_t> at if at < n_words else last[at - n_words]
            size = ptr[word + 1] - ptr[word]
            end -= size
            if size:
                memcpy(out + end, &letters[ptr[word]], size)
            if at < n_words:
                break
            end -= 1
            out[end] = c" "
            at = parents[at]


def in_order(const uint8_t[::1] names, const int64_t[::1] ptr):
    """Whether every name comes before the next one by its bytes; then all are distinct."""
    cdef int64_t i, k, size, n = ptr.shape[0] - 1
    cdef bint holds = True
    with nogil:
        for i in range(n - 1):
            size = min(ptr[i + 1] - ptr[i], ptr[i + 2] - ptr[i + 1])
            k = 0
            while k < size and names[ptr[i] + k] == names[ptr[i + 1] + k]:
                k += 1
            if k < size:
                holds = names[ptr[i] + k] < names[ptr[i + 1] + k]
            else:
                holds = ptr[i + 1] - ptr[i] < ptr[i + 2] - ptr[i + 1]
            if not holds:
                break
    return bool(holds)


def merge_names(
    const uint8_t[::1] letters, const int64_t[::1] ptr, const uint8_t[::1] more,
    const int64_t[::1] more_ptr,
):
    """Where the names of two lists are in the sorted list of all, without repetitions.

    Both lists must be sorted by bytes, and have no name twice. Returns int64 for each of them.
    """
    cdef int64_t i = 0, j = 0, used = 0, n = ptr.shape[0] - 1, m = more_ptr.shape[0] - 1
    cdef int64_t one, other
    cdef int order
    places = np.empty(n, dtype=np.int64)
    more_places = np.empty(m, dtype=np.int64)
    cdef int64_t[::1] places_view = places, more_view = more_places
    with nogil:
        while i < n or j < m:
            if i == n or j == m:
                order = -1 if j == m else 1
            else:
                one = ptr[i + 1] - ptr[i]
                other = more_ptr[j + 1] - more_ptr[j]
                order = 0
                if one and other:
                    order = memcmp(&letters[ptr[i]], &more[more_ptr[j]], min(one, other))
                if order == 0:
                    order = (one > other) - (one < other)
            if order <= 0:
                places_view[i] = used
                i += 1
            if order >= 0:
                more_view[j] = used
                j += 1
            used += 1
    return places, more_places


def number_grams(const int64_t[::1] children, const uint8_t[::1] keep, Py_ssize_t n_words):
    """Number the n-grams to keep in order of name, int32: -1 for others.

    All levels are one after the other, the ``n_words`` words first, and n-gram g has the children
    ``children[g]`` to ``children[g + 1]``; those of the last level have none.
    """
    numbers = np.full(keep.shape[0], -1, dtype=np.int32)
    cdef Py_ssize_t inner = children.shape[0] - 1
    cdef int32_t[::1] numbers_view = numbers
    # Those that are not done: one on each level, and the end of its siblings.
    cdef int64_t[::1] gram = np.empty(inner + 2, dtype=np.int64)
    cdef int64_t[::1] end = np.empty(inner + 2, dtype=np.int64)
    cdef int64_t g
    cdef Py_ssize_t level = 0
    cdef int32_t used = 0
    with nogil:
        gram[0] = 0
        end[0] = n_words
        while level >= 0:
            g = gram[level]
            if g == end[level]:
                level -= 1
                continue
            gram[level] += 1
            if keep[g]:
                numbers_view[g] = used
                used += 1
            if g < inner:
                level += 1
                gram[level] = children[g]
                end[level] = children[g + 1]
    return numbers
