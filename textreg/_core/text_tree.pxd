"""N-grams of runs of code points as nodes of a tree: the walk over runs, and a tree that grows.

An n-gram is a node, the child of the n-gram without its last character; the root is node 0.
"""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memset

cdef extern from *:
    """
    #define TEXTREG_NO_KEY 0xFFFFFFFFFFFFFFFFULL
    """
    const uint64_t NO_KEY "TEXTREG_NO_KEY"  # of a free slot; no character is that large

cdef struct Child:  # a slot of a hash table
    uint64_t key  # the parent and the last character
    uint64_t node

cdef struct Node:
    int32_t parent
    uint32_t character

cdef struct Children:
    Child* slots
    int bits  # there are 2**bits slots
    Node* nodes  # those that are added, from place 1: parents precede their children
    int64_t first  # the number of the first of them
    int64_t next

# The node of a character after another node; below 0 if there is no memory.
ctypedef int32_t (*Step)(void* tree, int32_t parent, uint32_t character) noexcept nogil


cdef inline int64_t n_grams(int64_t length, int64_t shortest, int64_t longest) noexcept nogil:
    """The number of n-grams of a run of that length, which is not 0."""
    cdef int64_t ends = min(length, longest)
    if length < shortest:
        return 1
    # length - n + 1 of every n that fits
    return (ends - shortest + 1) * (2 * (length + 1) - shortest - ends) // 2


cdef inline bint walk(
    void* tree, Step step, const uint32_t* spelled, const int64_t* ptr, Py_ssize_t n_runs,
    Py_ssize_t shortest, Py_ssize_t longest, int32_t* ids,
) noexcept nogil:
    """Write the node of every n-gram of runs; False if there is no memory."""
    cdef Py_ssize_t r, i, k, end, least
    cdef int32_t node
    for r in range(n_runs):
        end = ptr[r + 1]
        least = min(shortest, end - ptr[r])
        for i in range(ptr[r], end - least + 1):
            node = 0
            for k in range(min(longest, end - i)):
                node = step(tree, node, spelled[i + k])
                if node < 0:
                    return False
                if k + 1 >= least:
                    ids[0] = node
                    ids += 1
    return True


cdef inline uint64_t key_of(uint64_t parent, uint32_t character) noexcept nogil:
    return parent << 32 | character


cdef inline Child* slot_of(Child* slots, int bits, uint64_t key) noexcept nogil:
    """The slot of a key, or the free one where it belongs."""
    cdef uint64_t mask = (<uint64_t> 1 << bits) - 1
    cdef uint64_t where = (key ^ key >> 29) * <uint64_t> 0x9E3779B97F4A7C15 >> (64 - bits)
    while slots[where].key != key and slots[where].key != NO_KEY:
        where = (where + 1) & mask
    return &slots[where]


cdef inline bint open_children(Children* tree, int bits, int64_t first) noexcept nogil:
    """A table without a child, which must be closed even if this fails."""
    tree.bits = bits
    tree.first = first
    tree.next = first
    tree.slots = <Child*> malloc(sizeof(Child) << bits)
    tree.nodes = <Node*> malloc(sizeof(Node) * room_of(bits))
    if tree.slots == NULL or tree.nodes == NULL:
        return False
    memset(tree.slots, 0xFF, sizeof(Child) << bits)
    tree.nodes[0] = Node(0, 0)
    return True


cdef inline void close_children(Children* tree) noexcept nogil:
    free(tree.slots)
    free(tree.nodes)


cdef inline int64_t room_of(int bits) noexcept nogil:
    """Places of nodes: as many as half the slots, one more before they are doubled, and one."""
    return (<int64_t> 1 << bits) // 2 + 2


cdef inline int32_t child(Children* tree, int32_t parent, uint32_t character) noexcept nogil:
    """The node of a character after another node, new or known; -1 if there is no memory."""
    cdef uint64_t key = key_of(parent, character)
    cdef Child* slot = slot_of(tree.slots, tree.bits, key)
    if slot.key == key:
        return <int32_t> slot.node
    if tree.next == 0x7FFFFFFF:
        return -1
    slot.key = key
    slot.node = tree.next
    tree.next += 1
    tree.nodes[tree.next - tree.first] = Node(parent, character)
    if tree.next - tree.first > (<int64_t> 1 << tree.bits) // 2 and not grow(tree):
        return -1
    return <int32_t> (tree.next - 1)


cdef inline bint grow(Children* tree) noexcept nogil:
    """Double the slots. The nodes that came first are mostly the commonest, and get the places
    where the search for them begins.
    """
    cdef int bits = tree.bits + 1
    cdef int64_t n
    cdef uint64_t key
    cdef Child* slots
    cdef Node* nodes = <Node*> realloc(tree.nodes, sizeof(Node) * room_of(bits))
    if nodes == NULL:
        return False
    tree.nodes = nodes
    slots = <Child*> malloc(sizeof(Child) << bits)
    if slots == NULL:
        return False
    memset(slots, 0xFF, sizeof(Child) << bits)
    for n in range(1, tree.next - tree.first + 1):
        key = key_of(nodes[n].parent, nodes[n].character)
        slot_of(slots, bits, key)[0] = Child(key, tree.first + n - 1)
    free(tree.slots)
    tree.slots = slots
    tree.bits = bits
    return True
