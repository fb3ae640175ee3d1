"""Character n-grams of runs as nodes of a tree: no spelling of one is hashed or compared.

An n-gram is the child of the n-gram without its last character; the root is node 0. The n-grams of
a run, of ``shortest`` to ``longest`` characters, are in order of their first characters, shorter
ones first; a run with fewer characters is its only n-gram.

A tree may know another one, whose nodes keep their numbers and are not added again: as tables of
spellings do (``text_table``), so n-grams are found as in training while the known ones stay.
"""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy, memset

from textreg._core.compilers cimport PREFETCH
from textreg._core.text_table cimport Table, point_at, run_length

cdef extern from *:
    """
    #define TEXTREG_NO_KEY 0xFFFFFFFFFFFFFFFFULL
    """
    const uint64_t NO_KEY "TEXTREG_NO_KEY"  # of a free slot; no character is that large

cdef enum:
    SIDE_BY_SIDE = 16  # walks

cdef struct Child:  # a slot of a hash table
    uint64_t key  # the parent and the last character
    uint64_t node

cdef struct Node:
    int32_t parent
    uint32_t character

cdef struct Tree:
    const Tree* known  # NULL: none
    Child* slots
    int bits  # there are 2**bits slots
    Node* nodes  # those that are added, from place 1: parents precede their children
    int64_t first  # the number of the first of them
    int64_t next
    const uint64_t* below  # of the nodes of ``known`` that have a child: the bits of these
    int64_t n_parents  # no node of ``known`` from here on has a child


cdef inline uint64_t bit_of(uint32_t character) noexcept nogil:
    """One of 64 bits, shared by some characters: where it is missing, no slot need be read."""
    return <uint64_t> 1 << (character & 63)


cdef inline int64_t count_grams(
    const Table* runs, int64_t shortest, int64_t longest, int64_t* starts
) noexcept nogil:
    """The number of n-grams of all runs; those of run r have the places ``starts[r]`` on."""
    cdef int64_t r, length, most
    starts[0] = 0
    for r in range(runs.size):
        length = run_length(runs, r)
        most = min(length, longest)
        starts[r + 1] = starts[r] + 1
        if length >= shortest:  # length - n + 1 of every n that fits
            starts[r + 1] = (
                starts[r] + (most - shortest + 1) * (2 * (length + 1) - shortest - most) // 2
            )
    return starts[runs.size]


cdef inline bint find_grams(
    Tree* tree, const Table* runs, int64_t shortest, int64_t longest, int32_t* ids
) noexcept nogil:
    """Write the node of every n-gram of all runs; False if there is no memory.

    Several walks go side by side, so that one need not wait for the memory of another: when it is
    at its next step, the slot that it looks at first is there.
    """
    cdef int64_t r, i, k, start, end, least, walks, reach
    cdef const uint64_t* run
    cdef int32_t nodes[SIDE_BY_SIDE]
    cdef int32_t* out[SIDE_BY_SIDE]
    for r in range(runs.size):
        run = runs.blocks + runs.starts[r]
        end = run_length(runs, r)
        least = min(shortest, end)
        start = 0
        while start <= end - least:
            walks = min(SIDE_BY_SIDE, end - least + 1 - start)
            for i in range(walks):
                nodes[i] = 0
                out[i] = ids
                ids += min(longest, end - start - i) - least + 1
            for k in range(min(longest, end - start)):
                reach = min(walks, end - start - k)
                for i in range(reach):
                    nodes[i] = child(tree, nodes[i], point_at(run, start + i + k))
                    if nodes[i] < 0:
                        return False
                    if k + 1 >= least:
                        out[i][0] = nodes[i]
                        out[i] += 1
                    if start + i + k + 1 < end:
                        look_ahead(tree, nodes[i], point_at(run, start + i + k + 1))
            start += walks
    return True


cdef inline int64_t size_of(const int32_t* runs, int64_t n, const int64_t* starts) noexcept nogil:
    """The number of n-grams of n occurrences of runs."""
    cdef int64_t r, size = 0
    for r in range(n):
        size += starts[runs[r] + 1] - starts[runs[r]]
    return size


cdef inline void expand(
    const int32_t* runs, const int64_t* starts, const int32_t* grams, Py_ssize_t n, int64_t* ptr,
    int32_t* out,
) noexcept nogil:
    """Write the n-grams of the occurrences of runs.

    ptr: offsets of n sentences or documents in those, then in these.
    """
    cdef Py_ssize_t s
    cdef int64_t r = 0, used = 0, end, size
    for s in range(1, n + 1):
        end = ptr[s]
        while r < end:
            size = starts[runs[r] + 1] - starts[runs[r]]
            memcpy(out + used, grams + starts[runs[r]], size * sizeof(int32_t))
            used += size
            r += 1
        ptr[s] = used


