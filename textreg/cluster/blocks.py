"""A matrix and groups whose blocks lie on the workers of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from textreg.cluster.connection import pack, size_of, unpack
from textreg.records.design import (
    CompressedArrays,
    GroupBlock,
    RowBlock,
    block_columns,
    block_products,
    groups_over,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from textreg.cluster.connection import Connection
    from textreg.records import Floats, Int32s, Int64s
    from textreg.records.design import ArrayStore

# Operations that take part of a block, rather than what is computed of all of it.
COLUMNS = (block_columns, groups_over)

# Of its share of a sum that may matter, what a block need not tell at first.
KEPT_BACK = 0.75

# By how much that is made smaller, as what is told is rounded to 32 bits.
ROUNDING = 1e-6


class ClusterBlock(NamedTuple):
    """A block of documents on a worker.

    Attributes
    ----------
    rows : RowBlock
    groups : GroupBlock or None
    sizes : ndarray of int32
        The number of documents here with each of its features.
    shares : ndarray of float64, or None
        The same as a share of all documents with it, once that is known.
    """

    rows: RowBlock
    groups: GroupBlock | None
    sizes: Int32s
    shares: Floats | None = None


class BlockTold(NamedTuple):
    """What is known of a block where it does not lie; size: its bytes."""

    start: int
    end: int
    features: Int32s
    sizes: Int32s
    groups: int
    size: int


class ClusterRows:
    """The rows of all blocks; as of :class:`textreg.records.design.RowBlocks`.

    Parameters
    ----------
    connection : Connection
    blocks : sequence of futures
        Of a :class:`ClusterBlock` each.
    starts : ndarray of int64
        The first row of every block, and the number of rows.
    store : ArrayStore
        Where the features of every block are kept here.
    prefix : str
        What their names there begin with.

    Attributes
    ----------
    size : int
        Bytes of all blocks.
    sent : int
        Bytes that went to the workers and came from them, for what was computed of blocks.
    columns : int
        Those beside, of the columns and groups of problems in memory.
    """

    elsewhere = True
    shape: tuple[int, int]
    sizes: Int32s

    def __init__(
        self,
        connection: Connection,
        blocks: Sequence[Any],
        starts: Int64s,
        store: ArrayStore,
        prefix: str,
    ) -> None:
        self._connection, self._blocks = connection, list(blocks)
        self._store, self._prefix = store, prefix
        self.starts = starts
        self.size = self.sent = self.columns = 0

    @classmethod
    def of(
        cls,
        connection: Connection,
        blocks: Sequence[Any],
        n_features: int,
        store: ArrayStore,
        done: Callable[[int], None],
    ) -> tuple[ClusterRows, ClusterGroups]:
        """The rows and groups of blocks that are made; ``done`` is told how many documents are."""
        sizes = np.zeros(n_features, dtype=np.int32)
        starts, counts, size = [0], [], 0
        told = connection.results(connection.submit(tell, block) for block in blocks)
        for number, one in enumerate(told):
            store.put(f"rows-{number}-features", one.features)
            sizes[one.features] += one.sizes
            starts.append(one.end)
            counts.append(one.groups)
            size += one.size
            done(one.end)
        ends = np.array(starts, dtype=np.int64)
        made = cls(connection, blocks, ends, store, "rows-")
        made.sizes, made.shape, made.size = sizes, (starts[-1], n_features), size
        made._blocks = [
            connection.submit(with_shares, block, sizes[made.features(number)])
            for number, block in enumerate(blocks)
        ]
        return made, ClusterGroups(made, n_features, np.array(counts, dtype=np.int64))

    def features(self, number: int) -> Int32s:
        """The features that occur in one block, ascending."""
        return self._store.get(f"{self._prefix}{number}-features")

    def map(
        self,
        operation: Callable[..., Any],
        *arguments: Iterable[Any],
        numbers: Sequence[int] | None = None,
    ) -> Iterator[Any]:
        """``operation(block, *its arguments)`` of every block, or of some, in order."""
        return self._map(of_rows, operation, *arguments, numbers=numbers)

    def derive(
        self,
        operation: Callable[..., Any],
        *arguments: Iterable[Any],
        take: Callable[[Any], Int32s],
    ) -> ClusterRows:
        """Blocks that are made of these, which lie where these do; see RowBlocks."""
        chosen = zip(self._blocks, *arguments, strict=False)
        pairs = [self._connection.submit(derived, block, operation, *own) for block, *own in chosen]
        blocks = [self._connection.submit(itemgetter(0), pair) for pair in pairs]
        told = self._connection.results(
            self._connection.submit(itemgetter(1), pair) for pair in pairs
        )
        made = ClusterRows(
            self._connection, blocks, self.starts, self._store, f"{self._prefix}derived-"
        )
        for number, one in enumerate(told):
            self._store.put(f"{made._prefix}{number}-features", take(one))
        made.size = self.size
        return made

    def large_sums(self, r: Floats, least: float) -> tuple[Int32s, Floats]:
        """The features with an absolute value of X'r above ``least``, and these values.

        First every block tells by how much its own sums exceed three quarters of its share of
        ``least``, where they do. What the blocks keep back is at most three quarters of ``least``
        together, so a sum can be that large only where what is told makes up the last quarter. Of
        these features all blocks then tell their whole sums.
        """
        submit, results = self._connection.submit, self._connection.results
        cut = (r[start:end] for start, end in pairwise(self.starts.tolist()))
        sums = [submit(sums_of, block, own) for block, own in zip(self._blocks, cut, strict=True)]
        pairs = list(zip(self._blocks, sums, strict=True))
        told, sizes = np.zeros(self.shape[1]), np.zeros(self.shape[1])
        excesses = results(submit(excess_of, block, own, least) for block, own in pairs)
        for number, (where, excess) in enumerate(excesses):
            own = self.features(number)
            some = own[np.unpackbits(where, count=len(own)).view(bool)]
            told[some] += excess
            sizes[some] += np.abs(excess)
            self.sent += size_of((where, excess))
        rounded = np.finfo(np.float32).eps * sizes
        may = ~(np.abs(told) + rounded <= (1.0 - KEPT_BACK) * least)
        features = np.flatnonzero(may).astype(np.int32)
        found = np.zeros(len(features))
        for part in results(submit(parts_of, block, own, features) for block, own in pairs):
            found += part
            self.sent += size_of(part)
        self.sent += r.nbytes + features.nbytes * len(pairs)
        large = np.abs(found) > least
        return features[large], found[large]

    def _map(
        self,
        function: Callable[..., Any],
        operation: Callable[..., Any],
        *arguments: Iterable[Any],
        numbers: Sequence[int] | None = None,
    ) -> Iterator[Any]:
        """``function(operation, block, *its arguments)`` on the workers, in order."""
        chosen = range(len(self._blocks)) if numbers is None else numbers
        moved = 0

        def futures() -> Iterator[Any]:
            nonlocal moved
            for number, *own in zip(chosen, *arguments, strict=False):
                packed = [pack(argument) for argument in own]
                moved += size_of(packed)
                block = self._blocks[number]
                yield self._connection.submit(called, function, operation, block, packed)

        for result in self._connection.results(futures()):
            moved += size_of(result)
            yield unpack(result)
        if operation in COLUMNS:
            self.columns += moved
        else:
            self.sent += moved


class ClusterGroups:
    """The groups of all blocks; as of :class:`textreg.records.design.GroupBlocks`."""

    def __init__(self, rows: ClusterRows, n_features: int, counts: Int64s) -> None:
        self._rows = rows
        self.n_features, self.counts = n_features, counts

    def map(self, operation: Callable[..., Any], *arguments: Iterable[Any]) -> Iterator[Any]:
        """``operation(block, *its arguments)`` of every block, in order."""
        return self._rows._map(of_groups, operation, *arguments)


def tell(block: ClusterBlock) -> BlockTold:
    """What is known of a block elsewhere."""
    groups = block.groups
    count = 0 if groups is None else len(groups.weights)
    size = size_of((block.rows.rows, block.groups))
    return BlockTold(
        block.rows.start, block.rows.end, block.rows.features, block.sizes, count, size
    )


def with_shares(block: ClusterBlock, totals: Int32s) -> ClusterBlock:
    """The same block, which knows the number of all documents with each of its features."""
    return block._replace(shares=block.sizes / totals)


def derived(
    block: ClusterBlock, operation: Callable[..., Any], *arguments: Any
) -> tuple[ClusterBlock, Any]:
    """A block made of another, and what is to be told of that."""
    rows: CompressedArrays
    rows, told = operation(block.rows, *arguments)
    width = int(rows.indices.max(initial=-1)) + 1
    every = np.arange(width, dtype=np.int32)  # features have their numbers elsewhere alone
    made = RowBlock(block.rows.start, block.rows.end, every, rows)
    return ClusterBlock(made, None, np.zeros(0, np.int32)), told


def called(
    function: Callable[..., Any],
    operation: Callable[..., Any],
    block: ClusterBlock,
    packed: Sequence[Any],
) -> Any:
    """What is computed of a block, packed to be sent."""
    return pack(function(operation, block, *map(unpack, packed)))


def of_rows(operation: Callable[..., Any], block: ClusterBlock, *arguments: Any) -> Any:
    """What is computed of rows."""
    return operation(block.rows, *arguments)


def of_groups(operation: Callable[..., Any], block: ClusterBlock, *arguments: Any) -> Any:
    """What is computed of groups."""
    return operation(block.groups, *arguments)


def sums_of(block: ClusterBlock, r: Floats) -> Floats:
    """X'r of a block, kept where that is."""
    return block_products(block.rows, r)


def excess_of(
    block: ClusterBlock, sums: Floats, least: float
) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """By how much the sums of a block exceed a part of its share of ``least``.

    Bits that tell for which of its features they do, and the excess of these with its sign.
    """
    assert block.shares is not None
    kept_back = (1.0 - ROUNDING) * KEPT_BACK * least * block.shares
    where = np.abs(sums) > kept_back
    excess = sums[where]
    excess -= np.copysign(kept_back[where], excess)
    return np.packbits(where), excess.astype(np.float32)


def parts_of(block: ClusterBlock, sums: Floats, features: Int32s) -> Floats:
    """The sums that a block has of some features, ascending; 0 where it has none of them."""
    own = block.rows.features
    parts = np.zeros(len(features))
    place = np.searchsorted(own, features)
    known = np.flatnonzero(place < len(own))
    known = known[own[place[known]] == features[known]]
    parts[known] = sums[place[known]]
    return parts
