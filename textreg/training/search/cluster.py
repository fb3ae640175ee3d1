"""Chunks of a search solved on a Dask cluster, through joblib's Dask backend (extra ``cluster``).

A fold is sent to the workers once, and chunks then refer to it. If a worker dies, another one
solves its chunk, and a fold that was lost with its workers is sent again. Every chunk is solved in
one thread, as without a cluster, so the results are the same.
"""

from __future__ import annotations

import socket
import time
import warnings
from asyncio import TimeoutError as AsyncTimeoutError
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from importlib import metadata
from typing import Any
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from textreg.errors import ConvergenceWarning, UsageError
from textreg.kinds import Plugin
from textreg.training.search.trials import Chunk, Fold, Trials, solve_chunk
from textreg.training.stopping import Stopper

PATIENCE = 10
"""Seconds to wait for a scheduler, or for its first worker."""

ATTEMPTS = 3
"""How often pieces are handed out that are lost together with the data they need."""

SAME = ("textreg", "numpy", "scipy")
"""Distributions whose versions decide about the last digits of a result."""


class Cluster:
    """The workers of a Dask scheduler."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._sent: WeakKeyDictionary[Fold, Any] = WeakKeyDictionary()

    def check(self, part: Plugin) -> None:
        """UsageError unless there are workers that know ``part`` and compute as we do here."""
        import cloudpickle

        try:
            self._client.wait_for_workers(1, timeout=PATIENCE)
        except (TimeoutError, AsyncTimeoutError):  # the same from Python 3.11 on
            raise UsageError(
                "the scheduler has no workers: start some with dask worker ADDRESS."
            ) from None
        mine = versions()
        try:
            answers = self._client.run(_look, cloudpickle.dumps(part))
        except ImportError as error:
            raise UsageError(
                f"the workers cannot work ({error}): install textreg {mine['textreg']} there."
            ) from None
        for worker, (theirs, failure) in answers.items():
            for name in SAME:
                if theirs[name] != mine[name]:
                    raise UsageError(
                        f"worker {worker} has {name} {theirs[name]}, and here it is {mine[name]}: "
                        "results would differ. Install the same there."
                    )
            if failure is not None:
                raise UsageError(
                    f"worker {worker} has no {part.kind} '{part.label()}' ({failure}): install "
                    "the same plugins there."
                )

    def solve_chunks(self, chunks: Sequence[Chunk], seconds: float) -> list[Trials]:
        """Trials of every piece; of fewer settings where ``seconds`` from now are over."""
        from distributed import KilledWorker
        from joblib import Parallel, delayed, parallel_config

        ends = time.time() + seconds
        for _ in range(ATTEMPTS):
            tasks = [delayed(_solve)(self._send(it.fold), *it[1:], ends) for it in chunks]
            with parallel_config(
                backend="dask", client=self._client, wait_for_workers_timeout=PATIENCE
            ):
                try:
                    trials: list[Trials] = Parallel(n_jobs=-1, batch_size=1)(tasks)
                except CancelledError:
                    self._sent.clear()  # gone with the workers that had them
                    continue
                except (KilledWorker, TimeoutError):
                    break
            return trials
        raise UsageError(
            "the workers of the cluster died again and again: look at their logs, they may lack "
            "memory. With --resume, what is done is kept."
        )

    def _send(self, fold: Fold) -> Any:
        """The fold as the workers have it."""
        if sum(self._client.ncores().values()) < 2:
            return fold  # joblib then works here
        if fold not in self._sent:
            self._sent[fold] = self._client.scatter(fold, broadcast=True, hash=False)
        return self._sent[fold]


@contextmanager
def connected(address: str | None, part: Plugin) -> Iterator[Cluster | None]:
    """The cluster at an address, and None where there is none; its workers know ``part``.

    Raises UsageError where it cannot be reached, or cannot work as we do here.
    """
    if address is None:
        yield None
        return
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
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        raise UsageError(
            f"no Dask scheduler answers at {address} ({reason}). Start one with dask scheduler, "
            "and name the address that it prints, such as tcp://10.0.0.5:8786 (--address)."
        ) from None
    with client:
        cluster = Cluster(client)
        cluster.check(part)
        yield cluster


def _knock(address: str) -> None:
    """OSError or ValueError where nobody listens, which Dask finds out after long and noisily."""
    place = urlsplit(address)
    if place.scheme not in ("tcp", "tls") or not place.hostname or place.port is None:
        raise ValueError("an address is tcp://HOST:PORT or tls://HOST:PORT")
    socket.create_connection((place.hostname, place.port), timeout=PATIENCE).close()


def versions() -> dict[str, str]:
    """Of what results depend on."""
    return {name: metadata.version(name) for name in SAME}


def _solve(fold: Fold, row: Any, before: Any, parts: Any, starts: Any, ends: float) -> Trials:
    """What a worker does with a piece."""
    from threadpoolctl import threadpool_limits

    if not isinstance(fold, Fold):
        fold = fold.result()  # all workers but one have gone meanwhile, and joblib works here
    with warnings.catch_warnings(), threadpool_limits(limits=1):
        warnings.simplefilter("ignore", ConvergenceWarning)
        # The clock of this machine is thought to be right.
        stopper = Stopper(time.monotonic() + ends - time.time())
        return solve_chunk(Chunk(fold, row, before, parts, starts), stopper)


def _look(payload: bytes) -> tuple[dict[str, str], str | None]:
    """What a worker has: versions, and why it cannot read a part, if it cannot."""
    import cloudpickle

    try:
        cloudpickle.loads(payload)
    except (ImportError, AttributeError) as error:
        return versions(), str(error)
    return versions(), None
