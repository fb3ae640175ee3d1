"""Evidence for the defaults: one change at a time to `--reg sentence`, measured on held-out labels.

    python benchmarks/choosing.py [--data FOLDER] [--tasks science movie] [--only "words" ...]
                                  [--parts 3] [--seed 0] [--save FILE.json]

The train and dev documents of every task are joined (test documents are never read) and split into
parts; each part is held out once, and everything, including the search for hyperparameters, is done
on the others. All changes see the same parts, so predictions are compared document by document:
points of accuracy over the default, the mean over the tasks, with a 95 % bootstrap interval, and
the exact sign test over all documents.

supervised: columns are scaled by the absolute log-ratio of how often either class has a word (Wang
& Manning 2012), counted on the documents that the search does not hold out. average: the mean
score of the five best settings of the search, each fitted on all documents.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, diags_array
from threadpoolctl import threadpool_limits

import textreg
from textreg.measure.significance import Answers, bootstrap, sign_test
from textreg.plugins import registry
from textreg.records import Corpus
from textreg.tasks import read_target
from textreg.training.prepare import make_features
from textreg.training.search.splits import folds, holdout
from textreg.training.settings import TrainingSettings
from textreg.training.train import train_corpus

TASKS = ("science", "sports", "religion", "computer", "movie", "amazon-books", "amazon-electronics")
BEST = 5


class Answer(NamedTuple):
    """Scores of the documents held out, and how many features of how many have a weight."""

    scores: Any
    nonzero: int
    features: int


Texts, Labels = Sequence[str], Sequence[str]
Method = Callable[[Texts, Labels, Texts], Answer]


def options(texts: Texts, labels: Labels, held: Texts, **settings: Any) -> Answer:
    """Train with these options."""
    model = textreg.train(texts, labels, **settings)
    return Answer(model.decision_function(held), model.n_features, model.summary.features)


def average(texts: Texts, labels: Labels, held: Texts) -> Answer:
    """The mean score of the best settings of the default search."""
    first = textreg.train(texts, labels)
    points = sorted(
        first.summary.search, key=lambda point: (-point.metrics["accuracy"], point.nonzero)
    )
    regs = [registry.create("regularizer", "sentence", **point.params) for point in points[:BEST]]
    models = [textreg.train(texts, labels, reg=reg) for reg in regs]
    names = {name for model in models for name in model.encoder.names}
    scores = np.mean([model.decision_function(held) for model in models], axis=0)
    return Answer(scores, len(names), first.summary.features)


def supervised(texts: Texts, labels: Labels, held: Texts) -> Answer:
    """The default on columns scaled by how well each separates the labels."""
    corpus = Corpus(texts=list(texts), labels=list(labels))
    settings = TrainingSettings.from_options(holdout=0.1)
    task, y = read_target(corpus).target
    codes, names = task.strata(y)
    made = make_features(corpus, settings)
    seen = holdout(codes, names, 0.1, settings.seed).train
    X = csr_array(made.X[seen] > 0, dtype=float)
    rates = [(1.0 + X[codes[seen] == code].sum(axis=0)) for code in (0, 1)]
    ratios = np.abs(np.log(rates[1] / rates[1].sum()) - np.log(rates[0] / rates[0].sum()))
    scaled = replace(made, X=csr_array(made.X @ diags_array(ratios)))
    model = train_corpus(corpus, settings, features=scaled)
    at = {name: column for column, name in enumerate(made.encoder.names)}
    columns = [at[name] for name in model.encoder.names]
    factors = model.weights[0] * ratios[columns]
    scores = made.encoder.transform(held)[:, columns] @ factors + model.intercepts[0]
    return Answer(scores, model.n_features, len(at))


SIZED = registry.create("groups", "sentences", weight="sqrt")

METHODS: dict[str, Method] = {
    "--reg sentence": options,
    "words alone (--ngrams 1)": partial(options, ngrams=1),
    "up to three words (--ngrams 3)": partial(options, ngrams=3),
    "words of two documents (--min-df 2)": partial(options, min_df=2),
    "counts (--weighting count)": partial(options, weighting="count"),
    "--weighting binary": partial(options, weighting="binary"),
    "--weighting log": partial(options, weighting="log"),
    "--weighting unit": partial(options, weighting="unit"),
    "no l2": partial(options, reg=registry.create("regularizer", "sentence", l2=0.0)),
    "weights by size": partial(options, groups=SIZED),
    "paragraphs": partial(options, reg="group", groups="paragraphs"),
    "documents": partial(options, reg="group", groups="documents"),
    "windows": partial(options, reg="group", groups="windows"),
    "--reg lasso": partial(options, reg="lasso"),
    "--reg elastic": partial(options, reg="elastic"),
    "--reg ridge": partial(options, reg="ridge"),
    "--cv 5": partial(options, cv=5),
    "--select 1se": partial(options, select="1se"),
    "--select sparsest": partial(options, select="sparsest"),
    "--metric log-loss": partial(options, metric="log-loss"),
    "average": average,
    "supervised": supervised,
}


def read(folder: Path) -> tuple[list[str], list[str]]:
    rows = []
    for part in ("train", "dev"):
        with gzip.open(folder / f"{part}.jsonl.gz", "rt", encoding="utf-8") as file:
            rows += [json.loads(line) for line in file]
    return [row["text"] for row in rows], [row["label"] for row in rows]


def measure(method: Method, texts: Texts, labels: Labels, parts: int, seed: int) -> dict[str, Any]:
    """Predicted codes of all documents, each from a fit that has not seen it; size and time."""
    names, codes = np.unique(labels, return_inverse=True)
    predicted = np.empty(len(codes), dtype=np.int64)
    sizes, started = [], time.process_time()
    for split in folds(codes, list(names), parts, seed):
        answer = method(
            [texts[row] for row in split.train],
            [labels[row] for row in split.train],
            [texts[row] for row in split.held],
        )
        predicted[split.held] = answer.scores > 0
        sizes.append(answer.nonzero / answer.features)
    return {
        "y_true": codes.tolist(),
        "predicted": predicted.tolist(),
        "size": float(np.mean(sizes)),
        "seconds": (time.process_time() - started) / parts,
    }


def lines(results: dict[str, dict[str, Any]]) -> Iterator[list[str]]:
    """A line for every change, compared with the first."""
    first = next(iter(results.values()))
    yield ["", *first, "mean", "size", "time", "over the first", "p"]
    for name, by_task in results.items():
        cells = [
            Answers(
                *(np.array(each) for each in (one["y_true"], one["predicted"], base["predicted"]))
            )
            for one, base in ((by_task[task], first[task]) for task in first)
        ]
        right = [(cell.first == cell.y_true, cell.second == cell.y_true) for cell in cells]
        accuracies = [100 * mine.mean() for mine, _ in right]
        size = 100 * np.mean([one["size"] for one in by_task.values()])
        seconds = sum(one["seconds"] for one in by_task.values())
        line = [name, *(f"{each:.1f}" for each in accuracies), f"{np.mean(accuracies):.1f}"]
        line += [f"{size:.2g} %" if size < 99.5 else "100 %", f"{seconds:.0f} s"]
        if by_task is first:
            yield [*line, "", ""]
            continue
        won = sum(int((mine & ~base).sum()) for mine, base in right)
        lost = sum(int((base & ~mine).sum()) for mine, base in right)
        gain = 100 * np.mean([mine.mean() - base.mean() for mine, base in right])
        interval, _ = bootstrap(cells)
        p = sign_test(won, lost)
        ends = f"{gain:+.1f} ({100 * interval.low:+.1f} to {100 * interval.high:+.1f})"
        yield [*line, ends, f"{p:.2f}" if p >= 0.01 else f"{p:.0e}"]


def table(results: dict[str, dict[str, Any]]) -> None:
    """Print the lines as a Markdown table."""
    rows = list(lines(results))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    rows.insert(1, ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])])
    for name, *rest in rows:
        cells = (cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))
        print("|", " | ".join([name.ljust(widths[0]), *cells]), "|")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("TEXTREG_DATA", ".")))
    parser.add_argument("--tasks", nargs="+", default=TASKS)
    parser.add_argument("--only", nargs="+", help="changes to try", choices=tuple(METHODS))
    parser.add_argument("--parts", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--save", type=Path, help="predictions, saved as they come and resumed from"
    )
    chosen = parser.parse_args()
    root = chosen.data if (chosen.data / "tasks").is_dir() else chosen.data / "data"
    corpora = {task: read(root / "tasks" / task) for task in chosen.tasks}
    results: dict[str, dict[str, Any]] = {}
    if chosen.save and chosen.save.exists():
        results = json.loads(chosen.save.read_text())
    for name, method in METHODS.items():
        if chosen.only and name not in (*chosen.only, next(iter(METHODS))):
            continue
        done = results.setdefault(name, {})
        for task, (texts, labels) in corpora.items():
            if task not in done:
                done[task] = measure(method, texts, labels, chosen.parts, chosen.seed)
                if chosen.save:
                    chosen.save.write_text(json.dumps(results))
    print(
        f"Accuracy in points over {chosen.parts} parts; size: share of the features, a mean; time: "
        f"CPU of one training on each task, added up.\n"
    )
    table({name: results[name] for name in METHODS if name in results})


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
