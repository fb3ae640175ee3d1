"""Documents in blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textreg.records import Int32s

DOCUMENTS = 1 << 15
"""Most documents in a block."""

CHARACTERS = 1 << 24
"""Most characters in a block, unless a single document has more."""


def blocks_of(batches: Iterable[Sequence[str]]) -> Iterator[list[str]]:
    """Texts in blocks of at most ``DOCUMENTS`` documents and ``CHARACTERS`` characters.

    A block ends before the document with which it would have more. Where that is depends on the
    documents alone, and not on the batches that they come in.

    Parameters
    ----------
    batches : iterable of sequences of str
        The documents in order.

    Yields
    ------
    list of str
        At least one document. A document of more than ``CHARACTERS`` characters is a block.

    Examples
    --------
    >>> [len(block) for block in blocks_of([["It works."] * 32_000, ["It broke."] * 1000])]
    [32768, 232]
    """
    block: list[str] = []
    characters = 0
    for batch in batches:
        for text in batch:
            if block and (len(block) == DOCUMENTS or characters + len(text) > CHARACTERS):
                yield block
                block, characters = [], 0
            block.append(text)
            characters += len(text)
    if block:
        yield block


def starts_of(lengths: Int32s) -> list[int]:
    """Where :func:`blocks_of` begins a block of texts with so many characters; and their number."""
    starts = [0]
    characters = 0
    for number, length in enumerate(lengths.tolist()):
        if number > starts[-1] and (
            number - starts[-1] == DOCUMENTS or characters + length > CHARACTERS
        ):
            starts.append(number)
            characters = 0
        characters += length
    return [*starts, len(lengths)] if len(lengths) else starts
