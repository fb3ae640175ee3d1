"""Names of n-grams as UTF-8 bytes, from those of their words."""

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcmp, memcpy

import numpy as np


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
    with nogil:
        _name_sizes(ptr, children, last, numbers, parents, sizes, out_ptr_view)
    np.cumsum(out_ptr, out=out_ptr)
    out = np.empty(out_ptr_view[n_names], dtype=np.uint8)
    if len(out):
        out_view = out
        with nogil:
            _spell(letters, ptr, last, numbers, parents, n_words, out_ptr_view, &out_view[0])
    return out, out_ptr


cdef void _name_sizes(
    const int64_t[::1] ptr, const int64_t[::1] children, const int32_t[::1] last,
    const int32_t[::1] numbers, int32_t[::1] parents, int64_t[::1] sizes, int64_t[::1] out_ptr,
) noexcept nogil:
    """The parent of every n-gram, and the sizes of the names, shifted by one entry."""
    cdef Py_ssize_t g, c, n_words = ptr.shape[0] - 1
    for g in range(n_words):
        sizes[g] = ptr[g + 1] - ptr[g]
    for g in range(children.shape[0] - 1):
        for c in range(children[g], children[g + 1]):
            parents[c] = <int32_t> g
            sizes[c] = sizes[g] + 1 + ptr[last[c - n_words] + 1] - ptr[last[c - n_words]]
    for g in range(numbers.shape[0]):
        if numbers[g] >= 0:
            out_ptr[numbers[g] + 1] = sizes[g]


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
