"""Intercepts that are right for new texts, and the calibration that goes with them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array, vstack
from scipy.special import expit

import textreg
from textreg import LinearClassifier, Ridge
from textreg.errors import UsageError
from textreg.measure.decisions import row_loss
from textreg.measure.intercept import balanced, choose_shift, shifts_of_rows, sigmoid
from textreg.model.summary import ShiftSummary
from textreg.records import Corpus, Problem
from textreg.tasks.classification import OneVsRest, Softmax
from textreg.training import fit, prepare, trials
from textreg.training.prepare import Training, read_training
from textreg.training.running import ALONE
from textreg.training.settings import TrainingSettings
from textreg.training.splits import Split, left_out
from textreg.training.trials import Fold


def test_probabilities_sum_to_the_numbers_of_documents() -> None:
    rng = np.random.default_rng(0)
    scores, positive = rng.normal(size=(50, 3)) * 4, rng.random((50, 3)) < 0.3
    weights = rng.random((50, 3))
    shift = balanced(scores, positive, weights)
    sums = (weights * expit(scores + shift)).sum(axis=0)
    assert sums == pytest.approx((weights * positive).sum(axis=0), rel=1e-12)
    # More is not known from a label of all documents, or of none.
    positive[:, 0], positive[:, 1] = True, False
    assert balanced(scores, positive, weights)[:2].tolist() == [0.0, 0.0]


def test_a_step_to_the_end_of_the_interval_is_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("textreg.measure.intercept.STEPS", 12)
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 50, 2000)
    positive = codes[:, None] == np.arange(50)
    scores, ones = rng.normal(size=(2000, 50)) - 4.0 + 3.0 * positive, np.ones((2000, 50))
    sums = expit(scores + balanced(scores, positive, ones)).sum(axis=0)
    assert sums == pytest.approx(positive.sum(axis=0), rel=1e-11)


def test_the_log_loss_of_rows_at_any_temperature() -> None:
    rng = np.random.default_rng(2)
    scores, positive = rng.normal(size=(3000, 4)) * 3, rng.random((3000, 4)) < 0.3  # some blocks
    weights = rng.random((3000, 4))
    log_loss = row_loss(scores, positive, weights)
    for temperature in (0.2, 1.0, 5.0):
        f = scores / temperature
        every = np.average(np.logaddexp(0.0, np.where(positive, -f, f)), weights=weights)
        either = np.logaddexp(0.0, f) + np.logaddexp(0.0, -f)  # each with the weight 1/2
        expected = every + np.average(either, weights=weights) * 4 / (2.0 * weights.sum())
        assert log_loss(temperature) == pytest.approx(expected, rel=1e-12)


def few(n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Rows of a third one class, each with features of its own among a few that tell."""
    rng = np.random.default_rng(1)
    y = np.arange(n) % 3 == 0
    telling = rng.random((n, 30)) < np.where(y[:, None], 0.25, 0.15)
    own = np.kron(np.eye(n), np.ones((1, 6)))
    return np.hstack([telling, own]).astype(float), y


def left_out_by_formula(X: np.ndarray, t: np.ndarray, f: np.ndarray, alpha: float) -> np.ndarray:
    """Scores by leave-one-out of a logistic ridge alpha/2 |w|^2, of one Newton step.

    B = alpha I + D^1/2 K D^1/2, P = B^-1 - B^-1 v v' B^-1 / (v' B^-1 v), q_i = alpha P_ii,
    f_-i = f_i - r_i (1 - q_i) / (d_i q_i).
    """
    p = expit(f)
    r, d = t - p, p * (1 - p)
    v = np.sqrt(d)
    inverse = np.linalg.inv(alpha * np.eye(len(f)) + v[:, None] * (X @ X.T) * v)
    of_v = inverse @ v
    q = alpha * np.diag(inverse - np.outer(of_v, of_v) / (v @ of_v))
    return f - r * (1 - q) / (d * q)


