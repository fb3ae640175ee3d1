"""Rows of ragged arrays: row i is ``flat[ptr[i]:ptr[i + 1]]``, without arrays over all entries."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

ctypedef fused entry:
    uint8_t
    int32_t
    int64_t
    float
    double

ctypedef fused value:
    float
    double


def copy_rows(const int64_t[::1] ptr, const entry[::1] flat, const int64_t[::1] rows,
              const int64_t[::1] new_ptr, entry[::1] out):
    """The rows ``rows``, one after the other: row k is ``out[new_ptr[k]:new_ptr[k + 1]]``."""
    cdef Py_ssize_t k, e, first
    if new_ptr.shape[0] != rows.shape[0] + 1:
        raise ValueError("new_ptr must have one entry for each row, and the end")
    if out.shape[0] != new_ptr[rows.shape[0]]:
        raise ValueError("out must have as many entries as the rows")
    with nogil:
        for k in range(rows.shape[0]):
            first = ptr[rows[k]]
            for e in range(new_ptr[k + 1] - new_ptr[k]):
                out[new_ptr[k] + e] = flat[first + e]


def scatter_rows(const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] data,
                 Py_ssize_t first, int64_t[::1] place, int32_t[::1] out_indices,
                 value[::1] out_data, const int32_t[::1] rows=None,
                 const double[::1] factors=None, Py_ssize_t begin=0, Py_ssize_t end=-1):
    """Rows of a sparse matrix into columns: the next entry of column j is at ``place[j]``.

    They are all rows, or ``rows``, times their ``factors``; by columns they are numbered from
    ``first`` on. place: (columns,), moved by what each column gets. out_data: float64, or float32.
    Only the columns from ``begin`` to ``end`` are written, so that threads can share them.
    """
    cdef Py_ssize_t k, e, at, row, count = indptr.shape[0] - 1 if rows is None else rows.shape[0]
    cdef bint every = rows is None, plain = factors is None
    cdef double factor = 1.0
    cdef int32_t j
    if not indices.shape[0] == data.shape[0] == indptr[indptr.shape[0] - 1]:
        raise ValueError("indices and data must have as many entries as the rows")
    if out_indices.shape[0] != out_data.shape[0]:
        raise ValueError("out_indices and out_data must have the same length")
    if not plain and factors.shape[0] != count:
        raise ValueError("factors must have one entry per row")
    if end < 0:
        end = place.shape[0]
    with nogil:
        for k in range(count):
            row = k if every else rows[k]
            if not plain:
                factor = factors[k]
            for e in range(indptr[row], indptr[row + 1]):
                j = indices[e]
                if begin <= j < end:
                    at = place[j]
                    out_indices[at] = <int32_t> (first + k)
                    out_data[at] = <value> (factor * data[e])
                    place[j] = at + 1


def hash_rows(const int64_t[::1] ptr, const int32_t[::1] flat, const int64_t[::1] rows,
              uint64_t[::1] out):
    """out[k] = a number that looks random, equal for equal rows ``rows[k]``. No entry is -1."""
    cdef Py_ssize_t k, e
    cdef uint64_t total
    if out.shape[0] != rows.shape[0]:
        raise ValueError("out must have one entry per row")
    with nogil:
        for k in range(rows.shape[0]):
            total = <uint64_t> (ptr[rows[k] + 1] - ptr[rows[k]])
            for e in range(ptr[rows[k]], ptr[rows[k] + 1]):
                total += mixed(<uint64_t> (<int64_t> flat[e] + 1))
            out[k] = total


cdef inline uint64_t mixed(uint64_t bits) noexcept nogil:
    """The mixer of Steele et al. 2014; it leaves 0 as it is."""
    bits = (bits ^ (bits >> 30)) * <uint64_t> 0xBF58476D1CE4E5B9
    bits = (bits ^ (bits >> 27)) * <uint64_t> 0x94D049BB133111EB
    return bits ^ (bits >> 31)


def equal_rows(const int64_t[::1] ptr, const int32_t[::1] flat, const int64_t[::1] one,
               const int64_t[::1] two, unsigned char[::1] out):
    """out[k] = whether the rows ``one[k]`` and ``two[k]`` are equal."""
    cdef Py_ssize_t k, e, size
    if not one.shape[0] == two.shape[0] == out.shape[0]:
        raise ValueError("one, two and out must have one entry per pair")
    with nogil:
        for k in range(out.shape[0]):
            size = ptr[one[k] + 1] - ptr[one[k]]
            out[k] = size == ptr[two[k] + 1] - ptr[two[k]]
            if out[k]:
                for e in range(size):
                    if flat[ptr[one[k]] + e] != flat[ptr[two[k]] + e]:
                        out[k] = 0
                        break
