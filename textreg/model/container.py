"""The file that a model is stored in: named arrays and a JSON header in safetensors, checked.

Arrays that compress are stored deflated (zlib, RFC 1950), as arrays of bytes with the same names;
the header's ``deflated`` has the type, the number of entries and the order of each. This saves most
of the space that names, frequencies and columns take.

A file is read from its beginning to its end, and nothing of it is used before it is checked: the
table of arrays against the size of the file before arrays are read, the checksum before any is
inflated, and lengths before that. So what a file takes of memory is in proportion to its size:
see :mod:`textreg.model.deflating`. The
checksum shows damage, not forgery: whoever changes a file can write a new one. To be sure who made
a file compare its digest with one from there, see :func:`opened`.

This module does not know the meaning of the header and the arrays: see
:mod:`textreg.model.storage`.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from textreg.errors import ModelError, UsageError
from textreg.files import has_table
from textreg.model.deflating import cannot_inflate, check_expansion, deflate, inflate
from textreg.model.faults import FaultError, blaming, field, shown
from textreg.model.strict_json import canonical, parse
from textreg.model.tensors import (
    METADATA,
    Entry,
    arrange,
    code,
    entries_of,
    join,
    little,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Arrays = Mapping[str, NDArray[Any]]

FORMAT = 1
"""Version of the file format that is written, and the only one that is read."""

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
        self._text, self.header = _read_header(path, table)
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
        deflated = field(self.header, "deflated", dict)
        del self.header["deflated"]
        if unknown := deflated.keys() - table.keys():
            raise FaultError(f"it has no array {shown(min(unknown))} to inflate")
        self._deflated = deflated
        self._dtypes = dtypes
        self.lengths = {entry.name: self._length(entry) for entry in self._entries}
        sizes = [n * np.dtype(dtypes[name]).itemsize for name, n in self.lengths.items()]
        check_expansion(sum(sizes), self.size - file.tell())

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
    if sha256 is not None and not re.fullmatch("[0-9a-fA-F]{64}", sha256):
        raise UsageError(
            f"sha256 must be a digest of 64 hexadecimal digits, not {shown(sha256)}: see "
            f"textreg show {path} --digest."
        )
    with _reading(path) as file:
        if sha256 is not None and (found := _digest(file)) != sha256.lower():
            raise ModelError(
                f"{path} is another file than asked for: its SHA-256 digest is {found}, not "
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
        if not _is_regular(path):
            return False
        with path.open("rb") as file:
            return has_table(file.read(9))
    except OSError:
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
            f"textreg train FILE -o {path}"
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
    try:
        table = parse(file.read(length))
    except FaultError:
        raise
    except (ValueError, RecursionError):
        raise _not_a_model(path) from None
    if type(table) is not dict or type(table.get(METADATA)) is not dict:
        raise _not_a_model(path)
    return table


def _read_header(path: Path, table: Mapping[str, Any]) -> tuple[bytes, dict[str, Any]]:
    """The header of a model, as text and as what that says."""
    text = table[METADATA].get(_KEY)
    if type(text) is not str:
        raise _not_a_model(path)
    try:
        coded, header = text.encode(), parse(text)
    except FaultError:
        raise
    except (ValueError, RecursionError):
        raise _not_a_model(path) from None
    if type(header) is not dict:
        raise _not_a_model(path)
    return coded, header


def _not_a_model(path: Path) -> ModelError:
    return ModelError(
        f"{path} is not a textreg model file, or is cut off. "
        "Models are made by: textreg train FILE -o MODEL"
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
