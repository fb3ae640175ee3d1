"""The default command beside a ten-line scikit-learn pipeline, on everyday text.

    python -m benchmarks.everyday --data DIR [--corpora trec banking77 ...] [--on test|held]
                                  [--options=--no-refit]

The pipeline is LinearSVC(C=1) on sublinear tf-idf of words and pairs, and of characters 2 to 5
inside words, fitted on the training and the development file; with several labels a document on the
former alone, as the other one chooses its thresholds. textreg is `textreg train TRAIN --dev DEV`
with its defaults, the search included, and with --options; its last fit is on both files. right:
accuracy in percent; of several labels micro- and macro-F1. apart: textreg's less the pipeline's,
with the standard error of the paired difference. cpu: user and system seconds. --on held reads no
test file: every fifth training document is held out and measured on.
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
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import f1_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import FeatureUnion
from sklearn.preprocessing import MultiLabelBinarizer
from sklearn.svm import LinearSVC

import textreg
from benchmarks.corpora import FOLDERS, TASKS, Rows, read, read_dev

EIGHT = (
    *("banking77", "clinc150", "trec", "masakhane-yor", "masakhane-ibo", "masakhane-som"),
    *("germeval", "chnsenticorp"),
)
CORPORA = {
    **{name: FOLDERS[name] for name in EIGHT},
    **{
        f"{name}, {shots} a label": f"{FOLDERS[name]}/train-{shots}shot"
        for shots in (10, 5)
        for name in ("banking77", "clinc150")
    },
    **{name: FOLDERS[name] for name in ("goemotions", *TASKS)},
}
"""Folder of every corpus, or the training file in it."""

MEANS = {"mean of eight": EIGHT, "mean of the seven tasks": TASKS}
HEAD = (
    "corpus",
    "labels",
    "scikit-learn",
    "cpu",
    "textreg",
    "cpu",
    "KB",
    "difference",
    "weights",
    "chosen",
)


class Result(NamedTuple):
    """One corpus: what was right of the documents, by both, and the row of the table."""

    pipeline: float
    textreg: float
    row: tuple[str, ...]


def parts(folder: Path, on: str) -> tuple[Rows, Rows, Rows]:
    """Documents to train on, to choose by (none if the corpus has none), and to measure on."""
    name = "train"
    if folder.name.startswith(name):  # one of several training files
        folder, name = folder.parent, folder.name
    train, chosen = read(folder / f"{name}.jsonl.gz"), read_dev(folder)
    if on == "test":
        return train, chosen, read(folder / "test.jsonl.gz")
    if "shot" in name:  # too few to hold some out
        return train, chosen[::2], chosen[1::2]
    return [row for at, row in enumerate(train) if at % 5], chosen, train[::5]


def pipeline() -> tuple[FeatureUnion, LinearSVC]:
    """The peer."""
    words = TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2))
    characters = TfidfVectorizer(sublinear_tf=True, analyzer="char_wb", ngram_range=(2, 5))
    return FeatureUnion([("words", words), ("characters", characters)]), LinearSVC(C=1)


def fit_pipeline(train: Rows, dev: Rows) -> Callable[[Rows], list[Any]]:
    """What answers; of several labels the thresholds are the best F1 of every label on dev."""
    features, svc = pipeline()
    train = [*train, *dev] if "label" in train[0] else train
    X = features.fit_transform([row["text"] for row in train])

    def of(rows: Rows) -> Any:
        return features.transform([row["text"] for row in rows])

    if "label" in train[0]:
        svc.fit(X, [row["label"] for row in train])
        return lambda rows: list(svc.predict(of(rows)))
    binary = MultiLabelBinarizer()
    model = OneVsRestClassifier(svc).fit(X, binary.fit_transform([row["labels"] for row in train]))
    scores, true = (
        model.decision_function(of(dev)),
        binary.transform([row["labels"] for row in dev]),
    )
    cuts = np.array([_best_cut(*pair) for pair in zip(scores.T, true.T, strict=True)])
    return lambda rows: list(binary.inverse_transform(model.decision_function(of(rows)) > cuts))


def _best_cut(scores: Any, true: Any) -> float:
    order = np.argsort(-scores)
    right = np.cumsum(true[order])
    f1 = 2 * right / (np.arange(1, len(order) + 1) + true.sum())
    return float(scores[order[int(f1.argmax())]]) - 1e-9


def of_textreg(
    train: Rows, dev: Rows, held: Rows, options: Sequence[str]
) -> tuple[list[Any], textreg.Model, int, float]:
    """Its answers, the model, the bytes of its file and the seconds of the command."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command = [sys.executable, "-m", "textreg", "train", str(folder / "train.jsonl")]
        for part, rows in (("train", train), ("dev", dev)):
            lines = (json.dumps(row, ensure_ascii=False) for row in rows)
            (folder / f"{part}.jsonl").write_text("\n".join(lines), encoding="utf-8")
        command += ["--dev", str(folder / "dev.jsonl")] if dev else []
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        file = folder / "model"
        subprocess.run([*command, *options, "-o", str(file), "--quiet"], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
        model = textreg.load(file)
        answers = model.predict([row["text"] for row in held])
        return list(answers), model, os.path.getsize(file), seconds


def compare(name: str, data: Path, on: str, options: Sequence[str]) -> Result:
    """Both on one corpus."""
    train, dev, held = parts(data / "data" / CORPORA[name], on)
    started = time.process_time()
    theirs = fit_pipeline(train, dev)(held)
    their_seconds = time.process_time() - started
    ours, model, size, seconds = of_textreg(train, dev, held, options)
    if "label" in held[0]:
        true = [row["label"] for row in held]
        one, two = (
            np.array([a == b for a, b in zip(x, true, strict=True)]) for x in (theirs, ours)
        )
        figures = [f"{100 * x.mean():.1f}" for x in (one, two)]
        spread = 100 * np.std(two.astype(float) - one) / np.sqrt(len(held))
        apart = f"{100 * (two.mean() - one.mean()):+.1f} ± {spread:.1f}"
        means = float(one.mean()), float(two.mean())
    else:
        pairs = [micro_macro(held, answers) for answers in (theirs, ours)]
        figures = [f"{micro:.3f}, {macro:.3f}" for micro, macro in pairs]
        apart = ", ".join(f"{b - a:+.3f}" for a, b in zip(*pairs, strict=True))
        means = pairs[0][0], pairs[1][0]
    summary = model.summary
    chosen = {**summary.chosen, **summary.reg.params} if summary else {}
    setting = " ".join(f"{k}={v:.2g}" for k, v in chosen.items() if isinstance(v, float))
    row = (
        *(name, f"{len(model.labels)}", figures[0], f"{their_seconds:.1f}", figures[1]),
        *(f"{seconds:.1f}", f"{size / 1000:,.0f}", apart, f"{np.count_nonzero(model.weights):,}"),
        setting,
    )
    return Result(*means, row)


def micro_macro(held: Rows, answers: Sequence[Any]) -> tuple[float, float]:
    """Micro- and macro-F1 of answers of several labels."""
    binary = MultiLabelBinarizer().fit([row["labels"] for row in held])
    y, given = binary.transform([row["labels"] for row in held]), binary.transform(answers)
    return tuple(f1_score(y, given, average=kind, zero_division=0) for kind in ("micro", "macro"))


def means(results: dict[str, Result]) -> Iterator[tuple[str, ...]]:
    """A row for each mean whose corpora were all measured."""
    for title, names in MEANS.items():
        if results.keys() >= set(names):
            one, two = (np.mean([results[name][at] for name in names]) * 100 for at in (0, 1))
            yield title, "", f"{one:.1f}", "", f"{two:.1f}", "", "", f"{two - one:+.1f}", "", ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with data/")
    parser.add_argument("--corpora", nargs="+", default=list(CORPORA), choices=CORPORA)
    parser.add_argument("--on", default="test", choices=("test", "held"))
    parser.add_argument("--options", default="", help="more options of textreg train")
    options = parser.parse_args()
    print("|", " | ".join(HEAD), "|")
    print("|", " | ".join("---" if at in (0, 9) else "---:" for at in range(10)), "|", flush=True)
    results = {}
    for name in options.corpora:
        results[name] = compare(name, options.data, options.on, options.options.split())
        print("|", " | ".join(results[name].row), "|", flush=True)
    for row in means(results):
        print("|", " | ".join(row), "|")


if __name__ == "__main__":
    main()
