"""How time and memory grow with documents, labels and groups; and what a second core brings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from benchmarks.performance.ground import Ground
from benchmarks.performance.harness import BUSY, Command, Side, python
from benchmarks.performance.line import Goal, Line
from benchmarks.performance.training import trained

DOCUMENTS = (1_000, 3_000, 10_000, 30_000, 100_000)
LABELS = (2, 5, 10, 20, 50, 100)
WINDOWS = (320, 80, 20, 5)
"""Words in the windows that are groups; the fewer, the more groups there are."""

FIXED = ("--reg-group", "0.01", "--reg-l1", "0.3", "--reg-l2", "0.1")
MOST = f"{DOCUMENTS[-1]:,}"
TWO, ONE, TWICE = "2 jobs", "1 job", "1 job, and the same beside it"
SHARED = "beside a busy loop"


def by_documents(ground: Ground) -> Mapping[str, Side]:
    """Trainings by default, the most documents first, as this one has a goal."""
    sides: dict[str, Side] = {}
    for size in reversed(DOCUMENTS):
        number = ground.few(size, 40)
        command = trained(ground, "growth", [ground.reviews(number)])
        sides[f"{size:,}"] = replace(command, facts={"documents": number})
    return sides


def by_predicted(ground: Ground) -> Mapping[str, Side]:
    """A file of reviews, to one label a line."""
    model = ground.model("imdb-words", "imdb/train", "--tokenizer", "words")
    sides: dict[str, Side] = {}
    for size in reversed(DOCUMENTS[::2]):
        number = ground.few(size, 40)
        files = (model, ground.reviews(number), "-o", ground.work / "answers.txt")
        words = ("predict", *files, "--jobs", "1")
        sides[f"{size:,}"] = Command(python("textreg", *words), facts={"documents": number})
    return sides


def by_labels(ground: Ground, reg: Sequence[str]) -> Mapping[str, Side]:
    """One fixed setting."""
    sides: dict[str, Side] = {}
    for labels in reversed(LABELS[:2] if ground.quick else LABELS):
        path = ground.labeled(ground.few(10_000, 100), labels)
        command = trained(ground, "labels", [path, "--tokenizer", "words", *reg])
        sides[f"{labels}"] = replace(command, facts={"labels": labels})
    return sides


def by_groups(ground: Ground) -> Mapping[str, Side]:
    """One fixed setting and windows of fewer and fewer words."""
    sides: dict[str, Side] = {}
    for size in reversed(WINDOWS):
        windows = ("--reg", "group", "--groups", "windows", "--groups-size", size)
        files = [ground.reviews(ground.few(10_000, 100)), "--tokenizer", "words"]
        sides[f"windows of {size}"] = trained(ground, "groups", [*files, *windows, *FIXED])
    return sides


def by_jobs(words: Sequence[object]) -> Mapping[str, Side]:
    """One job and two, alone and beside a busy loop; on a machine of two cores.

    Two processes with a job each at the same time have nothing to wait for but the machine. words:
    the last is the file to write.
    """
    one, two = (python("textreg", *words, "--jobs", jobs) for jobs in (1, 2))
    copy = python("textreg", *words[:-1], f"{words[-1]}.copy", "--jobs", 1)
    return {
        TWO: Command(two),
        ONE: Command(one),
        TWICE: Command(one, beside=[copy]),
        f"{TWO} {SHARED}": Command(two, beside=[BUSY]),
        f"{ONE} {SHARED}": Command(one, beside=[BUSY]),
    }


def trained_by_jobs(ground: Ground) -> Mapping[str, Side]:
    """The default on the most documents."""
    path = ground.reviews(ground.few(DOCUMENTS[-1], 100))
    return by_jobs(("train", path, "--quiet", "-o", ground.work / "jobs.made"))


def predicted_by_jobs(ground: Ground) -> Mapping[str, Side]:
    """Answers for as many."""
    model = ground.model("imdb-words", "imdb/train", "--tokenizer", "words")
    path = ground.reviews(ground.few(DOCUMENTS[-1], 100))
    return by_jobs(("predict", model, path, "-o", ground.work / "answers.txt"))


LINES = (
    Line(
        "documents",
        "training by default, film reviews",
        by_documents,
        goals=(Goal("peak", 1200, side=MOST),),
        once=True,
        along="documents",
    ),
    Line(
        "documents-predict",
        "`textreg predict`, film reviews",
        by_predicted,
        goals=(Goal("peak", 120, side=MOST),),
        once=True,
        along="documents",
    ),
    Line(
        "labels",
        "`sentence`, one setting, 10,000 reviews",
        lambda ground: by_labels(ground, ("--reg", "sentence", *FIXED)),
        goals=(Goal("cpu", 12, side=f"{LABELS[-1]}"),),
        along="labels",
    ),
    Line(
        "labels-ridge",
        "`ridge`, one setting, 10,000 reviews",
        lambda ground: by_labels(ground, ("--reg", "ridge", "--reg-l2", "1")),
        once=True,
        along="labels",
    ),
    Line(
        "groups",
        "`group`, one setting, windows in 10,000 reviews",
        by_groups,
        once=True,
        along="groups",
    ),
)

GOALS = (
    Goal("wall", round(1 / 1.7, 3), ONE, TWO),
    Goal("wall", 1.0, f"{ONE} {SHARED}", f"{TWO} {SHARED}"),
)
JOBS = (
    Line(
        "jobs",
        "`textreg train --jobs 2`, 100,000 film reviews, the default",
        trained_by_jobs,
        figure="wall",
        goals=GOALS,
        once=True,
    ),
    Line(
        "jobs-predict",
        "`textreg predict --jobs 2`, 100,000 film reviews",
        predicted_by_jobs,
        figure="wall",
        goals=GOALS,
    ),
)
