"""The connection to a cluster: its workers, the memory of each, and what is sent to them packed."""

from __future__ import annotations

import logging
import socket
import warnings
from asyncio import TimeoutError as AsyncTimeoutError
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from importlib import metadata
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

import numpy as np

from textreg.errors import UsageError
from textreg.kinds import Plugin
from textreg.records import Floats, Int32s
from textreg.terminal import quiet

if TYPE_CHECKING:
    from numpy.typing import NDArray


# The type of numbers that none is too large for.
SMALL = np.dtype(np.uint16)


class Packed(NamedTuple):
    """An array of float64 by the places and values of what is not zero."""

    shape: tuple[int, ...]
    places: Int32s
    values: Floats


class PackedNumbers(NamedTuple):
    """An array of whole numbers, none of them negative or large, and of which type it was."""

    numbers: NDArray[np.uint16]
    dtype: np.dtype[Any]


def pack(value: Any) -> Any:
    """The same in fewer bytes, for :func:`unpack`.

    Arrays of float64 that are mostly zero, and whole numbers that are small; also in tuples.
    """
    if isinstance(value, tuple):
        return _like(value, map(pack, value))
    if not isinstance(value, np.ndarray):
        return value
    if value.dtype == np.float64:
        return _packed_floats(value)
    if value.dtype.kind == "i" and value.dtype.itemsize > SMALL.itemsize and value.size:
        small = value.min() >= 0 and value.max() <= np.iinfo(SMALL).max
        return PackedNumbers(value.astype(SMALL), value.dtype) if small else value
    return value


def unpack(value: Any) -> Any:
    """What was packed."""
    if isinstance(value, PackedNumbers):
        return value.numbers.astype(value.dtype)
    if isinstance(value, Packed):
        flat = np.zeros(int(np.prod(value.shape)))
        flat[value.places] = value.values
        return flat.reshape(value.shape)
    if isinstance(value, tuple):
        return _like(value, map(unpack, value))
    return value


def _packed_floats(value: Floats) -> Any:
    """An array as :class:`Packed`, unless it has few zeros."""
    flat = value.reshape(-1)
    places = np.flatnonzero(flat)
    if len(places) * 3 >= len(flat) * 2 or len(flat) > np.iinfo(np.int32).max:
        return np.ascontiguousarray(value)
    return Packed(value.shape, places.astype(np.int32), flat[places])


def _like(value: tuple[Any, ...], parts: Iterable[Any]) -> tuple[Any, ...]:
    """A tuple of the same kind."""
    make = getattr(type(value), "_make", tuple)
    made: tuple[Any, ...] = make(parts)
    return made


