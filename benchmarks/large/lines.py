"""What is measured: corpora in blocks, beside others or in memory."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from benchmarks.large.files import articles, made, parts, reviews
from benchmarks.performance.ground import Ground
from benchmarks.performance.harness import Command, Sample, Side, python, run
from benchmarks.performance.line import OURS, Goal, Line
from benchmarks.performance.text import WORD
from benchmarks.performance.training import SVM, trained

SIZES = (100_000, 300_000, 1_000_000)
"""Documents of the line ``million``."""

GROUPED = 250_000
"""Documents of the line ``groups``."""

FIXED = ("--reg", "sentence", "--reg-group", "0.01", "--reg-l1", "0.3", "--reg-l2", "0.1")
TO = ("--tokenizer", "words", "--tol", "1e-3")
STRENGTHS = ("0.1", "0.3", "1")
CLUSTERED, PARTS = 200_000, 16
"""Documents of the line ``cluster``, and the files that they are in."""

IN_MEMORY, ON_DISK = "in memory", "blocks on disk"
WORKERS = ("1 worker", "2 workers", "4 workers")


def blocks(
    ground: Ground, name: str, path: Path, memory: str, *options: str, test: Path | None = None
) -> Command:
    """A training in blocks."""
    words = [path, "--memory", memory, *options]
    return trained(ground, name, words, test)


def own(*words: object) -> tuple[str, ...]:
    """The words that run a task of :mod:`benchmarks.large.child`."""
    program, flag, _ = python("textreg")
    return program, flag, "benchmarks.large.child", *map(str, words)


def by_default(ground: Ground) -> Mapping[str, Side]:
    """The default with its search, beside a linear SVM on words and pairs."""
    train, test = reviews(ground)
    peer = ("words", train, test, "--C", *STRENGTHS, "--token", WORD)
    return {
        OURS: blocks(ground, "nsmc", train, "1GB", test=test),
        SVM: Command(python("peers", *peer), reports=True),
    }


def of_articles(ground: Ground) -> Mapping[str, Side]:
    """One setting on few and long documents."""
    return {OURS: blocks(ground, "articles", articles(ground), "400MB", *FIXED, *TO)}


def tokens(ground: Ground) -> Mapping[str, Side]:
    """Tokenizing alone."""
    return {OURS: Command(own("tokens", articles(ground)), reports=True)}


def elastic(number: int) -> tuple[str, ...]:
    """Strengths in proportion to the documents, as those of a search are carried over."""
    return ("--reg", "elastic", "--reg-l1", f"{5e-5 * number:g}", "--reg-l2", f"{1e-6 * number:g}")


def by_documents(ground: Ground, most: int) -> Mapping[str, Side]:
    """One setting on more and more documents, the most first."""
    sides: dict[str, Side] = {}
    for size in sorted(size for size in SIZES if size <= most)[::-1]:
        number = ground.few(size, 200)
        options = (*elastic(number), *TO)
        command = blocks(ground, f"{size}", made(ground, number), "1.5GB", *options)
        sides[f"{size:,}"] = replace(command, facts={"documents": number})
    return sides


def by_place(ground: Ground) -> Mapping[str, Side]:
    """One setting with millions of groups: in blocks, in memory and on disk, and not in blocks."""
    path = made(ground, ground.few(GROUPED, 200))
    first = ground.work / "groups.made"
    disk = blocks(ground, "groups-disk", path, "200MB", *FIXED, *TO)
    assert disk.then is not None

    def then(output: str) -> Sample:
        assert disk.then is not None
        _, said = run(own("same", first, ground.work / "groups-disk.made"))
        return {**disk.then(output), **json.loads(said)}

    return {
        OURS: blocks(ground, "groups", path, "100GB", *FIXED, *TO),
        ON_DISK: replace(disk, then=then),
        IN_MEMORY: trained(ground, "groups-memory", [path, *FIXED, *TO]),
    }


def by_workers(ground: Ground) -> Mapping[str, Side]:
    """One setting on one, two and four workers of a Dask cluster on this machine."""
    number = ground.few(CLUSTERED, 200)
    files = parts(ground, number, PARTS)
    first = ground.work / f"cluster-{WORKERS[0][0]}.textreg"

    def then(path: Path) -> Callable[[str], Sample]:
        return lambda _: json.loads(run(own("same", first, path))[1])

    sides = {}
    for name in WORKERS:
        path = ground.work / f"cluster-{name[0]}.textreg"
        words = own("cluster", name[0], path, *files, *elastic(number), *TO)
        sides[name] = Command(words, reports=True, then=then(path))
    return sides


def lines(most: int = SIZES[-1]) -> dict[str, Line]:
    """All lines; those of growing size end with so many documents."""
    found = (
        Line(
            "nsmc",
            "nsmc, reviews before 2014 (294k), the default with its search, 1 GB",
            by_default,
            goals=(Goal("cpu", 60), Goal("peak", 1000), Goal("right", 1, SVM)),
        ),
        Line(
            "articles-tokens",
            "4,376 articles, from strings to tokens and sentences",
            tokens,
            figure="speed",
            goals=(Goal("speed", 50),),
        ),
        Line(
            "articles",
            "4,376 articles, `sentence`, one setting to 1e-3, 400 MB",
            of_articles,
            goals=(Goal("cpu", 60), Goal("peak", 400)),
        ),
        Line(
            "million",
            "documents of 200 words, `elastic`, one setting to 1e-3, 1.5 GB",
            lambda ground: by_documents(ground, most),
            goals=(Goal("peak", 1500),),
            along="documents",
        ),
        Line(
            "groups",
            "250,000 documents, `sentence`, one setting to 1e-3",
            by_place,
            goals=(Goal("cpu", 1.5, IN_MEMORY),),
        ),
        Line(
            "cluster",
            "200,000 documents in 16 files, `elastic`, one setting to 1e-3, on Dask",
            by_workers,
            figure="wall",
            goals=(Goal("wall", 1 / 1.6, WORKERS[0], WORKERS[1]),),
        ),
    )
    return {line.name: line for line in found}
