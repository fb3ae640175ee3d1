"""Chunks of a search solved on a Dask cluster, through joblib's Dask backend (extra ``cluster``).

A fold is sent to the workers once, and chunks then refer to it. If a worker dies, another one
solves its chunk, and a fold that was lost with its workers is sent again. Every chunk is solved in
one thread, as without a cluster, so the results are the same.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

from textreg.cluster import connection
from textreg.cluster.connection import Connection
from textreg.errors import ConvergenceWarning
from textreg.kinds import Plugin
from textreg.training.blas import one_thread_in_blas
from textreg.training.search.trials import Chunk, Fold, Trials, solve_chunk
from textreg.training.stopping import Stopper

ATTEMPTS = 3
"""How often pieces are handed out that are lost together with the data they need."""


class Cluster:
    """The workers of a scheduler that solve chunks."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._client = connection.client
        self._sent: WeakKeyDictionary[Fold, Any] = WeakKeyDictionary()

    def solve_chunks(self, chunks: Sequence[Chunk], seconds: float) -> list[Trials]:
        """Trials of every piece; of fewer settings where ``seconds`` from now are over."""
        from distributed import KilledWorker
        from joblib import Parallel, delayed, parallel_config

        ends = time.time() + seconds
        for _ in range(ATTEMPTS):
            tasks = [delayed(_solve)(self._send(it.fold), *it[1:], ends) for it in chunks]
            with parallel_config(
                backend="dask", client=self._client, wait_for_workers_timeout=connection.PATIENCE
            ):
                try:
                    trials: list[Trials] = Parallel(n_jobs=-1, batch_size=1)(tasks)
                except CancelledError:
                    self._sent.clear()  # gone with the workers that had them
                    continue
                except (KilledWorker, TimeoutError):
                    break
            return trials
        raise connection.died()

    def _send(self, fold: Fold) -> Any:
        """The fold as the workers have it."""
        if sum(self._client.ncores().values()) < 2:
            return fold  # joblib then works here
        if fold not in self._sent:
            self._sent[fold] = self._client.scatter(fold, broadcast=True, hash=False)
        return self._sent[fold]


@contextmanager
def connected(address: str, part: Plugin) -> Iterator[Cluster]:
    """The cluster at an address, whose workers know ``part``.

    Raises UsageError where it cannot be reached, or cannot work as we do here.
    """
    with connection.connected(address) as made:
        made.check([part])
        yield Cluster(made)


def _solve(fold: Fold, rows: Any, parts: Any, starts: Any, ends: float) -> Trials:
    """What a worker does with a piece."""
    if not isinstance(fold, Fold):
        fold = fold.result()  # all workers but one have gone meanwhile, and joblib works here
    with warnings.catch_warnings(), one_thread_in_blas():
        warnings.simplefilter("ignore", ConvergenceWarning)
        # The clock of this machine is thought to be right.
        stopper = Stopper(time.monotonic() + ends - time.time())
        return solve_chunk(Chunk(fold, rows, parts, starts), stopper)
