"""Splits, the search over a grid, metrics, and the choice."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.special import expit
from scipy.stats import binomtest
from sklearn import metrics

import textreg
from textreg.errors import DataError, UsageError
from textreg.kinds import Regularizer
from textreg.measure.metrics import wilson
from textreg.params import AUTO, Choices, LogGrid, param
from textreg.records import Problem, Solution
from textreg.tasks import classification
from textreg.training import trials
from textreg.training.running import Work
from textreg.training.search import choose
from textreg.training.settings import TrainingSettings
from textreg.training.splits import folds, holdout
from textreg.training.trials import Fold, MeasuredSetting, Start, search


class Shrunk(Regularizer):
    """Weights are the soft-thresholded gradient over ``l2``; the intercept tells the start."""

    name = "shrunk"
    l2: float = param(default=AUTO, min=0, search=Choices((4.0, 2.0)), help="divisor")
    l1: float = param(default=AUTO, min=0, search=LogGrid(0.1, 1, 3), help="threshold")

    def solve(self, problem: Problem) -> Solution:
        gradient = problem.X.T @ (problem.sample_weight * problem.y)
        w = np.sign(gradient) * np.maximum(np.abs(gradient) - self.l1, 0) / self.l2
        warm = 0.0 if problem.start is None else 1e-3 * float(np.abs(problem.start[0]).sum())
        return Solution(w=w, b=warm, objective=0.0, gap=0.0, converged=True)


def codes_of(counts: Sequence[int]) -> np.ndarray:
    codes = np.repeat(np.arange(len(counts)), counts)
    return np.random.default_rng(3).permutation(codes)


CLASS_SIZES = st.lists(st.integers(2, 30), min_size=2, max_size=5)


@settings(deadline=None)
@given(CLASS_SIZES, st.floats(0.01, 0.99), st.integers(0, 5))
def test_holdout_is_stratified(sizes: list[int], fraction: float, seed: int) -> None:
    codes = codes_of(sizes)
    split = holdout(codes, [f"c{i}" for i in range(len(sizes))], fraction, seed)
    assert np.array_equal(np.sort(np.concatenate(split)), np.arange(len(codes)))
    held = np.bincount(codes[split.held], minlength=len(sizes))
    for size, count in zip(sizes, held, strict=True):
        assert 1 <= count < size
        assert abs(count - fraction * size) <= 1


def test_splits_depend_on_the_seed_alone() -> None:
    codes, labels = codes_of([40, 50]), ("a", "b")
    again = holdout(codes, labels, 0.2, 7)
    assert np.array_equal(holdout(codes, labels, 0.2, 7).held, again.held)
    assert not np.array_equal(holdout(codes, labels, 0.2, 8).held, again.held)


@settings(deadline=None)
@given(CLASS_SIZES, st.integers(2, 4), st.integers(0, 5))
def test_folds_hold_every_document_out_once(sizes: list[int], count: int, seed: int) -> None:
    codes = codes_of(sizes)
    splits = folds(codes, [str(i) for i in range(len(sizes))], count, seed)
    assert len(splits) == count
    held = np.concatenate([split.held for split in splits])
    assert np.array_equal(np.sort(held), np.arange(len(codes)))
    shares = np.array([np.bincount(codes[s.held], minlength=len(sizes)) for s in splits])
    assert (np.ptp(shares, axis=0) <= 1).all()
    assert np.ptp(shares.sum(axis=1)) <= 1
    for split in splits:
        assert not np.intersect1d(split.train, split.held).size
        assert len(split.train) + len(split.held) == len(codes)


def test_a_class_of_one_cannot_be_split() -> None:
    codes = np.array([0, 0, 1, 0])
    with pytest.raises(DataError, match="'rare' has one document only"):
        holdout(codes, ("common", "rare"), 0.1, 0)
    with pytest.raises(DataError, match="'rare' has one document only"):
        folds(codes, ("common", "rare"), 2, 0)


def test_wrong_splits_are_refused() -> None:
    codes = codes_of([4, 4])
    for fraction in (0.0, 1.0, float("nan")):
        with pytest.raises(UsageError, match="holdout must lie between 0 and 1"):
            TrainingSettings(holdout=fraction)
    for count in (1, 9):
        with pytest.raises(UsageError, match="cv must be 2 to 8"):
            folds(codes, ("a", "b"), count, 0)


@settings(deadline=None)
@given(st.integers(2, 5), st.integers(5, 40), st.integers(0, 10))
def test_metrics_are_scikit_learns(n_classes: int, n: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    codes = random.integers(n_classes, size=n)
    scores = random.normal(scale=3, size=(n, 1 if n_classes == 2 else n_classes))
    if n_classes == 2:
        proba = np.column_stack([expit(-scores[:, 0]), expit(scores[:, 0])])
    else:
        proba = expit(scores) / expit(scores).sum(axis=1, keepdims=True)
    predicted = proba.argmax(axis=1)
    got = classification([str(c) for c in range(n_classes)]).measure(scores, codes)
    assert got["accuracy"] == pytest.approx(metrics.accuracy_score(codes, predicted))
    assert got["macro-f1"] == pytest.approx(
        metrics.f1_score(codes, predicted, average="macro", zero_division=0.0)
    )
    assert got["log-loss"] == pytest.approx(
        metrics.log_loss(codes, proba, labels=range(n_classes)), rel=1e-9
    )


def test_log_loss_survives_certain_scores() -> None:
    got = classification("ab").measure(np.array([[800.0], [-800.0]]), np.array([1, 1]))
    assert got["log-loss"] == pytest.approx(400.0)
    sure = np.array([[-900.0, -800.0, -1000.0]])
    got = classification("abc").measure(sure, np.array([1]))
    assert got["log-loss"] == pytest.approx(0.0, abs=1e-12)


def test_wilson_agrees_with_scipy() -> None:
    for right, total in ((0, 5), (5, 5), (223, 238), (1, 3)):
        interval = binomtest(right, total).proportion_ci(0.95, method="wilson")
        assert wilson(right, total) == pytest.approx((interval.low, interval.high))


def test_wilson_contains_the_share() -> None:
    for total in range(1, 200):
        assert wilson(0, total)[0] == 0.0
        assert wilson(total, total)[1] == 1.0


def fold(seed: int, n_classes: int = 1) -> Fold:
    random = np.random.default_rng(seed)
    X = csr_array(random.poisson(0.4, size=(30, 12)).astype(float))
    codes = random.integers(max(2, n_classes), size=30)
    task = classification([str(c) for c in range(max(2, n_classes))])
    problem = Problem(X=X[:20], y=task.rows(codes[:20])[0])
    return Fold(problem=problem, task=task, y=codes[:20], X_held=X[20:], y_held=codes[20:])


def as_tuple(points: list[MeasuredSetting]) -> list[object]:
    return [
        (
            point.regularizer,
            point.metrics,
            point.nonzero,
            [(s.place.tolist(), s.values.tolist(), s.b) for s in point.starts],
        )
        for point in points
    ]


@pytest.mark.parametrize("n_classes", [1, 3])
def test_search_is_the_same_for_any_number_of_jobs(n_classes: int) -> None:
    cut = [fold(1, n_classes), fold(2, n_classes)]
    alone = search(Shrunk(), cut)
    assert as_tuple(search(Shrunk(), cut, Work(3))) == as_tuple(alone)
    assert len(alone) == 6
    assert [len(point.starts) for point in alone] == [n_classes] * 6


def test_search_measures_what_solve_finds() -> None:
    cut = fold(1)
    points = search(Shrunk(), [cut])
    assert [point.regularizer for point in points] == Shrunk().candidates(cut.problem)
    at = points[4]
    w, b = at.starts[0].dense(12)
    assert np.array_equal(w, at.regularizer.solve(cut.problem).w.astype(np.float32))
    measured = cut.task.measure((cut.X_held @ w + b)[:, None], cut.y_held)
    assert at.metrics == pytest.approx(measured, rel=1e-6)  # starts are in single precision
    assert at.nonzero == np.count_nonzero(w)


def test_chains_start_cold_and_go_on_warm() -> None:
    points = search(Shrunk(), [fold(1)])
    b = [point.starts[0].b for point in points]
    assert [value > 0 for value in b] == [False, True, True] * 2


def test_a_parameter_with_one_candidate_does_not_cut_the_chains() -> None:
    class Extra(Shrunk):
        name = "extra"
        l3: float = param(default=AUTO, search=Choices((1.0,)), help="unused")

    starts = [point.starts[0].b > 0 for point in search(Extra(), [fold(1)])]
    assert starts == [False, True, True] * 2


def test_a_regularizer_may_bring_its_own_path() -> None:
    class Steps(Shrunk):
        name = "steps"

        def path(
            self, problem: Problem, candidates: Sequence[Regularizer] | None = None
        ) -> Iterator[tuple[Regularizer, Solution]]:
            for part in candidates or self.candidates(problem):
                yield part, Solution(w=np.ones(12), b=part.l1, objective=0.0)

    points = search(Steps(), [fold(1)])
    assert [point.starts[0].b for point in points] == [point.regularizer.l1 for point in points]


def test_classes_share_the_grid_of_the_one_hardest_to_empty() -> None:
    cut = fold(2, 3)
    grids = [Shrunk().candidates(cut.problem.replace(y=y)) for y in cut.task.rows(cut.y)]
    grid = max(grids, key=lambda parts: parts[0].l1)
    assert [point.regularizer for point in search(Shrunk(), [cut])] == grid


def test_decided_prices_make_one_point() -> None:
    (point,) = search(Shrunk(l1=0.5, l2=1.0), [fold(1)])
    assert point.regularizer == Shrunk(l1=0.5, l2=1.0)


def test_progress_counts_every_fit() -> None:
    seen: list[tuple[str, int, int]] = []
    search(Shrunk(), [fold(1, 3), fold(2, 3)], Work(2, lambda *at: seen.append(at)))
    assert seen == [("search", done, 36) for done in range(1, 37)]


def test_an_interrupt_stops_the_other_fits() -> None:
    def interrupt(stage: str, done: int, total: int) -> None:
        raise KeyboardInterrupt

    run = Work(progress=interrupt).run("search", 1)
    assert run.callback(None) is False
    with pytest.raises(KeyboardInterrupt):
        run.map(run.advance, [()])
    assert run.callback(None) is True


def point(accuracy: float, nonzero: float, loss: float = 1.0) -> MeasuredSetting:
    values = {"accuracy": accuracy, "macro-f1": accuracy, "log-loss": loss}
    start = Start(np.array([], dtype=np.intp), np.array([]), 0.0)
    return MeasuredSetting(Shrunk(l1=1.0, l2=1.0), values, nonzero, (start,))


def test_the_best_wins_then_the_smallest_then_the_strongest() -> None:
    points = [point(0.8, 5), point(0.9, 40), point(0.9, 30), point(0.9, 30), point(0.7, 1, 0.1)]
    assert choose(points, "accuracy") == 2
    assert choose(points, "macro-f1") == 2
    assert choose(points, "log-loss") == 4


def test_rounding_does_not_break_ties() -> None:
    assert choose([point(0.1 + 0.2, 9), point(0.3, 5)], "accuracy") == 1


def test_solutions_with_many_weights_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their sizes are counted all the same, and the final fit starts from nothing."""

    points = search(Shrunk(), [fold(1)])
    monkeypatch.setattr(trials, "MAX_START", 0)
    bare = search(Shrunk(), [fold(1)])
    assert [point.nonzero for point in bare] == [point.nonzero for point in points]
    assert [point.metrics for point in bare] == [point.metrics for point in points]
    assert {start for point in bare if point.nonzero for start in point.starts} == {None}
    texts = ["good kettle", "bad kettle"] * 10
    model = textreg.train(texts, ["pos", "neg"] * 10, reg="ridge")
    assert model.summary.converged


