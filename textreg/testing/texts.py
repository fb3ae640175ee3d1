"""Texts and tokens to try tokenizers and builders on."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np

from textreg.plugins import registry
from textreg.records import Tokens

TEXTS = (
    "The lamp is bright. We love it!\n\nIt came on Monday.",
    "",
    "Dull, dull lamp... and it broke.",
    "ÄÖÜ naïve Ωmega \U0001f600 １２ don't",
    "   \n\t ",
    "A lamp. A lamp. A lamp.\n\nNot a chair; a lamp!",
    "<b>markup</b> & http://example.org/?q=1 \x00 \u202e end",
)
"""Texts that a tokenizer must take: empty ones, all scripts, markup and control characters."""

EDGES = (["", ""], ["lamp"], ["lamp lamp lamp", ""], ["a lamp", "a chair. a lamp"])
"""Texts in which there is little to group or link."""


def some_tokens() -> Tokens:
    """Documents enough for a builder to find something in."""
    rng = np.random.default_rng(0)
    words = [f"{a}{b}" for a in "klmn" for b in ("amp", "ettle", "ible", "oom", "urse")]
    texts = []
    for _ in range(60):
        start = int(rng.integers(0, 16))  # words that are near each other keep company
        picked = [words[(start + int(rng.integers(0, 5))) % 20] for _ in range(18)]
        texts.append(". ".join(" ".join(picked[at : at + 6]) for at in (0, 6, 12)) + ".")
    tokens: Tokens = registry.create("tokenizer", "textreg:words").encode([*texts, ""])
    return tokens


def with_pairs(tokens: Tokens) -> Tokens:
    """The same with every pair of neighbors in a sentence as a feature after its first word."""
    names = list(tokens.vocabulary)
    number = {name: feature for feature, name in enumerate(names)}
    ids, sentence_ptr = [], [0]
    for start, end in itertools.pairwise(tokens.sentence_ptr):
        sentence = tokens.ids[start:end].tolist()
        for place, word in enumerate(sentence):
            ids.append(word)
            if place + 1 < len(sentence):
                pair = f"{names[word]} {names[sentence[place + 1]]}"
                ids.append(number.setdefault(pair, len(number)))
        sentence_ptr.append(len(ids))
    return replace(
        tokens,
        ids=np.array(ids, dtype=np.int32),
        sentence_ptr=np.array(sentence_ptr, dtype=np.int64),
        vocabulary=list(number),
    )
