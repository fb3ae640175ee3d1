"""Nearest columns of a binary matrix by their cosines, counted one column at a time."""


def nearest_cosines(const long long[::1] columns_ptr, const int[::1] columns,
                    const long long[::1] rows_ptr, const int[::1] rows,
                    const double[::1] length, double threshold, int most,
                    int[::1] shared, int[::1] touched, int[::1] nearest, double[::1] cosines,
                    int[::1] counts):
    """For every column j, the columns k with a cosine |j and k| / (length_j length_k) > threshold.

    The matrix is given twice: column j has the rows ``columns[columns_ptr[j]:columns_ptr[j + 1]]``,
    row i the columns ``rows[rows_ptr[i]:rows_ptr[i + 1]]``. The result has the ``most`` largest
    cosines, with the lowest k among equal ones: ``counts[j]`` of them, in descending order, from
    entry j most of ``nearest`` and ``cosines`` (p most,). shared (p,), zeros, and touched (p,) are
    work space.
    """
    cdef Py_ssize_t j, d, e, m, n_touched, p = length.shape[0]
    cdef int k
    cdef double cosine
    if columns_ptr.shape[0] != p + 1:
        raise ValueError("columns_ptr must have one entry for each column, and one more")
    if shared.shape[0] != p or touched.shape[0] != p or counts.shape[0] != p:
        raise ValueError("shared, touched and counts must have one entry for each column")
    if nearest.shape[0] != p * most or cosines.shape[0] != p * most:
        raise ValueError("nearest and cosines must have `most` entries for each column")
    with nogil:
        for j in range(p):
            # A sparse product, X'X by rows of X: only columns that share a row with j are touched.
            n_touched = 0
            for d in range(columns_ptr[j], columns_ptr[j + 1]):
                for e in range(rows_ptr[columns[d]], rows_ptr[columns[d] + 1]):
                    k = rows[e]
                    if shared[k] == 0:
                        touched[n_touched] = k
                        n_touched += 1
                    shared[k] += 1
            counts[j] = 0
            for m in range(n_touched):
                k = touched[m]
                cosine = shared[k] / (length[j] * length[k])
                shared[k] = 0
                if k != j and cosine > threshold:
                    counts[j] = _insert(&nearest[j * most], &cosines[j * most], counts[j], most, k,
                                        cosine)


cdef int _insert(int* nearest, double* cosines, int count, int most, int k,
                 double cosine) noexcept nogil:
    """Insert k among ``count`` sorted columns, if it is near enough; returns the new count."""
    cdef int place = count
    if count == most:
        place = most - 1
        if cosines[place] > cosine or (cosines[place] == cosine and nearest[place] < k):
            return count
    while place > 0 and (cosines[place - 1] < cosine
                         or (cosines[place - 1] == cosine and nearest[place - 1] > k)):
        cosines[place] = cosines[place - 1]
        nearest[place] = nearest[place - 1]
        place -= 1
    cosines[place] = cosine
    nearest[place] = k
    return count + 1 if count < most else most
