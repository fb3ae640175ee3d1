"""Few labeled documents: the default, with word vectors and unlabeled text, beside peers.

    python -m benchmarks.few_labels --data DIR [--corpora subj sms] [--sizes 20 40] [--draws 6]
                                    [--results FILE] [--write docs/few-labels.md]

Draws of the documents of train and dev; of those that are not drawn 2,000 are measured on, or half
where they are fewer than 4,000, and the others are the unlabeled texts (of amazon-books, which
brings 6,000 unlabeled texts, 2,000 or all). Every draw is saved, and those
that are in the file are not measured again.

svm: LinearSVC(C=1) on tf-idf of words and pairs, and of characters 2 to 5 inside words (see
benchmarks.everyday). svm+mean: the same beside the mean of the words' vectors. mean: logistic
regression on that mean alone. default: `textreg train`. fitted: the same with the intercept of the
fit and no temperature. vectors: `--vectors glove` (English corpora). unlabeled: `--unlabeled FILE`.
The shadows have what these are held against: the rows of the table permuted among the words; the
words of all unlabeled texts shuffled among these.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize
from textreg_embeddings import Glove

import textreg
from benchmarks.corpora import FOLDERS, read
from benchmarks.everyday import pipeline
from textreg.records import Floats

SIZES = ("20", "40", "100", "300", "1000")
CELLS = [
    *(
        (name, n)
        for name in ("subj", "trec", "amazon-books", "sms", "masakhane-som")
        for n in SIZES
    ),
    *(("banking77", n) for n in ("5 a label", "10 a label", "30 a label")),
    *(("germeval", n) for n in SIZES[:-1]),
]
ENGLISH = ("subj", "trec", "amazon-books", "sms", "banking77")
MOST = 2_000
COLUMNS = (
    *("svm", "svm+mean", "mean", "fitted", "default", "vectors", "shadow", "unlabeled"),
    "shuffled",
)
BEGIN, END = "<!-- few labels -->", "<!-- end -->"


class Permuted(Glove):
    """The same vectors, of other words."""

    name = "permuted"

    def rows(self, wanted: Callable[[int, str], bool]) -> tuple[list[str], Floats]:
        words, table = super().rows(wanted)
        return words, np.random.default_rng(0).permutation(table)


def documents(data: Path, name: str) -> tuple[list[str], np.ndarray, list[str]]:
    """Texts and labels of train and dev, or of a corpus without parts, and further texts."""
    rows: list[dict[str, Any]] = []
    for part in ("all", "train", "dev"):
        if (path := data / FOLDERS[name] / f"{part}.jsonl.gz").is_file():
            rows += read(path)
    more = data / name / "unlabeled.jsonl.gz"
    further = [row["text"] for row in read(more)] if more.is_file() else []
    return [row["text"] for row in rows], np.array([row["label"] for row in rows]), further


def draw(
    y: np.ndarray, size: str, seed: int, share: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Documents to train on, two at least of each label that is among them; others; the rest.

    share: of the documents that are not drawn, how many are measured on at most.
    """
    order = np.random.default_rng(1000 + seed).permutation(len(y))
    if size.endswith("a label"):
        n = int(size.split()[0])
        chosen = [i for label in np.unique(y) for i in order[y[order] == label][:n]]
    else:
        chosen = list(order[: int(size)])
        if len(np.unique(y[chosen])) == 1:
            chosen[-2:] = order[y[order] != y[chosen[0]]][:2]
        for label in np.unique(y[chosen]):
            own = [i for i in chosen if y[i] == label]
            if len(own) < 2:
                more = [i for i in order[int(size) :] if y[i] == label][:1]
                most = max(np.unique(y[chosen]), key=lambda it: int(np.sum(y[chosen] == it)))
                gone = [i for i in chosen if y[i] == most][-1] if more else own[0]
                chosen = [i for i in chosen if i != gone] + more
    known = np.isin(y, y[chosen])
    known[chosen] = False
    most = min(MOST, int(share * (len(y) - len(chosen))))
    test = np.array([i for i in order if known[i]][:most])
    return np.array(chosen), test, np.setdiff1d(np.arange(len(y)), [*chosen, *test])


