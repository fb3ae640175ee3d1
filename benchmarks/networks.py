"""Networks of features beside ridge: figures 1 (left) and 3 of Sandler et al. (2008), and speed.

    python benchmarks/networks.py [--data FOLDER] [--only news sentiment speed] [--trials 5]
                                  [--jobs 2] [--plots FOLDER]

news: all 20 groups of 20 Newsgroups, bydate's two parts together; words of at least 20 documents
without SMART's stop words, log counts; each word linked to the 25 others of highest cosine above
0.10 over all documents, which is where unlabeled text helps. Each trial draws the same number of
documents from every group and is measured on all that are left; one against the rest.

sentiment: reviews of books and of electronics with 2,000 labels and 2,000 unlabeled ones each;
words and pairs of at least 10 reviews, log counts; words linked to those that go with the same
strong words of SentiWordNet (section 4.2). The paper has 13,161 and 8,922 reviews and so about
200 such words, here there are 40 or so; and it fixed alpha = 9.9 and beta = 0.1, which have a row
in addition to searched hyperparameters.

Hyperparameters come from the default grids by three-fold cross-validation on the training documents
of the first trial of each size; the other trials reuse them. pcr and lle have 200 directions; those
of pcr come from the training documents, which are fewer at first. The tables show means over the
trials and, after +-, their standard deviation.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from textreg.features.vectorize import Features, Vectorizer
from textreg.kinds import Regularizer
from textreg.plugins import registry
from textreg.records import Problem, Tokens
from textreg.tasks import classification
from textreg.training.running import Work
from textreg.training.search import choose
from textreg.training.splits import folds
from textreg.training.trials import Fold, search

NEWS_SIZES = (100, 300, 1000, 2000)
SENTIMENT_SIZES = (50, 100, 250, 500, 1000)
Table = dict[tuple[str, int], list[float]]


def read(path: Path) -> tuple[list[str], list[str]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    return [row["text"] for row in rows], [row["label"] for row in rows]


def features(texts: Sequence[str], **options: Any) -> Features:
    words = registry.create("tokenizer", "words")
    return Vectorizer(weighting="log", **options).fit(words, texts)


class LabeledData:
    """Labeled documents to draw from, and the graph of their features. codes: (n,)."""

    def __init__(self, X: Any, labels: Sequence[str], graph: Any) -> None:
        self.X, self.graph = X, graph
        self.labels, self.codes = np.unique(labels, return_inverse=True)
        self.task = classification([str(label) for label in self.labels])
        self.signs = self.task.rows(self.codes)

    def problem(self, rows: Any, tol: float) -> Problem:
        problem = Problem(self.X[rows], self.signs[0][rows], graph=self.graph, tol=tol)
        _ = problem.X_csc
        return problem

    def draw(self, size: int, seed: int) -> Any:
        """``size`` documents, as many of each class."""
        rng = np.random.default_rng([size, seed])
        each = size // len(self.labels)
        return np.concatenate(
            [
                rng.choice(np.flatnonzero(self.codes == code), each, replace=False)
                for code in range(len(self.labels))
            ]
        )

    def decide(self, regularizer: Regularizer, rows: Any, jobs: int) -> Regularizer:
        """The regularizer with hyperparameters chosen by cross-validation on ``rows``."""
        if not regularizer.undecided():
            return regularizer
        cut = []
        for split in folds(self.codes[rows], list(self.labels), 3, seed=0):
            train, held = rows[split.train], rows[split.held]
            cut.append(
                Fold(
                    self.problem(train, 3e-3),
                    self.task,
                    self.codes[train],
                    self.X[held],
                    self.codes[held],
                )
            )
        points = search(regularizer, cut, Work(jobs))
        return points[choose(points, "accuracy")].regularizer

    def accuracy(self, regularizer: Regularizer, rows: Any) -> float:
        """On all documents but ``rows``, which it is fitted to."""
        problem = self.problem(rows, 1e-3)
        rest = np.setdiff1d(np.arange(len(self.codes)), rows)
        fits = [regularizer.solve(problem.replace(y=y)) for y in self.signs[:, rows]]
        scores = np.column_stack([self.X[rest] @ fit.w + fit.b for fit in fits])
        found = scores[:, 0] > 0 if len(fits) == 1 else scores.argmax(axis=1)
        return float((found == self.codes[rest]).mean())


def news(data: Path) -> tuple[Features, list[str]]:
    parts = [read(data / "20news" / f"{part}.jsonl.gz") for part in ("train", "test")]
    stop_words = str(data / "lexicons" / "stopwords_smart_en.txt")
    made = features(parts[0][0] + parts[1][0], ngrams=1, min_df=20, stop_words=stop_words)
    return made, parts[0][1] + parts[1][1]


def news_graph(tokens: Tokens) -> Any:
    return registry.create("graph", "cooccurrence", min_df=20).build(tokens)


def sentiment(data: Path, domain: str) -> LabeledData:
    """Reviews of one domain, with a graph from all of them."""
    parts = [
        read(data / "tasks" / domain / f"{part}.jsonl.gz") for part in ("train", "dev", "test")
    ]
    texts = [text for part in parts for text in part[0]]
    more = read(data / domain / "unlabeled.jsonl.gz")[0]
    made = features(texts + more, ngrams=2, min_df=10)
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
        print(*charged_words(data, made), sep="\n", file=file, flush=True)
        graph = registry.create("graph", "lexicon", seeds=file.name).build(made.tokens)
    print(f"{domain}: {made.X.shape[1]:,} features, {graph.n_links:,} links", file=sys.stderr)
    return LabeledData(made.X[: len(texts)], [label for part in parts for label in part[1]], graph)


def charged_words(data: Path, made: Features) -> list[str]:
    """Words of 100 documents whose mean score in SentiWordNet is 0.25 or more, good or bad."""
    scores: dict[str, list[float]] = {}
    with gzip.open(data / "lexicons" / "sentiwordnet3.tsv.gz", "rt", encoding="utf-8") as file:
        for line in file:
            if not line.startswith("#"):
                _, good, bad, terms = line.rstrip("\n").split("\t")
                for term in terms.split():
                    word = term.rpartition("#")[0]
                    scores.setdefault(word, []).append(float(good) - float(bad))
    frequency = np.bincount(made.X.indices, minlength=made.X.shape[1])
    names = made.encoder.names
    scored = [names[j] for j in np.flatnonzero(frequency >= 100) if names[j] in scores]
    return [word for word in scored if abs(np.mean(scores[word])) >= 0.25]


def measure(
    data: LabeledData,
    candidates: Mapping[str, Regularizer],
    sizes: Sequence[int],
    options: argparse.Namespace,
) -> Table:
    """Accuracy of every candidate at every size, one a trial."""
    table: Table = {}
    for size in sizes:
        draws = [data.draw(size, seed) for seed in range(options.trials)]
        for name, regularizer in candidates.items():
            start = time.process_time()
            part = data.decide(regularizer, draws[0], options.jobs)
            table[name, size] = [data.accuracy(part, rows) for rows in draws]
            mean = np.mean(table[name, size])
            seconds = time.process_time() - start
            print(f"{size:>6} {mean:.4f} {seconds:6.1f} s  {part}", file=sys.stderr, flush=True)
    return table


def show(title: str, table: Table, options: argparse.Namespace) -> None:
    """The table in print and, on request, as a picture."""
    names = list(dict.fromkeys(name for name, _ in table))
    sizes = list(dict.fromkeys(size for _, size in table))
    print(f"\n{title}: accuracy in percent")
    print(f"{'documents':<24}" + "".join(f"{size:>14,}" for size in sizes))
    for name in names:
        cells = [100 * np.array(table[name, size]) for size in sizes]
        print(f"{name:<24}" + "".join(f"{it.mean():>8.1f} +-{it.std():4.1f}" for it in cells))
    for name in names:
        if name.startswith("network"):
            gain = [100 * np.mean(np.subtract(table[name, s], table["ridge", s])) for s in sizes]
            print(f"{name + ' - ridge':<24}" + "".join(f"{it:>+8.1f}      " for it in gain))
    if options.plots:
        draw(title, table, names, sizes, options.plots)


def draw(
    title: str, table: Table, names: Sequence[str], sizes: Sequence[int], folder: Path
) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(5, 4))
    for name in names:
        cells = [100 * np.array(table[name, size]) for size in sizes]
        heights, spreads = zip(*((it.mean(), it.std()) for it in cells), strict=True)
        axes.errorbar(sizes, heights, spreads, label=name, marker="o", markersize=3, capsize=2)
    axes.set(xscale="log", xlabel="training documents", ylabel="accuracy (%)", title=title)
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.legend(fontsize=8)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"networks-{title.replace(' ', '-').lower()}.png"
    figure.savefig(path, dpi=150, bbox_inches="tight")
    print(f"plot: {path}")


def figure_1(data: Path, options: argparse.Namespace) -> None:
    made, labels = news(data)
    graph = news_graph(made.tokens)
    print(f"20news: {made.X.shape[1]:,} words, {graph.n_links:,} links", file=sys.stderr)
    candidates = {
        "network": registry.create("regularizer", "network"),
        "ridge": registry.create("regularizer", "ridge"),
        "laplacian": registry.create("regularizer", "laplacian"),
        "laplacian, normalized": registry.create("regularizer", "laplacian", normalized=True),
        "pcr": registry.create("regularizer", "pcr"),
        "lle": registry.create("regularizer", "lle"),
    }
    table = measure(LabeledData(made.X, labels, graph), candidates, NEWS_SIZES, options)
    show("20 Newsgroups", table, options)


def figure_3(data: Path, options: argparse.Namespace) -> None:
    candidates = {
        "network": registry.create("regularizer", "network"),
        "network 9.9, 0.1": registry.create("regularizer", "network", alpha=9.9, beta=0.1),
        "ridge": registry.create("regularizer", "ridge"),
    }
    for domain in ("amazon-books", "amazon-electronics"):
        table = measure(sentiment(data, domain), candidates, SENTIMENT_SIZES, options)
        show(domain, table, options)


def speed(data: Path, options: argparse.Namespace) -> None:
    """One fit of all 20 classes on bydate's training part, measured on its test part."""
    made, labels = news(data)
    start = time.process_time()
    graph = news_graph(made.tokens)
    print(f"\ngraph of {made.X.shape[1]:,} words: {time.process_time() - start:.2f} s")
    labeled = LabeledData(made.X, labels, graph)
    rows = np.arange(11314)
    for name, strengths in (
        ("network", {"alpha": 10.0, "beta": 0.1}),
        ("laplacian", {"alpha": 1.0, "beta": 0.1}),
    ):
        regularizer = registry.create("regularizer", name, **strengths)
        problem = labeled.problem(rows, 1e-4)
        start = time.process_time()
        fits = [regularizer.solve(problem.replace(y=y)) for y in labeled.signs[:, rows]]
        seconds = time.process_time() - start
        gap = max(fit.gap for fit in fits)
        print(
            f"{regularizer}: 20 classes, 11,314 documents in {seconds:.2f} s of one core, largest "
            f"gap {gap:.1e}, accuracy {100 * labeled.accuracy(regularizer, rows):.1f} %"
        )


PARTS = {"news": figure_1, "sentiment": figure_3, "speed": speed}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    data = os.environ.get("TEXTREG_DATA")
    parser.add_argument("--data", type=Path, default=data, help="folder with data/")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--plots", type=Path, help="folder for pictures; needs matplotlib")
    options = parser.parse_args()
    if options.data is None:
        parser.error("name the folder with the corpora: --data FOLDER, or TEXTREG_DATA")
    with threadpool_limits(limits=1):
        for part in options.only:
            PARTS[part](options.data / "data", options)


if __name__ == "__main__":
    main()
