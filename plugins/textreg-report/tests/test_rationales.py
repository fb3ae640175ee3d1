"""Agreement with marked passages: cases by hand, identities, and scikit-learn's own curves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textreg.errors import RecordError
from textreg_report.agreement import (
    AGREEMENT,
    FAITHFULNESS,
    Overlap,
    RationaleScores,
    _p_value,
    auprc,
    average_precision,
    passage_overlap,
    precision_at,
    r_precision,
    runs,
    strongest,
    token_overlap,
    tokens_in,
    touched,
)

RANKED = st.lists(
    st.tuples(st.booleans(), st.integers(0, 4).map(float)), min_size=1, max_size=12
).filter(lambda pairs: any(marked for marked, _ in pairs))


def arrays(pairs: list[tuple[bool, float]]) -> tuple[np.ndarray, np.ndarray]:
    marked, evidence = zip(*pairs, strict=True)
    return np.array(marked), np.array(evidence, dtype=np.float64)


def test_areas_by_hand() -> None:
    # In order: marked, not, marked, not. Precision 1, 1/2, 2/3, 1/2 at recall 1/2, 1/2, 1, 1.
    marked, evidence = np.array([True, False, True, False]), np.array([4.0, 3.0, 2.0, 1.0])
    assert average_precision(marked, evidence) == pytest.approx((1 + 2 / 3) / 2)
    assert auprc(marked, evidence) == pytest.approx(1 / 2 + (1 / 2 + 2 / 3) / 2 / 2)
    assert auprc(marked, -evidence) == pytest.approx(1 / 8 + 5 / 24)


@given(RANKED)
def test_areas_are_those_of_scikit_learn(pairs: list[tuple[bool, float]]) -> None:
    from sklearn.metrics import auc, average_precision_score, precision_recall_curve

    marked, evidence = arrays(pairs)
    precision, recall, _ = precision_recall_curve(marked, evidence)
    assert auprc(marked, evidence) == pytest.approx(auc(recall, precision))
    assert average_precision(marked, evidence) == pytest.approx(
        average_precision_score(marked, evidence)
    )


@given(RANKED)
def test_only_the_order_counts(pairs: list[tuple[bool, float]]) -> None:
    marked, evidence = arrays(pairs)
    for measure in (auprc, average_precision, r_precision):
        assert measure(marked, np.exp(evidence)) == pytest.approx(measure(marked, evidence))
        assert measure(marked, marked.astype(float)) == 1.0
        backwards = measure(marked[::-1], evidence[::-1])
        assert backwards == pytest.approx(measure(marked, evidence))  # no place is better


@given(RANKED, st.integers(1, 14))
def test_precision_at_k_is_the_mean_over_orders_of_equal_ones(
    pairs: list[tuple[bool, float]], k: int
) -> None:
    marked, evidence = arrays(pairs)
    random = np.random.default_rng(0)
    draws = []
    for _ in range(400):
        order = np.lexsort((random.random(len(marked)), -evidence))
        draws.append(marked[order[:k]].mean())
    assert precision_at(marked, evidence, k) == pytest.approx(np.mean(draws), abs=0.12)
    assert precision_at(marked, evidence, len(marked)) == pytest.approx(marked.mean())


def test_precision_at_k_by_hand() -> None:
    marked, evidence = np.array([True, False, True, False]), np.array([2.0, 1.0, 1.0, 1.0])
    assert precision_at(marked, evidence, 1) == 1.0
    assert precision_at(marked, evidence, 2) == pytest.approx((1 + 1 / 3) / 2)
    assert r_precision(marked, evidence) == precision_at(marked, evidence, 2)


def test_the_strongest_tokens() -> None:
    evidence = np.array([1.0, 3.0, 3.0, 0.0])
    assert strongest(evidence, 0.25).tolist() == [False, True, False, False]
    assert strongest(evidence, 0.26).tolist() == [False, True, True, False]
    assert strongest(np.ones(100), 0.07).sum() == 7
    assert strongest(evidence, 1.0).all()


def test_token_overlap() -> None:
    marked = np.array([True, True, False, False, False])
    predicted = np.array([False, True, True, True, False])
    found = token_overlap(marked, predicted)
    assert found == (1 / 3, 1 / 2)
    assert found.f1 == pytest.approx(0.4)
    assert token_overlap(marked, np.zeros(5, dtype=bool)).f1 == 0.0


def test_passages_and_their_intersection_over_union() -> None:
    predicted = runs(np.array([True, False, True, True, True, False, False, True]))
    assert predicted.tolist() == [[0, 1], [2, 5], [7, 8]]
    # [2, 5) and [3, 7): two of five tokens. [2, 5) and [2, 4): two of three.
    assert passage_overlap(np.array([[3, 7]]), predicted) == (0.0, 0.0)
    assert passage_overlap(np.array([[3, 7]]), predicted, threshold=0.4) == (1 / 3, 1.0)
    assert passage_overlap(np.array([[2, 4], [3, 7]]), predicted) == (1 / 3, 1 / 2)
    assert passage_overlap(predicted, predicted).f1 == 1.0
    assert passage_overlap(predicted, np.zeros((0, 2), dtype=np.int64)) == (0.0, 0.0)
    assert runs(np.zeros(3, dtype=bool)).shape == (0, 2)


def test_passages_of_characters_as_tokens() -> None:
    tokens = np.array([[0, 3], [4, 7], [8, 9]])
    spans = np.array([[1, 5], [3, 4], [8, 9], [2, 4], [0, 3]])
    assert tokens_in(spans, tokens).tolist() == [[0, 1], [0, 2], [2, 3]]  # distinct, in order
    assert touched(tokens_in(spans, tokens), 3).tolist() == [True, True, True]
    assert touched(np.array([[0, 1]]), 3).tolist() == [True, False, False]


def scores_of(table: np.ndarray) -> RationaleScores:
    return RationaleScores(table, 0.3, 0.1, 0.1)


def random_scores(seed: int, n: int = 60) -> np.ndarray:
    return np.random.default_rng(seed).random((n, len(AGREEMENT) + len(FAITHFULNESS)))


def test_means_and_intervals() -> None:
    table = random_scores(0)
    measures = scores_of(table).measures(resamples=500)
    assert list(measures)[:3] == list(AGREEMENT[:3])
    assert "iou_precision" not in measures
    at = AGREEMENT.index("token_f1")
    estimate = measures["token_f1"]
    assert estimate.value == pytest.approx(table[:, at].mean())
    assert estimate.low < estimate.value < estimate.high
    deviation = table[:, at].std() / np.sqrt(len(table))  # of a mean of many documents
    assert (estimate.high - estimate.low) / 2 == pytest.approx(1.96 * deviation, rel=0.15)
    precision, recall = (table[:, AGREEMENT.index(f"iou_{it}")] for it in ("precision", "recall"))
    assert measures["iou_f1"].value == pytest.approx(Overlap(precision.mean(), recall.mean()).f1)
    assert scores_of(table).measures(resamples=500) == measures


def test_differences_are_paired() -> None:
    table = random_scores(1)
    same = scores_of(table).differences(scores_of(table), resamples=300)
    assert set(map(tuple, same.values())) == {(0.0, 0.0, 0.0, 1.0)}
    better = table + 0.01  # a difference that is far smaller than that between documents
    found = scores_of(better).differences(scores_of(table), resamples=300)["sentence_auprc"]
    assert found.value == pytest.approx(0.01)
    assert found.low == pytest.approx(0.01)
    assert found.p == pytest.approx(2 / 301)
    few = scores_of(better[:5]).differences(scores_of(table[:5]), resamples=300)
    assert {one.p for one in few.values()} == {2.0**-4}
    back = scores_of(table).differences(scores_of(better), resamples=300)["sentence_auprc"]
    assert (back.value, back.p) == (pytest.approx(-0.01), found.p)
    without = scores_of(table[:, : len(AGREEMENT)])  # of a model without probabilities
    assert "sufficiency" not in scores_of(table).differences(without, resamples=10)


def test_p_values_without_a_difference_are_spread() -> None:
    """Of two models that differ by chance alone, about one in ten has p < 0.1."""
    small = []
    for seed in range(60):
        first, second = random_scores(2 * seed, 40), random_scores(2 * seed + 1, 40)
        found = scores_of(first).differences(scores_of(second), resamples=400)
        small += [found[name].p < 0.1 for name in ("top_1", "token_f1", "sufficiency")]
    assert 0.04 < np.mean(small) < 0.2


def test_models_with_other_sentences_are_not_compared() -> None:
    with pytest.raises(RecordError, match="into different sentences"):
        scores_of(random_scores(0, 4)).differences(scores_of(random_scores(0, 5)))


def test_p_values_by_hand() -> None:
    # 2 (k + 1) / (B + 1), where k of B have the rarer sign, and those without one count half.
    cases = [[-1, 1, 1, 1, 1], [0, 0, 1, 1], [1] * 9, [-1, -1, 0, 1], [0] * 4]
    assert [_p_value(np.array(change, dtype=float)) for change in cases] == pytest.approx(
        [4 / 6, 4 / 5, 2 / 10, 1.0, 1.0]
    )
