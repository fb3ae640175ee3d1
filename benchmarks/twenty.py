"""Every regularizer and group builder by `textreg train` with its defaults.

    python benchmarks/twenty.py --data DIR [--methods ridge group:lda ...] [--tasks computer 20news]

DIR holds data/tasks/computer (two classes, 934 messages) and data/20news (twenty classes, 11,314
messages), and data/lexicons with the Brown clusters. Each row is one new process, including the
search for hyperparameters; another process evaluates the model on the test file. cpu: seconds, user
and system. peak: MB of memory. features: those with a weight, of all. The gap is the largest of all
classes; a pursuit has a path instead, with the number of its steps over all classes; without a
penalty there is no bound. group:file takes the groups that `textreg groups --groups lda` has saved.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

REGULARIZERS = ("none", "ridge", "lasso", "elastic", "sentence")
BUILDERS = (
    *("sentences", "paragraphs", "documents", "windows", "file"),
    *("lda", "lsi", "clusters", "brown", "communities"),
)
OTHERS = ("omp", "gomp", "stagewise", "network", "laplacian", "pcr", "lle")
METHODS = (*REGULARIZERS, *(f"group:{builder}" for builder in BUILDERS), *OTHERS)
PATHS = ("omp", "gomp", "stagewise")
TASKS = {"computer": "tasks/computer", "20news": "20news"}

TEXTREG = [sys.executable, "-c", "import sys; from textreg.cli import main; sys.exit(main())"]


class Run(NamedTuple):
    """One command: seconds, peak memory in MB, what it printed, and the error message."""

    wall: float
    cpu: float
    peak: float
    output: str
    error: str


def run(*args: str) -> Run:
    started = time.perf_counter()
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen([*TEXTREG, *args], stdout=output, stderr=errors)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall = time.perf_counter() - started
        output.seek(0)
        errors.seek(0)
        message = errors.read().decode().strip()
        failed = message or f"exit {process.returncode}" if process.returncode else ""
        unit = 1 if sys.platform == "darwin" else 1024
        peak = used.ru_maxrss * unit / 1e6
        cpu = used.ru_utime + used.ru_stime
        return Run(wall, cpu, peak, output.read().decode(), failed)


def options(method: str, data: Path, train: str, folder: Path) -> list[str]:
    """What a user writes for a method; files that a builder needs are made first."""
    reg, _, builder = method.partition(":")
    args = ["--reg", reg]
    if builder:
        args += ["--groups", builder]
    if builder == "brown":
        args += ["--groups-path", str(data / "lexicons" / "brown_twitter6m.tsv.gz")]
    if builder == "file":
        path = str(folder / "groups.tsv")
        if error := run("groups", train, "--groups", "lda", "-o", path).error:
            raise SystemExit(error)
        args += ["--groups-path", path]
    return args


def certificate(summary: dict[str, Any]) -> str:
    """The gap, or how long the path is; and a word where the optimum was not reached."""
    missed = "" if summary["converged"] else ", not converged"
    if summary["gap"] is not None:
        return f"gap {summary['gap']:.1e}{missed}"
    if summary["reg"]["name"] in PATHS:
        return f"path of {summary['iterations']:,}{missed}"
    return f"no bound{missed}"


def measure(method: str, task: str, data: Path, folder: Path) -> bool:
    """Train, evaluate and print one row; whether both succeeded."""
    train, test = (str(data / TASKS[task] / f"{part}.jsonl.gz") for part in ("train", "test"))
    model = str(folder / "model.textreg")
    made = run("train", train, *options(method, data, train, folder), "-o", model, "--json")
    used = f"{task:<9} {method:<18} {made.cpu:8.1f} {made.wall:8.1f} {made.peak:7,.0f}"
    if made.error:
        print(f"{used}  {made.error}", flush=True)
        return False
    summary = json.loads(made.output)
    tested = run("evaluate", model, test, "--json")
    if tested.error:
        print(f"{used}  {tested.error}", flush=True)
        return False
    share = f"{summary['nonzero']:,} of {summary['features']:,}"
    accuracy = json.loads(tested.output)["accuracy"]
    print(f"{used} {share:>22}  {certificate(summary):<26} {accuracy:7.3f}", flush=True)
    return True


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    data = os.environ.get("TEXTREG_DATA")
    parser.add_argument("--data", type=Path, default=data, help="folder with data/")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS, metavar="METHOD")
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS))
    chosen = parser.parse_args()
    if chosen.data is None:
        parser.error("name the folder with the corpora: --data FOLDER, or TEXTREG_DATA")
    print(
        f"{'task':<9} {'method':<18} {'cpu':>8} {'wall':>8} {'peak':>7} {'features':>22}  "
        f"{'gap or path':<26} {'test':>7}"
    )
    with tempfile.TemporaryDirectory() as name:
        done = [
            measure(method, task, chosen.data.resolve() / "data", Path(name))
            for task in chosen.tasks
            for method in chosen.methods
        ]
    sys.exit(0 if all(done) else "some of them failed")


if __name__ == "__main__":
    main()