def test_a_few_steps_of_all_chains_come_first_and_the_ends_of_the_grid_before_its_middle() -> None:
    from textreg.training.trials import _waves

    grid = [Shrunk(l2=l2, l1=l1) for l2 in (3.0, 2.0, 1.0) for l1 in (4.0, 3.0, 2.0, 1.0)]
    assert _waves(grid) == [
        [([], [0, 1, 2]), ([], [8, 9, 10]), ([], [4, 5, 6])],
        [([0, 1, 2], [3]), ([8, 9, 10], [11]), ([4, 5, 6], [7])],
    ]


class Own(Shrunk):
    """Has a path of its own."""

    name = "own"

    def path(
        self, problem: Problem, candidates: Sequence[Regularizer] | None = None
    ) -> Iterator[tuple[Regularizer, Solution]]:
        yield from super().path(problem, candidates)


def test_which_rows_are_fitted_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "SIDE_BY_SIDE", {4: 48, 2: 60})
    ridge, rows = textreg.Ridge(l2=1.0), list(range(7))

    def cut(p: int, threads: int = 1, part: Regularizer = ridge, labels: int = 7) -> list[int]:
        problem = Problem(X=csr_array(np.ones((3, p))), y=np.array([1.0, -1.0, 1.0]))
        task = classification([str(at) for at in range(labels)])
        problems = trials.Problems(problem, task, np.zeros(3, dtype=np.int64))
        some = rows if labels > 2 else [0]
        runs = trials.cut_rows(some, [part], problems, threads)
        assert [row for run in runs for row in run] == some
        return [len(run) for run in runs]

    assert cut(12) == [4, 3]  # 4 of 12 are the most that there may be
    assert cut(13) == [2, 2, 2, 1]
    assert cut(30) == [2, 2, 2, 1]
    assert cut(31) == [1] * 7
    assert cut(12, threads=3) == [3, 3, 1]
    assert cut(12, threads=7) == [1] * 7
    assert cut(12, labels=2) == [1]
    assert cut(12, part=Own(l1=1.0, l2=1.0)) == [1] * 7
    assert cut(12, part=Shrunk(l1=1.0, l2=1.0)) == [1] * 7
    softmax = classification("abc", multiclass="softmax")
    problem = Problem(X=csr_array(np.ones((3, 2))), y=np.array([1.0, -1.0, 1.0]))
    joint = trials.Problems(problem, softmax, np.arange(3))
    assert joint.rows == [None]
    assert not trials.share_passes([ridge], joint)
    assert trials.share_passes([ridge, ridge], fold(1, 3))
    assert not trials.share_passes([ridge, Shrunk(l1=1.0, l2=1.0)], fold(1, 3))


