"""Weights that hardly count are left out after the fit, and what is said of it is true."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from conftest import Cli

import textreg
from textreg.demo import write_demo
from textreg.errors import UsageError
from textreg.model.model import Model
from textreg.model.summary import PruneSummary
from textreg.reading.corpus import read_corpus
from textreg.records import Solution, Unsmoothed
from textreg.training import fit


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[list[str], list[str]]:
    monkeypatch.setattr(fit, "LEAST", 50)
    write_demo(tmp_path / "demo")
    read = read_corpus(tmp_path / "demo" / "train.jsonl")
    assert read.labels is not None
    return list(read.texts), list(read.labels)


def trained(corpus: tuple[list[str], list[str]], **options: Any) -> Model:
    return textreg.train(*corpus, reg="ridge", reg_l2=0.1, **options)


def of(model: Model) -> PruneSummary | None:
    assert model.summary is not None
    return model.summary.pruned


def test_the_smallest_weights_go(corpus: tuple[list[str], list[str]]) -> None:
    whole, pruned = trained(corpus, prune=0), trained(corpus, prune=0.05)
    assert of(whole) is None
    said = of(pruned)
    assert said is not None
    assert (said.share, said.before) == (0.05, np.count_nonzero(whole.weights))
    assert said.after == np.count_nonzero(pruned.weights)
    assert 50 <= said.after < 0.9 * said.before

    texts = corpus[0]
    scale = dict(zip(whole.encoder.names, _squares(whole, texts), strict=True))
    kept = dict(zip(pruned.encoder.names, pruned.weights[0], strict=True))
    lost, left, total = 0.0, [], 0.0
    for name, weight in zip(whole.encoder.names, whole.weights[0], strict=True):
        variance = weight * weight * scale[name]
        total += variance
        if kept.get(name):
            assert abs(kept[name] - weight) <= 2.0**-fit.BITS * abs(weight)
            left.append(variance)
        else:
            lost += variance
    # Those that are equal go or stay together.
    equal = sum(variance for variance in left if variance <= 1.0001 * min(left))
    assert lost <= 0.05 * total < lost + equal
    same = np.array(pruned.predict(texts)) == np.array(whole.predict(texts))
    assert np.mean(same) > 0.98


def _squares(model: Model, texts: list[str]) -> Any:
    X = model.encoder.transform(texts)
    return X.multiply(X).mean(axis=0)


def test_the_gap_is_that_of_the_weights_that_are_left(corpus: tuple[list[str], list[str]]) -> None:
    def objective(model: Model) -> float:
        z = model.decision_function(corpus[0])
        y = np.where(np.array(corpus[1]) == model.labels[1], 1.0, -1.0)
        return float(np.logaddexp(0.0, -y * z).sum() + 0.1 * (model.weights**2).sum())

    whole, pruned = trained(corpus, prune=0, tol=1e-8), trained(corpus, prune=0.05, tol=1e-8)
    said = of(pruned)
    assert said is not None
    assert said.gap is not None
    assert said.gap > 1e-4
    assert pruned.summary is not None
    assert pruned.summary.gap is not None
    assert pruned.summary.gap < 1e-8
    found = (objective(pruned) - objective(whole)) / objective(pruned)
    assert found == pytest.approx(said.gap, rel=1e-3)


def test_weights_that_are_not_allowed_have_no_gap(corpus: tuple[list[str], list[str]]) -> None:
    model = textreg.train(corpus[0][:80], corpus[1][:80], reg="pcr", reg_l2=0.1, prune=0.05)
    said = of(model)
    assert said is not None
    assert said.gap is None


def test_small_models_are_left_alone(corpus: tuple[list[str], list[str]]) -> None:
    model = textreg.train(*corpus, reg="lasso", reg_l1=5.0, prune=0.5)
    assert of(model) is None
    assert np.count_nonzero(model.weights) <= 50


def test_the_least_that_is_kept(corpus: tuple[list[str], list[str]]) -> None:
    assert 50 <= np.count_nonzero(trained(corpus, prune=0.99).weights) < 55


@pytest.mark.parametrize("shift", [31, 23, 21, 17])
def test_variances_are_counted_in_bins(monkeypatch: pytest.MonkeyPatch, shift: int) -> None:
    """As many weights go with any width of the bins, and all that stay are shortened."""
    monkeypatch.setattr(fit, "SHIFT", shift)
    random = np.random.default_rng(0)
    w = random.normal(size=(2, 20))
    w[1, 5:9] = 0.0
    squares = random.uniform(0.5, 2.0, 20).astype(np.float32)
    variance = np.sort((w**2 * squares).ravel())
    for share in (0.05, 0.3, 0.6):
        pruned = w.copy()
        fit.leave_out(pruned, squares, share, 1)
        out = int(np.searchsorted(np.cumsum(variance), share * variance.sum(), side="right"))
        assert np.count_nonzero(pruned) == w.size - out
        stays = pruned != 0.0
        assert (w**2 * squares)[stays].min() >= variance[out] * (1.0 - 1e-6)
        # The nearest numbers of so many bits.
        scale = 2.0 ** (fit.BITS - np.floor(np.log2(np.abs(w[stays]))) - 1.0)
        assert (pruned[stays] == np.round(w[stays] * scale) / scale).all()


def test_a_feature_without_variance_adds_none_whatever_its_weight() -> None:
    w = np.array([[1e25, 3.0, -2.0, -1e25, 0.1]])
    fit.leave_out(w, np.array([0.0, 1.0, 1.0, 0.0, 1.0], dtype=np.float32), 0.01, 1)
    np.testing.assert_array_equal(w, [[0.0, 3.0, -2.0, 0.0, 0.0]])


@pytest.mark.parametrize("share", [-0.1, 1.0, 2, float("nan")])
def test_other_shares_are_refused(corpus: tuple[list[str], list[str]], share: float) -> None:
    with pytest.raises(UsageError, match="prune must be a share from 0 to less than 1"):
        trained(corpus, prune=share)


def test_the_command_says_so(
    corpus: tuple[list[str], list[str]], tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = cli("train", "demo/train.jsonl", "--reg", "ridge", "--reg-l2", 0.1, "--prune", 0.05)
    assert done.code == 0, done.err
    assert "weights kept, with 95.0% of the variance of the scores, gap " in done.out


def test_rows_are_pruned_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    room: list[tuple[int, str]] = []
    monkeypatch.setattr(fit, "check_room", lambda size, what, hint: room.append((size, what)))
    design = SimpleNamespace(shape=(4, 5), curvature=lambda ones: np.array([4, 4, 8, 8, 16]))
    task = SimpleNamespace(n_rows=3, joint=False)
    problems: Any = SimpleNamespace(problem=SimpleNamespace(design=design), task=task)
    some: Any = None
    keep = fit.PrunedRows(some, problems, 0.3)
    # w^2 mean(x^2): .01, 1, .02, 2, 4, of which 30 % are 2.1 and so the smallest three.
    first = np.array([0.1, 1.0, 0.1, 1.0, -1.0])
    keep.take(1, first)
    assert first[0] == 0.1  # the solver's own weights stay
    keep.take(0, np.array([0.0, 0.25, 0.0, 0.0, 0.0]))
    assert keep.table().toarray().tolist() == [[0, 0.25, 0, 0, 0], [0, 0, 0, 1, -1]]
    what = "the weights of 3 labels"
    assert room == [(12 * 2 * 3, what), (12 * 3 * 3 // 2, what)]
    fitted: Any = SimpleNamespace(gap=float("nan"))
    assert keep.summary(fitted) is None  # all are few
    monkeypatch.setattr(fit, "LEAST", 6)
    assert keep.summary(fitted) is None
    monkeypatch.setattr(fit, "LEAST", 5)
    assert keep.summary(fitted) == PruneSummary(0.3, before=6, after=3, gap=None)
    lone = fit.PrunedRows(some, problems, 0.3)
    lone.take(0, np.array([0.1, 0.0, 0.0, 1.0, 0.0]))
    assert lone.table().toarray().tolist() == [[0, 0, 0, 1, 0]]
    whole = fit.PrunedRows(some, problems, 0.0)
    whole.take(0, first)
    assert whole.table().toarray().tolist() == [first.tolist()]
    assert whole.summary(fitted) is None


def test_separate_fits_are_summed_up() -> None:
    first = Solution(np.zeros(2), 1.0, 3.0, gap=0.25, iterations=4, converged=True)
    second = Solution(np.zeros(2), -2.0, 5.0, gap=0.5, iterations=7, converged=True)
    weights = np.array([[1.0, 2.0], [3.0, 4.0]])
    whole = fit.join([first, second], weights)
    assert (whole.objective, whole.gap, whole.iterations, whole.converged) == (8.0, 0.5, 11, True)
    assert (whole.w.tolist(), whole.b.tolist()) == (weights.tolist(), [1.0, -2.0])
    assert whole.unsmoothed is whole.group_norms is None
    part = replace(first, group_norms=np.array([1.0, 4.0]), unsmoothed=Unsmoothed(2.0, 0.1))
    assert fit.join([part, second], weights).unsmoothed is None
    assert fit.join([part, second], weights).group_norms is None
    other = replace(
        second,
        converged=False,
        gap=float("nan"),
        group_norms=np.array([3.0, 2.0]),
        unsmoothed=Unsmoothed(4.0, 0.3),
    )
    whole = fit.join([part, other], weights)
    assert whole.group_norms is not None
    assert whole.group_norms.tolist() == [3.0, 4.0]
    assert whole.unsmoothed == Unsmoothed(6.0, 0.3)
    assert not whole.converged
    assert np.isnan(whole.gap)
    assert np.isnan(fit.join([other, part], weights).gap)


def test_a_fit_goes_on_for_three_times_the_iterations_of_its_goal() -> None:
    asked: list[int] = []

    def callback(step: Any) -> bool:
        asked.append(step.iteration)
        return step.iteration == 4

    def step(iteration: int, gap: float) -> Any:
        return SimpleNamespace(iteration=iteration, gap=gap)

    stop = fit.tightening(0.1, callback)
    assert not stop(step(2, 0.2))
    assert not stop(step(3, 0.1))  # at the goal: nine iterations in all
    assert not stop(step(8, 0.05))
    assert stop(step(9, 0.2))
    stop = fit.tightening(0.1, callback)
    assert stop(step(4, 0.5))
    assert asked == [2, 3, 8, 9, 4]
