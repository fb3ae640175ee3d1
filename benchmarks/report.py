"""Seconds and size of a report of imdb beyond its training; the aims are 20 s and 2 MB.

    OMP_NUM_THREADS=1 python benchmarks/report.py --data FOLDER_WITH_DATA

Two reports of one model of 25,000 reviews: what `textreg train --report` writes, with three fits of
its regularizer and the search and fits of the baseline, and what `textreg report` writes of 25,000
test documents alone. Wall time is of as many cores as the machine has, CPU time of all together.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

from textreg.reading.corpus import read_corpus
from textreg.report import Report, report
from textreg.training.settings import TrainingSettings
from textreg.training.train import train_corpus


def timed(name: str, make: Callable[[], Report]) -> None:
    wall, cpu = time.perf_counter(), time.process_time()
    html = make().to_html()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(f"{name:24} {wall:6.1f} s  {cpu:6.1f} s of CPU  {len(html.encode()) / 1e6:5.2f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True, help="folder that holds data/")
    parser.add_argument("--reg", default="sentence")
    options = parser.parse_args()
    folder = Path(options.data) / "data" / "imdb"
    train, test = (read_corpus([str(folder / f"{name}.jsonl.gz")]) for name in ("train", "test"))
    settings = TrainingSettings.from_options(reg=options.reg, jobs=-1)
    start = time.perf_counter()
    model = train_corpus(train, settings)
    print(f"{'training':24} {time.perf_counter() - start:6.1f} s  {model.n_features:,} features")
    timed("train --report", lambda: report(model, train=train, settings=settings, jobs=-1))
    timed("report MODEL TEST", lambda: report(model, test))


if __name__ == "__main__":
    main()
