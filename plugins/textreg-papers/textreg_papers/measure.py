"""Run the methods on a task; the results are plain values that JSON can hold."""

from __future__ import annotations

import datetime
import itertools
import re
import time
import warnings
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import textreg
import textreg_report
from textreg.builtin.tokenizers import Words
from textreg.errors import ConvergenceWarning, UsageError
from textreg.model.model import Model
from textreg.plugins.registry import create
from textreg.records import Problem
from textreg.tasks import read_target
from textreg.training.prepare import prepare
from textreg.training.settings import TrainingSettings
from textreg_papers.protocols import (
    CANDIDATES,
    COUNTS,
    PAPERS,
    PUBLISHED,
    SECONDS,
    SKIANIS,
    STRENGTHS,
    WORDS,
)

# Key of the results of other packages, beside those of the protocols.
PEERS = "peers"

# The pursuit whose accuracy is recorded feature by feature.
ATOMS = {"reg": "omp", "reg_l2": 0.1, "path": True}

COSTS = (0.001, 0.01, 0.1, 1.0, 10.0)
# Of NB-SVM: interpolation between all weights equal to their mean (0) and the SVM (1); the paper:
# 0.25.
SHARES = (0.25, 1.0)

Tell = Callable[[str], None]


class Documents:
    """The three parts of a task, and its labels in order."""

    def __init__(self, folder: Path) -> None:
        """Read ``folder``; UsageError where a part is missing."""
        task = textreg_report.Benchmark.read(str(folder))
        self.name = task.name
        parts = []
        for part in (task.train, task.dev, task.test):
            if not isinstance(part, textreg.Corpus) or part.labels is None:
                raise UsageError(
                    f"{folder} must hold labeled documents in files train.*, dev.* and test.*."
                )
            parts.append(part)
        self.train, self.dev, self.test = parts
        self.labels = sorted(set(self.train.labels or ()))

    def codes(self, part: textreg.Corpus) -> Any:
        """(documents,) index of each label."""
        return np.array([self.labels.index(label) for label in part.labels or ()])


def measure(
    folder: Path,
    protocols: Collection[str] = tuple(CANDIDATES),
    methods: Collection[str] | None = None,
    *,
    previous: Mapping[str, Any] | None = None,
    jobs: int = -1,
    tell: Tell = print,
) -> dict[str, Any]:
    """Results of one task: cells by protocol and method, other packages, pursuits, times of fits.

    folder: holds train, dev and test documents. methods: those to run; with None all, and the
    results that belong to no method. previous: earlier results, kept unless measured again. tell:
    called with a line for each cell.
    """
    task = Documents(folder)
    y_true = task.codes(task.test)
    results: dict[str, Any] = {
        **(previous or {}),
        "date": datetime.date.today().isoformat(),
        "documents": [len(task.train), len(task.dev), len(task.test)],
        "commonest": float(np.bincount(y_true).max() / len(y_true)),
    }
    for protocol in protocols:
        cells = results[protocol] = dict(results.get(protocol, {}))
        for name, options in CANDIDATES[protocol]().items():
            if methods is None or name in methods:
                cell = cells[name] = _cell(task, options, jobs)
                tell(
                    f"{task.name:20} {protocol:9} {name:16} {cell['accuracy']:.3f} "
                    f"{cell['features']:8,} features {cell['cpu']:7.1f} s"
                )
    if methods is None and PAPERS in protocols:
        results[PEERS] = _peers(task)
        results["atoms"] = _atoms(task, jobs)
        results["fits"] = _fits(task, results[PAPERS])
    return results


def unpack(cell: Mapping[str, Any]) -> Any:
    """(documents,) which test documents a cell classifies correctly."""
    packed = np.frombuffer(bytes.fromhex(cell["right"]), dtype=np.uint8)
    return np.unpackbits(packed, count=cell["documents"]).astype(bool)


def _right(right: Any) -> dict[str, Any]:
    """Accuracy, and the correct documents as packed bits, for paired tests."""
    return {
        "accuracy": float(right.mean()),
        "documents": len(right),
        "right": np.packbits(right).tobytes().hex(),
    }


def _train(task: Documents, options: Mapping[str, Any], jobs: int) -> Model:
    train, dev = task.train, task.dev
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # cells record the gap
        return textreg.train(train.texts, train.labels or (), dev=dev, jobs=jobs, **options)


def _cell(task: Documents, options: Mapping[str, Any], jobs: int) -> dict[str, Any]:
    """Train and measure a method. cpu, wall: seconds of feature extraction, search and fit."""
    cpu, wall = time.process_time(), time.perf_counter()
    model = _train(task, options, jobs)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    answers = model.predict(task.test.texts)
    summary = model.summary
    assert summary is not None
    assert summary.dev is not None
    return {
        **_right(np.array(answers) == np.array(task.test.labels)),
        "dev": summary.dev.metrics["accuracy"],
        "features": summary.nonzero,
        "of": summary.features,
        "cpu": round(cpu, 2),
        "wall": round(wall, 2),
        "gap": summary.gap,
        "params": summary.reg.params,
        "date": datetime.date.today().isoformat(),
    }


