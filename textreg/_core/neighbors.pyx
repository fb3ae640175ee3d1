"""Nearest columns of a binary matrix by their cosines, counted one column at a time."""


def nearest_cosines(const long long[::1] columns_ptr, const int[::1] columns,
                    const long long[::1] rows_ptr, const int[::1] rows,
                    const double[::1] length, double threshold, int most,
                    int[::1] together, int[::1] met, int[::1] found, double[::1] cosines,
                    int[::1] counts):
    """For every column j, the columns k whose cosine |j and k| / (length_j length_k) > threshold.

    The matrix twice: column j has the rows ``columns[columns_ptr[j]:columns_ptr[j + 1]]``, row i
    the columns ``rows[rows_ptr[i]:rows_ptr[i + 1]]``. At most ``most`` of the largest cosines are
    kept, of equal ones those of the lowest k: ``counts[j]`` of them, the largest first, from j most
    on in ``found`` and ``cosines`` (p most,). together: (p,), zeros, and met: (p,) are room to
    work in.
    """
    cdef Py_ssize_t p = length.shape[0]
    if columns_ptr.shape[0] != p + 1:
        raise ValueError("columns_ptr must have one entry a column, and one more")
    if together.shape[0] != p or met.shape[0] != p or counts.shape[0] != p:
        raise ValueError("together, met and counts must have one entry a column")
    if found.shape[0] != p * most or cosines.shape[0] != p * most:
        raise ValueError("found and cosines must have `most` entries a column")
    with nogil:
        _nearest(columns_ptr, columns, rows_ptr, rows, length, threshold, most, together, met,
                 found, cosines, counts)


cdef void _nearest(const long long[::1] columns_ptr, const int[::1] columns,
                   const long long[::1] rows_ptr, const int[::1] rows,
                   const double[::1] length, double threshold, int most,
                   int[::1] together, int[::1] met, int[::1] found, double[::1] cosines,
                   int[::1] counts) noexcept nogil:
    cdef Py_ssize_t j, d, e, m, n_met
    cdef int k
    cdef double cosine
    for j in range(length.shape[0]):
        n_met = 0
        for d in range(columns_ptr[j], columns_ptr[j + 1]):
            for e in range(rows_ptr[columns[d]], rows_ptr[columns[d] + 1]):
                k = rows[e]
                if together[k] == 0:
                    met[n_met] = k
                    n_met += 1
                together[k] += 1
        counts[j] = 0
        for m in range(n_met):
            k = met[m]
            cosine = together[k] / (length[j] * length[k])
            together[k] = 0
            if k != j and cosine > threshold:
                counts[j] = _insert(&found[j * most], &cosines[j * most], counts[j], most, k,
                                    cosine)


cdef int _insert(int* found, double* cosines, int count, int most, int k,
                 double cosine) noexcept nogil:
    """Put k into its place among ``count`` sorted ones, if it has one; the new count."""
    cdef int place = count
    if count == most:
        place = most - 1
        if cosines[place] > cosine or (cosines[place] == cosine and found[place] < k):
            return count
    while place > 0 and (cosines[place - 1] < cosine
                         or (cosines[place - 1] == cosine and found[place - 1] > k)):
        cosines[place] = cosines[place - 1]
        found[place] = found[place - 1]
        place -= 1
    cosines[place] = cosine
    found[place] = k
    return count + 1 if count < most else most
