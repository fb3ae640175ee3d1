"""Model files: safetensors arrays and one JSON header; loading runs no code from the file.

Format 1. ``__metadata__["textreg"]`` of the safetensors file is a JSON object:

=================  =================================================================================
``format``         version of this format, a whole number; checked before anything else
``textreg``        version of textreg that wrote the file
``task``           what is predicted: "binary", "one-vs-rest", "softmax" or "regression"
``labels``         labels of the model, in order; none for a regression
``loss``           name of the loss
``probabilistic``  whether scores stand for probabilities
``calibration``    of probabilities: :class:`textreg.measure.calibration.Calibration`; or null
``thresholds``     decision thresholds by label
``tokenizer``      :class:`textreg.model.saved_tokenizer.TokenizerOrigin`
``vectorizer``     parameters of the vectorizer
``stop_words``     words that n-grams pass over
``summary``        how the model was trained: :class:`textreg.model.summary.TrainingSummary`; null
                   of models that were not trained by textreg
``path``           points of the regularization path: see :mod:`textreg.model.pathfile`; or null
``deflated``       which arrays are stored deflated (:mod:`textreg.model.container`)
``checksum``       SHA-256, in hexadecimal digits, over all the rest of the header and all arrays
=================  =================================================================================

and the arrays are

===================  =======  ======================================================================
``names``            uint8    names of the vocabulary in UTF-8, concatenated
``name_ptr``         int64    name i is ``names[name_ptr[i]:name_ptr[i + 1]]``
``weights``          float64  the weights that are not zero, row by row
``weight_ptr``       int64    row i is ``weights[weight_ptr[i]:weight_ptr[i + 1]]``
``weight_columns``   int32    the feature of each weight, increasing within a row
``intercepts``       float64  one for each row
``idf``              float64  one for each name; only with the weighting ``tfidf``
``columns``          int64    which names are features, increasing; all if it is missing
===================  =======  ======================================================================

and those of a regularization path, if the model keeps one. Other members and arrays are ignored,
so that later versions may add some.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from textreg.features.encoder import Encoder
from textreg.features.vectorize import Vectorizer
from textreg.files import write_atomically
from textreg.measure.calibration import Calibration
from textreg.model.container import FaultError, blaming, pack, unpack
from textreg.model.json_records import from_json, to_json
from textreg.model.model import Model
from textreg.model.packing import offsets_of, pack_names, unpack_names, unpack_rows
from textreg.model.pathfile import PATH_ARRAYS, path_arrays, read_path
from textreg.model.regularization_path import PathHeader
from textreg.model.saved_tokenizer import TokenizerOrigin, UnloadedTokenizer, find_tokenizer
from textreg.model.summary import TrainingSummary
from textreg.records.ragged import row_of
from textreg.tasks import task_of_header

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


@dataclass(frozen=True)
class Header:
    """The JSON header of a model file: see the table above."""

    textreg: str
    task: str
    labels: tuple[str, ...]
    loss: str
    probabilistic: bool
    calibration: Calibration | None
    thresholds: dict[str, float]
    tokenizer: TokenizerOrigin
    vectorizer: dict[str, Any]
    stop_words: tuple[str, ...]
    summary: TrainingSummary | None
    path: PathHeader | None


def save_model(model: Model, path: str | os.PathLike[str]) -> None:
    """Write a model file; if this fails, an existing file stays as it was.

    Parameters
    ----------
    model : Model
        The model.
    path : path-like
        The file to write.

    Raises
    ------
    UsageError
        If no file can have this path, or no plugin can have the name of the tokenizer.
    ModelError
        If the file cannot be written.
    """
    write_atomically(Path(path), pack(to_json(_header_of(model)), _arrays_of(model)))


def load_model(path: str | os.PathLike[str], *, tokenizer: bool = True) -> Model:
    """Read and check a model file.

    This imports nothing but the installed tokenizer that the file names. A tokenizer from a plugin
    file must be registered before, with the same content: see :func:`textreg.register_file`.

    Parameters
    ----------
    path : path-like
        The file to read.
    tokenizer : bool, default True
        Whether to load the tokenizer. Without it, the model shows its labels, features and weights,
        but raises ModelError when it is asked to predict.

    Returns
    -------
    Model

    Raises
    ------
    UsageError
        If there is no such file.
    ModelError
        If the file is not a model, is damaged, was made by a newer textreg, or needs a tokenizer
        that is not installed.
    """
    path = Path(path)
    plain, arrays = unpack(path, ARRAYS)
    with blaming(path):
        header = from_json(Header, plain, "")
        task = task_of_header(plain)
        if missing := ARRAYS.keys() - _OPTIONAL - arrays.keys():
            raise FaultError(f"it has no array '{min(missing)}'")
        encoder = _encoder(header, arrays)
        weights = _weights(arrays, task.n_rows, len(encoder.names))
        model = Model(
            task,
            encoder,
            weights,
            arrays["intercepts"],
            header.summary,
            calibration=header.calibration,
            thresholds=header.thresholds,
            path=read_path(header.path, arrays, len(weights)),
        )
    if tokenizer:
        model.encoder.tokenizer = find_tokenizer(path, header.tokenizer)
    return model


def _header_of(model: Model) -> Header:
    encoder = model.encoder
    return Header(
        textreg=metadata.version("textreg"),
        **model.task.to_header(),
        calibration=model.calibration,
        thresholds=model.thresholds,
        tokenizer=TokenizerOrigin.of(encoder.tokenizer),
        vectorizer=encoder.vectorizer.params(),
        stop_words=tuple(encoder.stop_words),
        summary=model.summary,
        path=None if model.path is None else model.path.header,
    )


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


def _encoder(header: Header, arrays: Arrays) -> Encoder:
    """The encoder, with a tokenizer that is not loaded."""
    tokenizer = UnloadedTokenizer(header.tokenizer)
    idf, columns = arrays.get("idf"), arrays.get("columns")
    if idf is not None and ((idf < 1) | (idf > 100)).any():  # idf = 1 + ln(documents / df)
        raise FaultError("an idf is outside 1 to 100")
    vectorizer = Vectorizer(**header.vectorizer)
    names, ngrams = unpack_names(arrays, "names", "name_ptr"), vectorizer.ngrams
    if ngrams > 1 and any(name.count(" ") >= ngrams for name in names):
        raise FaultError(f"the name of a feature has more than {ngrams} words")
    if columns is not None and (
        (np.diff(columns) <= 0).any() or (columns < 0).any() or (columns >= len(names)).any()
    ):
        raise FaultError(f"its columns are not increasing numbers from 0 to {len(names) - 1}")
    return Encoder(tokenizer, vectorizer, names, idf, stop_words=header.stop_words, columns=columns)


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
