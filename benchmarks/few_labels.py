"""The default on a few labelled documents: with and without the shift of its intercept.

    python -m benchmarks.few_labels --data DIR [--corpora subj sms] [--sizes 20 40] [--draws 6]

Draws of the documents of train and dev; what is not drawn is measured on, at most 2,000 documents.
fitted: the same model with the intercept of the fit, and no temperature. lines: LinearSVC(C=1) on
tf-idf of words and pairs, and of characters 2 to 5 inside words (see benchmarks.everyday). Means
over the draws.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import textreg
from benchmarks.corpora import FOLDERS, read
from benchmarks.everyday import pipeline

CORPORA = ("subj", "sms", "trec", "amazon-books", "germeval")
SIZES = (20, 40, 100, 300)
MOST = 2_000
COLUMNS = ("with the shift", "fitted", "lines")


def documents(folder: Path) -> tuple[list[str], np.ndarray]:
    """Texts and labels of train and dev, or of a corpus without parts."""
    rows: list[dict[str, Any]] = []
    for part in ("all", "train", "dev"):
        if (path := folder / f"{part}.jsonl.gz").is_file():
            rows += read(path)
    return [row["text"] for row in rows], np.array([row["label"] for row in rows])


def draw(y: np.ndarray, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Documents to train on, two of each label that is among them at least, and others."""
    order = np.random.default_rng(1000 + seed).permutation(len(y))
    chosen = list(order[:n])
    for label in np.unique(y[chosen]):
        own = [i for i in chosen if y[i] == label]
        if len(own) < 2:
            more = [i for i in order[n:] if y[i] == label][:1]
            most = max(np.unique(y[chosen]), key=lambda it: int(np.sum(y[chosen] == it)))
            gone = [i for i in chosen if y[i] == most][-1] if more else own[0]
            chosen = [i for i in chosen if i != gone] + more
    known = np.isin(y, y[chosen])
    known[chosen] = False
    return np.array(chosen), np.array([i for i in order if known[i]][:MOST])


def measured(texts: list[str], y: np.ndarray, n: int, seed: int) -> list[tuple[float, float]]:
    """Accuracy and log-loss with the shift and without, and the accuracy of the peer."""
    train, test = draw(y, n, seed)
    some, others = [texts[i] for i in train], [texts[i] for i in test]
    found = []
    for options in ({}, {"intercept": "fitted", "calibrate": "none"}):
        model = textreg.train(some, y[train].tolist(), **options)
        table = np.atleast_2d(model.predict_proba(others))
        place = {label: at for at, label in enumerate(model.labels)}
        truth = table[np.arange(len(test)), [place[label] for label in y[test]]]
        right = np.mean(np.array(model.predict(others)) == y[test])
        found.append((100 * float(right), float(-np.log(np.maximum(truth, 1e-15)).mean())))
    features, svc = pipeline()
    svc.fit(features.fit_transform(some), y[train])
    right = np.mean(svc.predict(features.transform(others)) == y[test])
    return [*found, (100 * float(right), np.nan)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with data/")
    parser.add_argument("--corpora", nargs="+", default=CORPORA, choices=FOLDERS)
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES)
    parser.add_argument("--draws", type=int, default=6)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| corpus | documents |", " | ".join(COLUMNS), "| log-loss, shift | fitted |")
    print("| --- |", "---: | " * 6)
    cells = []
    for name in options.corpora:
        texts, y = documents(options.data / "data" / FOLDERS[name])
        for n in options.sizes:
            rows = [measured(texts, y, n, seed) for seed in range(options.draws)]
            cells.append(np.mean(rows, axis=0))
            show(f"{name} | {n}", cells[-1])
    show(f"**mean of {len(cells)} cells** | ", np.mean(cells, axis=0))


def show(title: str, cell: Any) -> None:
    """A row of the table."""
    figures = [f"{value:.1f}" for value in cell[:, 0]] + [f"{value:.3f}" for value in cell[:2, 1]]
    print("|", title, "|", " | ".join(figures), "|", flush=True)


if __name__ == "__main__":
    main()
