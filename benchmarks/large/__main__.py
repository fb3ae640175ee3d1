"""Time and memory on corpora that are larger than memory, line by line.

    python -m benchmarks.large --data DIR [--lines NAME ...] [--most 1000000] [--quick]

Measures the lines on the corpora in DIR, each side in a process of its own on one thread. Prints a
table, adds the figures of each line to results.json as soon as it is measured, and puts the table
into docs/scaling.md. Files that are made go to a temporary folder, which is removed; it needs 10
GB. --most leaves out the larger ones of growing corpora. --quick tries all on a few documents and
writes nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.large.lines import SIZES, lines
from benchmarks.large.page import HEAD, put, remarks, rows
from benchmarks.performance.__main__ import parser_of, save
from benchmarks.performance.ground import Ground
from benchmarks.performance.harness import BenchmarkError, in_turn
from benchmarks.performance.line import Line
from benchmarks.performance.page import written
from benchmarks.performance.rows import table

RESULTS = Path(__file__).with_name("results.json")
PAGE = Path(__file__).parent.parent.parent / "docs" / "scaling.md"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_of("large", __doc__)
    parser.add_argument("--lines", nargs="+", choices=list(lines()), help="lines to measure [all]")
    parser.add_argument("--most", type=int, default=SIZES[-1], help="most documents [1000000]")
    parser.add_argument("--work", type=Path, help="where to make the temporary folder")
    parser.add_argument("--quick", action="store_true", help="try the lines on a few documents")
    parser.add_argument("--results", type=Path, default=RESULTS, help="JSON to write")
    parser.add_argument("--page", type=Path, default=PAGE, help="page that has the table")
    parser.add_argument("--render", action="store_true", help="write the table and stop")
    parser.add_argument("--check", action="store_true", help="check the table and stop")
    options = parser.parse_args(arguments)
    if options.check or options.render:
        return render(options.results, options.page, check=options.check)
    if options.data is None or not options.data.is_dir():
        parser.error("name the folder of the corpora: --data DIR, or TEXTREG_DATA")
    if options.most < SIZES[0]:
        parser.error(f"--most must be at least {SIZES[0]}")
    every = lines(options.most)
    return measure([every[name] for name in options.lines or every], options)


def measure(chosen: Sequence[Line], options: argparse.Namespace) -> int:
    """Measure lines, each saved as soon as it is known; 1 if one failed."""
    failed = []
    with tempfile.TemporaryDirectory(dir=options.work) as work:
        ground = Ground(options.data.resolve(), Path(work), options.quick)
        os.environ["TMPDIR"] = work  # where blocks go
        for line in chosen:
            started = time.perf_counter()
            try:
                sides: dict[str, Any] = in_turn(line.sides(ground), 1)
            except BenchmarkError as error:
                failed.append(line.name)
                print(f"{line.name}: {error}", file=sys.stderr, flush=True)
                continue
            print(f"{table(HEAD, rows(line, sides))}\n", *remarks(line, sides), sep="\n")
            print(f"[{line.name}: {time.perf_counter() - started:.0f} s]\n", flush=True)
            if not options.quick:
                save(options.results, line.name, sides, lines(), digits=7)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    if not options.quick and options.results.exists():
        render(options.results, options.page, check=False)
    return 1 if failed else 0


def render(results: Path, page: Path, *, check: bool) -> int:
    """Write the table into the page, or only check that it is current."""
    current = put(page.read_text(encoding="utf-8"), json.loads(results.read_text(encoding="utf-8")))
    return written(page, current, results.name, "benchmarks.large", check=check)


if __name__ == "__main__":
    sys.exit(main())
