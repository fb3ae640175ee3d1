"""The encoder of a model file: its tokenizers in the header, names of features as arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from textreg.errors import RecordError, UsageError
from textreg.features.encoder import WEIGHTINGS, Encoder
from textreg.features.joined import AnyEncoder, JoinedEncoder
from textreg.features.ngrams import GramNames, NGrams
from textreg.features.numbers import NumberEncoder
from textreg.features.vectorize import Vectorizer
from textreg.model.container import (
    FaultError,
    check_distinct,
    check_name_lengths,
    offsets_of,
    unpack_names,
)
from textreg.model.saved_tokenizer import TokenizerOrigin, UnloadedTokenizer
from textreg.records.fields import KINDS, MISSING, Field
from textreg.records.names import Names

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from textreg.model.container import Arrays
    from textreg.records import Int32s, Int64s

ENCODER_ARRAYS = {
    "names": "uint8",
    "name_ptr": "int64",
    "children": "int32",
    "last": "int32",
    "kept": "uint8",
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
        How many names it knows.
    levels : tuple of int
        How many of its n-grams have 1, 2 and more words; those of the tokenizers follow one
        another. Where its tokens form no n-grams, all of them are names of their own.
    stop_words : tuple of str
        Words that n-grams pass over.
    field : SavedField or None
        The field that it reads, with its own settings; None where each document is one text.
    """

    tokenizer: TokenizerOrigin
    names: int
    levels: tuple[int, ...]
    stop_words: tuple[str, ...]
    field: SavedField | None = None


def saved_parts(encoder: AnyEncoder) -> tuple[SavedPart, ...]:
    """The tokenizers of an encoder, for the header."""
    return tuple(
        SavedPart(
            TokenizerOrigin.of(part.tokenizer),
            len(part.vocabulary),
            (len(part.vocabulary),) if part.ngrams == 1 else tuple(part.tree[0].sizes),
            tuple(part.stop_words),
            SavedField.of(part),
        )
        for part in encoder.parts
    )


def encoder_arrays(encoder: AnyEncoder) -> Arrays:
    """The arrays of an encoder.

    Raises UsageError if the n-grams of a part are not in order of name, word by word.
    """
    parts = encoder.parts
    trees = [_tree(part) for part in parts]
    words = [Names.of(tree.words) for tree, _ in trees]
    arrays: dict[str, NDArray[Any]] = {
        "names": np.concatenate([own.letters for own in words]),
        "name_ptr": offsets_of(np.concatenate([np.diff(own.ptr) for own in words])),
    }
    if any(tree.last for tree, _ in trees):
        pointers = [ptr for tree, _ in trees for ptr in tree.child_ptr]
        arrays["children"] = np.concatenate([np.diff(ptr) for ptr in pointers]).astype(np.int32)
        arrays["last"] = np.concatenate([last for tree, _ in trees for last in tree.last])
    kept = np.concatenate([level >= 0 for _, numbers in trees for level in numbers])
    if not kept.all():
        arrays["kept"] = kept.view(np.uint8)
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


def _tree(part: Encoder) -> tuple[NGrams, list[Int32s]]:
    """The n-grams of a part and their numbers, in order of name."""
    if part.ngrams == 1:
        return NGrams(part.vocabulary), [np.arange(len(part.vocabulary), dtype=np.int32)]
    tree, numbers = part.tree
    ordered = tree.number([level >= 0 for level in numbers])
    if not all(map(np.array_equal, numbers, ordered)):
        raise UsageError("a model with n-grams out of order cannot be saved: sort their names.")
    return tree, numbers


def check_encoder(lengths: Mapping[str, int], parts: Sequence[SavedPart]) -> int:
    """FaultError if arrays of these lengths cannot be those of an encoder; else its features."""
    check_name_lengths(lengths, "names", "name_ptr")
    levels = [part.levels for part in parts]
    if not parts or not all(own and min(own) >= 0 for own in levels):
        raise FaultError("its n-grams are not those of its tokenizers")
    wanted = {
        "name_ptr": sum(own[0] for own in levels) + 1,
        "children": sum(sum(own[:-1]) for own in levels),
        "last": sum(sum(own[1:]) for own in levels),
    }
    if any(lengths.get(name, 0) != size for name, size in wanted.items()):
        raise FaultError(f"it has {lengths['name_ptr'] - 1:,} words and other n-grams than it says")
    total = sum(sum(own) for own in levels)
    n_names = sum(part.names for part in parts)
    most = total if "kept" in lengths else n_names
    if lengths.get("kept", total) != total or most != total or n_names > total:
        raise FaultError(f"it has {n_names:,} features, which are not those of its tokenizers")
    if lengths.get("idf", n_names) != n_names:
        raise FaultError(f"it has {lengths['idf']:,} idf values for {n_names:,} features")
    n_features = lengths.get("columns", n_names)
    if n_features > n_names:
        raise FaultError(f"its columns are not increasing numbers from 0 to {n_names - 1}")
    return n_features


