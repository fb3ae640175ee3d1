"""Whole trainings from the command line: the search, the fit and the model file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.performance.ground import Ground
from benchmarks.performance.harness import Command, Sample, Side, python, run
from benchmarks.performance.line import OURS, Goal, Line

SVM = "scikit-learn"
LOOP = "C++ loop"


def trained(
    ground: Ground, name: str, files: Sequence[object], test: Path | None = None, **more: object
) -> Command:
    """``textreg train`` on one core, and how many of the test documents are then right."""
    model = ground.work / f"{name}.made"

    def then(output: str) -> Sample:
        summary = json.loads(output)
        facts = {"features": summary["nonzero"], "of": summary["features"]}
        if summary["groups"]:
            groups = summary["groups"]
            facts["groups"] = groups["before"] if groups["after"] is None else groups["after"]
        if summary.get("blocks"):
            facts |= {key: summary["blocks"][key] for key in ("blocks", "passes")}
        known = (key for key in ("objective", "gap") if summary[key] is not None)
        facts |= {key: summary[key] for key in known}
        if test is not None:
            _, said = run(python("textreg", "evaluate", model, test, "--json"))
            measured = json.loads(said)
            facts["right"] = 100.0 * measured.get("accuracy", measured.get("micro_f1", 0.0))
        return facts

    train = ("train", *files, "--jobs", "1", "--json", "--quiet", "-o", model)
    return Command(python("textreg", *train), then=then, **more)  # type: ignore[arg-type]


def loop(ground: Ground, name: str, ngrams: int = 2) -> dict[str, Side]:
    """The C++ loop over the same texts; nothing where there is no compiler."""
    if not ground.loop:
        return {}
    zeros = ground.zeros(name.replace("/", "-"), ground.texts(name))
    return {LOOP: Command((ground.loop, str(zeros), str(ngrams)), reports=True)}


def words(corpus: str) -> Line:
    """Words and pairs by the grid of the default, beside a linear SVM with a search of its own."""

    def sides(ground: Ground) -> Mapping[str, Side]:
        train, test = ground.file(f"{corpus}/train"), ground.file(f"{corpus}/test")
        files = (train, "--tokenizer", "words")
        return {
            OURS: trained(ground, corpus, files, test),
            SVM: Command(python("peers", "words", train, test), reports=True),
            **loop(ground, f"{corpus}/train"),
        }

    seconds = {"imdb": 10.0, "20news": 40.0}[corpus]
    what = f"{corpus}, words and pairs, the grid of the default"
    goals = (Goal("cpu", seconds),)
    return Line(f"words-{corpus}", what, sides, goals=goals, bounds=(LOOP,))


def default(corpus: str, seconds: float) -> Line:
    """The default as it is, and the scikit-learn pipeline of the page on everyday text."""

    def sides(ground: Ground) -> Mapping[str, Side]:
        files: list[object] = [ground.file(f"{corpus}/train")]
        if ground.has(f"{corpus}/dev"):
            files += ["--dev", ground.file(f"{corpus}/dev")]
        test = ground.file(f"{corpus}/test")
        return {
            OURS: trained(ground, corpus, files, test),
            SVM: Command(python("peers", "everyday", *files, test), reports=True),
            **loop(ground, f"{corpus}/train"),
        }

    goals = (Goal("cpu", seconds), Goal("peak", 300))
    what = f"{corpus}, the default"
    return Line(f"default-{corpus}", what, sides, goals=goals, bounds=(LOOP,))


LINES = (
    *(words(corpus) for corpus in ("imdb", "20news")),
    default("banking77", 6),
    default("clinc150", 20),
    default("goemotions", 30),
    default("trec", 2),
)