def test_five_folds_and_the_closed_form_give_the_shift_of_leaving_one_out() -> None:
    X, y = few()
    alpha = 1.0
    model = LinearClassifier(Ridge(l2=alpha / 2), tol=1e-9)
    n = len(y)

    def scores_without(parts: list[np.ndarray]) -> np.ndarray:
        scores = np.zeros(n)
        for held in parts:
            rows = np.setdiff1d(np.arange(n), held)
            scores[held] = model.fit(X[rows], y[rows]).decision_function(X[held])
        return scores

    def shift(scores: np.ndarray) -> float:
        return float(balanced(scores[:, None], y[:, None], np.ones((n, 1)))[0])

    exact = shift(scores_without([np.array([row]) for row in range(n)]))
    fitted = model.fit(X, y).decision_function(X)
    formula = shift(left_out_by_formula(X, y.astype(float), fitted, alpha))
    folds = shift(scores_without([split.held for split in left_out(y.astype(int), 5, 0)]))
    assert abs(shift(fitted)) < 1e-6  # the fit's own condition
    assert abs(exact) > 0.1
    assert formula == pytest.approx(exact, abs=0.02)
    assert folds == pytest.approx(exact, abs=0.1)


def test_documents_are_left_out_once_and_lone_labels_never() -> None:
    codes = np.array([0] * 7 + [1] * 4 + [2])
    splits = left_out(codes, 5, seed=0)
    assert sorted(np.concatenate([split.held for split in splits])) == list(range(11))
    for split in splits:
        assert sorted([*split.train, *split.held]) == list(range(12))
        assert set(codes[split.train]) == {0, 1, 2}
    assert len(left_out(np.array([0, 0, 1, 1]), 5, seed=0)) == 4


@pytest.mark.parametrize("task", [OneVsRest(("a", "b", "c")), Softmax(("a", "b", "c"))])
def test_no_probability_is_rounded_to_more_than_one(task: OneVsRest | Softmax) -> None:
    sizes = np.linspace(0.0, 100.0, 2001)
    table = np.stack([sizes, -2.0 * sizes, -3.0 * sizes], axis=1)
    assert task._log_losses(table, np.zeros(len(sizes), dtype=np.int64)).min() >= 0.0
    assert task.log_probabilities(table).max() <= 0.0


@pytest.mark.parametrize("task", [OneVsRest(("a", "b", "c")), Softmax(("a", "b", "c"))])
def test_the_joint_shift_is_where_the_gradient_vanishes(task: OneVsRest) -> None:
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 3, 80)
    table = 3 * rng.normal(size=(80, 3)) + 2 * np.eye(3)[codes]
    counts = rng.integers(1, 4, 80) / 2.0
    counts /= counts.mean()
    shift = task._joint_shift(table, codes, 7.0 * np.outer(counts, np.ones(3)))

    def objective(values: np.ndarray) -> float:
        b, slope = values[:3], np.exp(values[3])
        return float(counts @ task._log_losses(slope * table + b, codes) + b @ b / 2)

    slopes = np.exp(np.linspace(-3, 3, 6001))
    best = min(slopes, key=lambda slope: objective(np.append(shift * slope, np.log(slope))))
    least = np.append(shift * best, np.log(best))
    for step in np.vstack([np.eye(4), -np.eye(4)]) * 0.02:
        assert objective(least + step) > objective(least)


def test_a_shift_gives_way_only_to_one_that_is_clearly_better() -> None:
    rng = np.random.default_rng(3)
    y = rng.random(400) < 0.5
    scores = np.where(y, 1.0, -1.0)[:, None] + rng.normal(size=(400, 1))

    def losses(table: np.ndarray, rows: np.ndarray) -> np.ndarray:
        return np.logaddexp(0.0, np.where(y[rows], -table[:, 0], table[:, 0]))

    def choose(first: float, counts: np.ndarray | None = None) -> str:
        both = {"balanced": np.full(1, first), "none": np.zeros(1)}
        counts = np.ones(400) if counts is None else counts
        return choose_shift(lambda rows: both, losses, scores, counts).kind

    assert choose(0.01) == "balanced"
    assert choose(1.5) == "none"
    assert choose(1.5, np.where(y, 1.9, 0.1)) == "balanced"  # as most of what counts is positive


