"""``textreg predict`` from table to table: rows a CPU second and peak memory, beside reading alone.

    OMP_NUM_THREADS=1 python -m benchmarks.predict_files --data DIR [--rows 100000 1000000]

DIR holds data/subj. Its sentences are repeated to tables of an id, the text, a label and a number,
as CSV and Parquet. Every line is a process of its own: "reading alone" reads all columns in batches
as predict does, and predict writes all of them and the probabilities. Memory that does not grow
with the rows is constant.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import textreg
from benchmarks.corpora import read

READ = """
from textreg.reading.corpus import stream_records
code = int(sum(len(batch.records) for batch in stream_records(sys.argv[1], full=True)) != {rows})
"""
PREDICT = """
from textreg.cli import main
code = main(sys.argv[1:])
"""
# What getrusage says of a child begins with the memory of its parent.
CHILD = """
import sys
{0}
if sys.platform == "linux":
    (peak,) = [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")]
    sys.stderr.write(peak)
sys.exit(code)
"""
TRIPS = (("csv", "csv"), ("parquet", "parquet"), ("csv", "parquet"), ("csv", "jsonl"))


def table(rows: list[dict[str, Any]], n: int) -> Iterator[tuple[int, str, str, float]]:
    """An id, a text, a label and a number, n times."""
    for number, row in enumerate(itertools.islice(itertools.cycle(rows), n)):
        yield number, row["text"], row["label"], number / 7


def write(path: Path, rows: list[dict[str, Any]], n: int) -> None:
    """The table as CSV or Parquet."""
    names = ("id", "text", "label", "number")
    if path.suffix == ".csv":
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(itertools.chain([names], table(rows, n)))
        return
    import pyarrow
    from pyarrow.parquet import write_table

    columns = zip(*table(rows, n), strict=True)
    write_table(pyarrow.table(dict(zip(names, map(list, columns), strict=True))), path)


def run(code: str, *args: str) -> tuple[float, float, float]:
    """Wall seconds, CPU seconds and peak memory in MB of a process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    words = [sys.executable, "-c", CHILD.format(code), *args]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    wall = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return wall, cpu, float(done.stderr or "nan") / 1000


def line(what: str, n: int, size: int, spent: tuple[float, float, float]) -> None:
    wall, cpu, memory = spent
    print(
        f"{n:>9,}  {size / 1e6:6.0f} MB  {what:<28} {wall:7.1f} s {cpu:7.1f} s CPU "
        f"{n / cpu:>9,.0f} rows a CPU second {memory:6.0f} MB"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--tokenizer", default="words", help="of the model")
    options = parser.parse_args()
    rows = read(options.data / "data" / "subj" / "all.jsonl.gz")
    texts, labels = [row["text"] for row in rows], [row["label"] for row in rows]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = folder / "model"
        reg = textreg.Lasso(l1=1.0)
        textreg.train(texts, labels, reg=reg, tokenizer=options.tokenizer).save(model)
        for n in options.rows:
            for source, target in TRIPS:
                given, made = folder / f"in.{source}", folder / f"out.{target}"
                write(given, rows, n)
                size = given.stat().st_size
                if source == target:
                    alone = run(READ.format(rows=n), str(given))
                    line(f"reading {source} alone", n, size, alone)
                words = ["predict", str(model), str(given), "--proba", "-o", str(made)]
                spent = run(PREDICT, *words)
                line(f"predict, {source} to {target}", n, size, spent)
                given.unlink()
                made.unlink()


if __name__ == "__main__":
    main()
