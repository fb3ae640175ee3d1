"""Memory of processes that serve one model: loaded once before they fork, or by each itself.

    python benchmarks/shared_model.py --documents 5000 --processes 4 --requests 300

Trains on reviews of IMDb, as benchmarks/serve.py does. Each process answers so many reviews one by
one, and waits for the others; then Linux tells how much memory it has for itself and what its
share is of what it has with others, and all shares are added. The line "no model" is of processes
that have all modules and no model.
"""

from __future__ import annotations

import argparse
import gc
import os
import tempfile
import time
from pathlib import Path

from serve import of_textreg, reviews

import textreg


def memory() -> tuple[float, float]:
    """The memory that this process has for itself, and its share of all, in MB."""
    lines = Path("/proc/self/smaps_rollup").read_text(encoding="ascii").splitlines()[1:]
    kilobytes = {line.split(":")[0]: int(line.split()[1]) for line in lines}
    private = kilobytes["Private_Clean"] + kilobytes["Private_Dirty"]
    return private / 1e3, kilobytes["Pss"] / 1e3


def serve(model: textreg.Model | None, path: str, texts: list[str], out: int, ready: int) -> None:
    """What a forked process does: load a model if it has none, answer, and write its memory."""
    if model is None and path:
        model = textreg.load(path)
    if model is not None:
        for text in texts:
            model.predict_proba([text])
    os.write(out, b"%d\n" % os.getpid())
    os.read(ready, 1)  # until all have answered
    line = "{} {}\n".format(*memory())
    os.write(out, line.encode())
    time.sleep(1.0)  # so that the shares of the others stay what they are


def measure(what: str, model: textreg.Model | None, path: str, given: argparse.Namespace) -> None:
    """Print a line of the table."""
    (out, write), (ready, go) = os.pipe(), os.pipe()
    children = []
    for _ in range(given.processes):
        child = os.fork()
        if not child:
            serve(model, path, given.texts, write, ready)
            os._exit(0)
        children.append(child)
    with os.fdopen(out, encoding="ascii") as lines:
        for _ in children:
            lines.readline()
        os.write(go, b"x" * len(children))
        found = [tuple(map(float, lines.readline().split())) for _ in children]
    for child in children:
        os.waitpid(child, 0)
    most, total = max(private for private, _ in found), sum(share for _, share in found)
    print(f"| {what} | {given.processes} | {most:.1f} | {total:.0f} |", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--documents", type=int, default=5000)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--requests", type=int, default=300)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model.textreg")
        child = os.fork()  # so that nothing of the training stays in memory
        if not child:
            of_textreg(*reviews(given.documents)).save(path)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        print(f"model file: {os.path.getsize(path) / 1e6:.1f} MB")
        print("| model | processes | MB of one for itself, at most | MB of all |")
        print("|---|---:|---:|---:|")
        given.texts = reviews(given.documents + given.requests)[0][given.documents :]
        textreg.load(path).predict_proba(given.texts[:2])  # so that all modules are there
        measure("none", None, "", given)
        measure("loaded by each", None, path, given)
        model = textreg.load(path)
        model.predict_proba(given.texts[:2])
        measure("loaded before the fork", model, "", given)
        gc.collect()
        gc.freeze()
        measure("the same after gc.freeze()", model, "", given)


if __name__ == "__main__":
    main()
