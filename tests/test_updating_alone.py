"""Updates without the old documents: what stands for them, and how near that comes."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Cli
from test_updating import NEW, OLD, THREE, documents, objectives_agree, together, write

from textreg import Model, load, train, update
from textreg.errors import ConvergenceWarning, UsageError
from textreg.losses import find_loss
from textreg.penalties import Separable
from textreg.records import Problem, Solution
from textreg.solvers.newton import newton
from textreg.training.update import anchors, fit, strengths_of, widen

TEST = documents(200, 60, 7)
RIDGE: dict[str, Any] = {"reg": "ridge", "reg_l2": 0.05, "tokenizer": "words"}


@pytest.mark.parametrize("weighting", ["tfidf", "unit-idf"])
@pytest.mark.parametrize("tokenizer", ["words", "words,chars"])
def test_features_and_values_are_those_of_all_documents(tokenizer: str, weighting: str) -> None:
    model = train(*OLD, **{**RIDGE, "tokenizer": tokenizer}, weighting=weighting, prune=0.0)
    widened = widen(model.encoder, NEW[0], len(OLD[0]))
    every = update(model, *NEW, old=OLD).encoder
    assert list(widened.encoder.names) == list(every.names)
    expected = every.transform(NEW[0])
    assert widened.X.has_sorted_indices
    np.testing.assert_array_equal(widened.X.indices, expected.indices)
    np.testing.assert_allclose(widened.X.data, expected.data, rtol=1e-12)
    np.testing.assert_allclose(widened.encoder.transform(NEW[0]).data, expected.data, rtol=1e-12)
    # The number of old documents with each feature, from its idf alone.
    rows = model.encoder.transform(OLD[0])
    counts = np.bincount(rows.indices, minlength=rows.shape[1])
    np.testing.assert_allclose(widened.before[widened.columns], counts, rtol=1e-9)
    # Scores of the model stay, though idf changes; but for the lengths of rows.
    scores = expected[:, widened.columns] @ (model.weights[0] * widened.scale)
    usual = model.encoder.transform(NEW[0]) @ model.weights[0]
    if weighting == "tfidf":
        assert np.corrcoef(scores, usual)[0, 1] > 0.9
    else:
        np.testing.assert_allclose(scores, usual, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("reg", ["ridge", "lasso", "sentence"])
def test_comes_near_to_retraining(reg: str) -> None:
    model = train(*OLD, reg=reg, tokenizer="words", cv=2)
    alone, every = update(model, *NEW), update(model, *NEW, old=OLD)
    assert alone.summary is not None
    assert alone.summary.converged
    assert alone.summary.gap is not None
    assert 0.0 <= alone.summary.gap <= 1e-4
    assert alone.summary.documents == 160
    assert alone.summary.updates[0].old is None
    old, near, full = (one.decision_function(TEST[0]) for one in (model, alone, every))
    assert np.abs(near - full).mean() < 0.7 * np.abs(old - full).mean()


def test_one_document_moves_little() -> None:
    model = train(*OLD, **RIDGE)
    alone = update(model, NEW[0][:1], NEW[1][:1])
    before, after = (one.decision_function(TEST[0]) for one in (model, alone))
    assert 0.0 < np.abs(before - after).mean() < 0.3 * np.abs(before).mean()


def test_again_and_again(tmp_path: Path) -> None:
    model = train(*OLD, **RIDGE)
    for start in range(0, 40, 10):
        part = NEW[0][start : start + 10], NEW[1][start : start + 10]
        model = update(model, *part, date="2026-01-31")
    model.save(tmp_path / "model.textreg")
    summary = load(tmp_path / "model.textreg").summary
    assert summary is not None
    assert (summary.documents, len(summary.updates)) == (160, 4)
    assert sum(summary.labels.values()) == 160
    every = update(train(*OLD, **RIDGE), *NEW, old=OLD)
    scores = [one.decision_function(TEST[0]) for one in (model, every)]
    assert np.corrcoef(*scores)[0, 1] > 0.9


def test_several_rows_and_numbers() -> None:
    model = train(*together(OLD, THREE), **RIDGE)
    alone = update(model, *NEW)  # without a document of one of the labels
    assert alone.labels == model.labels
    assert alone.summary is not None
    assert alone.summary.labels == update(model, *NEW, old=together(OLD, THREE)).summary.labels  # type: ignore[union-attr]
    numbers = [[str(text.count("w1")) for text in texts] for texts in (OLD[0], NEW[0])]
    model = train(OLD[0], numbers[0], task="regression", **RIDGE)
    alone, every = (
        update(model, NEW[0], numbers[1]),
        update(model, NEW[0], numbers[1], old=(OLD[0], numbers[0])),
    )
    assert alone.summary is not None
    assert every.summary is not None
    assert alone.summary.labels == pytest.approx(every.summary.labels)


def test_documents_of_the_unknown_label_are_left_out() -> None:
    labels, new = (
        [label if at % 4 else "?" for at, label in enumerate(one)] for one in (OLD[1], NEW[1])
    )
    model = train(OLD[0], labels, unknown="?", **RIDGE)
    known = [(text, label) for text, label in zip(NEW[0], new, strict=True) if label != "?"]
    every, alone = update(model, NEW[0], new), update(model, *zip(*known, strict=True))
    np.testing.assert_array_equal(every.weights, alone.weights)
    assert every.summary is not None
    assert model.summary is not None
    assert every.summary.documents == model.summary.documents + len(known)


def test_what_was_held_out_is_not_told_as_its_own(tmp_path: Path, cli: Cli) -> None:
    model = train(*OLD, reg="ridge", tokenizer="words", holdout=0.25, threshold={"pos": "f1"})
    newer = update(model, *NEW)
    assert model.summary is not None
    assert newer.summary is not None
    assert model.summary.dev is not None
    assert len(model.summary.search) > 1
    assert (newer.summary.dev, newer.summary.search) == (None, ())
    # How the strengths and the threshold were chosen is still so; what they reached is not.
    assert newer.summary.split == model.summary.split
    assert newer.thresholds == model.thresholds
    before, after = (one.summary.thresholds["pos"] for one in (model, newer))  # type: ignore[union-attr]
    assert (after.rule, after.value) == (before.rule, before.value)
    assert before.precision is not None
    assert (after.precision, after.recall) == (None, None)
    saved = tmp_path / "model.textreg"
    newer.save(saved)
    assert load(saved).summary == newer.summary
    shown = cli("show", str(saved))
    assert shown.code == 0, shown.err
    assert "accuracy" not in shown.out
    assert json.loads(cli("show", str(saved), "--json").out)["dev"] is None
    # Documents that are held out again are measured again.
    exact = update(newer, *THREE, old=together(OLD, NEW)).summary
    assert exact is not None
    assert exact.thresholds["pos"].precision is not None


def test_the_command_tells_no_older_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli
) -> None:
    monkeypatch.chdir(tmp_path)
    write("old.csv", (OLD[0], [label if at % 5 else "?" for at, label in enumerate(OLD[1])]))
    write("new.csv", NEW)
    given = "--tokenizer words --reg ridge --unknown ? --threshold pos=f1".split()
    made = cli("train", "old.csv", *given, "-o", "old.textreg")
    assert made.code == 0, made.err
    assert "there coverage" in made.out
    assert "there precision" in made.out
    result = cli("update", "old.textreg", "new.csv", "-o", "new.textreg")
    assert result.code == 0, result.err
    assert result.out.count("; chosen before the update)") == 2
    assert "there coverage" not in result.out
    assert "there precision" not in result.out


def test_threads_are_used_and_change_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = train(*together(OLD, THREE), **RIDGE)
    threads = []

    def noted(*arguments: Any) -> Solution:
        threads.append(threading.current_thread())
        return fit(*arguments)

    monkeypatch.setattr("textreg.training.update.fit", noted)
    for jobs in (1, 3):
        update(model, *NEW, jobs=jobs, date="2026-01-31").save(tmp_path / f"{jobs}.textreg")
    assert (tmp_path / "1.textreg").read_bytes() == (tmp_path / "3.textreg").read_bytes()
    assert len(threads) == 6
    assert set(threads[:3]) == {threading.main_thread()}
    assert threading.main_thread() not in threads[3:]
    with pytest.raises(UsageError, match="jobs must be 1 or more"):
        update(model, *NEW, jobs=0)


def test_a_missed_tolerance_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    model = train(*OLD, **RIDGE)

    def halting(*arguments: Any) -> Solution:
        return replace(fit(*arguments), converged=False)

    monkeypatch.setattr("textreg.training.update.fit", halting)
    with pytest.warns(ConvergenceWarning, match=r"stopped before its tolerance: .* where 0\.0001"):
        update(model, *NEW)


@pytest.mark.parametrize("loss", ["logistic", "squared-hinge", "squared"])
@pytest.mark.parametrize("b", [-0.7, 0.0, 0.4])
def test_anchors_hold_the_intercept(loss: str, b: float) -> None:
    found = find_loss(loss)
    y, c = anchors(found, b, 5.0)
    r, h = np.empty(len(y)), np.empty(len(y))
    found.derivatives(np.full(len(y), b), y, c, r, h)
    assert r.sum() == pytest.approx(0.0, abs=1e-9)
    assert h.sum() == pytest.approx(5.0)


def test_newton_toward_a_center() -> None:
    random = np.random.default_rng(0)
    X, y = random.normal(size=(30, 8)), random.normal(size=30)
    q, mu = random.uniform(0.5, 2.0, 8), random.normal(size=8)
    problem = Problem(X, y, loss="squared", fit_intercept=False, tol=1e-10)
    solution = newton(problem, Separable(q=q, mu=mu, lam=np.zeros(8)))
    # The squared loss is half of the square.
    expected = np.linalg.solve(X.T @ X + np.diag(q), X.T @ y + q * mu)
    np.testing.assert_allclose(solution.w, expected, rtol=1e-5)
    assert solution.converged
    assert 0.0 <= solution.gap <= 1e-10
    sparse = newton(problem, Separable(q=q, mu=mu, lam=np.full(8, 0.5)))
    assert sparse.converged
    moved = sparse.objective
    for step in random.normal(size=(200, 8)) * 1e-3:
        z = X @ (sparse.w + step)
        value = 0.5 * ((z - y) ** 2).sum() + Separable(q, mu, np.full(8, 0.5)).value(
            sparse.w + step
        )
        assert value >= moved * (1.0 - sparse.gap) - 1e-12


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"multiclass": "softmax"}, "a softmax cannot be updated"),
        ({"weighting": "count"}, "its weighting is tfidf or unit-idf"),
        ({"class_weight": "balanced"}, "class weights follow"),
        ({"reg": "omp", "reg_budget": 5}, "no penalty that is the same for all single features"),
        ({"reg_weights": "documents"}, "no penalty that is the same for all single features"),
    ],
)
def test_what_needs_the_old_documents(given: dict[str, Any], message: str) -> None:
    model = train(*together(OLD, THREE), **{**RIDGE, **given})
    with pytest.raises(UsageError, match=message):
        update(model, *NEW)


def test_strengths_of_new_features() -> None:
    from textreg import Elastic, Group, Sentence

    assert strengths_of(Elastic(l1=0.5, l2=0.1)) == (0.5, 0.1)
    assert strengths_of(Sentence(group=0.3, l1=0.0, l2=0.0)) == (0.3, 0.0)
    assert strengths_of(Group(group=0.3, l1=0.2, l2=0.0)) == (0.2, 0.0)


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli) -> None:
    monkeypatch.chdir(tmp_path)
    write("old.csv", OLD)
    write("new.csv", NEW)
    fixed = "--tokenizer words --reg ridge --reg-l2 0.05".split()
    assert cli("train", "old.csv", *fixed, "-o", "old.textreg").code == 0
    result = cli("update", "old.textreg", "new.csv", "-o", "new.textreg")
    assert result.code == 0, result.err
    assert "approximately, without the old documents" in result.out
    assert "approximately" in cli("show", "new.textreg").out
    refused = cli("show", "new.textreg", "--command")
    assert refused.code == 1
    assert "no command of train makes this model" in refused.err
    # With all documents it is exact again.
    words = ["update", "new.textreg", "new.csv", "--old", "old.csv", "-o", "both.textreg"]
    assert cli(*words).code == 0
    both = load("both.textreg")
    objectives_agree(both, update(load("old.textreg"), *NEW, old=OLD))


def test_unlabeled_documents_stay_on_record(tmp_path: Path, cli: Cli) -> None:
    """They are not asked for, as they are in the weights; with the old documents they will be."""
    old, more, new = (
        write(str(tmp_path / f"{name}.csv"), documents(n, 30, seed))
        for name, n, seed in (("old", 60, 1), ("more", 200, 2), ("new", 20, 3))
    )
    model, newer = tmp_path / "old.textreg", tmp_path / "new.textreg"
    options = ["--text-col", "text", "--label-col", "label", "--reg", "ridge", "--reg-l2", "1"]
    cli("train", old, "--unlabeled", more, *options, "--tokenizer", "words", "-o", model)
    ignored = cli("update", model, new, "--unlabeled", more, "-o", newer)
    assert (ignored.code, newer.exists()) == (2, False)
    assert "beside the old ones alone: give these (--old)" in ignored.err
    updated = cli("update", model, new, "-o", newer)
    assert updated.code == 0, updated.err
    again = cli("update", newer, new, "--old", old, "-o", newer)
    assert f"give them again (--unlabeled {more})" in again.err


def letters(n: int, first: int, last: int, seed: int) -> list[str]:
    """Documents of four different words: but for idf all occurrences have the same value."""
    rng = np.random.default_rng(seed)
    drawn = [rng.permutation(np.arange(first, last))[:4] for _ in range(n)]
    return [" ".join(f"w{at:02}" for at in words) + "." for words in drawn]


def positions(newer: Model, model: Model) -> list[int]:
    """Where the features of a model are in a newer one."""
    names = list(newer.encoder.names)
    return [names.index(name) for name in model.encoder.names]


def center(newer: Model, model: Model) -> Any:
    """The weights for which scores of the newer features are those of the model."""
    v = np.zeros((len(model.weights), newer.n_features))
    at = positions(newer, model)
    v[:, at] = model.weights * model.encoder.idf / newer.encoder.idf[at]
    return v


def test_what_stands_for_the_old_documents_is_their_loss() -> None:
    """Under the squared loss, with the exact diagonal of its Hessian, and zero gradient at v."""
    old, new = letters(150, 0, 20, 1), letters(40, 8, 26, 2)
    rng = np.random.default_rng(3)
    targets = [rng.normal(2.0, 1.0, len(part)) for part in (old, new)]
    l2 = 0.05
    model = train(
        old, [str(y) for y in targets[0]], task="regression", ngrams=1, tol=1e-13, prune=0.0,
        weighting="unit-idf", **{**RIDGE, "reg_l2": l2},
    )  # fmt: skip
    newer = update(model, new, [str(y) for y in targets[1]])
    X_old, X = (newer.encoder.transform(part).toarray() for part in (old, new))
    assert (X_old == 0.0).all(axis=0).any(), "some words are new"
    v = center(newer, model)[0]
    # min 1/2 sum_i (x_i w + b - y_i)^2 + 1/2 (w - v)'(H + 2 l2)(w - v) + 1/2 n (b - b_old)^2
    A = np.column_stack([X, np.ones(len(X))])
    hessian = np.append((X_old**2).sum(axis=0) + 2.0 * l2, len(old))
    before = np.append(v, model.intercepts[0])
    expected = np.linalg.solve(
        A.T @ A + np.diag(hessian),
        A.T @ targets[1] + hessian * before,
    )
    found = np.append(newer.weights[0], newer.intercepts[0])
    assert np.abs(found - before).max() > 0.05
    np.testing.assert_allclose(found, expected, atol=1e-5 * np.abs(found - before).max())


@pytest.mark.parametrize("strengths", [{"reg_l2": 0.05}, {"reg_l1": 0.02, "reg_l2": 0.05}])
def test_an_update_is_the_minimum_of_what_it_says(strengths: dict[str, float]) -> None:
    """For logistic loss and three labels, from the formulas alone.

    Curvatures of documents are those of the new ones at the model: a feature in d old documents
    has d times the mean over occurrences of h_i (x_ij / idf_j)^2, times idf_j^2.
    """
    old, new = together(OLD, THREE), documents(60, 90, 5, ("neg", "pos", "superb"))
    options = {"reg": "elastic" if len(strengths) > 1 else "ridge", "tokenizer": "words"}
    model = train(*old, ngrams=1, tol=1e-12, prune=0.0, **options, **strengths)
    weights = np.linspace(0.5, 2.0, len(new[0]))
    newer = update(model, *new, sample_weight=weights)
    X = newer.encoder.transform(new[0]).toarray()
    idf = newer.encoder.idf
    known = np.isin(np.arange(newer.n_features), positions(newer, model))
    assert not known.all()
    counts = (newer.encoder.transform(old[0]).toarray() != 0.0).sum(axis=0)
    l1, l2 = strengths.get("reg_l1", 0.0), strengths["reg_l2"]
    for row, v in enumerate(center(newer, model)):
        y = np.where(np.array(new[1]) == model.labels[row], 1.0, -1.0)
        b_old = model.intercepts[row]
        chance = 1.0 / (1.0 + np.exp(-(X @ v + b_old)))
        h = weights * chance * (1.0 - chance)
        shares = [
            h[i] * (X[i, j] / idf[j]) ** 2 for i, j in np.argwhere((X != 0.0) & known).tolist()
        ]
        d = np.where(known, counts, 0) * np.mean(shares) * idf**2
        w, b = newer.weights[row], newer.intercepts[row]
        r = weights * -y / (1.0 + np.exp(y * (X @ w + b)))
        slopes = X.T @ r + (d + 2.0 * l2) * (w - v)
        free = v == 0.0
        size = np.abs(X.T @ (weights * -y / (1.0 + np.exp(y * (X @ v + b_old))))).max()
        # Where the model has a weight there is no l1, elsewhere the slope is within l1.
        np.testing.assert_allclose(slopes[~free], 0.0, atol=1e-5 * size)
        away = free & (w != 0.0)
        np.testing.assert_allclose(slopes[away], -l1 * np.sign(w[away]), atol=1e-5 * size)
        assert (np.abs(slopes[free & (w == 0.0)]) <= l1 + 1e-5 * size).all()
        # The old documents hold the intercept as empty ones of their whole curvature would.
        held = np.mean(h) * len(old[0])
        y_empty, c_empty = anchors(find_loss("logistic"), b_old, held)
        pull = c_empty * -y_empty / (1.0 + np.exp(y_empty * b))
        assert r.sum() + pull.sum() == pytest.approx(0.0, abs=1e-5 * np.abs(r).sum())
