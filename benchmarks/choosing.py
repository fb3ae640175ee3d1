"""Evidence for the defaults: one change at a time, measured on held-out labels.

    python -m benchmarks.choosing [--data FOLDER] [--corpora science trec] [--only "words" ...]
                                  [--parts 3] [--seed 0] [--save FILE.json]

The train and dev documents of every corpus are joined (test documents are never read) and split
into parts; each part is held out once, and everything, including the search for hyperparameters, is
done on the others. All changes see the same parts, so predictions are compared document by
document: points of accuracy over the default, the mean over the corpora, with a 95 % bootstrap
interval, and the exact sign test over all documents.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

import textreg
from benchmarks.corpora import FOLDERS, TASKS, read, read_dev
from textreg.training.splits import folds
from textreg_report.significance import Answers, bootstrap, sign_test

CORPORA = (*TASKS, "trec", "germeval", "subj", "sms")


class Answer(NamedTuple):
    """Answers for the documents held out, and how many features of how many have a weight."""

    answers: list[str]
    nonzero: int
    features: int


Texts, Labels = Sequence[str], Sequence[str]
Method = Callable[[Texts, Labels, Texts], Answer]


def options(texts: Texts, labels: Labels, held: Texts, **settings: Any) -> Answer:
    """Train with these options."""
    model = textreg.train(texts, labels, **settings)
    return Answer(model.predict(held), model.n_features, model.summary.features)


METHODS: dict[str, Method] = {
    "the default": options,
    "words (--tokenizer words)": partial(options, tokenizer="words"),
    "characters (--tokenizer chars)": partial(options, tokenizer="chars"),
    "--weighting tfidf": partial(options, weighting="tfidf"),
    "--metric accuracy": partial(options, metric="accuracy"),
    "--reg ridge": partial(options, reg="ridge"),
    "--reg elastic": partial(options, reg="elastic"),
    "--reg lasso": partial(options, reg="lasso"),
    "single words (--ngrams 1)": partial(options, ngrams=1),
    "counts (--weighting count)": partial(options, weighting="count"),
    "--select 1se": partial(options, select="1se"),
    "--select sparsest": partial(options, select="sparsest"),
    "--metric log-loss": partial(options, metric="log-loss"),
    "--weighting unit": partial(options, weighting="unit"),
    "paragraphs": partial(options, reg="group", groups="paragraphs"),
    "--cv 5": partial(options, cv=5),
}


def documents(folder: Path) -> tuple[list[str], list[str]]:
    """Texts and labels of a corpus, test documents left out; all of one that is not divided."""
    divided = (folder / "train.jsonl.gz").is_file()
    rows = read(folder / ("train.jsonl.gz" if divided else "all.jsonl.gz")) + read_dev(folder)
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
        predicted[split.held] = np.searchsorted(names, answer.answers)
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
    parser.add_argument("--corpora", nargs="+", default=CORPORA, choices=CORPORA)
    parser.add_argument("--only", nargs="+", help="changes to try", choices=tuple(METHODS))
    parser.add_argument("--parts", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--save", type=Path, help="predictions, saved as they come and resumed from"
    )
    chosen = parser.parse_args()
    root = chosen.data if (chosen.data / "tasks").is_dir() else chosen.data / "data"
    corpora = {name: documents(root / FOLDERS[name]) for name in chosen.corpora}
    results: dict[str, dict[str, Any]] = {}
    if chosen.save and chosen.save.exists():
        results = json.loads(chosen.save.read_text())
    for name, method in METHODS.items():
        if chosen.only and name not in (*chosen.only, next(iter(METHODS))):
            continue
        done = results.setdefault(name, {})
        for corpus, (texts, labels) in corpora.items():
            if corpus not in done:
                done[corpus] = measure(method, texts, labels, chosen.parts, chosen.seed)
                if chosen.save:
                    chosen.save.write_text(json.dumps(results))
    print(
        f"Accuracy in points over {chosen.parts} parts; size: share of the features, a mean; time: "
        f"CPU of one training on each corpus, added up.\n"
    )
    table({name: results[name] for name in METHODS if name in results})


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