def mean_vectors(texts: list[str], place: dict[str, int], table: Floats) -> Floats:
    """(n, d) the mean vector of the words of every text, of length 1."""
    words = TfidfVectorizer(vocabulary=place, use_idf=False, token_pattern=r"(?u)\b\w+\b")
    return np.asarray(normalize(words.fit_transform(texts) @ table))


def shuffled(texts: list[str]) -> list[str]:
    """The words of all texts, shuffled among these."""
    words = [text.split() for text in texts]
    mixed = np.random.default_rng(0).permutation(np.concatenate(words))
    ends = np.cumsum([0, *map(len, words)])
    return [" ".join(mixed[start:end]) for start, end in pairwise(ends)]


class Corpus:
    """One corpus: its draws are measured."""

    def __init__(self, data: Path, name: str) -> None:
        self.name = name
        self.texts, self.y, self.further = documents(data, name)
        if name in ENGLISH:
            words, self.table = Glove().rows(lambda place, _: place < 100_000)
            self.place = {word: row for row, word in enumerate(words)}

    def measured(self, size: str, seed: int) -> dict[str, dict[str, float]]:
        """Accuracy, log-loss and CPU seconds of every column."""
        train, test, rest = draw(self.y, size, seed, 1.0 if self.further else 0.5)
        some, others = ([self.texts[i] for i in rows] for rows in (train, test))
        unlabeled = [self.texts[i] for i in rest] + self.further
        labels = self.y[train].tolist()
        found = self._peers(some, labels, others, self.y[test])
        ours: dict[str, dict[str, Any]] = {
            "fitted": {"intercept": "fitted", "calibrate": "none"},
            "default": {},
            "unlabeled": {"unlabeled": unlabeled},
            "shuffled": {"unlabeled": shuffled(unlabeled)},
        }
        if self.name in ENGLISH:
            ours |= {"vectors": {"vectors": "glove"}, "shadow": {"vectors": "permuted"}}
        for column, options in ours.items():
            began = time.process_time()
            model = textreg.train(some, labels, **options)
            seconds = time.process_time() - began
            table = np.atleast_2d(model.predict_proba(others))
            place = {label: at for at, label in enumerate(model.labels)}
            truth = table[np.arange(len(test)), [place[label] for label in self.y[test]]]
            found[column] = {
                "accuracy": float(np.mean(np.array(model.predict(others)) == self.y[test])),
                "log_loss": float(-np.log(np.maximum(truth, 1e-15)).mean()),
                "seconds": seconds,
            }
        return found

    def _peers(
        self, some: list[str], labels: list[Any], others: list[str], y: np.ndarray
    ) -> dict[str, dict[str, float]]:
        from scipy.sparse import csr_array, hstack

        features, svc = pipeline()
        began = time.process_time()
        X, T = features.fit_transform(some), features.transform(others)
        svc.fit(X, labels)
        seconds = time.process_time() - began
        found = {"svm": {"accuracy": float(np.mean(svc.predict(T) == y)), "seconds": seconds}}
        if self.name in ENGLISH:
            V, W = (mean_vectors(texts, self.place, self.table) for texts in (some, others))
            svc.fit(hstack([X, csr_array(V)], format="csr"), labels)
            both = svc.predict(hstack([T, csr_array(W)], format="csr"))
            alone = LogisticRegression(C=10.0, max_iter=1000).fit(V, labels).predict(W)
            found["svm+mean"] = {"accuracy": float(np.mean(both == y))}
            found["mean"] = {"accuracy": float(np.mean(alone == y))}
        return found


