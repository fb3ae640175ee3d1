"""The file that a model is stored in: named arrays and a JSON header in safetensors, checked.

Where it helps an array is shuffled before that: whole numbers become the differences of neighbors,
as most are columns or offsets, which ascend; and the first bytes of all numbers are put together,
then the second ones, and so on, as the filter of HDF5 does it.

A file is the length of the table in 8 bytes (little endian), the table, and the data. The table has
a member for each array, ``{"dtype": "F64", "shape": [3], "data_offsets": [0, 24]}``, and texts in
``__metadata__``. It is read here and not by the package safetensors, which reads all of a
file before it compares the table with its size.

Arrays that compress are stored deflated (zlib, RFC 1950), as arrays of bytes with the same names;
the header's ``deflated`` has the type, the number of entries and the order of each. This saves most
of the space that names, frequencies and columns take.

A file is read from its beginning to its end, and nothing of it is used before it is checked: the
table of arrays against the size of the file before arrays are read, the checksum before any is
inflated, and lengths before that. So what a file takes of memory is in proportion to its size:
see :func:`inflate`. The
checksum shows damage, not forgery: whoever changes a file can write a new one. To be sure who made
a file compare its digest with one from there, see :func:`opened`.

This module does not know the meaning of the header and the arrays: see
:mod:`textreg.model.storage`.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import stat
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeVar

import numpy as np

from textreg._core import text_grams
from textreg.errors import DataError, ModelError, UsageError, shortened
from textreg.files import has_table
from textreg.records.arrays import row_of
from textreg.records.text import Names
from textreg.terminal import shell_line

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from textreg.records import Int64s

    Arrays = Mapping[str, NDArray[Any]]

T = TypeVar("T")

_LONGEST = 600  # characters of a fault that a message quotes; names in a file can be of any length


class FaultError(ModelError):
    """What is wrong inside a file; :func:`blaming` adds which file, and what to do."""


@contextmanager
def blaming(path: Path) -> Iterator[None]:
    """Turn a FaultError, or the refusal of a record, into a ModelError that names the file."""
    try:
        yield
    except (FaultError, UsageError, DataError) as fault:
        text = str(fault).rstrip(".")
        text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
        raise ModelError(
            f"{path} is damaged: {text}. Copy it again from where it was made, or train it again."
        ) from fault


def field(header: Mapping[str, Any], key: str, kind: type[T]) -> T:
    """A member of a JSON object, which must be of exactly this type."""
    value = header.get(key)
    if type(value) is not kind:  # isinstance would take true for a whole number
        raise FaultError(f"its header has no '{key}' of the type {kind.__name__}")
    return value


def shown(value: object) -> str:
    """A value of a file for a message, cut to a few words."""
    return shortened(repr(value))


_LONGEST_NUMBER = 300  # digits: all such are finite as floats


def canonical(header: Mapping[str, Any]) -> str:
    """The canonical JSON text of a header."""
    return json.dumps(header, sort_keys=True, allow_nan=False, separators=(",", ":"))


def parse(text: str | bytes) -> Any:
    """JSON without what Python adds to it, and with finite numbers only."""
    return json.loads(
        text,
        parse_constant=_refused,
        parse_int=_whole,
        parse_float=_finite,
        object_pairs_hook=_object,
    )


def _refused(word: str) -> NoReturn:
    raise ValueError(word)


def _whole(digits: str) -> int:
    if len(digits) > _LONGEST_NUMBER:
        raise FaultError(f"its header has the number {digits[:20]}..., which is too large")
    return int(digits)


def _finite(digits: str) -> float:
    if not math.isfinite(number := float(digits)):
        raise FaultError(f"its header has the number {shown(digits)}, which is too large")
    return number


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise FaultError("its header has two members of the same name")
    return members


# An array is deflated if that leaves less than this share of its bytes.
MAX_RATIO = 0.9

# All arrays of a file together inflate to at most this many times their bytes in the file.  So a
# small file cannot fill the memory. Arrays of trained models inflate to 3 to 4 times theirs. One
# that would exceed the limit has some arrays stored as they are.
MAX_EXPANSION = 20

# Bytes that the arrays of any file may inflate to, however small it is.
SMALL = 16_000_000

# Entries of an array that tell whether it is to be shuffled: to deflate all twice takes long.
_SAMPLE = 1 << 16


def _most(stored: int) -> int:
    """The bytes that arrays of ``stored`` bytes may inflate to in an honest file."""
    return max(SMALL, MAX_EXPANSION * stored)


def deflate(arrays: Mapping[str, NDArray[Any]]) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """The arrays to store; and the types and numbers of entries of those that are deflated."""
    stored, deflated = dict(arrays), {}
    for name, array in arrays.items():
        plain, planes = little(array[:_SAMPLE]).tobytes(), _shuffled(array[:_SAMPLE])
        shuffled = plain != planes and len(zlib.compress(planes, 1)) < len(zlib.compress(plain, 1))
        data = zlib.compress(_shuffled(array) if shuffled else little(array).tobytes())
        if len(data) < MAX_RATIO * array.nbytes:
            stored[name] = np.frombuffer(data, dtype=np.uint8)
            deflated[name] = {
                "dtype": code(array.dtype),
                "entries": array.size,
                "shuffled": shuffled,
            }
    total = sum(array.nbytes for array in arrays.values())
    while total > _most(sum(array.nbytes for array in stored.values())):
        name = max(deflated, key=lambda name: arrays[name].nbytes / stored[name].nbytes)
        stored[name] = arrays[name]
        del deflated[name]
    return stored, deflated


def inflate(
    name: str, data: NDArray[np.uint8], dtype: np.dtype[Any], entries: int, *, shuffled: bool
) -> NDArray[Any]:
    """Inflate an array with this many entries."""
    size, inflating = entries * dtype.itemsize, zlib.decompressobj()
    try:
        flat = inflating.decompress(data.data, size + 1)
    except zlib.error as error:
        raise cannot_inflate(name) from error
    if len(flat) != size or inflating.unused_data or not inflating.eof:
        raise cannot_inflate(name)
    # The bytes of the numbers, in the order in which they come.
    places = np.frombuffer(flat, dtype=np.uint8)
    planes = places.reshape(-1, entries).T if shuffled else places.reshape(entries, -1)
    array: NDArray[Any] = np.array(planes, order="C").view(dtype.newbyteorder("<")).ravel()
    if shuffled and dtype.kind == "i":
        np.cumsum(array, dtype=array.dtype, out=array)
    return array


def cannot_inflate(name: str) -> FaultError:
    return FaultError(f"the array '{name}' cannot be inflated to the numbers its header says")


def _shuffled(array: NDArray[Any]) -> bytes:
    if array.dtype.kind == "i":
        array = np.diff(array, prepend=array.dtype.type(0))
    flat = np.ascontiguousarray(little(array)).ravel()
    planes: NDArray[np.uint8] = flat.view(np.uint8).reshape(-1, array.itemsize).T
    return planes.tobytes()


METADATA = "__metadata__"
_ITEM_SIZES = {"U8": 1, "I32": 4, "I64": 8, "F32": 4, "F64": 8}


class Entry(NamedTuple):
    """An array of the table; its bytes are ``begin`` to ``end`` of the data."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int

    def digest_text(self) -> bytes:
        """What a checksum takes of it besides its bytes."""
        return json.dumps([self.name, self.dtype, self.shape]).encode()


