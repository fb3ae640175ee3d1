"""The connection to a cluster: its workers, the memory of each, and what they are asked to do."""

from __future__ import annotations

import logging
import socket
import warnings
from asyncio import TimeoutError as AsyncTimeoutError
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from importlib import metadata
from itertools import repeat
from operator import itemgetter
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np

from textreg.errors import UsageError
from textreg.kinds import Plugin, Workers
from textreg.records.store import same
from textreg.terminal import quiet, shell_line
from textreg_dask.files import ClusterTexts, read_by, score_by, scored_texts
from textreg_dask.packing import pack, size_of, unpack
from textreg_dask.rows import ClusterDesign

if TYPE_CHECKING:
    from textreg.records import Corpus, Documents, Floats


# Seconds to wait for a scheduler, or for its first worker.
PATIENCE = 10

# Seconds to wait for one where all have died, which a nanny or a manager of jobs may start again.
RETURN = 60

# Tasks handed out ahead for every thread of the workers.
AHEAD = 3

# Distributions whose versions decide about the last digits of a result.
SAME = ("textreg", "numpy", "scipy")


class Connection(Workers):
    """A scheduler and its workers.

    Parameters
    ----------
    client : distributed.Client
    address : str
        That of the scheduler, for messages.
    """

    reads = True
    design = ClusterDesign

    def __init__(self, client: Any, address: str) -> None:
        self.client = client
        self.address = address

    def check(self, parts: Sequence[Plugin]) -> None:
        """UsageError unless there are workers that know the parts and compute as we do here."""
        import cloudpickle

        self.wait_for_workers(PATIENCE)
        mine = versions()
        try:
            answers = self.client.run(_look, [cloudpickle.dumps(part) for part in parts])
        except ImportError as error:
            raise UsageError(
                f"the workers lack a package ({error}): install textreg-dask {mine['textreg']}."
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

    def wait_for_workers(self, patience: int) -> None:
        """UsageError where there is none, and none comes within so many seconds."""
        try:
            self.client.wait_for_workers(1, timeout=patience)
        except (TimeoutError, AsyncTimeoutError):  # the same from Python 3.11 on
            raise UsageError(
                "the scheduler has no workers: start some with dask worker ADDRESS."
            ) from None

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

    def submit(self, function: Callable[..., Any], *arguments: Any, outputs: int = 1) -> Any:
        """A future of what a worker returns, or one of each output; arguments may be futures."""
        with self.telling(), warnings.catch_warnings():
            # A vocabulary is large, and goes to the scheduler, which is there as long as we are.
            warnings.filterwarnings("ignore", message="Sending large graph", category=UserWarning)
            future = self.client.submit(function, *arguments, pure=False)
        if outputs == 1:
            return future
        return [self.submit(itemgetter(number), future) for number in range(outputs)]

    def send(self, value: Any) -> Any:
        """A future of a value, which other workers get from the one that has it."""
        return self.submit(same, value)

    def map(
        self, function: Callable[..., Any], handles: Iterable[Any], *arguments: Iterable[Any]
    ) -> Iterator[Any]:
        """``function(value, *its arguments)`` of every future, by the workers, in order."""
        return self.counted(lambda size: None, function, handles, *arguments)

    def counted(
        self,
        tell: Callable[[int], None],
        function: Callable[..., Any],
        handles: Iterable[Any],
        *arguments: Iterable[Any],
    ) -> Iterator[Any]:
        """The same; at the end ``tell`` is given the bytes that were sent, both ways."""
        moved = 0

        def futures() -> Iterator[Any]:
            nonlocal moved
            for handle, *values in zip(handles, *arguments, strict=False):
                packed = [pack(argument) for argument in values]
                moved += size_of(packed)
                yield self.submit(called, function, handle, *packed)

        for result in self.results(futures()):
            moved += size_of(result)
            yield unpack(result)
        tell(moved)

    def read(self, paths: Any, **options: Any) -> Corpus:
        """Documents of files, which the workers read, each a file at a time."""
        return read_by(self, paths, **options)

    def score_files(
        self, model: Any, reading: Any, files: Sequence[str], *, records: bool
    ) -> Iterator[Any]:
        """The rows of files with their scores, by the workers, each a file at a time."""
        return score_by(self, model, reading, files, records=records)

    def scores(self, model: Any, texts: Documents) -> Floats:
        """The scores of texts, by the workers that have them."""
        if not isinstance(texts, ClusterTexts):
            return super().scores(model, texts)
        pieces = (piece for _, _, pieces in texts.blocks() for piece in pieces)
        return np.concatenate(list(self.map(scored_texts, pieces, repeat(self.send(model)))))

    def result(self, future: Any) -> Any:
        """What a future holds; errors of the workers are raised as they are.

        UsageError where all workers are gone, and none comes back: Dask would wait for ever.
        """
        with self.telling(future):
            while future.status == "pending":
                with suppress(TimeoutError, AsyncTimeoutError):  # a task's own is raised below
                    return future.result(PATIENCE)
                self.wait_for_workers(RETURN)
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
            raise UsageError(
                "the workers died again and again: look at their logs, they may lack memory."
            ) from None
        except (CancelledError, OSError) as error:  # a comm that is closed is one of the latter
            if future is not None and future.status == "error":
                raise
            raise UsageError(
                f"the Dask scheduler at {self.address} went away: {_first_line(error)}. Start it "
                "again, and train again."
            ) from None


def called(function: Callable[..., Any], value: Any, *packed: Any) -> Any:
    """What is computed of a value, packed to be sent."""
    return pack(function(value, *map(unpack, packed)))


@contextmanager
def connected(address: str) -> Iterator[Connection]:
    """The scheduler at an address; UsageError where it cannot be reached."""
    try:
        from distributed import Client
    except ImportError as error:
        raise UsageError(
            f"backend 'dask' needs distributed ({error}): "
            f"{shell_line(['pip', 'install', 'textreg[dask]'])}."
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
    for unit, scale in (("GB", 10**9), ("MB", 10**6)):
        if size >= scale:
            return f"{size / scale:.4g} {unit}"
    return f"{size} bytes"
