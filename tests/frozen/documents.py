"""Documents made of a seed, by Python's generator alone, which is the same in every version."""

from __future__ import annotations

import random
from functools import cache
from itertools import accumulate
from typing import Any, NamedTuple

from textreg.demo import make_reviews

WORDS = 300
"""Words that tell nothing."""

TELLING = 6
"""Words for each label."""


class Labeled(NamedTuple):
    """Documents to train on with their labels, and further documents to answer."""

    texts: list[Any]
    labels: list[Any]
    held_out: list[Any]


def _sentences(labels: list[int], rng: random.Random) -> str:
    """Three to five sentences, of which one has words of these labels."""
    common = list(accumulate(1.0 / rank for rank in range(1, WORDS + 1)))
    sentences = [
        [f"w{at}" for at in rng.choices(range(WORDS), cum_weights=common, k=rng.randint(4, 7))]
        for _ in range(rng.randint(3, 5))
    ]
    for label in labels:
        words = [f"t{label}x{rng.randrange(TELLING)}" for _ in range(2)]
        sentences[rng.randrange(len(sentences))] += words
    return " ".join(f"{' '.join(words)}." for words in sentences)


@cache
def reviews(n: int = 160) -> Labeled:
    """Reviews of products, positive or negative."""
    labels, texts = (list(column) for column in zip(*make_reviews(n + 40, seed=3), strict=True))
    return Labeled(texts[:n], labels[:n], texts[n:])


@cache
def topics(labels: int = 6, n: int = 180) -> Labeled:
    """One label of several for each document."""
    rng = random.Random(labels)
    drawn = [at % labels for at in range(n + 40)]
    texts = [_sentences([label], rng) for label in drawn]
    names = [f"topic {label}" for label in drawn[:n]]
    return Labeled(texts[:n], names, texts[n:])


@cache
def emotions(labels: int = 28, n: int = 280) -> Labeled:
    """One to three labels of 28 for each document."""
    rng = random.Random(labels)
    drawn = [sorted({at % labels, *rng.sample(range(labels), at % 3)}) for at in range(n + 40)]
    texts = [_sentences(own, rng) for own in drawn]
    names = [[f"emotion {label}" for label in own] for own in drawn[:n]]
    return Labeled(texts[:n], names, texts[n:])


@cache
def numbers(n: int = 180) -> Labeled:
    """A number for each document."""
    rng = random.Random(5)
    drawn = [at % 6 for at in range(n + 40)]
    texts = [_sentences([label], rng) for label in drawn]
    targets = [f"{label + rng.uniform(-0.5, 0.5):.3f}" for label in drawn[:n]]
    return Labeled(texts[:n], targets, texts[n:])


@cache
def notes(labels: int = 2, n: int = 33_200) -> Labeled:
    """As many short documents as need two blocks."""
    rng = random.Random(7)
    common = list(accumulate(1.0 / rank for rank in range(1, WORDS + 1)))
    drawn = rng.choices(range(WORDS), cum_weights=common, k=5 * (n + 40))
    texts, names = [], []
    for at in range(n + 40):
        words = [f"w{word}" for word in drawn[5 * at : 5 * at + 5]]
        label = rng.randrange(labels)
        if rng.random() < 0.7:
            words.append(f"t{label}x{rng.randrange(TELLING)}")
        texts.append(f"{' '.join(words[:3])}. {' '.join(words[3:])}.")
        names.append(f"topic {label}")
    return Labeled(texts[:n], names[:n], texts[n:])


@cache
def tickets(n: int = 120) -> Labeled:
    """Documents of several fields."""
    rng = random.Random(11)
    rows, names = [], []
    for at in range(n + 40):
        label = at % 3
        rows.append(
            {
                "title": _sentences([label], rng).split(".")[0],
                "body": _sentences([label, rng.randrange(3)], rng),
                "brand": rng.choice(["acme", "bolt", None]),
                "price": rng.choice([1, 2.5, None, 40]),
            }
        )
        names.append(f"queue {label}")
    return Labeled(rows[:n], names[:n], rows[n:])


TICKETS: dict[str, Any] = {
    "title": "text",
    "body": {"tokenizer": "words", "ngrams": 1},
    "brand": "category",
    "price": "number",
}
"""The fields of tickets."""