def test_a_start_takes_the_least_memory() -> None:
    X = csr_array([[1.0, 0.0, 2.0, 0.0, 3.0, 0.0, 0.0, 0.0, 0.0]])
    few = trials._trial(X, np.array([0, 0, 0.5, 0, 0, 0, 0, 0, -0.25]), 1.5, 2.0)
    assert few.start is not None
    assert few.start.place.dtype == np.uint8  # 2 bytes of bits, 8 of two numbers
    assert (few.scores.tolist(), few.seconds) == ([2.5], 2.0)
    assert np.unpackbits(few.used).tolist()[:9] == [0, 0, 1, 0, 0, 0, 0, 0, 1]
    assert [it.tolist() for it in few.start.dense(9)[:1]] == [[0, 0, 0.5, 0, 0, 0, 0, 0, -0.25]]
    assert few.start.dense(9)[1] == 1.5
    wide = np.zeros(100)
    wide[70] = 1.0
    one = trials._trial(csr_array((1, 100)), wide, 0.0, 0.0).start
    assert one is not None
    assert (one.place.dtype, one.place.tolist()) == (np.int32, [70])
    several = [(np.ones(2), 1.0), (np.zeros(2), 2.0)]
    together = trials.together(several)
    assert together is not None
    assert [it.tolist() for it in together] == [[[1, 1], [0, 0]], [1, 2]]
    assert trials.together([*several, None]) is trials.together([]) is None


