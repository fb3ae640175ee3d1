"""The file that a model is stored in: named arrays and a JSON header in safetensors, checked.

Arrays that compress are stored deflated (zlib, RFC 1950), as arrays of bytes with the same names;
the header's ``deflated`` has the type and the number of entries of each. This saves four fifths of
the space that names and frequencies of a hundred thousand features take.

This module does not know the meaning of the header and the arrays: see
:mod:`textreg.model.storage`.
"""

from __future__ import annotations

import hashlib
import json
import stat
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from textreg.errors import ModelError, UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Arrays = Mapping[str, NDArray[Any]]

T = TypeVar("T")

FORMAT = 1
"""Version of the file format that is written, and the only one that is read."""

MAX_RATIO = 0.9
"""An array is deflated if that leaves less than this share of its bytes."""

_MAX_EXPANSION = 1032  # bytes that zlib inflates one byte to at most (zlib.net, technical notes)

_KEY = "textreg"
_MAX_HEADER = 100_000_000  # bytes; the limit of safetensors itself


class FaultError(ModelError):
    """What is wrong inside a file; :func:`blaming` adds which file, and what to do."""


@contextmanager
def blaming(path: Path) -> Iterator[None]:
    """Turn a FaultError, or the UsageError of a record, into a ModelError that names the file."""
    try:
        yield
    except (FaultError, UsageError) as fault:
        raise ModelError(
            f"{path} is damaged: {str(fault).rstrip('.')}. Copy it again from where it was made, "
            "or train it again."
        ) from fault


def field(header: Mapping[str, Any], key: str, kind: type[T]) -> T:
    """A member of a JSON object, which must be of exactly this type."""
    value = header.get(key)
    if type(value) is not kind:  # isinstance would take true for a whole number
        raise FaultError(f"its header has no '{key}' of the type {kind.__name__}")
    return value


def pack(header: Mapping[str, Any], arrays: Arrays) -> bytes:
    """The bytes of a file; adds ``format``, ``deflated`` and ``checksum`` to the header."""
    from safetensors.numpy import save

    stored, deflated = _deflate(arrays)
    header = {**header, "format": FORMAT, "deflated": deflated}
    raw = {
        name: {"dtype": _code(array.dtype), "shape": array.shape, "data": _little(array).tobytes()}
        for name, array in stored.items()
    }
    # Over the header as well: a changed label or threshold is as bad as a changed weight.
    header["checksum"] = _checksum(header, raw)
    return save(stored, {_KEY: _canonical(header)})


def unpack(path: Path, dtypes: Mapping[str, str]) -> tuple[dict[str, Any], Arrays]:
    """Header and arrays of a file whose checksum is right.

    dtypes: types of the arrays to read by name, all one-dimensional; any of them may be missing.
    Numbers are finite; nothing else about the content is checked.

    Raises UsageError if there is no such file, ModelError if it is not a model file, is damaged, or
    has a newer format.
    """
    from safetensors import SafetensorError, deserialize

    data = _read(path)
    header = _parse_header(path, data)
    with blaming(path):
        # Before all else: a newer format may have another checksum and other arrays.
        version = field(header, "format", int)
        if version > FORMAT:
            raise ModelError(
                f"{path} was made by a newer textreg (format {version}, this one reads "
                f"{FORMAT}): pip install -U textreg"
            )
        if version < FORMAT:
            raise FaultError(f"there is no format {version}")
        try:
            raw = dict(deserialize(data))  # type: ignore[no-untyped-call]
        except SafetensorError as error:
            raise FaultError(str(error)) from error
        stated = field(header, "checksum", str)
        del header["checksum"]
        if stated != _checksum(header, raw):
            raise FaultError("its checksum does not fit its content")
        deflated = field(header, "deflated", dict)
        del header["deflated"]
        for name in deflated.keys() & raw.keys() & dtypes.keys():
            raw[name] = _inflate(name, raw[name]["data"], deflated[name], dtypes[name])
        arrays = {name: _array(name, raw[name], dtypes[name]) for name in dtypes if name in raw}
    return header, arrays


