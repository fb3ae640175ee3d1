"""significance: exact tests and intervals as scipy has them, and as enumeration has them."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn import metrics

from textreg_report.significance import Answers, SetAnswers, bootstrap, holm, share_test, sign_test


@given(st.integers(0, 12), st.integers(0, 12))
def test_sign_test_is_the_binomial_one(won: int, lost: int) -> None:
    n = won + lost
    # Twice the smaller tail, both ends included: under one half the two tails are alike.
    tail = sum(math.comb(n, k) for k in range(min(won, lost) + 1)) / 2**n
    assert sign_test(won, lost) == pytest.approx(min(1.0, 2 * tail))
    assert sign_test(won, lost) == sign_test(lost, won)
    if n:
        assert sign_test(won, lost) == pytest.approx(stats.binomtest(won, n).pvalue)


@given(st.lists(st.floats(0, 1), max_size=6))
def test_holm_is_the_closure_of_bonferroni(p: list[float]) -> None:
    """A difference is found if Bonferroni's test of every set of them that it is in finds one."""
    closed = [0.0] * len(p)
    for size in range(1, len(p) + 1):
        for some in itertools.combinations(range(len(p)), size):
            for one in some:
                closed[one] = max(closed[one], min(1.0, size * min(p[other] for other in some)))
    assert holm(p) == pytest.approx(closed)


def test_holm_by_hand() -> None:
    assert holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])
    assert holm([0.02]) == [0.02]
    assert holm([0.9, 0.6]) == [1.0, 1.0]


def answers(n: int, labels: int, seed: int) -> Answers:
    random = np.random.default_rng(seed)
    y_true = random.integers(labels, size=n)

    def guess(share: float) -> np.ndarray:
        return np.where(random.random(n) < share, y_true, random.integers(labels, size=n))

    return Answers(y_true, guess(0.8), guess(0.5))


def test_counts_of_wins() -> None:
    y_true, first, second = map(np.array, ([0, 0, 1, 1, 1], [0, 1, 1, 1, 0], [1, 0, 0, 1, 0]))
    found = Answers(y_true, first, second)
    assert (found.won, found.lost) == (2, 1)


def accuracy(y_true: np.ndarray, first: np.ndarray, second: np.ndarray) -> float:
    return float(np.mean(first == y_true) - np.mean(second == y_true))


def macro_f1(y_true: np.ndarray, first: np.ndarray, second: np.ndarray) -> float:
    """By scikit-learn."""
    one, other = (
        metrics.f1_score(y_true, it, average="macro", zero_division=0.0) for it in (first, second)
    )
    return float(one - other)


def figures(y_true: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Differences in accuracy and macro-F1."""
    return np.array([difference(y_true, first, second) for difference in (accuracy, macro_f1)])


def test_bootstrap_is_that_of_scipy() -> None:
    given = answers(150, 3, 1)
    ours = bootstrap([given], seed=4)
    for column, difference in enumerate((accuracy, macro_f1)):
        theirs = stats.bootstrap(
            tuple(given),
            difference,
            paired=True,
            vectorized=False,
            method="percentile",
            n_resamples=200,
            random_state=np.random.default_rng(0),
        )
        assert ours[column] == pytest.approx(theirs.confidence_interval, abs=0.02)


def test_bootstrap_of_tiny_corpora_by_enumeration() -> None:
    """All ways to draw from two corpora of three documents: the quantiles are known."""
    corpora = [
        Answers(*map(np.array, ([0, 1, 1], [0, 1, 1], [0, 0, 0]))),
        Answers(*map(np.array, ([0, 1, 1], [0, 1, 0], [1, 1, 1]))),
    ]
    every = []
    for one in corpora:
        draws = itertools.product(range(3), repeat=3)
        every.append([figures(*(part[list(rows)] for part in one)) for rows in draws])
    means = np.array([(a + b) / 2 for a in every[0] for b in every[1]])
    for column, ours in enumerate(bootstrap(corpora, resamples=50_000)):
        low, high = np.quantile(means[:, column], [0.025, 0.975])
        assert ours == pytest.approx((low, high), abs=1e-9)


def test_bootstrap_depends_on_the_seed_alone() -> None:
    given = [answers(80, 2, 2), answers(50, 4, 3)]
    assert bootstrap(given, seed=1) == bootstrap(given, seed=1)
    assert bootstrap(given, seed=1) != bootstrap(given, seed=2)


def test_bootstrap_of_some_answers() -> None:
    """Its random numbers are part of what it promises: the same page has the same intervals."""
    accuracy, macro_f1 = bootstrap([answers(80, 2, 2), answers(50, 4, 3)], seed=1, resamples=40)
    assert accuracy == pytest.approx((0.0667187, 0.2467187))
    assert macro_f1 == pytest.approx((0.0653246, 0.2489218))
    # No document has the second of three labels, or is answered with it.
    given = Answers(np.array([0, 0, 2, 2]), np.array([0, 2, 2, 2]), np.array([0, 0, 0, 2]))
    accuracy, macro_f1 = bootstrap([given], resamples=40)
    assert accuracy == pytest.approx((-0.5, 0.50625))
    assert macro_f1 == pytest.approx((-0.5738095, 0.67))
    y_true = np.arange(60).reshape(20, 3) % 4 < 2
    y_true[3] = False
    first, second = y_true.copy(), y_true.copy()
    first[:6, 1] ^= True
    second[4:12, 0] ^= True
    sets = SetAnswers(y_true, first, second)
    assert (sets.won, sets.lost) == (6, 5)
    assert [pair for one in bootstrap([sets], seed=1, resamples=40) for pair in one] == (
        pytest.approx(SET_ENDS, abs=1e-6)
    )


SET_ENDS = [-0.25125, 0.35, -0.090666, 0.144144, -0.09883, 0.106772]


def test_shares_are_tested_exactly() -> None:
    assert share_test(3, 10, 0.5) == pytest.approx(0.34375)
    assert share_test(10, 10, 0.5) == pytest.approx(2 / 1024)
    assert share_test(0, 0, 0.5) == 1.0


def test_bootstrap_covers_the_true_value() -> None:
    """Of intervals for a known difference about 95 in 100 hold it."""
    held = 0
    for seed in range(200):
        accuracy, _ = bootstrap([answers(200, 2, 100 + seed)], resamples=500)
        held += accuracy.low <= (0.9 - 0.75) <= accuracy.high
    assert 180 <= held <= 199


def test_equal_documents_of_several_labels_have_one_difference() -> None:
    """Whichever are drawn: the second has one of two labels, so F1 1 and 0, and 2/3 of both."""
    both, one = np.ones((5, 2), dtype=bool), np.tile([True, False], (5, 1))
    found = SetAnswers(both, both, one).differences(np.random.default_rng(0), 4)
    np.testing.assert_allclose(found, np.tile([1.0, 0.5, 1 / 3], (4, 1)))
    assert SetAnswers(both, both, one).won == SetAnswers(both, one, both).lost == 5


def test_many_cells_are_drawn_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    given = [answers(60, 5, 7)]
    whole = bootstrap(given, resamples=300)
    monkeypatch.setattr("textreg_report.significance._BLOCK", 1)
    assert bootstrap(given, resamples=300) == whole