def table(rows: list[dict[str, Any]]) -> list[str]:
    """A table in Markdown: means of accuracies in percent, and what the default gains."""
    lines = [
        f"| corpus | documents | {' | '.join(COLUMNS)} | default - svm |",
        f"| --- | --- |{' ---: |' * (len(COLUMNS) + 1)}",
    ]
    means = []
    for name, size in dict.fromkeys((row["corpus"], row["size"]) for row in rows):
        own = [row["found"] for row in rows if (row["corpus"], row["size"]) == (name, size)]
        cell = [
            100 * float(np.mean([it[c]["accuracy"] for it in own])) if c in own[0] else np.nan
            for c in COLUMNS
        ]
        apart = 100 * np.array([it["default"]["accuracy"] - it["svm"]["accuracy"] for it in own])
        error = f" ± {apart.std(ddof=1) / np.sqrt(len(apart)):.1f}" if len(apart) > 1 else ""
        means.append(cell)
        lines.append(_line(f"{name} | {size}", cell, f"{apart.mean():+.1f}{error}"))
    every = np.array(means)
    whole = every[~np.isnan(every).any(axis=1)]
    gain = f"{np.mean(every[:, 4] - every[:, 0]):+.1f}"
    lines.append(_line("**mean** | all", np.nanmean(every, axis=0).tolist(), gain, blank=True))
    if len(whole):
        gain = f"{np.mean(whole[:, 4] - whole[:, 0]):+.1f}"
        lines.append(_line("**mean** | in English", whole.mean(axis=0).tolist(), gain))
    return lines


def _line(title: str, cell: list[float], gain: str, *, blank: bool = False) -> str:
    partial = {"svm+mean", "mean", "vectors", "shadow"}
    shown = [
        "" if np.isnan(value) or (blank and name in partial) else f"{value:.1f}"
        for name, value in zip(COLUMNS, cell, strict=True)
    ]
    return f"| {title} | {' | '.join(shown)} | {gain} |"


def losses(rows: list[dict[str, Any]]) -> list[str]:
    """Means of log-losses and CPU seconds over all draws that have them."""
    lines = ["| | log-loss | cpu seconds |", "| --- | ---: | ---: |"]
    for column in ("fitted", "default", "vectors", "shadow", "unlabeled", "shuffled"):
        own = [row["found"][column] for row in rows if column in row["found"]]
        if own:
            values = [np.mean([it[key] for it in own]) for key in ("log_loss", "seconds")]
            lines.append(f"| {column} | {values[0]:.3f} | {values[1]:.1f} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with data/")
    parser.add_argument("--corpora", nargs="+", default=[name for name, _ in CELLS])
    parser.add_argument("--sizes", nargs="+", default=[size for _, size in CELLS])
    parser.add_argument("--draws", type=int, default=6)
    parser.add_argument("--results", type=Path, help="JSON lines of the draws, which are added to")
    parser.add_argument("--write", type=Path, help="the page whose tables are written")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    textreg.register(Permuted)
    rows: list[dict[str, Any]] = []
    if options.results and options.results.is_file():
        rows = [json.loads(line) for line in options.results.read_text().splitlines()]
    done = {(row["corpus"], row["size"], row["draw"]) for row in rows}
    corpora: dict[str, Corpus] = {}
    for seed in range(options.draws):
        for name, size in CELLS:
            wanted = name in options.corpora and size in options.sizes
            if not wanted or (name, size, seed) in done:
                continue
            if name not in corpora:
                corpora[name] = Corpus(options.data / "data", name)
            found = corpora[name].measured(size, seed)
            rows.append({"corpus": name, "size": size, "draw": seed, "found": found})
            if options.results:
                with options.results.open("a") as file:
                    print(json.dumps(rows[-1]), file=file)
    rows.sort(key=lambda row: (CELLS.index((row["corpus"], row["size"])), row["draw"]))
    text = "\n".join([*table(rows), "", *losses(rows)])
    print(text)
    if options.write:
        page = options.write.read_text()
        before, _, rest = page.partition(BEGIN)
        _, _, after = rest.partition(END)
        options.write.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}")


if __name__ == "__main__":
    main()
