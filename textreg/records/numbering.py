"""Names of tokens as numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

import numpy as np

from textreg.records.text import Tokens

T = TypeVar("T")


def tokens_of(
    documents: Iterable[T], sentences_of: Callable[[T], Iterable[Iterable[str]]]
) -> Tokens:
    """Names of tokens as numbers, in order of their first occurrence.

    sentences_of: gives the sentences of tokens of a document.
    """
    vocabulary: dict[str, int] = {}
    ids: list[int] = []
    sentence_ptr, document_ptr = [0], [0]
    for document in documents:
        for sentence in sentences_of(document):
            ids.extend(vocabulary.setdefault(token, len(vocabulary)) for token in sentence)
            sentence_ptr.append(len(ids))
        document_ptr.append(len(sentence_ptr) - 1)
    return Tokens(
        ids=np.array(ids, dtype=np.int32),
        sentence_ptr=np.array(sentence_ptr, dtype=np.int64),
        document_ptr=np.array(document_ptr, dtype=np.int64),
        vocabulary=list(vocabulary),
    )
