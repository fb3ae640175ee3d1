"""Rows of known features: counted and weighed, all in one call with what finds the features.

What a model knows is looked at once, when the rows of the first text are wanted; what a call
needs beside it is a few blocks of memory, and no Python object for a word.
"""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free, malloc

from textreg._core.text_bits cimport Bits, bits_in, words_for
from textreg._core.text_counts cimport count_rows, scale_rows, weigh

import numpy as np


cdef class Rows:
    """What becomes of the features of texts, counted by row.

    size: the number of features. values: of counts from 0 up, as far as it says when it is called
    with the largest one; None leaves counts as they are. idf: a factor for every feature, or None.
    norm: n if rows are divided by their lengths over all n-grams of 1 to n words, else 0. unit:
    whether they are divided by their own lengths.
    """

    def __init__(self, Py_ssize_t size, values, idf, Py_ssize_t norm, bint unit):
        self.size = size
        self.norm = norm
        self.unit = unit
        self.values_to = values
        self.values = np.empty(0) if values is None else values(0)
        self.idf = np.empty(0) if idf is None else idf

    cdef tuple counted(
        self, const int32_t* ids, const int64_t* ptr, Py_ssize_t n, const double* norms
    ):
        """The rows of n streams of features: indptr int64, indices int32 and data float64."""
        cdef Py_ssize_t i
        cdef double most = 0.0
        cdef const double[::1] values = self.values
        indptr = np.zeros(n + 1, dtype=np.int64)
        indices = np.empty(ptr[n] + 1, dtype=np.int32)
        data = np.empty(ptr[n] + 1)
        cdef int64_t[::1] indptr_view = indptr
        cdef int32_t[::1] indices_view = indices
        cdef double[::1] data_view = data
        # Counts are read only where a bit says that there is one.
        cdef int32_t* counts = <int32_t*> malloc(self.size * sizeof(int32_t) + 8)
        cdef uint64_t* room = <uint64_t*> calloc(words_for(self.size), sizeof(uint64_t))
        cdef bint fine = counts != NULL and room != NULL
        cdef Bits bits
        if fine:
            with nogil:
                bits = bits_in(room, self.size)
                count_rows(
                    ids, ptr, n, counts, &bits, &indptr_view[0], &indices_view[0], &data_view[0]
                )
                for i in range(indptr_view[n]):
                    most = max(most, data_view[i])
        free(counts)
        free(room)
        if not fine:
            raise MemoryError
        if self.values_to is not None and most >= values.shape[0]:
            values = self.values_to(int(most))
        with nogil:
            weigh(
                &data_view[0], &indices_view[0], &indptr_view[0], n,
                &values[0] if values.shape[0] else NULL,
                &self.idf[0] if self.idf.shape[0] else NULL, norms,
            )
            if self.unit:
                scale_rows(&data_view[0], &indptr_view[0], n)
        # The views are not used again.
        indices.resize(indptr_view[n], refcheck=False)
        data.resize(indptr_view[n], refcheck=False)
        return indptr, indices, data
