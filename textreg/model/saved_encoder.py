"""The encoder of a model file: its tokenizers in the header, names of features as arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from textreg.features.encoder import Encoder
from textreg.features.joined import AnyEncoder, JoinedEncoder
from textreg.features.vectorize import Vectorizer
from textreg.model.faults import FaultError
from textreg.model.packing import check_distinct, check_name_lengths, pack_names, unpack_names
from textreg.model.saved_tokenizer import TokenizerOrigin, UnloadedTokenizer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from textreg.model.container import Arrays

ENCODER_ARRAYS = {
    "names": "uint8",
    "name_ptr": "int64",
    "idf": "float64",
    "columns": "int64",
}
"""Types of the arrays of an encoder."""


@dataclass(frozen=True)
class SavedPart:
    """What the header says of one tokenizer and its features.

    Attributes
    ----------
    tokenizer : TokenizerOrigin
    names : int
        How many of the names are its own; those of the tokenizers follow one another.
    stop_words : tuple of str
        Words that n-grams pass over.
    """

    tokenizer: TokenizerOrigin
    names: int
    stop_words: tuple[str, ...]


def saved_parts(encoder: AnyEncoder) -> tuple[SavedPart, ...]:
    """The tokenizers of an encoder, for the header."""
    return tuple(
        SavedPart(TokenizerOrigin.of(part.tokenizer), len(part.vocabulary), tuple(part.stop_words))
        for part in encoder.parts
    )


def encoder_arrays(encoder: AnyEncoder) -> Arrays:
    """The arrays of an encoder."""
    parts = encoder.parts
    names, name_ptr = pack_names([name for part in parts for name in part.vocabulary])
    arrays: dict[str, NDArray[Any]] = {"names": names, "name_ptr": name_ptr}
    idf = [part.idf for part in parts if part.idf is not None]
    if idf:
        arrays["idf"] = np.concatenate(idf)
    if any(part.columns is not None for part in parts):
        first, columns = 0, []
        for part in parts:
            own = np.arange(len(part.vocabulary)) if part.columns is None else part.columns
            columns.append(own + first)
            first += len(part.vocabulary)
        arrays["columns"] = np.concatenate(columns)
    return arrays


def check_encoder(lengths: Mapping[str, int], parts: Sequence[SavedPart]) -> int:
    """FaultError if arrays of these lengths cannot be those of an encoder; else its features."""
    check_name_lengths(lengths, "names", "name_ptr")
    n_names = lengths["name_ptr"] - 1
    sizes = [part.names for part in parts]
    if not sizes or min(sizes) < 0 or sum(sizes) != n_names:
        raise FaultError(f"it has {n_names:,} features, which are not those of its tokenizers")
    if lengths.get("idf", n_names) != n_names:
        raise FaultError(f"it has {lengths['idf']:,} idf values for {n_names:,} features")
    n_features = lengths.get("columns", n_names)
    if n_features > n_names:
        raise FaultError(f"its columns are not increasing numbers from 0 to {n_names - 1}")
    return n_features


def read_encoder(
    parts: Sequence[SavedPart], vectorizer: Mapping[str, Any], arrays: Arrays
) -> AnyEncoder:
    """The encoder, with tokenizers that are not loaded."""
    names = unpack_names(arrays, "names", "name_ptr")
    idf, columns = arrays.get("idf"), arrays.get("columns")
    if idf is not None and ((idf < 1) | (idf > 100)).any():  # idf = 1 + ln(documents / df)
        raise FaultError("an idf is outside 1 to 100")
    if columns is not None and (
        (np.diff(columns) <= 0).any() or (columns < 0).any() or (columns >= len(names)).any()
    ):
        raise FaultError(f"its columns are not increasing numbers from 0 to {len(names) - 1}")
    ends = np.cumsum([0, *(part.names for part in parts)]).tolist()
    settings, encoders = Vectorizer(**vectorizer), []
    for part, (start, end) in zip(parts, pairwise(ends), strict=True):
        own = names[start:end]
        check_distinct(own)
        mine = columns
        if columns is not None:
            mine = columns[np.searchsorted(columns, start) : np.searchsorted(columns, end)] - start
        encoder = Encoder(
            UnloadedTokenizer(part.tokenizer),
            settings,
            own,
            None if idf is None else idf[start:end],
            stop_words=part.stop_words,
            columns=mine,
        )
        if encoder.ngrams > 1 and any(name.count(" ") >= encoder.ngrams for name in own):
            raise FaultError(f"the name of a feature has more than {encoder.ngrams} words")
        encoders.append(encoder)
    labels = [encoder.label for encoder in encoders]
    if len(set(labels)) < len(labels):
        raise FaultError("two of its tokenizers have the same name")
    return encoders[0] if len(encoders) == 1 else JoinedEncoder(encoders)
