"""Model files: safetensors arrays and one JSON header; loading runs no code of the file's choice.

Format 1. ``__metadata__["textreg"]`` of the safetensors file is a JSON object:

=================  =================================================================================
``format``         version of this format, a whole number; looked at before anything else
``textreg``        version of textreg that wrote the file
``task``           what is predicted: "binary", "one-vs-rest", "softmax" or "regression"
``labels``         labels of the model, in order; none for a regression
``loss``           name of the loss
``probabilistic``  whether scores stand for probabilities
``calibration``    of probabilities: :class:`textreg.measure.calibration.Calibration`, or null
``thresholds``     decision thresholds by label
``tokenizer``      name, params, and the distribution, version and API it came from; of a plugin
                   that is one file, its path (``file``) and the digest of its content (``sha256``)
``vectorizer``     parameters of the vectorizer
``stop_words``     words that n-grams pass over
``summary``        how the model was trained: :class:`textreg.model.summary.TrainingSummary`; null
                   of models that were not trained by textreg
``path``           the path of its fit (:mod:`textreg.model.pathfile`); or null
``deflated``       which arrays are stored deflated (:mod:`textreg.model.container`)
``checksum``       SHA-256, in hexadecimal digits, over all the rest of the header and all arrays
=================  =================================================================================

and the arrays are

===================  =======  ======================================================================
``names``            uint8    names of the vocabulary in UTF-8, one after the other
``name_ptr``         int64    name i is ``names[name_ptr[i]:name_ptr[i + 1]]``
``weights``          float64  the weights that are not zero, one row after the other
``weight_ptr``       int64    row i is ``weights[weight_ptr[i]:weight_ptr[i + 1]]``
``weight_columns``   int32    the feature of each weight, rising within a row
``intercepts``       float64  one a row
``idf``              float64  one a name; with the weighting ``tfidf``, and only then
``columns``          int64    which names are features, rising; all are if it is missing
===================  =======  ======================================================================

and those of a path, where one is kept. Arrays that these tables do not name are left alone, so
later versions may add some.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from textreg.errors import UsageError
from textreg.features.encoder import Encoder
from textreg.features.vectorize import Vectorizer
from textreg.files import write_atomically
from textreg.measure.calibration import Calibration
from textreg.model.container import FaultError, blaming, field, optional, pack, unpack
from textreg.model.model import Model
from textreg.model.packing import offsets_of, pack_names, unpack_names, unpack_rows
from textreg.model.pathfile import PATH_ARRAYS, path_arrays, read_path
from textreg.model.summary import TrainingSummary
from textreg.model.tokenizing import (
    Named,
    check_description,
    describe,
    find_tokenizer,
)
from textreg.records.ragged import row_of
from textreg.tasks import Task, task_of_header

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from textreg.model.container import Arrays
    from textreg.records import Floats

ARRAYS = {
    "names": "uint8",
    "name_ptr": "int64",
    "weights": "float64",
    "weight_ptr": "int64",
    "weight_columns": "int32",
    "intercepts": "float64",
    "idf": "float64",
    "columns": "int64",
    **PATH_ARRAYS,
}
"""Types of the arrays that are read."""

_OPTIONAL = {"idf", "columns", *PATH_ARRAYS}


def save_model(model: Model, path: str | os.PathLike[str]) -> None:
    """Write a model file, whole or not at all: if this fails, an older file stays as it was.

    Raises UsageError if no file can have this path or the tokenizer has no name, ModelError if the
    file cannot be written.
    """
    write_atomically(Path(path), pack(_header_of(model), _arrays_of(model)))


def load_model(path: str | os.PathLike[str], *, tokenizer: bool = True) -> Model:
    """Read and check a model file. Imports nothing but the installed tokenizer that it names.

    With ``tokenizer=False`` not even that: such a model shows its labels, features and weights,
    but raises ModelError when it is asked to predict. A tokenizer that is a file of Python must
    have been given before, with that very content: see :func:`textreg.register_file`.

    Raises UsageError if there is no such file, ModelError if it is no model, is damaged, was made
    by a newer textreg, or needs a tokenizer that is not installed.
    """
    path = Path(path)
    header, arrays = unpack(path, ARRAYS)
    with blaming(path):
        task, summary = _check_header(header)
        if missing := ARRAYS.keys() - _OPTIONAL - arrays.keys():
            raise FaultError(f"it has no array '{min(missing)}'")
        encoder = _encoder(header, arrays)
        weights = _weights(arrays, task.n_rows, len(encoder.names))
        calibration = _calibration(header, task)
        trace = read_path(header, arrays, len(weights))
    if tokenizer:
        encoder.tokenizer = find_tokenizer(path, header["tokenizer"])
    return Model(
        task,
        encoder,
        weights,
        arrays["intercepts"],
        summary,
        calibration=calibration,
        thresholds=header["thresholds"],
        path=trace,
    )


def read_header(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The JSON header of a model file without its checksum, all of it checked; imports no plugin.

    Raises errors like :func:`load_model`, but none for a tokenizer that is not installed.
    """
    path = Path(path)
    header, _ = unpack(path, ARRAYS)
    with blaming(path):
        _check_header(header)
    return header


