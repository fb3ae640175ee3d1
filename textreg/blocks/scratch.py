"""Blocks of documents, and where their arrays are kept: in memory, or in a scratch folder."""

from __future__ import annotations

import mmap
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from textreg._core.arrays import Floats
from textreg.errors import UsageError
from textreg.files import DISK_FULL
from textreg.interrupts import tidying
from textreg.records.arrays import read_only
from textreg.records.store import ArrayStore, Memory

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Self


T = TypeVar("T")

# Most documents in a block.
DOCUMENTS = 1 << 15

# Most characters in a block, unless a single document has more.
CHARACTERS = 1 << 24


def blocks_of(
    batches: Iterable[Iterable[T]],
    length: Callable[[T], int] = len,  # type: ignore[assignment]
) -> Iterator[list[T]]:
    """Documents in blocks of at most ``DOCUMENTS`` of them and ``CHARACTERS`` characters.

    A block ends before the document with which it would have more. Where that is depends on the
    documents alone, and not on the batches that they come in.

    Parameters
    ----------
    batches : iterable of iterables
        The documents in order, as texts or as whatever stands for them.
    length : callable, default len
        Gives the number of characters of one.

    Yields
    ------
    list
        At least one document. A document of more than ``CHARACTERS`` characters is a block.

    Examples
    --------
    >>> [len(block) for block in blocks_of([["It works."] * 32_000, ["It broke."] * 1000])]
    [32768, 232]
    """
    block: list[T] = []
    characters = 0
    for document in chain.from_iterable(batches):
        size = length(document)
        if block and (len(block) == DOCUMENTS or characters + size > CHARACTERS):
            yield block
            block, characters = [], 0
        block.append(document)
        characters += size
    if block:
        yield block


def sparse_zeros(rows: int, columns: int) -> Floats:
    """A table of zeros that takes memory where something else than zero is written.

    NumPy asks the system for pages of two megabytes, and a few entries a row fill all of them.
    Where the system has no mappings of that kind, as on Windows, it is a table as any other.
    """
    size = 8 * rows * columns
    if not size or not hasattr(mmap, "MAP_PRIVATE"):
        return np.zeros((rows, columns))
    pages = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    return np.frombuffer(pages, dtype=np.float64).reshape(rows, columns)


# What the names of the folders begin with.
PREFIX = "textreg-scratch-"

# The file in a folder that is locked as long as the folder is in use.
LOCK = "lock"


def lock(folder: Path) -> int | None:
    """Lock a folder until the result, a file descriptor, is closed, or the process ends.

    None if somebody else has it, or has removed it meanwhile.
    """
    path = folder / LOCK
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
    except FileNotFoundError:
        return None
    try:
        if sys.platform != "win32":
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Whoever had it before may have removed the file, and a new one may have its name.
        if os.path.samestat(os.fstat(descriptor), os.stat(path)):
            return descriptor
    except (BlockingIOError, FileNotFoundError):
        pass
    except BaseException:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None


def remove_leftovers(parent: Path) -> None:
    """Remove the folders in ``parent`` that nobody has locked, of this user.

    They are those of processes that were killed without notice. What cannot be removed stays; so
    does everything on Windows, which has no such locks.
    """
    if sys.platform == "win32":
        return
    with suppress(OSError):  # of a folder that cannot be read
        for folder in [path for path in parent.iterdir() if path.name.startswith(PREFIX)]:
            with suppress(OSError):
                _remove_unlocked(folder)


def _remove_unlocked(folder: Path) -> None:
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        return
    descriptor = lock(folder)
    if descriptor is not None:
        try:
            shutil.rmtree(folder)
        finally:
            os.close(descriptor)


# What to do about a scratch folder that cannot take the files.
ADVICE = "Free some space there, or name another folder with TMPDIR (scratch=...)."


class Scratch(ArrayStore):
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

    def __exit__(self, *exception: object) -> None:
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

    def get(self, name: str) -> NDArray[Any]:
        """An array mapped from its file until nobody needs it any more."""
        dtype, shape = self._kinds[name]
        if 0 in shape:  # an empty file cannot be mapped
            return read_only(np.empty(shape, dtype))
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


class Budget(ArrayStore):
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
        self.most = most

    def put(self, name: str, array: NDArray[Any]) -> None:
        """Keep an array, in memory while there is room."""
        if name in self._sizes:
            self.drop(name)
        size = array.nbytes if sum(self._sizes.values()) + array.nbytes <= self.most else 0
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
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= factor:
            return f"{size / factor:,.1f} {unit}"
    return f"{size} bytes"