def is_container(path: Path) -> bool:
    """Whether a file begins like a model file; False if it does not exist or cannot be read."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return False
        with path.open("rb") as file:
            return _has_header(file.read(9))
    except OSError:
        return False


def _canonical(header: Mapping[str, Any]) -> str:
    """The canonical JSON text of a header."""
    return json.dumps(header, sort_keys=True, allow_nan=False, separators=(",", ":"))


def _checksum(header: Mapping[str, Any], raw: Mapping[str, Mapping[str, Any]]) -> str:
    """SHA-256 of the header and the arrays, as safetensors stores these."""
    digest = hashlib.sha256(_canonical(header).encode())
    for name in sorted(raw):
        part = raw[name]
        digest.update(json.dumps([name, part["dtype"], list(part["shape"])]).encode())
        digest.update(part["data"])
    return digest.hexdigest()


def _deflate(arrays: Arrays) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """The arrays to store; and the types and numbers of entries of those that are deflated."""
    stored, deflated = dict(arrays), {}
    for name, array in arrays.items():
        data = zlib.compress(_little(array).tobytes())
        if len(data) < MAX_RATIO * array.nbytes:
            stored[name] = np.frombuffer(data, dtype=np.uint8)
            deflated[name] = {"dtype": _code(array.dtype), "entries": array.size}
    return stored, deflated


def _inflate(name: str, data: bytes, stated: Any, wanted: str) -> dict[str, Any]:
    """Inflate an array of the type ``wanted``, into the form in which safetensors gives others.

    The output is limited to the size that the header states, and that to what zlib can have put
    into ``data``: a small file cannot fill the memory.
    """
    fault = FaultError(f"the array '{name}' cannot be inflated to the numbers its header says")
    if not isinstance(stated, dict):
        raise fault
    code, entries = field(stated, "dtype", str), field(stated, "entries", int)
    dtype = np.dtype(wanted)
    size = entries * dtype.itemsize
    if code != _code(dtype) or not 0 < size <= _MAX_EXPANSION * len(data):
        raise fault
    inflating = zlib.decompressobj()
    try:
        inflated = inflating.decompress(data, size)
        rest = inflating.decompress(inflating.unconsumed_tail, 1)
    except (zlib.error, MemoryError) as error:
        raise fault from error
    if len(inflated) != size or rest or inflating.unused_data or not inflating.eof:
        raise fault
    return {"dtype": code, "shape": [entries], "data": inflated}


def _code(dtype: np.dtype[Any]) -> str:
    """The name of a type of numbers in safetensors, such as F64."""
    return f"{dtype.kind.upper()}{8 * dtype.itemsize}"


def _little(array: NDArray[Any]) -> NDArray[Any]:
    """The array in the byte order of the file."""
    return array.astype(array.dtype.newbyteorder("<"), copy=False)


def _read(path: Path) -> bytes:
    """The bytes of a file, which must begin like a safetensors file."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise UsageError(f"{path} is not a file: give the path of a model file.")
        with path.open("rb") as file:
            start = file.read(9)
            if not _has_header(start):
                raise _not_a_model(path)
            return start + file.read()
    except FileNotFoundError:
        raise UsageError(
            f"there is no model file {path}. Check the path, or make the file: "
            f"textreg train FILE -o {path}"
        ) from None
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror or error}.") from error


def _has_header(start: bytes) -> bool:
    """Whether nine bytes are the length of a header and the first character of its JSON."""
    return start[8:9] == b"{" and int.from_bytes(start[:8], "little") <= _MAX_HEADER


def _not_a_model(path: Path) -> ModelError:
    return ModelError(
        f"{path} is not a textreg model file, or is cut off. "
        "Models are made by: textreg train FILE -o MODEL"
    )


def _parse_header(path: Path, data: bytes) -> dict[str, Any]:
    end = 8 + int.from_bytes(data[:8], "little")
    try:
        header = json.loads(
            json.loads(data[8:end])["__metadata__"][_KEY], parse_constant=_no_constant
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        raise _not_a_model(path) from None
    if not isinstance(header, dict):
        raise _not_a_model(path)
    return header


def _no_constant(word: str) -> None:
    """Reject NaN and Infinity, which Python reads but JSON does not have."""
    raise ValueError(word)


def _array(name: str, raw: Mapping[str, Any], dtype: str) -> NDArray[Any]:
    """An array of safetensors in the byte order of the machine."""
    if raw["dtype"] != _code(np.dtype(dtype)) or len(raw["shape"]) != 1:
        raise FaultError(
            f"the array '{name}' has the type {raw['dtype']} and the shape {raw['shape']}"
        )
    array = np.frombuffer(raw["data"], dtype=np.dtype(dtype).newbyteorder("<")).astype(dtype)
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise FaultError(f"the array '{name}' holds a number that is not finite")
    return array
