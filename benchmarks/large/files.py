"""The files of the lines, made of the corpora once for a run."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.corpora import Rows, read
from benchmarks.performance.ground import Ground, write

Row = dict[str, Any]
CUT = "2014"
"""Reviews of nsmc before this year are for training."""

ARTICLES = ("train", "dev", "unlabelled")
"""Parts of evidence-inference: all but test."""

WORDS = 200
"""Words of a made document, at least."""

SHARE = 0.5
"""Chance of a sentence to come from where the first one is from."""

SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n\s*\n")
SIGNIFICANT = re.compile(r"\bsignifican(?:t|tly|ce)\b", re.IGNORECASE)
NEGATED = re.compile(r"\b(?:no|not|non|nor|neither|without)\b", re.IGNORECASE)


def reviews(ground: Ground) -> tuple[Path, Path]:
    """The reviews of nsmc to train and to test on, by date."""
    train, test = (ground.work / f"nsmc-{part}.jsonl" for part in ("train", "test"))
    if not test.exists():
        rows = read(ground.data / "nsmc" / "all.jsonl.gz")
        rows = rows[:: len(rows) // 2_000] if ground.quick else rows
        write(train, (row for row in rows if row["date"] < CUT))
        write(test, (row for row in rows if row["date"] >= CUT))
    return train, test


def articles(ground: Ground) -> Path:
    """Articles on medical trials, of which few have a label; so all get one by a rule.

    It is ``negated`` if, of the sentences of an article that have "significant" or the like, the
    share that also have a "no" or "not" is above the median. So no single word gives it away.
    """
    path = ground.work / "articles.jsonl"
    if not path.exists():
        folder = ground.data / "long" / "evidence-inference"
        rows = [row for part in ARTICLES for row in read(folder / f"{part}.jsonl.gz")]
        rows = rows[:: len(rows) // 60] if ground.quick else rows
        shares = [negated(row["text"]) for row in rows]
        middle = median(shares)
        write(
            path,
            (
                {"text": row["text"], "label": "negated" if share > middle else "other"}
                for row, share in zip(rows, shares, strict=True)
            ),
        )
    return path


def negated(text: str) -> float:
    """Of the sentences on what is significant the share that have a negation; 0 without any."""
    found = [one for one in SENTENCE_END.split(text) if SIGNIFICANT.search(one)]
    return sum(NEGATED.search(one) is not None for one in found) / max(len(found), 1)


def made(ground: Ground, number: int) -> Path:
    """Documents of sentences drawn by chance; those of a smaller number begin a larger one.

    The label is where the first sentence is from: a film review of imdb or a message of 20news.
    """
    path = ground.work / f"made-{number}.jsonl"
    if not path.exists():
        pools = {name: list(sentences(ground.rows(f"{name}/train"))) for name in ("imdb", "20news")}
        write(path, _drawn(pools, number))
    return path


def parts(ground: Ground, number: int, count: int) -> list[Path]:
    """The same documents in several files."""
    rows = made(ground, number).read_text(encoding="utf-8").splitlines(keepends=True)
    paths = []
    for part in range(count):
        path = ground.work / f"made-{number}-{part:02}.jsonl"
        first, last = part * len(rows) // count, (part + 1) * len(rows) // count
        path.write_text("".join(rows[first:last]), encoding="utf-8")
        paths.append(path)
    return paths


def sentences(rows: Rows) -> Iterator[tuple[str, int]]:
    """The sentences of documents, of 3 to 60 words, and how many these are."""
    for row in rows:
        for one in SENTENCE_END.split(row["text"].replace("<br />", "\n")):
            words = one.split()
            if 3 <= len(words) <= 60:
                yield " ".join(words), len(words)


def _drawn(pools: dict[str, list[tuple[str, int]]], number: int) -> Iterator[Row]:
    chance = random.Random(0)
    names = list(pools)
    for _ in range(number):
        label = chance.choice(names)
        other = names[1 - names.index(label)]
        drawn, words, name = [], 0, label
        while words < WORDS:
            sentence, length = pools[name][int(chance.random() * len(pools[name]))]
            drawn.append(sentence)
            words += length
            name = label if chance.random() < SHARE else other
        yield {"text": "\n".join(drawn), "label": label}
