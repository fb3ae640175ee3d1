"""Write docs/performance.md and its pictures from the measured results."""

from __future__ import annotations

import os
import platform
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from math import log
from pathlib import Path
from typing import Any

from benchmarks.performance.growth import ONE, TWICE
from benchmarks.performance.line import Line, Samples, value
from benchmarks.performance.rows import lines_table, points_of, short, table
from benchmarks.performance.table import LINES, TOPICS

HEAD = """% Written by `python -m benchmarks.performance` from benchmarks/performance/results.json.

# Time and memory

Time and memory of textreg and of other packages that do the same work, measured in the same run.
A `ratio` below 1 means that textreg is faster than the fastest of them. `bound` is the time of the
least work that the task needs, and how many times longer textreg takes. What we tried to get closer
is in the [lab book](lab-book.md#time-and-memory).

One command measures everything and writes this page:

```console
$ python -m benchmarks.performance --data DIR
```

`DIR` holds the corpora; `make bench` installs the other packages first. `--lines ridge labels`
measures these lines again, `--list` lists all lines, and `--quick` runs all on a few documents.
"""

HOW = (
    """**Seconds** are CPU seconds, user and system, of one thread (`--jobs 1`), unless a line says
    otherwise. A figure is the median of several runs that alternate between the packages. A package
    whose first run takes more than 10 seconds runs once, as do both sides of the longest lines.""",
    """**Trainings and commands** are whole processes, from starting Python to the written file;
    those of scikit-learn end with the fitted model. **Calls** (one problem, features, one text from
    Python) start with the corpus, the matrix and all modules in memory.""",
    """**Memory** is the peak of the process; for a call, what the call adds to it.""",
    """**Ratio** is textreg's time divided by that of the fastest other package.""",
    """**Bounds.** `a pass of memory` sums as many bytes as the matrix has, with NumPy; every solver
    reads the matrix several times. The `C++ loop` (`words_pairs.cpp`, compiled with -O3) counts
    the words and pairs of ASCII texts in two hash tables; it knows no sentences, weights or names.
    `starting Python` is an empty program.""",
    """**To a precision**: with the loosest tolerance, in powers of ten, that brings the solver that
    near to the minimum, which textreg's duality gap proves. It is stopped after 120 seconds.""",
    """**scikit-learn** is a linear SVM on tf-idf for words and pairs, with the best of three values
    of C on a held-out tenth; the pipeline of [everyday text](everyday.md), without a search, for
    the default; and a logistic regression for one text. For single texts, scikit-learn and fastText
    are trained on a fifth of the reviews.""",
    """**100,000 reviews** are all of imdb. Opinion words give the unlabeled half its labels, 15
    percent of them flipped. Corpora with many labels are made in the same way.""",
)

PEERS = (
    "numpy",
    "scipy",
    "scikit-learn",
    "liblinear-official",
    "skglm",
    "adelie",
    "fasttext-wheel",
)


