"""Known character n-grams, found in new texts as nodes of a tree (``text_tree``).

The children of a node have numbers one after another. Which characters they end with is told by a
mask of 64 bits, one for each of the commonest characters, and the number of bits below that of a
character tells which child it is: one look at a node finds it. The few children by other
characters follow, and a hash table finds them.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

from textreg._core.text_tree cimport (
    NO_KEY, Child, Children, child, close_children, key_of, open_children, slot_of, walk,
)

import numpy as np

cdef struct Search:
    KnownGrams known
    Children more  # those that are not known


def index_grams(const uint8_t[::1] names, const int64_t[::1] ptr):
    """A tree that finds the names of character n-grams, none of them empty.

    Returns ``classes`` uint8, the bit of every character, 64 for those without one and all beyond;
    ``nodes`` uint64 (nodes, 2), for every node that is not below all parents its mask and its first
    child; ``rest`` uint64 (slots, 2), pairs of a key and a node for other characters, with all ones
    for a key where they are free; and the name of every node, int32, -1 for none. None if two names
    are the same.
    """
    cdef int64_t most = count_nodes(names, ptr), size
    cdef Children tree
    if most > 0x7FFFFFFF:
        raise MemoryError
    parents = np.empty(most, dtype=np.int32)
    characters = np.empty(most, dtype=np.uint32)
    name_of = np.empty(most, dtype=np.int32)
    cdef int32_t[::1] parent_view = parents, name_view = name_of
    cdef uint32_t[::1] character_view = characters
    try:
        if not open_children(&tree, bits_for(most), 1):
            raise MemoryError
        with nogil:
            size = fill_tree(names, ptr, &tree, parent_view, character_view, name_view)
    finally:
        close_children(&tree)
    if size < 0:
        return None
    return _in_levels(parents[:size], characters[:size], name_of[:size])


cdef int bits_for(int64_t n) noexcept nogil:
    """The binary logarithm of a number of slots of which n take half at most."""
    cdef int bits = 2
    while <int64_t> 1 << bits < 2 * n:
        bits += 1
    return bits


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
    const uint8_t[::1] names, const int64_t[::1] ptr, Children* tree, int32_t[::1] parents,
    uint32_t[::1] characters, int32_t[::1] name_of,
) noexcept nogil:
    """Number the nodes in order of first occurrence; below 0 if two names are the same."""
    cdef int64_t i, at, size
    cdef int32_t node, parent
    cdef uint32_t c
    name_of[0] = -1
    parents[0] = 0
    characters[0] = 0
    for i in range(ptr.shape[0] - 1):
        at = ptr[i]
        node = 0
        while at < ptr[i + 1]:
            at = decode(names, at, ptr[i + 1], &c)
            parent = node
            size = tree.next
            node = child(tree, parent, c)  # there is room for all
            if node == size:
                parents[node] = parent
                characters[node] = c
                name_of[node] = -1
        if name_of[node] >= 0:
            return -1
        name_of[node] = <int32_t> i
    return tree.next


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


def _in_levels(parents, characters, name_of):
    """What :func:`index_grams` returns, of nodes in any order where parents come first.

    The children of all nodes of a level follow one another, those of a node in the order of their
    bits and then in the given one.
    """
    counts = np.bincount(characters[1:])
    present = np.flatnonzero(counts)
    common = present[np.argsort(-counts[present], kind="stable")][:COMMON]
    classes = np.full(common.max(initial=-1) + 1, COMMON, dtype=np.uint8)
    classes[common] = np.arange(len(common), dtype=np.uint8)
    class_of = np.full(len(parents), COMMON, dtype=np.uint8)
    known = characters < len(classes)
    class_of[known] = classes[characters[known]]
    nodes = np.zeros((len(parents), 2), dtype=np.uint64)
    new = np.zeros(len(parents), dtype=np.int32)
    cdef int64_t n_parents = number_nodes(parents, class_of, nodes, new)
    by_number = np.zeros((n_parents, 2), dtype=np.uint64)
    inner = new < n_parents
    by_number[new[inner]] = nodes[inner]
    names = np.empty_like(name_of)
    names[new] = name_of
    others = np.flatnonzero(class_of[1:] == COMMON) + 1
    rest = np.full((<int64_t> 1 << bits_for(len(others)), 2), NO_KEY, dtype=np.uint64)
    hash_nodes(new[parents[others]], characters[others], new[others], rest)
    return classes, by_number, rest, names


cdef int64_t number_nodes(
    const int32_t[::1] parents, const uint8_t[::1] class_of, uint64_t[:, ::1] nodes,
    int32_t[::1] new,
):
    """The masks and first children of all nodes, and their numbers.

    Returns the number from which on no node has a child.
    """
    cdef Py_ssize_t n, k, size = parents.shape[0]
    cdef int32_t parent
    cdef int64_t first = 1, last = 0, below
    cdef uint64_t bit
    cdef int32_t[::1] level = np.zeros(size, dtype=np.int32)
    cdef int32_t[::1] others = np.zeros(size, dtype=np.int32)
    cdef int64_t[::1] starts = np.zeros(size + 1, dtype=np.int64)
    cdef int32_t[::1] order = np.empty(size, dtype=np.int32)
    with nogil:
        starts[1] = 1
        for n in range(1, size):
            parent = parents[n]
            level[n] = level[parent] + 1
            starts[level[n] + 1] += 1
            if class_of[n] < COMMON:
                nodes[parent, 0] |= <uint64_t> 1 << class_of[n]
            else:
                others[parent] += 1
        for n in range(size):
            starts[n + 1] += starts[n]
        for n in range(size):
            order[starts[level[n]]] = <int32_t> n
            starts[level[n]] += 1
        for k in range(size):
            n = order[k]
            below = <int64_t> ones(nodes[n, 0])
            nodes[n, 1] = first if below + others[n] else 0
            first += below + others[n]
            others[n] = <int32_t> (first - others[n])  # where the next child without a bit is
        for n in range(1, size):
            parent = parents[n]
            if class_of[n] < COMMON:
                bit = <uint64_t> 1 << class_of[n]
                new[n] = <int32_t> (nodes[parent, 1] + ones(nodes[parent, 0] & (bit - 1)))
            else:
                new[n] = others[parent]
                others[parent] += 1
        for n in range(1, size):
            last = max(last, new[parents[n]] + 1)
    return last


cdef void hash_nodes(
    const int32_t[::1] parents, const uint32_t[::1] characters, const int32_t[::1] numbers,
    uint64_t[:, ::1] rest,
):
    cdef Py_ssize_t n
    cdef Child* slots = <Child*> &rest[0, 0]
    cdef int bits = bits_of(rest.shape[0])
    cdef uint64_t key
    for n in range(numbers.shape[0]):
        key = key_of(parents[n], characters[n])
        slot_of(slots, bits, key)[0] = Child(key, numbers[n])


cdef int bits_of(int64_t size) noexcept nogil:
    """The binary logarithm of a power of two."""
    cdef int bits = 0
    while <int64_t> 1 << bits < size:
        bits += 1
    return bits


cdef bint find_grams(
    const KnownGrams* known, const uint32_t* spelled, const int64_t* ptr, Py_ssize_t n_runs,
    Py_ssize_t shortest, Py_ssize_t longest, int bits, int32_t* ids,
) noexcept nogil:
    """Write the node of every n-gram of runs; False if there is no memory.

    Those that are not in the tree get numbers beyond. bits: of the table of these, at first.
    """
    cdef Search search
    cdef bint fine = open_children(&search.more, bits, known.n_nodes)
    search.known = known[0]
    fine = fine and walk(&search, step, spelled, ptr, n_runs, shortest, longest, ids)
    close_children(&search.more)
    return fine


cdef int32_t step(void* of, int32_t parent, uint32_t character) noexcept nogil:
    """The node of a character after another node."""
    cdef Search* search = <Search*> of
    cdef const KnownGrams* known = &search.known
    cdef const Child* slot
    cdef uint64_t mask, key
    cdef uint8_t own = COMMON
    if parent < known.n_parents:
        if character < known.n_classes:
            own = known.classes[character]
        if own < COMMON:
            mask = known.nodes[2 * parent]
            if mask >> own & 1:
                mask &= (<uint64_t> 1 << own) - 1
                return <int32_t> (known.nodes[2 * parent + 1] + ones(mask))
        else:
            key = key_of(parent, character)
            slot = slot_of(<Child*> known.rest, known.rest_bits, key)
            if slot.key == key:
                return <int32_t> slot.node
    return child(&search.more, parent, character)


cdef inline uint64_t ones(uint64_t bits) noexcept nogil:
    """How many bits are set: sums of 2, 4 and 8 of them side by side, then of all bytes."""
    bits -= bits >> 1 & <uint64_t> 0x5555555555555555
    bits = (bits & <uint64_t> 0x3333333333333333) + (bits >> 2 & <uint64_t> 0x3333333333333333)
    bits = bits + (bits >> 4) & <uint64_t> 0x0F0F0F0F0F0F0F0F
    return bits * <uint64_t> 0x0101010101010101 >> 56