cdef inline uint64_t place(const Tree* tree, uint64_t key) noexcept nogil:
    """The slot where the search for a child begins."""
    return (key ^ key >> 29) * <uint64_t> 0x9E3779B97F4A7C15 >> (64 - tree.bits)


cdef inline void look_ahead(const Tree* tree, int32_t parent, uint32_t character) noexcept nogil:
    """Fetch the slot where :func:`child` will begin to search."""
    if parent < tree.n_parents and tree.below[parent] & bit_of(character):
        tree = tree.known
    PREFETCH(&tree.slots[place(tree, <uint64_t> parent << 32 | character)])


cdef inline Child* slot_of(const Tree* tree, uint64_t parent, uint32_t character) noexcept nogil:
    """The slot of a child, or the free one where it belongs."""
    cdef uint64_t mask = (<uint64_t> 1 << tree.bits) - 1
    cdef uint64_t key = parent << 32 | character
    cdef uint64_t where = place(tree, key)
    while tree.slots[where].key != key and tree.slots[where].key != NO_KEY:
        where = (where + 1) & mask
    return &tree.slots[where]


cdef inline bint open_tree(
    Tree* tree, int64_t expected, const Tree* known, const uint64_t* below, int64_t n_parents
) noexcept nogil:
    """A tree without a node of its own, which must be closed even if this fails.

    expected: how many nodes it has room for at first. The others are as of a Tree.
    """
    tree.known = known
    tree.n_parents = n_parents
    tree.below = below
    tree.first = tree.next = 1 if known == NULL else known.next
    tree.bits = 6
    while <int64_t> 1 << tree.bits < 2 * expected:
        tree.bits += 1
    tree.slots = <Child*> malloc(sizeof(Child) << tree.bits)
    tree.nodes = <Node*> malloc(sizeof(Node) * room_of(tree.bits))
    if tree.slots == NULL or tree.nodes == NULL:
        return False
    memset(tree.slots, 0xFF, sizeof(Child) << tree.bits)
    tree.nodes[0] = Node(0, 0)
    return True


cdef inline void close_tree(Tree* tree) noexcept nogil:
    free(tree.slots)
    free(tree.nodes)


cdef inline int64_t room_of(int bits) noexcept nogil:
    """Places of nodes: as many as half the slots, one more before they are doubled, and one."""
    return (<int64_t> 1 << bits) // 2 + 2


cdef inline int32_t child(Tree* tree, int32_t parent, uint32_t character) noexcept nogil:
    """The node of a character after another node, new or known; -1 if there is no memory."""
    cdef Child* slot
    if parent < tree.n_parents and tree.below[parent] & bit_of(character):
        slot = slot_of(tree.known, parent, character)
        if slot.key != NO_KEY:
            return <int32_t> slot.node
    slot = slot_of(tree, parent, character)
    if slot.key != NO_KEY:
        return <int32_t> slot.node
    if tree.next == 0x7FFFFFFF:
        return -1
    slot[0] = Child(<uint64_t> parent << 32 | character, tree.next)
    tree.next += 1
    tree.nodes[tree.next - tree.first] = Node(parent, character)
    if tree.next - tree.first > (<int64_t> 1 << tree.bits) // 2 and not grow(tree):
        return -1
    return <int32_t> (tree.next - 1)


cdef inline bint grow(Tree* tree) noexcept nogil:
    """Double the slots. The nodes that came first are mostly the commonest, and get the places
    where the search for them begins.
    """
    cdef int64_t n
    cdef Node* nodes = <Node*> realloc(tree.nodes, sizeof(Node) * room_of(tree.bits + 1))
    if nodes == NULL:
        return False
    tree.nodes = nodes
    cdef Child* slots = <Child*> malloc(sizeof(Child) << (tree.bits + 1))
    if slots == NULL:
        return False
    free(tree.slots)
    tree.slots = slots
    tree.bits += 1
    memset(slots, 0xFF, sizeof(Child) << tree.bits)
    for n in range(1, tree.next - tree.first + 1):
        slot_of(tree, nodes[n].parent, nodes[n].character)[0] = Child(
            <uint64_t> nodes[n].parent << 32 | nodes[n].character, tree.first + n - 1
        )
    return True