def test_a_label_that_all_documents_have_or_none() -> None:
    X = csr_array(np.eye(5))
    task = classification("abc")
    y = np.array([0, 0, 0, 1, 2])
    weights = np.array([1.0, 2.0, 1.0, 0.0, 0.0])
    problems = trials.Problems(Problem(X=X, y=task.row(y, 0), sample_weight=weights), task, y)
    first, second = problems.constant(0), problems.constant(1)
    assert first is not None
    assert second is not None
    # Of three documents that count: 4 to 1, and 1 to 4.
    assert (first.b, second.b) == pytest.approx((np.log(4.0), -np.log(4.0)))
    assert (first.w.tolist(), first.gap, first.converged) == ([0.0] * 5, 0.0, True)
    assert problems.constant(None) is None
    every = trials.Problems(problems.problem.replace(sample_weight=np.ones(5)), task, y)
    assert [every.constant(row) for row in range(3)] == [None] * 3
    squared = trials.Problems(problems.problem.replace(loss="squared"), task, y)
    assert squared.constant(0) is None


def test_workers_elsewhere_get_each_fold_once() -> None:
    class Elsewhere:
        elsewhere = True
        sent: list[Fold] = []

        def send(self, fold: Fold) -> str:
            self.sent.append(fold)
            return f"fold {len(self.sent)}"

        def map(self, call: object, *columns: Iterator[object]) -> Iterator[object]:
            for handle, rows, parts, starts, ends in zip(*columns, strict=False):
                fold = self.sent[int(str(handle)[5:]) - 1]
                yield trials._solve(fold, rows, parts, starts, ends)  # type: ignore[arg-type]

    cut, workers = [fold(1), fold(2)], Elsewhere()
    seen: list[tuple[str, int, int]] = []
    work = Work(1, lambda *at: seen.append(at), workers=workers)  # type: ignore[arg-type]
    assert as_tuple(search(Shrunk(), cut, work)) == as_tuple(search(Shrunk(), cut))
    assert workers.sent == cut
    assert seen == [("search", done, 12) for done in range(1, 13)]
    late = trials._solve(cut[0], [0], [Shrunk(l1=1.0, l2=1.0)], [None], time.time() - 1.0)
    assert late == []
    assert (
        len(trials._solve(cut[0], [0], [Shrunk(l1=1.0, l2=1.0)], [None], time.time() + 60.0)) == 1
    )


