"""What is expensive to derive from a record, made once and kept as long as the record lives."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, overload

if TYPE_CHECKING:
    from typing_extensions import Self

T = TypeVar("T")


class Cache:
    """Values by key, each made once: threads that ask at the same time wait for the first.

    Classes, folds and points of a grid share their matrix and their graph, and with them whatever
    was derived. A copy of the record shares its cache; a pickled one starts with an empty cache.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._values: dict[Hashable, Any] = {}
        self._last: dict[tuple[int, Hashable], tuple[Hashable, Any]] = {}

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The value of ``key``, which ``make`` returns if there is none yet."""
        with self.lock:
            if key not in self._values:
                self._values[key] = make()
            value: T = self._values[key]
            return value

    def last(self, key: Hashable, variant: Hashable, make: Callable[[], T]) -> T:
        """The value of one variant of ``key``, where all of them would take too much memory.

        Each thread keeps the variant that it asked for last, and shares it with the others; those
        of threads that have ended are kept until another one is to be made.
        """
        with self.lock:
            mine = threading.get_ident(), key
            kept = [it for (_, of), it in self._last.items() if (of, it[0]) == (key, variant)]
            if mine in self._last and self._last[mine][0] != variant:
                del self._last[mine]
            if not kept:  # first make room
                running = {thread.ident for thread in threading.enumerate()}
                self._last = {at: it for at, it in self._last.items() if at[0] in running}
            value: T = kept[0][1] if kept else make()
            self._last[mine] = variant, value
            return value

    def make_room(self, key: Hashable) -> None:
        """Drop the variant of ``key`` that this thread asked for last."""
        with self.lock:
            self._last.pop((threading.get_ident(), key), None)

    def __reduce__(self) -> tuple[type[Cache], tuple[()]]:
        return Cache, ()


class derived(cached_property[T]):  # noqa: N801  read like functools.cached_property
    """A cached property of an object with a ``cache``, made once across threads.

    It is a field of the object like any other, so that plugins get it sealed.
    """

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> T: ...

    def __get__(self, instance: Any, owner: type[Any] | None = None) -> Any:
        if instance is None:
            return self
        with instance.cache.lock:
            # Another thread may have made it while this one waited.
            made = vars(instance).get(self.attrname, self)
            return super().__get__(instance, owner) if made is self else made