def test_what_is_balanced_are_probabilities_at_the_temperature() -> None:
    rng = np.random.default_rng(4)
    y = rng.random(500) < 0.3
    scores = 0.5 * (np.where(y, 1.5, -1.5) + rng.normal(size=500))[:, None]  # all too small
    ones = np.ones_like(scores)

    kinds = shifts_of_rows(scores, y[:, None], ones)
    assert list(kinds) == ["balanced", "half", "none"]
    assert kinds["half"] == pytest.approx(kinds["balanced"] / 2)
    shifted = scores + kinds["balanced"]
    first = scores + balanced(scores, y[:, None], ones)
    # Nearly as many are found as there are, where at T = 1 hardly half of them are.
    assert np.sum(first > 0.0) < 0.5 * y.sum()
    assert np.sum(shifted > 0.0) == pytest.approx(y.sum(), rel=0.2)

    loss = row_loss(shifted, y[:, None], ones)
    assert loss(0.5) < loss(1.0)  # so it is not at T = 1 that probabilities sum to the documents
    assert sigmoid(shifted).sum() > 1.05 * y.sum()
    twice = np.repeat(np.arange(500), 1 + np.arange(500) % 2)
    copied = shifts_of_rows(scores[twice], y[twice, None], np.ones((len(twice), 1)))
    weighted = shifts_of_rows(scores, y[:, None], 1.0 + np.arange(500)[:, None] % 2)
    assert weighted["balanced"] == pytest.approx(copied["balanced"])
    certain = 10.0 * np.where(y, 1.0, -1.0)[:, None] + 3.0
    (between,) = shifts_of_rows(certain, y[:, None], ones)["balanced"]
    assert between == pytest.approx(-3.0, abs=3.0)  # where all are told apart, not at an edge


def reviews(n: int, seed: int, share: float = 0.2) -> tuple[list[str], list[str]]:
    """Texts of which a fifth is good, with words of their own."""
    rng = np.random.default_rng(seed)
    labels = ["good" if rng.random() < share else "bad" for _ in range(n)]
    words = {"good": ["fine", "great", "warm"], "bad": ["dull", "broken", "cold"]}
    every = [*words["good"], *words["bad"]]
    texts = []
    for row, label in enumerate(labels):
        told = [str(rng.choice(words[label] if rng.random() < 0.6 else every)) for _ in range(3)]
        texts.append(" ".join([*told, *(f"w{seed}x{row}y{at}" for at in range(6))]))
    return texts, labels


@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("multiclass", ["ovr", "softmax"])
def test_class_weights_are_not_undone_by_the_shift(labels: int, multiclass: str) -> None:
    rng = np.random.default_rng(7)
    shares = [0.9, 0.1] if labels == 2 else [0.8, 0.14, 0.06]
    words = np.array([f"w{at}" for at in range(300)])

    def texts(n: int) -> tuple[list[str], np.ndarray]:
        codes = rng.choice(labels, n, p=shares)
        chances = np.ones((labels, 300))
        for label in range(labels):
            chances[label, 20 * label : 20 * label + 20] = 3.0
        chances /= chances.sum(axis=1, keepdims=True)
        rows = [" ".join(rng.choice(words, 12, p=chances[code])) for code in codes]
        return rows, np.array(list("abc"))[codes]

    train, test = texts(900), texts(1500)
    options: Any = {"reg": "ridge", "reg_l2": 0.05, "tokenizer": "words", "multiclass": multiclass}
    recalls = []
    for class_weight in (None, "balanced"):
        model = textreg.train(*train, class_weight=class_weight, **options, cv=3)
        answers = np.array(model.predict(test[0]))
        recalls.append([np.mean(answers[test[1] == it] == it) for it in "abc"[:labels]])
    plain, weighted = np.array(recalls)
    assert weighted[1:].mean() > plain[1:].mean() + 0.25  # of the rare labels
    assert weighted.mean() > plain.mean() + 0.1


def test_new_texts_are_answered_better(tmp_path: Path) -> None:
    texts, labels = reviews(60, seed=1)
    new, true = reviews(500, seed=2)
    options = {"reg": "ridge", "tokenizer": "words", "weighting": "unit-idf"}
    shifted = textreg.train(texts, labels, **options)
    fitted = textreg.train(texts, labels, intercept="fitted", **options)
    assert (shifted.weights == fitted.weights).all()
    assert shifted.summary.objective == fitted.summary.objective
    assert fitted.summary.shift is None
    shift = shifted.summary.shift
    assert shift is not None
    assert shift.kind == "balanced"
    assert shifted.intercepts == pytest.approx(fitted.intercepts + shift.values)

    def right(model: textreg.Model) -> float:
        return float(np.mean([a == b for a, b in zip(model.predict(new), true, strict=True)]))

    assert right(shifted) > right(fitted) + 0.02
    shifted.save(tmp_path / "m.textreg")
    again = textreg.load(tmp_path / "m.textreg")
    assert again.summary == shifted.summary
    assert (again.predict_proba(new) == shifted.predict_proba(new)).all()


