"""Model files: safetensors arrays and one JSON header; loading runs no code of the file's choice.

Format 1. ``__metadata__["textreg"]`` of the safetensors file is a JSON object:

===============  ===================================================================================
``format``       version of this format, a whole number; looked at before anything else
``textreg``      version of textreg that wrote the file
``labels``       labels of the model, in order; none for a regression
``loss``         what was minimised; "logistic" where it is missing
``calibration``  what bends scores before they are probabilities:
                 :meth:`textreg.calibration.Calibration.to_dict`, or null; null where it is missing
``thresholds``   by label, what is taken from its score; none where it is missing
``tokenizer``    name, params, and the distribution and version it came from
``vectorizer``   parameters of the vectorizer
``stop_words``   words that n-grams pass over
``summary``      how the model was trained: :attr:`Model.summary`
``checksum``     SHA-256, in hexadecimal digits, over all the rest of the header and all arrays
===============  ===================================================================================

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

Arrays that this table does not name are left alone, so later versions may add some.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib import metadata
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from textreg.calibration import Calibration, check_thresholds
from textreg.container import FaultError, blaming, field, pack, unpack, write_atomically
from textreg.encoder import Encoder
from textreg.errors import UsageError
from textreg.losses import LOSSES
from textreg.model import Model
from textreg.tokenizing import Named, check_description, describe, find_tokenizer
from textreg.vectorize import Vectorizer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from textreg.container import Arrays
    from textreg.records import Floats, Int64s

ARRAYS = {
    "names": "uint8",
    "name_ptr": "int64",
    "weights": "float64",
    "weight_ptr": "int64",
    "weight_columns": "int32",
    "intercepts": "float64",
    "idf": "float64",
    "columns": "int64",
}
"""Types of the arrays that are read."""

_OPTIONAL = {"idf", "columns"}
# Half of a surrogate pair is no UTF-8, but a tokenizer may cut one out of a broken text.
_SURROGATES = "surrogatepass"


def save_model(model: Model, path: str | os.PathLike[str]) -> None:
    """Write a model file, whole or not at all: if this fails, an older file stays as it was.

    Raises UsageError if no file can have this path or the tokenizer has no name, ModelError if the
    file cannot be written.
    """
    write_atomically(Path(path), pack(_header_of(model), _arrays_of(model)))


def load_model(path: str | os.PathLike[str], *, tokenizer: bool = True) -> Model:
    """Read and check a model file. Imports nothing but the installed tokenizer that it names.

    With ``tokenizer=False`` not even that: such a model shows its labels, features and weights,
    but raises ModelError when it is asked to predict.

    Raises ModelError if there is no such file, or it is no model, is damaged, was made by a newer
    textreg, or needs a tokenizer that is not installed.
    """
    path = Path(path)
    header, arrays = unpack(path, ARRAYS)
    with blaming(path):
        _check_header(header)
        if missing := ARRAYS.keys() - _OPTIONAL - arrays.keys():
            raise FaultError(f"it has no array '{min(missing)}'")
        encoder = _encoder(header, arrays)
        weights = _weights(arrays, len(header["labels"]), len(encoder.names))
        calibration = _calibration(header)
    if tokenizer:
        encoder.tokenizer = find_tokenizer(path, header["tokenizer"])
    return Model(
        header["labels"],
        encoder,
        weights,
        arrays["intercepts"],
        header["summary"],
        loss=header.get("loss", "logistic"),
        calibration=calibration,
        thresholds=header.get("thresholds"),
    )


def read_header(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The JSON header of a model file without its checksum, all of it checked; imports no plugin.

    Raises ModelError like :func:`load_model`, but not for a tokenizer that is not installed.
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
        "labels": list(model.labels),
        "loss": model.loss,
        "calibration": None if model.calibration is None else model.calibration.to_dict(),
        "thresholds": model.thresholds,
        "tokenizer": describe(encoder.tokenizer),
        "vectorizer": encoder.vectorizer.params(),
        "stop_words": list(encoder.stop_words),
        "summary": model.summary,
    }


def _arrays_of(model: Model) -> Arrays:
    encoder = model.encoder
    names = [name.encode("utf-8", _SURROGATES) for name in encoder.vocabulary]
    rows, columns = np.nonzero(model.weights)
    arrays: dict[str, NDArray[Any]] = {
        "names": np.frombuffer(b"".join(names), dtype=np.uint8),
        "name_ptr": _ptr([len(name) for name in names]),
        "weights": model.weights[rows, columns],
        "weight_ptr": _ptr(np.count_nonzero(model.weights, axis=1)),
        "weight_columns": columns.astype(np.int32),
        "intercepts": model.intercepts,
    }
    if encoder.idf is not None:
        arrays["idf"] = encoder.idf
    if encoder.columns is not None:
        arrays["columns"] = encoder.columns
    return arrays


def _ptr(sizes: Sequence[int] | NDArray[np.int64]) -> Int64s:
    ptr = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=ptr[1:])
    return ptr


def _check_header(header: Mapping[str, Any]) -> None:
    labels = field(header, "labels", list)
    if not all(isinstance(label, str) for label in labels) or len(set(labels)) != len(labels):
        raise FaultError("its labels are not distinct texts")
    loss = header.get("loss", "logistic")  # which older files did not say
    if loss not in {*LOSSES, "softmax"}:
        raise FaultError(f"it has a loss {loss!r}, and there is none of that name")
    if len(labels) < 2 and (labels or loss != "squared"):
        raise FaultError(f"it has {len(labels)} labels, where two are the least")
    _calibration(header)
    _check_thresholds(header, labels)
    field(header, "textreg", str)
    field(header, "vectorizer", dict)
    if not all(isinstance(word, str) for word in field(header, "stop_words", list)):
        raise FaultError("its stop words are not texts")
    field(header, "summary", dict)
    check_description(header)


def _calibration(header: Mapping[str, Any]) -> Calibration | None:
    """How scores become probabilities; older files do not say, and mean as they are."""
    plain = header.get("calibration")
    if plain is None:
        return None
    try:
        calibration = Calibration.of_dict(plain)
    except UsageError as error:
        raise FaultError(f"its calibration is none: {str(error).rstrip('.')}") from error
    n_labels = len(header["labels"])
    if calibration.curves and len(calibration.curves) != (n_labels if n_labels > 2 else 1):
        raise FaultError(f"its calibration has {len(calibration.curves)} curves")
    return calibration


def _check_thresholds(header: Mapping[str, Any], labels: Sequence[str]) -> None:
    thresholds = header.get("thresholds", {})
    if not isinstance(thresholds, dict) or not all(
        type(value) in (int, float) and abs(value) < float("inf") for value in thresholds.values()
    ):
        raise FaultError("its thresholds are not finite numbers by label")
    try:
        check_thresholds(thresholds, labels)
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


def _check_ptr(arrays: Arrays, name: str, pieces: int, total: int) -> None:
    ptr = arrays[name]
    if len(ptr) != pieces + 1 or ptr[0] != 0 or ptr[-1] != total or (ptr[1:] < ptr[:-1]).any():
        raise FaultError(f"'{name}' does not cut {total} entries into {pieces} pieces")


def _names(arrays: Arrays, ngrams: int) -> list[str]:
    blob = arrays["names"].tobytes()
    _check_ptr(arrays, "name_ptr", max(0, len(arrays["name_ptr"]) - 1), len(blob))
    bounds = arrays["name_ptr"].tolist()
    try:
        names = [blob[start:end].decode("utf-8", _SURROGATES) for start, end in pairwise(bounds)]
    except UnicodeDecodeError as error:
        raise FaultError(f"the name of a feature is not UTF-8 ({error.reason})") from error
    if len(set(names)) < len(names):
        raise FaultError("two of its features have the same name")
    if ngrams > 1 and any(name.count(" ") >= ngrams for name in names):
        raise FaultError(f"the name of a feature has more than {ngrams} words")
    return names


def _weights(arrays: Arrays, n_labels: int, n_features: int) -> Floats:
    rows = n_labels if n_labels > 2 else 1
    values, columns = arrays["weights"], arrays["weight_columns"]
    if len(arrays["intercepts"]) != rows:
        raise FaultError(f"it has {len(arrays['intercepts'])} intercepts, not {rows}")
    if len(columns) != len(values):
        raise FaultError(f"it has {len(values)} weights for {len(columns)} features")
    _check_ptr(arrays, "weight_ptr", rows, len(values))
    if ((columns < 0) | (columns >= n_features)).any():
        raise FaultError(f"a weight is for a feature outside 0 to {n_features - 1}")
    row_of = np.repeat(np.arange(rows), np.diff(arrays["weight_ptr"]))
    if ((np.diff(columns) <= 0) & (np.diff(row_of) == 0)).any():
        raise FaultError("the features of its weights do not rise within a row")
    try:
        weights = np.zeros((rows, n_features))
    except MemoryError as error:
        raise FaultError(f"{rows} x {n_features} weights do not fit into memory") from error
    weights[row_of, columns] = values
    return weights