def code(dtype: np.dtype[Any]) -> str:
    """The name of a type of numbers in safetensors, such as F64."""
    return f"{dtype.kind.upper()}{8 * dtype.itemsize}"


def little(array: NDArray[Any]) -> NDArray[Any]:
    """The array in the byte order of the file."""
    return array.astype(array.dtype.newbyteorder("<"), copy=False)


def arrange(arrays: Mapping[str, NDArray[Any]]) -> list[Entry]:
    """The table of arrays: those of large numbers first, so that each begins at a multiple."""
    entries: list[Entry] = []
    for name in sorted(arrays, key=lambda name: (-arrays[name].itemsize, name)):
        array, begin = arrays[name], entries[-1].end if entries else 0
        entries.append(Entry(name, code(array.dtype), array.shape, begin, begin + array.nbytes))
    return sorted(entries, key=_place)


def join(metadata: Mapping[str, str], entries: Sequence[Entry], data: Sequence[bytes]) -> bytes:
    """The bytes of a file with these arrays."""
    table: dict[str, Any] = {METADATA: metadata}
    for entry in entries:
        offsets = [entry.begin, entry.end]
        table[entry.name] = {"dtype": entry.dtype, "shape": entry.shape, "data_offsets": offsets}
    text = json.dumps(table, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return b"".join([len(text).to_bytes(8, "little"), text, *data])


def entries_of(table: Mapping[str, Any], n_bytes: int) -> list[Entry]:
    """The arrays of a table in the order of their bytes, which are ``n_bytes`` together.

    Raises FaultError unless they have one dimension and follow each other from the first byte to
    the last.
    """
    entries = []
    for name, stated in table.items():
        if name == METADATA:
            continue
        fault = FaultError(f"its table of arrays has no type, shape and offsets of {shown(name)}")
        if type(stated) is not dict or stated.keys() != {"dtype", "shape", "data_offsets"}:
            raise fault
        dtype, shape, offsets = stated["dtype"], stated["shape"], stated["data_offsets"]
        if type(dtype) is not str or not _are_sizes(shape) or not _are_sizes(offsets):
            raise fault
        if dtype not in _ITEM_SIZES or len(shape) != 1 or len(offsets) != 2:
            raise FaultError(
                f"the array {shown(name)} has the type {shown(dtype)} and the shape {shown(shape)}"
            )
        if offsets[1] - offsets[0] != shape[0] * _ITEM_SIZES[dtype]:
            raise FaultError(f"the shape of the array {shown(name)} does not fit its offsets")
        entries.append(Entry(name, dtype, tuple(shape), *offsets))
    entries.sort(key=_place)
    end = 0
    for entry in entries:
        if entry.begin != end:
            raise FaultError(
                f"the array {shown(entry.name)} begins at byte {entry.begin:,} of the data, and "
                f"not at {end:,} where the one before it ends"
            )
        end = entry.end
    if end != n_bytes:
        raise FaultError(f"its arrays take {end:,} bytes, but it has {n_bytes:,} bytes for them")
    return entries


def _place(entry: Entry) -> tuple[int, int, str]:
    """Where an array is; those without entries are in order of name."""
    return entry.begin, entry.end, entry.name


def _are_sizes(plain: Any) -> bool:
    return type(plain) is list and all(type(size) is int and size >= 0 for size in plain)


_NAMES = 1 << 16  # names that are checked at a time


def unpack_names(arrays: Arrays, names: str, ptr: str) -> Names:
    """Names from the arrays called ``names`` and ``ptr``; FaultError unless they are UTF-8.

    The lengths of all arrays here are those that the checks below let pass.
    """
    letters, bounds = arrays[names], arrays[ptr]
    check_offsets(arrays, ptr, max(0, len(bounds) - 1), len(letters))
    unpacked = Names(letters, bounds)
    for start in range(0, len(unpacked), _NAMES):
        part = unpacked.cut(start, min(start + _NAMES, len(unpacked)))
        try:
            part.letters.tobytes().decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise FaultError(f"the name of a feature is not UTF-8 ({error.reason})") from error
        begins = part.ptr[part.ptr < len(part.letters)]
        if (part.letters[begins] & 0xC0 == 0x80).any():
            raise FaultError("the name of a feature is not UTF-8 (it begins inside a character)")
    return unpacked


def check_distinct(names: Names) -> None:
    """FaultError if two names are the same."""
    if not text_grams.in_order(names.letters, names.ptr) and len(set(names)) < len(names):
        raise FaultError("two of its features have the same name")


def check_name_lengths(lengths: Mapping[str, int], names: str, ptr: str) -> None:
    """FaultError if arrays of these lengths cannot hold names that are distinct."""
    # Only one of them can be without a letter.
    if not 1 <= lengths[ptr] <= lengths[names] + 2:
        raise FaultError(f"'{ptr}' does not divide {lengths[names]:,} letters into names")


def check_row_lengths(
    lengths: Mapping[str, int], names: tuple[str, str, str], rows: int, n_features: int
) -> None:
    """FaultError if arrays of these lengths cannot be sparse rows: see :func:`unpack_rows`."""
    values, columns, ptr = (lengths[name] for name in names)
    if values != columns:
        raise FaultError(f"'{names[0]}' has {values:,} weights for {columns:,} features")
    if ptr != rows + 1 or values > rows * n_features:
        raise FaultError(f"'{names[2]}' does not divide {values:,} entries into {rows:,} parts")


def check_offsets(arrays: Arrays, name: str, parts: int, total: int) -> None:
    """FaultError unless the array ``name`` divides ``total`` entries into this many parts."""
    ptr = arrays[name]
    if len(ptr) != parts + 1 or ptr[0] != 0 or ptr[-1] != total or (ptr[1:] < ptr[:-1]).any():
        raise FaultError(f"'{name}' does not divide {total} entries into {parts} parts")


def unpack_rows(
    arrays: Arrays, names: tuple[str, str, str], rows: int, n_features: int
) -> tuple[NDArray[Any], NDArray[np.int32], Int64s]:
    """Values, columns and offsets of sparse rows, from the arrays of these names.

    FaultError unless columns are features in increasing order within every row.
    """
    values, columns, ptr = (arrays[name] for name in names)
    check_offsets(arrays, names[2], rows, len(values))
    if ((columns < 0) | (columns >= n_features)).any():
        raise FaultError(f"a weight is for a feature outside 0 to {n_features - 1}")
    if ((np.diff(columns) <= 0) & (np.diff(row_of(ptr)) == 0)).any():
        raise FaultError("the features of its weights do not increase within a row")
    return values, columns, ptr


# Version of the file format that is written, and the only one that is read.
FORMAT = 1

_KEY = "textreg"


def pack(header: Mapping[str, Any], arrays: Arrays) -> bytes:
    """The bytes of a file; adds ``format`` and ``deflated`` to the header."""
    stored, deflated = deflate(arrays)
    text = canonical({**header, "format": FORMAT, "deflated": deflated})
    entries = arrange(stored)
    data = [little(stored[entry.name]).tobytes() for entry in entries]
    # Over the header as well: a changed label or threshold is as bad as a changed weight.
    digest = hashlib.sha256(text.encode())
    for entry, part in zip(entries, data, strict=True):
        digest.update(entry.digest_text())
        digest.update(part)
    return join({_KEY: text, "checksum": digest.hexdigest()}, entries, data)


class Container:
    """A model file whose header is read, and whose arrays are not yet.

    Attributes
    ----------
    header : dict of str to Any
        The JSON header.
    lengths : dict of str to int
        Number of entries of each array, by its name.
    size : int
        Bytes of the file.
    """

    def __init__(self, path: Path, file: IO[bytes], dtypes: Mapping[str, str]) -> None:
        self.size = os.fstat(file.fileno()).st_size
        self._file = file
        table = _read_table(path, file, self.size)
        text = table[METADATA].get(_KEY)
        if type(text) is not str:
            raise _not_a_model(path)
        self.header = _parsed(path, text)
        self._text = text.encode()
        # Before all else: a newer format may have other arrays, and another checksum.
        version = field(self.header, "format", int)
        if version > FORMAT:
            raise ModelError(
                f"{path} was made by a newer textreg (format {version}, this one reads "
                f"{FORMAT}): pip install -U textreg"
            )
        if version < FORMAT:
            raise FaultError(f"there is no format {version}")
        self._checksum = field(table[METADATA], "checksum", str)
        self._entries = entries_of(table, self.size - file.tell())
        self._deflated = field(self.header, "deflated", dict)
        del self.header["deflated"]
        if unknown := self._deflated.keys() - table.keys():
            raise FaultError(f"it has no array {shown(min(unknown))} to inflate")
        self._dtypes = dtypes
        self.lengths = {entry.name: self._length(entry) for entry in self._entries}
        sizes = [n * np.dtype(dtypes[name]).itemsize for name, n in self.lengths.items()]
        inflated, size = sum(sizes), self.size - file.tell()
        if inflated > _most(size):
            raise FaultError(
                f"its arrays would inflate from {size:,} to {inflated:,} bytes, and textreg writes "
                f"none that grow more than {MAX_EXPANSION} times"
            )

    def read(self) -> Arrays:
        """Read the arrays. Their numbers are finite; nothing else about them is checked.

        Raises FaultError if they are not what the checksum says.
        """
        _check_written(self._file, self.size)
        digest = hashlib.sha256(self._text)
        stored = {}
        for entry in self._entries:
            data = stored[entry.name] = np.empty(entry.end - entry.begin, dtype=np.uint8)
            if self._file.readinto(data) != len(data):  # type: ignore[attr-defined]
                raise FaultError("it ends before its last array")
            digest.update(entry.digest_text())
            digest.update(data.data)
        if digest.hexdigest() != self._checksum:
            raise FaultError("its checksum does not fit its content")
        return {entry.name: self._array(entry, stored.pop(entry.name)) for entry in self._entries}

    def _length(self, entry: Entry) -> int:
        """The number of entries of an array, once it is inflated."""
        (length,) = entry.shape
        dtype = entry.dtype
        if entry.name not in self._dtypes:
            raise FaultError(f"a model has no array {shown(entry.name)}")
        if (stated := self._deflated.get(entry.name)) is not None:
            if entry.dtype != "U8" or type(stated) is not dict:
                raise cannot_inflate(entry.name)
            dtype, length = field(stated, "dtype", str), field(stated, "entries", int)
            if length <= 0:
                raise cannot_inflate(entry.name)
        if dtype != code(np.dtype(self._dtypes[entry.name])):
            raise FaultError(f"the array '{entry.name}' has the type {shown(dtype)}")
        return length

    def _array(self, entry: Entry, data: NDArray[np.uint8]) -> NDArray[Any]:
        dtype = np.dtype(self._dtypes[entry.name])
        if entry.name in self._deflated:
            shuffled = field(self._deflated[entry.name], "shuffled", bool)
            entries = self.lengths[entry.name]
            array = inflate(entry.name, data, dtype, entries, shuffled=shuffled)
        else:
            array = data.view(dtype.newbyteorder("<"))
        array = array.astype(dtype, copy=False)
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise FaultError(f"the array '{entry.name}' holds a number that is not finite")
        return array


@contextmanager
def opened(path: Path, dtypes: Mapping[str, str], sha256: str | None = None) -> Iterator[Container]:
    """Open a model file; what is raised inside names the file.

    dtypes: types of the arrays that a file may have, by name. sha256: digest that the file must
    have, in hexadecimal digits.

    Raises UsageError if there is no such file or no such digest; ModelError if it is not a model
    file, is damaged, has another digest, has a newer format, or does not fit into memory.
    """
    if sha256 is not None and not re.fullmatch("[0-9a-fA-F]{64}", str(sha256)):
        raise UsageError(
            f"sha256 must be a digest of 64 hexadecimal digits, not {shown(sha256)}: see "
            f"{shell_line(['textreg', 'show', path, '--digest'])}."
        )
    with _reading(path) as file:
        if sha256 is not None and (digest := _digest(file)) != sha256.lower():
            raise ModelError(
                f"{path} is another file than asked for: its SHA-256 digest is {digest}, not "
                f"{sha256.lower()}. Get the file again, or ask who made it for its digest."
            )
        try:
            with blaming(path):
                yield Container(path, file, dtypes)
        except MemoryError as error:
            raise ModelError(
                f"{path} does not fit into the memory that is free. Free some, or load it on a "
                "machine with more."
            ) from error


def file_digest(path: Path) -> str:
    """The SHA-256 digest of a model file, in hexadecimal digits, as ``sha256sum`` prints it.

    Raises UsageError if there is no such file, ModelError if it is not a model file.
    """
    with _reading(path) as file:
        if not has_table(file.read(9)):
            raise _not_a_model(path)
        return _digest(file)


def is_container(path: Path) -> bool:
    """Whether a file begins like a model file; False if it does not exist or cannot be read."""
    try:
        with _reading(path) as file:
            return has_table(file.read(9))
    except (UsageError, ModelError):
        return False


@contextmanager
def _reading(path: Path) -> Iterator[IO[bytes]]:
    """A regular file, open for reading."""
    try:
        if not _is_regular(path):
            raise UsageError(f"{path} is not a file: give the path of a model file.")
        with path.open("rb") as file:
            yield file
    except FileNotFoundError:
        raise UsageError(
            f"there is no model file {path}. Check the path, or make the file: "
            f"textreg train FILE -o {shell_line([path])}"
        ) from None
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror or error}.") from error


