"""A generated corpus, to try everything without a download.

Short product reviews from a small grammar. A review has three to seven sentences, of which one or
two express an opinion; the others are about delivery, looks and use. Some reviews are hard on
purpose: praise by negation, an older product that was bad, a kind word before the verdict.
"""

from __future__ import annotations

import json
import os
import random
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple, TypeAlias

from textreg.errors import UsageError
from textreg.files import csv_lines, read_toml, write_atomically

Symbols: TypeAlias = Mapping[str, Sequence[str]]


@cache
def grammar() -> tuple[Symbols, Sequence[Symbols]]:
    """The alternatives of every symbol, and those of each product, which come before these."""
    content = read_toml(Path(__file__).with_name("demo.toml"))
    return content["grammar"], content["products"]


_SYMBOL = re.compile(r"\{(\w+)\}")
_ARTICLE = re.compile(r"\b([Aa]) (?=[aeio]|u[mn](?!i))")


class DemoCorpus(NamedTuple):
    """The files of the corpus: reviews with ``text`` and ``label`` (``pos`` or ``neg``).

    Attributes
    ----------
    train, test : Path
    """

    train: Path
    test: Path


def write_demo(
    folder: str | os.PathLike[str],
    *,
    train: int = 800,
    test: int = 200,
    seed: int = 0,
    format: str = "jsonl",
) -> DemoCorpus:
    """Write ``train.jsonl`` and ``test.jsonl``, in which no review occurs twice.

    Parameters
    ----------
    folder : str or path
        Created if it is missing.
    train, test : int, default 800 and 200
        Numbers of reviews, half of them positive.
    seed : int, default 0
        The same seed gives the same files.
    format : {"jsonl", "csv"}, default "jsonl"
        Of the files, and how their names end.

    Returns
    -------
    DemoCorpus

    Raises
    ------
    UsageError
        If the folder cannot be created, or has other files of these names, or the format is none
        of these two.
    """
    if format not in _WRITERS:
        raise UsageError(f"format must be one of {', '.join(_WRITERS)}, not {format!r}.")
    corpus = DemoCorpus(Path(folder, f"train.{format}"), Path(folder, f"test.{format}"))
    try:
        corpus.train.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"{folder}: the folder cannot be created: {error.strerror}. Choose another place."
        ) from None
    reviews = make_reviews(train + test, seed=seed)
    contents = [_WRITERS[format](part).encode() for part in (reviews[:train], reviews[train:])]
    for path, content in zip(corpus, contents, strict=True):
        if path.exists() and not (path.is_file() and path.read_bytes() == content):
            raise UsageError(
                f"{path} exists already, with other contents: name another folder, or remove the "
                "file first."
            )
    for path, content in zip(corpus, contents, strict=True):
        write_atomically(path, content)
    return corpus


def _json_lines(reviews: list[tuple[str, str]]) -> str:
    return "".join(json.dumps({"label": label, "text": text}) + "\n" for label, text in reviews)


def _table(reviews: list[tuple[str, str]]) -> str:
    return "".join(csv_lines([("label", "text"), *reviews]))


_WRITERS = {"jsonl": _json_lines, "csv": _table}


def make_reviews(count: int, *, seed: int = 0) -> list[tuple[str, str]]:
    """``count`` distinct (label, review) pairs, alternately positive and negative."""
    rng = random.Random(seed)
    reviews: dict[str, str] = {}
    while len(reviews) < count:
        label = ("pos", "neg")[len(reviews) % 2]
        reviews.setdefault(_review(label, rng), label)
    return [(label, text) for text, label in reviews.items()]


def _review(label: str, rng: random.Random) -> str:
    """One review: opening, asides, and the verdict among them, mostly near the end."""
    shared, products = grammar()
    symbols = {**shared, **rng.choice(products)}
    plain, negated, concession = {
        "pos": ("praise", "negated_complaint", "small_complaint"),
        "neg": ("complaint", "negated_praise", "small_praise"),
    }[label]
    kind = negated if rng.random() < 0.3 else plain
    verdicts = [[verdict] for verdict in rng.sample(symbols[kind], rng.choice((1, 1, 2)))]
    if rng.random() < 0.25:
        verdicts[0] = [rng.choice(symbols[concession]), "{but} " + _uncapitalized(verdicts[0][0])]
    most = 6 - sum(map(len, verdicts))
    body = [[aside] for aside in rng.sample(symbols["aside"], rng.randint(1, most))]
    for verdict in verdicts:
        body.insert(max(rng.randint(0, len(body)), rng.randint(0, len(body))), verdict)
    sentences = [rng.choice(symbols["opening"]), *(line for part in body for line in part)]
    return " ".join(_expanded(sentence, symbols, rng) for sentence in sentences)


def _expanded(sentence: str, symbols: Symbols, rng: random.Random) -> str:
    """``sentence`` with every symbol replaced by one of its alternatives."""
    while _SYMBOL.search(sentence):
        sentence = _SYMBOL.sub(lambda match: rng.choice(symbols[match[1]]), sentence)
    sentence = _ARTICLE.sub(r"\1n ", sentence)
    return sentence[0].upper() + sentence[1:]


def _uncapitalized(sentence: str) -> str:
    """``sentence`` to follow a word, without its capital; except for the pronoun I."""
    return sentence if sentence.startswith("I ") else sentence[0].lower() + sentence[1:]
