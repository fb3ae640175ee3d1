"""Model files: safetensors arrays and one JSON header; loading runs no code from the file.

Format 1. ``__metadata__["textreg"]`` of the safetensors file is a JSON object:

=================  =================================================================================
``format``         version of this format, a whole number; checked before anything else
``textreg``        version of textreg that wrote the file
``task``           what is predicted: "binary", "one-vs-rest", "softmax", "multilabel" or
                   "regression"
``labels``         labels of the model, in order; none for a regression
``loss``           name of the loss
``probabilistic``  whether scores stand for probabilities
``rare_label``     label that those of few training documents were joined into; or null
``unknown``        answer for texts whose highest score is below its threshold; or null
``calibration``    of probabilities: :class:`textreg.measure.decisions.Calibration`; or null
``thresholds``     decision thresholds by label
``parts``          tokenizers in the order of their features, one at least, with stop words:
                   :class:`textreg.model.saved_encoder.SavedPart`
``at_least_one``   whether every document is predicted to have a label, where it may have several;
                   false if it is missing
``vectorizer``     parameters of the vectorizer; a field of the documents has its own in its part
``summary``        how the model was trained: :class:`textreg.model.summary.TrainingSummary`; null
                   of models that were not trained by textreg
``path``           points of the regularization path, see below; or null
``deflated``       which arrays are stored deflated (:mod:`textreg.model.container`)
=================  =================================================================================

The same training on the same machine gives the same bytes: of the header, only the days of updates
depend on time.
``__metadata__["checksum"]`` is the SHA-256 digest, in hexadecimal digits, of the header's text and,
in the order of their bytes, of the JSON ``[name, dtype, shape]`` and the bytes of every array.
It shows damage, not who made the file: see :func:`load_model`. The arrays are

===================  =======  ======================================================================
``names``            uint8    words of the n-grams in UTF-8, concatenated, part by part
``name_ptr``         int64    name i is ``names[name_ptr[i]:name_ptr[i + 1]]``
``children``         int32    how many n-grams each begins that is not of the longest, by length
``last``             int32    the last word of each n-gram of two words or more, by length, and
                              increasing among those that begin alike
``kept``             uint8    1 for the n-grams that have a name, by length, else 0: the others
                              only begin one; all have if it is missing
``weights``          float64  the weights that are not zero, row by row
``weight_ptr``       int64    row i is ``weights[weight_ptr[i]:weight_ptr[i + 1]]``
``weight_columns``   int32    the feature of each weight, increasing within a row
``intercepts``       float64  one for each row
``idf``              float64  one for each name; only with the weightings ``tfidf`` and ``unit-idf``
``columns``          int64    which names are features, increasing; all if it is missing
===================  =======  ======================================================================

An n-gram is the child of that without its last word. Those of a part are in order of length and
then of their words; names are in the order of their words, of any length. Where tokens form no
n-grams, all are words. A file with other arrays is refused. If the model keeps a regularization
path, its points are ``path`` of the header,
a :class:`textreg.model.regularization_path.PathHeader`, and the arrays are

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

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from textreg.files import write_atomically
from textreg.measure.decisions import Calibration
from textreg.model import container, json_records, saved_encoder
from textreg.model.container import FaultError
from textreg.model.model import SMALL_WEIGHTS, Model, table_bytes
from textreg.model.regularization_path import PathHeader, SolutionPath
from textreg.model.saved_encoder import SavedPart
from textreg.model.summary import TrainingSummary
from textreg.records.arrays import row_of
from textreg.records.text import Names
from textreg.tasks import task_of_header

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from textreg.features.encoder import AnyEncoder
    from textreg.model.container import Arrays
    from textreg.records import Floats, Int32s, Int64s


#: Types of the arrays that are read.
ARRAYS = {
    **dict.fromkeys(("names", "kept", "path_names"), "uint8"),
    **dict.fromkeys(("children", "last", "weight_columns", "path_columns"), "int32"),
    **dict.fromkeys(("name_ptr", "columns", "weight_ptr", "path_name_ptr", "path_ptr"), "int64"),
    **dict.fromkeys(("idf", "weights", "intercepts", "path_intercepts"), "float64"),
    "path_weights": "float32",
}
#: The arrays of sparse rows: values, columns and offsets.
ROWS = "weights", "weight_columns", "weight_ptr"
PATH_ROWS = "path_weights", "path_columns", "path_ptr"
_OF_PATHS = {name for name in ARRAYS if name.startswith("path_")}
_OPTIONAL = {"children", "last", "kept", "idf", "columns", *_OF_PATHS}


def check_path_lengths(header: PathHeader | None, lengths: Mapping[str, int], rows: int) -> None:
    """FaultError if arrays of these lengths cannot be a path with ``rows`` rows for each point."""
    present = _OF_PATHS & lengths.keys()
    if header is None:
        if present:
            raise FaultError(f"it has no path but the array '{min(present)}'")
        return
    if missing := _OF_PATHS - present:
        raise FaultError(f"it has a path but no array '{min(missing)}'")
    container.check_name_lengths(lengths, "path_names", "path_name_ptr")
    total = rows * len(header)
    if lengths["path_intercepts"] != total:
        raise FaultError(f"its path has {lengths['path_intercepts']} intercepts, not {total}")
    container.check_row_lengths(lengths, PATH_ROWS, total, lengths["path_name_ptr"] - 1)


def read_path(header: PathHeader | None, arrays: Arrays, rows: int) -> SolutionPath | None:
    """The path in a file, if there is one; FaultError if its arrays are damaged.

    rows: number of weight vectors of the model. Lengths of the arrays are checked before.
    """
    if header is None or find_spec("scipy") is None:  # predictions need neither
        return None
    from scipy.sparse import csr_array

    names = container.unpack_names(arrays, "path_names", "path_name_ptr")
    container.check_distinct(names)
    total = rows * len(header)
    parts = container.unpack_rows(arrays, PATH_ROWS, total, len(names))
    weights = csr_array(parts, shape=(total, len(names)))
    intercepts = arrays["path_intercepts"].reshape(len(header), rows)
    return SolutionPath(**vars(header), names=names, weights=weights, intercepts=intercepts)


@dataclass(frozen=True)
class Header:
    """The JSON header of a model file: see the table above."""

    textreg: str
    task: str
    labels: tuple[str, ...]
    loss: str
    probabilistic: bool
    rare_label: str | None
    unknown: str | None
    calibration: Calibration | None
    thresholds: dict[str, float]
    parts: tuple[SavedPart, ...]
    vectorizer: dict[str, Any]
    summary: TrainingSummary | None
    path: PathHeader | None
    at_least_one: bool = False


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
    from importlib import metadata  # not where a model is loaded: it takes time

    from scipy.sparse import csr_array

    encoder = model.encoder
    header = Header(
        textreg=metadata.version("textreg"),
        **model.task.to_header(),
        calibration=model.calibration,
        thresholds=model.thresholds,
        parts=saved_encoder.saved_parts(encoder),
        vectorizer=encoder.vectorizer.params(),
        summary=model.summary,
        path=None if model.path is None else model.path.header,
    )
    by_row = csr_array(model.by_feature.T)
    by_row.sort_indices()
    arrays: dict[str, NDArray[Any]] = {
        **saved_encoder.encoder_arrays(encoder),
        "weights": by_row.data,
        "weight_ptr": by_row.indptr.astype(np.int64),
        "weight_columns": by_row.indices.astype(np.int32),
        "intercepts": model.intercepts,
    }
    if (regularization := model.path) is not None:
        names, weights = Names.of(regularization.names), regularization.weights
        arrays |= {
            "path_names": names.letters,
            "path_name_ptr": names.ptr,
            "path_weights": weights.data.astype(np.float32),
            "path_ptr": weights.indptr.astype(np.int64),
            "path_columns": weights.indices.astype(np.int32),
            "path_intercepts": regularization.intercepts.ravel(),
        }
    data = container.pack(json_records.to_json(header), arrays)
    write_atomically(Path(path), data)


def load_model(
    path: str | os.PathLike[str],
    *,
    tokenizer: bool | Callable[[str], Any] | Sequence[Callable[[str], Any]] = True,
    sha256: str | None = None,
) -> Model:
    """Read and check a model file.

    This imports nothing but the installed tokenizer that the file names. A tokenizer from a plugin
    file must be registered before, with the same content: see :func:`textreg.register_file`.

    Parameters
    ----------
    path : path-like
        The file to read.
    tokenizer : bool or callable, default True
        Whether to load the tokenizer. Without it, the model shows its labels, features and weights,
        but raises ModelError when it is asked to predict. A model that was trained with a callable
        as its tokenizer needs that here: its file holds the name only. One with several callables
        needs a list of them, in their order.
    sha256 : str, optional
        The digest that the file must have, in hexadecimal digits, as ``sha256sum`` and ``textreg
        show --digest`` print it. The checksum inside a file shows that it is not damaged; only a
        digest from whoever made the file shows that nobody has changed it since.

    Returns
    -------
    Model

    Raises
    ------
    UsageError
        If there is no such file, ``sha256`` is not a digest, or a callable is given to a model that
        was trained without one.
    ModelError
        If the file is not a model, is damaged, has another digest, was made by a newer textreg,
        needs a tokenizer that is not there, or does not fit into memory.

    Examples
    --------
    >>> import tempfile, textreg
    >>> texts, labels = ["so good", "so bad"] * 10, ["pos", "neg"] * 10
    >>> model = textreg.train(texts, labels, reg="ridge", reg_l2=0.1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/model.textreg")
    ...     textreg.load(f"{folder}/model.textreg").predict(["good"])
    ['pos']
    """
    path = Path(path)
    with container.opened(path, ARRAYS, sha256) as stored:
        header = json_records.from_json(Header, stored.header, "")
        task = task_of_header(stored.header)
        rows = task.n_rows
        if header.summary is not None and header.summary.task != task.name:
            raise FaultError(f"it is a {task.name}, and its summary is of another task")
        check_path_lengths(header.path, stored.lengths, rows)
        _check_lengths(stored.lengths, header, rows)
        arrays = stored.read()
        encoder, weights = _encoder_and_weights(header, arrays, rows)
        model = Model(
            task,
            encoder,
            weights,
            arrays["intercepts"],
            header.summary,
            calibration=header.calibration,
            thresholds=header.thresholds,
            path=read_path(header.path, arrays, rows),
        )
    if tokenizer is not False:
        origins = [part.tokenizer for part in header.parts]
        tokenizers = saved_encoder.find_tokenizers(path, origins, tokenizer)
        for part, loaded in zip(model.encoder.parts, tokenizers, strict=True):
            part.tokenizer = loaded
    return model


def _check_lengths(lengths: Mapping[str, int], header: Header, rows: int) -> None:
    """FaultError if arrays of these lengths cannot belong together."""
    if missing := ARRAYS.keys() - _OPTIONAL - lengths.keys():
        raise FaultError(f"it has no array '{min(missing)}'")
    n_features = saved_encoder.check_encoder(lengths, header.parts)
    if lengths["intercepts"] != rows:
        raise FaultError(f"it has {lengths['intercepts']} intercepts, not {rows}")
    container.check_row_lengths(lengths, ROWS, rows, n_features)


def _encoder_and_weights(
    header: Header, arrays: Arrays, rows: int
) -> tuple[AnyEncoder, Floats | csr_array]:
    """The encoder of the features with a weight, and their weights; many of them sparse."""
    encoder = saved_encoder.read_encoder(header.parts, header.vectorizer, arrays)
    values, columns, ptr = container.unpack_rows(arrays, ROWS, rows, encoder.n_columns)
    if not values.all():
        raise FaultError("a weight in it is zero")
    used = np.flatnonzero(np.bincount(columns, minlength=encoder.n_columns))
    places: Int32s | Int64s = columns
    if len(used) < encoder.n_columns:
        encoder, places = encoder.restrict(used), np.searchsorted(used, columns)
    shape = rows, len(used)
    if table_bytes(shape) > SMALL_WEIGHTS:
        from scipy.sparse import csr_array

        return encoder, csr_array((values, places, ptr), shape=shape)
    weights = np.zeros(shape, order="F")
    weights[row_of(ptr), places] = values
    return encoder, weights
