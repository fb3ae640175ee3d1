"""The part of a model file that holds a regularization path: see :mod:`textreg.model.storage`.

The member ``path`` of the header is a :class:`textreg.model.regularization_path.PathHeader`, or
null, and the arrays are

===================  =======  ======================================================================
``path_names``       uint8    names of the features with a weight at some point, concatenated
``path_name_ptr``    int64    name i is ``path_names[path_name_ptr[i]:path_name_ptr[i + 1]]``
``path_weights``     float32  the weights that are not zero, one row after the other
``path_ptr``         int64    row i is ``path_weights[path_ptr[i]:path_ptr[i + 1]]``
``path_columns``     int32    the feature of each weight, increasing within a row
``path_intercepts``  float64  one a row
===================  =======  ======================================================================

with as many rows for each point as the model has weight vectors.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from textreg.model.container import (
    FaultError,
    check_distinct,
    check_name_lengths,
    check_row_lengths,
    unpack_names,
    unpack_rows,
)
from textreg.records.names import Names

if TYPE_CHECKING:
    from textreg.model.container import Arrays
    from textreg.model.regularization_path import PathHeader, SolutionPath

PATH_ARRAYS = {
    "path_names": "uint8",
    "path_name_ptr": "int64",
    "path_weights": "float32",
    "path_ptr": "int64",
    "path_columns": "int32",
    "path_intercepts": "float64",
}
"""Types of the arrays of a path."""


def path_arrays(path: SolutionPath) -> Arrays:
    """The arrays of a path."""
    names = Names.of(path.names)
    return {
        "path_names": names.letters,
        "path_name_ptr": names.ptr,
        "path_weights": path.weights.data.astype(np.float32),
        "path_ptr": path.weights.indptr.astype(np.int64),
        "path_columns": path.weights.indices.astype(np.int32),
        "path_intercepts": path.intercepts.ravel(),
    }


def check_path_lengths(header: PathHeader | None, lengths: Mapping[str, int], rows: int) -> None:
    """FaultError if arrays of these lengths cannot be a path with ``rows`` rows for each point."""
    present = PATH_ARRAYS.keys() & lengths.keys()
    if header is None:
        if present:
            raise FaultError(f"it has no path but the array '{min(present)}'")
        return
    if missing := PATH_ARRAYS.keys() - present:
        raise FaultError(f"it has a path but no array '{min(missing)}'")
    check_name_lengths(lengths, "path_names", "path_name_ptr")
    total = rows * len(header)
    if lengths["path_intercepts"] != total:
        raise FaultError(f"its path has {lengths['path_intercepts']} intercepts, not {total}")
    names = "path_weights", "path_columns", "path_ptr"
    check_row_lengths(lengths, names, total, lengths["path_name_ptr"] - 1)


def read_path(header: PathHeader | None, arrays: Arrays, rows: int) -> SolutionPath | None:
    """The path in a file, if there is one; FaultError if its arrays are damaged.

    rows: number of weight vectors of the model. Lengths of the arrays are checked before.
    """
    if header is None:
        return None
    from scipy.sparse import csr_array

    from textreg.model.regularization_path import SolutionPath

    names = unpack_names(arrays, "path_names", "path_name_ptr")
    check_distinct(names)
    total = rows * len(header)
    parts = unpack_rows(arrays, ("path_weights", "path_columns", "path_ptr"), total, len(names))
    return SolutionPath(
        parameter=header.parameter,
        chosen=header.chosen,
        metric=header.metric,
        points=header.points,
        names=names,
        weights=csr_array(parts, shape=(total, len(names))),
        intercepts=arrays["path_intercepts"].reshape(len(header), rows),
    )
