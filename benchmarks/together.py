"""One label against the rest, or all labels together: accuracy, size and time.

    python benchmarks/together.py --data DIR [--corpora trec banking77 20news]
                                  [--methods sentence elastic ...] [--limit 4000]

Every row is `textreg train` with its defaults, the search for hyperparameters included, but for
--reg and --multiclass. Accuracy is that on documents which neither the fit nor the search has seen:
the dev file of a corpus, or every fifth training document where there is none; test files are never
read. A corpus of more than --limit training documents is cut to that many, evenly spread. weights:
those that are not zero, of all labels. features: those with a weight for any label. cpu: seconds
of all threads.
"""

from __future__ import annotations

import argparse
import gzip
import json
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import textreg

CORPORA = {"trec": "trec", "banking77": "intents/banking77", "20news": "20news"}
METHODS: dict[str, dict[str, Any]] = {
    "sentence": {"reg": "sentence"},
    "group windows": {"reg": "group", "groups": "windows"},
    "elastic": {"reg": "elastic"},
    "ridge": {"reg": "ridge"},
}
HEAD = ("corpus", "--reg", "--multiclass", "right", "weights", "features", "KiB", "cpu", "setting")


def read(path: Path) -> list[tuple[str, str]]:
    """Texts and labels."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [(row["text"], row["label"]) for row in map(json.loads, lines)]


def split(folder: Path, limit: int) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Documents to train on and to measure on."""
    rows, dev = read(folder / "train.jsonl.gz"), folder / "dev.jsonl.gz"
    if len(rows) > limit:
        rows = [rows[at] for at in np.linspace(0, len(rows) - 1, limit).astype(int)]
    if dev.is_file():
        return rows, read(dev)
    return [row for at, row in enumerate(rows) if at % 5], rows[::5]


def measure(corpus: str, method: str, multiclass: str, parts: Any) -> tuple[Any, ...]:
    """One row of the table."""
    train, held = parts
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = textreg.train(*zip(*train, strict=True), multiclass=multiclass, **METHODS[method])
    cpu = time.process_time() - started
    texts, labels = zip(*held, strict=True)
    right = np.mean([one == other for one, other in zip(model.predict(texts), labels, strict=True)])
    with tempfile.TemporaryDirectory() as folder:
        model.save(file := Path(folder, "model"))
        size = file.stat().st_size
    weights, features = np.count_nonzero(model.weights), np.count_nonzero(model.weights.any(axis=0))
    chosen = model.summary.reg.params if model.summary else {}
    setting = " ".join(f"{key}={value:.2g}" for key, value in chosen.items() if value != "majorize")
    return (
        *(corpus, method, multiclass, f"{100 * right:.1f}", f"{weights:,}", f"{features:,}"),
        *(f"{size / 1024:,.0f}", f"{cpu:.1f}", setting),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with data/")
    parser.add_argument("--corpora", nargs="+", default=list(CORPORA), choices=CORPORA)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    parser.add_argument("--limit", type=int, default=4000, help="training documents at most")
    options = parser.parse_args()
    print("|", " | ".join(HEAD), "|")
    print("|", " | ".join("---" if at < 3 else "---:" for at in range(len(HEAD))), "|", flush=True)
    for corpus in options.corpora:
        parts = split(options.data / "data" / CORPORA[corpus], options.limit)
        for method in options.methods:
            for multiclass in ("ovr", "softmax"):
                print("|", " | ".join(measure(corpus, method, multiclass, parts)), "|", flush=True)


if __name__ == "__main__":
    main()
