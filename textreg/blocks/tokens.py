"""The tokens of blocks, kept as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from textreg.blocks.scratch import Arrays
from textreg.records import Tokens

ALWAYS = ("ids", "sentence_ptr", "document_ptr")


class NoNames(Sequence[str]):
    """So many names, of which nobody needs to know more than how many there are."""

    def __init__(self, size: int) -> None:
        self._size = size

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, index: object) -> NoReturn:
        raise LookupError("these names were left out")


class BlockTokens:
    """Tokens of every block, over a vocabulary that is kept elsewhere.

    Parameters
    ----------
    arrays : Arrays
    prefix : str
        What the names of the arrays begin with.
    """

    def __init__(self, arrays: Arrays, prefix: str) -> None:
        self._arrays = arrays
        self._prefix = prefix
        self._with_paragraphs: set[int] = set()

    def put(self, block: int, tokens: Tokens) -> None:
        """Keep those of a block, without character offsets."""
        for field in ALWAYS:
            self._arrays.put(self._name(block, field), getattr(tokens, field))
        if tokens.paragraph_ptr is not None:
            self._arrays.put(self._name(block, "paragraph_ptr"), tokens.paragraph_ptr)
            self._with_paragraphs.add(block)

    def get(self, block: int, vocabulary: Sequence[str]) -> Tokens:
        """Those of a block."""
        ids, sentence_ptr, document_ptr = (
            self._arrays.get(self._name(block, field)) for field in ALWAYS
        )
        paragraph_ptr = None
        if block in self._with_paragraphs:
            paragraph_ptr = self._arrays.get(self._name(block, "paragraph_ptr"))
        return Tokens(ids, sentence_ptr, document_ptr, vocabulary, paragraph_ptr=paragraph_ptr)

    def drop(self, block: int) -> None:
        """Forget those of a block."""
        fields = [*ALWAYS, *(["paragraph_ptr"] if block in self._with_paragraphs else [])]
        for field in fields:
            self._arrays.drop(self._name(block, field))

    def _name(self, block: int, field: str) -> str:
        return f"{self._prefix}-{block}-{field}"