def test_strengths_that_are_given_leave_the_fit_as_it_is() -> None:
    texts, labels = reviews(60, seed=1)
    options = {"reg": "ridge", "reg_l2": 0.01, "tokenizer": "words"}
    model = textreg.train(texts, labels, **options)
    assert (model.summary.shift, model.calibration) == (None, None)
    asked = textreg.train(texts, labels, intercept="left-out", calibrate="none", **options)
    assert asked.summary.shift is not None
    assert asked.calibration is None
    assert asked.weights == pytest.approx(model.weights, abs=0.01)


def test_an_update_without_the_old_texts_keeps_the_shift() -> None:
    texts, labels = reviews(60, seed=1)
    options = {"reg": "ridge", "reg_l2": 0.01, "tokenizer": "words"}
    new = reviews(10, seed=3)
    fitted = textreg.update(textreg.train(texts, labels, intercept="fitted", **options), *new)
    shifted = textreg.train(texts, labels, intercept="left-out", **options)
    newer = textreg.update(shifted, *new)
    assert newer.summary.shift == shifted.summary.shift
    expected = fitted.intercepts + newer.summary.shift.values
    assert newer.intercepts == pytest.approx(expected, abs=0.02)


def test_documents_in_blocks_are_shifted_by_a_part_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts, labels = reviews(200, seed=1)
    options = {"reg": "ridge", "tokenizer": "words", "holdout": 0.1, "weighting": "unit-idf"}
    fifths = textreg.train(texts, labels, **options)
    # Where documents are many there are no further fits either, each of which leaves out a fifth.
    monkeypatch.setattr(prepare, "FEW", 10)
    model = textreg.train(texts, labels, memory="1GB", **options)
    here = textreg.train(texts, labels, **options)
    assert model.summary.shift.values == pytest.approx(here.summary.shift.values, rel=1e-2)
    assert model.calibration.temperature == pytest.approx(here.calibration.temperature, rel=1e-2)
    assert abs(model.summary.shift.values[0] - fifths.summary.shift.values[0]) > 0.1


def test_a_matrix_has_the_shift_too() -> None:
    X, y = few()
    shifted = LinearClassifier("ridge", cv=3).fit(X, y)
    alone = LinearClassifier(shifted.reg_).fit(X, y)
    assert shifted.coef_ == pytest.approx(alone.coef_, abs=1e-2)
    assert abs(shifted.intercept_[0] - alone.intercept_[0]) > 0.05


@pytest.mark.parametrize("task", [{}, {"task": "regression"}])
def test_without_probabilities_there_is_no_shift(task: dict[str, str]) -> None:
    texts, labels = reviews(30, seed=1)
    y = [len(text) for text in texts] if task else labels
    loss = {} if task else {"loss": "hinge"}
    assert textreg.train(texts, y, reg="ridge", **loss, **task).summary.shift is None
    with pytest.raises(UsageError, match="no probabilities: leave out intercept"):
        textreg.train(texts, y, reg="ridge", intercept="left-out", **loss, **task)


@pytest.mark.parametrize("multiclass", ["ovr", "softmax"])
@pytest.mark.parametrize("labels", [["a", "b"], ["a", "b", "c"]])
def test_what_is_always_right_is_not_certain(labels: list[str], multiclass: str) -> None:
    """Laplace's rule: n documents cannot show that a label is never wrong."""
    n = 15 * len(labels)
    texts, y = [f"{label * 3} and so on" for label in labels] * 15, labels * 15
    model = textreg.train(texts, y, reg="ridge", multiclass=multiclass, tokenizer="words")
    wrong = 1 - model.predict_proba(texts).max(axis=1)
    assert (wrong > 0.1 / n).all()
    assert (wrong < 10 / n).all()