def test_class_weights_differ_by_label() -> None:
    """Those of the others and of its own documents, times the weights that documents have."""
    task, y = classification("abc"), np.array([0, 1, 2, 0])
    problem = Problem(X=csr_array(np.eye(4)), y=task.row(y, 0), sample_weight=[1.0, 2.0, 3.0, 4.0])
    factors = np.array([[1.0, 5.0], [10.0, 2.0], [1.0, 1.0]])
    problems = trials.Problems(problem, task, y, row_factors=factors)
    assert problems.of(0).sample_weight.tolist() == [5.0, 2.0, 3.0, 20.0]
    assert problems.of(1).sample_weight.tolist() == [10.0, 4.0, 30.0, 40.0]
    assert problems.of(1).y.tolist() == [-1.0, 1.0, -1.0, -1.0]
    assert problems.of(None) is problem
    plain = trials.Problems(problem, task, y)
    assert plain.of(2).sample_weight.tolist() == [1.0, 2.0, 3.0, 4.0]
    assert plain.of(2).y.tolist() == [-1.0, -1.0, 1.0, -1.0]


def test_the_label_that_is_hardest_to_empty_is_one_that_varies() -> None:
    """Its largest gradient at zero weights is the largest; labels of all documents have none."""
    task, y = classification("abc"), np.array([0, 0, 0, 1, 1])
    X = csr_array([[1.0], [1.0], [1.0], [-3.0], [-3.0]])
    weights = np.array([1.0, 1.0, 1.0, 0.5, 1.0])
    problem = Problem(X=X, y=task.row(y, 0), sample_weight=weights)
    factors = np.array([[1.0, 1.0], [1.0, 4.0], [9.0, 9.0]])
    problems = trials.Problems(problem, task, y, row_factors=factors)
    hardest = problems.hardest()
    assert hardest.y.tolist() == task.row(y, 1).tolist()
    assert hardest.sample_weight.tolist() == problems.of(1).sample_weight.tolist()
    assert hardest.codes is None


def test_labels_that_are_numbers_may_be_named_by_them() -> None:
    """As the labels of the documents are: a model keeps their names."""
    texts = ["so good", "so bad", "very good", "very bad"] * 5
    ridge: dict[str, object] = {"reg": "ridge", "reg_l2": 1.0}
    by_number = {"class_weight": {1: 5.0, 0: 1.0}, "threshold": {1: "f1"}}
    by_name = {"class_weight": {"1": 5.0, "0": 1.0}, "threshold": {"1": "f1"}}
    number, name = (
        textreg.train(texts, [1, 0] * 10, **ridge, **options)  # type: ignore[arg-type]
        for options in (by_number, by_name)
    )
    assert number.weights.tolist() == name.weights.tolist()
    assert number.thresholds == name.thresholds == {"1": number.thresholds["1"]}
    assert number.explain("so bad", of=1) == name.explain("so bad", of="1")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="class_weight names the label '2', which no document"):
        textreg.train(texts, [1, 0] * 10, class_weight={2: 5.0}, **ridge)  # type: ignore[arg-type]
