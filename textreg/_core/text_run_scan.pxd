"""The scan of texts for runs: what it reads, and where it writes what it finds."""

from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t

from textreg._core.text_letters cimport Letters

cdef struct Slot:
    uint32_t hash
    int32_t id  # below 0: free

cdef struct Table:  # of the distinct runs
    Slot* slots
    int bits  # there are 2**bits slots
    int64_t size
    uint32_t* spelled  # one after another, then the one being read
    int64_t used
    int64_t room
    int64_t* starts  # run r is spelled[starts[r]:starts[r + 1]]

cdef struct Output:
    int32_t* runs
    int64_t n_runs
    int64_t* sentence_ptr
    int64_t n_sentences
    int64_t* paragraph_ptr
    int64_t n_paragraphs
    int32_t* begins  # NULL, as the next two: not wanted
    int32_t* ends
    int32_t* sentence_spans
    int64_t n_places

cdef struct How:
    const Letters* letters
    const uint16_t* fold
    bint lowercase
    bint across
    int rule

cdef How how_of(bint lowercase, bint across, str sentences) except *
cdef object as_read(text, bint lowercase)
cdef bint open_table(Table* table, int64_t expected) noexcept nogil
cdef void close_table(Table* table) noexcept nogil
cdef bint scan_text(
    const void* text, Py_ssize_t length, int width, const How* how, Table* table, Output* out
) noexcept nogil