@pytest.mark.parametrize("labels", ["ab", "abc"])
@pytest.mark.parametrize("sets", [False, True])
def test_one_document_tells_of_no_shift(labels: str, sets: bool) -> None:
    texts, y = [f"{label * 3} and so on" for label in labels] * 9, list(labels) * 9
    answers = [[label] for label in y] if sets else y
    dev = texts[:1], answers[:1]
    model = textreg.train(texts, answers, reg="ridge", dev=dev, refit=False)
    assert model.summary.shift == ShiftSummary("none", (0.0,) * len(model.intercepts))


def fold(**options: Any) -> Fold:
    """Two documents to fit and two that are held out, of five features."""
    X = csr_array([[3.0, 0.0, 0.0, 2.0, 0.0], [0.0, 4.0, 0.0, 1.0, 0.0]])
    held = csr_array([[3.0, 4.0, 6.0, 8.0, 5.0], [0.0, 0.0, 7.0, 0.0, 9.0]])
    y = np.array([0, 1])
    if (within := options.get("within")) is not None:
        X = csr_array(vstack([X, held[within]]))
    problem = Problem(X, np.resize([1.0, -1.0], X.shape[0]))
    return Fold(problem, OneVsRest(("a", "b")), y, X_held=held, y_held=y, **options)


@pytest.mark.parametrize(
    "within", [None, *map(np.array, [[False, False], [True, False], [False, True], [True, True]])]
)
def test_held_out_documents_are_seen_as_new_ones(within: Any) -> None:
    """What no fitted document has is dropped, and rows of length 1 are that long again."""
    plain = fold(within=within)
    assert plain.X_new().toarray().tolist() == [[3, 4, 0, 8, 0], [0, 0, 0, 0, 0]]
    assert plain.X_new().nnz == 3
    assert plain.X_measured is plain.X_held
    assert plain.X_held.nnz == 7  # which stays as it is
    normed = fold(within=within, normed=((0, 3), (3, 5))).X_new()
    assert normed.toarray().tolist() == [[0.6, 0.8, 0, 1, 0], [0, 0, 0, 0, 0]]
    half = fold(within=within, normed=((1, 3),))
    assert half.X_new().toarray().tolist() == [[3, 1, 0, 8, 0], [0, 0, 0, 0, 0]]
    other = half.X_new(csr_array([[0.0, 2.0, 2.0, 2.0, 2.0]]))
    assert other.toarray().tolist() == [[0, 1, 0, 2, 0]]


def test_the_search_measures_them_so() -> None:
    """Scores are those of rows of length 1, over the features that fitted documents have."""
    split, ridge = fold(normed=((0, 3), (3, 5))), Ridge(l2=0.1)
    ((trial,),) = trials.solve_chunk((split, [0], [ridge], [None]), ALONE.run("fit", 1))
    found = ridge.solve(split.of(0))
    expected, raw = (X @ found.w + found.b for X in (split.X_new(), split.X_held))
    assert trial.scores == pytest.approx(expected, abs=1e-3)
    assert np.abs(raw - expected).max() > 0.2


def test_how_much_documents_count() -> None:
    texts = ["good", "bad", "fine", "dull", "good bad", "so so"]
    weights = [1.0, 2.0, 1.0, 0.0, 0.0, 1.0]
    corpus = Corpus(texts, ["p", "n", "p", "n", "o", "o"], sample_weight=weights)
    settings = TrainingSettings.from_options(
        reg="ridge", reg_l2=1.0, class_weight={"p": 3.0}, tokenizer="words"
    )
    target = read_training(corpus, settings).target
    data = prepare.prepare(corpus, target, settings)
    rows = np.array([0, 1, 3])
    counted = data.counts(rows)
    assert counted is not None
    assert counted.tolist() == [1.0, 2.0, 0.0]
    assert data.counts(np.array([3, 4])) is None
    assert replace(data, own_weight=np.ones(6)).counts(rows) is None
    assert data.row_weights(rows).tolist() == [[3, 3, 3], [2, 2, 2], [0, 0, 0]]
    # Labels are n, o, p, and these the factors of the others and of their own documents.
    factors = np.array([[1.0, 2.0], [1.0, 3.0], [5.0, 7.0]])
    by_label = replace(data, row_factors=factors).row_weights(rows)
    assert by_label.tolist() == [[3, 3, 21], [4, 2, 10], [0, 0, 0]]
    split = Split(np.array([0, 2]), np.array([1, 3]))
    every = np.arange(6)
    part = data.without(data.problems(every, 1e-9), every, split)
    assert part.problem.sample_weight.tolist() == [
        weight if row in split.train else 0.0 for row, weight in enumerate(data.sample_weight)
    ]
    assert part.within is not None
    assert (part.within.tolist(), part.problem.tol) == ([True, True], prepare.SEARCH_TOL)
    some = data.without(data.problems(every[:3], 1e-9), every[:3], split).within
    assert some is not None
    assert some.tolist() == [True, False]
    assert part.y_held.tolist() == target.y[[1, 3]].tolist()
    assert data.fold(split).within is None
    assert data.fold(split).problem.design.shape[0] == 2
    loose = replace(data, settings=settings.replace(tol=0.01))
    assert loose.fold(split).problem.tol == 0.01
    assert loose.without(data.problems(every, 1e-9), every, split).problem.tol == 0.01
    assert data.fold(split).shift_weights is not None
    kept = replace(data, settings=settings.replace(intercept="fitted"))
    assert kept.fold(split).shift_weights is None
    assert replace(data, fit_intercept=False).fold(split).shift_weights is None


