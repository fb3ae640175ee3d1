"""A corpus of our own, so that everything can be tried with no download.

Short product reviews from a small grammar. A review has three to seven sentences, of which one or
two say what its writer thinks; the others are about delivery, looks and use. Some are hard on
purpose: praise by negation, an older product that was bad, a kind word before the verdict.
"""

from __future__ import annotations

import json
import os
import random
import re
from pathlib import Path
from typing import NamedTuple

from textreg.demo.grammar import GRAMMAR, PRODUCTS, Symbols
from textreg.errors import UsageError
from textreg.files import write_atomically

_SYMBOL = re.compile(r"\{(\w+)\}")
_ARTICLE = re.compile(r"\b([Aa]) (?=[aeio]|u[mn](?!i))")


class DemoCorpus(NamedTuple):
    """Where the corpus was written: JSON lines with ``text`` and ``label`` (``pos`` or ``neg``)."""

    train: Path
    test: Path


def write_demo(
    folder: str | os.PathLike[str], *, train: int = 800, test: int = 200, seed: int = 0
) -> DemoCorpus:
    """Write ``train.jsonl`` and ``test.jsonl`` into ``folder``, which is made if it is missing.

    train, test: numbers of reviews, half of them positive. The same seed gives the same files. No
    review occurs twice. Raises UsageError if the folder cannot be made, or holds other files of
    these names.
    """
    corpus = DemoCorpus(Path(folder, "train.jsonl"), Path(folder, "test.jsonl"))
    try:
        corpus.train.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"{folder}: cannot be made a folder: {error.strerror}. Choose another place."
        ) from None
    reviews = make_reviews(train + test, seed=seed)
    contents = [
        "".join(json.dumps({"label": label, "text": text}) + "\n" for label, text in part).encode()
        for part in (reviews[:train], reviews[train:])
    ]
    for path, content in zip(corpus, contents, strict=True):
        if path.exists() and not (path.is_file() and path.read_bytes() == content):
            raise UsageError(
                f"{path} is there already, with something else in it: name another folder, or "
                "remove it first."
            )
    for path, content in zip(corpus, contents, strict=True):
        write_atomically(path, content)
    return corpus


def make_reviews(count: int, *, seed: int = 0) -> list[tuple[str, str]]:
    """``count`` different (label, review) pairs, positive and negative by turns."""
    rng = random.Random(seed)
    reviews: dict[str, str] = {}
    while len(reviews) < count:
        label = ("pos", "neg")[len(reviews) % 2]
        reviews.setdefault(_review(label, rng), label)
    return [(label, text) for text, label in reviews.items()]


def _review(label: str, rng: random.Random) -> str:
    """One review: opening, asides, and the verdict somewhere among them, more often at the end."""
    symbols = {**GRAMMAR, **rng.choice(PRODUCTS)}
    plain, negated, concession = {
        "pos": ("praise", "negated_complaint", "small_complaint"),
        "neg": ("complaint", "negated_praise", "small_praise"),
    }[label]
    kind = negated if rng.random() < 0.3 else plain
    verdicts = [[verdict] for verdict in rng.sample(symbols[kind], rng.choice((1, 1, 2)))]
    if rng.random() < 0.25:
        verdicts[0] = [rng.choice(symbols[concession]), "{but} " + _lowered(verdicts[0][0])]
    most = 6 - sum(map(len, verdicts))
    body = [[aside] for aside in rng.sample(symbols["aside"], rng.randint(1, most))]
    for verdict in verdicts:
        body.insert(max(rng.randint(0, len(body)), rng.randint(0, len(body))), verdict)
    sentences = [rng.choice(symbols["opening"]), *(line for part in body for line in part)]
    return " ".join(_said(sentence, symbols, rng) for sentence in sentences)


def _said(sentence: str, symbols: Symbols, rng: random.Random) -> str:
    """``sentence`` with a choice made for every symbol, and with grammar put right."""
    while _SYMBOL.search(sentence):
        sentence = _SYMBOL.sub(lambda match: rng.choice(symbols[match[1]]), sentence)
    sentence = _ARTICLE.sub(r"\1n ", sentence)
    return sentence[0].upper() + sentence[1:]


def _lowered(sentence: str) -> str:
    """``sentence`` as it goes on after a word; the pronoun I stays a capital."""
    return sentence if sentence.startswith("I ") else sentence[0].lower() + sentence[1:]