def fit_nbsvm(X: Any, y: Any, cost: float, share: float) -> tuple[Any, float]:
    """Weights and intercept of a linear SVM on features scaled by their log-count ratios."""
    from scipy.sparse import diags_array
    from sklearn.svm import LinearSVC

    counts = [np.asarray(X[y == label].sum(axis=0)).ravel() + 1.0 for label in (1, 0)]
    ratio = np.subtract(*(np.log(each / each.sum()) for each in counts))
    svm = LinearSVC(C=cost, dual="auto", max_iter=5000, random_state=0)
    svm.fit(X @ diags_array(ratio), y)
    w = svm.coef_.ravel()
    w = share * w + (1.0 - share) * np.abs(w).mean()  # section 2.3
    return w * ratio, float(svm.intercept_[0])


def _peers(task: Documents) -> dict[str, Any]:
    """Cells of NB-SVM, fitted with the dev documents and without; none of more than two labels.

    NB-SVM on words and pairs (Wang & Manning 2012): the strongest usual baseline. Cost and share
    are chosen on the dev documents; ties go to the smaller cost.
    """
    from scipy.sparse import vstack
    from sklearn.feature_extraction.text import CountVectorizer

    if len(task.labels) != 2:
        return {}
    cpu = time.process_time()
    y, y_dev, y_test = (task.codes(part) for part in (task.train, task.dev, task.test))
    vectorizer = CountVectorizer(ngram_range=(1, 2), binary=True)
    X = vectorizer.fit_transform(task.train.texts).astype(float).tocsr()
    X_dev, X_test = (vectorizer.transform(it.texts).astype(float) for it in (task.dev, task.test))

    def right(setting: tuple[float, float]) -> float:
        w, b = fit_nbsvm(X, y, *setting)
        return float(((X_dev @ w + b > 0) == y_dev).mean())

    settings = list(itertools.product(COSTS, SHARES))
    accuracies = [right(setting) for setting in settings]
    best = settings[int(np.argmax(accuracies))]
    cells = {}
    for name, rows, labels in (
        ("NB-SVM", vstack([X, X_dev], format="csr"), np.concatenate([y, y_dev])),
        ("NB-SVM, train alone", X, y),
    ):
        w, b = fit_nbsvm(rows, labels, *best)
        cells[name] = {
            **_right((X_test @ w + b > 0) == y_test),
            "dev": max(accuracies),
            "features": int(np.count_nonzero(w)),
            "of": len(w),
        }
    cpu = round(time.process_time() - cpu, 2)
    return {name: {**cell, "cpu": cpu} for name, cell in cells.items()}


def _atoms(task: Documents, jobs: int) -> list[tuple[int, float]]:
    """Features and dev accuracy along a pursuit, fitted to the training documents."""
    model = _train(task, {**ATOMS, **COUNTS}, jobs)
    assert model.path is not None
    return [(point.nonzero, point.metrics["accuracy"]) for point in model.path.points]


def _fits(task: Documents, cells: Mapping[str, Any]) -> dict[str, float]:
    """CPU seconds of one fit from zero at the chosen strengths, for methods timed in a paper."""
    results = {}
    target = read_target(task.train).target
    for name in SECONDS.get(task.name, ()):
        settings = TrainingSettings.from_options(reg=name, **WORDS)
        data = prepare(task.train, target, settings)
        problem = data.problem(np.arange(len(task.train)), settings.tol)
        part = settings.reg.replace(**cells[name]["params"])
        times = []
        for _ in range(3):
            start = time.process_time()
            part.solve(problem)
            times.append(time.process_time() - start)
        results[name] = round(min(times), 3)
    return results


Tokenize = Callable[[str], list[str]]


def of_textreg(text: str) -> list[str]:
    """The words of textreg's tokenizer."""
    return [word for sentence in Words()(text) for word in sentence]


WAYS: dict[str, Tokenize] = {
    "textreg's": of_textreg,
    "letters and digits": lambda text: re.findall(r"\w\w+", text.lower()),
    "the same, case kept": lambda text: re.findall(r"\w\w+", text),
    "letters alone": lambda text: re.findall(r"[a-z]+", text.lower()),
    "between blanks": str.split,
    "without headers": lambda text: re.findall(r"\w\w+", text.partition("\n\n")[2].lower()),
}


def accuracies(task: Documents, tokenize: Tokenize, *, binary: bool) -> tuple[float, float]:
    """Percent right on test by the strength that is best on dev, and by that best on test."""
    from sklearn.feature_extraction.text import CountVectorizer

    vectorizer = CountVectorizer(analyzer=tokenize, binary=binary, dtype=np.float64)
    X = vectorizer.fit_transform(task.train.texts)
    problem = Problem(X, np.where(task.codes(task.train) == 1, 1.0, -1.0))
    fits = [create("regularizer", "ridge", l2=l2).solve(problem) for l2 in STRENGTHS]

    def right(part: Any) -> Any:
        rows, codes = vectorizer.transform(part.texts), task.codes(part)
        return np.array([100.0 * ((rows @ fit.w + fit.b > 0.0) == codes).mean() for fit in fits])

    on_test = right(task.test)
    return float(on_test[right(task.dev).argmax()]), float(on_test.max())


def print_words(task: Documents) -> None:
    """Accuracies of a ridge on counts, and on words that occur, for every way to find words.

    Those on test with the strength that is best on dev, and with the one that is best on test:
    where even the latter misses a published accuracy, the words were others.
    """
    print(f"{task.name}: published {PUBLISHED[SKIANIS][0]['ridge'][task.name]}")
    for way, tokenize in WAYS.items():
        for what in ("counts", "occurs"):
            chosen, best = accuracies(task, tokenize, binary=what == "occurs")
            print(f"  {way:20} {what}: {chosen:.1f}, {best:.1f} at best", flush=True)
