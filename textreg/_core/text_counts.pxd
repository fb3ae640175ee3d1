"""Counts of features by row, and sets of numbers as bits, which sort them, for other kernels.

A set of bits is read out in order: without a comparison. There are three levels: a bit for every
number, one for every 64 of these, and one for every 64 of those. So a few numbers are read out in a
few steps, however large they may be.
"""

from libc.stdint cimport int32_t, int64_t, uint64_t

cdef extern from *:
    """
    #if defined(_MSC_VER)
    #include <intrin.h>
    static int textreg_lowest(unsigned long long bits) {
        unsigned long place;
        _BitScanForward64(&place, bits);
        return (int) place;
    }
    #else
    #define textreg_lowest(bits) __builtin_ctzll(bits)
    #endif
    """
    int lowest "textreg_lowest"(uint64_t bits) nogil  # place of the lowest bit set

cdef struct Bits:  # all zero between one set and the next
    uint64_t* numbers
    uint64_t* by_64
    uint64_t* by_4096
    Py_ssize_t n_top  # of by_4096

cdef void count_rows(
    const int32_t* ids, const int64_t* ptr, Py_ssize_t n_rows, int32_t* counts, const Bits* bits,
    int64_t* indptr, int32_t* indices, double* data,
) noexcept nogil
cdef void scale_rows(double* data, const int64_t* ptr, Py_ssize_t n_rows) noexcept nogil
cdef void weigh(
    double* data, const int32_t* indices, const int64_t* ptr, Py_ssize_t n_rows,
    const double* values, const double* factors, const double* norms,
) noexcept nogil
cdef void renumber_ids(
    const int32_t* ids, const int64_t* ptr, Py_ssize_t n, const int32_t* new, int64_t n_new,
    int32_t* out, int64_t* out_ptr,
) noexcept nogil
cdef bint norms_of(
    const int32_t* words, const int64_t* ptr, const int64_t* document_ptr, Py_ssize_t n_documents,
    Py_ssize_t n, double* norms,
) noexcept nogil


cdef inline Py_ssize_t words_for(Py_ssize_t size) noexcept nogil:
    """How many 64-bit words a set of numbers below size takes."""
    return (size >> 6) + (size >> 12) + (size >> 18) + 3


cdef inline Bits bits_in(uint64_t* room, Py_ssize_t size) noexcept nogil:
    """An empty set of numbers below size, in as many zeros as ``words_for`` says."""
    cdef uint64_t* by_64 = room + (size >> 6) + 1
    return Bits(room, by_64, by_64 + (size >> 12) + 1, (size >> 18) + 1)


cdef inline void put(const Bits* bits, int32_t number) noexcept nogil:
    bits.numbers[number >> 6] |= <uint64_t> 1 << (number & 63)
    bits.by_64[number >> 12] |= <uint64_t> 1 << (number >> 6 & 63)
    bits.by_4096[number >> 18] |= <uint64_t> 1 << (number >> 12 & 63)


cdef inline bint holds(const Bits* bits, int32_t number) noexcept nogil:
    return bits.numbers[number >> 6] >> (number & 63) & 1


cdef inline Py_ssize_t take_all(const Bits* bits, int32_t* out) noexcept nogil:
    """Write the numbers in order, and leave the set empty; returns how many there were."""
    cdef Py_ssize_t t, used = 0
    cdef int32_t upper, lower
    cdef uint64_t top, middle, found
    for t in range(bits.n_top):
        top = bits.by_4096[t]
        bits.by_4096[t] = 0
        while top:
            upper = <int32_t> (t << 6) + lowest(top)
            top &= top - 1
            middle = bits.by_64[upper]
            bits.by_64[upper] = 0
            while middle:
                lower = (upper << 6) + lowest(middle)
                middle &= middle - 1
                found = bits.numbers[lower]
                bits.numbers[lower] = 0
                while found:
                    out[used] = (lower << 6) + lowest(found)
                    found &= found - 1
                    used += 1
    return used
