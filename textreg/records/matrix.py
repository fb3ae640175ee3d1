"""Matrices that come from outside, checked before any compiled code reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from textreg.errors import RecordError
from textreg.records.convert import REAL, as_array
from textreg.records.ragged import offsets

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def checked_csr(name: str, matrix: Any) -> csr_array:
    """The matrix as float64 CSR, with sorted rows and no entry twice; the caller's stays as it is.

    SciPy does not check index arrays, and its compiled routines, like ours, trust them: with an
    index out of range they would read or write foreign memory. So every index and offset is
    compared with the shape here, before any conversion.

    Raises RecordError, which names the matrix ``name``, if it has not two dimensions, not real
    numbers, or an index or an offset out of range.
    """
    from scipy.sparse import csr_array, issparse

    if issparse(matrix):
        _check_indices(name, matrix)
        if matrix.dtype.kind not in REAL:
            raise RecordError(
                f"{name} must hold real numbers, not {matrix.dtype}: convert it first."
            )
    else:
        matrix = as_array(name, matrix, np.float64, (None, None))
    with np.errstate(over="ignore"):  # from longer floats: infinity is refused later
        csr = csr_array(matrix, dtype=np.float64)
    if not csr.has_canonical_format or len(csr.data) > csr.indptr[-1]:
        csr = csr.copy()  # summing duplicates in place would change the caller's matrix
        csr.prune()
        csr.sum_duplicates()
    return csr


def _check_indices(name: str, matrix: Any) -> None:
    """Refuse indices and offsets of a sparse matrix that lie outside of it."""
    if len(matrix.shape) != 2:
        raise RecordError(f"{name} must have two dimensions, not the shape {matrix.shape}.")
    rows, columns = matrix.shape
    if matrix.format in ("csr", "csc", "bsr"):
        major, minor = (columns, rows) if matrix.format == "csc" else (rows, columns)
        if matrix.format == "bsr":
            height, width = matrix.blocksize
            major, minor = rows // height, columns // width
        if len(matrix.indptr) != major + 1:
            raise RecordError(
                f"{name}.indptr has {len(matrix.indptr)} entries, not {major + 1} for the shape "
                f"{matrix.shape}."
            )
        entries = len(matrix.indices)
        if len(matrix.data) != entries:
            raise RecordError(f"{name} has {len(matrix.data)} values for {entries} indices.")
        # SciPy reads no further than the last offset, and lets arrays be longer.
        last = int(matrix.indptr[-1])
        offsets(f"{name}.indptr", matrix.indptr, min(max(last, 0), entries))
        _check_range(f"{name}.indices", matrix.indices[:last], minor)
    elif matrix.format == "coo":
        row, column = matrix.row, matrix.col
        if not len(row) == len(column) == len(matrix.data):
            raise RecordError(f"{name} has {len(matrix.data)} values for {len(row)} entries.")
        _check_range(f"{name}.row", row, rows)
        _check_range(f"{name}.col", column, columns)


def _check_range(name: str, indices: Any, size: int) -> None:
    """Refuse indices that are not 0 to ``size`` - 1."""
    if not len(indices):
        return
    least, most = int(indices.min()), int(indices.max())
    if least < 0 or most >= size:
        wrong = least if least < 0 else most
        at = int(np.argmax(indices == wrong))
        raise RecordError(f"{name}[{at}] is {wrong}, but indices run from 0 to {size - 1}.")
