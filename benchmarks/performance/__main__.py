"""Time and memory beside other packages, line by line.

    python -m benchmarks.performance --data DIR [--lines NAME ...] [--repeats 3] [--quick]

Measures the lines on the corpora in DIR, adds the figures of each to results.json as soon as it is
measured, and writes docs/performance.md and its pictures from that. --lines measures some again and
keeps the others; a name may be that of a topic, or begin several ("softmax"). --quick tries all on
a few documents and writes nothing.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.performance.ground import Ground
from benchmarks.performance.harness import BenchmarkError, in_turn, python, run
from benchmarks.performance.line import Line
from benchmarks.performance.page import machine, page, pictures
from benchmarks.performance.rows import summary
from benchmarks.performance.table import LINES, TOPICS

HERE = Path(__file__).parent
DOCS = HERE.parent.parent / "docs"


def parser_of(name: str, description: str | None) -> argparse.ArgumentParser:
    """The options of a package of benchmarks: where the corpora are."""
    data = os.environ.get("TEXTREG_DATA")
    parser = argparse.ArgumentParser(
        prog=f"python -m benchmarks.{name}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--data",
        type=Path,
        default=data and Path(data) / "data",
        help="folder of the corpora [default: $TEXTREG_DATA/data]",
    )
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_of("performance", __doc__)
    parser.add_argument("--lines", nargs="+", metavar="NAME", help="lines to measure [all]")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each side [3]")
    parser.add_argument("--quick", action="store_true", help="try the lines on a few documents")
    parser.add_argument("--list", action="store_true", help="print the names of the lines and stop")
    parser.add_argument("--results", type=Path, default=HERE / "results.json", help="JSON to write")
    parser.add_argument("--docs", type=Path, default=DOCS, help="folder of performance.md")
    parser.add_argument("--render", action="store_true", help="write the page and stop")
    parser.add_argument("--check", action="store_true", help="check the page and stop")
    options = parser.parse_args(arguments)
    if options.list:
        for topic, lines in TOPICS.items():
            print(f"{topic}: {' '.join(line.name for line in lines)}")
        return 0
    if options.check or options.render:
        return render(options.results, options.docs, check=options.check)
    if options.data is None or not options.data.is_dir():
        parser.error("name the folder of the corpora: --data DIR, or TEXTREG_DATA")
    if options.repeats < 1:
        parser.error("--repeats must be at least 1")
    try:
        lines = chosen(options.lines)
    except ValueError as error:
        parser.error(str(error))
    return measure(lines, options)


def chosen(names: Sequence[str] | None) -> list[Line]:
    """The lines of these names, topics or beginnings of names; ValueError if there is none."""
    if names is None:
        return list(LINES.values())
    found: dict[str, Line] = {}
    for name in names:
        lines = list(TOPICS.get(name, ()))
        lines = lines or [line for line in LINES.values() if line.name.startswith(name)]
        if not lines:
            raise ValueError(f"no line '{name}'; there are: {', '.join([*LINES, *TOPICS])}")
        found |= {line.name: line for line in lines}
    return list(found.values())


def measure(lines: Sequence[Line], options: argparse.Namespace) -> int:
    """Measure lines, each saved as soon as it is known; 1 if one failed."""
    failed = []
    with tempfile.TemporaryDirectory() as work:
        ground = Ground(options.data.resolve(), Path(work), options.quick)
        for line in lines:
            started = time.perf_counter()
            try:
                sides = samples_of(line, ground, 1 if line.once else options.repeats)
            except BenchmarkError as error:
                failed.append(line.name)
                print(f"{line.name}: {error}", file=sys.stderr, flush=True)
                continue
            print(f"{summary(line, sides)}  [{time.perf_counter() - started:.0f} s]", flush=True)
            if not options.quick:
                save(options.results, line.name, sides)
    if not options.quick:
        render(options.results, options.docs, check=False)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def samples_of(line: Line, ground: Ground, repeats: int) -> dict[str, Any]:
    """Samples of every side of a line."""
    if not line.calls:
        return in_turn(line.sides(ground), repeats)
    target = ground.work / "samples.json"
    run(python("child", "measure", line.name, ground.data, ground.work, int(ground.quick), repeats,
               target))  # fmt: skip
    samples: dict[str, Any] = json.loads(target.read_text())
    return samples


def save(
    path: Path, name: str, sides: dict[str, Any], order: Iterable[str] = (), digits: int = 4
) -> None:
    """Put the samples of one line into the file of results.

    order: the names of all lines, those of this benchmark by default. digits: of every figure.
    """
    results: dict[str, Any] = {"lines": {}}
    if path.exists():
        results = json.loads(path.read_text(encoding="utf-8"))
    results["machine"] = machine()
    rounded = {
        side: [
            {key: float(f"{value:.{digits}g}") for key, value in sample.items()}
            for sample in samples
        ]
        for side, samples in sides.items()
    }
    entry = {"date": f"{datetime.date.today()}", "load": round(os.getloadavg()[0], 1)}
    results["lines"][name] = {**entry, "sides": rounded}
    results["lines"] = {
        known: results["lines"][known] for known in order or LINES if known in results["lines"]
    }
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    partial.rename(path)


def render(results: Path, docs: Path, *, check: bool) -> int:
    """Write the page and its pictures, or only check that the page is current."""
    if not results.exists():
        print(f"{results} does not exist: measure something first.", file=sys.stderr)
        return 2
    content = json.loads(results.read_text(encoding="utf-8"))
    text, target = page(content), docs / "performance.md"
    if check:
        if target.exists() and target.read_text(encoding="utf-8") == text:
            return 0
        print(
            f"{target} does not match {results.name}: run python -m benchmarks.performance "
            "--render.",
            file=sys.stderr,
        )
        return 1
    target.write_text(text, encoding="utf-8")
    pictures(content, docs / "pictures")
    return 0


if __name__ == "__main__":
    sys.exit(main())