def _is_regular(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except ValueError:  # a zero byte or half a character: no file has such a name
        return False


def _digest(file: IO[bytes]) -> str:
    """The SHA-256 digest of a whole file, which is at its beginning then."""
    file.seek(0)
    digest = hashlib.sha256()
    while part := file.read(1 << 20):
        digest.update(part)
    file.seek(0)
    return digest.hexdigest()


def _read_table(path: Path, file: IO[bytes], size: int) -> dict[str, Any]:
    """The table of a safetensors file; the arrays follow in ``file``."""
    start = file.read(8)
    length = int.from_bytes(start, "little")
    if not has_table(start + file.read(1)) or 8 + length > size:
        raise _not_a_model(path)
    file.seek(8)
    table = _parsed(path, file.read(length))
    if type(table.get(METADATA)) is not dict:
        raise _not_a_model(path)
    return table


def _parsed(path: Path, text: str | bytes) -> dict[str, Any]:
    """What a JSON object says; ModelError for other texts."""
    try:
        parsed = parse(text.encode() if isinstance(text, str) else text)
    except FaultError:
        raise
    except (ValueError, RecursionError):
        raise _not_a_model(path) from None
    if type(parsed) is not dict:
        raise _not_a_model(path)
    return parsed


def _not_a_model(path: Path) -> ModelError:
    return ModelError(
        f"{path} is not a textreg model file, or is cut off. "
        "Commands take the model before other files; it is made by: textreg train FILE -o MODEL"
    )


def _check_written(file: IO[bytes], size: int) -> None:
    """FaultError for a file with a hole, such as a download that was cut off leaves.

    A hole is no bytes on the disk and any number of zeros when it is read. :func:`pack` deflates
    zeros, so its files have none.
    """
    if not hasattr(os, "SEEK_HOLE"):
        return
    at = os.lseek(file.fileno(), 0, os.SEEK_CUR)
    hole = os.lseek(file.fileno(), 0, os.SEEK_HOLE)
    if hole < size and not any(os.pread(file.fileno(), 512, hole)):  # some systems err here
        raise FaultError(f"a part of it was never written, from byte {hole:,} on")
    os.lseek(file.fileno(), at, os.SEEK_SET)
