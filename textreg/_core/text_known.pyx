"""Known words and character n-grams, found in new texts without a Python object for any.

Names are UTF-8 bytes one after another: name i is ``names[ptr[i]:ptr[i + 1]]``. They are found by
open addressing: words by the hash of their blocks of eight bytes, as the scanner has read them
(``text_table``), and character n-grams as nodes of a tree, as in ``text_chars``.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from textreg._core.text_spelling cimport mixed
from textreg._core.text_table cimport Table

import numpy as np

from textreg._core.text_chars import sizes

cdef extern from *:
    """
    #define TEXTREG_NO_KEY 0xFFFFFFFFFFFFFFFFULL
    """
    const uint64_t NO_KEY "TEXTREG_NO_KEY"  # of a free slot of a tree; no character is that large

cdef enum:
    LOW = 0xFFFFFFFF

cdef struct Child:  # a slot of a tree
    uint64_t key  # the parent and the last character
    uint64_t node

cdef struct Children:
    Child* slots
    int bits  # there are 2**bits slots
    int64_t size


def index_names(const uint8_t[::1] names, const int64_t[::1] ptr):
    """Slots that find names, uint64: half of a hash and the number from 1 up; 0 is free.

    Returns None if two names are the same.
    """
    cdef int64_t n = ptr.shape[0] - 1
    cdef int bits = bits_for(n)
    slots = np.zeros(<int64_t> 1 << bits, dtype=np.uint64)
    cdef uint64_t[::1] view = slots
    cdef bint distinct
    with nogil:
        distinct = fill_slots(names, ptr, view, bits)
    return slots if distinct else None


cdef int bits_for(int64_t n) noexcept nogil:
    """The binary logarithm of a number of slots of which n take half at most."""
    cdef int bits = 2
    while <int64_t> 1 << bits < 2 * n:
        bits += 1
    return bits


cdef bint fill_slots(
    const uint8_t[::1] names, const int64_t[::1] ptr, uint64_t[::1] slots, int bits
) noexcept nogil:
    cdef int64_t i, k, other
    cdef uint64_t hash, where, first, mask = (<uint64_t> 1 << bits) - 1
    cdef uint32_t rest
    for i in range(ptr.shape[0] - 1):
        first = block_at(names, ptr[i], ptr[i + 1])
        rest = 0
        for k in range(ptr[i] + 8, ptr[i + 1], 8):
            rest = mixed(rest, block_at(names, k, ptr[i + 1]))
        hash = hashed(first, rest)
        where = hash >> (64 - bits)
        while slots[where]:
            if slots[where] >> 32 == hash & LOW:
                other = <int64_t> (slots[where] & LOW) - 1
                if ptr[other + 1] - ptr[other] == ptr[i + 1] - ptr[i]:
                    k = 0
                    while k < ptr[i + 1] - ptr[i] and names[ptr[i] + k] == names[ptr[other] + k]:
                        k += 1
                    if k == ptr[i + 1] - ptr[i]:
                        return False
            where = (where + 1) & mask
        slots[where] = (hash & LOW) << 32 | <uint64_t> (i + 1)
    return True


cdef inline uint64_t hashed(uint64_t first, uint32_t rest) noexcept nogil:
    cdef uint64_t key = first ^ (<uint64_t> rest << 16)
    return (key ^ (key >> 32)) * <uint64_t> 0x9E3779B97F4A7C15


cdef inline uint64_t block_at(const uint8_t[::1] names, int64_t at, int64_t end) noexcept nogil:
    """Up to eight bytes of a name that ends at end, the first one lowest, and zeros after it."""
    cdef uint64_t block = 0
    cdef int64_t k
    for k in range(min(8, end - at)):
        block |= <uint64_t> names[at + k] << 8 * k
    return block


cdef void find_words(
    const Table* table, const uint64_t[::1] slots, const uint8_t[::1] names,
    const int64_t[::1] ptr, int32_t* numbers,
) noexcept nogil:
    """Write the number of every word of a table, -1 of those that are not known."""
    cdef int64_t w, k, n, known, at, end
    cdef const uint64_t* blocks
    cdef uint64_t hash, where, mask = slots.shape[0] - 1
    cdef uint32_t rest
    cdef int bits = 0
    while <int64_t> 1 << bits < slots.shape[0]:
        bits += 1
    for w in range(table.size):
        blocks = table.blocks + table.starts[w]
        n = table.starts[w + 1] - table.starts[w]
        rest = 0
        for k in range(1, n):
            rest = mixed(rest, blocks[k])
        hash = hashed(blocks[0], rest)
        where = hash >> (64 - bits)
        numbers[w] = -1
        while slots[where]:
            if slots[where] >> 32 == hash & LOW:
                known = <int64_t> (slots[where] & LOW) - 1
                at = ptr[known]
                end = ptr[known + 1]
                # Words hold no NUL, and names may: with zeros after it a word is no such name.
                if (end - at + 7) // 8 == n and names[end - 1]:
                    k = 0
                    while k < n and blocks[k] == block_at(names, at + 8 * k, end):
                        k += 1
                    if k == n:
                        numbers[w] = <int32_t> known
                        break
            where = (where + 1) & mask


def index_grams(const uint8_t[::1] names, const int64_t[::1] ptr):
    """A tree that finds the names of character n-grams, none of them empty.

    Returns its slots, uint64 (slots, 2), pairs of a key and a node, with all ones for a key where
    they are free; and the name of every node, int32, -1 for none. None if two names are the same.
    """
    cdef int64_t most = count_nodes(names, ptr)
    slots = np.full((<int64_t> 1 << bits_for(most), 2), NO_KEY, dtype=np.uint64)
    name_of = np.empty(most, dtype=np.int32)
    cdef uint64_t[:, ::1] slots_view = slots
    cdef int32_t[::1] name_view = name_of
    cdef int64_t size
    if most > 0x7FFFFFFF:
        raise MemoryError
    with nogil:
        size = fill_tree(names, ptr, <Child*> &slots_view[0, 0], slots_view.shape[0], name_view)
    return None if size < 0 else (slots, name_of[:size].copy())


cdef int64_t count_nodes(const uint8_t[::1] names, const int64_t[::1] ptr) noexcept nogil:
    """The number of nodes of the tree of names if these are sorted; else at least that."""
    cdef int64_t i, k, same, total = 1, before = 0
    for i in range(ptr.shape[0] - 1):
        same = 0
        while (
            same < min(ptr[i + 1] - ptr[i], ptr[i] - before)
            and names[ptr[i] + same] == names[before + same]
        ):
            same += 1
        while same and same < ptr[i + 1] - ptr[i] and names[ptr[i] + same] & 0xC0 == 0x80:
            same -= 1  # to where a character begins
        for k in range(ptr[i] + same, ptr[i + 1]):
            total += names[k] & 0xC0 != 0x80
        before = ptr[i]
    return total


cdef int64_t fill_tree(
    const uint8_t[::1] names, const int64_t[::1] ptr, Child* slots, int64_t n_slots,
    int32_t[::1] name_of,
) noexcept nogil:
    """The number of nodes; below 0 if two names are the same."""
    cdef int64_t i, at, size = 1
    cdef uint64_t key, node
    cdef uint32_t c
    cdef Child* slot
    name_of[0] = -1
    for i in range(ptr.shape[0] - 1):
        at = ptr[i]
        node = 0
        while at < ptr[i + 1]:
            at = decode(names, at, ptr[i + 1], &c)
            key = node << 32 | c
            slot = slot_of(slots, n_slots, key)
            if slot.key == NO_KEY:
                slot.key = key
                slot.node = size
                name_of[size] = -1
                size += 1
            node = slot.node
        if name_of[node] >= 0:
            return -1
        name_of[node] = <int32_t> i
    return size


cdef inline int64_t decode(
    const uint8_t[::1] names, int64_t at, int64_t end, uint32_t* c
) noexcept nogil:
    """Read a character of UTF-8, and where the next one begins, which is at most end."""
    cdef uint32_t lead = names[at]
    cdef int more = (lead >= 0xC0) + (lead >= 0xE0) + (lead >= 0xF0)
    c[0] = lead & (0x7F if lead < 0x80 else 0x3F >> more)
    at += 1
    while more and at < end:
        c[0] = c[0] << 6 | names[at] & 0x3F
        at += 1
        more -= 1
    return at


cdef inline Child* slot_of(Child* slots, int64_t n_slots, uint64_t key) noexcept nogil:
    """The slot of a key, or the free one where it belongs."""
    cdef uint64_t mask = n_slots - 1
    cdef uint64_t where = key * <uint64_t> 0x9E3779B97F4A7C15
    where = (where ^ where >> 32) & mask
    while slots[where].key != key and slots[where].key != NO_KEY:
        where = (where + 1) & mask
    return &slots[where]


def find_grams(
    const uint32_t[::1] spelled, const int64_t[::1] ptr, Py_ssize_t shortest, Py_ssize_t longest,
    const uint64_t[:, ::1] slots, int64_t n_nodes,
):
    """The n-grams of all runs, as those of ``text_chars.grams``, as nodes, int32; and the offsets
    of runs in these, int64.

    ``slots`` are those of :func:`index_grams`. Numbers from ``n_nodes`` up are those of n-grams
    that are not in the tree.
    """
    cdef Children more
    cdef int32_t[::1] ids_view
    out_ptr = np.zeros(ptr.shape[0], dtype=np.int64)
    sizes(ptr, shortest, longest).cumsum(out=out_ptr[1:])
    cdef int64_t total = out_ptr[ptr.shape[0] - 1]
    cdef bint fine = open_children(&more, 10)
    ids = np.empty(total, dtype=np.int32)
    try:
        if not fine:
            raise MemoryError
        if total:
            ids_view = ids
            with nogil:
                fine = read_runs(
                    spelled, ptr, shortest, longest, <Child*> &slots[0, 0], slots.shape[0],
                    n_nodes, &more, &ids_view[0],
                )
            if not fine:
                raise MemoryError
    finally:
        free(more.slots)
    return ids, out_ptr


cdef bint open_children(Children* more, int bits) noexcept nogil:
    """Initialize an empty table, whose slots must be freed even if this fails."""
    more.bits = bits
    more.size = 0
    more.slots = <Child*> malloc(sizeof(Child) << bits)
    if more.slots == NULL:
        return False
    memset(more.slots, 0xFF, sizeof(Child) << bits)
    return True


cdef bint read_runs(
    const uint32_t[::1] spelled, const int64_t[::1] ptr, Py_ssize_t shortest, Py_ssize_t longest,
    Child* slots, int64_t n_slots, int64_t n_nodes, Children* more, int32_t* ids,
) noexcept nogil:
    """Write the node of every n-gram; False if there is no memory."""
    cdef Py_ssize_t r, i, k, end, least
    cdef uint64_t key, node
    cdef Child* slot
    for r in range(ptr.shape[0] - 1):
        end = ptr[r + 1]
        least = min(shortest, end - ptr[r])
        for i in range(ptr[r], end - least + 1):
            node = 0
            for k in range(min(longest, end - i)):
                key = node << 32 | spelled[i + k]
                slot = NULL
                if node < <uint64_t> n_nodes:
                    slot = slot_of(slots, n_slots, key)
                if slot == NULL or slot.key == NO_KEY:
                    slot = slot_of(more.slots, <int64_t> 1 << more.bits, key)
                node = slot.node
                if slot.key == NO_KEY:
                    if n_nodes + more.size >= 0x7FFFFFFF:
                        return False
                    node = n_nodes + more.size
                    slot.key = key
                    slot.node = node
                    more.size += 1
                    if more.size > (<int64_t> 1 << more.bits) // 2 and not grow(more):
                        return False
                if k + 1 >= least:
                    ids[0] = <int32_t> node
                    ids += 1
    return True


cdef bint grow(Children* more) noexcept nogil:
    """Double the slots."""
    cdef Children larger
    cdef int64_t s
    if not open_children(&larger, more.bits + 1):
        return False
    for s in range(<int64_t> 1 << more.bits):
        if more.slots[s].key != NO_KEY:
            slot_of(larger.slots, <int64_t> 1 << larger.bits, more.slots[s].key)[0] = more.slots[s]
    larger.size = more.size
    free(more.slots)
    more[0] = larger
    return True


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
