"""A process of its own for what is no command of textreg.

    python -m benchmarks.large.child tokens FILE
    python -m benchmarks.large.child same MODEL OTHER
    python -m benchmarks.large.child cluster WORKERS MODEL WORD...

The first makes tokens and sentences of the texts of a file, the second tells whether two models
have the same features and weights, to the last bit. The third runs ``textreg train`` with these
words on a Dask cluster of so many processes of one thread on this machine. All print JSON.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from pathlib import Path

from benchmarks.performance.ground import lines
from benchmarks.performance.harness import Call, Sample


def tokens(path: Path) -> Sample:
    """Seconds and memory of tokenizing alone, and how many bytes of UTF-8 that was."""
    from textreg.builtin.tokenizers import Words
    from textreg.plugins import calls

    texts = [row["text"] for row in lines(path)]
    size = sum(len(text.encode()) for text in texts)

    def run() -> dict[str, float]:
        found = calls.encode(Words(), texts)
        return {
            "bytes": size,
            "documents": len(texts),
            "words": len(found.ids),
            "sentences": len(found.sentence_ptr) - 1,
        }

    return Call(run)()


def same(one: Path, other: Path) -> Sample:
    """1 if two models are the same."""
    from textreg import load

    a, b = load(one), load(other)
    alike = (
        a.labels == b.labels
        and a.weights.tobytes() == b.weights.tobytes()
        and a.intercepts.tobytes() == b.intercepts.tobytes()
        and list(a.encoder.names) == list(b.encoder.names)
    )
    return {"same": float(alike)}


def cluster(workers: Path, model: Path, *words: Path) -> Sample:
    """Seconds and passes of a training on workers, and how much of the blocks a pass sent.

    CPU seconds and memory are those of the process that trains alone.
    """
    from distributed import LocalCluster

    from textreg.cli import main
    from textreg.model.storage import load_model

    lines: list[logging.LogRecord] = []
    handler = logging.Handler()
    handler.emit = lines.append  # type: ignore[method-assign]
    log = logging.getLogger("textreg.training")
    log.setLevel(logging.INFO)
    log.addHandler(handler)
    with LocalCluster(
        n_workers=int(str(workers)),
        threads_per_worker=1,
        processes=True,
        dashboard_address=":0",
    ) as local:
        dask = ["--backend", f"dask:{local.scheduler_address}", "--memory", "100GB"]
        train = ["train", *map(str, words), "-o", str(model), "--quiet", *dask]
        started, cpu = time.perf_counter(), time.process_time()
        if main(train):
            raise SystemExit("the training failed")
        found = {"wall": time.perf_counter() - started, "cpu": time.process_time() - cpu}
    size, sent, columns = next(line.args for line in lines if line.msg.startswith("cluster:"))  # type: ignore[misc]
    made = load_model(model)
    assert made.summary is not None
    assert made.summary.blocks is not None
    blocks = made.summary.blocks
    found |= {"size": size, "sent": sent, "columns": columns}
    return {**found, "blocks": blocks.blocks, "passes": blocks.passes}


if __name__ == "__main__":
    task, *paths = sys.argv[1:]
    tasks = {"tokens": tokens, "same": same, "cluster": cluster}
    print(json.dumps(tasks[task](*map(Path, paths))))