class _Trees:
    """The n-grams of a file, taken part by part.

    Lengths of the arrays are checked before.
    """

    def __init__(self, arrays: Arrays) -> None:
        self._words = unpack_names(arrays, "names", "name_ptr")
        self._arrays = arrays
        self._at = {"name_ptr": 0, "children": 0, "last": 0, "kept": 0}

    def _take(self, name: str, size: int) -> NDArray[Any]:
        start = self._at[name]
        self._at[name] += size
        return self._arrays[name][start : start + size]

    def next(self, part: SavedPart, ngrams: int) -> Names:
        """The names of the next part; FaultError if they cannot be n-grams of so many words."""
        if len(part.levels) != ngrams or min(part.names, *part.levels) < 0:
            raise FaultError(f"its n-grams do not have up to {ngrams} words")
        start = self._at["name_ptr"]
        self._at["name_ptr"] += part.levels[0]
        words = self._words.cut(start, self._at["name_ptr"])
        check_distinct(words)
        if ngrams > 1 and (words.letters == ord(" ")).any():
            raise FaultError("a word in it has a space")
        pointers, lasts = [], []
        for above, size in pairwise(part.levels):
            counts = self._take("children", above)
            if (counts < 0).any() or counts.sum(dtype=np.int64) != size:
                raise FaultError("its n-grams do not have the children that it says")
            ptr = offsets_of(counts)
            last = self._take("last", size)
            if ((last < 0) | (last >= len(words))).any() or _falls(last, ptr):
                raise FaultError("its n-grams do not end in its words, in order")
            pointers.append(ptr)
            lasts.append(last)
        tree = NGrams(words, tuple(pointers), tuple(lasts))
        kept = [np.ones(size, dtype=bool) for size in part.levels]
        if "kept" in self._arrays:
            stored = [self._take("kept", size) for size in part.levels]
            if any((level > 1).any() for level in stored):
                raise FaultError("'kept' holds a number other than 0 and 1")
            kept = [level.astype(bool) for level in stored]
        if sum(int(np.count_nonzero(level)) for level in kept) != part.names:
            raise FaultError(f"a tokenizer of it does not have {part.names:,} features")
        if ngrams == 1 and all(level.all() for level in kept):
            return words
        return GramNames(tree, tree.number(kept))


def _falls(last: Int32s, ptr: Int64s) -> bool:
    """Whether some words do not ascend among the n-grams that begin alike."""
    falls = last[1:] <= last[:-1]
    begins = ptr[(ptr > 0) & (ptr < len(last))] - 1
    falls[begins] = False
    return bool(falls.any())


def read_encoder(
    parts: Sequence[SavedPart], vectorizer: Mapping[str, Any], arrays: Arrays
) -> AnyEncoder:
    """The encoder, with tokenizers that are not loaded."""
    trees = _Trees(arrays)
    n_names = sum(part.names for part in parts)
    idf, columns = arrays.get("idf"), arrays.get("columns")
    if idf is not None and ((idf < 1) | (idf > 100)).any():  # idf = 1 + ln(documents / df)
        raise FaultError("an idf is outside 1 to 100")
    if columns is not None and (
        (np.diff(columns) <= 0).any() or (columns < 0).any() or (columns >= n_names).any()
    ):
        raise FaultError(f"its columns are not increasing numbers from 0 to {n_names - 1}")
    ends = np.cumsum([0, *(part.names for part in parts)]).tolist()
    settings = Vectorizer(**vectorizer)
    encoders: list[Encoder] = []
    for part, (start, end) in zip(parts, pairwise(ends), strict=True):
        chosen = settings if part.field is None else Vectorizer(**part.field.vectorizer)
        own = trees.next(part, chosen.ngrams if part.tokenizer.forms_ngrams else 1)
        mine = columns
        if columns is not None:
            mine = columns[np.searchsorted(columns, start) : np.searchsorted(columns, end)] - start
        if part.field is not None and part.field.kind == "number":
            encoders.append(_number(part.field, own, mine))
            continue
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
