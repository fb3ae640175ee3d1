"""The command line as a user runs it: start-up, the default train, predict, accuracy.

    python benchmarks/cli.py --data DIR [--repeat 3] [--only startup train predict accuracy]

DIR holds data/tasks and data/20news. Every figure is the best of --repeat runs of a fresh process:
wall seconds, and CPU seconds (user + system, children included) in brackets. Targets stand in the
last column.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TASKS = ("science", "sports", "religion", "computer")
PUBLISHED = {"science": 0.968, "sports": 0.966, "religion": 0.934, "computer": 0.911}
"""The best cell for each task in the tables of Skianis et al. 2018."""

TEXTREG = [sys.executable, "-c", "import sys; from textreg.cli import main; sys.exit(main())"]


def run(*args: str, stdin: Path | None = None) -> tuple[float, float, str]:
    """Wall seconds, CPU seconds and standard output of one command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    with open(stdin or os.devnull, "rb") as source:
        done = subprocess.run([*TEXTREG, *args], stdin=source, capture_output=True, check=True)
    wall = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return wall, cpu, done.stdout.decode()


def best(repeat: int, *args: str) -> tuple[float, float]:
    """The quickest of several runs."""
    return min(run(*args)[:2] for _ in range(repeat))


def row(what: str, seconds: tuple[float, float], target: str) -> None:
    print(f"{what:<52} {seconds[0]:7.2f} s ({seconds[1]:.2f} s CPU)   {target}")


def startup(repeat: int) -> None:
    row("textreg --version", best(repeat, "--version"), "under 0.15 s")
    row("textreg --help", best(repeat, "--help"), "under 0.25 s")
    row("textreg train --help", best(repeat, "train", "--help"), "")


def train(repeat: int, data: Path, folder: Path) -> None:
    task = data / "tasks" / "science"
    args = ["train", str(task / "train.jsonl.gz"), "--dev", str(task / "dev.jsonl.gz")]
    args += ["--reg", "sentence", "-o", str(folder / "science.textreg"), "--json"]
    row("train science --dev --reg sentence", best(repeat, *args), "under 5 s")


def predict(repeat: int, data: Path, folder: Path) -> None:
    model, empty = str(folder / "20news.textreg"), folder / "empty.txt"
    run(
        "train",
        str(data / "20news" / "train.jsonl.gz"),
        "--reg",
        "lasso",
        "--reg-l1",
        "3",
        "-o",
        model,
    )
    empty.write_text("a\n")
    start = best(repeat, "predict", model, str(empty))
    full = best(repeat, "predict", model, str(data / "20news" / "test.jsonl.gz"))
    row("predict, one text (start-up)", start, "")
    row("predict, 7,532 messages of 20news test", full, "")
    row("  beyond start-up", (full[0] - start[0], full[1] - start[1]), "under 0.6 s")


def accuracy(data: Path, folder: Path) -> None:
    results = []
    print(f"\n{'task':<10} {'dev':>6} {'test':>6} {'papers':>7} {'size %':>7}  hyperparameters")
    for task in TASKS:
        files = {
            part: str(data / "tasks" / task / f"{part}.jsonl.gz")
            for part in ("train", "dev", "test")
        }
        model = str(folder / f"{task}.textreg")
        made = json.loads(
            run("train", files["train"], "--dev", files["dev"], "-o", model, "--json")[2]
        )
        test = json.loads(run("evaluate", model, files["test"], "--json")[2])
        share = 100 * made["nonzero"] / made["features"]
        results.append((test["accuracy"], share))
        hyperparameters = {key: made["reg"]["params"][key] for key in made["reg"]["searched"]}
        print(
            f"{task:<10} {made['dev']['accuracy']:6.3f} {test['accuracy']:6.3f} "
            f"{PUBLISHED[task]:7.3f} {share:7.2f}  {hyperparameters}"
        )
    mean = sum(value for value, _ in results) / len(results)
    print(f"{'mean':<10} {'':>6} {mean:6.4f}   at least 0.945; no model above 15 % of the features")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--repeat", type=int, default=3)
    parts = ("startup", "train", "predict", "accuracy")
    parser.add_argument("--only", nargs="+", choices=parts, default=parts)
    options = parser.parse_args()
    data = options.data.resolve() / "data"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if "startup" in options.only:
            startup(options.repeat)
        if "train" in options.only:
            train(options.repeat, data, folder)
        if "predict" in options.only:
            predict(options.repeat, data, folder)
        if "accuracy" in options.only:
            accuracy(data, folder)


if __name__ == "__main__":
    main()
