"""The papers' methods, what was published of them, and how they are measured on a task.

The methods are those of Yogatama & Smith (2014) and Skianis, Tziortziotis & Vazirgiannis (2018), as
in the papers and by default. published.tsv has tables 2 and 3 of the latter and table 2 of the
former: accuracies and sizes, in percent. What is measured are plain values that JSON can hold.
"""

from __future__ import annotations

import csv
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

# The grid of Yogatama & Smith (section 5.2) for all strengths; Skianis et al. omit 1000.
STRENGTHS = (1e3, 1e2, 1e1, 1.0, 1e-1, 1e-2)

# The grid of Skianis et al. for the ridge penalty of a pursuit.
RIDGES = STRENGTHS[1:]

# The grid of Yogatama & Smith for ADMM's rho.
RHOS = (1e3, 1e2, 1e1, 1.0, 1e-1)

# Numbers of features; 2000 is the most that Skianis et al. allow (section 5.2).
BUDGETS = (25, 50, 100, 200, 300, 400, 600, 800, 1000, 1500, 2000)

# The two protocols, and what the papers leave open, tried where their tables are missed.
PAPERS, DEFAULTS, VARIANTS = "papers", "defaults", "variants"

# Yogatama & Smith's method with their solver and its stopping rule.
AS_PRINTED = "sentence-admm"

# Group builders; communities: of graphs of words (GoW); clusters: of word vectors.
BUILDERS = ("lda", "lsi", "communities", "clusters")

# Counts of single words, and every weight.
WORDS = {"tokenizer": "words", "weighting": "count", "ngrams": 1, "prune": 0.0}

# The same, chosen by accuracy and fitted to the training documents alone.
COUNTS = {**WORDS, "metric": "accuracy", "refit": False}

# Keywords of textreg.train.
Options = dict[str, Any]

# Algorithm 1 of Yogatama & Smith to the letter.
PRINTED: Options = {"reg_solver": "algorithm-1", "reg_l2": 0.0}


def papers() -> dict[str, Options]:
    """Counts of single words, the papers' grids, fitted to the training documents alone."""
    pursuit = {"reg_l2": RIDGES, "reg_budget": BUDGETS}
    groups = {"reg_group": STRENGTHS, "reg_l1": STRENGTHS}
    searched: dict[str, tuple[Options, Options]] = {
        "none": ({"reg": "none"}, {}),
        "lasso": ({"reg": "lasso"}, {"reg_l1": STRENGTHS}),
        "ridge": ({"reg": "ridge"}, {"reg_l2": STRENGTHS}),
        "elastic": ({"reg": "elastic"}, {"reg_l2": STRENGTHS, "reg_l1": STRENGTHS}),
        "sentence": ({"reg": "sentence", "reg_l2": 0.0}, groups),
        AS_PRINTED: ({"reg": "sentence", **PRINTED}, {**groups, "reg_rho": RHOS}),
        **{name: ({"reg": "group", "groups": name, "reg_l2": 0.0}, groups) for name in BUILDERS},
        "omp": ({"reg": "omp"}, pursuit),
        "gomp": ({"reg": "gomp", "groups": "clusters"}, pursuit),
    }
    return {
        name: {**options, **COUNTS, "search": "grid", "search_space": space}
        for name, (options, space) in searched.items()
    }


def defaults() -> dict[str, Options]:
    """``textreg train TRAIN --dev DEV --reg NAME`` and nothing else."""
    names = ("auto", "none", "lasso", "ridge", "elastic", "sentence")
    return {
        **{name: {"reg": name} for name in names},
        **{name: {"reg": "group", "groups": name} for name in BUILDERS},
        "omp": {"reg": "omp"},
        "gomp": {"reg": "gomp", "groups": "clusters"},
        "stagewise": {"reg": "stagewise"},
        "network": {"reg": "network"},
    }


def variants() -> dict[str, Options]:
    """Groups of topics as Skianis et al. have them, and under conditions that they leave open."""
    grid = {"reg_group": RIDGES, "reg_l1": RIDGES}
    large = {"groups_topics": 20, "groups_words": 1000, "groups_min_df": 1}
    small = {"groups_topics": 200, "groups_words": 10, "groups_min_df": 1}
    early = {**PRINTED, "search_space": {**grid, "reg_rho": RHOS[1:]}}
    changes: dict[str, Options] = {
        "1000 topics of 10 words": {**small, "groups_topics": 1000},
        "50 topics of 20 words": {},
        "200 topics of 10 words": small,
        "20 topics of 1,000 words": large,
        "the same, lsi": {**large, "groups": "lsi"},
        "the same, lda, ADMM stopped early": {**large, **early},
        "the same, words that occur, not counts": {**large, "weighting": "binary"},
        "the same, rows of length 1": {**large, "weighting": "unit"},
        "the same, words and pairs": {**large, "ngrams": 2},
    }
    common = {"reg": "group", "groups": "lda", "reg_l2": 0.0, "search": "grid"}
    return {
        name: {**COUNTS, **common, "search_space": grid, **change}
        for name, change in changes.items()
    }


# A value by method and task.
Table = dict[str, dict[str, float]]


def _published() -> dict[str, tuple[Table, Table]]:
    """Tables of accuracies and of sizes by paper."""
    papers: dict[str, tuple[Table, Table]] = {}
    with open(Path(__file__).with_name("published.tsv"), encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            tables = papers.setdefault(row["paper"], ({}, {}))
            for table, column in zip(tables, ("accuracy", "size"), strict=True):
                table.setdefault(row["method"], {})[row["task"]] = float(row[column])
    return papers


PUBLISHED = _published()
SKIANIS = "Skianis et al."

# Seconds of the one best fit: Yogatama & Smith on sports (section 5.6; 8 processors of 2.4 GHz),
# Skianis et al. on computer (section 5.4; 4 cores of 3 GHz).
SECONDS = {
    "sports": {"lasso": 27.0, "ridge": 18.0, "elastic": 10.0, "sentence": 33.0},
    "computer": {"lasso": 7.0, "ridge": 1.4, "elastic": 0.8, "omp": 4.0},
}


def best(task: str) -> tuple[float, str, str] | None:
    """Best published accuracy of a task, its method and paper; None if no paper has the task."""
    cells = [
        (values[task], method, paper)
        for paper, (accuracy, _) in PUBLISHED.items()
        for method, values in accuracy.items()
        if task in values
    ]
    return max(cells, key=lambda cell: cell[0]) if cells else None


def _shuffled(methods: dict[str, Options]) -> dict[str, Options]:
    """Those that have groups or links, each of these of features drawn by chance."""
    needs = {"sentence": ("groups", "sentences"), "network": ("graph", "cooccurrence")}
    return {
        name: {**options, kind: f"shuffled:{options.get(kind, builder)}"}
        for name, options in methods.items()
        for kind, builder in [needs.get(options["reg"], ("groups", options.get("groups")))]
        if builder
    }


SHADOWS = {PAPERS: f"{PAPERS}-shuffled", DEFAULTS: f"{DEFAULTS}-shuffled"}

CANDIDATES: dict[str, Callable[[], dict[str, Options]]] = {
    PAPERS: papers,
    DEFAULTS: defaults,
    VARIANTS: variants,
    SHADOWS[PAPERS]: lambda: _shuffled(papers()),
    SHADOWS[DEFAULTS]: lambda: _shuffled(defaults()),
}

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
