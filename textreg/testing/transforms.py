"""Tokens that say the same as others: with other numbers, names, features that occur nowhere."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from itertools import count

import numpy as np

from textreg.records import Tokens

_UNLIKE = 0x3400
"""Where the characters begin of names that are like no other: CJK extension A."""

_LONG = 12
"""Characters of such a name, so that no word is a few changes away from it."""


def with_unused(tokens: Tokens) -> tuple[Tokens, frozenset[str]]:
    """The same with features that occur nowhere among the others, which keep their order.

    They are first, last, and after every other feature; their names are also given.
    """
    old = list(tokens.vocabulary)
    letters = count(_UNLIKE)
    names, new, unused = [], [], []
    for feature, name in enumerate(old):
        if feature % 2 == 0:
            unused.append("".join(chr(next(letters)) for _ in range(_LONG)))
            names.append(unused[-1])
        new.append(len(names))
        names.append(name)
    unused.append("".join(chr(next(letters)) for _ in range(_LONG)))
    names.append(unused[-1])
    ids = np.array(new, dtype=np.int32)[tokens.ids]
    return replace(tokens, ids=ids, vocabulary=names), frozenset(unused)


def renumbered(tokens: Tokens, order: Sequence[int]) -> Tokens:
    """The same with other numbers of the features: those that they had before, in order."""
    new = np.empty(len(order), dtype=np.int32)
    new[list(order)] = np.arange(len(order), dtype=np.int32)
    names = [tokens.vocabulary[feature] for feature in order]
    return replace(tokens, ids=new[tokens.ids], vocabulary=names)


_ALPHABETS = {
    "small": "qwjzxvkbghnfcdtrsplmyiouea",
    "other": "щшжзхвкбгънфцдтрсплмюиоуеа",
}
"""Letters that stand for a to z."""


def renamed(tokens: Tokens, letters: str) -> Tokens:
    """The same with other letters in all names, one for each: alike as before, but no words.

    letters: ``small`` or ``capital`` ones, names beginning with those, or of ``other`` scripts.
    """
    moved = str.maketrans(
        "abcdefghijklmnopqrstuvwxyz", _ALPHABETS["other" if letters == "other" else "small"]
    )
    names = [name.translate(moved) for name in tokens.vocabulary]
    if letters == "capital":
        names = [name[:1].upper() + name[1:] for name in names]
    return replace(tokens, vocabulary=names)


def shuffled_words(tokens: Tokens, seed: int, *, inside: bool) -> Tokens:
    """The same with the tokens of every sentence in another order.

    inside: whether the first and the last of a sentence stay where they are. Only sentences in
    which others can move then are changed at all.
    """
    rng = np.random.default_rng(seed)
    ids = tokens.ids.copy()
    for start, end in itertools.pairwise(tokens.sentence_ptr.tolist()):
        first, last = (start + 1, end - 1) if inside else (start, end)
        if end - start > 3:
            ids[first:last] = rng.permutation(ids[first:last])
    return replace(tokens, ids=ids)


def shuffled_sentences(tokens: Tokens, seed: int, *, inside: bool) -> Tokens:
    """The same with the sentences of every document in another order, and no paragraphs.

    inside: whether the first and the last of a document stay where they are. Only documents in
    which others can move then are changed at all.
    """
    rng = np.random.default_rng(seed)
    order = np.arange(tokens.n_sentences)
    for start, end in itertools.pairwise(tokens.document_ptr.tolist()):
        first, last = (start + 1, end - 1) if inside else (start, end)
        if end - start > 3:
            order[first:last] = rng.permutation(order[first:last])
    pieces = [tokens.ids[tokens.sentence_ptr[s] : tokens.sentence_ptr[s + 1]] for s in order]
    return replace(
        tokens,
        ids=np.concatenate([np.empty(0, dtype=np.int32), *pieces]),
        sentence_ptr=np.cumsum([0, *map(len, pieces)]),
        paragraph_ptr=None,
    )