def machine() -> dict[str, Any]:
    """The machine and the versions."""
    return {
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "versions": {name: _version(name) for name in ("textreg", *PEERS)},
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((it.partition(":")[2].strip() for it in lines if it.startswith("model name")), "")


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def page(results: Mapping[str, Any]) -> str:
    """The whole page."""
    measured = {name: results["lines"][name]["sides"] for name in LINES if name in results["lines"]}
    blocks = [HEAD, _measured(results)]
    for topic, lines in TOPICS.items():
        known = {line: measured[line.name] for line in lines if line.name in measured}
        if known:
            blocks += [f"## {topic}", *SECTIONS.get(topic, lines_table)(known)]
    blocks += ["## How it is measured", _bullets(HOW)]
    return "\n\n".join(block.rstrip("\n") for block in blocks) + "\n"


def _measured(results: Mapping[str, Any]) -> str:
    """Dates, machine, and what is reached."""
    lines, where = results["lines"], results["machine"]
    dates = sorted({entry["date"] for entry in lines.values()})
    loads = [entry["load"] for entry in lines.values()]
    goals = [
        goal.reached(lines[line.name]["sides"])
        for line in LINES.values()
        if line.name in lines
        for goal in line.goals
    ]
    missing = [name for name in LINES if name not in lines]
    versions = ", ".join(f"{name} {number}" for name, number in where["versions"].items() if number)
    return _fill(
        f"Measured on {', '.join(dates)} on {where['cores']} cores ({where['processor']}, "
        f"{where['system']}) with Python {where['python']}, {versions}. The load of the machine "
        f"was {min(loads):g} to {max(loads):g}. {sum(goals)} of {len(goals)} goals are reached."
        + (f" Not measured: {', '.join(missing)}." if missing else "")
    )


def _growth(known: Mapping[Line, Samples]) -> list[str]:
    """A table, the slopes and pictures of each kind of growth."""
    blocks = []
    for along in dict.fromkeys(line.along for line in known):
        curves = {line: sides for line, sides in known.items() if line.along == along}
        for line, sides in curves.items():
            points = points_of(sides, along)
            reached = "; ".join(
                f"{goal.side} {along} in {goal}: {'yes' if goal.reached(sides) else '**no**'}"
                for goal in line.goals
            )
            slopes = [slope(points, at) for at in (1, 2)]
            blocks += [
                _fill(
                    f"**{line.what}**: in the upper half of the {along}, time grows with the power "
                    f"{slopes[0]:.2f}, memory with {slopes[1]:.2f}. "
                    + (f"Goal: {reached}." if reached else "")
                ),
                table(
                    [along, *(f"{x:,.0f}" for x, _, _ in points)],
                    [
                        ["s", *(short(seconds) for _, seconds, _ in points)],
                        ["MB", *(short(memory) for _, _, memory in points)],
                    ],
                ),
            ]
        for what, _ in PICTURED:
            blocks.append(f"![{what} over {along}](pictures/performance-{along}-{what}.svg)")
    return blocks


PICTURED = (("seconds", 1), ("MB", 2))


def slope(points: Sequence[Sequence[float]], at: int) -> float:
    """The power that a figure grows by: least squares of logs over the upper half."""
    upper = points[-max(2, -(-len(points) // 2)) :]
    xs, ys = ([log(point[place]) for point in upper] for place in (0, at))
    mean = sum(xs) / len(xs)
    return sum((x - mean) * y for x, y in zip(xs, ys, strict=True)) / sum(
        (x - mean) ** 2 for x in xs
    )


def _jobs(known: Mapping[Line, Samples]) -> list[str]:
    """Wall times of one job and two."""
    blocks = []
    for line, sides in known.items():
        rows = [
            [name, *(short(value(samples, figure)) for figure in ("wall", "cpu", "peak"))]
            for name, samples in sides.items()
        ]
        goals = "; ".join(
            f"{goal.side} in {goal.limit:g} × {goal.of}: "
            f"{value(sides[goal.side], 'wall') / value(sides[goal.of], 'wall'):.2f}, "
            f"{'reached' if goal.reached(sides) else '**not reached**'}"
            for goal in line.goals
        )
        blocks += [
            _fill(f"{line.what}, wall time from file to file. Goal: {goals}. "
                  f"Bound: two processes that share nothing but the machine "
                  f"do {_at_once(sides):.2f} times the work of one."),
            table(["", "wall s", "CPU s", "MB"], rows),
        ]  # fmt: skip
    return blocks


def _at_once(sides: Samples) -> float:
    """How much more work two processes do at once than one."""
    return 2.0 * value(sides[ONE], "wall") / value(sides[TWICE], "wall")


def _methods(known: Mapping[Line, Samples]) -> list[str]:
    """Time, memory and size of every regularizer."""
    rows = []
    for line, sides in known.items():
        (first, *_), *_ = sides.values()
        seconds, memory = (short(first[figure]) for figure in ("cpu", "peak"))
        features = f"{first['features']:,.0f} of {first['of']:,.0f}"
        rows.append([line.what, seconds, memory, features, f"{first['right']:.1f}"])
    text = """Each regularizer with its default settings and search on words and pairs (`--tokenizer
    words`), on a pair of newsgroups (`computer`, 934 messages). `features` are those with a weight;
    `accuracy` is that on the test documents."""
    return [_fill(text), table(["`--reg`", "s", "MB", "features", "accuracy, %"], rows)]


SECTIONS = {"Growth": _growth, "Two cores": _jobs, "Every regularizer": _methods}


def pictures(results: Mapping[str, Any], folder: Path) -> None:
    """Time and memory over documents, labels and groups."""
    from textreg_report.charts import Series, draw_lines

    curves = {name: line for name, line in LINES.items() if line.along and name in results["lines"]}
    for along in dict.fromkeys(line.along for line in curves.values()):
        for what, at in PICTURED:
            series = []
            for name, line in curves.items():
                if line.along == along:
                    points = points_of(results["lines"][name]["sides"], along)
                    ys = [point[at] for point in points]
                    series.append(Series(name, [point[0] for point in points], ys))
            path = folder / f"performance-{along}-{what}.svg"
            draw_lines({"": series}, path, (along, what), scales=("counts", "counts"))


def _fill(text: str, **more: Any) -> str:
    """A paragraph in lines of at most 100 characters."""
    return textwrap.fill(" ".join(text.split()), 100, break_on_hyphens=False, **more)


def _bullets(texts: Iterable[str]) -> str:
    return "\n".join(_fill(text, initial_indent="- ", subsequent_indent="  ") for text in texts)


def written(page: Path, text: str, results: str, package: str, *, check: bool) -> int:
    """Write a page, or only check that it is this text; 1 if it is not.

    results, package: the file of the figures, and what writes the page of them, for the message.
    """
    if not check:
        page.write_text(text, encoding="utf-8")
    elif page.read_text(encoding="utf-8") != text:
        print(
            f"{page} does not match {results}: run python -m {package} --render.", file=sys.stderr
        )
        return 1
    return 0
