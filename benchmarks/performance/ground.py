"""What the lines are measured on: corpora, and files that are made of them once for a run."""

from __future__ import annotations

import json
import shutil
import subprocess
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from benchmarks.corpora import FOLDERS, Rows, read
from benchmarks.performance.harness import python, run

SMALL = 240
"""Documents of every corpus with --quick."""

NOISE = 15
"""Percent of the made labels that are another one."""


class Ground:
    """Corpora under ``data`` and files in ``work``; with ``quick`` a few documents of each."""

    def __init__(self, data: Path, work: Path, quick: bool = False) -> None:
        self.data, self.work, self.quick = data, work, quick

    def few(self, number: int, least: int = 1) -> int:
        """A number of documents, of labels, of rounds: a hundredth of it where all is small."""
        return max(least, number // 100) if self.quick else number

    def has(self, name: str) -> bool:
        """Whether there is this part of a corpus."""
        return self._path(name).exists()

    def _path(self, name: str) -> Path:
        corpus, _, part = name.partition("/")
        return self.data / FOLDERS.get(corpus, corpus) / f"{part}.jsonl.gz"

    def file(self, name: str) -> Path:
        """The JSON lines of a corpus, as "imdb/train"; compressed, but for the small parts."""
        path = self._path(name)
        if not self.quick:
            return path
        small = self.work / f"{name.replace('/', '-')}.jsonl"
        if not small.exists():
            rows = read(path)
            write(small, (rows[at * len(rows) // SMALL] for at in range(min(SMALL, len(rows)))))
        return small

    def rows(self, name: str) -> Rows:
        """The documents of a corpus."""
        path = self.file(name)
        return read(path) if path.suffix == ".gz" else list(lines(path))

    def texts(self, name: str) -> list[str]:
        """Their texts."""
        return [row["text"] for row in self.rows(name)]

    def reviews(self, number: int) -> Path:
        """So many film reviews of imdb, evenly spread over its three parts.

        Those of ``unsup`` have no label; they get one by the opinion words in them, and some of
        them the other one.
        """
        path = self.work / f"reviews-{number}.jsonl"
        if not path.exists():
            rows = [row for part in ("train", "test", "unsup") for row in self.rows(f"imdb/{part}")]
            words = [self._opinions(sign) for sign in ("positive", "negative")]
            chosen = (rows[at * len(rows) // number] for at in range(number))
            write(path, (_labeled(row, words) for row in chosen))
        return path

    def _opinions(self, sign: str) -> set[str]:
        path = self.data / "lexicons" / f"opinion_{sign}.txt"
        words = path.read_text(encoding="latin-1").splitlines()
        return {word for word in words if word and not word.startswith(";")}

    def labeled(self, documents: int, labels: int) -> Path:
        """Film reviews with as many labels as one likes.

        Words that are in at least one of two hundred reviews, rarest first, stand for the labels. A
        review has the label of the first of them that is in it, and some have another one.
        """
        path = self.work / f"labels-{documents}-{labels}.jsonl"
        if not path.exists():
            rows = list(lines(self.reviews(documents)))
            words = [set(row["text"].lower().split()) for row in rows]
            counts = Counter(word for each in words for word in each if word.isalpha())
            common = (pair for pair in counts.items() if pair[1] >= max(4, len(rows) // 200))
            names = [word for word, _ in sorted(common, key=lambda pair: (pair[1], pair[0]))]
            write(path, _relabeled(rows, words, names[: labels - 1]))
        return path

    def zeros(self, name: str, texts: Iterable[str]) -> Path:
        """Texts with a zero byte after each, for the C++ loop."""
        path = self.work / f"{name}.bytes"
        if not path.exists():
            with path.open("wb") as file:
                file.writelines(text.encode().replace(b"\0", b" ") + b"\0" for text in texts)
        return path

    @cached_property
    def loop(self) -> str:
        """The C++ loop over words and pairs, compiled here; empty without a compiler."""
        compiler = shutil.which("c++") or shutil.which("clang++") or shutil.which("g++")
        if compiler is None:
            return ""
        source, target = Path(__file__).with_name("words_pairs.cpp"), self.work / "words_pairs"
        if not target.exists():
            subprocess.run([compiler, "-O3", "-o", str(target), str(source)], check=True)
        return str(target)

    def model(self, name: str, corpus: str, *options: str) -> Path:
        """A model of textreg, trained once."""
        path = self.work / f"{name}.textreg"
        if not path.exists():
            train = ("train", self.file(corpus), *options, "--quiet", "-o", path)
            run(python("textreg", *train))
        return path


def write(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Rows as JSON lines, of which all are there or none."""
    partial = path.with_suffix(".partial")
    with partial.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    partial.rename(path)


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a file of JSON lines."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def _chance(row: dict[str, Any]) -> int:
    """A number that depends on the document only."""
    return zlib.crc32(row["id"].encode())


def _labeled(row: dict[str, Any], words: list[set[str]]) -> dict[str, Any]:
    label = row["label"]
    if not label:
        text = row["text"].lower().split()
        positive, negative = (sum(word in each for word in text) for each in words)
        label = "pos" if (positive > negative) != (_chance(row) % 100 < NOISE) else "neg"
    return {"text": row["text"], "label": label}


def _relabeled(
    rows: list[dict[str, Any]], words: list[set[str]], names: list[str]
) -> Iterator[dict[str, Any]]:
    every = [*names, "none"]
    for number, (row, known) in enumerate(zip(rows, words, strict=True)):
        label = next((name for name in names if name in known), "none")
        chance = zlib.crc32(str(number).encode())
        if chance % 100 < NOISE:
            label = every[chance // 100 % len(every)]
        yield {"text": row["text"], "label": label}