def test_which_documents_are_left_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepare, "FEW", 10)
    task = OneVsRest(("a", "b"))

    def parts(n: int, count: int = 1, refit: bool = True, **documents: Any) -> list[int]:
        settings = SimpleNamespace(refit=refit, seed=0)
        y = np.append(np.arange(n) % 2, 2)  # the last one has a label that is not fitted
        splits = [Split(np.arange(1), np.arange(1))] * count
        data: Any = SimpleNamespace(settings=settings, task=task, y=y, splits=splits)
        given: Any = SimpleNamespace(**{"by": None, "outside": None, "texts": (), **documents})
        found = prepare.left_out_splits(data, given)
        if len(found) == 5:
            assert sorted(np.concatenate([it.held for it in found]).tolist()) == list(range(n))
        return [len(split.held) for split in found]

    assert parts(10) == [2] * 5
    assert parts(11) == [1]
    assert parts(1) == [1]
    assert parts(10, count=2) == [1, 1]
    assert parts(10, refit=False) == parts(10, by="group") == parts(10, outside="corpus") == [1]


def test_what_documents_of_the_unknown_label_count() -> None:
    corpus, outside = Corpus(["a"] * 10), Corpus(["b"] * 2)
    weighed = Corpus(["b"] * 2, sample_weight=[1.0, 4.0])
    splits = [Split(np.arange(8), np.arange(8, 10)), Split(np.arange(2, 10), np.arange(2))]
    some: Any = None

    def weights(share: float | None, documents: Corpus | None) -> Any:
        found = Training(corpus, some, some, {}, documents, share).weighed(splits)
        return None if found is None else found.sample_weight.tolist()

    assert weights(None, None) is None
    assert weights(None, outside) == [0.4, 0.4]  # the share of the others that is held out
    assert weights(None, weighed) == [0.4, 1.6]
    assert weights(1.0, weighed) == [1.0, 4.0]


def test_where_further_fits_are_stopped_those_of_the_search_say_what_is_learned(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts, answers = reviews(200, seed=1)
    dev = reviews(1100, seed=2)  # so many that they alone judge the settings
    options: dict[str, Any] = {"reg": "ridge", "tokenizer": "words", "dev": dev}
    usual = textreg.train(texts, answers, **options)
    alone = textreg.train(texts, answers, refit=False, **options)
    fit_rows, fits = fit.fit_rows, [0]

    def stopped_after_the_first(*args: Any, **kwargs: Any) -> Any:
        found, why = fit_rows(*args, **kwargs)
        fits[0] += 1
        return found, why if fits[0] == 1 else "interrupted"

    monkeypatch.setattr(fit, "fit_rows", stopped_after_the_first)
    model = textreg.train(texts, answers, **options)
    assert fits[0] > 1
    assert (model.weights == usual.weights).all()
    # Nearly, as the idf of a model that is fitted on dev documents counts them, too.
    assert model.calibration.temperature == pytest.approx(alone.calibration.temperature, rel=0.01)
    assert model.summary.shift.kind == "balanced"
    assert usual.calibration.temperature != pytest.approx(model.calibration.temperature, rel=0.01)
