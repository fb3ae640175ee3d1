"""A matrix and groups whose blocks lie on the workers of a cluster."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from textreg.records.design import Block, BlockDesign, block_columns, block_products, groups_over
from textreg_dask.packing import size_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from textreg.records import Floats, Int32s

# Operations that take part of a block, rather than what is computed of all of it.
COLUMNS = (block_columns, groups_over)

# Of its share of a sum that may matter, what a block need not tell at first.
KEPT_BACK = 0.75

# By how much that is made smaller, as what is told is rounded to 32 bits.
ROUNDING = 1e-6


class ClusterDesign(BlockDesign):
    """A matrix whose blocks lie on a cluster; see :class:`textreg.records.design.BlockDesign`.

    Its ``counts`` are of bytes that went to the workers and came from them: those "sent" for what
    was computed of blocks, and the "columns" and groups of problems in memory.
    """

    @cached_property
    def size(self) -> int:
        """Bytes of all blocks."""
        return sum(self.workers.map(bytes_of, self.blocks))

    @cached_property
    def _shares(self) -> list[Any]:
        """Futures of the share of all documents with a feature that each block has, by feature."""
        totals = (self.sizes[features] for features in self.features_of_blocks())
        pairs = zip(self.blocks, totals, strict=True)
        return [self.workers.submit(shares_of, block, total) for block, total in pairs]

    def map(
        self,
        operation: Callable[..., Any],
        *arguments: Iterable[Any],
        blocks: Iterable[Any] | None = None,
    ) -> Iterator[Any]:
        """What is computed of blocks, whose bytes are counted."""
        what = "columns" if operation in COLUMNS else "sent"
        chosen = self.blocks if blocks is None else blocks
        return self._map_counted(what, operation, chosen, *arguments)

    def large_products(self, r: Floats, least: float) -> tuple[Int32s, Floats]:
        """The features with an absolute value of X'r above ``least``, and these values.

        First every block tells by how much its own sums exceed three quarters of its share of
        ``least``, where they do. What the blocks keep back is at most three quarters of ``least``
        together, so a sum can be that large only where what is told makes up the last quarter. Of
        these features all blocks then tell their whole sums.
        """
        self.count_pass()
        r = np.ascontiguousarray(r)
        pairs = zip(self.blocks, self.cut(r), strict=True)
        sums = [self.workers.submit(sums_of, block, residuals) for block, residuals in pairs]
        self.counts["sent"] += r.nbytes
        reported, sizes = np.zeros(self.shape[1]), np.zeros(self.shape[1])
        excesses = self._map_counted("sent", excess_of, sums, self._shares, repeat(least))
        for of_block, (where, excess) in zip(self.features_of_blocks(), excesses, strict=True):
            exceeding = of_block[np.unpackbits(where, count=len(of_block)).view(bool)]
            reported[exceeding] += excess
            sizes[exceeding] += np.abs(excess)
        rounded = np.finfo(np.float32).eps * sizes
        may = ~(np.abs(reported) + rounded <= (1.0 - KEPT_BACK) * least)
        features = np.flatnonzero(may).astype(np.int32)
        products = np.zeros(len(features))
        for part in self._map_counted("sent", parts_of, self.blocks, sums, repeat(features)):
            products += part
        large = np.abs(products) > least
        return features[large], products[large]

    def log_traffic(self, log: logging.Logger) -> None:
        """Log what passes have sent: it decides how large a cluster pays."""
        log.info(
            "cluster: blocks of %.0f MB; a pass sent %.2g %% of that, problems in memory took "
            "%.2g %%",
            self.size / 1e6,
            100.0 * self.counts["sent"] / max(self.size * self.passes, 1.0),
            100.0 * self.counts["columns"] / max(self.size, 1),
        )

    def _map_counted(self, what: str, *call: Any) -> Iterator[Any]:
        """What the workers map, with the bytes that this sends among the counts."""

        def count(moved: int) -> None:
            self.counts[what] += moved

        yield from self.workers.counted(count, *call)  # type: ignore[attr-defined]


def bytes_of(block: Block) -> int:
    """The bytes of the rows and groups of a block."""
    return size_of((block.rows, block.groups))


def shares_of(block: Block, totals: Int32s) -> Floats:
    """The share of all documents with each of its features that a block has."""
    return block.sizes / totals


def sums_of(block: Block, r: Floats) -> Floats:
    """X'r of a block, kept where that is."""
    return block_products(block, r)


def excess_of(
    sums: Floats, shares: Floats, least: float
) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """By how much the sums of a block exceed a part of its share of ``least``.

    Bits that tell for which of its features they do, and the excess of these with its sign.
    """
    kept_back = (1.0 - ROUNDING) * KEPT_BACK * least * shares
    where = np.abs(sums) > kept_back
    excess = sums[where]
    excess -= np.copysign(kept_back[where], excess)
    return np.packbits(where), excess.astype(np.float32)


def parts_of(block: Block, sums: Floats, features: Int32s) -> Floats:
    """The sums that a block has of some features, ascending; 0 where it has none of them."""
    block_features = block.features
    parts = np.zeros(len(features))
    place = np.searchsorted(block_features, features)
    known = np.flatnonzero(place < len(block_features))
    known = known[block_features[place[known]] == features[known]]
    parts[known] = sums[place[known]]
    return parts
