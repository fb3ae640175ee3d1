"""Whether probabilities come true, and what thresholds would give."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from textreg.measure.decisions import reliability
from textreg.measure.metrics import wilson
from textreg.model.storage import load_model
from textreg.tasks.classification import Softmax, classification


def test_bins_count_every_document_once_and_by_hand() -> None:
    chance = np.array([0.05, 0.1, 0.1000001, 0.95, 0.97, 0.99, 0.0, 1.0])
    y_true = np.array([0, 1, 0, 1, 1, 0, 0, 1])
    found = reliability(chance, y_true == 1, "yes")
    assert found.of == "yes"
    assert [(one.low, one.high, one.documents) for one in found.bins] == [
        (0.0, 0.1, 3),
        (0.1, 0.2, 1),
        (0.9, 1.0, 4),
    ]
    first, _, last = found.bins
    assert first.probability == pytest.approx(0.05)
    assert first.share == pytest.approx(1 / 3)
    assert (first.low_share, first.high_share) == wilson(1, 3)
    assert last.share == 0.75
    by_hand = (
        3 * abs(0.05 - 1 / 3) + 0.1000001 + 4 * abs(np.mean(chance[[3, 4, 5, 7]]) - 0.75)
    ) / 8
    assert found.error == pytest.approx(by_hand)


def test_several_labels_are_judged_by_the_predicted_one() -> None:
    proba = np.array([[0.5, 0.3, 0.2], [0.1, 0.45, 0.45], [0.0, 0.1, 0.9]])
    with np.errstate(divide="ignore"):
        scores = np.log(proba)  # whose softmax is proba
    found = Softmax(("a", "b", "c")).reliability(scores, np.array([0, 2, 2]))
    assert found is not None
    assert found.of == ""
    # The first of equal ones is the prediction, as it is in Model.predict.
    assert [(one.documents, one.share) for one in found.bins] == [(2, 0.5), (1, 1.0)]


@pytest.mark.parametrize("k", [2, 3, 5])
def test_thresholds_give_what_their_line_says(k: int) -> None:
    rng = np.random.default_rng(k)
    n, labels = 300, [f"label {c}" for c in range(k)]
    y_true = rng.integers(0, k, n)
    scores = rng.normal(size=(n, k)) + 1.5 * (y_true[:, None] == np.arange(k))
    shown = scores[:, 1] - scores[:, 0] if k == 2 else scores
    thresholds = {labels[1]: 0.25}
    table = classification(labels).threshold_table(shown, y_true, thresholds)
    assert list(table) == labels
    offsets = np.zeros(k)
    offsets[1] = 0.25
    for c, lines in enumerate(table.values()):
        if k == 2:
            margins = shown if c == 1 else -shown
        else:
            margins = scores[:, c] - np.delete(scores - offsets, c, axis=1).max(axis=1)
        assert lines[0].rule == "now"
        assert lines[0].threshold == (0.25 if c == 1 else -0.25 if k == 2 else 0.0)
        for line in lines:
            assert line.threshold is not None
            given = margins > line.threshold
            right = (given & (y_true == c)).sum()
            assert line.documents == given.sum()
            assert line.precision == pytest.approx(right / given.sum())
            assert line.recall == pytest.approx(right / (y_true == c).sum())
            assert line.f1 == pytest.approx(2 * right / (given.sum() + (y_true == c).sum()))
            if line.rule.startswith("precision:"):
                assert line.precision >= float(line.rule.partition(":")[2])
        assert lines[1].f1 == max(line.f1 for line in lines)


def test_the_other_labels_are_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    task, calls, compare = Softmax(tuple("abcdefghijklmnopqrst")), list[int](), Softmax._margins

    def counted(*given: Any) -> Any:
        calls.append(1)
        return compare(*given)

    monkeypatch.setattr(Softmax, "_margins", counted)
    scores = np.round(np.random.default_rng(0).normal(size=(50, 20)))  # with equal ones
    task.threshold_table(scores, np.arange(50) % 20, {"b": 1.0})
    assert len(calls) == 1  # not once for each label
    margins = compare(task, scores, {"b": 1.0})
    scores[:, 1] -= 1.0
    others = [np.delete(scores, c, axis=1).max(axis=1) for c in range(20)]
    scores[:, 1] += 1.0
    np.testing.assert_array_equal(margins, scores - np.column_stack(others))


def test_a_table_that_is_not_shown_is_not_computed(
    demo: Path,
    cli: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(type(load_model(demo / "m.textreg").task), "threshold_table", None)
    assert cli("evaluate", demo / "m.textreg", demo / "test.jsonl").code == 0


def test_a_precision_out_of_reach_has_no_threshold() -> None:
    scores = np.array([1.0, 1.0, -1.0])
    task = classification(("a", "b"))
    lines = task.threshold_table(scores, np.array([0, 1, 0]), {})["b"]
    assert [line.threshold for line in lines if line.rule == "precision:0.8"] == [None]
    # A label that nobody has: nothing divides by zero.
    assert task.threshold_table(scores, np.array([0, 0, 0]), {})["b"][0].recall == 0.0


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from textreg.cli import main

    folder = tmp_path_factory.mktemp("reliability")
    assert main(["demo", str(folder)]) == 0
    train = [str(folder / "train.jsonl"), "--reg", "elastic", "--reg-l1", "0.1", "--reg-l2", "0.01"]
    assert main(["train", *train, "--quiet", "-o", str(folder / "m.textreg")]) == 0
    hinge = ["--loss", "squared-hinge", "-o", str(folder / "hinge.textreg")]
    assert main(["train", *train, "--quiet", *hinge]) == 0
    return folder


def test_evaluate_shows_both_tables(demo: Path, cli) -> None:  # type: ignore[no-untyped-def]
    arguments = ["evaluate", demo / "m.textreg", demo / "test.jsonl"]
    plain = cli(*arguments).out
    told = cli(*arguments, "--reliability", "--thresholds").out
    assert "expected calibration error" not in plain
    assert "thresholds of" not in plain
    assert "expected calibration error" in told
    assert "thresholds of neg" in told
    found = json.loads(cli(*arguments, "--json").out)
    assert sum(one["documents"] for one in found["reliability"]["bins"]) == 200
    now = found["thresholds"]["pos"][0]
    (pos,) = [one for one in found["classes"] if one["label"] == "pos"]
    assert now["precision"] == pytest.approx(pos["precision"])
    assert now["recall"] == pytest.approx(pos["recall"])


def test_evaluate_refuses_tables_that_cannot_be(demo: Path, cli) -> None:  # type: ignore[no-untyped-def]
    hinge = [demo / "hinge.textreg", demo / "test.jsonl"]
    refused = cli("evaluate", *hinge, "--reliability")
    assert refused.code == 2
    assert "has no probabilities" in refused.err
    assert json.loads(cli("evaluate", *hinge, "--json").out)["reliability"] is None

    numbers = demo / "numbers.csv"
    rows = [f"good {'fine ' * (i % 5)},{i % 5}" for i in range(40)]
    numbers.write_text("\n".join(["text,label", *rows]))
    model = demo / "r.textreg"
    fixed = ["--reg", "ridge", "--reg-l2", "0.1", "--quiet", "-o", model]
    assert cli("train", numbers, "--task", "regression", *fixed).code == 0
    refused = cli("evaluate", model, numbers, "--thresholds")
    assert refused.code == 2
    assert "no thresholds" in refused.err
    assert json.loads(cli("evaluate", model, numbers, "--json").out)["thresholds"] == {}
