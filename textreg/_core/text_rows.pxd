"""Rows of known features, and the memory of a call that makes them."""

from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc

cdef enum:
    BLOCKS = 16

cdef struct Room:  # memory of one call
    void* blocks[BLOCKS]
    int n


cdef inline void* take(Room* room, size_t size) except NULL:
    """Memory until the call ends."""
    cdef void* block = malloc(size + 8)
    if block == NULL:
        raise MemoryError
    room.blocks[room.n] = block
    room.n += 1
    return block


cdef inline void leave(Room* room) noexcept:
    while room.n:
        room.n -= 1
        free(room.blocks[room.n])


cdef class Rows:
    cdef Py_ssize_t size, norm
    cdef bint unit
    cdef object values_to
    cdef const double[::1] values
    cdef const double[::1] idf

    cdef tuple counted(
        self, const int32_t* ids, const int64_t* ptr, Py_ssize_t n, const double* norms
    )
