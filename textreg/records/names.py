"""Many names in little memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, overload

import numpy as np

from textreg.records.ragged import take_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from textreg._core.arrays import Int64s

_SURROGATES = "surrogatepass"
"""Half of a surrogate pair is not UTF-8, but a tokenizer may make one from a broken text."""

_MARK = "\0"
"""What stands between names that become bytes, or strings, in one go."""

_RUN = 10_000
"""Names that become strings together."""


class Names(Sequence[str]):
    """Names as one array of bytes, which become strings only when they are asked for.

    A million names of two words are 15 MB so, and 80 MB as strings. It is equal to any sequence of
    the same names, and a slice of it is a list.

    Parameters
    ----------
    letters : ndarray of uint8
        The names in UTF-8, one after the other.
    ptr : ndarray of int64, shape (names + 1,)
        Name i is ``letters[ptr[i]:ptr[i + 1]]``.

    Examples
    --------
    >>> names = Names.of(["good", "very good"])
    >>> names[1], len(names.letters), names
    ('very good', 13, ['good', 'very good'])
    """

    def __init__(self, letters: NDArray[np.uint8], ptr: Int64s) -> None:
        self.letters = letters
        self.ptr = ptr

    @classmethod
    def of(cls, names: Iterable[str]) -> Names:
        """The same names; ``names`` itself if it is one of these."""
        if isinstance(names, cls):
            return names
        names = names if isinstance(names, (list, tuple)) else list(names)
        # All in one go, with a mark between them, unless it is in one of them.
        together = np.frombuffer(_MARK.join(names).encode("utf-8", _SURROGATES), dtype=np.uint8)
        marks = np.flatnonzero(together == 0)
        if len(names) and len(marks) == len(names) - 1:
            ptr = np.zeros(len(names) + 1, dtype=np.int64)
            ptr[1:-1] = marks - np.arange(len(marks))
            ptr[-1] = len(together) - len(marks)
            return cls(together[together != 0], ptr)
        coded = [name.encode("utf-8", _SURROGATES) for name in names]
        ptr = np.zeros(len(coded) + 1, dtype=np.int64)
        np.cumsum([len(name) for name in coded], out=ptr[1:])
        return cls(np.frombuffer(b"".join(coded), dtype=np.uint8), ptr)

    def take(self, numbers: NDArray[np.integer]) -> Names:
        """Some of them, in the order of ``numbers``."""
        ptr, letters = take_rows(self.ptr, self.letters, numbers)
        return Names(letters, ptr)

    def cut(self, start: int, end: int) -> Names:
        """Those from ``start`` to ``end``, without a copy of their letters."""
        ptr = self.ptr[start : end + 1]
        return Names(self.letters[ptr[0] : ptr[-1]], ptr - ptr[0])

    def __len__(self) -> int:
        return len(self.ptr) - 1

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        place = range(len(self))[index]
        return self._decoded(self.letters[self.ptr[place] : self.ptr[place + 1]].tobytes())

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self), _RUN):
            yield from self.cut(start, min(start + _RUN, len(self)))._strings()

    def _strings(self) -> Iterable[str]:
        """All of them at once; some, as ``letters`` begin with the first."""
        letters = self.letters[: self.ptr[-1]]
        if not letters.all():  # the mark is in one of them
            ends = pairwise(self.ptr.tolist())
            return [self._decoded(letters[start:end].tobytes()) for start, end in ends]
        marked = np.insert(letters, self.ptr[1:-1], 0)
        return self._decoded(marked.tobytes()).split(_MARK)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Names):
            return np.array_equal(self.ptr, other.ptr) and np.array_equal(
                self.letters, other.letters
            )
        if not isinstance(other, Sequence) or isinstance(other, str):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]  # as of a list

    def __repr__(self) -> str:
        return repr(list(self))

    @staticmethod
    def _decoded(name: bytes) -> str:
        return name.decode("utf-8", _SURROGATES)
