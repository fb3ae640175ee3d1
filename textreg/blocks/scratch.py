"""Where the arrays of blocks are kept: in memory, or in files of a scratch folder."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from textreg.blocks.locks import PREFIX, lock, remove_leftovers
from textreg.errors import UsageError
from textreg.files import DISK_FULL
from textreg.interrupts import tidying
from textreg.records.block_design import ArrayStore

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Self

ADVICE = "Free some space there, or name another folder with TMPDIR (scratch=...)."
"""What to do about a scratch folder that cannot take the files."""


class Arrays(ArrayStore, Protocol):
    """A store that can forget arrays."""

    def drop(self, name: str) -> None:
        """Forget an array; KeyError if there is none of this name."""


class Memory(Arrays):
    """Arrays in memory."""

    def __init__(self) -> None:
        self._arrays: dict[str, NDArray[Any]] = {}

    def put(self, name: str, array: NDArray[Any]) -> None:
        """Keep the array itself, without a copy."""
        view = array.view()
        view.flags.writeable = False
        self._arrays[name] = view

    def get(self, name: str) -> NDArray[Any]:
        """The array that was given, as one that cannot be written to."""
        return self._arrays[name]

    def drop(self, name: str) -> None:
        """Forget an array."""
        del self._arrays[name]


class Scratch(Arrays):
    """Arrays in files, which are gone at the end: to be used in a ``with`` statement.

    The files lie in a folder of their own, with a file that is locked as long as they are needed.
    Whoever enters first removes what runs that were killed have left behind: the folders of this
    kind whose file nobody locks any more. Several runs can share a folder.

    Parameters
    ----------
    folder : str or path, optional
        Where to make the folder; that of the system for temporary files by default.

    Attributes
    ----------
    folder : Path
        That of the files. Exists inside of the ``with`` statement alone.
    bytes_written : int
        The size of all arrays that were kept so far.

    Raises
    ------
    UsageError
        On entering: if there is no such folder, or it cannot be written to. On keeping an array: if
        it cannot be written, as on a full disk.
    """

    def __init__(self, folder: str | os.PathLike[str] | None = None) -> None:
        self._parent = Path(tempfile.gettempdir() if folder is None else folder)
        self._kinds: dict[str, tuple[np.dtype[Any], tuple[int, ...]]] = {}
        self._exits = ExitStack()
        self.bytes_written = 0

    def __enter__(self) -> Self:
        if not os.path.isdir(self._parent):
            what = "is no folder" if os.path.lexists(self._parent) else "does not exist"
            raise UsageError(
                f"the scratch folder {self._parent} {what}: make it (mkdir -p), or name another "
                "folder with TMPDIR (scratch=...)."
            )
        remove_leftovers(self._parent)
        with ExitStack() as exits:
            self.folder = self._made(exits)
            self._exits = exits.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._kinds.clear()
        self._exits.close()

    def put(self, name: str, array: NDArray[Any]) -> None:
        """Write an array to a file; arrays that were read before from one of this name stay."""
        flat = np.ascontiguousarray(array).reshape(-1)
        path = self.folder / name
        part = path.with_name(f"{name}.part")
        try:
            try:
                with part.open("wb", buffering=0) as file:
                    rest = flat.view(np.uint8).data
                    while len(rest):
                        rest = rest[file.write(rest) :]  # at most 2 GB at once
                part.replace(path)
            except BaseException:
                part.unlink(missing_ok=True)
                raise
        except OSError as error:
            raise UsageError(self._not_written(error, array.nbytes)) from error
        self._kinds[name] = (array.dtype, array.shape)
        self.bytes_written += array.nbytes

    def get(self, name: str) -> NDArray[Any]:
        """An array mapped from its file until nobody needs it any more."""
        dtype, shape = self._kinds[name]
        if 0 in shape:  # an empty file cannot be mapped
            empty = np.empty(shape, dtype)
            empty.flags.writeable = False
            return empty
        return np.memmap(self.folder / name, dtype, "r", shape=shape)

    def drop(self, name: str) -> None:
        """Remove the file of an array; arrays that were read from it stay."""
        del self._kinds[name]
        (self.folder / name).unlink()

    def require(self, size: int) -> None:
        """UsageError if the disk has less free space than a number of bytes."""
        free = shutil.disk_usage(self.folder).free
        if free < size:
            raise UsageError(
                f"{_shown(size)} are needed for scratch files, but {self._parent} has only "
                f"{_shown(free)} left. {ADVICE}"
            )

    def _made(self, exits: ExitStack) -> Path:
        """A new folder, locked, and removed by ``exits``."""
        while True:
            try:
                folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=self._parent))
                exits.enter_context(tidying(partial(shutil.rmtree, folder, ignore_errors=True)))
                locked = lock(folder)
            except OSError as error:
                raise UsageError(
                    f"the scratch folder {self._parent} cannot be used: "
                    f"{error.strerror or error}. Get permission to write there, or name another "
                    "folder with TMPDIR (scratch=...)."
                ) from error
            if locked is not None:
                exits.callback(os.close, locked)
                return folder
            exits.close()  # another run took it for left behind before it was locked

    def _not_written(self, error: OSError, size: int) -> str:
        cause = error.strerror or str(error)
        left = ""
        if error.errno in DISK_FULL:
            with suppress(OSError):
                left = f", where {_shown(shutil.disk_usage(self.folder).free)} are left"
        return (
            f"a scratch file of {_shown(size)} cannot be written to {self._parent}{left}: {cause}. "
            f"{ADVICE}"
        )


class Budget(Arrays):
    """Arrays in memory as long as they are not too large together, the others in a scratch folder.

    Parameters
    ----------
    scratch : Scratch
    most : int
        Bytes that those in memory may have.
    """

    def __init__(self, scratch: Scratch, most: int) -> None:
        self._memory, self._scratch = Memory(), scratch
        self._sizes: dict[str, int] = {}
        self._most = most

    def put(self, name: str, array: NDArray[Any]) -> None:
        """Keep an array, in memory while there is room."""
        if name in self._sizes:
            self.drop(name)
        size = array.nbytes if sum(self._sizes.values()) + array.nbytes <= self._most else 0
        self._sizes[name] = size
        (self._memory if size else self._scratch).put(name, array)

    def get(self, name: str) -> NDArray[Any]:
        """An array, read-only; KeyError if there is none of this name."""
        return (self._memory if self._sizes[name] else self._scratch).get(name)

    def drop(self, name: str) -> None:
        """Forget an array; KeyError if there is none of this name."""
        (self._memory if self._sizes.pop(name) else self._scratch).drop(name)


def _shown(size: int) -> str:
    """A number of bytes for people."""
    for unit, one in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= one:
            return f"{size / one:,.1f} {unit}"
    return f"{size} bytes"