def size_of(value: Any) -> int:
    """The bytes of the arrays in a value."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, (list, tuple)):
        return sum(map(size_of, value))
    return 0


# Seconds to wait for a scheduler, or for its first worker.
PATIENCE = 10

# Tasks handed out ahead for every thread of the workers.
AHEAD = 3

# Distributions whose versions decide about the last digits of a result.
SAME = ("textreg", "numpy", "scipy")


class Connection:
    """A scheduler and its workers.

    Parameters
    ----------
    client : distributed.Client
    address : str
        That of the scheduler, for messages.
    """

    def __init__(self, client: Any, address: str) -> None:
        self.client = client
        self.address = address

    def check(self, parts: Sequence[Plugin]) -> None:
        """UsageError unless there are workers that know the parts and compute as we do here."""
        import cloudpickle

        try:
            self.client.wait_for_workers(1, timeout=PATIENCE)
        except (TimeoutError, AsyncTimeoutError):  # the same from Python 3.11 on
            raise UsageError(
                "the scheduler has no workers: start some with dask worker ADDRESS."
            ) from None
        mine = versions()
        try:
            answers = self.client.run(_look, [cloudpickle.dumps(part) for part in parts])
        except ImportError as error:
            raise UsageError(
                f"the workers lack a package ({error}): install textreg {mine['textreg']} on them."
            ) from None
        for worker, (theirs, failures) in answers.items():
            for name in SAME:
                if theirs[name] != mine[name]:
                    raise UsageError(
                        f"worker {worker} has {name} {theirs[name]}, and here it is {mine[name]}: "
                        "results would differ. Install the same there."
                    )
            for part, failure in zip(parts, failures, strict=True):
                if failure is not None:
                    raise UsageError(
                        f"worker {worker} has no {part.kind} '{part.label()}' ({failure}): install "
                        "the same plugins there."
                    )

    def check_memory(self, memory: int) -> None:
        """UsageError for a worker that may take more than so many bytes.

        A worker keeps within its own limit: beyond 60 % of it Dask moves blocks to its disk.
        """
        for worker, limit in self.client.run(_memory_limit).items():
            if limit is None or limit > memory:
                has = "has no limit of memory" if limit is None else f"may take {_shown(limit)}"
                raise UsageError(
                    f"worker {worker} {has}, and {_shown(memory)} were given (--memory): start it "
                    f"with dask worker --memory-limit {_shown(memory).replace(' ', '')}, or give "
                    "more."
                )

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """A future of what a worker returns; arguments may be futures."""
        with self.telling(), warnings.catch_warnings():
            # A vocabulary is large, and goes to the scheduler, which is there as long as we are.
            warnings.filterwarnings("ignore", message="Sending large graph", category=UserWarning)
            return self.client.submit(function, *arguments, pure=False)

    def result(self, future: Any) -> Any:
        """What a future holds; errors of the workers are raised as they are."""
        with self.telling(future):
            return future.result()

    def results(self, futures: Iterable[Any]) -> Iterator[Any]:
        """What futures hold, in order; not many are asked for ahead."""
        with self.telling():
            most = AHEAD * max(sum(self.client.ncores().values()), 1)
        waiting: deque[Any] = deque()
        for future in futures:
            waiting.append(future)
            if len(waiting) >= most:
                yield self.result(waiting.popleft())
        while waiting:
            yield self.result(waiting.popleft())

    @contextmanager
    def telling(self, future: Any = None) -> Iterator[None]:
        """UsageError where the scheduler goes away, or workers die again and again.

        Errors that tasks end with, as the given future, are raised as they are.
        """
        from distributed import KilledWorker
        from distributed.comm import CommClosedError

        try:
            if self.client.status != "running":
                raise CommClosedError("it does not answer")
            yield
        except KilledWorker:
            raise died() from None
        except (CancelledError, OSError) as error:  # a comm that is closed is one of the latter
            if future is not None and future.status == "error":
                raise
            raise UsageError(
                f"the Dask scheduler at {self.address} went away: {_first_line(error)}. Start it "
                "again, and train again."
            ) from None


@contextmanager
def connected(address: str) -> Iterator[Connection]:
    """The scheduler at an address; UsageError where it cannot be reached."""
    try:
        from distributed import Client
    except ImportError as error:
        raise UsageError(
            f"backend 'dask' needs distributed ({error}): pip install 'textreg[cluster]'."
        ) from None
    try:
        _knock(address)
        client = Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError, MemoryError) as error:  # the last where another service answers
        raise UsageError(
            f"no Dask scheduler answers at {address} ({_first_line(error)}). Start one with dask "
            "scheduler, and name the address that it prints, such as tcp://10.0.0.5:8786 "
            "(--backend dask:ADDRESS)."
        ) from None
    # That a scheduler went away we tell ourselves.
    with quiet("distributed.client", logging.CRITICAL), client:
        yield Connection(client, address)


def died() -> UsageError:
    """The error where no worker lives long enough."""
    return UsageError(
        "the workers of the cluster died again and again: look at their logs, they may lack memory."
    )


def versions() -> dict[str, str]:
    """Of what results depend on."""
    return {name: metadata.version(name) for name in SAME}


def _knock(address: str) -> None:
    """OSError or ValueError where nobody listens, which Dask finds out after long and noisily."""
    place = urlsplit(address)
    if place.scheme not in ("tcp", "tls") or not place.hostname or place.port is None:
        raise ValueError("an address is tcp://HOST:PORT or tls://HOST:PORT")
    socket.create_connection((place.hostname, place.port), timeout=PATIENCE).close()


def _look(payloads: list[bytes]) -> tuple[dict[str, str], list[str | None]]:
    """What a worker has: versions, and why it cannot read parts, if it cannot."""
    import cloudpickle

    failures: list[str | None] = []
    for payload in payloads:
        try:
            cloudpickle.loads(payload)
        except (ImportError, AttributeError) as error:
            failures.append(str(error))
        else:
            failures.append(None)
    return versions(), failures


def _memory_limit(dask_worker: Any) -> int | None:
    """Bytes that a worker may take; None without a limit."""
    limit = dask_worker.memory_manager.memory_limit
    return None if not limit else int(limit)


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__


def _shown(size: int) -> str:
    """A number of bytes as people write it."""
    for unit, one in (("GB", 10**9), ("MB", 10**6)):
        if size >= one:
            return f"{size / one:.4g} {unit}"
    return f"{size} bytes"
