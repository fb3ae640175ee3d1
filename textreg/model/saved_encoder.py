"""The encoder of a model file: its tokenizers in the header, names of features as arrays.

A tokenizer is saved by its name, its parameters and where it came from, and found by these again.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from textreg.errors import ModelError, PluginError, PluginWarning, RecordError, UsageError
from textreg.features.encoder import WEIGHTINGS, AnyEncoder, Encoder, JoinedEncoder
from textreg.features.fields import NumberEncoder
from textreg.features.ngrams import GramNames, NGrams
from textreg.features.vectorize import Vectorizer
from textreg.kinds import Tokenizer
from textreg.model import container
from textreg.model.container import FaultError, shown
from textreg.plugins import distributions, registry
from textreg.records.arrays import offsets_of
from textreg.records.documents import KINDS, MISSING, Field
from textreg.records.text import Names
from textreg.structure.joining import CallableTokenizer, Pretokenized, is_function
from textreg.terminal import shell_line

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from textreg.model.container import Arrays
    from textreg.records import Int32s


# What a tokenizer can be: see TokenizerOrigin.
SOURCES = ("plugin", "callable", "tokens")

# The distribution that is there, and whose tokenizers are the same in any version.
OWN = "textreg"

_ONE_LINE = re.compile(r"[^\x00-\x1f\x7f-\x9f\u2028\u2029]*")
# They are printed as parts of commands, so they must mean nothing else to a shell or to pip.
_PATTERNS = {
    "name": distributions.PART_NAME,
    "distribution": re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)?"),
    "version": re.compile(r"[A-Za-z0-9._+!-]*"),
    "file": _ONE_LINE,
    "sha256": re.compile(r"([0-9a-f]{64})?"),
}


@dataclass(frozen=True, kw_only=True)
class TokenizerOrigin(registry.Origin):
    """Name and parameters of a tokenizer, and where it came from.

    Attributes
    ----------
    name, distribution, version, api, file, sha256
        See :class:`textreg.plugins.registry.Origin`.
    params : dict of str to Any
        Its parameters.
    forms_ngrams : bool
        Whether runs of its tokens become n-grams.
    source : {"plugin", "callable", "tokens"}
        Whether it is a plugin, a callable that was given to ``train``, whose name is for messages
        only, or none at all: the documents are lists of tokens.

    Raises
    ------
    RecordError
        If no tokenizer can have these names.
    """

    params: dict[str, Any]
    forms_ngrams: bool
    source: str = "plugin"

    def __post_init__(self) -> None:
        if self.source not in SOURCES:
            raise RecordError(f"no tokenizer is a {self.source!r}: it is one of {SOURCES}.")
        if self.source != "plugin" and (self.params or self.distribution or self.sha256):
            raise RecordError(f"a tokenizer that is no plugin has a name only: {self}.")
        for key, pattern in _PATTERNS.items():
            value = getattr(self, key)
            if key == "name" and self.source == "callable":
                pattern = _ONE_LINE
            if not pattern.fullmatch(value):
                raise RecordError(f"no tokenizer can have the {key} {value!r}.")
        if bool(self.file) != bool(self.sha256):
            raise RecordError("a file needs its SHA-256 digest, and a digest its file.")

    @classmethod
    def of(cls, tokenizer: Tokenizer) -> TokenizerOrigin:
        """The origin of a tokenizer.

        Raises UsageError for a tokenizer whose name no plugin can have.
        """
        if isinstance(tokenizer, UnloadedTokenizer):
            return tokenizer.origin
        if isinstance(tokenizer, (CallableTokenizer, Pretokenized)):
            source = "callable" if isinstance(tokenizer, CallableTokenizer) else "tokens"
            origin = registry.Origin(
                name=tokenizer.name, distribution="", version="", api=tokenizer.api
            )
            return cls(**vars(origin), params={}, forms_ngrams=True, source=source)
        if not distributions.PART_NAME.fullmatch(tokenizer.name):
            raise UsageError(
                f"a model with the tokenizer {tokenizer!r} cannot be saved, because no plugin can "
                f"have the name {tokenizer.name!r}: give its class a name."
            )
        origin, forms_ngrams = registry.origin(tokenizer), tokenizer.forms_ngrams
        return cls(**vars(origin), params=tokenizer.params(), forms_ngrams=forms_ngrams)

    @property
    def install_command(self) -> str:
        """The command that installs its distribution."""
        version = f"=={self.version}" if self.version else ""
        return shell_line(["pip", "install", self.distribution + version])

    def __str__(self) -> str:
        if self.sha256:
            return f"'{self.name}' of the plugin file {self.file} (SHA-256 {self.sha256})"
        source = f"{self.distribution} {self.version}".strip()
        return f"'{self.name}' of {source}" if source else f"'{self.name}'"


def missing_tokenizer(origin: TokenizerOrigin) -> str:
    """A missing tokenizer in words, and how to get it; empty if it is there. Imports nothing."""
    if origin.source == "callable":
        return (
            f"the tokenizer '{origin.name}', a callable that no model file can hold: give it again "
            "in Python, textreg.load(path, tokenizer=...). For the command line make it a plugin "
            "(textreg plugins new tokenizer), and train with that"
        )
    if origin.sha256:
        if origin.sha256 not in (file.sha256 for file in registry.files()):
            return f"the tokenizer {origin}: {registry.how_to_add(origin)}"
    elif origin.distribution not in ("", OWN) and not installed_version(origin.distribution):
        return f"the tokenizer {origin}, which is not installed: {origin.install_command}"
    return ""


def find_tokenizers(
    path: Path, origins: Sequence[TokenizerOrigin], given: Any = True
) -> list[Tokenizer]:
    """The tokenizers that the model in a file was made with.

    given: True, or the callable that the model was trained with; of several, a list. Raises
    UsageError for others than the model needs; ModelError if a tokenizer is missing, and says how
    to get it. Warns with PluginWarning if its distribution has another version, or if another
    tokenizer of that name takes its place.
    """
    if given is True:
        return [find_tokenizer(path, origin) for origin in origins]
    needed = [f"'{origin.name}'" for origin in origins if origin.source == "callable"]
    functions = iter(listed := list(given) if isinstance(given, (list, tuple)) else [given])
    if not needed:
        what = "takes lists of tokens" if origins[0].source == "tokens" else "has its own"
        raise UsageError(f"{path} {what}, and needs no tokenizer: leave out tokenizer.")
    if len(listed) != len(needed) or not all(map(is_function, listed)):
        wanted = f"the callable {needed[0]}"
        if len(needed) > 1:
            wanted = f"a list of the callables {', '.join(needed)}"
        raise UsageError(f"{path} needs as tokenizer {wanted}, not {given!r:.60}.")
    return [
        CallableTokenizer.of(next(functions))
        if origin.source == "callable"
        else find_tokenizer(path, origin)
        for origin in origins
    ]


def find_tokenizer(path: Path, origin: TokenizerOrigin) -> Tokenizer:
    """One of them that is no callable, or ModelError."""
    if origin.source == "tokens":
        return Pretokenized()
    if missing := missing_tokenizer(origin):
        show = shell_line(["textreg", "show", path])
        raise ModelError(f"{path} needs {missing} (without it, {show} still works)")
    if origin.distribution not in ("", OWN):
        installed = installed_version(origin.distribution)
        if origin.version not in ("", installed):
            warnings.warn(
                f"{path} was made with {origin.distribution} {origin.version}, but {installed} is "
                f"installed: its tokenizer may give other words. To get the same version: "
                f"{origin.install_command}",
                PluginWarning,
                stacklevel=3,
            )
    try:
        name = registry.spelled(origin)
        tokenizer: Tokenizer = registry.create("tokenizer", name, **origin.params)
    except (PluginError, UsageError) as error:
        raise ModelError(f"{path} needs the tokenizer {origin}: {error}") from error
    # An installed one may replace one that a program had registered.
    info = None if origin.distribution or origin.sha256 else registry.provider(tokenizer)
    if info is not None and (info.distribution or info.file):
        warnings.warn(
            f"{path} was made with a tokenizer '{tokenizer.name}' that a program had registered; "
            f"the one of {info.home} is used instead, and may give other words.",
            PluginWarning,
            stacklevel=3,
        )
    return tokenizer


def installed_version(distribution: str) -> str:
    """The installed version of a distribution; empty if it is not installed."""
    from importlib import metadata

    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""


class UnloadedTokenizer(Tokenizer):
    """Stands for the tokenizer of a model that was loaded without it."""

    origin: TokenizerOrigin

    def __init__(self, origin: TokenizerOrigin) -> None:
        super().__init__()
        self.__dict__.update(name=origin.name, forms_ngrams=origin.forms_ngrams, origin=origin)

    def params(self) -> dict[str, Any]:
        return dict(self.origin.params)

    def __call__(self, text: str) -> list[list[str]]:
        raise ModelError(
            f"this model was loaded without its tokenizer, '{self.name}', so it can show its "
            "content but not predict: load it again without tokenizer=False."
        )


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
            tuple(part.tree[0].sizes),
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
        "names": np.concatenate([names.letters for names in words]),
        "name_ptr": offsets_of(np.concatenate([np.diff(names.ptr) for names in words])),
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
            numbers = np.arange(len(part.vocabulary)) if part.columns is None else part.columns
            columns.append(numbers + first)
            first += len(part.vocabulary)
        arrays["columns"] = np.concatenate(columns)
    return arrays


def _tree(part: Encoder) -> tuple[NGrams, list[Int32s]]:
    """The n-grams of a part and their numbers, in order of name."""
    tree, numbers = part.tree
    ordered = tree.number(np.concatenate(numbers) >= 0)
    if not all(map(np.array_equal, numbers, ordered)):
        raise UsageError("a model with n-grams out of order cannot be saved: sort their names.")
    return tree, numbers


def check_encoder(lengths: Mapping[str, int], parts: Sequence[SavedPart]) -> int:
    """FaultError if arrays of these lengths cannot be those of an encoder; else its features."""
    container.check_name_lengths(lengths, "names", "name_ptr")
    levels = [part.levels for part in parts]
    if not parts or not all(sizes and min(sizes) >= 0 for sizes in levels):
        raise FaultError("its n-grams are not those of its tokenizers")
    wanted = {
        "name_ptr": sum(sizes[0] for sizes in levels) + 1,
        "children": sum(sum(sizes[:-1]) for sizes in levels),
        "last": sum(sum(sizes[1:]) for sizes in levels),
    }
    if any(lengths.get(name, 0) != size for name, size in wanted.items()):
        raise FaultError(f"it has {lengths['name_ptr'] - 1:,} words and other n-grams than it says")
    total = sum(sum(sizes) for sizes in levels)
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
        self._words = container.unpack_names(arrays, "names", "name_ptr")
        self._arrays = arrays
        self._at = {"name_ptr": 0, "children": 0, "last": 0, "kept": 0}

    def _take(self, name: str, size: int) -> NDArray[Any]:
        start = self._at[name]
        self._at[name] += size
        return self._arrays[name][start : start + size]

    def next(self, part: SavedPart, ngrams: int) -> Names:
        """The names of the next part; FaultError if they cannot be n-grams of so many words."""
        if len(part.levels) != ngrams:
            raise FaultError(f"its n-grams do not have up to {ngrams} words")
        start = self._at["name_ptr"]
        self._at["name_ptr"] += part.levels[0]
        words = self._words.cut(start, self._at["name_ptr"])
        container.check_distinct(words)
        if ngrams > 1 and (words.letters == ord(" ")).any():
            raise FaultError("a word in it has a space")
        pointers, lasts = [], []
        for above, size in pairwise(part.levels):
            counts = self._take("children", above)
            if (counts < 0).any() or counts.sum(dtype=np.int64) != size:
                raise FaultError("its n-grams do not have the children that it says")
            ptr = offsets_of(counts)
            last = self._take("last", size)
            # Words ascend among the n-grams that begin alike.
            falls = last[1:] <= last[:-1]
            falls[ptr[(ptr > 0) & (ptr < len(last))] - 1] = False
            if ((last < 0) | (last >= len(words))).any() or falls.any():
                raise FaultError("its n-grams do not end in its words, in order")
            pointers.append(ptr)
            lasts.append(last)
        tree = NGrams(words, tuple(pointers), tuple(lasts))
        kept = np.ones(sum(part.levels), dtype=bool)
        if "kept" in self._arrays:
            stored = self._take("kept", len(kept))
            if (stored > 1).any():
                raise FaultError("'kept' holds a number other than 0 and 1")
            kept = stored.astype(bool)
        if np.count_nonzero(kept) != part.names:
            raise FaultError(f"a tokenizer of it does not have {part.names:,} features")
        if ngrams == 1 and kept.all():
            return words
        return GramNames(tree, tree.number(kept))


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
        if chosen.weighting not in WEIGHTINGS:
            raise FaultError(f"its weighting, {shown(chosen.weighting)}, is not one of features")
        names = trees.next(part, chosen.ngrams if part.tokenizer.forms_ngrams else 1)
        mine = columns
        if columns is not None:
            mine = columns[np.searchsorted(columns, start) : np.searchsorted(columns, end)] - start
        if part.field is not None and part.field.kind == "number":
            encoders.append(_number(part.field, names, mine))
            continue
        own_idf = None if idf is None else idf[start:end]
        if part.field is not None and not WEIGHTINGS[chosen.weighting].idf:
            own_idf = None  # ones, beside those of other fields
        encoder = Encoder(
            UnloadedTokenizer(part.tokenizer),
            chosen,
            names,
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
