"""Texts scanned in pieces by several threads, for the kernels that make tokens of them."""

from libc.stdint cimport int64_t

from textreg._core.text_scan cimport Found, Rules, View
from textreg._core.text_table cimport Table

cdef class Scan:
    cdef View* views
    cdef Table* tables  # of the workers
    cdef Found* found  # in the pieces
    cdef Rules rules
    cdef Py_ssize_t n_views, n_tables
    cdef readonly Py_ssize_t n_pieces
    cdef int64_t[::1] cuts  # of the texts
    cdef int64_t[::1] document_view
    cdef object given, owners, arrays, document_ptr, spans, sentence_spans
    cdef bint spanned

    cdef void run(self, Rules rules) except *
    cdef void allocate(self, const int64_t[::1] rooms) except *
    cdef list merged(self)
    cdef tuple joined(self, list numbers)
