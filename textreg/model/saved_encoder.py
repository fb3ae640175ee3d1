"""The encoder of a model file: its tokenizers in the header, names of features as arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from textreg.errors import RecordError
from textreg.features.encoder import Encoder
from textreg.features.joined import AnyEncoder, JoinedEncoder
from textreg.features.numbers import NumberEncoder
from textreg.features.vectorize import Vectorizer
from textreg.features.weighting import WEIGHTINGS
from textreg.model.faults import FaultError
from textreg.model.packing import check_distinct, check_name_lengths, pack_names, unpack_names
from textreg.model.saved_tokenizer import TokenizerOrigin, UnloadedTokenizer
from textreg.records.fields import KINDS, MISSING, Field

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
class SavedField:
    """What the header says of the field that a part reads, where documents have several.

    Attributes
    ----------
    name, kind : str
        Of the :class:`~textreg.records.Field`.
    vectorizer : dict of str to Any
        Parameters of its vectorizer.
    mean, scale : float
        Of a number: what is subtracted from it, and what the difference is divided by.

    Raises
    ------
    RecordError
        If there is no such kind, the name is empty, or the scale is not above zero.
    """

    name: str
    kind: str
    vectorizer: dict[str, Any]
    mean: float = 0.0
    scale: float = 1.0

    def __post_init__(self) -> None:
        if self.kind not in KINDS or not self.name.strip():
            raise RecordError(f"no field can be a {self.kind!r} called {self.name!r}.")
        if not self.scale > 0:
            raise RecordError(f"a number cannot have the scale {self.scale}.")

    @classmethod
    def of(cls, part: Encoder) -> SavedField | None:
        """That of a part."""
        if part.field is None:
            return None
        saved = cls(part.field.name, part.field.kind, part.vectorizer.params())
        if isinstance(part, NumberEncoder):
            saved = replace(saved, mean=part.mean, scale=part.scale)
        return saved


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
    field : SavedField or None
        The field that it reads, with its own settings; None where each document is one text.
    """

    tokenizer: TokenizerOrigin
    names: int
    stop_words: tuple[str, ...]
    field: SavedField | None = None


def saved_parts(encoder: AnyEncoder) -> tuple[SavedPart, ...]:
    """The tokenizers of an encoder, for the header."""
    return tuple(
        SavedPart(
            TokenizerOrigin.of(part.tokenizer),
            len(part.vocabulary),
            tuple(part.stop_words),
            SavedField.of(part),
        )
        for part in encoder.parts
    )


def encoder_arrays(encoder: AnyEncoder) -> Arrays:
    """The arrays of an encoder."""
    parts = encoder.parts
    names, name_ptr = pack_names([name for part in parts for name in part.vocabulary])
    arrays: dict[str, NDArray[Any]] = {"names": names, "name_ptr": name_ptr}
    if any(part.idf is not None for part in parts):
        arrays["idf"] = np.concatenate(
            [np.ones(len(part.vocabulary)) if part.idf is None else part.idf for part in parts]
        )
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
    settings = Vectorizer(**vectorizer)
    encoders: list[Encoder] = []
    for part, (start, end) in zip(parts, pairwise(ends), strict=True):
        own = names[start:end]
        check_distinct(own)
        mine = columns
        if columns is not None:
            mine = columns[np.searchsorted(columns, start) : np.searchsorted(columns, end)] - start
        if part.field is not None and part.field.kind == "number":
            encoders.append(_number(part.field, own, mine))
            continue
        chosen = settings if part.field is None else Vectorizer(**part.field.vectorizer)
        own_idf = None if idf is None else idf[start:end]
        if part.field is not None and not WEIGHTINGS[chosen.weighting].idf:
            own_idf = None  # ones, beside those of other fields
        encoder = Encoder(
            UnloadedTokenizer(part.tokenizer),
            chosen,
            own,
            own_idf,
            stop_words=part.stop_words,
            columns=mine,
            field=None if part.field is None else Field(part.field.name, part.field.kind),
        )
        if encoder.ngrams > 1 and any(name.count(" ") >= encoder.ngrams for name in own):
            raise FaultError(f"the name of a feature has more than {encoder.ngrams} words")
        encoders.append(encoder)
    keys = [(encoder.field and encoder.field.name, encoder.label) for encoder in encoders]
    if len(set(keys)) < len(keys):
        raise FaultError("two of its tokenizers have the same name")
    fields = {encoder.field.name: encoder.field for encoder in encoders if encoder.field}
    if fields:
        _check_fields(encoders, list(fields.values()))
    return encoders[0] if len(encoders) == 1 and not fields else JoinedEncoder(encoders)


def _number(field: SavedField, names: Sequence[str], columns: Any) -> NumberEncoder:
    """The encoder of a number; FaultError if its columns are none of a number."""
    if columns is not None:
        names = [names[column] for column in columns.tolist()]
    if not {*names} <= {"", MISSING}:
        raise FaultError(f"the features of the number '{field.name}' are {list(names)!r:.60}")
    return NumberEncoder(field.name, field.mean, field.scale, names)


def _check_fields(encoders: Sequence[Encoder], fields: Sequence[Field]) -> None:
    """FaultError if the parts cannot be those of these fields."""
    if any(encoder.field is None or encoder.field not in fields for encoder in encoders):
        raise FaultError("only some of its tokenizers read a field, or one field has two kinds")
    if not any(field.kind == "text" for field in fields):
        raise FaultError("none of its fields is a text")
