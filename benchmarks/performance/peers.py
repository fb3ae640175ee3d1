"""The peers that are whole trainings, each in a process of its own.

    python -m benchmarks.performance.peers words [--C C ...] [--token REGEX] TRAIN TEST
    python -m benchmarks.performance.peers everyday TRAIN [--dev DEV] TEST

Prints JSON: CPU seconds and peak memory up to the fitted model, imports included, and what is then
right on the test documents, in percent.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.corpora import Rows, read
from benchmarks.everyday import fit_pipeline, micro_macro
from benchmarks.performance.ground import lines
from benchmarks.performance.harness import peak_memory

Answers = Callable[[Rows], Any]

STRENGTHS = (0.1, 1.0, 10.0)
TOKEN = r"(?u)\b\w\w+\b"
"""That of scikit-learn."""


def rows(path: Path) -> Rows:
    """The documents of a file, compressed or not."""
    return read(path) if path.suffix == ".gz" else list(lines(path))


def fit_words(train: Rows, strengths: Sequence[float] = STRENGTHS, token: str = TOKEN) -> Answers:
    """A linear SVM on words and pairs by tf-idf, its C one of some, by a tenth that is held out.

    token: a pattern of what is a word.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.model_selection import train_test_split
    from sklearn.svm import LinearSVC

    tfidf = TfidfVectorizer(token_pattern=token, sublinear_tf=True, ngram_range=(1, 2))
    X = tfidf.fit_transform([row["text"] for row in train])
    y = np.array([row["label"] for row in train])
    fit, held = train_test_split(np.arange(len(y)), test_size=0.1, random_state=0)
    scores = {C: LinearSVC(C=C).fit(X[fit], y[fit]).score(X[held], y[held]) for C in strengths}
    model = LinearSVC(C=max(scores, key=scores.__getitem__)).fit(X, y)
    return lambda test: model.predict(tfidf.transform([row["text"] for row in test]))


def right(answers: Any, test: Rows) -> float:
    """Percent of the answers that are right; of several labels the micro-F1."""
    if "labels" in test[0]:
        return 100.0 * micro_macro(test, answers)[0]
    return 100.0 * float(np.mean(np.asarray(answers) == [row["label"] for row in test]))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("peer", choices=("words", "everyday"))
    parser.add_argument("train", type=Path)
    parser.add_argument("test", type=Path)
    parser.add_argument("--dev", type=Path)
    parser.add_argument("--C", type=float, nargs="+", default=STRENGTHS)
    parser.add_argument("--token", default=TOKEN)
    options = parser.parse_args()
    train = rows(options.train)
    dev = rows(options.dev) if options.dev else []
    if options.peer == "words":
        answers = fit_words(train, options.C, options.token)
    else:
        answers = fit_pipeline(train, dev)
    figures = {"cpu": time.process_time(), "peak": peak_memory() / 1e6}
    test = rows(options.test)
    print(json.dumps(figures | {"right": right(answers(test), test)}))


if __name__ == "__main__":
    main()