def _header_of(model: Model) -> dict[str, Any]:
    encoder = model.encoder
    return {
        "textreg": metadata.version("textreg"),
        **model.task.to_header(),
        "calibration": None if model.calibration is None else model.calibration.to_dict(),
        "thresholds": model.thresholds,
        "tokenizer": describe(encoder.tokenizer),
        "vectorizer": encoder.vectorizer.params(),
        "stop_words": list(encoder.stop_words),
        "summary": None if model.summary is None else model.summary.to_json(),
        "path": None if model.path is None else model.path.to_dict(),
    }


def _arrays_of(model: Model) -> Arrays:
    encoder = model.encoder
    names, name_ptr = pack_names(encoder.vocabulary)
    rows, columns = np.nonzero(model.weights)
    arrays: dict[str, NDArray[Any]] = {
        "names": names,
        "name_ptr": name_ptr,
        "weights": model.weights[rows, columns],
        "weight_ptr": offsets_of(np.count_nonzero(model.weights, axis=1)),
        "weight_columns": columns.astype(np.int32),
        "intercepts": model.intercepts,
    }
    if model.path is not None:
        arrays |= path_arrays(model.path)
    if encoder.idf is not None:
        arrays["idf"] = encoder.idf
    if encoder.columns is not None:
        arrays["columns"] = encoder.columns
    return arrays


def _check_header(header: Mapping[str, Any]) -> tuple[Task, TrainingSummary | None]:
    """The task and the summary in a header, all of which is checked."""
    labels = field(header, "labels", list)
    if not all(isinstance(label, str) for label in labels) or len(set(labels)) != len(labels):
        raise FaultError("its labels are not distinct texts")
    for name, kind in (("task", str), ("loss", str), ("probabilistic", bool)):
        field(header, name, kind)
    try:
        task = task_of_header(header)
    except UsageError as error:
        raise FaultError(str(error).rstrip(".")) from error
    _calibration(header, task)
    _check_thresholds(header, task)
    field(header, "textreg", str)
    field(header, "vectorizer", dict)
    if not all(isinstance(word, str) for word in field(header, "stop_words", list)):
        raise FaultError("its stop words are not texts")
    check_description(header)
    summary = optional(header, "summary")
    return task, None if summary is None else TrainingSummary.from_json(summary)


def _calibration(header: Mapping[str, Any], task: Task) -> Calibration | None:
    """The calibration of probabilities in a header, if there is one."""
    plain = optional(header, "calibration")
    if plain is None:
        return None
    try:
        calibration = Calibration.of_dict(plain)
    except UsageError as error:
        raise FaultError(f"its calibration is none: {str(error).rstrip('.')}") from error
    if calibration.curves and len(calibration.curves) != task.n_rows:
        raise FaultError(f"its calibration has {len(calibration.curves)} curves")
    return calibration


def _check_thresholds(header: Mapping[str, Any], task: Task) -> None:
    thresholds = field(header, "thresholds", dict)
    if not all(
        type(value) in (int, float) and abs(value) < float("inf") for value in thresholds.values()
    ):
        raise FaultError("its thresholds are not finite numbers by label")
    try:
        task.check_thresholds(thresholds)
    except UsageError as error:
        raise FaultError(str(error).rstrip(".")) from error


def _encoder(header: Mapping[str, Any], arrays: Arrays) -> Encoder:
    """The encoder, with a tokenizer that is known by name only."""
    tokenizer = Named(header["tokenizer"])
    idf, columns = arrays.get("idf"), arrays.get("columns")
    if idf is not None and ((idf < 1) | (idf > 100)).any():  # 1 + ln(documents) at the most
        raise FaultError("an idf is outside 1 to 100")
    try:
        vectorizer = Vectorizer(**header["vectorizer"])
        names = _names(arrays, vectorizer.ngrams)
        if columns is not None and (
            (np.diff(columns) <= 0).any() or (columns < 0).any() or (columns >= len(names)).any()
        ):
            raise FaultError(f"its columns are not rising numbers from 0 to {len(names) - 1}")
        return Encoder(
            tokenizer, vectorizer, names, idf, stop_words=header["stop_words"], columns=columns
        )
    except UsageError as error:
        raise FaultError(str(error).rstrip(".")) from error


def _names(arrays: Arrays, ngrams: int) -> list[str]:
    names = unpack_names(arrays, "names", "name_ptr")
    if ngrams > 1 and any(name.count(" ") >= ngrams for name in names):
        raise FaultError(f"the name of a feature has more than {ngrams} words")
    return names


def _weights(arrays: Arrays, rows: int, n_features: int) -> Floats:
    if len(arrays["intercepts"]) != rows:
        raise FaultError(f"it has {len(arrays['intercepts'])} intercepts, not {rows}")
    names = "weights", "weight_columns", "weight_ptr"
    values, columns, ptr = unpack_rows(arrays, names, rows, n_features)
    try:
        weights = np.zeros((rows, n_features))
    except MemoryError as error:
        raise FaultError(f"{rows} x {n_features} weights do not fit into memory") from error
    weights[row_of(ptr), columns] = values
    return weights
