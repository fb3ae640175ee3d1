"""The part of a model file that holds the path of its fit: see :mod:`textreg.model.storage`.

The header has ``path``, null where there is none: an object with ``parameter``,
``chosen``, ``metric`` and ``points``, one object with ``params``, ``nonzero``, ``metrics`` and
``gap`` for each; and the arrays are

===================  =======  ======================================================================
``path_names``       uint8    names of the features with a weight somewhere, one after the other
``path_name_ptr``    int64    name i is ``path_names[path_name_ptr[i]:path_name_ptr[i + 1]]``
``path_weights``     float32  the weights that are not zero, one row after the other
``path_ptr``         int64    row i is ``path_weights[path_ptr[i]:path_ptr[i + 1]]``
``path_columns``     int32    the feature of each weight, rising within a row
``path_intercepts``  float64  one a row
===================  =======  ======================================================================

with as many rows for each point as the model has.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from textreg.model.container import FaultError, field, optional
from textreg.model.packing import pack_names, unpack_names, unpack_rows
from textreg.model.regularization_path import PathPoint, SolutionPath

if TYPE_CHECKING:
    from textreg.model.container import Arrays

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
    names, name_ptr = pack_names(path.names)
    return {
        "path_names": names,
        "path_name_ptr": name_ptr,
        "path_weights": path.weights.data.astype(np.float32),
        "path_ptr": path.weights.indptr.astype(np.int64),
        "path_columns": path.weights.indices.astype(np.int32),
        "path_intercepts": path.intercepts.ravel(),
    }


def read_path(header: Mapping[str, Any], arrays: Arrays, rows: int) -> SolutionPath | None:
    """The path in a file, if there is one; FaultError where it is damaged.

    rows: weight vectors of the model.
    """
    if optional(header, "path") is None:
        return None
    from scipy.sparse import csr_array

    plain = field(header, "path", dict)
    if missing := PATH_ARRAYS.keys() - arrays.keys():
        raise FaultError(f"it has a path but no array '{min(missing)}'")
    parameter, metric = field(plain, "parameter", str), field(plain, "metric", str)
    points = tuple(_point(point, parameter, metric) for point in field(plain, "points", list))
    chosen = field(plain, "chosen", int)
    if not 0 <= chosen < len(points):
        raise FaultError(f"its path has {len(points)} points, and chosen is {chosen}")
    names = unpack_names(arrays, "path_names", "path_name_ptr")
    total = rows * len(points)
    if len(arrays["path_intercepts"]) != total:
        raise FaultError(f"its path has {len(arrays['path_intercepts'])} intercepts, not {total}")
    rows_of = unpack_rows(arrays, ("path_weights", "path_columns", "path_ptr"), total, len(names))
    return SolutionPath(
        parameter=parameter,
        points=points,
        chosen=chosen,
        metric=metric,
        names=names,
        weights=csr_array(rows_of, shape=(total, len(names))),
        intercepts=arrays["path_intercepts"].reshape(len(points), rows),
    )


def _point(plain: Any, parameter: str, metric: str) -> PathPoint:
    if not isinstance(plain, dict):
        raise FaultError("a point of its path is no object")
    params, metrics = field(plain, "params", dict), field(plain, "metrics", dict)
    gap = plain.get("gap")
    numbers = [*metrics.values(), params.get(parameter), *([] if gap is None else [gap])]
    if metric not in metrics or not all(type(number) in (int, float) for number in numbers):
        raise FaultError("a point of its path lacks a number")
    return PathPoint(params, field(plain, "nonzero", int), metrics, gap)
